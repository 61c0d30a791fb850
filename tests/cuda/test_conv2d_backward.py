"""Every rung of the convolution's gradients equals the reference exactly on whole numbers, and costs what it says."""

from dataclasses import replace

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda import conv2d
from course_lib.cuda.device import executor
from course_lib.cuda.ladders.conv2d import backward_data, backward_weights
from course_lib.cuda.ladders.conv2d.backward_data import plan as data_plan
from course_lib.cuda.ladders.conv2d.backward_data import v06_specialised as data_v06
from course_lib.cuda.ladders.conv2d.backward_data.checks import sizes_of
from course_lib.cuda.ladders.conv2d.backward_weights import plan as weights_plan
from course_lib.cuda.ladders.conv2d.backward_weights import v06_specialised as weights_v06
from course_lib.cuda.ladders.conv2d.backward_weights.parts import add_parts
from course_lib.cuda.ladders.conv2d.forward import checks
from course_lib.cuda.recording import record_launches
from course_lib.reference.conv2d import conv2d_backward, conv2d_forward
from tests.cases import all_of
from tests.cuda.conv_numbers import whole_numbers
from tests.cuda.unfit import KINDS, unfit

DATA, WEIGHTS, EXACT_DATA, EXACT_WEIGHTS = (  # v08 rounds otherwise: test_conv2d_fft
    pytest.mark.parametrize("rung", [r for r in ladder.LADDER if r.exact or every], ids=lambda rung: rung.name)
    for every in (True, False)
    for ladder in (backward_data, backward_weights)
)

LAYERS = [  # x, w, stride, pad
    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0)),
    ((3, 2, 7, 9), (5, 2, 3, 2), (1, 1), (0, 0)),
    ((1, 1, 12, 12), (6, 1, 5, 5), (1, 1), (0, 0)),
    ((3, 3, 9, 11), (4, 3, 5, 3), (2, 3), (1, 2)),
    ((1, 4, 8, 8), (7, 4, 3, 3), (1, 1), (1, 1)),
    ((1, 2, 6, 6), (3, 2, 1, 1), (3, 1), (0, 2)),  # rows 1, 2, 4, 5 are seen by no window
    ((3, 1, 17, 5), (2, 1, 3, 5), (2, 2), (2, 0)),
    ((1, 5, 5, 20), (3, 5, 5, 3), (1, 2), (0, 1)),
    ((3, 1, 18, 35), (3, 1, 2, 3), (1, 1), (2, 1)),
    ((3, 6, 14, 14), (16, 6, 5, 5), (1, 1), (0, 0)),
]
LAYER = pytest.mark.parametrize(("x", "w", "stride", "pad"), LAYERS, ids=str)


def expected(x_shape, w_shape, stride=(1, 1), pad=(0, 0)):
    """Return (x, w, dy, dx, dw, db) of whole numbers."""
    x, w = whole_numbers(*x_shape), whole_numbers(*w_shape, seed=1)
    y, cache = conv2d_forward(x, w, np.zeros(w_shape[0], np.float32), stride, pad)
    dy = whole_numbers(*y.shape, seed=2)
    return x, w, dy, *conv2d_backward(dy, cache)


def nans(*shape):
    return gpu.to_device(np.full(shape, np.nan, np.float32))


def no_hazards(launches):
    if executor().reports:
        assert [h for one in launches for h in one.kernel.report.hazards] == []


def check_data(launch, *layer):
    """Launch into a dx full of NaN, and demand the reference's numbers; return the Launches."""
    x, w, dy, dx, _, _ = expected(*layer)
    out = nans(*x.shape)
    with record_launches() as launches:
        launch(gpu.to_device(dy), gpu.to_device(w), out, *layer[2:])
    np.testing.assert_array_equal(gpu.to_host(out), dx)
    no_hazards(launches)
    return launches


