"""Every rung of the forward convolution equals the reference exactly on whole numbers, and costs what it says."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda import conv2d
from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d.forward import (
    LADDER,
    c1_by_pixels,
    planned,
    tensor_plan,
    v01_basic,
    v02_constant_masks,
    v05b_c1_layer,
    v06_specialised,
    v07_tensor_cores,
)
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes, sizes_of
from course_lib.cuda.ladders.conv2d.forward.plan import Plan, plan
from course_lib.cuda.ladders.conv2d.forward.v05_register_tiled import conv2d_forward_v05_register_tiled
from course_lib.cuda.ladders.rung import rungs_for
from course_lib.cuda.recording import record_launches
from course_lib.reference.conv2d import conv2d_forward
from tests.cases import all_of
from tests.cuda.conv_numbers import whole_numbers
from tests.gpu.devices import each_rung, needs_simt, needs_warps

WARPS = (7, 8, 9, 10, 12)
EXACT = [rung for rung in LADDER if rung.exact]  # v08 rounds otherwise: test_conv2d_fft
RUNGS, LAUNCHERS = each_rung(EXACT, WARPS), each_rung(LADDER)

SHAPES = [  # x, w, stride, pad
    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0)),
    ((3, 2, 7, 9), (5, 2, 3, 2), (1, 1), (0, 0)),
    ((1, 1, 12, 12), (6, 1, 5, 5), (1, 1), (0, 0)),
    ((3, 3, 9, 11), (9, 3, 5, 3), (2, 3), (1, 2)),
    ((1, 4, 8, 8), (7, 4, 3, 3), (1, 1), (1, 1)),
    ((1, 8, 6, 6), (33, 8, 1, 1), (3, 1), (0, 2)),
    ((3, 1, 17, 5), (2, 1, 3, 5), (2, 2), (2, 0)),
    ((1, 5, 5, 20), (17, 5, 5, 3), (1, 2), (0, 1)),
    ((3, 16, 6, 5), (40, 16, 3, 3), (1, 1), (1, 1)),
    ((3, 1, 32, 32), (6, 1, 5, 5), (1, 1), (0, 0)),
]


def sizes(B, C, H, W, M, K_h, K_w, stride=(1, 1), pad=(0, 0)):
    H_out = 1 + (H - K_h + 2 * pad[0]) // stride[0]
    W_out = 1 + (W - K_w + 2 * pad[1]) // stride[1]
    return Sizes(B, C, H, W, M, K_h, K_w, *stride, *pad, H_out, W_out)


def compare(launch, x_shape, w_shape, stride=(1, 1), pad=(0, 0), bias=True):
    """Launch into an output full of NaN, and demand the reference's numbers; return the Launches."""
    x, w = whole_numbers(*x_shape), whole_numbers(*w_shape, seed=1)
    b = whole_numbers(w_shape[0], seed=2) if bias else None
    expected, _ = conv2d_forward(x, w, b, stride, pad)
    y = gpu.to_device(np.full(expected.shape, np.nan, np.float32))
    with record_launches() as launches:
        launch(gpu.to_device(x), gpu.to_device(w), gpu.to_device(b) if bias else None, y, stride, pad)
    np.testing.assert_array_equal(gpu.to_host(y), expected)
    if executor().reports:
        assert [h for launch in launches for h in launch.kernel.report.hazards] == []
    return launches


def reports(launch, s):
    """Return {counter: sum over the launches of it} on whole numbers of Sizes."""
    x, w, b = whole_numbers(s.B, s.C, s.H, s.W), whole_numbers(s.M, s.C, s.K_h, s.K_w), whole_numbers(s.M)
    y = gpu.empty((s.B, s.M, s.H_out, s.W_out), np.float32)
    with record_launches(run=False) as launches:
        launch(gpu.to_device(x), gpu.to_device(w), gpu.to_device(b), y)
    totals = []
    for one in launches:
        one.again()
        totals.append(one.kernel.report.total)
    return totals


def _marks(rung):
    return [needs_warps] if rung.number in WARPS else []


