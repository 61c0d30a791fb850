"""The IDX format of the MNIST files: a magic number, the sizes, then the numbers, everything big-endian."""

import math
import os

import numpy as np

from course_lib.paths import user_path

from .digits import Digits, to_inputs
from .errors import DataFileError, DataFileMissing
from .files import find_file, holds, open_data_file, read_up_to, refuse_bomb, shorten

MNIST_SOURCE = (
    "Get the four MNIST files (train-images-idx3-ubyte.gz, 9.9 MB, and so on) from "
    "https://ossci-datasets.s3.amazonaws.com/mnist/ or http://yann.lecun.com/exdb/mnist/; gz or unpacked will do."
)
# Third byte of the magic number -> type of the numbers. The fourth byte is the number of axes.
_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path):
    """Read one IDX file, packed with gzip or not.

    Whether it is packed is seen from its first two bytes, not from its name.

    Parameters
    ----------
    path : str or path-like
        "~" is your home. If it is a folder with a file of that name in it, as some unpackers make, that file is read.

    Returns
    -------
    ndarray
        Of the shape and type that the file's header states (uint8 for MNIST), in the machine's byte order.

    Raises
    ------
    DataFileMissing
        If there is no such file (also a FileNotFoundError).
    DataFileError
        If the file is no IDX file, is shorter or longer than its header says, its gzip data are damaged, its header
        says what no array can be, or a small file that unpacks to gigabytes.

    Notes
    -----
    Source: the MNIST page by Y. LeCun, section on file formats.
    """
    path = user_path(path)
    inner = find_file(path.parent, _spellings(path.name)) if os.path.isdir(path) else None
    return _read(inner or path)


def _read(path, check=None):
    """The array of an IDX file; `check`(dtype, shape) may refuse what the header says before the numbers are read."""
    with open_data_file(path, MNIST_SOURCE) as file:
        magic = read_up_to(file, 4, path, MNIST_SOURCE)
        if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES or magic[3] == 0:
            raise DataFileError(
                f"{path} is no IDX file: it starts with {_hexadecimal(magic)}{_guess(magic)}; an IDX file starts "
                f"with 00 00, a type in {', '.join(f'{code:02x}' for code in _TYPES)} and the number of axes "
                f"(00 00 08 03 for MNIST images, 00 00 08 01 for labels). {MNIST_SOURCE}"
            )
        dtype, rank = np.dtype(_TYPES[magic[2]]), magic[3]
        header = read_up_to(file, 4 * rank, path, MNIST_SOURCE)
        if len(header) < 4 * rank:
            raise DataFileError(
                f"{path} is truncated: its magic number {_hexadecimal(magic)} announces {rank} sizes of 4 bytes, "
                f"but only {len(header)} bytes follow. {MNIST_SOURCE}"
            )
        shape = tuple(int(size) for size in np.frombuffer(header, dtype=">u4"))
        expected = math.prod(shape) * dtype.itemsize
        if check is not None:
            check(dtype.newbyteorder("="), shape)
        refuse_bomb(path, expected, MNIST_SOURCE)
        content = read_up_to(file, expected + 1, path, MNIST_SOURCE)
    if len(content) != expected:
        found = f"only {len(content)}" if len(content) < expected else "more"
        raise DataFileError(
            f"{path} is {'truncated' if len(content) < expected else 'too long'}: its header says {shape} numbers of "
            f"{dtype.itemsize} bytes, that is {expected} bytes after the header, but {found} were found. "
            f"{MNIST_SOURCE}"
        )
    numbers = np.frombuffer(content, dtype=dtype).astype(dtype.newbyteorder("="))
    try:
        return numbers.reshape(shape)
    except ValueError as cause:  # more axes than NumPy has, or sizes that no array can have beside one of 0
        raise DataFileError(
            f"{path}: its header says {rank} axes {shorten(shape)}, which NumPy cannot hold ({cause}). {MNIST_SOURCE}"
        ) from cause


