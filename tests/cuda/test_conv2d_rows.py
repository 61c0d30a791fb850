"""The convolution rungs above v08: exact on whole numbers, as exact as float32 on others, each for its own layers."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda import conv2d
from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d import chosen
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
from course_lib.reference.conv2d import conv2d_forward
from tests.cuda.conv_numbers import normal, whole_numbers, with_an_infinity
from tests.gpu.devices import nans, needs_simt, needs_warps

FORWARD = {
    "v09": v09_3xtf32.conv2d_forward_v09_3xtf32,
    "v10": v10_3xtf32_rows.conv2d_forward_v10_3xtf32_rows,
    "v11": v11_streamed.conv2d_forward_v11_streamed,
}


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
STREAMS = [  # x, w; TH, NI, blocks
    ((7, 1, 32, 32), (6, 1, 5, 5), (2, 2, 1)),
    ((3, 1, 32, 32), (3, 1, 5, 5), (2, 1, 1)),
    ((3, 1, 32, 32), (2, 1, 5, 5), (1, 1, 4)),
    ((2, 1, 32, 32), (1, 1, 5, 5), (4, 1, 1)),
    ((5, 2, 12, 8), (5, 2, 4, 5), (1, 3, 1)),
    ((7, 3, 9, 12), (8, 3, 3, 9), (1, 1, 2)),
    ((3, 1, 8, 16), (7, 1, 3, 5), (3, 1, 1)),
    ((2, 4, 6, 8), (4, 4, 6, 1), (1, 1, 1)),
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


@pytest.mark.parametrize(("x", "w", "fields"), STREAMS, ids=str)
def test_every_cut_of_v11_is_right_and_its_blocks_go_round(x, w, fields, monkeypatch):
    monkeypatch.setattr(stream_plan, "MULTIPROCESSORS", 1)
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


def test_a_card_before_compute_capability_8_gets_an_error_on_tensor_cores_and_v05_otherwise(monkeypatch):
    monkeypatch.setattr("course_lib.cuda.capability.EVERY", (7, 5))
    x, w, y = (gpu.empty(n, np.float32) for n in ((1, 1, 32, 32), (6, 1, 5, 5), (1, 6, 28, 28)))
    for rung in ("v09", "v10"):
        with pytest.raises(gpu.DeviceError, match=r"from compute capability 8\.0 on"):
            FORWARD[rung](x, w, None, y)
    with record_launches(run=False) as launches:
        FORWARD["v11"](x, w, None, y)
    assert [one.kernel.__name__ for one in launches] == ["_conv2d_forward_v05"]


def test_tuned_plans_are_taken_and_as_many_of_their_blocks_share_an_h200_as_they_say():
    plans = [
        tap_plan.plan_taps(sizes_of((0, 64, 56, 56), (64, 64, 3, 3), 1, 1)),
        row_plan.plan_rows(sizes_of((0, 4, 40, 40), (16, 4, 7, 7))),
        stream_plan.plan_stream(sizes_of((0, 1, 32, 32), (6, 1, 5, 5))),
    ]
    for p, tuned in zip(plans, (tap_plan, row_plan, stream_plan), strict=True):
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
    two_rows = cut(stream_plan.StreamPlan, v11_streamed, *layer, (1, 1), (0, 0), (2, 2, 3))
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
@pytest.mark.parametrize(("rung", "x", "w", "pad"), EACH[:5])
def test_an_infinity_spoils_only_the_outputs_that_see_it(rung, x, w, pad):
    x, w, expected, seen = with_an_infinity(x, w, pad)
    y = nans(*expected.shape)
    FORWARD[rung](gpu.to_device(x), gpu.to_device(w), None, y, 1, pad)
    found = gpu.to_host(y)
    np.testing.assert_array_equal(np.isfinite(found), ~seen)
    np.testing.assert_array_equal(found[~seen], expected[~seen])


SWITCHED = [  # name, images from which on 132 multiprocessors have a block each, one of them, w, pad, kernel
    ("forward/v09_3xtf32", 86, (64, 14, 14), (64, 64, 3, 3), 1, "_conv2d_forward_v09"),
    ("forward/v12_3xtf32_wgmma", 247, (4, 40, 40), (16, 4, 7, 7), 0, "_conv2d_wgmma"),
    ("forward/v11_streamed", 263, (1, 32, 32), (6, 1, 5, 5), 0, "_conv2d_forward_v11"),
    ("backward_data/v11_3xtf32_wgmma", 4193, (6, 14, 14), (16, 6, 5, 5), 0, "_conv2d_wgmma"),
]
EACH_SWITCHED = pytest.mark.parametrize(
    ("name", "enough", "image", "w", "pad", "kernel"), SWITCHED, ids=[s[0] for s in SWITCHED]
)


def has_capability(patch, *cc):
    """Let the library believe that its device, a card or the executor, has this compute capability and 132 SMs."""
    patch.setattr("course_lib.cuda.capability.compute_capability", lambda: cc)
    patch.setattr(chosen, "multiprocessors", lambda: 132)
    chosen._first.cache_clear()


def launched(x, w, pad=0):
    """Return the names of the kernels that a layer's forward and backward pass launch."""
    with record_launches(run=False) as launches:
        y, cache = conv2d.conv2d_forward(gpu.empty(x, np.float32), gpu.empty(w, np.float32), pad=pad)
        conv2d.conv2d_backward(y, cache)
    return {one.kernel.__name__ for one in launches}


@EACH_SWITCHED
def test_a_layer_takes_its_rung_where_it_was_timed_and_with_images_enough(
    name, enough, image, w, pad, kernel, monkeypatch
):
    has_capability(monkeypatch, 9, 0)
    assert kernel in launched((enough, *image), w, pad)
    direction = name.split("/")[0]
    assert chosen.chosen(direction, sizes_of((enough - 1, *image), w, 1, pad)) is None
    for cc in ((99, 0), (10, 0), (8, 0)):
        has_capability(monkeypatch, *cc)
        assert kernel not in launched((enough, *image), w, pad)


@EACH_SWITCHED
def test_a_rung_that_is_switched_off_is_not_taken(name, enough, image, w, pad, kernel, monkeypatch):
    has_capability(monkeypatch, 9, 0)
    monkeypatch.setattr(chosen, "SWITCHED_ON", chosen.SWITCHED_ON - {name})
    assert chosen.chosen(name.split("/")[0], sizes_of((enough, *image), w, 1, pad)) is None


def test_where_v06_is_faster_it_is_taken(monkeypatch):
    """Forward with masks of 5 rows, LeNet-5's dense layer as a convolution, and all gradients for masks."""
    has_capability(monkeypatch, 9, 0)
    assert "_conv2d_forward_v06" in launched((4193, 6, 14, 14), (16, 6, 5, 5))
    assert chosen.chosen("forward", sizes_of((256, 16, 5, 5), (120, 16, 5, 5))) is None
    assert "_backward_weights_v06" in launched((4193, 4, 40, 40), (16, 4, 7, 7))


def test_all_that_can_be_switched_on_are_rungs():
    assert {name for name, *_ in SWITCHED} == chosen.SWITCHED_ON < set(chosen.ABOVE)
    other = sizes_of((4193, 2, 5, 5), (3, 2, 2, 2), 2)
    for name in chosen.ABOVE:
        with pytest.MonkeyPatch.context() as patch:
            has_capability(patch, 9, 0)
            patch.setattr(chosen, "SWITCHED_ON", frozenset(chosen.ABOVE))
            assert chosen.chosen(name.split("/")[0], other) is None
