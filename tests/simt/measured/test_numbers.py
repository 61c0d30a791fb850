"""The executor's numbers are a card's, bit by bit, also at the limits of types, at halves, NaN and infinity."""

import base64
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from course_lib import simt
from tests.simt.measured import numbers
from tests.simt.text import function

TABLES = {p.name.split(".")[1]: json.loads(p.read_text()) for p in sorted(Path(__file__).parent.glob("numbers.*.json"))}

NARROW = (
    "Nobody defines an 8-bit whole number of a float that does not fit; here 16 bits are what is stored into "
    "a wider type, and the executor always cuts to 8."
)
LAST = "The last digit differs from library to library: CUDA's {} is not rounded to the nearest, as NumPy's mostly is."
DIFFERENCES: dict[str, tuple[int | None, str]] = {
    "int8(a)|f4": (19, NARROW),
    "int8(a)|f8": (20, NARROW),
    "uint8(a)|f4": (12, NARROW),
    "cuda.cbrt(a)|f4": (None, LAST.format("cbrt")),
    "pow(a, b)|f8": (None, LAST.format("pow")),
}
"""Case -> (how many of the results differ at most, why). None: as many as this processor's NumPy likes, which has other
code for other processors, but each of them is the next number."""


def bits(result):
    """Return the bits of results; all NaN are one, since which bits a NaN has nobody defines."""
    return (np.where(np.isnan(result), np.nan, result) if result.dtype.kind == "f" else result).view(np.int64)


def theirs(row, out):
    return bits(np.frombuffer(zlib.decompress(base64.b64decode(row[out])), out))


def ours(expression, code, out):
    a, b = numbers.numbers(code)
    result = np.zeros(a.size, out)
    simt.run(function(numbers.text(expression)), 1, a.size, [a, b, result], on_error="collect")
    return bits(result)


@pytest.mark.parametrize("card", TABLES)
@pytest.mark.parametrize("out", numbers.RESULTS)
@pytest.mark.parametrize(("expression", "code"), numbers.cases())
def test_executor_equals_a_card_bit_by_bit(card, out, expression, code):
    row = TABLES[card]["numbers"][f"{expression}|{code}"]
    if isinstance(row[out], dict):  # Numba refuses it; so does the executor
        with pytest.raises(simt.KernelError):
            ours(expression, code, out)
        return
    found, wanted = ours(expression, code, out), theirs(row, out)
    different = np.flatnonzero(found != wanted)
    most, _ = DIFFERENCES.get(f"{expression}|{code}", (0, ""))
    if most is None:
        last = 1 << 29 if code == "f4" else 1  # the last digit of a float32 in the bits of a float64
        np.testing.assert_array_less(np.abs(found - wanted), last + 1)
        return
    a, b = (v[different].tolist() for v in numbers.numbers(code))
    assert len(different) <= most, f"a {a}, b {b}"


@pytest.mark.parametrize("card", TABLES)
@pytest.mark.parametrize("name", DIFFERENCES)
def test_difference_is_there_and_has_a_reason(card, name):
    most, why = DIFFERENCES[name]
    expression, code = name.split("|")
    row = TABLES[card]["numbers"][name]
    assert len(why.split()) >= 6
    counts = [np.count_nonzero(ours(expression, code, out) != theirs(row, out)) for out in numbers.RESULTS]
    assert max(counts) == most or (most is None and max(counts) > 0)


@pytest.mark.parametrize("card", TABLES)
def test_table_is_of_these_expressions(card):
    assert set(TABLES[card]["numbers"]) == {f"{e}|{code}" for e, code in numbers.cases()}
    for key in ("device", "numba", "numba_cuda", "numpy", "date"):
        assert TABLES[card][key]
