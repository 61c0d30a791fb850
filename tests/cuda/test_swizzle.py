"""Where a tile lies in shared memory: no two rows' chunks meet in a bank, and a descriptor leads to every element."""

import numpy as np
import pytest

from course_lib.cuda import swizzle
from course_lib.cuda.swizzle import banks, copied, descriptor, fields, operand, picture, places, swizzled, walk


def test_each_row_is_a_permutation_of_its_chunks_and_the_rule_undoes_itself():
    for row in places(16):
        assert sorted(row) == list(range(8))
    address = np.arange(4096)
    np.testing.assert_array_equal(swizzled(swizzled(address)), address)
    np.testing.assert_array_equal(np.sort(swizzled(address)), address)
    assert places(10)[9].tolist() == [1, 0, 3, 2, 5, 4, 7, 6]
    with pytest.raises(ValueError, match="at least one row"):
        places(0)


def test_a_column_of_chunks_meets_all_banks_with_the_swizzle_and_four_without():
    for chunk in range(8):
        touched = {bank + k for bank in banks(8)[:, chunk] for k in range(4)}
        assert touched == set(range(32))
        assert {bank + k for bank in banks(8, plain=True)[:, chunk] for k in range(4)} == set(
            range(4 * chunk, 4 * chunk + 4)
        )


def test_the_tensor_cores_find_what_tma_has_put_there_step_by_step():
    A = np.arange(256 * 32, dtype=np.float32).reshape(256, 32)
    memory = copied(A)
    for step in range(4):
        found = operand(memory, descriptor(32 * step), 256, np.float32)
        np.testing.assert_array_equal(found, A[:, 8 * step : 8 * step + 8].T)
    assert descriptor(32) == descriptor(0) + 2  # a step of k
    assert descriptor(0) == swizzle.K_MAJOR


def test_a_transposed_operand_of_16_bits_lies_in_slices_of_64_columns():
    B = np.arange(64 * 256, dtype=np.uint16).reshape(64, 256)
    memory = np.concatenate([copied(B[:, 64 * j : 64 * j + 64]) for j in range(4)])
    for step in range(4):
        number = descriptor(2048 * step, leading=64 * 128)
        assert number == descriptor(0, leading=64 * 128) + 128 * step
        np.testing.assert_array_equal(
            operand(memory, number, 256, np.uint16, transposed=True), B[16 * step : 16 * step + 16]
        )


def test_a_wrong_stride_leads_elsewhere():
    A = np.arange(32 * 32, dtype=np.float32).reshape(32, 32)
    memory = copied(A)
    assert (operand(memory, descriptor(0, stride=512), 16, np.float32) != A[:16, :8].T).any()
    with pytest.raises(IndexError):
        operand(memory, descriptor(0, stride=4096), 32, np.float32)


def test_a_walk_names_each_byte_once():
    at = walk(descriptor(0), 64)
    assert at.shape == (8, 64)
    assert len(np.unique(at)) == at.size
    assert walk(descriptor(0), 64, size=2).shape == (16, 64)
    with pytest.raises(ValueError, match="TF32 must lie K-major"):
        walk(descriptor(0), 64, transposed=True)


def test_a_descriptor_says_what_it_was_made_of_and_refuses_what_does_not_fit():
    number = descriptor(49152, stride=1024, leading=8192)
    assert fields(number) == {"start": 49152, "leading": 8192, "stride": 1024, "swizzle": 1}
    for wrong in (dict(start=8), dict(start=-16), dict(start=1 << 18), dict(start=0, stride=1000)):
        with pytest.raises(ValueError, match="must be a multiple of 16"):
            descriptor(**wrong)
    with pytest.raises(ValueError, match="a row of the tile has 64 bytes"):
        copied(np.zeros((4, 16), np.float32))


@pytest.mark.parametrize("rows", [8, 32])
def test_lanes_that_read_the_left_operand_together_never_meet_in_a_bank(rows):
    """As `hopper_tiles` deals columns out: 16 lanes, two floats each, of rows q or q + 4."""
    for warp in range(4):
        for half in range(2):
            for above in range(0, rows, 4):
                touched = []
                for lane in range(16 * half, 16 * half + 16):
                    g, q = lane // 4, lane % 4
                    group = 4 * (g // 2 % 2) + g // 4 + 2 * (warp % 2)
                    bank = 4 * places(rows)[above + q, group] + 2 * (g % 2)
                    touched += [bank, bank + 1]
                assert sorted(touched) == list(range(32))


def test_the_picture_shows_what_a_step_of_a_product_reads():
    assert picture(descriptor(0), 8) == [
        "row  0  [0][1] 2  3  4  5  6  7 ",
        "row  1  [1][0] 3  2  5  4  7  6 ",
        "row  2   2  3 [0][1] 6  7  4  5 ",
        "row  3   3  2 [1][0] 7  6  5  4 ",
        "row  4   4  5  6  7 [0][1] 2  3 ",
        "row  5   5  4  7  6 [1][0] 3  2 ",
        "row  6   6  7  4  5  2  3 [0][1]",
        "row  7   7  6  5  4  3  2 [1][0]",
    ]
    assert picture(descriptor(64), 8)[2] == "row  2   2  3  0  1  6  7 [4][5]"
    lines = picture(descriptor(0), 32, size=2, transposed=True)
    assert [line.count("[") for line in lines] == [8] * 16 + [0] * 16  # a step of 16 k: 16 rows, whole
