"""Lesson 07: what must come out, in the library, in the lesson's own numbers and on its page."""

from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops
from course_lib.figures import convolution, convolution_matrix

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "07_convolution"


@pytest.fixture(scope="module")
def lesson():
    """The names that the lesson's script leaves behind; cells that raise on purpose are left out."""
    source = (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8")
    first, *cells = source.split("\n# %%")
    kept = [c for c in cells if "raises-exception" not in c.splitlines()[0]]
    namespace = {"__name__": "lesson"}
    exec(compile("\n# %%".join([first, *kept]), f"{NAME}.py", "exec"), namespace)
    return namespace


@pytest.fixture(scope="module")
def notebook():
    return nbformat.read(NOTEBOOKS / f"{NAME}.ipynb", as_version=4)


def test_a_dense_layer_on_250_by_250_has_3_9_billion_weights(printed):
    assert (250**2, 250**4) == (62_500, 3_906_250_000)
    assert "62,500 weights per node, 3,906,250,000 in all" in printed


def test_it_takes_both_rules(lesson, printed):
    local = (5 * 250 - 6) ** 2  # along one axis two rows of the mask hang over at the edge and one beside it, twice
    assert lesson["covered"].sum() == local == 1_547_536
    assert 499**2 == 249_001
    assert "1,547,536 weights, 0.04%" in printed
    assert "249,001 weights" in printed


def test_a_mask_of_499_covers_every_pixel_from_every_place():
    """Shared alone: with the size scaled down from 250 to 5, a mask of 2 * 5 - 1 leaves no zero in the matrix."""
    assert (convolution_matrix.as_matrix((9, 9), (5, 5), pad=4) > 0).all()
    assert not (convolution_matrix.as_matrix((7, 7), (5, 5), pad=3) > 0).all()


def test_output_6_has_the_nine_terms_of_the_slide(lesson, printed):
    slide = "A1 I1 + A2 I2 + A3 I3 + A4 I5 + A5 I6 + A6 I7 + A7 I9 + A8 I10 + A9 I11"
    assert lesson["terms"](6) == slide
    assert f"O6 = {slide}" in printed


@pytest.mark.parametrize("output", range(1, 17))
def test_the_terms_of_every_output_are_those_of_the_library(lesson, output):
    rng = np.random.default_rng(output)
    pixels, weights = rng.integers(-9, 9, 16), rng.integers(-9, 9, 9)
    y, _ = ops.conv2d_forward(pixels.reshape(1, 1, 4, 4), weights.reshape(1, 1, 3, 3), pad=1)
    products = [term.replace("A", "").replace("I", "").split() for term in lesson["terms"](output).split("+")]
    assert y.ravel()[output - 1] == sum(weights[int(a) - 1] * pixels[int(i) - 1] for a, i in products)


def test_the_numbers_worked_by_hand(lesson, printed):
    image, edge = lesson["image"], lesson["edge"]
    y, _ = ops.conv2d_forward(image[None, None], edge[None, None], pad=1)
    assert y[0, 0, 1, 1] == (0 * 1 + 0 * 2 + 1 * 1) - (1 * 1 + 2 * 2 + 0 * 1) == -4
    assert "output 6: -4" in printed
    assert lesson["x3"].shape == (3, 3, 3)
    assert lesson["w3"].shape == (3, 2, 2)
    np.testing.assert_array_equal(lesson["y3"][0, 0], [[5, 9], [4, 3]])
    assert "[[5. 9.]\n [4. 3.]]" in printed
    assert "[3.0, -2.0, 0.0]" in printed


def test_the_image_is_the_channel_of_the_lecture(lesson):
    np.testing.assert_array_equal(lesson["image"], [[0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 1, 3, 3), (2, 3, 7, 5), (1, 2, 6, 9)])
def test_the_lessons_loops_and_windows_are_the_library(lesson, shape, stride):
    rng = np.random.default_rng(0)
    x, w = rng.integers(-4, 5, shape), rng.integers(-4, 5, (3, shape[1], 3, 2))
    y, _ = ops.conv2d_forward(x, w, stride=stride)
    np.testing.assert_array_equal(lesson["conv_loops"](x, w, stride), y)
    np.testing.assert_array_equal(lesson["conv_windows"](x, w, stride), y)


def test_weights_do_not_depend_on_the_size_of_the_image():
    w = np.ones((6, 3, 5, 5))
    for size in (28, 250):
        assert ops.conv2d_forward(np.ones((2, 3, size, size)), w)[0].shape == (2, 6, size - 4, size - 4)


def test_all_six_inputs_of_the_table_are_run(lesson, printed):
    assert sorted(len(shape) - 2 for shape in lesson["inputs"].values()) == [1, 1, 2, 2, 3, 3]
    assert sorted(shape[1] > 1 for shape in lesson["inputs"].values()) == [False] * 3 + [True] * 3
    assert "colour film   x (1, 3, 12, 16, 16)" in printed


def test_the_four_sizes_of_the_page(printed):
    assert [ops.output_size(28, 5), ops.output_size(28, 5, pad=2), ops.output_size(28, 4, 2, 1)] == [24, 28, 14]
    assert printed.count("H_out = ") == 4
    assert ops.output_size(32, 5) == 28


def test_the_edges_of_the_explorer_are_seen_as_often_as_the_page_says():
    assert convolution.visits(8, 3)[0, 0] == 1
    assert convolution.visits(8, 3)[4, 4] == 9
    assert convolution.visits(8, 3, pad=1)[1, 1] == 4


def test_the_three_tasks_of_the_explorer_have_solutions():
    assert not convolution.never_seen(8, 5, 3).any()
    assert ops.unseen(8, 5, 3) == 0
    assert ops.unseen(8, 3, 2, 1) > 0
    assert not convolution.never_seen(8, 3, 2, 1).any()
    assert convolution.never_seen(8, 2, 3)[2].all()


def test_the_matrix_has_64_cells_36_filled_with_9_weights_and_is_a_dense_layer(lesson, printed):
    T = lesson["T"]
    assert T.shape == (4, 16)
    np.testing.assert_array_equal(T, np.concatenate([[0], lesson["edge"].ravel()])[lesson["named"]])
    assert (lesson["named"].size, np.count_nonzero(lesson["named"]), lesson["named"].max()) == (64, 36, 9)
    np.testing.assert_array_equal(lesson["dense"].ravel(), T @ lesson["image"].ravel())
    assert "cells 64  with a weight 36  different weights 9" in printed


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_a_convolution_moves_with_its_input_exactly(lesson, shift):
    rng = np.random.default_rng(0)
    x, w = np.zeros((1, 2, 9, 12)), rng.integers(-4, 5, (3, 2, 3, 3))
    x[..., 1:8] = rng.integers(-4, 5, (1, 2, 9, 7))
    y, _ = ops.conv2d_forward(x, w, pad=1)
    moved, _ = ops.conv2d_forward(np.roll(x, shift, axis=-1), w, pad=1)
    np.testing.assert_array_equal(moved[..., shift:], y[..., :-shift])


def test_moving_loses_no_ink_of_the_digits_that_are_used(lesson):
    test = lesson["test"]
    assert len(test) == 935
    moved = lesson["move"](test, 3)
    np.testing.assert_array_equal(moved[:, :, 3:], test[:, :, :25])
    assert not moved[:, :, :3].any()


def test_the_dense_network_collapses_and_the_convolution_does_not(lesson):
    dense, conv = lesson["dense_right"], lesson["conv_right"]
    assert dense[0] >= 0.9
    assert dense[0] > dense[1] > dense[2] > dense[3]
    assert 1.5 <= (1 - dense[1]) / (1 - dense[0]) <= 2.5  # the page: nearly doubles the errors
    assert all(0.13 <= dense[s] - dense[s + 1] <= 0.27 for s in (1, 2))  # the page: about twenty in a hundred each
    assert 0.35 <= dense[3] <= 0.6
    assert min(conv) >= 0.85
    assert np.ptp(conv) <= 0.003
    assert 0.88 <= conv[0] <= 0.93  # the page: about nine of ten
    assert dense[0] > conv[0]  # the page: forgetting the place costs something


def test_with_stride_2_only_even_shifts_give_a_shifted_map(lesson):
    x = np.zeros((1, 1, 9, 16))
    x[..., 2:9] = np.random.default_rng(0).integers(-4, 5, (1, 1, 9, 7))
    mask = lesson["edge"][None, None]
    y = ops.conv2d_forward(x, mask, stride=2)[0]
    by_two, by_one = (ops.conv2d_forward(np.roll(x, s, axis=-1), mask, stride=2)[0] for s in (2, 1))
    np.testing.assert_array_equal(by_two[..., 1:], y[..., :-1])
    assert not any(np.array_equal(by_one, np.roll(y, s, axis=-1)) for s in range(y.shape[-1]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_seeds_collapse_too(lesson, seed):
    digits, rng = lesson["digits"], np.random.default_rng(seed)
    net = nn.models.mlp((784, 64, 10), rng=rng)
    nn.train(net, (digits.x_train, digits.y_train), epochs=5, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
    shown = [lesson["move"](lesson["test"], s).reshape(-1, 784) for s in (0, 3)]
    right = [nn.accuracy(net.predict(images), lesson["labels"]) for images in shown]
    assert right[0] >= 0.9
    assert right[1] <= 0.6


def test_the_bar_in_the_last_column_is_unseen_until_there_is_padding(lesson, printed):
    assert not lesson["blind"].any()
    assert "bar in column 6: strongest answer 4" in printed
    assert "bar in column 7: strongest answer 0" in printed
    assert ops.unseen(8, 3, 2) == 1
    assert lesson["lost"].sum() == 15
    assert lesson["lost"][:, 7].all()
    assert lesson["lost"][7].all()
    assert lesson["right"].any()
    assert "pixels unseen: 15 of 64" in printed


def test_erratum_7_the_slide_promises_half_a_row(printed):
    assert ops.output_size(8, 3, stride=2) == 3
    assert "the slide's formula: 3.5  the library: 3" in printed
    with pytest.raises(ValueError, match="it fits nowhere"):
        ops.output_size(4, 7, pad=1)


def test_erratum_4_one_name_and_where_counting_starts(lesson, notebook, printed):
    with pytest.raises(SyntaxError):  # the page: no compiler accepts two parameters of one name
        compile("def conv_layer(X, H, W, W): ...", "listing", "exec")
    assert any("two parameters called `W`" in " ".join(cell.source.split()) for cell in notebook.cells)
    assert (lesson["from_zero"], lesson["skipping"]) == (5, 6)
    assert "from 0: 5.0  from 1, one row and column too far: 6.0" in printed
    errors = [o.ename for c in notebook.cells if c.cell_type == "code" for o in c.outputs if o.output_type == "error"]
    assert errors == ["ValueError"]


def test_answers_of_check_yourself():
    layer = nn.Conv2d(3, 10, 5, rng=np.random.default_rng(0))
    assert sum(p.size for p in layer.params.values()) == 760
    assert ops.output_size(11, 4, 3) == 3
    assert list(np.flatnonzero(convolution.never_seen(11, 4, 3).all(axis=0))) == [10]
    assert ops.output_size(11, 4, 3, 1) == 4
    assert ops.unseen(11, 4, 3, 1) == 0
    assert not convolution.never_seen(11, 4, 3, 1).any()
