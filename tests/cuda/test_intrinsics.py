"""Each intrinsic does what its plain twin says: on the executor, and on a card where there is one."""

import numpy as np
import pytest
from numba import float32

from course_lib import gpu
from course_lib.cuda import intrinsics, plain
from course_lib.cuda.fragments import fragment
from course_lib.cuda.intrinsics import (
    bits_float,
    chop_tf32,
    cp_async4_part,
    cp_async16,
    cp_async16_part,
    cp_async_commit,
    cp_async_wait0,
    cp_async_wait1,
    float_bits,
    ld2,
    ld4,
    ldmatrix_x4,
    mma_bf16,
    mma_fp16,
    mma_tf32,
    nonneg,
    split_tf32,
    st2,
    st4,
    to_bf16_pair,
    to_fp16_pair,
    to_tf32,
)
from course_lib.cuda.numba_cuda import cuda
from course_lib.cuda.tensor_bounds import rounding_bound
from course_lib.reference.formats import decode, round_to
from tests.gpu.devices import needs_simt, needs_warps, ramp

ODD = np.array([0, -0.0, 1, -1, 1 + 2**-11, 1 + 3 * 2**-11, -1 - 2**-11, 3e38, 1e-40, np.inf, np.pi], np.float32)


@gpu.jit
def reverse_fours(x, y):
    i = nonneg(cuda.grid(1)) * 4
    if i + 4 <= x.size:
        a, b, c, d = ld4(x, i)
        st4(y, y.size - 4 - i, d, c, b, a)


@gpu.jit
def swap_pairs(x, y):
    i = cuda.grid(1) * 2
    if i + 2 <= x.size:
        a, b = ld2(x, i)
        st2(y, i, b, a)


@gpu.jit
def through_shared(x, y, n):
    s = cuda.shared.array(256, float32, alignment=16)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 256 + t * 4
    cp_async16_part(s, t * 4, x, i, max(0, min(4, n - i)))
    cp_async_commit()
    cp_async_wait0()
    cuda.syncthreads()
    for k in range(4):
        y[i + k] = s[255 - t * 4 - k]


