"""What a lesson learns from: truth tables, seeded points, real digits offline, readers for larger sets."""

from .cifar10 import CIFAR10_NAMES, Images, load_cifar10
from .digits import Digits, load_digits
from .errors import DataFileError, DataFileMissing
from .idx import load_mnist, read_idx
from .scene import scene
from .shapes import SHAPE_NAMES, colour_shapes
from .standardise import Standardiser, fit_standardiser
from .synthetic import blobs, line, plane, rings, spirals, truth_table, two_moons

__all__ = [
    "CIFAR10_NAMES",
    "SHAPE_NAMES",
    "DataFileError",
    "DataFileMissing",
    "Digits",
    "Images",
    "Standardiser",
    "blobs",
    "colour_shapes",
    "fit_standardiser",
    "line",
    "load_cifar10",
    "load_digits",
    "load_mnist",
    "plane",
    "read_idx",
    "rings",
    "scene",
    "spirals",
    "truth_table",
    "two_moons",
]
