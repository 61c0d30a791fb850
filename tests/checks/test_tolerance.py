"""The bound on rounding accepts every order of a sum and rejects a wrong one."""

import numpy as np
import pytest

from course_lib.checks import fft_tolerance, product_tolerance

SHAPES = [(1, 1, 1), (7, 13, 9), (17, 5, 33), (3, 2000, 4), (2, 40_000, 2)]


def matrices(shape, kind, seed=0):
    rng, (M, K, N) = np.random.default_rng(seed), shape
    draw = rng.standard_normal if kind == "normal" else rng.random  # positive numbers: sums that only grow
    return draw((M, K)).astype(np.float32), draw((K, N)).astype(np.float32)


def one_by_one(a, b, order):
    """a @ b in float32, one product after another."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in order:
        total += a[:, k, None] * b[k]
    return total


@pytest.mark.parametrize("kind", ["normal", "positive"])
@pytest.mark.parametrize("shape", SHAPES)
def test_float32_sums_in_any_order_are_accepted(shape, kind):
    a, b = matrices(shape, kind)
    exact, allowed = a.astype(np.float64) @ b.astype(np.float64), product_tolerance(a, b)
    K = shape[1]
    for order in (range(K), range(K - 1, -1, -1), np.random.default_rng(1).permutation(K)):
        np.testing.assert_array_less(np.abs(one_by_one(a, b, order) - exact), allowed)
    np.testing.assert_array_less(np.abs(a @ b - exact), allowed)


@pytest.mark.parametrize("shape", SHAPES[:-1])
def test_a_product_that_is_left_out_or_counted_twice_is_rejected(shape):
    a, b = (1 + m for m in matrices(shape, "positive", seed=2))
    right = a.astype(np.float64) @ b.astype(np.float64)
    for wrong in (right - np.outer(a[:, 0], b[0]), right + np.outer(a[:, -1], b[-1])):
        assert np.all(np.abs(wrong - right) > product_tolerance(a, b))


def test_rounding_as_coarse_as_float16_is_rejected():
    a, b = matrices((17, 50, 33), "normal")
    error = np.abs(a.astype(np.float16).astype(np.float64) @ b.astype(np.float16) - a.astype(np.float64) @ b)
    assert np.mean(error > product_tolerance(a, b)) > 0.9


def test_the_formula_by_hand():
    a, b = np.array([[1.0, -2.0, 3.0, 0.0]]), np.array([[1.0], [1.0], [-1.0], [7.0]])
    assert product_tolerance(a, b).tolist() == [[4 * 2 * 2.0**-24 * 6]]
    assert product_tolerance(a, b, np.float64).tolist() == [[4 * 2 * 2.0**-53 * 6]]
    assert product_tolerance(a.astype(np.float32), b).dtype == np.float64


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((np.ones((2, 3)), np.ones((2, 3))), ValueError, r"a.shape\[1\] must equal b.shape\[0\].*b.T"),
        ((np.ones(3), np.ones((3, 2))), ValueError, "it must have 2"),
        ((np.ones((2, 0)), np.ones((0, 2))), ValueError, "at least 1 row"),
        ((np.ones((2, 3)), np.ones((3, 2)), np.float16), TypeError, "dtype is float16"),
        ((np.ones((2, 3), complex), np.ones((3, 2))), TypeError, "a has dtype complex128"),
    ],
)
def test_what_is_no_product_is_refused(args, error, message):
    with pytest.raises(error, match=message):
        product_tolerance(*args)


@pytest.mark.parametrize(("points", "image", "mask"), [(16, 12, 5), (64, 50, 15), (4096, 4000, 97)])
@pytest.mark.parametrize("kind", ["normal", "positive", "one number"])
def test_a_correlation_by_transforms_is_accepted_and_one_without_a_product_rejected(points, image, mask, kind):
    x, w = np.zeros(points, np.float32), np.zeros(points, np.float32)
    rng = np.random.default_rng(0)
    draw = {"normal": rng.standard_normal, "positive": rng.random, "one number": lambda n: 1e3 * (np.arange(n) == 3)}
    x[:image], w[:mask] = draw[kind](image), 1 + rng.random(mask)
    got = np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(w).conj(), points)
    exact = np.correlate(x[:image].astype(float), w[:mask].astype(float))
    allowed = fft_tolerance(np.linalg.norm(x) * np.linalg.norm(w), points)
    assert np.abs(got[: len(exact)] - exact).max() < allowed
    largest = np.abs(x).max() * w[0]
    assert largest > allowed  # a product that is left out is seen


def test_the_formula_for_transforms_by_hand():
    assert fft_tolerance(np.array([2.0, 0.0]), 256, 9).tolist() == [2 * 2.0**-24 * (3 * 8 + 4 * 3), 0]
    assert float(fft_tolerance(1.0, 2, dtype=np.float64)) == 2.0**-53 * 7


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [((1.0, 1), ValueError, "points is 1"), ((1.0, 4.0), TypeError, "points"), ((1.0, 4, 0), ValueError, "terms is 0"),
     ((1.0, 4, 1, np.float16), TypeError, "dtype is float16"), ((1j, 4), TypeError, "norms has dtype complex128")],
)  # fmt: skip
def test_what_is_no_transform_is_refused(args, error, message):
    with pytest.raises(error, match=message):
        fft_tolerance(*args)