def each_rung_and_shape():
    """Parametrise by every shape and each rung that is for it."""
    cases = [
        pytest.param(rung, *shape, id="-".join(map(str, (*shape, rung.name))), marks=_marks(rung))
        for shape in SHAPES
        for rung in rungs_for(EXACT, sizes_of(*shape))
    ]
    return pytest.mark.parametrize(("rung", "x", "w", "stride", "pad"), cases)


@each_rung_and_shape()
def test_a_rung_equals_the_reference_exactly(rung, x, w, stride, pad):
    compare(rung.launch, x, w, stride, pad)


def a_layer_of(rung):
    """Return (x's shape, w's shape) of a layer that the rung is for: the first of a few."""
    layers = ((2, 24, 8, 8), (16, 24, 3, 3)), ((2, 1, 32, 32), (6, 1, 5, 5))
    return next(s for s in layers if rung.takes(sizes_of(*s)))


@RUNGS
def test_a_missing_bias_is_zero(rung):
    compare(rung.launch, *a_layer_of(rung), bias=False)


@pytest.mark.parametrize("rung", [r for r in LADDER if r.only], ids=lambda rung: rung.name)
def test_a_rung_for_some_layers_takes_one_of_these_shapes_and_refuses_the_others(rung):
    fitting = [rung.takes(sizes_of(*shape)) for shape in SHAPES]
    assert any(fitting)
    for shape in (s for s, fits in zip(SHAPES, fitting, strict=True) if not fits):
        s = sizes_of(*shape)
        x, w, y = (gpu.empty(n, np.float32) for n in (*shape[:2], (s.B, s.M, s.H_out, s.W_out)))
        with record_launches(run=False) as launches, pytest.raises(ValueError, match="conv2d_forward_v06_specialised"):
            rung.launch(x, w, None, y, *shape[2:])
        assert not launches


def test_the_operation_takes_no_rung_that_is_for_one_layer(monkeypatch):
    """It freezes the masks: a step of training would compile a kernel."""
    x, w = gpu.to_device(whole_numbers(1, 1, 32, 32)), gpu.to_device(whole_numbers(6, 1, 5, 5))
    for capability in ((7, 5), (9, 0)):
        monkeypatch.setattr("course_lib.cuda.capability.EVERY", capability)
        with record_launches(run=False) as launches:
            conv2d.conv2d_forward(x, w)
        assert "v05b" not in launches[-1].kernel.__name__


def test_a_rung_for_one_layer_is_for_exactly_that_layer():
    c1 = sizes(3, 1, 32, 32, 6, 5, 5)
    assert v05b_c1_layer.is_c1(c1)
    others = [dict(C=2), dict(H=33), dict(W=31), dict(M=7), dict(K_h=3), dict(K_w=3), dict(s_h=2), dict(p_w=1)]
    assert not any(v05b_c1_layer.is_c1(replace(c1, **other)) for other in others)


@pytest.mark.parametrize("rung", LADDER[:2], ids=lambda rung: rung.name)
def test_more_tiles_and_images_than_y_and_z_take_go_round(rung, monkeypatch):
    for module in (v01_basic, v02_constant_masks):
        monkeypatch.setattr(module, "MOST_BLOCKS", 2)
    (launch,) = compare(rung.launch, (3, 2, 20, 35), (2, 2, 3, 3))
    assert launch.grid == (2, 2, 2)


BY_PIXELS = c1_by_pixels.conv2d_forward_c1_by_pixels


@pytest.mark.parametrize("bias", [True, False])
def test_c1_coarsened_the_other_way_equals_the_reference(bias, monkeypatch):
    monkeypatch.setattr(c1_by_pixels, "MOST_IMAGES", 2)
    (launch,) = compare(BY_PIXELS, (3, 1, 32, 32), (6, 1, 5, 5), bias=bias)
    assert (launch.grid, launch.block) == ((7, 2, 1), (32, 6, 1))
    with pytest.raises(ValueError, match="LeNet-5's C1 alone"):
        BY_PIXELS(gpu.empty((1, 1, 30, 32), np.float32), gpu.empty((6, 1, 5, 5), np.float32), None,
                  gpu.empty((1, 6, 26, 28), np.float32))  # fmt: skip


