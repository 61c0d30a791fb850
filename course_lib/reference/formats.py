"""Formats of floating-point numbers smaller than float32, and rounding to them by bits.

A number is a sign, an exponent E in some bits and a fraction in some more:

    normal      (-1)^sign * 2^(E - bias) * (1 + fraction / 2^f)       E >= 1
    subnormal   (-1)^sign * 2^(1 - bias) * fraction / 2^f             E == 0: no leading one, a fixed step

Here such numbers are kept as float32 that happen to need no more bits, so that NumPy can compute with them; `encode`
and `decode` go to the bits of the format itself and back.

Rounding is to the nearest number, halves to the one whose last bit is 0. A card's conversions do the same (`cvt.rn`);
to TF32 "halves away from zero" is usual, too (`cvt.rna`, `course_lib.cuda.intrinsics.to_tf32`).

Source: IEEE 754-2008; NVIDIA, "PTX ISA", "Alternate Floating-Point Data Formats"; P. Micikevicius et al., "FP8 Formats
for Deep Learning" (2022).
"""

from dataclasses import dataclass

import numpy as np

from course_lib.validate import as_float, require_choice


@dataclass(frozen=True)
class Format:
    """A format: its name, the bits of its exponent and of its fraction, and whether it has infinities.

    Source: IEEE 754-2008; Micikevicius et al. (2022).
    """

    name: str
    exponent_bits: int
    fraction_bits: int
    infinity: bool = True

    @property
    def bits(self):
        """Bits that carry information: sign, exponent, fraction. (TF32 lies in 32 bits of memory all the same.)"""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self):
        """What is taken off the stored exponent."""
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def step_at_one(self):
        """From 1 to the next number."""
        return 2.0**-self.fraction_bits

    @property
    def smallest_normal(self):
        """Below this, digits get lost."""
        return 2.0 ** (1 - self.bias)

    @property
    def smallest(self):
        """The smallest number above 0, a subnormal: the step between all subnormals."""
        return self.smallest_normal * self.step_at_one

    @property
    def largest(self):
        """The largest finite number.

        Where there are infinities, the highest exponent is theirs and NaN's. Without them (E4M3) it has numbers too,
        all but the one whose bits are all 1: that is NaN.
        """
        if self.infinity:
            return 2.0**self.bias * (2 - self.step_at_one)
        return 2.0 ** (self.bias + 1) * (2 - 2 * self.step_at_one)


FORMATS = {
    f.name: f
    for f in (
        Format("float32", 8, 23),
        Format("tf32", 8, 10),
        Format("fp16", 5, 10),
        Format("bf16", 8, 7),
        Format("e5m2", 5, 2),
        Format("e4m3", 4, 3, infinity=False),
    )
}
"""Name -> `Format`, from the finest fraction to the coarsest."""


def find_format(name):
    """Return the `Format` of a name; ValueError names those that there are. Source: the course's own."""
    require_choice("format", name, tuple(FORMATS))
    return FORMATS[name]


def round_to(x, name, *, saturate=False):
    """Return x rounded to a format, halves to even, as float32.

    What rounds beyond the largest number becomes an infinity; in E4M3, which has none, it becomes NaN: the eighth of
    all exponents that infinities would have cost holds numbers up to 448 instead, and NaN is what is left to say that
    something went wrong. With `saturate` it becomes the largest number, also for an infinity, as in a card's
    `cvt.rn.satfinite`. NaN stays NaN.

    Parameters
    ----------
    x : (...) float32 array, or a number
        float64 is rounded to float32 first.
    name : str
        A name in `FORMATS`.
    saturate : bool

    Returns
    -------
    (...) float32 array, new

    Raises
    ------
    TypeError, ValueError
        If x holds no numbers, or there is no such format.

    Source: IEEE 754-2008, 4.3.1; PTX ISA, "cvt".
    """
    form = find_format(name)
    x = np.asarray(as_float("x", x), np.float32)
    shape, x = x.shape, np.atleast_1d(x)  # not flat: images may lie in another order
    drop = 23 - form.fraction_bits
    if drop == 0:
        return x.copy().reshape(shape)
    bits = x.view(np.uint32)
    # Add a little less than half a step, or half a step if the last bit that stays is 1; then cut. A carry may run
    # into the exponent, as it should: 1.999 becomes 2.
    last = (bits >> drop) & np.uint32(1)
    cut = (bits + (np.uint32(2 ** (drop - 1) - 1) + last)) & np.uint32(2**32 - 2**drop)
    out = cut.view(np.float32)
    if form.exponent_bits < 8:
        # Subnormals have the step of the smallest normal. Beside a number of 1.5 * 2^23 such steps float32 has that
        # very step: adding it rounds, taking it off leaves what was rounded.
        magic = np.float32(1.5 * 2.0**23 * form.smallest)
        with np.errstate(invalid="ignore"):
            small = np.copysign((x + magic) - magic, x)
        out = np.where(np.abs(x) < np.float32(form.smallest_normal), small, out)
    too_large = np.float32(form.largest if saturate else np.inf if form.infinity else np.nan)
    out = np.where(np.abs(out) > np.float32(form.largest), np.copysign(too_large, x), out)
    out = np.where(np.isinf(x), np.copysign(too_large, x), out)
    # Rounding the bits of NaN might make an infinity of it: set the fraction's first bit instead, which stays.
    quiet = (bits | np.uint32(0x400000)).view(np.float32)
    return np.where(np.isnan(x), quiet, out).reshape(shape)


