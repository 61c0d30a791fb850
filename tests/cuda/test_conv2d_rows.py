"""The convolution rungs above v08: exact on whole numbers, as exact as float32 on others, each for its own layers."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda import conv2d
from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d import chosen
from course_lib.cuda.ladders.conv2d.backward_data import row_plan as data_plan
from course_lib.cuda.ladders.conv2d.backward_data import v10_3xtf32_rows as data_v10
from course_lib.cuda.ladders.conv2d.backward_data.v06_specialised import conv2d_backward_data_v06_specialised
from course_lib.cuda.ladders.conv2d.backward_weights import row_plan as weights_plan
from course_lib.cuda.ladders.conv2d.backward_weights import v10_3xtf32_rows as weights_v10
from course_lib.cuda.ladders.conv2d.backward_weights.v06_specialised import conv2d_backward_weights_v06_specialised
from course_lib.cuda.ladders.conv2d.forward import (
    row_plan,
    stream_plan,
    tap_plan,
    v09_3xtf32,
    v10_3xtf32_rows,
    v11_streamed,
)
from course_lib.cuda.ladders.conv2d.forward.checks import sizes_of
from course_lib.cuda.ladders.conv2d.forward.v06_specialised import conv2d_forward_v06_specialised
from course_lib.cuda.recording import record_launches
from course_lib.reference.conv2d import conv2d_backward, conv2d_forward
from tests.gpu.devices import nans, needs_simt, needs_warps

FORWARD = {
    "v09": v09_3xtf32.conv2d_forward_v09_3xtf32,
    "v10": v10_3xtf32_rows.conv2d_forward_v10_3xtf32_rows,
    "v11": v11_streamed.conv2d_forward_v11_streamed,
}
DATA_V10 = data_v10.conv2d_backward_data_v10_3xtf32_rows
WEIGHTS_V10 = weights_v10.conv2d_backward_weights_v10_3xtf32_rows


def whole_numbers(*shape, seed=0):
    """Small whole numbers: any order of adding them up is exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def totals(launches):
    """Demand that nothing went wrong; return the reports' totals where the executor counts."""
    if not executor().reports:
        return []
    assert [h for one in launches for h in one.kernel.report.hazards] == []
    return [one.kernel.report.total for one in launches]


def forward(launch, x, w, stride=(1, 1), pad=(0, 0), bias=True):
    """Launch into an output full of NaN, and demand the reference's numbers; return the Launches."""
    x, w = whole_numbers(*x), whole_numbers(*w, seed=1)
    b = whole_numbers(w.shape[0], seed=2) if bias else None
    expected, _ = conv2d_forward(x, w, b, stride, pad)
    y = nans(*expected.shape)
    with record_launches() as launches:
        launch(gpu.to_device(x), gpu.to_device(w), gpu.to_device(b) if bias else None, y, stride, pad)
    np.testing.assert_array_equal(gpu.to_host(y), expected)
    totals(launches)
    return launches


def gradient(launch, x, w, stride=(1, 1), pad=(0, 0)):
    """Launch into a dx full of NaN, and demand the reference's numbers; return the Launches."""
    w = whole_numbers(*w, seed=1)
    y, cache = conv2d_forward(whole_numbers(*x), w, None, stride, pad)
    dy = whole_numbers(*y.shape, seed=3)
    dx = nans(*x)
    with record_launches() as launches:
        launch(gpu.to_device(dy), gpu.to_device(w), dx, stride, pad)
    np.testing.assert_array_equal(gpu.to_host(dx), conv2d_backward(dy, cache)[0])
    totals(launches)
    return launches


