"""Figures of lesson 09: what is drawn is what the networks hold and compute."""

import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops
from course_lib.figures import lenet, picture

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


@pytest.mark.parametrize("classic", [False, True])
def test_bars_are_shares_of_the_whole(classic):
    costs = lenet.named_costs(build(classic))
    (ax,) = lenet.cost_bars(costs, title="costs").axes
    for bars, field in zip(ax.containers, ("trainable", "multiply_adds"), strict=True):
        widths = np.array([bar.get_width() for bar in bars])
        counts = np.array([getattr(c, field) for c in costs.values()])
        assert widths.sum() == pytest.approx(100)
        np.testing.assert_allclose(widths, 100 * counts / counts.sum())
    assert len({bars[0].get_hatch() for bars in ax.containers}) == 2


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
    assert labels == [f"answer {i}\ndistance {84 * 0.01:.0f}" for i in range(n)]
    np.testing.assert_allclose(fig.axes[n].images[0].get_array(), features[0].reshape(12, 7))


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