def split(x, name, parts=2):
    """Return x as `parts` numbers of a format whose sum is nearly x: each is what the ones before left, rounded.

    Each part brings the digits of one more fraction, and a bit: x - round_to(x) is exact in float32, and its sign is
    one more digit. Where a part is below the format's smallest numbers, digits are lost.

    Parameters
    ----------
    x : (...) float32 array
    name : str
    parts : int >= 1

    Returns
    -------
    list of (...) float32 arrays

    Errors as `round_to`. Source: Ootomo and Yokota (2022); Dekker (1971).
    """
    rest, found = np.asarray(as_float("x", x), np.float32), []
    for _ in range(parts):
        found.append(round_to(rest, name))
        rest = rest - found[-1]
    return found


def encode(x, name):
    """Return the bits of x in a format, after rounding: (...) uint32, of which the format's `bits` are used.

    Errors as `round_to`. Source: IEEE 754-2008, 3.4.
    """
    form = find_format(name)
    x = round_to(x, name)
    bits = np.asarray(x.view(np.uint32))
    if form.exponent_bits == 8:
        return bits >> np.uint32(23 - form.fraction_bits)
    sign = (bits >> np.uint32(31)) << np.uint32(form.bits - 1)
    size = np.abs(x)
    normal = (bits & np.uint32(2**31 - 1)).astype(np.int64) >> (23 - form.fraction_bits)
    normal = normal - ((127 - form.bias) << form.fraction_bits)
    finite = np.isfinite(x)
    counted = np.where(finite, size, 0) / np.float32(form.smallest)
    subnormal = np.where(size < np.float32(form.smallest_normal), counted, 0).astype(np.int64)
    ones = 2 ** (form.exponent_bits + form.fraction_bits) - 1  # exponent and fraction all 1
    infinity = ones - 2**form.fraction_bits + 1
    code = np.where(size < np.float32(form.smallest_normal), subnormal, normal)
    code = np.where(np.isinf(x), infinity, np.where(np.isnan(x), ones, code))
    return (code | sign).astype(np.uint32)


def decode(bits, name):
    """Return the numbers (...) float32 that bits (...) of a format stand for; ValueError if there is no such format.

    Source: IEEE 754-2008, 3.4; Micikevicius et al. (2022), table 1.
    """
    form = find_format(name)
    bits = np.asarray(bits, np.uint32).astype(np.int64)
    fraction = bits & (2**form.fraction_bits - 1)
    exponent = (bits >> form.fraction_bits) & (2**form.exponent_bits - 1)
    sign = np.where((bits >> (form.bits - 1)) & 1, -1.0, 1.0)
    normal = np.ldexp(1 + fraction * form.step_at_one, exponent - form.bias)
    size = np.where(exponent == 0, fraction * form.smallest, normal)
    if form.infinity:
        size = np.where(exponent == 2**form.exponent_bits - 1, np.where(fraction == 0, np.inf, np.nan), size)
    else:
        size = np.where(size > form.largest, np.nan, size)
    return (sign * size).astype(np.float32)


def pack_pairs(low, high, name):
    """Return two numbers of a 2-byte format in one uint32, as tensor cores take them: `low` in the lower half.

    low, high: (...) float32 arrays, which are rounded; name: "fp16" or "bf16", else ValueError. Source: PTX ISA,
    "mma.m16n8k16".
    """
    require_choice("format", name, ("fp16", "bf16"))
    return encode(low, name) | encode(high, name) << np.uint32(16)
