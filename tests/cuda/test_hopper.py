"""Hopper's rungs: exact and without hazards with the executor's twins of its instructions, and on a card that has them.

The launchers fall back elsewhere, which the ladder's tests try; here the kernels themselves are launched.
"""

import ctypes
from dataclasses import replace

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda import capability, hopper, tensor_map
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.choice import GPU, Choice
from course_lib.cuda.device import choice, executor
from course_lib.cuda.hopper import (
    mbarrier_arrive,
    mbarrier_expect,
    mbarrier_init,
    mbarrier_wait,
    shared_address,
    shared_to_async,
    tma_load,
    wgmma_commit,
    wgmma_fence,
    wgmma_tf32_n64,
    wgmma_wait0,
)
from course_lib.cuda.intrinsics import float_bits
from course_lib.cuda.ladders.gemm import half_tma, v09_3xtf32, v10_tf32, v11_wgmma_tf32, v12_tma_tf32, v13_tma_3xtf32
from course_lib.cuda.ladders.gemm.half_tma import gemm_half_tma
from course_lib.cuda.ladders.gemm.hopper_tiles import REGISTERS, Stages, launch, launch_float32
from course_lib.cuda.ladders.gemm.v11_wgmma_tf32 import gemm_v11_wgmma_tf32, make_gemm_v11
from course_lib.cuda.ladders.gemm.v12_tma_tf32 import gemm_v12_tma_tf32, make_gemm_v12
from course_lib.cuda.ladders.gemm.v13_tma_3xtf32 import gemm_v13_tma_3xtf32, make_gemm_v13
from course_lib.cuda.numba_cuda import cuda, float32, uint32, uint64
from course_lib.cuda.recording import record_launches
from course_lib.cuda.swizzle import K_MAJOR, copied, descriptor
from course_lib.cuda.tensor_map import tensor_maps
from course_lib.simt import KernelError
from tests.gpu.devices import HERE, nans, needs_simt

ON_CARD = choice().device == GPU and compute_capability() == (9, 0)
needs_hopper = pytest.mark.skipif(
    not ON_CARD and not executor().reports, reason=f"needs wgmma: compute capability 9.0, or the SIMT executor; {HERE}"
)
needs_card = pytest.mark.skipif(not ON_CARD, reason=f"needs a GPU of compute capability 9.0; {HERE}")

RUNGS = {"v12": (make_gemm_v12, v12_tma_tf32.STAGES, "tf32"), "v13": (make_gemm_v13, v13_tma_3xtf32.STAGES, "float32")}
"""Name -> (how to make the kernel, its Stages, the kind of its maps)."""
SIZES = [(256, 128, 128), (300, 260, 100), (1, 4, 4), (130, 136, 20)]
"""(M, N, K) of at most four tiles in k: the executor's producer cannot wait for a stage. Whole tiles, ragged ones."""


def whole_numbers(M, N, K, most=8):
    """Return A (M, K) and B (K, N), float32 whole numbers of up to 8: exact in TF32 and BF16, and their sums too."""
    rng = np.random.default_rng(M + N + K)
    return (rng.integers(-most, most + 1, shape).astype(np.float32) for shape in ((M, K), (K, N)))


def by_roles(name, A, B, cluster=1, **options):
    """Return (what a kernel with roles makes of A and B, the launches)."""
    make, stages, kind = RUNGS[name]
    stages = replace(stages, cluster=cluster)
    a, b, C = gpu.to_device(A), gpu.to_device(B), nans(A.shape[0], B.shape[1])
    with record_launches() as launches:
        maps = tensor_maps((a, kind, stages.box_a, stages.BK), (b, kind, stages.BK, 32))
        launch(make(stages, **options), stages, a, b, C, maps)
    return gpu.to_host(C), launches


