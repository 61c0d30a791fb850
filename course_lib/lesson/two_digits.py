"""Two kinds of handwritten digits as a task for one perceptron: black and white pixels, and labels 0 and 1."""

from dataclasses import dataclass

import numpy as np

from course_lib.data import load_digits


@dataclass(frozen=True, eq=False)
class TwoDigits:
    """Digits of two kinds. Made by `two_digits`.

    Attributes
    ----------
    names : (int, int)
        The digits that the labels 0 and 1 stand for.
    x, y : (800, 784) float64 of 0 and 1, (800,) int64
        Training digits: 1 is ink, 0 is paper; and their labels.
    x_new, y_new : (200, 784) float64 of 0 and 1, (200,) int64
        Digits to try a trained perceptron on.
    grey : (200, 28, 28) float32 in [0, 1]
        The new digits with all their shades, to look at.

    Source: MNIST; see course_lib/data/MNIST_LICENSE.md.
    """

    names: tuple
    x: np.ndarray
    y: np.ndarray
    x_new: np.ndarray
    y_new: np.ndarray
    grey: np.ndarray

    def said(self, i):
        """Return what a wrong answer to new digit i says, such as "a 9, read as a 4". Source: the course's own."""
        label = self.y_new[i]
        article = ["an" if name == 8 else "a" for name in self.names]
        return f"{article[label]} {self.names[label]}, read as {article[1 - label]} {self.names[1 - label]}"


def two_digits(zero, one):
    """Return the shipped digits of two kinds, as `TwoDigits`: label 0 for the digit `zero`, label 1 for `one`.

    A pixel of at least half ink becomes 1, any other 0: then all sums of a perceptron are whole numbers, and exact.

    ValueError unless both are digits, and different. Source: the course's own.
    """
    if zero == one or not {zero, one} <= set(range(10)):
        raise ValueError(f"the digits are {zero!r} and {one!r}; they must be two different ones of 0 .. 9.")
    digits = load_digits()
    old, new = np.isin(digits.y_train, (zero, one)), np.isin(digits.y_test, (zero, one))
    ink = [(x >= 0.5).astype(np.float64) for x in (digits.x_train[old], digits.x_test[new])]
    labels = [(y == one).astype(np.int64) for y in (digits.y_train[old], digits.y_test[new])]
    return TwoDigits((zero, one), ink[0], labels[0], ink[1], labels[1], digits.images("test")[new])
