"""Lesson 17's figures: what their static pictures say, what they count, and what they refuse."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.cuda import swizzle
from course_lib.figures.descriptors import FIELDS, MODES, ROWS, STARTS, STRIDES, held_at, numbered, read_at, told_fields
from course_lib.figures.fragments import KINDS, held
from course_lib.figures.loss_scales import by_exponent, limits, shares, told
from course_lib.figures.number_formats import BIASES, NUMBERS, in_formats, said
from course_lib.figures.swizzles import wavefronts
from course_lib.reference.formats import FORMATS
from course_lib.simt.traffic import shared_traffic


def test_a_number_in_six_formats_is_told_with_its_error():
    found = in_formats(np.pi)
    assert found["bf16"] == ("0100000001001001", 3.140625)
    assert found["e4m3"] == ("01000101", 3.25)
    assert said(3.140625, np.pi) == "3.140625, off by 0.031 %"
    assert said(1.5, 1.5) == "1.5"
    assert said(0.0, 1e-9) == "0: too small"
    assert said(np.inf, 1e9) == "infinity: too large"
    assert said(np.nan, 1e9) == "NaN: too large, and there is no infinity"


@pytest.mark.parametrize("start", NUMBERS)
def test_the_static_picture_of_bits_fits_a_phone_and_names_every_format(start):
    made = figures.number_bits(start)
    assert made.static.caption.endswith(BIASES)
    assert made.static.drawn[0] <= 400
    for title in ("float32", "TF32", "FP16", "BF16", "FP8 E5M2", "FP8 E4M3"):
        assert f"{title} " in made.static.alt


@pytest.mark.parametrize("kind", KINDS.values())
def test_of_each_operand_every_lane_holds_as_many_elements(kind):
    for operand, matrix in (("a", held("a", kind)), ("b", held("b", kind)), ("c", held("c", kind))):
        count = np.bincount(matrix.ravel() // 8, minlength=32)
        assert len(set(count)) == 1, operand
    made = figures.fragment_map(9, kind)
    assert f"Lane 9 holds {held('a', kind).size // 32} elements of A" in made.static.alt


@pytest.mark.parametrize(("lane", "kind"), [(32, "bf16"), (-1, "bf16"), (0, "fp64"), (0, "a")])
def test_a_lane_or_a_format_that_there_is_not_is_refused(lane, kind):
    with pytest.raises(ValueError, match="lane is"):
        figures.fragment_map(lane, kind)


def test_gradients_are_counted_by_powers_of_two_and_zones_add_up():
    values = np.array([0, 1, 1.99, -2, 0.5, 2.0**-25, 2.0**-26, 1e6])
    histogram = by_exponent(values)
    assert histogram == {0: 0.2857, 1: 0.1429, -1: 0.1429, -25: 0.1429, -26: 0.1429, 19: 0.1429}
    assert limits("fp16") == (-25, -14, 16)
    assert limits("bf16") == (-134, -126, 128)
    assert limits("e4m3") == (-10, -6, 9)
    found = shares(histogram, 0, "fp16")
    assert found["becomes zero"] == 0.1429
    assert found["overflows"] == 0.1429
    assert shares(histogram, 1, "fp16")["becomes zero"] == 0
    assert sum(found.values()) == pytest.approx(1, abs=1e-3)
    with pytest.raises(ValueError, match="not 0"):
        by_exponent(np.zeros(3))
    with pytest.raises(ValueError, match="format is 'fp4'"):
        limits("fp4")


def test_the_static_picture_of_a_scale_says_what_is_lost_without_one():
    made = figures.loss_scale(
        {"z": {"layer 1": np.full(10, 1e-9), "layer 2": np.ones(3)}, "w": {"a": np.ones(1), "b": [2.0]}}
    )
    assert made.static.alt.endswith("layer 1: 100.0 % becomes zero; layer 2: all digits.")
    assert [g["name"] for g in made.data["groups"]] == ["z", "w"]
    assert [s["name"] for s in made.data["groups"][0]["sets"]] == ["layer 1", "layer 2"]
    assert told({"becomes zero": 0.0004, "loses digits": 0.25, "all digits": 0, "overflows": 0.75}) == (
        "25.0 % loses digits, 75.0 % overflows"
    )
    with pytest.raises(ValueError, match=r"numbers of layers are \{'z': 1, 'w': 2\}"):
        figures.loss_scale({"z": {"a": np.ones(1)}, "w": {"a": np.ones(1), "b": np.ones(1)}})


def test_a_systolic_array_has_a_frame_for_each_beat():
    A, B = np.arange(1, 7).reshape(3, 2), np.ones((2, 4), int)
    made = figures.systolic_array(A, B)
    assert len(made.frames) == 3 + 2 + 4 - 2
    assert made.frames[0].caption == "Beat 1: 1 of 8 cells multiply. No sum is done."
    assert "C[0, 0] = 3 done" in made.frames[1].caption


def test_the_biases_that_the_caption_names_are_those_of_the_formats():
    bias = {name: FORMATS[name].bias for name in ("float32", "tf32", "bf16", "fp16", "e5m2", "e4m3")}
    assert bias == {"float32": 127, "tf32": 127, "bf16": 127, "fp16": 15, "e5m2": 15, "e4m3": 7}
    for words in ("n − 127 (float32, TF32, BF16)", "n − 15 (FP16, E5M2)", "n − 7 (E4M3)"):
        assert words in BIASES


def tile_addresses(plain):
    """Return (32, 8): the byte of each chunk of 32 rows."""
    address = np.arange(32)[:, None] * swizzle.ROW + np.arange(8) * swizzle.CHUNK
    return address if plain else swizzle.swizzled(address)


@pytest.mark.parametrize("plain", [True, False])
def test_wavefronts_of_a_column_and_a_row_are_those_that_the_executor_counts(plain):
    """A whole warp, eight lanes at a time: 32 rows of one chunk, or four rows of eight."""
    lane, address, banks = np.arange(32), tile_addresses(plain), swizzle.banks(8, plain=plain)
    for k in range(8):
        column = shared_traffic(np.zeros(32, np.int64), lane, address[:, k] // 16, 0, 0, 16)
        assert column == (1, 4 * wavefronts(banks[:, k])) == (1, 4 * (8 if plain else 1))
        row = shared_traffic(np.zeros(32, np.int64), lane, address[4 * k : 4 * k + 4].ravel() // 16, 0, 0, 16)
        assert row == (1, 4 * wavefronts(banks[k])) == (1, 4)


def test_the_picture_of_banks_says_what_waits_and_refuses_other_shapes():
    plain, swizzled = swizzle.banks(8, plain=True), swizzle.banks(8)
    made = figures.tile_banks({"plain": plain, "swizzled": swizzled})
    assert made.alt.endswith(
        "plain, row 3: 1 wavefront; plain, chunk 2, all rows: 8 wavefronts; swizzled, row 3: 1 wavefront; "
        "swizzled, chunk 2, all rows: 1 wavefront."
    )
    assert made.drawn[0] <= 400
    assert "swizzled" not in figures.tile_banks({"plain": plain}).alt
    for wrong in ({}, {"a": plain[:4]}, dict.fromkeys("abc", plain)):
        with pytest.raises(ValueError, match="it must have one or two of"):
            figures.tile_banks(wrong)


def test_the_walk_adds_two_to_the_start_and_names_the_places_that_are_read():
    frames = figures.tile_walk().frames
    assert len(frames) == 4
    for step, frame in enumerate(frames):
        assert f"chunks {2 * step} and {2 * step + 1} of each row" in frame.caption
        assert frame.caption.endswith(f"{2 * step} in the descriptor's lowest field.")
        where = [sorted(int(c) ^ r for c in (2 * step, 2 * step + 1)) for r in range(8)]
        told_places = "; ".join(f"row {r}: {p}, {q}" for r, (p, q) in enumerate(where))
        assert frame.alt.endswith(f"They lie at these places: {told_places}.")


def test_of_each_shade_of_the_walk_every_place_has_one():
    """So that eight rows of a chunk meet all banks: what the page says of the right grid."""
    for chunk in range(8):
        assert sorted(swizzle.places(8)[:, chunk]) == list(range(8))


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("stride", STRIDES)
def test_what_a_descriptor_reads_is_the_walk_of_the_library(start, stride):
    number = numbered(start, stride, "128 bytes")
    assert number == swizzle.descriptor(start, stride=stride)
    np.testing.assert_array_equal(read_at(number), swizzle.walk(number, ROWS)[::4].T)
    rows, chunks = held_at(read_at(number))
    np.testing.assert_array_equal(chunks, np.tile([start // 16, start // 16 + 1], (ROWS, 1)))
    np.testing.assert_array_equal(rows[:, 0], np.arange(ROWS) % 8 + np.arange(ROWS) // 8 * stride // 128)


def test_other_swizzles_have_the_rows_of_their_names_and_turn_over_as_many_bits():
    """By NVIDIA's manual: eight rows of 16, 32, 64 or 128 bytes, without a gap, turned over in 0 to 3 bits."""
    for mode, (code, bits) in MODES.items():
        number = numbered(0, 1024, mode)
        assert swizzle.fields(number)["swizzle"] == code
        at = read_at(number)
        assert len(np.unique(at)) == at.size if bits else len(np.unique(at)) < at.size
        for n in range(8):
            plain = n * (16 << bits)
            assert at[n, 0] == plain ^ (plain // 128 % 2**bits * 16)
    assert read_at(numbered(32, 1024, "64 bytes"), 4).tolist() == [[32, 48], [96, 112], [176, 160], [240, 224]]


def test_without_a_swizzle_column_1_gets_chunks_3_and_4_of_row_0_and_at_stride_0_columns_repeat():
    """The page's two answers."""
    rows, chunks = held_at(read_at(numbered(32, 1024, "none")))
    assert (rows[1].tolist(), chunks[1].tolist()) == ([0, 0], [3, 4])
    rows, chunks = held_at(read_at(numbered(32, 0, "128 bytes")))
    np.testing.assert_array_equal(rows[8:], rows[:8])
    np.testing.assert_array_equal(chunks[8:], chunks[:8])


def test_a_descriptors_fields_lie_side_by_side_and_are_told_with_their_bytes():
    bits = [set(range(low, low + wide)) for low, wide, _ in FIELDS.values()]
    assert sum(map(len, bits)) == len(set().union(*bits)) == 14 * 3 + 3 + 2
    assert told_fields(numbered(64, 512, "32 bytes")) == {
        "start": "start: 64 / 16 = 4", "leading": "leading: 16 / 16 = 1", "stride": "stride: 512 / 16 = 32",
        "base": "base: 0", "swizzle": "swizzle: 3",
    }  # fmt: skip


def test_the_static_picture_of_a_descriptor_counts_who_gets_what_was_meant():
    made = figures.descriptor_bits()
    assert (
        made.static.caption
        == "Start 32 bytes, stride 1,024 bytes, swizzle 128 bytes: 16 of 16 columns get k = 8 to 15 of their row."
    )
    assert "0x4000_0040_0001_0002" in made.static.alt
    assert "8 of 16 columns" in figures.descriptor_bits(stride=0).static.caption
    for wrong in (dict(start=16), dict(stride=2048), dict(mode="16 bytes")):
        with pytest.raises(ValueError, match="it must be one of"):
            figures.descriptor_bits(**wrong)
