"""Convolution by Fourier transforms, and Winograd's: the plain one's results and gradients, within stated bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import reference as ops
from course_lib.checks import check_op_gradients
from course_lib.reference import conv2d_fft as module
from course_lib.reference.conv2d_fft import transform_lengths
from course_lib.reference.winograd import MATRICES
from tests.cases import all_of
from tests.fft_bounds import bounds

LAYERS = [  # x, w, stride, pad
    ((1, 1, 1, 1), (1, 1, 1, 1), 1, 0),
    ((3, 2, 7, 9), (5, 2, 3, 2), 1, 0),
    ((2, 3, 8, 8), (2, 3, 8, 8), 1, 0),  # the mask is as large as the image
    ((2, 1, 3, 3), (2, 1, 11, 11), 1, 4),  # larger than the image without its padding
    ((2, 1, 3, 5), (2, 1, 1, 1), 1, 2),  # most places see padding only
    ((3, 6, 9, 11), (5, 6, 3, 4), (2, 3), (1, 2)),
    ((2, 3, 8, 8), (2, 3, 3, 3), 4, 0),  # places that no window sees
    ((1, 2, 17, 1), (3, 2, 5, 1), (3, 1), (2, 0)),
    ((5, 6, 14, 14), (16, 6, 5, 5), 1, 0),
]


def layer(x_shape, w_shape, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(s).astype(dtype) for s in (x_shape, w_shape, w_shape[:1])]


def upstream(y):
    return np.random.default_rng(9).standard_normal(y.shape).astype(y.dtype)


@all_of("dtype", [np.float32, np.float64])
@all_of(("x", "w", "stride", "pad"), LAYERS)
def test_results_and_gradients_are_the_plain_ones_within_the_bound(x, w, stride, pad, dtype):
    x, w, b = layer(x, w, dtype)
    y, cache = ops.conv2d_fft_forward(x, w, b, stride, pad)
    dy = upstream(y)
    long = [a.astype(np.longdouble if dtype == np.float64 else np.float64) for a in (x, w, b, dy)]
    exact, its = _plain(*long, stride, pad)
    got = (y, *ops.conv2d_fft_backward(dy, cache))
    N_h, N_w = transform_lengths(x.shape[2:], w.shape[2:], cache[-1])
    allowed = bounds(x, w, dy, max(2, N_h * N_w), dtype)
    for one, want, most in zip(got[:3], (exact, *its), allowed, strict=True):
        assert one.dtype == dtype
        assert one.shape == want.shape
        np.testing.assert_array_less(np.abs(one - want), np.broadcast_to(most + np.finfo(dtype).eps * 8, want.shape))
    np.testing.assert_array_equal(got[3], dy.sum(axis=(0, 2, 3)))


def _plain(x, w, b, dy, stride, pad):
    """y and (dx, dw) by a loop over the mask, in as many digits as the arrays have."""
    (s_h, s_w), (p_h, p_w) = (v if isinstance(v, tuple) else (v, v) for v in (stride, pad))
    padded = np.pad(x, ((0, 0), (0, 0), (p_h, p_h), (p_w, p_w)))
    y, dpadded, dw = np.zeros_like(dy) + b[:, None, None], np.zeros_like(padded), np.zeros_like(w)
    for p in range(w.shape[2]):
        for q in range(w.shape[3]):
            there = np.s_[:, :, p : p + s_h * dy.shape[2] : s_h, q : q + s_w * dy.shape[3] : s_w]
            seen = padded[there]
            y += np.einsum("bchv,mc->bmhv", seen, w[:, :, p, q])
            dw[:, :, p, q] = np.einsum("bmhv,bchv->mc", dy, seen)
            dpadded[there] += np.einsum("bmhv,mc->bchv", dy, w[:, :, p, q])
    return y, (dpadded[:, :, p_h : p_h + x.shape[2], p_w : p_w + x.shape[3]], dw)


@settings(max_examples=30, deadline=None)
@given(
    st.tuples(*(st.integers(1, n) for n in (3, 3, 3, 9, 9, 9, 9))), st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
)  # fmt: skip
def test_any_layer_has_the_plain_results_and_gradients(shape, stride, pad):
    B, C, M, H, W, K_h, K_w = shape
    x, w, b = layer((B, C, H, W), (M, C, min(K_h, H + 2 * pad[0]), min(K_w, W + 2 * pad[1])))
    (y, cache), (want, its) = ops.conv2d_fft_forward(x, w, b, stride, pad), ops.conv2d_forward(x, w, b, stride, pad)
    dy = upstream(want)
    pairs = zip((y, *ops.conv2d_fft_backward(dy, cache)), (want, *ops.conv2d_backward(dy, its)), strict=True)
    for got, expected in pairs:
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("stride", "pad"), [(1, 0), ((2, 1), (0, 2)), (3, 1)])
def test_gradients(stride, pad):
    rng = np.random.default_rng(2)
    args = [rng.standard_normal((2, 2, 5, 6)), rng.standard_normal((3, 2, 3, 2)), rng.standard_normal(3)]
    check_op_gradients(lambda *a: ops.conv2d_fft_forward(*a, stride, pad), ops.conv2d_fft_backward, args, rng=rng)


def test_no_bias_has_no_gradient_and_dx_can_be_left_out():
    x, w, _ = layer((2, 3, 6, 7), (4, 3, 3, 3))
    y, cache = ops.conv2d_fft_forward(x, w)
    dx, dw, db = ops.conv2d_fft_backward(upstream(y), cache, need_dx=False)
    assert dx is None
    assert db is None
    np.testing.assert_array_equal(dw, ops.conv2d_fft_backward(upstream(y), cache)[1])


def test_a_batch_is_cut_into_blocks_and_nothing_is_lost(monkeypatch):
    x, w, b = layer((5, 2, 8, 7), (3, 2, 3, 3))
    y, cache = ops.conv2d_fft_forward(x, w, b, 1, 1)
    whole = (y, *ops.conv2d_fft_backward(upstream(y), cache))
    for block in (1, 300):
        monkeypatch.setattr(module, "BLOCK", block)
        y, cache = ops.conv2d_fft_forward(x, w, b, 1, 1)
        for got, want in zip((y, *ops.conv2d_fft_backward(upstream(y), cache)), whole, strict=True):
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)


def test_types_of_results_are_the_plain_ones():
    for kinds in [(np.float32, np.float64), (np.float64, np.float32), (np.float32, np.float32)]:
        x, w = (a.astype(k) for a, k in zip(layer((1, 2, 5, 5), (3, 2, 2, 2)), kinds, strict=False))
        (y, cache), (want, its) = ops.conv2d_fft_forward(x, w), ops.conv2d_forward(x, w)
        dy = np.ones(y.shape, np.float32)
        got, wanted = (y, *ops.conv2d_fft_backward(dy, cache)[:2]), (want, *ops.conv2d_backward(dy, its)[:2])
        assert [a.dtype for a in got] == [a.dtype for a in wanted]


def test_inputs_are_left_as_they_are_in_any_layout():
    x, w, b = layer((2, 3, 8, 8), (4, 3, 3, 3))
    want, _ = ops.conv2d_fft_forward(x, w, b)
    for change in (np.asfortranarray, lambda a: np.repeat(a, 2, axis=-1)[..., ::2], lambda a: a[::-1].copy()[::-1]):
        given = [change(a) for a in (x, w, b)]
        for a in given:
            a.flags.writeable = False
        np.testing.assert_array_equal(ops.conv2d_fft_forward(*given)[0], want)


@pytest.mark.parametrize("forward", [ops.conv2d_fft_forward, ops.conv2d_winograd_forward], ids=["fft", "winograd"])
@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((np.ones((0, 1, 5, 5)), np.ones((1, 1, 3, 3))), ValueError, "batch is empty"),
        ((np.ones((2, 2, 5, 5)), np.ones((1, 1, 3, 3))), ValueError, r"x.shape\[1\] must equal w.shape\[1\]"),
        ((np.ones((2, 1, 2, 5)), np.ones((1, 1, 3, 3))), ValueError, "fits nowhere"),
        ((np.ones((2, 1, 5, 5)), np.ones((2, 1, 3, 3)), np.ones(3)), ValueError, "one number for each output map"),
        ((np.ones((5, 5)), np.ones((1, 1, 3, 3))), ValueError, "it must have 4"),
        ((np.ones((1, 1, 5, 5), complex), np.ones((1, 1, 3, 3))), TypeError, "complex"),
    ],
)
def test_what_the_plain_convolution_refuses_is_refused_in_its_words(forward, args, error, message):
    with pytest.raises(error, match=message):
        ops.conv2d_forward(*args)
    with pytest.raises(error, match=message):
        forward(*args)


def test_an_upstream_gradient_of_another_shape_is_refused():
    x, w, b = layer((2, 3, 8, 8), (4, 3, 3, 3))
    _, cache = ops.conv2d_fft_forward(x, w, b)
    with pytest.raises(ValueError, match=r"dy is \(2, 4, 6, 5\)"):
        ops.conv2d_fft_backward(np.ones((2, 4, 6, 5)), cache)


def test_lengths_hold_what_must_not_wrap_and_are_products_of_small_primes():
    for image, mask, pad in [((1, 1), (1, 1), (0, 0)), ((13, 11), (5, 3), (2, 0)), ((3, 3), (11, 9), (4, 3))]:
        N = transform_lengths(image, mask, pad)
        assert N[1] % 2 == 0
        for n, size, k, p in zip(N, image, mask, pad, strict=True):
            assert n >= max(size + p, k)
            for prime in (2, 3, 5, 7):
                while n % prime == 0:
                    n //= prime
            assert n == 1


def test_a_nan_spoils_all_outputs_of_its_image_and_no_other_image():
    x, w, b = layer((2, 1, 8, 8), (1, 1, 3, 3))
    x[0, 0, 7, 7] = np.nan
    y, _ = ops.conv2d_fft_forward(x, w, b)
    assert np.isnan(y[0]).all()
    assert not np.isnan(y[1]).any()


# ---------------------------------------------------------------------------------------------------------- Winograd


def test_the_matrices_are_winograds_for_whole_numbers():
    """F(T, 3) of polynomials: one row of T outputs of a mask of 3, exactly."""
    rng = np.random.default_rng(0)
    for T, (BT, G, AT) in MATRICES.items():
        BT, G, AT = (np.array(m, float) for m in (BT, G, AT))
        d, g = rng.integers(-4, 5, T + 2).astype(float), rng.integers(-4, 5, 3).astype(float)
        np.testing.assert_allclose(AT @ ((G @ g) * (BT @ d)), np.correlate(d, g), atol=1e-12)
        assert G.shape[0] ** 2 == {2: 16, 4: 36}[T]  # multiplications, for T^2 outputs of 9 each


def winograd_bound(x, w, pad, tile, dtype):
    """The module's bound: its formula with absolute values, times 4 sqrt(C + 12) roundings."""
    from course_lib.reference import winograd

    matrices = tuple(np.abs(np.array(m)) for m in MATRICES[tile])
    size = tuple(n - 2 + 2 * pad for n in x.shape[2:])
    absolute = winograd._tiled(np.abs(x).astype(np.float64), np.abs(w).astype(np.float64), matrices, (pad, pad), size)
    return 4 * np.sqrt(x.shape[1] + 12) * np.finfo(dtype).eps / 2 * absolute + 1e-300


