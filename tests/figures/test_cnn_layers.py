"""Figures of lesson 08: the numbers drawn are the library's, on all kinds of sizes."""

import re
from urllib.parse import unquote

import numpy as np
import pytest

from course_lib import reference as ops
from course_lib.figures import cnn_layers, style

from .pages import read_svg, svg_texts


def sample(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(-4, 9, size=s).astype(float) for s in shapes]


@pytest.mark.parametrize(
    ("shape", "mask"), [((3, 3), (2, 2)), ((1, 1), (1, 1)), ((2, 4), (3, 2)), ((4, 1), (1, 3)), ((2, 2), (3, 3))]
)
def test_the_full_convolution_is_the_gradient_of_the_input(shape, mask):
    dy, w = sample(shape, mask)
    size = tuple(n + k - 1 for n, k in zip(shape, mask, strict=True))
    _, cache = ops.conv2d_forward(np.ones((1, 1, *size)), w[None, None])
    expected = ops.conv2d_backward_loops(dy[None, None], cache)[0][0, 0]
    np.testing.assert_array_equal(cnn_layers.full_convolution(dy, w), expected)


@pytest.mark.parametrize(("shape", "mask"), [((3, 3), (2, 2)), ((1, 2), (2, 1)), ((2, 2), (3, 2))])
def test_there_is_a_frame_for_each_pixel_of_one_size_with_its_sum(shape, mask):
    dy, w = sample(shape, mask)
    frames, dx = cnn_layers.full_convolution_frames(dy, w), cnn_layers.full_convolution(dy, w)
    assert len(frames) == dx.size
    assert len({(f.width, f.height) for f in frames}) == 1
    assert frames[0].width <= 840
    for frame, (h, v) in zip(frames, np.ndindex(dx.shape), strict=True):
        assert f"dx[{h}, {v}] is " in frame.alt
        assert f" = {dx[h, v]:g};" in frame.alt


def test_products_of_a_frame_are_those_on_dy_and_add_up_to_the_pixel():
    dy, w = sample((3, 3), (2, 2), seed=1)
    frames = cnn_layers.full_convolution_frames(dy, w)
    counts = []
    for frame in frames:
        products, total = frame.alt.split(" is ")[1].split(";")[0].split(" = ")
        terms = [np.prod([float(f) for f in term.split("·")]) for term in products.split(" + ")]
        assert sum(terms) == float(total)
        counts.append(len(terms))
    expected = ops.col2im(np.ones((1, 4, 9)), (1, 1, 4, 4), 2)[0, 0]
    np.testing.assert_array_equal(np.reshape(counts, (4, 4)), expected)


def test_a_frame_shows_the_flipped_mask_in_the_window():
    dy, w = np.full((3, 3), 7.0), np.array([[1.0, 2], [3, 4]])
    texts = svg_texts(read_svg(cnn_layers.full_convolution_frames(dy, w)[5].src))
    assert [t for t in texts if t.startswith("×")] == ["× 4", "× 3", "× 2", "× 1"]


def test_frames_hide_what_is_not_computed_yet():
    dy, w = sample((3, 3), (2, 2))
    dashed = [f.src.count("stroke-dasharray") for f in cnn_layers.full_convolution_frames(dy, w)]
    assert dashed == sorted(dashed, reverse=True)
    assert dashed[0] - dashed[-1] == 15


def test_the_stepper_stands_still_at_an_inner_pixel():
    dy, w = sample((3, 3), (2, 2))
    steps = cnn_layers.full_convolution_stepper(dy, w)
    assert "dx[1, 1]" in steps.frames[steps.static].alt
    assert len(steps.html) < 400_000


@pytest.mark.parametrize(("shape", "size"), [((4, 4), (3, 3)), ((3, 5), (2, 2)), ((2, 2), (2, 2)), ((4, 1), (2, 1))])
def test_there_is_a_frame_for_each_weight_and_it_ends_with_its_gradient(shape, size):
    x, dy = sample(shape, size)
    mask = tuple(n - k + 1 for n, k in zip(shape, size, strict=True))
    _, cache = ops.conv2d_forward(x[None, None], np.ones((1, 1, *mask)))
    dw = ops.conv2d_backward_loops(dy[None, None], cache)[1][0, 0]
    frames = cnn_layers.weight_gradient_frames(x, dy)
    assert len(frames) == dw.size
    assert len({f.height for f in frames}) == 1
    for frame, (p, q) in zip(frames, np.ndindex(mask), strict=True):
        head = " ".join(svg_texts(read_svg(frame.src))[: len(dy)]).replace("\N{MINUS SIGN}", "-")
        name, terms, total = head.split(" = ")
        assert name == f"dw[{p}, {q}]"
        assert float(total) == dw[p, q] == eval(terms.replace("·", "*"))
        assert frame.alt.endswith(f"dw[{p}, {q}] = {dw[p, q]:g}.")