def by_v11(A, B, whole):
    """Return (what v11's kernel makes of A and B, the launches)."""
    S = v11_wgmma_tf32.STAGES
    C = nans(A.shape[0], B.shape[1])
    blocks = -(-A.shape[0] // S.BM) * -(-B.shape[1] // S.BN)
    with record_launches() as launches:
        kernel = make_gemm_v11(S, whole)
        kernel[blocks, v11_wgmma_tf32.THREADS, 0, S.STAGES * S.stage](gpu.to_device(A), gpu.to_device(B), C)
    return gpu.to_host(C), launches


def clean(launches):
    """Assert that no launch had a hazard or a bank conflict, where that is known."""
    for report in [one.kernel.report for one in launches] if executor().reports else ():
        assert report.hazards == []
        assert report.total.shared_load_conflicts == report.total.shared_store_conflicts == 0
        assert report.total.float64_flops == 0


@needs_hopper
@pytest.mark.parametrize("cluster", [1, 2])
@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize(("M", "N", "K"), SIZES, ids=str)
def test_kernels_with_roles_multiply_whole_numbers_exactly(name, cluster, M, N, K):
    A, B = whole_numbers(M, N, K)
    found, launches = by_roles(name, A, B, cluster)
    np.testing.assert_array_equal(found, A @ B)
    clean(launches)


@needs_hopper
@pytest.mark.parametrize(("M", "N", "K", "whole"), [(256, 128, 256, True), (300, 132, 44, False), (1, 4, 300, False)])
def test_products_by_four_warps_with_threads_that_copy_are_exact(M, N, K, whole):
    A, B = whole_numbers(M, N, K)
    found, launches = by_v11(A, B, whole)
    np.testing.assert_array_equal(found, A @ B)
    clean(launches)


@needs_simt
def test_what_blocks_have_copied_is_what_the_formula_says():
    A, B = whole_numbers(512, 256, 128)
    roles = [(name, cluster) for name in RUNGS for cluster in (1, 2)]
    for stages, launches in (
        (v11_wgmma_tf32.STAGES, by_v11(A, B, True)[1]),
        *((replace(RUNGS[name][1], cluster=cluster), by_roles(name, A, B, cluster)[1]) for name, cluster in roles),
    ):
        (one,) = launches
        assert one.kernel.report.total.global_load_bytes == stages.copied(512, 256, 128)
    alone, pairs = (replace(v12_tma_tf32.STAGES, cluster=n).copied(4096, 4096, 4096) for n in (1, 2))
    assert (alone, pairs) == (4 * 4096**3 * (1 / 256 + 1 / 128), 4 * 4096**3 * (1 / 256 + 1 / 256))


def half(A, kind):
    """Return whole numbers as float16, or as the bits of BF16."""
    return A.astype(np.float16) if kind == "float16" else (A.view(np.uint32) >> 16).astype(np.uint16)


@needs_hopper
@pytest.mark.parametrize(("kind", "cluster"), [("float16", 1), ("uint16", 1), ("uint16", 2)])
@pytest.mark.parametrize(("M", "N", "K"), [(128, 256, 64), (130, 300, 72), (7, 13, 9), (1, 1, 1)], ids=str)
def test_numbers_of_16_bits_are_multiplied_exactly_whatever_the_size(kind, cluster, M, N, K, monkeypatch):
    monkeypatch.setattr(capability, "EVERY", (9, 0))
    A, B = whole_numbers(M, N, K)
    C = nans(M, N)
    with record_launches() as launches:
        gemm_half_tma(
            gpu.to_device(half(A, kind)), gpu.to_device(half(B, kind)), C, replace(half_tma.STAGES, cluster=cluster)
        )
    np.testing.assert_array_equal(gpu.to_host(C), A @ B)
    clean(launches[-1:])


@needs_hopper
def test_three_products_have_float32s_error_and_one_has_tf32s():
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal(shape).astype(np.float32) for shape in ((32, 128), (128, 64)))
    exact, scale = A.astype(np.float64) @ B, np.abs(A).astype(np.float64) @ np.abs(B)
    tolerance = 4 * np.sqrt(128) * 2.0**-24 + 2.0**-20  # products of two small parts are left out
    assert np.max(np.abs(by_roles("v13", A, B)[0] - exact) / scale) < tolerance
    for found in (by_roles("v12", A, B)[0], by_v11(A, B, False)[0]):
        assert tolerance < np.max(np.abs(found - exact) / scale) < 2.0**-10


