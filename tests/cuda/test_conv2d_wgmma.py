"""Convolutions by Hopper's tensor cores: exact on whole numbers, as exact as float32 on others, with the executor's
twins of the instructions, and on a card that has them."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda import capability
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.choice import GPU
from course_lib.cuda.device import choice, executor
from course_lib.cuda.ladders.conv2d.backward_data import v11_3xtf32_wgmma as data_v11
from course_lib.cuda.ladders.conv2d.backward_data.v11_3xtf32_wgmma import (
    conv2d_backward_data_v11_3xtf32_wgmma,
    plan_data,
)
from course_lib.cuda.ladders.conv2d.forward import v12_3xtf32_wgmma as forward_v12
from course_lib.cuda.ladders.conv2d.forward.checks import sizes_of
from course_lib.cuda.ladders.conv2d.forward.v12_3xtf32_wgmma import conv2d_forward_v12_3xtf32_wgmma
from course_lib.cuda.ladders.conv2d.forward.wgmma_plan import TUNED, WgmmaPlan, plan_wgmma
from course_lib.cuda.recording import record_launches
from course_lib.cuda.writes import written
from course_lib.reference.conv2d import conv2d_backward, conv2d_forward
from tests.cuda.conv_numbers import normal, whole_numbers, with_an_infinity
from tests.gpu.devices import HERE, nans, needs_simt

ON_CARD = choice().device == GPU and compute_capability() == (9, 0)
needs_hopper = pytest.mark.skipif(
    not ON_CARD and not executor().reports, reason=f"needs wgmma: compute capability 9.0, or the SIMT executor; {HERE}"
)

CUTS = [  # x, w, pad; groups, D, RS, STAGES, batch, blocks
    ((2, 4, 12, 12), (16, 4, 7, 7), (0, 0), (1, 1, 2, 3, 4, 3)),  # one batch; an eighth column that has no weight
    ((3, 4, 12, 12), (8, 4, 7, 7), (0, 0), (3, 2, 2, 2, 4, 1)),  # two columns a place
    ((3, 3, 9, 13), (5, 3, 5, 6), (2, 1), (2, 2, 3, 2, 2, 1)),  # odd rows; 10 maps and columns in 16
    ((2, 6, 14, 14), (16, 6, 5, 5), (0, 0), (1, 1, 2, 3, 3, 3)),  # two batches of three maps, from two slabs
    ((2, 5, 7, 10), (3, 5, 4, 5), (3, 4), (1, 4, 1, 2, 2, 2)),  # full padding; four columns a place, three batches
    ((1, 9, 6, 8), (9, 9, 3, 3), (1, 1), (1, 1, 4, 2, 4, 1)),  # two slabs and a bit, a last stage that is not full
    ((70, 1, 5, 5), (4, 1, 5, 5), (0, 0), (1, 1, 1, 2, 1, 1)),  # a pixel an image
]


def plan_of(x, w, pad, fields, *, data=False):
    s = replace(sizes_of(x, w, 1, pad), B=0)
    return WgmmaPlan(data_v11.turned(s) if data else s, *fields)


def forward(plan, x, w, b):
    """Return (y, the launches), with y full of NaN before."""
    y = nans(x.shape[0], plan.s.M, plan.s.H_out, plan.s.W_out)
    with record_launches() as launches:
        b = None if b is None else gpu.to_device(b)
        forward_v12.launch(plan, gpu.to_device(x), gpu.to_device(w), b, b is not None, y)
    return gpu.to_host(y), launches


def gradient(plan, dy, w, shape):
    """Return (dx, the launches), with dx full of NaN before."""
    dx = nans(*shape)
    with record_launches() as launches:
        data_v11.launch(plan, gpu.to_device(dy), gpu.to_device(w), dx)
    return gpu.to_host(dx), launches


def clean(launches):
    """Assert that no launch had a hazard, where that is known."""
    if executor().reports:
        assert [h for one in launches for h in one.kernel.report.hazards] == []


@needs_hopper
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("x", "w", "pad", "fields"), CUTS, ids=str)
def test_every_cut_of_v12_is_right(x, w, pad, fields, bias):
    x, w = whole_numbers(*x), whole_numbers(*w, seed=1)
    b = whole_numbers(w.shape[0], seed=2) if bias else None
    found, launches = forward(plan_of(x.shape, w.shape, pad, fields), x, w, b)
    np.testing.assert_array_equal(found, conv2d_forward(x, w, b, 1, pad)[0])
    clean(launches)


@needs_hopper
@pytest.mark.parametrize(("x", "w", "pad", "fields"), CUTS, ids=str)
def test_every_cut_of_v11_for_the_input_is_right(x, w, pad, fields):
    w = whole_numbers(*w, seed=1)
    y, cache = conv2d_forward(whole_numbers(*x), w, None, 1, pad)
    dy = whole_numbers(*y.shape, seed=3)
    found, launches = gradient(plan_of(x, w.shape, pad, fields, data=True), dy, w, x)
    np.testing.assert_array_equal(found, conv2d_backward(dy, cache)[0])
    clean(launches)


@needs_simt
@pytest.mark.parametrize(("x", "w", "pad", "fields"), CUTS, ids=str)
def test_a_lane_reads_four_pixels_for_two_places_and_a_step_and_no_weight(x, w, pad, fields):
    plan = plan_of(x, w, pad, fields)
    _, (_, main) = forward(plan, whole_numbers(*x), whole_numbers(*w), None)
    counted, s = main.kernel.report.total, plan.s
    groups = -(-x[0] * plan.across // plan.places) * plan.groups
    assert counted.shared_load_requests == groups * 4 * s.H * s.C * 4
    assert counted.flops >= 3 * groups * s.H * s.C * 2 * 64 * plan.columns * 8
    assert written(main.kernel) == {main.kernel.parameters.index("y")}


@needs_hopper
@pytest.mark.parametrize(("C", "M", "K"), [(4, 16, 7), (6, 16, 5)])
def test_three_products_round_as_well_as_float32(C, M, K):
    """The limit is 1.5 times the error of cuDNN in float32, 2.25e-7 of the largest result, as measured on an H200."""
    x, w = normal(2, C, 24, 24), normal(M, C, K, K, seed=1)
    y, cache = conv2d_forward(x.astype(np.float64), w.astype(np.float64))
    dy = normal(*y.shape, seed=2)
    dx = conv2d_backward(dy.astype(np.float64), cache)[0]
    s = replace(sizes_of(x.shape, w.shape), B=0)
    for found, exact in (
        (forward(plan_wgmma(s), x, w, None)[0], y),
        (gradient(plan_data(s), dy, w, x.shape)[0], dx),
    ):
        assert np.abs(found - exact).max() < 3.3e-7 * np.abs(exact).max()


@needs_hopper
@pytest.mark.parametrize(("x", "w", "pad", "fields"), CUTS[:5], ids=str)
def test_an_infinity_spoils_what_sees_it_and_at_most_the_other_columns_of_those_places(x, w, pad, fields):
    x, w, expected, seen = with_an_infinity(x, w, pad)
    plan = plan_of(x.shape, w.shape, pad, fields)
    found, _ = forward(plan, x, w, None)
    spoiled = ~np.isfinite(found)
    place = np.arange(seen.shape[3]) // plan.D
    allowed = np.stack([seen[..., place == p].any(axis=-1) for p in place], axis=-1)
    assert (spoiled >= seen).all()
    assert (spoiled <= allowed).all()
    np.testing.assert_array_equal(found[~allowed], expected[~allowed])


# ------------------------------------------------------------------------------------------------ who gets what


def launched(x, w, stride=1, pad=0):
    """Return the names of the main kernels of the launchers of v12 and of the gradient's v11."""
    s = sizes_of(x, w, stride, pad)
    on_x, on_w, y = (gpu.empty(n, np.float32) for n in (x, w, (s.B, s.M, s.H_out, s.W_out)))
    names = []
    for launch, arrays in (
        (conv2d_forward_v12_3xtf32_wgmma, (on_x, on_w, None, y)),
        (conv2d_backward_data_v11_3xtf32_wgmma, (y, on_w, on_x)),
    ):
        with record_launches(run=False) as launches:
            launch(*arrays, stride, pad)
        names.append({one.kernel.__name__ for one in launches})
    return names