def mask_gradient(launch, x, w, pad=(0, 0), bias=True):
    """Launch into dw and db full of NaN, and demand the reference's numbers; return the Launches."""
    on_x = whole_numbers(*x)
    y, cache = conv2d_forward(on_x, whole_numbers(*w, seed=1), np.zeros(w[0], np.float32), 1, pad)
    dy = whole_numbers(*y.shape, seed=3)
    dw, db = nans(*w), nans(w[0]) if bias else None
    with record_launches() as launches:
        launch(gpu.to_device(dy), gpu.to_device(on_x), dw, db, (1, 1), pad)
    _, expected, expected_b = conv2d_backward(dy, cache)
    np.testing.assert_array_equal(gpu.to_host(dw), expected)
    if bias:
        np.testing.assert_array_equal(gpu.to_host(db), expected_b)
    totals(launches)
    return launches


def by_plan(module, plan):
    """Return a launcher that takes this plan, whatever the layer."""

    def launch(x, w, b, y, stride=None, pad=None):
        module.launch(plan, x, w, w.reshape(w.size) if b is None else b, b is not None, y)

    return launch


def cut(kind, module, x, w, stride, pad, fields):
    """Launch a plan with these fields on a layer."""
    return forward(by_plan(module, kind(replace(sizes_of(x, w, stride, pad), B=0), *fields)), x, w, stride, pad)


TAPS = [  # x, w, stride, pad; warps, MG, TW, STAGES, blocks
    ((1, 64, 7, 8), (64, 64, 3, 3), (1, 1), (1, 1), (4, 4, 4, 3, 2)),
    ((2, 16, 6, 5), (40, 16, 3, 3), (1, 1), (1, 1), (2, 3, 4, 2, 1)),  # rows of no whole accesses; maps beyond the last
    ((3, 9, 7, 8), (33, 9, 3, 2), (2, 1), (1, 2), (2, 3, 4, 2, 1)),  # input maps beyond the last
    ((5, 8, 3, 3), (24, 8, 3, 3), (1, 1), (0, 0), (2, 2, 8, 3, 1)),  # a pixel an image: a tile has many
    ((2, 17, 5, 9), (70, 17, 1, 4), (1, 3), (0, 1), (4, 4, 2, 3, 2)),
    ((1, 24, 12, 20), (64, 24, 5, 5), (1, 1), (2, 2), (8, 4, 4, 2, 1)),
]
ROWS = [  # x, w, stride, pad; warps, TW, RS, STAGES, blocks
    ((2, 4, 12, 12), (16, 4, 7, 7), (1, 1), (0, 0), (1, 3, 4, 3, 2)),  # four products are left over, seven mask rows
    ((3, 6, 14, 14), (16, 6, 5, 5), (1, 1), (0, 0), (2, 1, 2, 2, 2)),  # a last phase that is not full; odd rows
    ((3, 3, 9, 7), (21, 3, 3, 5), (1, 2), (1, 2), (2, 2, 3, 3, 1)),  # two blocks of maps; columns apart
    ((1, 1, 9, 8), (16, 1, 4, 4), (1, 1), (0, 1), (1, 2, 5, 2, 1)),  # everything is left over, four mask rows
    ((2, 7, 5, 6), (12, 7, 4, 4), (1, 1), (1, 0), (4, 3, 1, 2, 2)),  # most warps have no column
    ((1, 2, 30, 9), (17, 2, 7, 2), (1, 1), (3, 3), (2, 1, 8, 3, 2)),
    ((9, 1, 5, 3), (16, 1, 3, 3), (1, 1), (0, 0), (1, 2, 2, 2, 1)),  # a column an image
]
DATA_ROWS = [  # x, w, pad; warps, STAGES, blocks
    ((5, 4, 12, 12), (16, 4, 7, 7), (0, 0), (1, 3, 2)),  # ranges end within images: two on a block, and a last one
    ((3, 6, 14, 14), (16, 6, 5, 5), (0, 0), (2, 2, 2)),  # nothing goes two rows a tile; a range has three images
    ((3, 3, 9, 7), (21, 3, 3, 5), (1, 2), (1, 3, 1)),  # rows of no whole accesses, an odd number of them
    ((4, 5, 9, 8), (16, 5, 4, 4), (0, 1), (1, 2, 3)),  # four mask rows; padding that is no whole access
    ((5, 4, 8, 20), (9, 4, 3, 5), (0, 4), (2, 2, 1)),  # output maps beyond the last
    ((2, 2, 6, 40), (8, 2, 6, 6), (2, 0), (4, 3, 1)),
]
WEIGHT_ROWS = [  # x, w, pad; warps, strips, blocks
    ((5, 4, 12, 12), (16, 4, 7, 7), (0, 0), (1, 1, 2)),  # tiles of two mask rows, seven of them; many ranges
    ((3, 6, 14, 14), (16, 6, 5, 5), (0, 0), (2, 2, 1)),  # none of two mask rows
    ((3, 3, 9, 7), (21, 3, 3, 5), (1, 2), (1, 2, 1)),  # two blocks of maps; rows of no whole accesses
    ((4, 5, 9, 8), (16, 5, 4, 4), (0, 1), (2, 1, 1)),  # four mask rows
    ((1, 2, 7, 9), (12, 2, 6, 6), (2, 0), (4, 1, 1)),  # most columns of a range are no image's
]
STREAMS = [  # x, w; TH, NI, blocks, group
    ((7, 1, 32, 32), (6, 1, 5, 5), (2, 2, 1, 6)),
    ((3, 1, 32, 32), (6, 1, 5, 5), (2, 1, 1, 3)),
    ((3, 1, 32, 32), (6, 1, 5, 5), (1, 1, 4, 2)),
    ((2, 1, 32, 32), (6, 1, 5, 5), (4, 1, 1, 1)),
    ((5, 2, 12, 8), (5, 2, 4, 5), (1, 3, 1, 5)),
    ((7, 3, 9, 12), (8, 3, 3, 9), (1, 1, 2, 4)),
    ((3, 1, 8, 16), (7, 1, 3, 5), (3, 1, 1, 7)),
    ((2, 4, 6, 8), (1, 4, 6, 1), (1, 1, 1, 1)),
]