@needs_hopper
def test_groups_of_consumers_may_let_their_sums_out_at_different_times():
    A, B = whole_numbers(130, 260, 128)
    found, launches = by_roles("v13", A, B, apart=True)
    np.testing.assert_array_equal(found, A @ B)
    clean(launches)


@needs_hopper
def test_sums_that_leave_tensor_cores_in_time_do_not_shrink():
    A = np.full((4, 128), 1 + 2.0**-10, np.float32)
    exact = np.full((4, 4), np.sum(A[0].astype(np.float64) ** 2))
    late, early = (by_roles("v13", A, A.T.copy(), flush=flush)[0] for flush in (128, 32))
    np.testing.assert_allclose(early, exact, rtol=2.0**-23)
    assert abs(late[0, 0] - exact[0, 0]) >= abs(early[0, 0] - exact[0, 0])


@needs_card
@pytest.mark.parametrize("rung", [gemm_v11_wgmma_tf32, gemm_v12_tma_tf32, gemm_v13_tma_3xtf32])
@pytest.mark.parametrize(("M", "N", "K"), [(1030, 520, 2052), (4096, 256, 64), (384, 4096, 512)], ids=str)
def test_on_a_card_blocks_go_on_to_their_next_tile_and_stages_come_round(rung, M, N, K):
    A, B = whole_numbers(M, N, K)
    C = nans(M, N)
    rung(gpu.to_device(A), gpu.to_device(B), C)
    np.testing.assert_array_equal(gpu.to_host(C), A @ B)


@needs_card
def test_on_a_card_16_bits_go_through_all_stages():
    A, B = whole_numbers(1030, 4096, 2056)
    for kind in ("float16", "uint16"):
        C = nans(1030, 4096)
        gemm_half_tma(gpu.to_device(half(A, kind)), gpu.to_device(half(B, kind)), C)
        np.testing.assert_array_equal(gpu.to_host(C), A @ B)


@needs_card
@pytest.mark.parametrize("cluster", [1, 2])
def test_on_a_card_a_recorded_graph_multiplies_what_lies_in_the_matrices_then(cluster):
    M, N, K = 300, 260, 100
    A, B = whole_numbers(M, N, K, most=4)  # their product has at most 11 bits, as TF32
    a, b, unit = gpu.to_device(A), gpu.to_device(B), gpu.to_device(np.eye(N, dtype=np.float32))
    odd, even = gpu.to_device(half(A[:, :99], "float16")), gpu.to_device(half(B[:99], "float16"))

    def step():
        """Multiply what is there and what is new in each recording: results, copies of odd rows, and their maps."""
        first, again, halves = (gpu.empty((M, N), np.float32) for _ in range(3))
        gemm_v13_tma_3xtf32(a, b, first)
        gemm_v12_tma_tf32(first, unit, again)
        gemm_half_tma(odd, even, halves, replace(half_tma.STAGES, cluster=cluster))
        return first, again, halves

    graph = gpu.record(step)
    for factor in (1, -1):
        gpu.overwrite(a, factor * A)
        graph()
        first, again, halves = (gpu.to_host(x) for x in graph.result)
        np.testing.assert_array_equal(first, factor * A @ B)
        np.testing.assert_array_equal(again, first)
        np.testing.assert_array_equal(halves, A[:, :99] @ B[:99])


# ------------------------------------------------------------------------------------------------ who gets what