@needs_simt
def test_each_coarsening_of_c1_saves_the_loads_that_the_other_pays():
    s = sizes(2, 1, 32, 32, 6, 5, 5)
    (total,) = reports(BY_PIXELS, s)
    ours, theirs = c1_by_pixels.traffic(s), v05b_c1_layer.traffic(s)
    assert ours == {name: getattr(total, name) for name in ours}
    assert theirs["constant_load_requests"] == 4 * ours["constant_load_requests"]
    assert ours["shared_load_requests"] == 6 * theirs["shared_load_requests"]
    assert ours["flops"] == theirs["flops"]


WHOLE_TILES = {
    "v01_basic": sizes(2, 2, 18, 34, 3, 3, 3),
    "v02_constant_masks": sizes(2, 2, 34, 18, 3, 3, 3),
    "v03_im2col_gemm": sizes(2, 4, 9, 17, 32, 2, 2),
    "v04_implicit_gemm": sizes(2, 4, 9, 17, 32, 2, 2),
    "v05_register_tiled": sizes(4, 2, 9, 17, 16, 2, 2),
    "v05b_c1_layer": sizes(2, 1, 32, 32, 6, 5, 5),
    "v06_specialised": sizes(4, 6, 14, 14, 16, 5, 5),
    "v07_tensor_cores": sizes(4, 8, 10, 10, 16, 3, 3),
    "v08_fft": sizes(4, 2, 28, 28, 4, 5, 5),
    "v09_3xtf32": sizes(1, 16, 18, 18, 64, 3, 3),
    "v10_3xtf32_rows": sizes(16, 4, 9, 12, 16, 7, 7),
    "v11_streamed": sizes(4, 1, 32, 32, 6, 5, 5),
    "v12_3xtf32_wgmma": sizes(16, 4, 9, 12, 16, 7, 7),
}


@needs_simt
@LAUNCHERS
def test_counters_of_the_executor_equal_the_rungs_formula(rung):
    s = WHOLE_TILES[rung.name]
    totals = reports(rung.launch, s)
    expected = rung.traffic(s)
    assert expected == {name: sum(getattr(t, name) for t in totals) for name in expected}


def test_more_images_than_the_grid_has_rows_go_round(monkeypatch):
    monkeypatch.setattr(v05b_c1_layer, "MOST_IMAGES", 2)
    (launch,) = compare(v05b_c1_layer.conv2d_forward_v05b_c1_layer, (5, 1, 32, 32), (6, 1, 5, 5))
    assert launch.grid == (7, 2, 1)


@pytest.mark.parametrize(
    ("x", "w", "pad"),
    [((1, 1, 22, 22), (4, 1, 7, 7), 0), ((1, 4, 12, 12), (16, 4, 7, 7), 0), ((3, 6, 14, 14), (16, 6, 5, 5), 0),
     ((3, 1, 32, 32), (6, 1, 5, 5), 0), ((1, 16, 8, 8), (16, 16, 3, 3), 1)],
    ids=str,
)  # fmt: skip
def test_the_specialised_kernel_is_right_for_layers_like_those_it_was_tuned_for(x, w, pad):
    compare(v06_specialised.conv2d_forward_v06_specialised, x, w, (1, 1), (pad, pad))


CUTS = [  # Sizes, TM, TH, TW, RG, MG, NI, BC: each way to fetch, read and write
    (sizes(2, 1, 22, 22, 4, 7, 7), (4, 2, 4, 4, 1, 1, 1)),
    (sizes(1, 4, 12, 12, 16, 3, 3), (8, 2, 2, 5, 1, 1, 4)),
    (sizes(1, 4, 12, 12, 16, 3, 3), (4, 1, 4, 3, 2, 1, 2)),
    (sizes(3, 2, 9, 9, 6, 2, 2), (6, 1, 4, 8, 1, 2, 2)),
    (sizes(3, 2, 6, 10, 5, 3, 3), (5, 1, 8, 4, 1, 2, 1)),
    (sizes(1, 8, 8, 8, 24, 3, 3, (1, 1), (1, 1)), (8, 2, 4, 2, 2, 1, 2)),
    (sizes(1, 4, 9, 9, 20, 3, 2, (2, 2), (1, 0)), (4, 1, 2, 2, 5, 1, 4)),
]


