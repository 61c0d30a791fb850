"""Colour pictures to learn from: CIFAR-10 where the reader has its file, the course's own shapes otherwise.

Source: the course's own; K, "CIFAR 10 Dataset".
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from course_lib.data import CIFAR10_NAMES, SHAPE_NAMES, colour_shapes, load_cifar10
from course_lib.validate import require_count, require_rng

FILES = ("cifar-10-python.tar.gz", "cifar-10-python.tar", "cifar-10-batches-py")
"""What CIFAR-10 comes as, and the folder that its archive is unpacked to."""


@dataclass(frozen=True, eq=False, repr=False)
class ColourImages:
    """Pictures of 3 x 32 x 32 in ten classes, in a training and a test part.

    Attributes
    ----------
    name : str
        "CIFAR-10" or "the course's shapes".
    names : tuple of str
        Of the classes.
    x_train, x_test : (n, 3, 32, 32) float32 in [0, 1]
    y_train, y_test : (n,) int64

    Source: the course's own.
    """

    name: str
    names: tuple
    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray

    def __repr__(self):
        return f"{self.name}: {len(self.x_train):,} training and {len(self.x_test):,} test pictures of 3 x 32 x 32"


def colour_images(n_train, n_test, *, rng, folder=None):
    """Return `ColourImages` of CIFAR-10 if its archive or its folder is there, else of made-up shapes.

    Parameters
    ----------
    n_train, n_test : int >= 1
        How many of each part; of CIFAR-10, drawn without putting back.
    rng : numpy.random.Generator
    folder : Path, optional
        Where to look for one of `FILES`; unless given, in the folder of the notebook and in the one above it.

    Raises
    ------
    TypeError, ValueError
        Counts below 1, or more than CIFAR-10 has; no generator.
    DataFileError
        A file of that name is there and damaged; `load_cifar10` says how.

    Source: the course's own.
    """
    n_train, n_test = require_count("n_train", n_train), require_count("n_test", n_test)
    require_rng(rng)
    places = [Path.cwd(), Path.cwd().parent] if folder is None else [Path(folder)]
    found = next((place / name for place in places for name in FILES if (place / name).exists()), None)
    if found is None:
        x, y = colour_shapes(n_train + n_test, rng=rng)
        parts = x[:n_train], y[:n_train], x[n_train:], y[n_train:]
        return ColourImages("the course's shapes", tuple(SHAPE_NAMES), *parts)
    images = load_cifar10(found)
    parts = []
    for name, count in (("train", n_train), ("test", n_test)):
        x, y = getattr(images, f"x_{name}"), getattr(images, f"y_{name}")
        if count > len(x):
            raise ValueError(f"n_{name} is {count:,}; {found.name} has {len(x):,} such pictures.")
        chosen = rng.permutation(len(x))[:count]
        parts += [x[chosen], y[chosen]]
    return ColourImages("CIFAR-10", CIFAR10_NAMES, *parts)