def check_weights(launch, *layer, bias=True):
    """Launch into dw and db full of NaN, and demand the reference's numbers; return the Launches."""
    x, w, dy, _, dw, db = expected(*layer)
    out, out_b = nans(*w.shape), nans(w.shape[0]) if bias else None
    with record_launches() as launches:
        launch(gpu.to_device(dy), gpu.to_device(x), out, out_b, *layer[2:])
    np.testing.assert_array_equal(gpu.to_host(out), dw)
    if bias:
        np.testing.assert_array_equal(gpu.to_host(out_b), db)
    no_hazards(launches)
    return launches


def compare_traffic(rung, layer, launches):
    """Where the executor counts, demand the rung's formula, if it takes the layer itself: v06 hands strides down.

    v10 hands nearly all of them down: test_conv2d_rows.
    """
    if executor().reports and (rung.number < 6 or layer[2] == (1, 1)) and rung.number < 10:
        counted = [one.kernel for one in launches if "parts" not in one.kernel.__name__]  # nor those of the bias
        totals = [kernel.report.total for kernel in counted]
        formula = rung.traffic(sizes_of(*layer))
        assert formula == {name: sum(getattr(t, name) for t in totals) for name in formula}


@EXACT_DATA
@LAYER
def test_the_gradient_for_the_input_equals_the_reference_exactly_and_costs_the_formula(rung, x, w, stride, pad):
    launches = check_data(rung.launch, x, w, stride, pad)
    compare_traffic(rung, (x, w, stride, pad), launches)
    if executor().reports and rung.number == 2 and stride == (1, 1):  # the two rows that a warp reads of a patch
        assert launches[0].kernel.report.total.shared_load_conflicts == 0


@EXACT_WEIGHTS
@LAYER
def test_the_gradients_for_masks_and_bias_equal_the_reference_exactly_and_cost_the_formula(rung, x, w, stride, pad):
    compare_traffic(rung, (x, w, stride, pad), check_weights(rung.launch, x, w, stride, pad))


@EXACT_WEIGHTS
def test_no_bias_has_no_gradient(rung):
    check_weights(rung.launch, (2, 3, 6, 7), (5, 3, 3, 3), (1, 1), (0, 0), bias=False)


@pytest.mark.parametrize("rung", backward_data.LADDER[:3], ids=lambda rung: rung.name)
def test_an_image_of_more_tiles_than_y_and_z_take_is_launched(rung):
    dy, w, dx = (gpu.empty(s, np.float32) for s in ((1, 1, 4096, 4096), (1, 1, 1, 1), (1, 1, 4096, 4096)))
    with record_launches(run=False) as launches:
        rung.launch(dy, w, dx)
    for one in launches:
        assert max(one.grid[1:]) <= 65_535


@EXACT_DATA
def test_pixels_that_no_window_sees_get_zero(rung):
    dy, w, dx = whole_numbers(2, 3, 2, 2), whole_numbers(3, 2, 2, 2), nans(2, 2, 9, 8)
    rung.launch(gpu.to_device(dy + 5), gpu.to_device(w + 5), dx, (6, 5), (0, 0))
    seen = np.zeros((9, 8), bool)
    seen[np.ix_([0, 1, 6, 7], [0, 1, 5, 6])] = True
    np.testing.assert_array_equal(gpu.to_host(dx)[:, :, ~seen], 0)
    assert (gpu.to_host(dx)[:, :, seen] != 0).all()


DATA_CUTS = [  # x, w, pad; TC, NB, MC, RB, FOLD: each way to fetch, read and write
    ((3, 1, 22, 22), (4, 1, 7, 7), (0, 0), (1, 2, 1, 22, True)),  # dy's rows 16 floats: a pitch of their own
    ((3, 4, 12, 11), (6, 4, 3, 3), (0, 0), (2, 2, 2, 5, False)),  # rows of 9 floats, copied one by one
    ((2, 2, 13, 12), (3, 2, 4, 3), (3, 2), (2, 1, 3, 4, False)),  # bands of which some see one row
    ((5, 6, 10, 10), (4, 6, 5, 5), (0, 0), (3, 4, 4, 10, True)),
    ((3, 4, 16, 20), (2, 4, 3, 3), (1, 1), (4, 2, 1, 8, False)),
]


