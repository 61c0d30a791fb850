"""Open and read data files that may be packed, missing, damaged or forged."""

import gzip
import os
import zlib

from .errors import DataFileError, DataFileMissing

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 2**20
_MOST_AT_ALL = 64 * 2**20
_MOST_TIMES = 100


def open_data_file(path, source):
    """Open `path` for reading bytes, unpacking gzip if its first two bytes say so.

    Parameters
    ----------
    path : Path
    source : str
        The sentence that tells where to get the file; it ends every error message.

    Returns
    -------
    A binary file, to be closed by the caller.

    Raises
    ------
    DataFileMissing
        If there is no such file.
    DataFileError
        If it is a folder or cannot be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as cause:
        raise DataFileMissing(f"{path} does not exist. {source}") from cause
    except OSError as cause:
        problem = f"cannot be read ({cause.strerror})"
        if os.path.isdir(path):
            problem = f"is a folder, not a file; {holds(path)}"
        raise DataFileError(f"{path} {problem}. {source}") from cause
    if file.peek(2)[:2] == _GZIP_MAGIC:
        file.close()
        return gzip.open(path, "rb")
    return file


def read_up_to(file, count, path, source):
    """Read `count` bytes, or what there is. Memory grows with what is found, never with what a header claims.

    Raises
    ------
    DataFileError
        If the gzip data end too early or are damaged.
    """
    pieces = []
    try:
        while count > 0 and (piece := file.read(min(count, _CHUNK))):
            pieces.append(piece)
            count -= len(piece)
    except (EOFError, OSError, zlib.error) as cause:
        raise DataFileError(f"{path}: its gzip data are truncated or damaged ({cause}). {source}") from cause
    return b"".join(pieces)


def refuse_bomb(path, count, source):
    """Raise DataFileError if a gzip file is to unpack to `count` bytes that no honest one of its size has.

    Pictures pack to a third or a tenth; gzip packs zeros to a thousandth. So a small file can unpack to gigabytes, and
    what a header announces is refused before it is unpacked. A file that cannot hold as much is left to the reader.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP_MAGIC
    if packed and min(count, 1040 * size) > max(_MOST_AT_ALL, _MOST_TIMES * size):
        raise DataFileError(
            f"{path} has {size} bytes and says that it unpacks to {count}: no real data pack so well, so it is not "
            f"unpacked. If you trust it, unpack it yourself, and read the unpacked file. {source}"
        )


def announced_size(path):
    """How many bytes a gzip file says, in its last four bytes, that it unpacks to; 0 for any other file."""
    with path.open("rb") as file:
        if file.read(2) != _GZIP_MAGIC or path.stat().st_size < 18:
            return 0
        file.seek(-4, 2)
        return int.from_bytes(file.read(4), "little")


def find_file(folder, names):
    """The first of some names that is a file in `folder`, or in a folder of such a name in it; None if there is none.

    Unpackers on Windows make a folder of the file's name, with the file in it.
    """
    inside = [folder / name / inner for name in names for inner in names if (folder / name).is_dir()]
    return next((path for path in [*(folder / name for name in names), *inside] if path.is_file()), None)


def holds(folder):
    """What a folder holds, for an error message: "it holds 'a', 'b/'", a folder with a slash."""
    try:
        return f"it holds {shorten(sorted(path.name + '/' * path.is_dir() for path in folder.iterdir()))}"
    except OSError as cause:
        return f"what it holds cannot be read ({cause.strerror})"


def shorten(names):
    """The first eight of some names, for an error message."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return (", ".join(repr(name) for name in names[:8]) or "nothing") + more
