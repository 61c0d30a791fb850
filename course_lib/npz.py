"""Read an .npz file that may come from anybody: an array's header is looked at before the array is unpacked.

An .npz file is a zip archive of .npy files, and each begins with a line that states type and shape. A few hundred
bytes so tell whether the array is the one that is wanted; a small file that unpacks to gigabytes is never unpacked.
Nothing is ever run: pickled objects are refused.

Source: NumPy's documentation, "numpy.lib.format"; the order of the checks is the course's own.
"""

import io
import math
import zipfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import numpy as np

MOST_HEADER = 10_000
"""Bytes of a header; that of an array of numbers has 118, or a little more."""


class NpzError(ValueError):
    """The bytes are no .npz file of plain arrays; the message says what is wrong."""


@dataclass(frozen=True)
class Stored:
    """An array in an open .npz file whose header has been read.

    Attributes
    ----------
    name : str
    dtype : numpy.dtype
    shape : tuple of int
    """

    name: str
    dtype: np.dtype
    shape: tuple
    _column_major: bool = field(repr=False)
    _stream: object = field(repr=False)

    def read(self):
        """Return the array; NpzError if there are fewer or more numbers than the header says, or other ones."""
        count = math.prod(self.shape) * self.dtype.itemsize
        with _in_words(self.name):
            content = self._stream.read(count)
            if len(content) != count or self._stream.read(1):
                found = f"only {len(content)}" if len(content) < count else "more"
                raise NpzError(f"{self.name} has {found} bytes after its header, which says {count}")
            order = "F" if self._column_major else "C"
            return np.frombuffer(content, self.dtype).reshape(self.shape, order=order)


class Npz:
    """An open .npz file: `names`, and `header(name)` for each. Made by `open_npz`."""

    def __init__(self, archive):
        self._archive, self.names = archive, [entry.removesuffix(".npy") for entry in archive.namelist()]
        if len({*self.names}) < len(self.names):
            raise NpzError("two arrays in it have the same name")

    def header(self, name):
        """Return the `Stored` array of that name, its numbers still packed; NpzError if it is no plain array."""
        with _in_words(name):
            entry = self._archive.getinfo(f"{name}.npy")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise NpzError(f"{name} is packed in a way that NumPy never uses")
            stream = self._archive.open(entry)
            shape, column_major, dtype = _header(name, stream)
            if dtype.hasobject:
                raise NpzError(f"{name} holds pickled objects")
            return Stored(name, dtype, shape, column_major, stream)


@contextmanager
def open_npz(path):
    """Open an .npz file for `with`; give its `Npz`.

    Parameters
    ----------
    path : Path, or a binary file that is open

    Raises
    ------
    OSError
        If it cannot be read.
    NpzError
        If it is no .npz file.

    Source: NumPy's documentation, "numpy.lib.format".
    """
    with path.open("rb") if hasattr(path, "open") else nullcontext(path) as file:
        if file.read(6) == b"\x93NUMPY":
            raise NpzError("it holds one array, not an archive of named arrays")
        with _in_words("it"):
            archive = zipfile.ZipFile(file)
        with archive:
            yield Npz(archive)


@contextmanager
def _in_words(name):
    try:
        yield
    except (NpzError, OSError):
        raise
    except KeyError:
        raise NpzError(f"{name} in it is no array") from None
    except Exception as error:  # a damaged or forged archive fails in a dozen ways
        raise NpzError(f"{name} is damaged ({type(error).__name__}: {error})") from error


def _header(name, stream):
    """(shape, whether column by column, dtype) from the beginning of an .npy file, of which little is read."""
    version = stream.read(8)[6:]
    width = {b"\1\0": 2, b"\2\0": 4}.get(version)
    size = stream.read(width) if width else b""
    length = int.from_bytes(size, "little")
    if not width or not 0 < length <= MOST_HEADER:
        raise NpzError(f"{name} has no header of an array of numbers")
    read = np.lib.format.read_array_header_1_0 if width == 2 else np.lib.format.read_array_header_2_0
    shape, column_major, dtype = read(io.BytesIO(size + stream.read(length)))
    if any(n < 0 for n in shape):
        raise NpzError(f"{name} has the shape {shape}")
    return shape, column_major, dtype
