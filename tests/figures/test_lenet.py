"""Figures of lesson 09: what is drawn is what the networks hold and compute."""

import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops
from course_lib.figures import lenet, picture
from course_lib.figures.network_layers import network_layers

from .pages import read_svg, svg_texts


def build(classic=False):
    return nn.models.lenet5(rng=np.random.default_rng(0), classic=classic)


@pytest.mark.parametrize(("classic", "parameters", "work"), [(False, 61_706, 416_520), (True, 60_000, 328_096)])
def test_named_costs_leave_nothing_out(classic, parameters, work):
    costs = lenet.named_costs(build(classic))
    assert tuple(costs) == lenet.NAMES
    assert sum(c.trainable for c in costs.values()) == parameters
    assert sum(c.multiply_adds for c in costs.values()) == work


def test_any_activation_belongs_to_the_layer_before_it():
    nets = (nn.models.lenet5(rng=np.random.default_rng(0), classic=True, scaled=s) for s in (False, True))
    plain, scaled = (lenet.named_costs(net) for net in nets)
    assert {n: (c.trainable, c.multiply_adds) for n, c in plain.items()} == {
        n: (c.trainable, c.multiply_adds) for n, c in scaled.items()
    }


def test_another_network_is_refused():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        lenet.named_costs(nn.models.cnn_color(rng=np.random.default_rng(0)), (3, 32, 32))


def test_the_rows_show_each_layers_shape_and_what_makes_it():
    texts = svg_texts(read_svg(picture(lenet.layer_rows(build()), alt="the layers from top to bottom").src))
    for told in ("1@32", "6@28", "6@14", "16@10", "16@5", "120@1", "84", "10", *lenet.NAMES):
        assert told in texts
    for was, now in lenet.MADE.values():
        assert {*was, *now} <= set(texts)
    assert tuple(lenet.MADE) == lenet.NAMES


@pytest.mark.parametrize(("size", "blocks", "reach"), [(32, 10, 20), (28, 8, 16), (14, 1, 2)])
def test_middles_of_c3s_windows_are_blocks_of_two_side_by_side(size, blocks, reach):
    starts = lenet.middle_blocks(size)
    assert len(starts) == blocks
    assert starts[-1] + 2 - starts[0] == reach
    assert starts[0] == 14 // 2 - 1
    assert np.all(np.diff(starts) == 2), "no gap between them"


def test_an_image_smaller_than_a_window_has_no_middles():
    with pytest.raises(ValueError, match="size is 13"):
        lenet.middle_blocks(13)


def test_c3s_field_is_what_the_network_says():
    layers = network_layers(build(), (1, 32, 32), lenet.NAMES)
    assert layers[3].seen[2:] == lenet.C3_FIELD.size == (14, 14)
    assert lenet.C3_FIELD.step == (2, 2)


def test_both_panels_name_how_far_the_middles_reach():
    fig = lenet.window_middles(np.zeros((28, 28)))
    assert [ax.get_xlabel() for ax in fig.axes] == ["middles: 20 × 20", "middles: 16 × 16"]
    assert [len(ax.patches) for ax in fig.axes] == [100 + 3, 64 + 3]


@pytest.mark.parametrize("n", [1, 2, 4])
def test_pictures_stand_in_rows_with_their_titles(n):
    images = np.random.default_rng(0).random((n, 5, 4))
    fig = lenet.pictures(images, [f"title {k}" for k in range(n)], cols=2)
    for k in range(n):
        np.testing.assert_array_equal(fig.axes[k].images[0].get_array(), images[k])
        assert fig.axes[k].get_title(loc="center") == f"title {k}"


@pytest.mark.parametrize("table", [nn.models.c3_table(), np.eye(3, dtype=bool), np.ones((2, 5), dtype=bool)])
def test_the_table_has_a_filled_cell_for_each_connection_and_its_sums(table):
    svg = lenet.connections(table).to_svg()
    assert svg.count("rx='4'") == table.sum()
    texts = [t for t in svg_texts(read_svg(picture(svg, alt="the connections of a table").src)) if t.isdigit()]
    numbers = [*range(len(table)), *table.sum(axis=1), *range(table.shape[1])]
    assert sorted(map(int, texts)) == sorted(numbers)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_digits_are_read_from_the_nearest_prototype(n):
    prototypes = ops.digit_prototypes()
    features = 0.9 * prototypes[np.arange(n) % 10]
    fig = lenet.read_by_distance(np.zeros((n, 32, 32)), features, prototypes)
    labels = [ax.get_xlabel() for ax in fig.axes if ax.get_xlabel()]
    assert labels == [f"{i}\n{84 * 0.01:.0f}" for i in range(n)]
    assert [text.get_text() for text in fig.axes[2 * n].texts] == ["answer\ndistance"]
    np.testing.assert_allclose(fig.axes[n].images[0].get_array(), features[0].reshape(12, 7))


def test_a_cross_marks_a_digit_that_was_read_wrongly():
    prototypes = ops.digit_prototypes()
    fig = lenet.read_by_distance(np.zeros((2, 32, 32)), prototypes[[4, 6]], prototypes, labels=[4, 5])
    assert [ax.get_xlabel() for ax in fig.axes if ax.get_xlabel()] == ["4\n0", "\N{BALLOT X} 6\n0"]


@pytest.mark.parametrize("n", [1, 5, 7])
def test_shapes_name_every_answer_and_the_right_name_of_a_wrong_one(n):
    images = np.random.default_rng(0).random((n, 3, 32, 32))
    labels, names = np.arange(n), [f"name {k}" for k in range(n + 1)]
    answers = labels + (labels % 2)  # every second one is wrong
    fig = lenet.shapes(images, answers, labels, names)
    for i, ax in enumerate(fig.axes[:n]):
        wrong = answers[i] != labels[i]
        assert ax.get_title(loc="center") == ("\N{BALLOT X} " if wrong else "") + names[answers[i]]
        assert ax.get_xlabel() == (f"is: {names[labels[i]]}" if wrong else "")
        np.testing.assert_array_equal(ax.images[0].get_array(), np.moveaxis(images[i], 0, -1))