@pytest.mark.parametrize(("x", "w", "pad", "cut"), DATA_CUTS, ids=str)
def test_every_plan_for_the_input_is_right(x, w, pad, cut):
    p = data_plan.Plan(replace(sizes_of(x, w, 1, pad), B=0), *cut)

    def launch(dy, w, dx, *_):
        data_v06.make(p)[-(-dx.shape[0] // p.NB) * p.bands, p.threads, 0, p.shared](dy, w, dx)

    check_data(launch, x, w, (1, 1), pad)


WEIGHTS_CUTS = [  # x, w, pad; TM, TC, MG, CG, RB, NB, RT, STAGES
    ((3, 1, 22, 22), (4, 1, 7, 7), (0, 0), (4, 1, 1, 1, 8, 1, 5, 1)),
    ((3, 4, 12, 11), (6, 4, 3, 3), (0, 0), (2, 2, 3, 1, 5, 1, 5, 2)),
    ((2, 2, 13, 12), (3, 2, 4, 3), (3, 2), (1, 2, 3, 1, 16, 2, 7, 2)),
    ((5, 6, 10, 10), (4, 6, 5, 5), (0, 0), (2, 3, 1, 2, 6, 4, 24, 1)),
    ((3, 4, 16, 20), (2, 4, 3, 3), (1, 1), (1, 1, 2, 4, 4, 1, 1, 2)),
    ((2, 1, 9, 130), (2, 1, 3, 3), (0, 0), (2, 1, 1, 1, 7, 1, 7, 2)),  # a row in a loop of bodies, and a rest
]


@pytest.mark.parametrize(("x", "w", "pad", "cut"), WEIGHTS_CUTS, ids=str)
def test_every_plan_for_the_masks_is_right(x, w, pad, cut, monkeypatch):
    monkeypatch.setattr(weights_plan, "MOST_PRODUCTS", 500)
    p = weights_plan.Plan(replace(sizes_of(x, w, 1, pad), B=0), *cut)

    def launch(dy, x, dw, *_):
        sums = nans(2, dw.size)
        weights_v06.make(p)[2 * p.m_blocks * p.c_blocks, p.threads, 0, p.shared](x, dy, sums)
        add_parts(sums, dw)

    check_weights(launch, x, w, (1, 1), pad, bias=False)


MEASURED = [((1, 86, 86), (4, 7)), ((4, 40, 40), (16, 7)), ((1, 32, 32), (6, 5)), ((6, 14, 14), (16, 5))]


@pytest.mark.parametrize(("maps", "masks"), MEASURED, ids=str)
def test_the_layers_that_were_measured_have_plans_that_fit_and_leave_few_threads_idle(maps, masks):
    (C, H, W), (M, K) = maps, masks
    s = sizes_of((0, C, H, W), (M, C, K, K))
    for p in (data_plan.plan(s), weights_plan.plan(s)):
        assert p.shared <= 227 * 1024
        assert p.units / p.threads > 0.85
    assert data_plan.plan(s)._wavefronts(data_plan.plan(s).image) <= 1.3 * data_plan.plan(s).threads * p.width / 32


def test_a_plan_is_chosen_for_layers_of_other_courses():
    for x, w, pad in [((0, 1, 28, 28), (32, 1, 3, 3), 1), ((0, 3, 32, 32), (16, 3, 5, 5), 2)]:
        s = sizes_of(x, w, 1, pad)
        for plan in (data_plan.plan, weights_plan.plan):
            assert plan(s).fits
            assert plan(s) is plan(s)


def test_what_v06_cannot_take_goes_to_the_rung_below():
    dy, w, dx = (gpu.empty(s, np.float32) for s in ((1, 2, 4, 4), (2, 3, 2, 2), (1, 3, 8, 8)))
    with record_launches(run=False) as launches:
        data_v06.conv2d_backward_data_v06_specialised(dy, w, dx, 2)
        weights_v06.conv2d_backward_weights_v06_specialised(dy, dx, w, None, 2)
    names = [one.kernel.__name__ for one in launches]
    assert names == ["_product_v03", "_fold_v03", "_unroll_v03", "_product_v03", "_add_parts"]


def rounding(size, terms):
    """How far a sum of `terms` products of this absolute size may stray in float32."""
    return 4 * np.sqrt(terms) * 2**-24 * size


def test_random_numbers_come_out_to_the_rounding_of_float32():
    rng = np.random.default_rng(0)
    x, w, dy = (rng.standard_normal(s) for s in ((8, 3, 16, 16), (4, 3, 5, 5), (8, 4, 12, 12)))
    exact = conv2d_backward(dy, conv2d_forward(x, w, np.zeros(4))[1])
    sizes = conv2d_backward(np.abs(dy), conv2d_forward(np.abs(x), np.abs(w), np.zeros(4))[1])
    on_device = [gpu.to_device(a.astype(np.float32)) for a in (x, w, dy)]
    for rung in (r for r in backward_data.LADDER if r.exact):
        dx = nans(*x.shape)
        rung.launch(on_device[2], on_device[1], dx)
        error = np.abs(gpu.to_host(dx) - exact[0])
        assert (error <= rounding(sizes[0] + 1, 100)).all(), rung.name
    for rung in (r for r in backward_weights.LADDER if r.exact):
        dw, db = nans(*w.shape), nans(4)
        rung.launch(on_device[2], on_device[0], dw, db)
        assert (np.abs(gpu.to_host(dw) - exact[1]) <= rounding(sizes[1], 1152)).all(), rung.name
        assert (np.abs(gpu.to_host(db) - exact[2]) <= rounding(sizes[2], 1152)).all(), rung.name


@WEIGHTS
def test_two_runs_agree_to_the_last_bit(rung):
    rng = np.random.default_rng(1)
    dy, x = (gpu.to_device(rng.standard_normal(s).astype(np.float32)) for s in ((9, 4, 8, 8), (9, 2, 12, 12)))
    results = []
    for _ in range(2):
        dw, db = nans(4, 2, 5, 5), nans(4)
        rung.launch(dy, x, dw, db)
        results.append((gpu.to_host(dw), gpu.to_host(db)))
    np.testing.assert_array_equal(results[0][0].view(np.uint32), results[1][0].view(np.uint32))
    np.testing.assert_array_equal(results[0][1].view(np.uint32), results[1][1].view(np.uint32))


@pytest.mark.parametrize(("stride", "pad"), [(1, 0), (2, 1), ((1, 2), (2, 0))], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_the_operation_equals_the_reference(stride, pad, bias):
    x, w, b = whole_numbers(2, 3, 8, 9), whole_numbers(5, 3, 3, 3), whole_numbers(5) if bias else None
    y, cache = conv2d_forward(x, w, b, stride, pad)
    dy = whole_numbers(*y.shape, seed=3)
    on_device = [gpu.to_device(a) if a is not None else None for a in (x, w, b)]
    _, its_cache = conv2d.conv2d_forward(*on_device, stride, pad)
    for need_dx in (True, False):
        want = conv2d_backward(dy, cache, need_dx)
        got = conv2d.conv2d_backward(gpu.to_device(dy), its_cache, need_dx)
        for one, other in zip(got, want, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_array_equal(gpu.to_host(one), other)


def test_the_operation_refuses_a_dy_that_is_not_of_the_shape_of_y():
    _, cache = conv2d.conv2d_forward(gpu.to_device(whole_numbers(2, 3, 8, 9)), gpu.to_device(whole_numbers(5, 3, 3, 3)))
    with pytest.raises(ValueError, match=r"dy is \(2, 5, 6, 6\)"):
        conv2d.conv2d_backward(nans(2, 5, 6, 6), cache)
    with pytest.raises(TypeError, match="to_device"):
        conv2d.conv2d_backward(np.zeros((2, 5, 6, 7), np.float32), cache)


X, W, Y = (2, 3, 6, 6), (4, 3, 3, 3), (2, 4, 4, 4)
DATA_SHAPES = {
    "channels": (Y, (4, 2, 3, 3), X, r"w\.shape\[1\] must be 3"),
    "maps": ((2, 5, 4, 4), W, X, "dy is"),
    "places": ((2, 4, 4, 5), W, X, "dy is"),
    "batch": ((3, 4, 4, 4), W, X, "dy is"),
    "mask": (Y, (4, 3, 7, 3), X, "fits nowhere"),
    "no images": ((0, 4, 4, 4), W, (0, 3, 6, 6), "empty"),
    "no maps": ((2, 0, 4, 4), (0, 3, 3, 3), X, "empty"),
    "axes": (Y, W, (3, 6, 6), "axes"),
}


@pytest.mark.parametrize(
    ("dy", "w", "dx", "stride", "message"),
    [((1, 1, 1, 1), (1, 1, 200, 200), (1, 1, 200, 200), 1, "bytes of shared memory"),
     ((1, 1, 1, 1), (1, 1, 1, 300), (1, 1, 1, 300), (16, 1), "300 outputs of a row")],
    ids=["200 x 200", "1 x 300"],
)  # fmt: skip
def test_a_mask_too_large_for_v02_is_sent_to_v03(dy, w, dx, stride, message):
    arrays = [gpu.empty(s, np.float32) for s in (dy, w, dx)]
    with pytest.raises(ValueError, match=f"{message}.* Use conv2d_backward_data_v03_product"):
        backward_data.LADDER[1].launch(*arrays, stride)
    with record_launches(run=False):
        backward_data.LADDER[2].launch(*arrays, stride)


def test_forward_and_backward_have_one_limit_of_sizes(monkeypatch):
    monkeypatch.setattr(checks, "MOST", 64)
    x, w, y = (gpu.empty(s, np.float32) for s in ((1, 1, 8, 8), (1, 1, 8, 8), (1, 1, 1, 1)))
    for launch in (
        lambda: conv2d.conv2d_forward(x, w),
        lambda: backward_data.LADDER[0].launch(y, w, x),
        lambda: backward_weights.LADDER[0].launch(y, x, w),
    ):
        with pytest.raises(ValueError, match="x has 64 elements"):
            launch()


def test_a_large_dw_gets_few_parts():
    dy, x, dw = (gpu.empty(s, np.float32) for s in ((8, 512, 1, 1), (8, 512, 3, 3), (512, 512, 3, 3)))
    with record_launches(run=False) as launches:
        backward_weights.LADDER[2].launch(dy, x, dw)
    assert [one.grid[0] for one in launches if one.kernel.__name__ == "_product_v03"] == [1]


@DATA
@pytest.mark.parametrize("case", DATA_SHAPES)
def test_shapes_that_do_not_fit_are_refused_for_the_input(rung, case):
    *shapes, message = DATA_SHAPES[case]
    with pytest.raises(ValueError, match=message):
        rung.launch(*(gpu.empty(s, np.float32) for s in shapes))


@WEIGHTS
@pytest.mark.parametrize("case", DATA_SHAPES)
def test_shapes_that_do_not_fit_are_refused_for_the_masks(rung, case):
    dy, w, x, message = DATA_SHAPES[case]
    with pytest.raises(ValueError, match=message):
        rung.launch(*(gpu.empty(s, np.float32) for s in (dy, x, w)))


@WEIGHTS
def test_a_bias_gradient_of_another_length_is_refused(rung):
    with pytest.raises(ValueError, match=r"db is \(3,\)"):
        rung.launch(*(gpu.empty(s, np.float32) for s in (Y, X, W, (3,))))


@all_of("kind", KINDS)
@all_of("which", range(3))
@all_of("rung", [*backward_data.LADDER, *backward_weights.LADDER], ids=lambda r: r.launch.__name__)
def test_a_launcher_refuses_what_a_kernel_would_read_as_garbage(rung, which, kind):
    shapes = (Y, W, X) if rung in backward_data.LADDER else (Y, X, W)
    arrays = [gpu.empty(s, np.float32) for s in shapes]
    arrays[which], error = unfit(kind, np.zeros(shapes[which]))
    with pytest.raises(error):
        rung.launch(*arrays)
