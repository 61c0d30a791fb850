"""The gradient of several maps counts as the reference does; a mask learns with the reference's own gradient."""

import numpy as np
import pytest

from course_lib import figures
from course_lib import reference as ops
from course_lib.figures.learned_mask import learned_masks, mask_learning
from course_lib.figures.map_gradients import lines_of, map_gradients
from tests.figures.pages import read_svg, svg_texts

SHAPES = [
    ((2, 2, 3, 3), (3, 2, 2, 2)),
    ((1, 1, 1, 1), (1, 1, 1, 1)),
    ((3, 1, 2, 4), (2, 1, 1, 3)),
    ((1, 3, 4, 2), (2, 3, 3, 2)),
]


def sample(x_shape, w_shape, seed=0):
    rng = np.random.default_rng(seed)
    out = [n - k + 1 for n, k in zip(x_shape[2:], w_shape[2:], strict=True)]
    shapes = x_shape, w_shape, (x_shape[0], w_shape[0], *out)
    return [rng.integers(-4, 5, shape).astype(float) for shape in shapes]


@pytest.mark.parametrize(("x_shape", "w_shape"), SHAPES)
def test_the_sum_of_every_number_is_the_references(x_shape, w_shape):
    x, w, dy = sample(x_shape, w_shape)
    maps = map_gradients(x, w, dy)
    y, cache = ops.conv2d_forward_loops(x, w)
    dx, dw, _ = ops.conv2d_backward_loops(dy, cache)
    for kind, right in (("x", dx), ("w", dw), ("dy", y)):
        for place in np.ndindex(right.shape):
            assert sum(maps.sums(kind, place).values()) == right[place], (kind, place)


@pytest.mark.parametrize(("x_shape", "w_shape"), SHAPES)
def test_parts_of_a_sum_are_those_of_one_map_or_image(x_shape, w_shape):
    x, w, dy = sample(x_shape, w_shape, seed=1)
    maps = map_gradients(x, w, dy)
    for m in range(w_shape[0]):
        dx = ops.conv2d_backward_loops(dy[:, m : m + 1], ops.conv2d_forward_loops(x, w[m : m + 1])[1])[0]
        for place in np.ndindex(x.shape):
            assert maps.sums("x", place).get(m, 0) == dx[place]
    for n in range(x_shape[0]):
        dw = ops.conv2d_backward_loops(dy[n : n + 1], ops.conv2d_forward_loops(x[n : n + 1], w)[1])[1]
        for place in np.ndindex(w.shape):
            assert maps.sums("w", place)[n] == dw[place]


def test_written_lines_can_be_computed_and_give_the_parts():
    x, w, dy = sample(*SHAPES[0], seed=2)
    maps = map_gradients(x, w, dy)
    for kind, place in (("x", (1, 1, 1, 1)), ("x", (0, 0, 0, 0)), ("w", (2, 1, 1, 0)), ("dy", (1, 2, 0, 1))):
        lines = lines_of(maps, kind, place)
        assert [eval(products.replace("·", "*").replace("\N{MINUS SIGN}", "-")) for _, products, _ in lines] == list(
            maps.sums(kind, place).values()
        )


def test_the_static_picture_states_the_sum_and_marks_pairs_with_letters():
    x, w, dy = sample(*SHAPES[0])
    figure = figures.gradient_explorer(x, w, dy, kind="w", at=(1, 0, 0, 1))
    dw = ops.conv2d_backward(dy, ops.conv2d_forward(x, w)[1])[1]
    total = f"{dw[1, 0, 0, 1]:.3g}".replace("-", "\N{MINUS SIGN}")
    assert f" = {total}: 8 products, added up for each image, then over all." in figure.static.alt
    assert figure.static.drawn[0] == 400
    letters = [text for text in svg_texts(read_svg(figure.static.src)) if text in tuple("abcdefghij")]
    assert sorted(letters) == sorted(2 * "abcdefgh")


def test_products_beyond_the_alphabet_are_marked_alike():
    x, w, dy = sample((1, 7, 2, 2), (1, 7, 2, 2))
    figure = figures.gradient_explorer(x, w, dy, kind="dy", at=(0, 0, 0, 0))
    assert svg_texts(read_svg(figure.static.src)).count("·") == 4


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 2, 3), (3, 2, 2, 2), (2, 3, 2, 2)), r"x is \(2, 2, 3\); it must have 4 axes"),
        (((2, 2, 3, 3), (3, 1, 2, 2), (2, 3, 2, 2)), r"w.shape\[1\] must equal x.shape\[1\]"),
        (((2, 2, 3, 3), (3, 2, 2, 2), (2, 3, 3, 3)), r"dy must be \(2, 3, 2, 2\); it is \(2, 3, 3, 3\)"),
        (((2, 2, 5, 5), (3, 2, 2, 2), (2, 3, 4, 4)), r"at most|from 1 to 64 numbers"),
        (((1, 1, 2, 2), (1, 1, 3, 3), (1, 1, 1, 1)), r"so dy must be \(1, 1, 0, 0\)"),
    ],
)
def test_arrays_that_fit_no_convolution_are_refused(shapes, message):
    with pytest.raises(ValueError, match=message):
        figures.gradient_explorer(*(np.ones(shape) for shape in shapes))


def test_other_bad_input_is_refused():
    x, w, dy = sample(*SHAPES[0])
    with pytest.raises(ValueError, match="all numbers must be finite"):
        map_gradients(x * np.nan, w, dy)
    with pytest.raises(ValueError, match="choose in 'x', 'w' or 'dy'"):
        figures.gradient_explorer(x, w, dy, kind="y")
    for at in ((0, 0, 3, 0), (0, 0, 0), (0, 0, -1, 0)):
        with pytest.raises(ValueError, match="has 4 indices"):
            figures.gradient_explorer(x, w, dy, at=at)


def test_a_mask_learns_by_the_measured_slope_and_its_error_falls():
    rng = np.random.default_rng(0)
    images, wanted, start = rng.random((3, 6, 5)), rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    states = learned_masks(images, wanted, start, lr=0.5, steps=(0, 1, 50))
    np.testing.assert_array_equal(states[0][1], start)

    def error(mask):
        made, right = (ops.conv2d_forward(images[:, None], m[None, None])[0] for m in (mask, wanted))
        return np.mean((made - right) ** 2) / 2

    assert states[0][2] == pytest.approx(error(start))
    slope = [(error(start + h) - error(start - h)) / 2e-6 for h in 1e-6 * np.eye(6).reshape(6, 2, 3)]
    np.testing.assert_allclose(states[1][1], start - 0.5 * np.reshape(slope, (2, 3)), rtol=1e-6)
    assert states[2][2] < states[1][2] < states[0][2]
    steps = mask_learning(images, wanted, start, lr=0.5, steps=(0, 1, 50))
    assert [frame.caption.split(":")[0] for frame in steps.frames] == [
        "Before the first step", "After 1 step", "After 50 steps",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="both masks must have one shape"):
        learned_masks(images, wanted, start[:1])