@pytest.mark.parametrize(("s", "cut"), CUTS, ids=str)
def test_every_plan_that_fits_is_right(s, cut):
    p = Plan(replace(s, B=0), *cut)
    assert p.fits

    def launch(x, w, b, y, *_):
        v06_specialised.launch(p, x, w, b, True, y)

    stride, pad = (s.s_h, s.s_w), (s.p_h, s.p_w)
    compare(launch, (s.B, s.C, s.H, s.W), (s.M, s.C, s.K_h, s.K_w), stride, pad)


TENSOR_CUTS = [  # Sizes, RG, TW, MG, NI, BC, warps, blocks, inside
    (sizes(2, 4, 10, 10, 16, 5, 5), (6, 2, 1, 1, 4, 2, 2)),
    (sizes(3, 6, 9, 9, 16, 3, 3), (7, 3, 1, 2, 6, 2, 2, 5)),
    (sizes(1, 16, 8, 8, 40, 3, 3, (1, 1), (1, 1)), (4, 2, 2, 1, 8, 2, 2)),
    (sizes(1, 6, 9, 9, 20, 3, 2, (2, 1), (1, 0)), (2, 1, 2, 1, 2, 2, 1, 1)),
]


@needs_warps
@pytest.mark.parametrize(("s", "cut"), TENSOR_CUTS, ids=str)
def test_every_plan_for_tensor_cores_that_fits_is_right(s, cut):
    p = tensor_plan.tensor_plan(replace(s, B=0), *cut)
    assert p.fits

    def launch(x, w, b, y, *_):
        v07_tensor_cores.launch(p, x, w, b, True, y)

    stride, pad = (s.s_h, s.s_w), (s.p_h, s.p_w)
    compare(launch, (s.B, s.C, s.H, s.W), (s.M, s.C, s.K_h, s.K_w), stride, pad)


@RUNGS
def test_random_numbers_come_out_to_the_rounding_of_float32(rung):
    rng = np.random.default_rng(0)
    shapes = a_layer_of(rung)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in shapes)
    s = sizes_of(*shapes)
    y = gpu.empty((s.B, s.M, s.H_out, s.W_out), np.float32)
    rung.launch(gpu.to_device(x), gpu.to_device(w), None, y)
    exact, _ = conv2d_forward(x.astype(np.float64), w.astype(np.float64))
    size, _ = conv2d_forward(np.abs(x).astype(np.float64), np.abs(w).astype(np.float64))
    np.testing.assert_array_less(np.abs(gpu.to_host(y) - exact), 4 * np.sqrt(s.depth) * 2**-24 * size)


@pytest.mark.parametrize(
    "layer",
    [(1, 86, 86, 4, 7), (4, 40, 40, 16, 7), (1, 32, 32, 6, 5), (6, 14, 14, 16, 5)],
    ids=str,
)
def test_a_tuned_plan_fits_and_leaves_few_threads_idle(layer):
    C, H, W, M, K = layer
    p = plan(sizes(0, C, H, W, M, K, K))
    assert p.fits
    assert p.whole
    assert p.units / p.threads > 0.75


def test_a_mask_too_large_for_shared_memory_goes_to_the_rung_below():
    s = sizes(0, 3, 70, 70, 2, 64, 64)
    assert plan(s) is None
    with record_launches(run=False) as launches:
        x, w, y = (gpu.empty(n, np.float32) for n in ((1, 3, 70, 70), (2, 3, 64, 64), (1, 2, 7, 7)))
        v06_specialised.conv2d_forward_v06_specialised(x, w, None, y)
        conv2d_forward_v05_register_tiled(x, w, None, y)
    assert launches[0].kernel is launches[1].kernel


