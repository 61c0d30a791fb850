"""What a lesson learns from: truth tables, seeded points, real digits offline, readers for larger sets."""

from .digits import Digits, load_digits
from .errors import DataFileError, DataFileMissing
from .synthetic import blobs, line, plane, rings, spirals, truth_table, two_moons

__all__ = [
    "DataFileError",
    "DataFileMissing",
    "Digits",
    "blobs",
    "line",
    "load_digits",
    "plane",
    "rings",
    "spirals",
    "truth_table",
    "two_moons",
]