def load_mnist(folder):
    """Load the full MNIST (or any data set in its four files, such as Fashion-MNIST) from a folder.

    Parameters
    ----------
    folder : str or path-like
        Holds train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte.
        Names with ".idx" in place of "-idx", and with ".gz", are found too, also in a folder of that name, as some
        unpackers make. "~" is your home.

    Returns
    -------
    Digits
        `x_train (60000, 784)` float32 in [0, 1], `y_train (60000,)` int64, `x_test (10000, 784)`,
        `y_test (10000,)` for the full MNIST; as many as the files hold in general.

    Raises
    ------
    DataFileMissing
        If the folder or one of the files is missing; the message lists all that are.
    DataFileError
        If a file is damaged, holds something else than (n, 28, 28) or (n,) bytes, a label is not in 0..9, or
        images and labels differ in number.

    Notes
    -----
    Source: MNIST, Y. LeCun, C. Cortes and C. J. C. Burges.
    """
    folder = user_path(folder)
    if not os.path.isdir(folder):
        there = os.path.exists(folder)
        problem = "is a file, not a folder; give the folder that it is in" if there else "does not exist"
        raise DataFileMissing(f"the MNIST folder {folder} {problem}. {MNIST_SOURCE}")
    names = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
    paths = {name: find_file(folder, _spellings(name)) for name in names}
    missing = [name for name, path in paths.items() if path is None]
    if missing:
        folders = [name for name in missing if (folder / name).is_dir()]
        inside = "".join(f" {name} is a folder, not a file; {holds(folder / name)}." for name in folders)
        raise DataFileMissing(
            f"{folder} lacks {', '.join(missing)} (or the same with .gz); {holds(folder)}.{inside} {MNIST_SOURCE}"
        )
    return Digits(*_read_part(paths[names[0]], paths[names[1]]), *_read_part(paths[names[2]], paths[names[3]]))


def _spellings(name):
    """An MNIST file's name as it is found in the wild, the given form first."""
    stem = name.removesuffix(".gz")
    stems = dict.fromkeys([stem, stem.replace("-idx", ".idx"), stem.replace(".idx", "-idx")])
    return list(dict.fromkeys([name, *(form + suffix for form in stems for suffix in ("", ".gz"))]))


def _read_part(images_path, labels_path):
    def check_images(dtype, shape):
        if dtype != np.uint8 or len(shape) != 3 or shape[1:] != (28, 28) or shape[0] == 0:
            raise DataFileError(
                f"{images_path} holds {dtype} numbers of shape {_sizes(shape)}; MNIST images are uint8 of shape "
                f"(n, 28, 28). {MNIST_SOURCE}"
            )

    images = _read(images_path, check_images)

    def check_labels(dtype, shape):
        if dtype != np.uint8 or len(shape) != 1:
            raise DataFileError(
                f"{labels_path} holds {dtype} numbers of shape {_sizes(shape)}; MNIST labels are uint8 of shape "
                f"(n,). {MNIST_SOURCE}"
            )
        if len(images) != shape[0]:
            raise DataFileError(
                f"{images_path} holds {len(images)} images and {labels_path} holds {shape[0]} labels; there must be "
                f"one label an image. Do the two files belong together? {MNIST_SOURCE}"
            )

    labels = _read(labels_path, check_labels)
    if labels.max() > 9:
        where = int(np.argmax(labels > 9))
        raise DataFileError(
            f"{labels_path}: label {labels[where]} at index {where}; labels must be in 0..9. {MNIST_SOURCE}"
        )
    return to_inputs(images, labels)


def _sizes(shape):
    """A shape as text; a forged header may have 255 sizes."""
    return str(shape) if len(shape) <= 8 else f"({shorten(shape)})"


def _hexadecimal(content):
    return content.hex(" ") or "nothing (it is empty)"


def _guess(magic):
    """What a wrong file most likely is."""
    if magic.lstrip()[:1] == b"<":
        return " (a web page, saved in place of the file?)"
    if magic[:2] == b"PK":
        return " (a zip archive: unpack it first)"
    packed = {b"\x1f\x8b": "gzip, twice", b"BZ": "bzip2", b"\xfd7": "xz", b"7z": "7z", b"\x28\xb5": "zstd"}
    if magic[:2] in packed:
        return f" (packed with {packed[magic[:2]]}: unpack it first)"
    if magic == b"vers":
        return " (a pointer of Git LFS? Get the file itself: git lfs pull)"
    if magic[2:] == b"\0\0" and magic[1:2] and magic[1] in _TYPES:
        return " (its bytes are in the wrong order)"
    return ""