def test_a_card_before_compute_capability_8_gets_v05_from_v06_and_an_error_from_v07(monkeypatch):
    for module in (v06_specialised, planned):
        monkeypatch.setattr(module, "compute_capability", lambda: (7, 5))
    x, w, y = (gpu.empty(n, np.float32) for n in ((1, 6, 14, 14), (16, 6, 5, 5), (1, 16, 10, 10)))
    with record_launches(run=False) as launches:
        v06_specialised.conv2d_forward_v06_specialised(x, w, None, y)
    assert [one.kernel.__name__ for one in launches] == ["_conv2d_forward_v05"]
    with pytest.raises(gpu.DeviceError, match=r"from compute capability 8\.0 on"):
        v07_tensor_cores.conv2d_forward_v07_tensor_cores(x, w, None, y)


@pytest.mark.parametrize(("stride", "pad"), [(1, 0), (2, 1), ((1, 2), (2, 0))], ids=str)
def test_the_operation_equals_the_reference_and_keeps_no_copy(stride, pad):
    x, w, b = whole_numbers(2, 3, 8, 9), whole_numbers(5, 3, 3, 3), whole_numbers(5)
    expected, reference_cache = conv2d_forward(x, w, b, stride, pad)
    on_device = [gpu.to_device(a) for a in (x, w, b)]
    y, cache = conv2d.conv2d_forward(*on_device, stride, pad)
    np.testing.assert_array_equal(gpu.to_host(y), expected)
    assert cache[2:] == reference_cache[2:]
    np.testing.assert_array_equal(gpu.to_host(cache[0]), x)


def device(*shape, dtype=np.float32, order="C"):
    return gpu.to_device(np.zeros(shape, dtype, order))


X, W, B, Y = (2, 3, 6, 6), (4, 3, 3, 3), (4,), (2, 4, 4, 4)

WRONG = {
    "float64": (lambda: (device(*X, dtype=np.float64), device(*W), device(*B), device(*Y)), TypeError, "float64"),
    "integers": (lambda: (device(*X), device(*W, dtype=np.int32), device(*B), device(*Y)), TypeError, "int32"),
    "host": (lambda: (np.zeros(X, np.float32), device(*W), device(*B), device(*Y)), TypeError, "to_device"),
    "Fortran": (lambda: (device(*X, order="F"), device(*W), device(*B), device(*Y)), ValueError, "row by row"),
    "sliced": (lambda: (device(2, 3, 6, 12)[:, :, :, ::2], device(*W), device(*B), device(*Y)), ValueError, "slice"),
    "empty batch": (lambda: (device(0, 3, 6, 6), device(*W), device(*B), device(*Y)), ValueError, "batch is empty"),
    "no output maps": (lambda: (device(*X), device(0, 3, 3, 3), None, device(*Y)), ValueError, "at least one"),
    "no input maps": (lambda: (device(2, 0, 6, 6), device(4, 0, 3, 3), None, device(*Y)), ValueError, "at least one"),
    "channels": (lambda: (device(*X), device(4, 2, 3, 3), device(*B), device(*Y)), ValueError, r"x.shape\[1\]"),
    "bias": (lambda: (device(*X), device(*W), device(3), device(*Y)), ValueError, "one number for each output map"),
    "mask": (lambda: (device(*X), device(4, 3, 7, 3), device(*B), device(*Y)), ValueError, "fits nowhere"),
    "output": (lambda: (device(*X), device(*W), device(*B), device(2, 4, 4, 5)), ValueError, "its shape must be"),
}


@LAUNCHERS
@all_of("case", WRONG)
def test_a_launcher_refuses_what_a_kernel_would_read_as_garbage(rung, case):
    arrays, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        rung.launch(*arrays())


@pytest.mark.parametrize("case", [c for c in WRONG if c != "output"])
def test_the_operation_refuses_the_same(case):
    arrays, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        conv2d.conv2d_forward(*arrays()[:3])


def test_constant_masks_must_fit_constant_memory():
    x, w, y = device(1, 64, 3, 3), device(65, 64, 2, 2), device(1, 65, 2, 2)
    with pytest.raises(ValueError, match="65536"):
        LADDER[1].launch(x, w, None, y)