@all_of("tile", [2, 4])
@all_of("dtype", [np.float32, np.float64])
@all_of(("x", "w", "pad"), [
    ((1, 1, 3, 3), (1, 1, 3, 3), 0), ((2, 3, 8, 7), (4, 3, 3, 3), 1), ((1, 2, 13, 6), (3, 2, 3, 3), 2),
    ((3, 16, 9, 9), (5, 16, 3, 3), 0),
])  # fmt: skip
def test_winograds_convolution_is_the_plain_one_within_its_bound(x, w, pad, tile, dtype):
    x, w, b = layer(x, w, dtype)
    y, cache = ops.conv2d_winograd_forward(x, w, b, pad, tile)
    dy = upstream(y)
    long = [a.astype(np.longdouble if dtype == np.float64 else np.float64) for a in (x, w, b, dy)]
    exact, _ = _plain(*long, 1, pad)
    assert y.dtype == dtype
    most = winograd_bound(x, w, pad, tile, dtype) + 4 * np.finfo(dtype).eps * np.abs(exact)
    np.testing.assert_array_less(np.abs(y - exact), most.astype(np.float64))
    for got, want in zip(ops.conv2d_winograd_backward(dy, cache), ops.conv2d_backward(dy, cache), strict=True):
        np.testing.assert_array_equal(got, want)


def test_larger_tiles_round_worse():
    x, w, _ = layer((4, 16, 18, 18), (8, 16, 3, 3), np.float32)
    exact, _ = ops.conv2d_forward(x.astype(np.float64), w.astype(np.float64))
    errors = [np.abs(ops.conv2d_winograd_forward(x, w, tile=t)[0] - exact).max() for t in (2, 4)]
    assert errors[0] < 1e-4
    assert 3 * errors[0] < errors[1] < 1e-3


@pytest.mark.parametrize("tile", [0, 3, 6, "2", 2.5, None])
def test_other_tiles_are_refused(tile):
    x, w, _ = layer((1, 1, 5, 5), (1, 1, 3, 3))
    with pytest.raises(ValueError, match=r"tile is .*2, 4"):
        ops.conv2d_winograd_forward(x, w, tile=tile)


def test_other_masks_are_refused():
    x, w, _ = layer((1, 1, 8, 8), (1, 1, 5, 3))
    with pytest.raises(ValueError, match=r"masks of \(5, 3\); they must be \(3, 3\)"):
        ops.conv2d_winograd_forward(x, w)