@needs_warps
@pytest.mark.parametrize("layer", TAPS, ids=str)
def test_every_cut_of_v09_is_right(layer):
    launches = cut(tap_plan.TapPlan, v09_3xtf32, *layer)
    assert [one.kernel.__name__ for one in launches] == ["_arrange_taps", "_conv2d_forward_v09"]


@needs_warps
@pytest.mark.parametrize("layer", ROWS, ids=str)
def test_every_cut_of_v10_is_right(layer):
    launches = cut(row_plan.RowPlan, v10_3xtf32_rows, *layer)
    assert [one.kernel.__name__ for one in launches] == ["_arrange_rows", "_conv2d_forward_v10"]


@needs_warps
@pytest.mark.parametrize(("x", "w", "pad", "fields"), DATA_ROWS, ids=str)
def test_every_cut_of_v10_for_the_input_is_right_and_its_blocks_go_from_range_to_range(x, w, pad, fields, monkeypatch):
    monkeypatch.setattr(data_v10, "MULTIPROCESSORS", 1)
    p = data_plan.RowPlan(replace(sizes_of(x, w, 1, pad), B=0), *fields)

    def launch(dy, w, dx, stride, pad):
        data_v10.launch(p, dy, w, dx)

    launches = gradient(launch, x, w, (1, 1), pad)
    assert [one.kernel.__name__ for one in launches] == ["_arrange_sums", "_backward_data_v10", "_add_edges"]
    assert launches[1].grid[0] == min(p.blocks, p.ranges(x[0]))


@needs_simt
@pytest.mark.parametrize(("x", "w"), [((8, 4, 12, 20), (16, 4, 5, 5)), ((8, 3, 10, 20), (9, 3, 3, 5))], ids=str)
def test_counters_of_the_gradient_equal_its_formula(x, w):
    s = sizes_of(x, w)
    counted = totals(gradient(DATA_V10, x, w))
    assert len(counted) == 2  # no range ends within an image
    expected = data_v10.traffic(s)
    assert expected == {name: sum(getattr(t, name) for t in counted) for name in expected}


