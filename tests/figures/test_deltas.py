"""The network of lesson 04 with its numbers: Python's side, the static picture, and what it refuses."""

from urllib.parse import unquote

import numpy as np
import pytest

from course_lib import checks, figures
from course_lib import reference as ops
from course_lib.figures.deltas import delta_values

X, Y = np.array([0.5, 0.9, -0.3]), np.array([0.9, 0.1])
W = np.array([[1, 2, 1], [-2, 1, -1], [2, -4, 0]], dtype=float)
W2 = np.array([[-3, 0], [1, 1], [-3, 2]], dtype=float)


@pytest.mark.parametrize("sizes", [(3, 3, 2), (1, 1, 1), (2, 3, 1)])
def test_the_gradients_are_the_measured_ones(sizes):
    rng = np.random.default_rng(0)
    d, m, c = sizes
    x, w, w2, y = rng.normal(size=d), rng.normal(size=(d, m)), rng.normal(size=(m, c)), rng.uniform(size=c)

    def loss(w, w2):
        return 0.5 * np.sum((ops.sigmoid(ops.sigmoid(x @ w) @ w2) - y) ** 2)

    v = delta_values(x, w, w2, y)
    assert v["J"] == pytest.approx(loss(w, w2), rel=1e-12)
    np.testing.assert_allclose(v["dw"], checks.numerical_gradient(lambda u: loss(u, w2), w), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(v["dw2"], checks.numerical_gradient(lambda u: loss(w, u), w2), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(v["dw"], np.outer(x, v["delta_z"]), rtol=1e-12)


def test_the_static_picture_has_every_value_delta_and_gradient():
    figure = figures.delta_explorer(X, W, W2, Y)
    text, v = unquote(figure.static.src), delta_values(X, W, W2, Y)
    for number, digits in [(n, 2) for n in (*X, *v["a"], *v["o"])] + [
        (n, 4) for name in ("delta_g", "delta_z", "dw", "dw2") for n in v[name].ravel()
    ]:
        assert f">{number:.{digits}f}<".replace("-", "−").replace("−0.0000", "0.0000") in text
    assert "that is −0.0163" in figure.static.alt
    assert "J = 0.4372" in figure.static.caption
    assert figure.static.drawn[0] <= 400
    assert figure.html == figures.delta_explorer(X, W, W2, Y).html, "the same bytes"


@pytest.mark.parametrize(
    ("args", "more", "says"),
    [
        ((X, W, W2.T, Y), {}, r"w2 is \(2, 3\).*w2\.T"),
        ((X[:2], W, W2, Y), {}, r"w is \(3, 3\)"),
        ((np.ones(4), np.ones((4, 3)), W2, Y), {}, "1 to 3 each"),
        ((X, W, W2, Y), {"chosen": (1, 0, 2)}, r"chosen is \(1, 0, 2\)"),
        ((X, W, W2, Y), {"chosen": (2, 0, 0)}, "layer 0 or 1"),
        ((np.array([0.5, np.nan, 0]), W, W2, Y), {}, "x"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(args, more, says):
    with pytest.raises(ValueError, match=says):
        figures.delta_explorer(*args, **more)