@pytest.mark.parametrize(
    ("rung", "module", "below", "kernel"),
    [
        (gemm_v11_wgmma_tf32, v11_wgmma_tf32, v10_tf32.gemm_v10_tf32, "_gemm_v10"),
        (gemm_v12_tma_tf32, v12_tma_tf32, v10_tf32.gemm_v10_tf32, "_gemm_v10"),
        (gemm_v13_tma_3xtf32, v13_tma_3xtf32, v09_3xtf32.gemm_v09_3xtf32, "_gemm_v09"),
    ],
)
@needs_simt
def test_who_has_no_hopper_or_rows_that_do_not_fit_gets_the_rung_below(rung, module, below, kernel, monkeypatch):
    def launched(M, N, K):
        with record_launches(run=False) as launches:
            rung(nans(M, K), nans(K, N), nans(M, N))
        return [one.kernel.__name__ for one in launches]

    assert launched(8, 8, 8) == [kernel]
    monkeypatch.setattr(capability, "EVERY", (8, 0))
    assert launched(8, 8, 8) == [kernel]
    monkeypatch.setattr(capability, "EVERY", (10, 0))
    assert launched(8, 8, 8) == [kernel]
    monkeypatch.setattr(capability, "EVERY", (9, 0))
    assert launched(8, 8, 6) == launched(8, 6, 8) == [kernel]
    assert launched(8, 8, 8) == [f"_gemm_{rung.__name__[5:8]}"]
    assert module.traffic is {"_gemm_v10": v10_tf32, "_gemm_v09": v09_3xtf32}[kernel].traffic
    with pytest.raises(TypeError, match="A is a host array"):
        launch_float32(make_gemm_v12, v12_tma_tf32.STAGES, "tf32", below, np.ones((4, 4)), nans(4, 4), nans(4, 4))


def test_16_bits_are_refused_without_hopper_and_so_are_two_kinds(monkeypatch):
    A, C = gpu.to_device(np.ones((8, 8), np.float16)), nans(8, 8)
    if not ON_CARD:
        with pytest.raises(gpu.DeviceError, match=r"compute capability 9\.0.*gemm_v10_tf32"):
            gemm_half_tma(A, A, C)
        monkeypatch.setattr(half_tma, "has_hopper", lambda: True)
    with pytest.raises(TypeError, match="both must be float16, or both uint16"):
        gemm_half_tma(A, gpu.to_device(np.ones((8, 8), np.uint16)), C)
    with pytest.raises(TypeError, match="A has dtype float32"):
        gemm_half_tma(C, A, nans(8, 8))


def test_a_block_gets_no_more_registers_and_shared_memory_than_there_are():
    for stages, registers in (
        (v12_tma_tf32.STAGES, REGISTERS[2]),
        (v13_tma_3xtf32.STAGES, REGISTERS[2]),
        (half_tma.STAGES, REGISTERS[2]),
        (Stages(192, 192, 32, 4, consumers=3), REGISTERS[3]),
    ):
        down, up = registers
        at_launch = 65_536 // stages.threads // 8 * 8
        assert 128 * (down + up * stages.consumers) <= at_launch * stages.threads <= 65_536
        assert down < at_launch < up
        assert stages.shared_bytes <= 227 * 1024
        assert stages.stage % 1024 == stages.tile_a % 1024 == stages.slice % 1024 == 0  # the swizzle's period


def test_a_rung_of_two_names_has_two_kernels_on_the_disk():
    from course_lib.cuda.unroll import fingerprint

    kernels = [half_tma.make_gemm_half(half_tma.STAGES, kind, True) for kind in ("f16", "bf16")]
    assert len({fingerprint(k.py_func, k.made_from) for k in kernels}) == 2
    assert len({getattr(hopper, name).__name__ for name in hopper.NAMES}) == len(hopper.NAMES)


# ------------------------------------------------------------------------------------------------ the twins


@gpu.jit
def waits(C):
    s = cuda.shared.array(0, float32, 1024)
    base = shared_address(s, 0)
    if cuda.threadIdx.x == 0:
        mbarrier_init(base, 2)
        mbarrier_arrive(base)
    cuda.syncthreads()
    mbarrier_wait(base, 1)  # the phase before the first one is over
    C[0] = float32(1)
    mbarrier_wait(base, 0)
    C[0] = float32(2)