@needs_warps
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("x", "w", "pad", "fields"), WEIGHT_ROWS, ids=str)
def test_every_cut_of_v10_for_the_masks_is_right(x, w, pad, fields, bias, monkeypatch):
    monkeypatch.setattr(weights_plan, "MULTIPROCESSORS", 1)
    p = weights_plan.RowPlan(replace(sizes_of(x, w, 1, pad), B=0), *fields)

    def launch(dy, x, dw, db, stride, pad):
        weights_v10.launch(p, dy, x, dw, db)

    launches = mask_gradient(launch, x, w, pad, bias)
    assert [one.kernel.__name__ for one in launches] == ["_backward_weights_v10", *["_add_parts"] * (1 + bias)]
    assert launches[0].grid[0] == p.parts(x[0]) * p.map_blocks


@needs_simt
@pytest.mark.parametrize(("x", "w"), [((8, 4, 12, 20), (16, 4, 5, 5)), ((16, 4, 9, 14), (16, 4, 7, 7))], ids=str)
def test_counters_of_the_masks_gradient_equal_its_formula(x, w):
    (first, *_) = totals(mask_gradient(WEIGHTS_V10, x, w))
    expected = weights_v10.traffic(sizes_of(x, w))
    assert expected == {name: getattr(first, name) for name in expected}


@needs_warps
def test_two_gradients_agree_to_the_last_bit():
    """What is carried from range to range, and what a second kernel adds, has one order."""
    dy, w, found = normal(5, 16, 6, 6), normal(16, 4, 7, 7, seed=1), []
    for _ in range(2):
        dx = nans(5, 4, 12, 12)
        DATA_V10(gpu.to_device(dy), gpu.to_device(w), dx)
        found.append(gpu.to_host(dx))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize(("x", "w", "fields"), STREAMS, ids=str)