@needs_simt
def test_who_has_no_hopper_gets_v10_and_of_the_gradient_v06(monkeypatch):
    layer = (1, 4, 12, 12), (16, 4, 7, 7)
    for cc in ((99, 0), (8, 0), (10, 0)):
        monkeypatch.setattr(capability, "EVERY", cc)
        forward, data = launched(*layer)
        assert "_conv2d_forward_v10" in forward
        assert "_backward_data_v06" in data
    monkeypatch.setattr(capability, "EVERY", (9, 0))
    assert launched(*layer) == [{"_arrange_wgmma", "_conv2d_wgmma"}] * 2


@pytest.mark.parametrize(
    ("x", "w", "stride", "pad"),
    [
        ((1, 4, 12, 12), (16, 4, 7, 7), 2, 0),
        ((1, 4, 12, 12), (16, 4, 3, 3), 1, 0),  # most of a window would be zeros
        ((1, 4, 12, 12), (16, 4, 9, 9), 1, 0),
        ((1, 4, 12, 12), (64, 4, 7, 7), 1, 0),  # too many columns of a product; of the gradient, too many maps
        ((1, 4, 3, 3), (16, 4, 7, 7), 1, 7),  # rows of padding alone
    ],
    ids=str,
)
def test_layers_that_no_plan_fits_are_refused(x, w, stride, pad):
    s = replace(sizes_of(x, w, stride, pad), B=0)
    assert plan_wgmma(s) is None
    assert plan_data(s) is None


@pytest.mark.parametrize("sizes", TUNED, ids=str)
def test_tuned_plans_are_taken_and_fit_an_h200(sizes):
    C, H, W, M, K, pad = sizes
    p = plan_wgmma(sizes_of((0, C, H, W), (M, C, K, K), 1, pad))
    assert p == WgmmaPlan(p.s, *TUNED[sizes])
    assert p.blocks * (p.shared + 1024) <= 228 * 1024
    assert p.blocks * p.threads * p.registers <= 65_536
    assert p.part % 256 == 0  # the swizzle's period of 1024 bytes: slabs begin there
    assert p.columns * 128 % 1024 == 0
