"""Convolution: four forms, one result; gradients over strides, pads, masks and odd sizes."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import fast
from course_lib import reference as ops
from course_lib.checks import check_op_gradients
from course_lib.reference import conv2d as conv2d_module
from tests.cases import all_of

from .strategies import LAYOUTS, lay_out

FORMS = {
    "loops": (ops.conv2d_forward_loops, ops.conv2d_backward_loops),
    "windows": (ops.conv2d_forward_windows, ops.conv2d_backward_windows),
    "matrix": (ops.conv2d_forward, ops.conv2d_backward),
    "fast": (fast.conv2d_forward, fast.conv2d_backward),
}
QUICK = [name for name in FORMS if name != "loops"]
STRIDES, PADS, MASKS = (1, 2, 3), (0, 1, 2), ((1, 1), (2, 3), (3, 3), (5, 3))


def integers(rng, *shape, dtype=np.float64):
    return rng.integers(-4, 5, shape).astype(dtype)


@all_of(("stride", "pad", "mask"), list(itertools.product(STRIDES, PADS, MASKS)))
@all_of("batch", [1, 3])
def test_the_forms_agree_exactly_on_small_integers(stride, pad, mask, batch):
    rng = np.random.default_rng(0)
    x, w, b = integers(rng, batch, 2, 7, 5), integers(rng, 3, 2, *mask), integers(rng, 3)
    results = {}
    for name, (forward, backward) in FORMS.items():
        y, cache = forward(x, w, b, stride, pad)
        dy = integers(np.random.default_rng(1), *y.shape)
        results[name] = (y, *backward(dy, cache))
    for name in QUICK:
        for got, want in zip(results[name], results["loops"], strict=True):
            np.testing.assert_array_equal(got, want)


@all_of(("stride", "pad", "mask"), list(itertools.product(STRIDES, PADS, MASKS)))
@all_of("form", QUICK)
@all_of("shape", [(1, 1, 5, 5), (2, 3, 9, 7)])
def test_gradients(form, shape, stride, pad, mask):
    rng = np.random.default_rng(2)
    x, w, b = rng.standard_normal(shape), rng.standard_normal((2, shape[1], *mask)), rng.standard_normal(2)
    forward, backward = FORMS[form]
    check_op_gradients(lambda *a: forward(*a, stride, pad), backward, [x, w, b], rng=rng)


@pytest.mark.parametrize(("stride", "pad"), [((2, 1), (0, 2)), ((1, 3), (1, 0))])
@pytest.mark.parametrize("form", FORMS)
def test_gradients_with_stride_and_pad_for_each_axis(form, stride, pad):
    rng = np.random.default_rng(2)
    forward, backward = FORMS[form]
    args = [rng.standard_normal((2, 2, 5, 6)), rng.standard_normal((3, 2, 3, 2)), rng.standard_normal(3)]
    check_op_gradients(lambda *a: forward(*a, stride, pad), backward, args, rng=rng)


def test_a_large_image_is_cut_into_blocks_and_nothing_is_lost_at_the_seams(monkeypatch):
    rng = np.random.default_rng(0)
    x, w, b = integers(rng, 3, 2, 11, 9), integers(rng, 4, 2, 3, 3), integers(rng, 4)
    y, cache = ops.conv2d_forward(x, w, b, (2, 1), 1)
    dy = integers(rng, *y.shape)
    whole = (y, *ops.conv2d_backward(dy, cache))
    for block in (1, 200, 1000, 2500):
        monkeypatch.setattr(conv2d_module, "BLOCK", block)
        y, cache = ops.conv2d_forward(x, w, b, (2, 1), 1)
        for got, want in zip((y, *ops.conv2d_backward(dy, cache)), whole, strict=True):
            np.testing.assert_array_equal(got, want)


@settings(max_examples=40, deadline=None)
@given(
    size=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    mask=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    stride=st.integers(1, 3),
    pad=st.integers(0, 2),
    layout=st.sampled_from(LAYOUTS),
    dtype=st.sampled_from([np.float32, np.float64]),
    form=st.sampled_from(QUICK),
)
def test_any_size_type_and_layout(size, mask, stride, pad, layout, dtype, form):
    rng = np.random.default_rng(0)
    x, w = integers(rng, 2, 3, *size, dtype=dtype), integers(rng, 2, 3, *mask, dtype=dtype)
    if any(m > s + 2 * pad for m, s in zip(mask, size, strict=True)):
        with pytest.raises(ValueError, match="it fits nowhere"):
            FORMS[form][0](x, w, None, stride, pad)
        return
    expected, expected_cache = ops.conv2d_forward_loops(x, w, None, stride, pad)
    y, cache = FORMS[form][0](lay_out(x, layout), lay_out(w, layout), None, stride, pad)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, expected)
    dy = integers(rng, *y.shape, dtype=dtype)
    expected_grads = ops.conv2d_backward_loops(dy, expected_cache)
    grads = FORMS[form][1](lay_out(dy, layout), cache)
    for got, want in zip(grads[:2], expected_grads[:2], strict=True):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)
    assert grads[2] is None


@all_of("form", FORMS)
@all_of(
    ("x", "w", "options", "error", "message"),
    [
        ((2, 3, 5, 5), (4, 2, 3, 3), {}, ValueError, r"x.shape\[1\] must equal w.shape\[1\]"),
        ((2, 3, 5), (4, 3, 3, 3), {}, ValueError, "it must have 4"),
        ((0, 3, 5, 5), (4, 3, 3, 3), {}, ValueError, "the batch is empty"),
        ((2, 3, 2, 5), (4, 3, 3, 3), {}, ValueError, r"H is 2 with pad 0.*mask is 3.*= 0. Use pad >= 1"),
        ((2, 3, 5, 2), (4, 3, 3, 5), {}, ValueError, r"W is 2 .* Use pad >= 2"),
        ((2, 3, 5, 5), (4, 3, 3, 3), {"stride": 0}, ValueError, "stride is 0"),
        ((2, 3, 5, 5), (4, 3, 3, 3), {"stride": (1, 2, 3)}, ValueError, "a pair"),
        ((2, 3, 5, 5), (4, 3, 3, 3), {"pad": -1}, ValueError, "pad is -1"),
        ((2, 3, 5, 5), (4, 3, 3, 3), {"pad": 0.5}, TypeError, "pad is 0.5"),
        ((2, 3, 5, 5), (4, 3, 3, 3), {"b": np.ones(3)}, ValueError, "one number for each output map"),
        ((2, 3, 5, 5), (0, 3, 3, 3), {}, ValueError, "at least one input map and one output map"),
    ],
)
def test_what_cannot_work_says_why(form, x, w, options, error, message):
    with pytest.raises(error, match=message):
        FORMS[form][0](np.ones(x), np.ones(w), **options)


@pytest.mark.parametrize("form", FORMS)
def test_an_upstream_gradient_of_another_shape_is_refused(form):
    _, cache = FORMS[form][0](np.ones((2, 1, 5, 5)), np.ones((3, 1, 3, 3)))
    with pytest.raises(ValueError, match=r"dy is \(2, 3, 3, 2\).*\(2, 3, 3, 3\)"):
        FORMS[form][1](np.ones((2, 3, 3, 2)), cache)


def test_owens_output_six():  # O: the 4-wide example, numbered from 1
    inputs, masks = np.arange(1.0, 17), np.arange(1.0, 10) ** 2
    image = inputs.reshape(1, 1, 4, 4)
    y, _ = ops.conv2d_forward(image, masks.reshape(1, 1, 3, 3), pad=1)
    taken = [1, 2, 3, 5, 6, 7, 9, 10, 11]  # I1 I2 I3 I5 I6 I7 I9 I10 I11
    assert y.ravel()[5] == sum(a * inputs[i - 1] for a, i in zip(masks, taken, strict=True))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(("stride", "pad"), list(itertools.product((1, 2), (0, 1))))
def test_one_and_three_dimensions(n, stride, pad):
    rng = np.random.default_rng(0)
    shape, mask = ((6,), (3,)) if n == 1 else ((4, 5, 3), (2, 3, 1))
    x, w, b = rng.standard_normal((2, 2, *shape)), rng.standard_normal((3, 2, *mask)), rng.standard_normal(3)
    forward, backward = getattr(ops, f"conv{n}d_forward"), getattr(ops, f"conv{n}d_backward")
    y, _ = forward(x, w, b, stride, pad)
    padded = np.pad(x, [(0, 0), (0, 0)] + [(pad, pad)] * n)
    for place in np.ndindex(y.shape[2:]):
        window = padded[
            (slice(None), slice(None), *(slice(p * stride, p * stride + k) for p, k in zip(place, mask, strict=True)))
        ]
        expected = np.tensordot(window, w, axes=(range(1, n + 2), range(1, n + 2))) + b
        np.testing.assert_allclose(y[(slice(None), slice(None), *place)], expected, rtol=1e-12)
    check_op_gradients(lambda *a: forward(*a, stride, pad), backward, [x, w, b], rng=rng)


@pytest.mark.parametrize("n", [1, 3])
def test_one_and_three_dimensions_refuse_what_does_not_fit(n):
    forward, backward = getattr(ops, f"conv{n}d_forward"), getattr(ops, f"conv{n}d_backward")
    x, w = np.ones((1, 2, *[4] * n)), np.ones((3, 2, *[2] * n))
    with pytest.raises(ValueError, match="the input maps"):
        forward(x[:, :1], w)
    with pytest.raises(ValueError, match="it fits nowhere"):
        forward(x, np.ones((3, 2, *[5] * n)))
    with pytest.raises(ValueError, match="one number for each output map"):
        forward(x, w, np.ones(2))
    with pytest.raises(ValueError, match="the shape of y"):
        backward(np.ones((1, 3, *[2] * n)), forward(x, w)[1])


def test_output_size_and_what_is_never_seen():  # K, erratum 7
    assert ops.output_size(28, 5) == 24
    assert ops.output_size(28, 5, pad=2) == 28
    assert ops.output_size(7, 3, stride=2) == 3
    assert ops.output_size(8, 3, stride=2) == 3  # 3.5, rounded down
    assert (ops.unseen(7, 3, 2), ops.unseen(8, 3, 2)) == (0, 1)


def test_col2im_is_the_transpose_of_im2col():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 6, 5))
    cols = ops.im2col(x, (3, 2), (2, 1), 1)
    other = rng.standard_normal(cols.shape)
    back = ops.col2im(other, x.shape, (3, 2), (2, 1), 1)
    assert back.shape == x.shape
    np.testing.assert_allclose(np.sum(cols * other), np.sum(x * back), rtol=1e-12)
    with pytest.raises(ValueError, match="gives"):
        ops.col2im(other, (2, 3, 7, 7), (3, 2))


@pytest.mark.parametrize(
    ("shape", "mask", "elements", "factor"),
    [
        ((1, 3, 3, 3), 2, 48, 1.78),
        ((1, 1, 32, 32), 5, 25 * 784, 19.1),
        ((1, 6, 14, 14), 5, 150 * 100, 12.8),
        ((1, 16, 5, 5), 5, 400, 1.0),
    ],
)
def test_hwus_replication_table(shape, mask, elements, factor):
    cols = ops.im2col(np.zeros(shape), mask)
    assert cols.size == elements
    assert ops.replication(shape, mask) == cols.size / np.prod(shape)
    assert round(ops.replication(shape, mask), 2 if factor == 1.78 else 1) == factor