def test_every_cut_of_v11_is_right_and_its_blocks_go_round(x, w, fields, monkeypatch):
    monkeypatch.setattr(v11_streamed, "MULTIPROCESSORS", 1)
    (launch,) = cut(stream_plan.StreamPlan, v11_streamed, x, w, (1, 1), (0, 0), fields)
    assert launch.grid[0] == min(-(-x[0] // fields[1]), fields[2])


LAYERS = {  # rung: layers that it takes itself
    "v09": [((1, 8, 6, 6), (64, 8, 3, 3), 1), ((2, 24, 8, 8), (40, 24, 3, 3), 0)],
    "v10": [((2, 4, 12, 12), (16, 4, 7, 7), 0), ((3, 6, 14, 14), (16, 6, 5, 5), 0), ((1, 3, 9, 9), (32, 3, 3, 3), 1)],
    "v11": [((3, 1, 32, 32), (6, 1, 5, 5), 0), ((2, 3, 9, 12), (8, 3, 3, 5), 0)],
}
EACH = [
    pytest.param(rung, *layer, id=f"{rung}-{layer}", marks=[] if rung == "v11" else [needs_warps])
    for rung, layers in LAYERS.items()
    for layer in layers
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("rung", "x", "w", "pad"), EACH)
def test_a_rung_takes_its_own_layers_and_a_missing_bias_is_zero(rung, x, w, pad, bias):
    launches = forward(FORWARD[rung], x, w, (1, 1), (pad, pad), bias)
    assert launches[-1].kernel.__name__ == f"_conv2d_forward_{rung}"


@pytest.mark.parametrize(
    ("rung", "x", "w", "stride", "taken"),
    [
        ("v09", (1, 4, 8, 8), (32, 4, 3, 3), 1, "v07"),  # few input maps
        ("v09", (1, 16, 8, 8), (16, 16, 3, 3), 1, "v07"),  # few output maps
        ("v10", (1, 16, 6, 6), (32, 16, 3, 3), 1, "v09"),
        ("v10", (1, 4, 14, 14), (16, 4, 7, 7), 2, "v07"),  # rows do not follow each other
        ("v10", (1, 4, 12, 12), (16, 4, 9, 3), 1, "v07"),  # a mask of too many rows
        ("v11", (1, 1, 32, 32), (6, 1, 5, 5), 2, "v06"),
        ("v11", (1, 1, 30, 30), (6, 1, 5, 5), 1, "v06"),  # rows of no whole accesses
        ("v11", (1, 1, 32, 32), (9, 1, 5, 5), 1, "v06"),  # many maps
    ],
    ids=str,
)
def test_what_a_rung_is_not_made_for_goes_to_a_rung_below(rung, x, w, stride, taken):
    s = sizes_of(x, w, stride)
    on_x, on_w, y = (gpu.empty(n, np.float32) for n in (x, w, (s.B, s.M, s.H_out, s.W_out)))
    with record_launches(run=False) as launches:
        FORWARD[rung](on_x, on_w, None, y, stride)
    assert launches[-1].kernel.__name__ == f"_conv2d_forward_{taken}"


@pytest.mark.parametrize(
    ("x", "w", "stride", "taken"),
    [((1, 2, 9, 9), (16, 2, 5, 5), 1, "v06"), ((1, 4, 12, 12), (4, 4, 7, 7), 1, "v06"),
     ((1, 4, 13, 13), (16, 4, 7, 7), 2, "v03")],
    ids=str,
)  # fmt: skip
def test_a_gradient_of_few_sums_or_maps_or_with_a_stride_goes_to_a_rung_below(x, w, stride, taken):
    s = sizes_of(x, w, stride)
    dy, on_w, dx = (gpu.empty(n, np.float32) for n in ((s.B, s.M, s.H_out, s.W_out), w, x))
    with record_launches(run=False) as launches:
        DATA_V10(dy, on_w, dx, stride)
    assert taken in launches[0].kernel.__name__


@pytest.mark.parametrize(
    ("x", "w", "stride"),
    [((1, 2, 9, 9), (16, 2, 5, 5), 1), ((1, 4, 12, 12), (8, 4, 7, 7), 1), ((1, 4, 13, 13), (16, 4, 7, 7), 2)],
    ids=str,
)
def test_a_gradient_of_masks_of_few_sums_or_maps_or_with_a_stride_goes_to_a_rung_below(x, w, stride):
    s = sizes_of(x, w, stride)
    dy, on_x, dw = (gpu.empty(n, np.float32) for n in ((s.B, s.M, s.H_out, s.W_out), x, w))
    with record_launches(run=False) as launches:
        WEIGHTS_V10(dy, on_x, dw, None, stride)
        conv2d_backward_weights_v06_specialised(dy, on_x, dw, None, stride)
    names = [one.kernel.__name__ for one in launches]
    assert names[: len(names) // 2] == names[len(names) // 2 :]


def test_a_card_before_compute_capability_8_gets_an_error_on_tensor_cores_and_v05_or_v03_otherwise(monkeypatch):
    monkeypatch.setattr("course_lib.cuda.capability.EVERY", (7, 5))
    x, w, y = (gpu.empty(n, np.float32) for n in ((1, 1, 32, 32), (6, 1, 5, 5), (1, 6, 28, 28)))
    for rung in ("v09", "v10"):
        with pytest.raises(gpu.DeviceError, match=r"from compute capability 8\.0 on"):
            FORWARD[rung](x, w, None, y)
    dy, on_w, dx = (gpu.empty(n, np.float32) for n in ((1, 16, 6, 6), (16, 4, 7, 7), (1, 4, 12, 12)))
    with record_launches(run=False) as launches:
        FORWARD["v11"](x, w, None, y)
        DATA_V10(dy, on_w, dx)
    assert [one.kernel.__name__ for one in launches] == ["_conv2d_forward_v05", "_product_v03", "_fold_v03"]


def test_tuned_plans_are_taken_and_as_many_of_their_blocks_share_an_h200_as_they_say():
    plans = [
        tap_plan.plan_taps(sizes_of((0, 64, 56, 56), (64, 64, 3, 3), 1, 1)),
        row_plan.plan_rows(sizes_of((0, 4, 40, 40), (16, 4, 7, 7))),
        data_plan.plan_rows(sizes_of((0, 4, 40, 40), (16, 4, 7, 7))),
        weights_plan.plan_rows(sizes_of((0, 4, 40, 40), (16, 4, 7, 7))),
        stream_plan.plan_stream(sizes_of((0, 1, 32, 32), (6, 1, 5, 5))),
    ]
    for p, tuned in zip(plans, (tap_plan, row_plan, data_plan, weights_plan, stream_plan), strict=True):
        (fields,) = tuned.TUNED.values()
        assert p == type(p)(p.s, *fields)
        assert p.blocks * (p.shared + 1024) <= 228 * 1024
        assert p.blocks * p.threads * (64 if tuned is stream_plan else 80) <= 65_536
    assert plans[1].steps == 25
    assert plans[0].pixels * 1568 == 64 * 56 * 56  # blocks of whole warps, 5.94 on each of 2 x 132


@needs_simt
def test_lanes_of_v09_meet_in_no_bank_where_tiles_lie_in_rows():
    launches = forward(FORWARD["v09"], (1, 16, 16, 16), (64, 16, 3, 3), (1, 1), (1, 1))
    assert launches[-1].kernel.report.total.shared_load_conflicts == 0


@needs_simt
def test_v11_reads_shared_memory_in_half_the_turns_of_v06():
    layer = (4, 1, 32, 32), (6, 1, 5, 5)
    two_rows = cut(stream_plan.StreamPlan, v11_streamed, *layer, (1, 1), (0, 0), (2, 2, 3, 6))
    turns = [
        sum(t.shared_load_wavefronts for t in totals(launches))
        for launches in (two_rows, forward(conv2d_forward_v06_specialised, *layer))
    ]
    assert turns[0] < 0.55 * turns[1]


def largest_error(found, exact):
    """Return the largest difference, as a share of the largest number: what the benchmark compares."""
    return np.abs(gpu.to_host(found) - exact).max() / np.abs(exact).max()


ACCURATE = [("v09", (1, 64, 6, 8), (64, 64, 3, 3), 8e-7), ("v10", (4, 4, 12, 16), (16, 4, 7, 7), 3e-7)]


@needs_warps
@pytest.mark.parametrize(("rung", "x", "w", "limit"), ACCURATE)
def test_three_products_round_no_worse_than_float32(rung, x, w, limit):
    x, w = normal(*x), normal(*w, seed=1)
    exact, _ = conv2d_forward(x.astype(np.float64), w.astype(np.float64))
    on_x, on_w, errors = gpu.to_device(x), gpu.to_device(w), []
    for launch in (FORWARD[rung], conv2d_forward_v06_specialised):
        y = nans(*exact.shape)
        launch(on_x, on_w, None, y)
        errors.append(largest_error(y, exact))
    assert errors[0] < limit
    assert errors[0] < 1.2 * errors[1]


@needs_warps
def test_three_products_of_a_gradient_round_no_worse_than_float32():
    x, w = normal(2, 4, 16, 16), normal(16, 4, 7, 7, seed=1)
    y, cache = conv2d_forward(x.astype(np.float64), w.astype(np.float64))
    dy = normal(*y.shape, seed=2)
    exact = conv2d_backward(dy.astype(np.float64), cache)[0]
    errors = []
    for launch in (DATA_V10, conv2d_backward_data_v06_specialised):
        dx = nans(*x.shape)
        launch(gpu.to_device(dy), gpu.to_device(w), dx)
        errors.append(largest_error(dx, exact))
    assert errors[0] < 3e-7
    assert errors[0] < errors[1]


@needs_warps
def test_three_products_of_the_masks_gradient_round_no_worse_than_float32():
    x, w = normal(6, 4, 16, 16), normal(16, 4, 7, 7, seed=1)
    y, cache = conv2d_forward(x.astype(np.float64), w.astype(np.float64))
    dy = normal(*y.shape, seed=2)
    exact = conv2d_backward(dy.astype(np.float64), cache)[1]
    dw = nans(*w.shape)
    WEIGHTS_V10(gpu.to_device(dy), gpu.to_device(x), dw, None)
    assert largest_error(dw, exact) < 4e-7


@needs_warps
@pytest.mark.parametrize(("rung", "x", "w", "pad"), EACH[:5])
def test_an_infinity_spoils_only_the_outputs_that_see_it(rung, x, w, pad):
    x, w = whole_numbers(*x), whole_numbers(*w, seed=1)
    w[w == 0] = 1
    expected, _ = conv2d_forward(x, w, None, 1, pad)
    x[0, 1, x.shape[2] // 2, x.shape[3] // 2] = np.inf
    with np.errstate(invalid="ignore"):
        seen = ~np.isfinite(conv2d_forward(x, w, None, 1, pad)[0])
    y = nans(*expected.shape)
    FORWARD[rung](gpu.to_device(x), gpu.to_device(w), None, y, 1, pad)
    found = gpu.to_host(y)
    np.testing.assert_array_equal(np.isfinite(found), ~seen)
    np.testing.assert_array_equal(found[~seen], expected[~seen])


SWITCHED = [  # name, x, w, pad, kernel
    ("forward/v09_3xtf32", (1, 8, 4, 4), (32, 8, 3, 3), 1, "_conv2d_forward_v09"),
    ("forward/v12_3xtf32_wgmma", (1, 4, 9, 9), (16, 4, 7, 7), 0, "_conv2d_wgmma"),
    ("forward/v10_3xtf32_rows", (1, 4, 9, 9), (16, 4, 7, 7), 0, "_conv2d_forward_v10"),
    ("forward/v11_streamed", (1, 1, 32, 32), (6, 1, 5, 5), 0, "_conv2d_forward_v11"),
    ("backward_data/v11_3xtf32_wgmma", (1, 4, 9, 9), (16, 4, 7, 7), 0, "_conv2d_wgmma"),
    ("backward_data/v10_3xtf32_rows", (1, 4, 9, 9), (16, 4, 5, 5), 0, "_backward_data_v10"),
    ("backward_weights/v10_3xtf32_rows", (1, 4, 9, 9), (16, 4, 7, 7), 0, "_backward_weights_v10"),
]


@pytest.mark.parametrize(("name", "x", "w", "pad", "kernel"), SWITCHED, ids=[s[0] for s in SWITCHED])
def test_the_layer_takes_a_rung_that_is_switched_on_and_else_v06(name, x, w, pad, kernel, monkeypatch):
    def launched():
        with record_launches(run=False) as launches:
            y, cache = conv2d.conv2d_forward(gpu.empty(x, np.float32), gpu.empty(w, np.float32), pad=pad)
            conv2d.conv2d_backward(y, cache)
        return {one.kernel.__name__ for one in launches}

    assert not chosen.SWITCHED_ON, "measured on a card? Then this test must name the others"
    monkeypatch.setattr("course_lib.cuda.capability.EVERY", (9, 0))
    assert kernel not in launched()
    assert {"_conv2d_forward_v06", "_backward_data_v06"} <= launched()
    monkeypatch.setattr(chosen, "SWITCHED_ON", frozenset([name]))
    assert kernel in launched()
    monkeypatch.setattr("course_lib.cuda.capability.EVERY", (8, 0))
    assert kernel not in launched()


def test_all_that_can_be_switched_on_are_rungs():
    assert {name for name, *_ in SWITCHED} == set(chosen.ABOVE)
    other = sizes_of((1, 2, 5, 5), (3, 2, 2, 2), 2)
    for name in chosen.ABOVE:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(chosen, "SWITCHED_ON", frozenset(chosen.ABOVE))
            assert chosen.chosen(name.split("/")[0], other) is None
