"""Numbers as JSON can hold them, short: a row 0, 1, 2, ... is three numbers, and NaN is a word.

Source: the course's own. Most of what lanes hold is the same number or counts up with the lane.
"""

import itertools

import numpy as np

RUN = "run"
"""The key of [first, step, how many], for whole numbers that go up or down evenly."""

LEAST = 4
"""Numbers, from which on a run is shorter."""


def packed(numbers):
    """Return a 1-D array of numbers as plain JSON: {"run": [first, step, count]} or a list. No errors."""
    numbers = np.asarray(numbers)
    if numbers.dtype.kind == "b":
        numbers = numbers.astype(np.int64)
    if numbers.dtype.kind in "iu":
        whole = [int(v) for v in numbers]
        if len(whole) >= LEAST:
            step = whole[1] - whole[0]
            if all(b - a == step for a, b in itertools.pairwise(whole)):
                return {RUN: [whole[0], step, len(whole)]}
        return whole
    shown = [plain(v) for v in numbers]
    if len(shown) >= LEAST and all(v == shown[0] for v in shown):
        return {RUN: [shown[0], 0, len(shown)]}
    return shown


def plain(number):
    """Return one number as JSON can hold it; what is no finite number is "nan", "inf" or "-inf". No errors."""
    kind = number.dtype.kind
    if kind in "iub":
        return int(number)
    if kind == "c":
        return str(number)
    if not np.isfinite(number):
        return str(float(number))
    shortest = float(str(number))  # of a float32: 0.1, not 0.10000000149
    return int(shortest) if shortest.is_integer() and abs(shortest) < 2**53 and str(shortest) != "-0.0" else shortest


def unpacked(value):
    """Return the list that `packed` made this of.

    Raises
    ------
    ValueError
        If it is neither a list of numbers nor a run of at most 100,000.
    """
    if isinstance(value, dict):
        run = value.get(RUN)
        if set(value) != {RUN} or not isinstance(run, list) or len(run) != 3:
            raise ValueError(f"{str(value)[:60]} is no row of numbers")
        first, step, count = run
        if not _is_whole(step) or not _is_whole(count) or not 0 <= count <= 100_000 or not _is_number(first):
            raise ValueError(f"{str(value)[:60]} is no row of numbers")
        return [first] * count if step == 0 else [first + step * k for k in range(count)]
    if not isinstance(value, list) or not all(_is_number(v) for v in value):
        raise ValueError(f"{str(value)[:60]} is no row of numbers")
    return value


def as_array(values, dtype):
    """Return a list of `unpacked` as an array (n,) of a dtype; ValueError if it does not fit."""
    try:
        return np.array([float(v) if isinstance(v, str) and v in WORDS else v for v in values]).astype(dtype)
    except (OverflowError, TypeError) as error:
        raise ValueError(f"{str(values)[:60]} does not fit into {dtype}: {error}") from None


WORDS = ("nan", "inf", "-inf")


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value):
    if isinstance(value, str):
        return value in WORDS or value.endswith(("j", "j)"))
    return isinstance(value, int | float) and not isinstance(value, bool)