@gpu.jit
def copies(A, C, maps, size):
    s = cuda.shared.array(0, float32, 1024)
    base = shared_address(s, 0)
    if cuda.threadIdx.x == 0:
        mbarrier_init(base + uint32(1024), 1)
        mbarrier_expect(base + uint32(1024), size)
        tma_load(base, maps, 0, 30, 1, base + uint32(1024))
    cuda.syncthreads()
    mbarrier_wait(base + uint32(1024), 0)
    for i in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        C[i // 32, i % 32] = s[i]


@gpu.jit
def multiplies(A, C):
    s = cuda.shared.array(0, float32, 1024)
    acc = cuda.local.array(32, float32)
    r = cuda.local.array(4, uint32)
    for i in range(32):
        acc[i] = float32(1)
    for i in range(4):
        r[i] = uint32(0)
    for i in range(cuda.threadIdx.x, 2048, cuda.blockDim.x):
        s[i] = float32(0)
    cuda.syncthreads()
    if cuda.threadIdx.x < A.shape[0]:
        wgmma_tf32_n64(acc, 0, r, 0, uint64(K_MAJOR), 1)
    C[cuda.threadIdx.x] = acc[0]


@needs_simt
def test_a_wait_that_would_not_end_is_an_error_here():
    C = nans(1)
    with pytest.raises(KernelError, match="for a phase that is not over"):
        waits[1, 32, 0, 1024](C)
    np.testing.assert_array_equal(gpu.to_host(C), [1])


@needs_simt
def test_a_copied_box_is_swizzled_and_zero_outside_of_the_matrix():
    A = np.arange(5 * 40, dtype=np.float32).reshape(5, 40) + 1
    a, C = gpu.to_device(A), nans(8, 32)
    copies[1, 32, 0, 2048](a, C, tensor_maps((a, "float32", 8, 32)), 1024)
    box = np.zeros((8, 32), np.float32)
    box[:4, :10] = A[1:, 30:]
    found = gpu.to_host(C).reshape(8, 8, 4)
    for row in range(8):
        for chunk in range(8):
            np.testing.assert_array_equal(found[row, chunk ^ row], box[row, 4 * chunk : 4 * chunk + 4])
    with pytest.raises(KernelError, match="for a phase that is not over"):
        copies[1, 32, 0, 2048](a, C, tensor_maps((a, "float32", 8, 32)), 1028)  # more bytes than come


def product_alone(kind, n):
    """Return a kernel: C (64, n) += left @ right, from the bytes of a tile of 8 KiB for `left` and one for `right`."""
    wgmma = getattr(hopper, f"wgmma_{kind}_n{n}")
    R, RIGHT = n // 2, uint64(descriptor(0, leading=2048))
    from_registers = kind == "tf32"

    @gpu.jit(launch_bounds=(128, 1))
    def product(L, memory, C):
        s = cuda.shared.array(0, float32, 1024)
        acc = cuda.local.array(R, float32)
        r = cuda.local.array(4, uint32)
        t = cuda.threadIdx.x
        for i in range(t, memory.size, 128):
            s[i] = memory[i]
        row, q = 16 * (t // 32) + t % 32 // 4, t % 4
        for i in range(R):
            acc[i] = C[row + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * q + i % 2]
        shared_to_async()
        cuda.syncthreads()
        right = RIGHT | uint64((shared_address(s, 0) + uint32(8192)) >> uint32(4))
        wgmma_fence()
        if from_registers:
            for h in range(4):
                r[h] = float_bits(L[row + 8 * (h % 2), q + 4 * (h // 2)])
            wgmma(acc, 0, r, 0, right, 1)
        else:
            wgmma(acc, 0, RIGHT | uint64(shared_address(s, 0) >> uint32(4)), right, 1)
        wgmma_commit()
        wgmma_wait0()
        for i in range(R):
            C[row + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * q + i % 2] = acc[i]

    return product


@needs_hopper
@pytest.mark.parametrize("n", hopper.WIDTHS)
@pytest.mark.parametrize("kind", ["tf32", "f16", "bf16"])
def test_a_product_by_four_warps_adds_to_its_sums(kind, n):
    k = 8 if kind == "tf32" else 16
    L, R = whole_numbers(64, n, k)
    if kind == "tf32":
        tiles = [np.zeros((64, 32), np.float32), np.pad(R.T, ((0, 0), (0, 24)))]
    else:
        A, B = (half(x, {"f16": "float16", "bf16": "uint16"}[kind]) for x in (L, R))
        tiles = [np.pad(A, ((0, 0), (0, 48))), *(np.ascontiguousarray(B[:, j : j + 64]) for j in range(0, n, 64))]
    memory = np.concatenate([copied(tile) for tile in tiles]).view(np.float32)
    C = gpu.to_device(np.full((64, n), 5, np.float32))
    product_alone(kind, n)[1, 128, 0, memory.nbytes](gpu.to_device(L), gpu.to_device(memory), C)
    np.testing.assert_array_equal(gpu.to_host(C), 5 + L @ R)


@needs_simt
def test_four_whole_warps_must_come_to_a_product():
    C = nans(128)
    multiplies[1, 128, 0, 8192](nans(128), C)
    np.testing.assert_array_equal(gpu.to_host(C), np.ones(128))
    with pytest.raises(KernelError, match="whole groups of four warps"):
        multiplies[1, 128, 0, 8192](nans(64), C)


@needs_simt
def test_maps_of_arrays_that_are_gone_are_forgotten():
    a = nans(8, 32)
    before = len(tensor_map._shown)
    maps = tensor_maps((a, "float32", 8, 32), (a, "float32", 8, 32))
    assert len(tensor_map._shown) == before + 2
    del maps
    assert len(tensor_map._shown) == before


def test_the_driver_gets_sizes_from_the_inside_out_and_a_place_at_a_multiple_of_64_bytes(monkeypatch):
    def encode(place, kind, rank, address, sizes, steps, box, each, *rest):
        found = [np.ctypeslib.as_array(ctypes.cast(p, ctypes.POINTER(t)), (n,)).tolist() for p, t, n in (
            (sizes, ctypes.c_uint64, 2), (steps, ctypes.c_uint64, 1), (box, ctypes.c_uint32, 2),
            (each, ctypes.c_uint32, 2))]  # fmt: skip
        said.append((place % 64, kind, rank, address, *found, *rest))
        np.ctypeslib.as_array(ctypes.cast(place, ctypes.POINTER(ctypes.c_uint64)), (16,))[:] = range(16)
        return len(said) - 1

    said, function = [], tensor_map.ENCODE(encode)
    monkeypatch.setattr(tensor_map, "_encode", lambda: function)
    words = tensor_map._encoded(0x7F00_0000_0100, (300, 1000), "uint16", 128, 64)
    np.testing.assert_array_equal(words, range(16))
    assert said == [(0, 1, 2, 0x7F00_0000_0100, [1000, 300], [2000], [64, 128], [1, 1], 0, 3, 3, 0)]
    with pytest.raises(gpu.DeviceError, match=r"boxes of 32 x 32 tf32 \(error 1\)"):
        tensor_map._encoded(256, (8, 32), "tf32", 32, 32)
    assert said[1][1:] == (11, 2, 256, [32, 8], [128], [32, 32], [1, 1], 0, 3, 3, 0)


def test_maps_of_the_same_matrices_are_made_once_and_a_recording_keeps_what_it_uses(monkeypatch):
    class Recording:
        made, kept = [], []

        def address(self, array):
            return 256

        def constant(self, words):
            self.made.append(words)
            return words

        def keep(self, maps):
            self.kept.append(maps)

    monkeypatch.setattr(tensor_map, "executor", Recording)
    monkeypatch.setattr(tensor_map, "choice", lambda: Choice(GPU, "a test"))
    monkeypatch.setattr(tensor_map, "_encoded", lambda *sizes: np.zeros(tensor_map.WORDS, np.uint64))
    monkeypatch.setattr(tensor_map, "_made", {})
    a, b = np.zeros((8, 32), np.float32), np.zeros((8, 64), np.float32)
    pairs = [tensor_maps((a, "float32", 8, 32), (x, "float32", 8, 32)) for x in (a, a, b)]
    assert pairs[0] is pairs[1]
    assert [maps.shape for maps in Recording.made] == [(32,)] * 2
    assert [id(maps) for maps in Recording.kept] == [id(maps) for maps in pairs]