@gpu.jit
def odd_rows(x, y, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    cp_async4_part(s, t, x, t + 1, 1 if t < n else 0)
    cp_async_commit()
    cp_async_wait0()
    cuda.syncthreads()
    y[t] = s[63 - t]


@gpu.jit
def two_stages(x, y):
    """Copy while adding: stage p is used while stage 1 - p is under way."""
    s = cuda.shared.array(256, float32, alignment=16)
    t = cuda.threadIdx.x
    total = float32(0)
    cp_async16(s, t * 4, x, t * 4)
    cp_async_commit()
    for p in range(4):
        if p < 3:
            cp_async16(s, (p + 1) % 2 * 128 + t * 4, x, (p + 1) * 128 + t * 4)
            cp_async_commit()
            cp_async_wait1()
        else:
            cp_async_wait0()
        cuda.syncthreads()
        total += s[p % 2 * 128 + 127 - t]
        cuda.syncthreads()
    y[t] = total


@gpu.jit
def bits_of(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = float_bits(x[i])
        out[1, i] = to_tf32(x[i])
        out[2, i], out[3, i] = split_tf32(x[i])
        out[4, i], out[5, i] = chop_tf32(x[i])


@gpu.jit
def one_number_for_all(x, out):
    """What the intrinsics make of a number that is the same for all lanes, of which some write."""
    i = cuda.threadIdx.x
    if i > 2:
        st2(out, 4 * i, bits_float(np.uint32(1 << 30)), bits_float(float_bits(x[0])))
        st2(out, 4 * i + 2, bits_float(to_tf32(float32(np.pi))), bits_float(split_tf32(float32(np.pi))[1]))


@gpu.jit
def product_of_a_warp(A, B, C, D):
    lane = cuda.threadIdx.x % 32
    g, q = lane // 4, lane % 4
    a = (to_tf32(A[g, q]), to_tf32(A[g + 8, q]), to_tf32(A[g, q + 4]), to_tf32(A[g + 8, q + 4]))
    b = (to_tf32(B[q, g]), to_tf32(B[q + 4, g]))
    c = (C[g, 2 * q], C[g, 2 * q + 1], C[g + 8, 2 * q], C[g + 8, 2 * q + 1])
    d = mma_tf32(a, b, c)
    D[g, 2 * q], D[g, 2 * q + 1], D[g + 8, 2 * q], D[g + 8, 2 * q + 1] = d


def pairs_product(to_pair, mma):
    """Return the kernel (A, B, C, D) by which a warp writes D = A B + C, A 16 x 16, B 16 x 8."""

    @gpu.jit
    def product_of_pairs(A, B, C, D):
        lane = cuda.threadIdx.x % 32
        g, k = lane // 4, 2 * (lane % 4)
        a = (
            to_pair(A[g, k], A[g, k + 1]), to_pair(A[g + 8, k], A[g + 8, k + 1]),
            to_pair(A[g, k + 8], A[g, k + 9]), to_pair(A[g + 8, k + 8], A[g + 8, k + 9]),
        )  # fmt: skip
        b = (to_pair(B[k, g], B[k + 1, g]), to_pair(B[k + 8, g], B[k + 9, g]))
        c = (C[g, k], C[g, k + 1], C[g + 8, k], C[g + 8, k + 1])
        D[g, k], D[g, k + 1], D[g + 8, k], D[g + 8, k + 1] = mma(a, b, c)

    return product_of_pairs


OF_PAIRS = {"fp16": pairs_product(to_fp16_pair, mma_fp16), "bf16": pairs_product(to_bf16_pair, mma_bf16)}


@gpu.jit
def pairs_and_back(x, out):
    i = cuda.grid(1)
    if i + 1 < x.size:
        out[0, i] = to_fp16_pair(x[i], x[i + 1])
        out[1, i] = to_bf16_pair(x[i], x[i + 1])
        out[2, i] = float_bits(bits_float(float_bits(x[i])))


@gpu.jit
def tiles_by_lane(x, out):
    s = cuda.shared.array(128, float32, alignment=16)
    t = cuda.threadIdx.x
    for k in range(4):
        s[t * 4 + k] = x[t * 4 + k]
    cuda.syncthreads()
    r = ldmatrix_x4(s, t * 4)
    for k in range(4):
        out[k, t] = r[k]


def test_every_intrinsic_has_a_twin_and_a_docstring():
    for name in intrinsics.NAMES:
        assert getattr(plain, name).__doc__ or name.startswith("cp_async_wait"), name
        assert getattr(intrinsics, name).__doc__, name
    assert sorted(plain.__all__) == sorted(intrinsics.NAMES)


def test_four_floats_are_one_access():
    x, y = gpu.to_device(ramp(256)), gpu.to_device(np.full(256, np.nan, np.float32))
    reverse_fours[1, 64](x, y)
    np.testing.assert_array_equal(gpu.to_host(y), ramp(256)[::-1])


@needs_simt
def test_a_wide_access_counts_as_one_request_of_all_its_bytes():
    x, y = gpu.to_device(ramp(256)), gpu.empty(256, np.float32)
    reverse_fours[1, 64](x, y)
    total = reverse_fours.report.total
    assert (total.global_load_requests, total.global_load_sectors, total.global_load_bytes) == (2, 32, 1024)
    assert (total.global_store_requests, total.global_store_sectors) == (2, 32)


def test_two_floats_in_an_array_of_two_axes_are_counted_through():
    x, y = gpu.to_device(ramp(6, 10)), gpu.to_device(np.full((6, 10), np.nan, np.float32))
    swap_pairs[1, 32](x, y)
    np.testing.assert_array_equal(gpu.to_host(y), ramp(30, 2)[:, ::-1].reshape(6, 10))


def test_axes_of_one_element_may_have_any_stride():
    x = np.lib.stride_tricks.as_strided(ramp(256), (1, 256), (12, 4))
    y = gpu.to_device(np.full((1, 256), np.nan, np.float32))
    reverse_fours[1, 64](gpu.to_device(np.ascontiguousarray(x)), y)
    reverse_fours[1, 64](gpu.to_device(ramp(256)[None]), y)
    np.testing.assert_array_equal(gpu.to_host(y)[0], ramp(256)[::-1])


@pytest.mark.parametrize("n", [512, 510, 259, 256, 1])
def test_partial_copies_fill_up_with_zeros(n):
    x, y = gpu.to_device(ramp(n) + 1), gpu.to_device(np.full(512, np.nan, np.float32))
    through_shared[2, 64](x, y, n)
    padded = np.concatenate([ramp(n) + 1, np.zeros(512 - n, np.float32)]).reshape(2, 256)
    np.testing.assert_array_equal(gpu.to_host(y), padded[:, ::-1].ravel())


def test_copies_run_ahead_in_two_stages():
    x, y = gpu.to_device(ramp(512)), gpu.to_device(np.full(32, np.nan, np.float32))
    two_stages[1, 32](x, y)
    expected = ramp(512).reshape(4, 128)[:, ::-1][:, :32].sum(axis=0)
    np.testing.assert_array_equal(gpu.to_host(y), expected)


def test_bits_are_those_of_the_plain_twins():
    x = np.concatenate([ODD, np.random.default_rng(0).standard_normal(500).astype(np.float32)])
    out = gpu.to_device(np.zeros((6, x.size), np.uint32))
    bits_of[4, 256](gpu.to_device(x), out)
    with np.errstate(invalid="ignore"):
        expected = [plain.float_bits(x), plain.to_tf32(x), *plain.split_tf32(x), *plain.chop_tf32(x)]
    for found, wanted in zip(gpu.to_host(out), expected, strict=True):
        finite = np.isfinite(found.view(np.float32)) & np.isfinite(wanted.view(np.float32))
        np.testing.assert_array_equal(found[finite], wanted[finite])
        np.testing.assert_array_equal(np.isfinite(found.view(np.float32)), np.isfinite(wanted.view(np.float32)))


def test_a_number_that_all_lanes_share_is_written_by_those_that_write():
    out = gpu.to_device(np.zeros(4 * 40, np.float32))
    one_number_for_all[1, 40](gpu.to_device(ODD[-1:]), out)
    pi = np.float32(np.pi)
    row = [2, pi, *(bits.view(np.float32) for bits in (plain.to_tf32(pi), plain.split_tf32(pi)[1]))]
    np.testing.assert_array_equal(gpu.to_host(out).reshape(40, 4), np.where(np.arange(40)[:, None] > 2, row, 0))


def test_a_number_is_the_sum_of_its_two_parts():
    x = np.random.default_rng(1).standard_normal(10_000).astype(np.float32)
    big, small = (p.view(np.float32).astype(np.float64) for p in plain.split_tf32(x))
    assert np.max(np.abs(big + small - x) / np.abs(x)) < 2**-21
    big, small = (p.view(np.float32) for p in plain.chop_tf32(x))
    np.testing.assert_array_equal(big + small, x)


@needs_warps
def test_a_warp_multiplies_matrices():
    rng = np.random.default_rng(2)
    A, B, C = (rng.integers(-9, 10, s).astype(np.float32) for s in ((16, 8), (8, 8), (16, 8)))
    D = gpu.to_device(np.full((16, 8), np.nan, np.float32))
    product_of_a_warp[1, 32](gpu.to_device(A), gpu.to_device(B), gpu.to_device(C), D)
    np.testing.assert_array_equal(gpu.to_host(D), A @ B + C)


@needs_warps
def test_tensor_cores_cut_off_where_other_units_round():
    A, B, C = np.zeros((16, 8), np.float32), np.zeros((8, 8), np.float32), np.ones((16, 8), np.float32)
    A[:, 0], B[0] = 2**-24 * 1.5, 1  # three quarters of the last digit: rounded, the sum would be the next number
    D = gpu.to_device(np.zeros((16, 8), np.float32))
    product_of_a_warp[1, 32](gpu.to_device(A), gpu.to_device(B), gpu.to_device(C), D)
    np.testing.assert_array_equal(gpu.to_host(D), np.ones((16, 8), np.float32))


def multiplied(kind, A, B, C):
    """D of one operation on matrices of float32."""
    kernel = product_of_a_warp if kind == "tf32" else OF_PAIRS[kind]
    D = gpu.to_device(np.full((16, 8), np.nan, np.float32))
    kernel[1, 32](*(gpu.to_device(m) for m in (A, B, C)), D)
    return gpu.to_host(D)


@needs_warps
@pytest.mark.parametrize("kind", ["fp16", "bf16"])
def test_a_warp_multiplies_matrices_of_pairs(kind):
    rng = np.random.default_rng(2)
    A, B, C = (rng.integers(-9, 10, s).astype(np.float32) for s in ((16, 16), (16, 8), (16, 8)))
    np.testing.assert_array_equal(multiplied(kind, A, B, C), A @ B + C)


@needs_warps
@pytest.mark.parametrize(("kind", "depth"), [("tf32", 8), ("fp16", 16), ("bf16", 16)])
@pytest.mark.parametrize("spread", [1, 30])
def test_an_operation_stays_within_its_bound(kind, depth, spread):
    rng = np.random.default_rng(3)
    draw = [rng.standard_normal(s) * 2.0 ** rng.uniform(-spread, 0, s) for s in ((16, depth), (depth, 8), (16, 8))]
    A, B, C = (m.astype(np.float32) for m in draw)
    A, B = round_to(A, kind), round_to(B, kind)
    off = np.abs(multiplied(kind, A, B, C) - (A.astype(np.float64) @ B + C))
    assert np.all(off <= rounding_bound(A, B, C))
    assert np.any(off > 0)


@needs_warps
@pytest.mark.parametrize("kind", ["fp16", "bf16"])
def test_a_sum_of_pairs_is_cut_off_and_subnormals_count(kind):
    A, B, C = np.zeros((16, 16), np.float32), np.zeros((16, 8), np.float32), np.ones((16, 8), np.float32)
    A[:, 5], B[5] = 2**-12 * 1.5, 2**-12
    np.testing.assert_array_equal(multiplied(kind, A, B, C), C)
    A[:, 5], B[5] = 2.0**-24, 2.0**13  # a subnormal of FP16
    np.testing.assert_array_equal(multiplied(kind, A, B, C), C + np.float32(2**-11))


def test_pairs_are_packed_low_first_and_rounded_to_even():
    x = np.concatenate([ODD, np.random.default_rng(0).standard_normal(300).astype(np.float32), ODD])
    out = gpu.to_device(np.zeros((3, x.size), np.uint32))
    pairs_and_back[2, 256](gpu.to_device(x), out)
    found = gpu.to_host(out)[:, :-1]
    for row, name in enumerate(("fp16", "bf16")):
        np.testing.assert_array_equal(decode(found[row] & np.uint32(0xFFFF), name), round_to(x[:-1], name))
        np.testing.assert_array_equal(decode(found[row] >> np.uint32(16), name), round_to(x[1:], name))
    np.testing.assert_array_equal(found[2], x[:-1].view(np.uint32))


@pytest.mark.parametrize(("kind", "depth"), [("tf32", 8), ("fp16", 16), ("bf16", 16)])
def test_fragments_hold_each_element_once_and_gather_what_they_scatter(kind, depth):
    for operand, shape in (("a", (16, depth)), ("b", (depth, 8)), ("c", (16, 8))):
        held = fragment(operand, kind)
        assert held.shape == shape
        matrix = ramp(*shape)
        assert sorted(held.gather(matrix).ravel()) == sorted(matrix.ravel())
        np.testing.assert_array_equal(held.scatter(held.gather(matrix)), matrix)
        lane, register, part = held.owner(3, 5)
        assert (held.rows[lane, register, part], held.columns[lane, register, part]) == (3, 5)
    with pytest.raises(IndexError, match=r"no element \(16, 0\)"):
        fragment("a", kind).owner(16, 0)
    with pytest.raises(ValueError, match="this fragment is of one of shape"):
        fragment("b", kind).gather(np.zeros((3, 3)))


@needs_simt
def test_an_operation_of_pairs_counts_twice_that_of_tf32():
    counted = []
    for kind, depth in (("tf32", 8), ("fp16", 16)):
        multiplied(
            kind, np.ones((16, depth), np.float32), np.ones((depth, 8), np.float32), np.ones((16, 8), np.float32)
        )
        counted.append((product_of_a_warp if kind == "tf32" else OF_PAIRS[kind]).report.total.flops)
    assert counted == [2 * 16 * 8 * 8, 2 * 16 * 8 * 16]


@needs_warps
def test_each_lane_gets_its_float_of_four_tiles():
    out = gpu.to_device(np.zeros((4, 32), np.uint32))
    tiles_by_lane[1, 32](gpu.to_device(ramp(128)), out)
    np.testing.assert_array_equal(gpu.to_host(out).view(np.float32), ramp(4, 32))


def test_single_floats_are_copied_where_rows_are_not_aligned():
    x, y = gpu.to_device(ramp(100) + 1), gpu.to_device(np.full(64, np.nan, np.float32))
    odd_rows[1, 64](x, y, 33)
    np.testing.assert_array_equal(gpu.to_host(y), np.append(ramp(33) + 2, np.zeros(31, np.float32))[::-1])
