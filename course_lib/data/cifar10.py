"""CIFAR-10, if the user has it: 60,000 colour pictures of 32 x 32 pixels in ten classes."""

import os
import tarfile
from dataclasses import dataclass

import numpy as np

from course_lib.paths import user_path

from .batch_pickle import BatchError, read_batch
from .errors import DataFileError, DataFileMissing
from .files import announced_size, find_file, holds, open_data_file, read_up_to, shorten

CIFAR10_NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
"""Name of each class of CIFAR-10, in the order of the labels 0..9."""

CIFAR10_SOURCE = (
    "Get cifar-10-python.tar.gz (163 MB), the Python version, from https://www.cs.toronto.edu/~kriz/cifar.html; "
    "the archive itself or the folder cifar-10-batches-py in it will do."
)
_BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
_FOLDER = "cifar-10-batches-py"
_ARCHIVES = ("cifar-10-python.tar.gz", "cifar-10-python.tar", "cifar-10-python.tgz")
# Real sizes: 31 MB a batch, 186 MB in all. Nothing larger is read into memory, whatever a file claims.
_BATCH_LIMIT = 48 * 2**20
_ARCHIVE_LIMIT = 320 * 2**20
_MOST_MEMBERS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Images:
    """Colour pictures, split into a training part and a test part.

    Attributes
    ----------
    x_train : (n_train, 3, 32, 32) float32 in [0, 1]
        Red, green and blue planes of each picture.
    y_train : (n_train,) int64 in 0..9
    x_test : (n_test, 3, 32, 32) float32 in [0, 1]
    y_test : (n_test,) int64 in 0..9

    Source: K, "CIFAR 10 Dataset".
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray

    def __repr__(self):
        return f"Images({len(self.x_train)} training and {len(self.x_test)} test images of 3 x 32 x 32)"


def load_cifar10(path):
    """Load CIFAR-10 from its archive (Python version) or from the folder unpacked from it.

    The batches are pickles. They are read by `batch_pickle`, which never runs anything that a file asks for.

    Parameters
    ----------
    path : str or path-like
        cifar-10-python.tar.gz (or the .tar), the folder cifar-10-batches-py, or the folder that holds one of them.
        "~" is your home.

    Returns
    -------
    Images
        `x_train (50000, 3, 32, 32)` float32 in [0, 1], `y_train (50000,)` int64, `x_test (10000, 3, 32, 32)`,
        `y_test (10000,)` for the real files: 0.7 GB.

    Raises
    ------
    DataFileMissing
        If there is nothing at `path`, or one of the six batches is missing.
    DataFileError
        If the archive or a batch is damaged, too large, holds other things than (n, 3072) bytes and n labels in
        0..9, or asks for code to be run.

    Notes
    -----
    Source: A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
    """
    path = user_path(path)
    contents, held = _read_folder(path) if os.path.isdir(path) else _read_archive(path)
    missing = [name for name in _BATCHES if name not in contents]
    if missing:
        raise DataFileMissing(f"{path} lacks {', '.join(missing)}; {held}. {CIFAR10_SOURCE}")
    parts = [_read_part(path, name, contents.pop(name)) for name in _BATCHES]
    images, labels = zip(*parts[:-1], strict=True)
    test_images, test_labels = parts[-1]
    return Images(_to_inputs(np.concatenate(images)), np.concatenate(labels), _to_inputs(test_images), test_labels)


def _read_folder(folder):
    """({batch name: its bytes} for the batches that are there, what there is in words)."""
    while (folder / _FOLDER).is_dir():  # an unpacker may have made a folder of that name around it
        folder = folder / _FOLDER
    paths = {name: find_file(folder, [name]) for name in _BATCHES}
    if not any(paths.values()) and (archive := find_file(folder, _ARCHIVES)):
        return _read_archive(archive)
    contents = {}
    for name, path in paths.items():
        if path is not None:
            with open_data_file(path, CIFAR10_SOURCE) as file:
                contents[name] = _read_limited(file, _BATCH_LIMIT, path)
    return contents, holds(folder)


def _read_archive(path):
    """The same out of a tar archive, packed with gzip or not. Nothing is unpacked to disk.

    It is read as it is unpacked, and each file's header is looked at before the file.
    """
    contents, names = {}, []
    with open_data_file(path, CIFAR10_SOURCE) as file:
        if announced_size(path) > _ARCHIVE_LIMIT:
            raise _too_large(path, _ARCHIVE_LIMIT)
        try:
            with tarfile.open(fileobj=_Limited(file, path), mode="r|", bufsize=2**20) as archive:
                for member in archive:
                    name = member.name.rpartition("/")[2]
                    names.append(member.name)
                    if member.size > (_BATCH_LIMIT if name in _BATCHES else _ARCHIVE_LIMIT):
                        raise _too_large(f"{path}, {name}", _BATCH_LIMIT if name in _BATCHES else _ARCHIVE_LIMIT)
                    if len(names) > _MOST_MEMBERS:
                        raise DataFileError(f"{path} holds more than {_MOST_MEMBERS} files. {CIFAR10_SOURCE}")
                    if name in _BATCHES and member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                        contents[name] = archive.extractfile(member).read()
        except DataFileError:
            raise
        except Exception as cause:  # tarfile raises many kinds of errors for a damaged archive
            raise DataFileError(
                f"{path} is no sound tar archive ({type(cause).__name__}: {cause}). {CIFAR10_SOURCE}"
            ) from cause
    return contents, f"it holds {shorten(names)}"


class _Limited:
    """A file that tarfile reads from, up to the limit for all of it: what a file in it claims may be forged."""

    def __init__(self, file, path):
        self._file, self._path, self._left = file, path, _ARCHIVE_LIMIT

    def read(self, count):
        piece = read_up_to(self._file, count, self._path, CIFAR10_SOURCE)
        self._left -= len(piece)
        if self._left < 0:
            raise _too_large(self._path, _ARCHIVE_LIMIT)
        return piece


def _too_large(path, limit):
    return DataFileError(f"{path} holds more than {limit} bytes, more than CIFAR-10 has. {CIFAR10_SOURCE}")


def _read_limited(file, limit, path):
    content = read_up_to(file, limit + 1, path, CIFAR10_SOURCE)
    if len(content) > limit:
        raise _too_large(path, limit)
    return content


def _read_part(path, name, content):
    """Images (n, 3, 32, 32) uint8 and labels (n,) int64 of one batch."""
    try:
        data, labels = read_batch(content)
    except BatchError as cause:
        raise DataFileError(f"{path}, {name}: {cause}. {CIFAR10_SOURCE}") from cause
    if data.shape[1] != 3 * 32 * 32 or len(data) == 0:
        raise DataFileError(f"{path}, {name}: data are {data.shape}; they must be (n, 3072). {CIFAR10_SOURCE}")
    if len(data) != len(labels):
        raise DataFileError(
            f"{path}, {name}: {len(data)} images but {len(labels)} labels; there must be one label an image. "
            f"{CIFAR10_SOURCE}"
        )
    for index, label in enumerate(labels):
        if not 0 <= label <= 9:
            raise DataFileError(
                f"{path}, {name}: label {label} at index {index}; labels must be in 0..9. {CIFAR10_SOURCE}"
            )
    return data.reshape(-1, 3, 32, 32), np.array(labels, dtype=np.int64)


def _to_inputs(images):
    x = images.astype(np.float32)
    x /= 255  # in place: the real training part takes 0.6 GB
    return x