def test_all_frames_of_the_lessons_example_have_one_size():
    x, dy = np.arange(16.0).reshape(4, 4), np.ones((3, 3))
    w = np.ones((2, 2))
    for steps in (
        cnn_layers.weight_gradient_stepper(x, dy),
        cnn_layers.full_convolution_stepper(dy, w),
        cnn_layers.unrolled_stepper(x, (2, 2)),
    ):
        assert len({(f.width, f.height) for f in steps.frames}) == 1
        assert steps.frames[0].drawn[0] <= 412, "a phone would make its text smaller than can be read"


@pytest.mark.parametrize("pixel", list(np.ndindex(3, 3)))
def test_only_the_copies_of_the_chosen_pixel_are_shaded(pixel):
    copies = int(ops.col2im(np.ones((1, 4, 4)), (1, 1, 3, 3), 2)[0, 0][pixel])
    drawn = cnn_layers.unrolled(np.arange(9.0).reshape(3, 3), (2, 2), pixel).to_svg()
    assert drawn.count(f"fill='{style.tint('gradient', 0.35)}'") == copies + 1


@pytest.mark.parametrize("pixel", list(np.ndindex(4, 4)))
def test_the_unrolled_picture_counts_the_copies_of_every_pixel(pixel):
    x = np.arange(16.0).reshape(4, 4)
    copies = int(ops.col2im(np.ones((1, 4, 9)), (1, 1, 4, 4), 2)[0, 0][pixel])
    picture = cnn_layers.unrolled_picture(x, (2, 2), pixel)
    assert f"stands in {copies} column" in picture.alt
    # The pixel itself and its copies are framed.
    assert unquote(picture.src).count("stroke-width='3.5'") == copies + 1


@pytest.mark.parametrize(("shape", "mask"), [((4, 4), (2, 2)), ((3, 5), (2, 3)), ((2, 2), (2, 2)), ((3, 3), (1, 1))])
def test_every_cell_of_the_unrolled_picture_names_its_source(shape, mask):
    (x,) = sample(shape, seed=2)
    source = cnn_layers.source_pixels(shape, mask)
    np.testing.assert_array_equal(x.ravel()[source], ops.im2col(x[None, None], mask)[0])
    texts = svg_texts(read_svg(cnn_layers.unrolled_picture(x, mask, (0, 0)).src))
    for pixel, (row, column) in enumerate(np.ndindex(shape)):
        assert texts.count(f"({row},{column})") == 1 + np.sum(source == pixel)


@pytest.mark.parametrize(("shape", "size", "stride"), [((2, 4), 2, 2), ((4, 4), 2, 2), ((3, 4), 2, 1), ((3, 3), 3, 3)])
def test_pooling_routes_draw_winners_places_and_gradients(shape, size, stride):
    (x,) = sample(shape, seed=3)
    y, cache = ops.max_pool_forward(x[None, None], size, stride)
    dy = np.arange(10.0, 10 + y.size).reshape(y.shape[2:])
    svg = cnn_layers.pooling_routes(x, dy, size, stride).to_svg()
    winners = len(np.unique(cache[1]))
    rows = {float(y) for y in re.findall(r"<rect x='8(?:\.0)?' y='([\d.]+)' width='34' height='28'", svg)}
    assert len(rows) == 2 * shape[0]
    assert np.diff(sorted(rows)).min() >= 28, "x and dx stand apart"
    assert float(re.search(r"width='([\d.]+)'", svg).group(1)) <= 412, "a phone shows its text in full size"
    assert svg.count("stroke-width='2.5'") == 2 * winners
    for name, values in (("x", x), ("dx", x), ("y", dy), ("place", dy), ("dy", dy)):
        assert f"<tspan font-weight='bold'>{name}</tspan> {values.shape}" in svg


@pytest.mark.parametrize("counts", [np.ones((1, 1)), np.arange(12).reshape(3, 4), np.full((32, 32), 25)])
def test_the_map_of_copies_shows_its_numbers(counts):
    fig = cnn_layers.copies(counts, title="copies")
    np.testing.assert_array_equal(fig.axes[0].images[0].get_array(), counts)
    assert f"{counts[0, 0]:g}" in [t.get_text() for t in fig.axes[0].texts]
