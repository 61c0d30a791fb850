"""A colour of a sign means one thing in all lessons: orange is above 0, purple below, and one function draws it."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from course_lib import figures, nn
from course_lib.figures import convnets, convolution, digit_maps, digit_pair, learned_mask, plots, style
from course_lib.figures.signed import signed

FOLDER = Path(figures.__file__).parent
NOTEBOOKS = FOLDER.parents[1] / "notebooks"
RNG = np.random.default_rng(0)
MAP = np.arange(-8.0, 8).reshape(4, 4)
DIGITS = RNG.random((3, 32, 32))
W = RNG.standard_normal((2, 3, 5, 5))
NET = nn.models.lenet5(rng=np.random.default_rng(0))

DRAWN = {
    "01, the weights": lambda: digit_pair.weight_images([np.append(RNG.standard_normal(784), 0)], ["end"]),
    "a matrix": lambda: plots.matrix(MAP, diverging=True),
    "07, a moved map": lambda: convolution.moved_maps(DIGITS[0], DIGITS[0], MAP, MAP, 0),
    "07, cut masks": lambda: convolution.best_places(DIGITS[:1], MAP[None], np.ones((1, 1, 35, 35)), [3]),
    "08, a mask that learns": lambda: learned_mask._draw(DIGITS[0], W[0, 0], W[0, 1]),
    "10, masks": lambda: convnets.mask_rows({"start": W[0]}),
    "10, all masks": lambda: convnets.digit_and_masks(DIGITS[0], W, 3, 0.5),
    "10, saliency": lambda: convnets.answers_of({"digit": DIGITS[:1], "saliency": DIGITS[1:2] - 0.5}, ["a 3"]),
    "10, patches": lambda: convnets._draw_excited(W, np.zeros((2, 2, 14, 14)), np.zeros((2, 2), int), [0, 1]),
    "10, a climb": lambda: convnets.before_after(NET, DIGITS[0], DIGITS[1], 3, steps=1),
    "10, no clip": lambda: convnets.outside(MAP, DIGITS),
    "10, the map of digits": lambda: digit_maps._sheet(
        np.array([1]), np.array([1]), np.zeros((1, 2)), [0], [("a 1", (DIGITS[0], MAP / 8, MAP / 8))]
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_signed_map_has_the_courses_colours_and_a_scale_around_zero(name):
    fig = DRAWN[name]()
    images = [image for ax in fig.axes for image in ax.images if image.get_clim()[0] < 0]
    assert images
    for image in images:
        assert image.cmap.name == style.DIVERGING
        low, high = image.get_clim()
        assert low == -high


def test_orange_is_above_zero_purple_below_and_zero_nearly_white():
    red, _, blue, _ = matplotlib.colormaps[style.DIVERGING]([0.1, 0.5, 0.9]).T
    assert blue[0] > red[0]
    assert red[2] > blue[2]
    assert min(red[1], blue[1]) > 0.95


def test_the_explorer_of_digits_paints_with_the_same_two_colours():
    shown = digit_maps.digit_map(NET, DIGITS[:, None].astype(np.float32), [1, 2, 3], np.arange(6.0).reshape(3, 2))
    ends = [matplotlib.colors.to_hex(matplotlib.colormaps[style.DIVERGING](end)) for end in (0.9, 0.1)]
    assert shown.data["signs"] == ends


def test_one_function_draws_them_and_no_other_map_with_two_ends_is_named():
    two_ended = "PiYG|PRGn|BrBG|PuOr|RdGy|RdBu|RdYlBu|RdYlGn|Spectral|coolwarm|bwr|seismic|berlin|managua|vanimo"
    for path in sorted(FOLDER.glob("*.py")):
        text = path.read_text("utf-8")
        assert not re.search(rf'"(?:{two_ended})', text), path.name
        if path.name not in ("signed.py", "style.py", "digit_maps.py"):
            assert "DIVERGING" not in text, f"{path.name}: draw it with figures.signed"
    assert (FOLDER / "digit_maps.py").read_text("utf-8").count("DIVERGING") == 1  # its two ends, for the page


def test_no_lesson_says_it_the_other_way_round():
    wrong = re.compile(
        r"purple (?:asks|it wants ink|is more|speaks for a 9)|orange (?:is less|it wants (?:none|paper))", re.I
    )
    for path in sorted(NOTEBOOKS.glob("*.py")):
        assert not wrong.search(" ".join(path.read_text("utf-8").split())), path.name


def test_strongly_negative_pixels_may_have_a_dash_and_reach_may_be_given():
    ax = style.new_figure(2, 2)[1]
    drawn = signed(ax, [[0, -1], [-4, 4]], dash=0.5)
    assert drawn.get_clim() == (-4, 4)
    assert ax.collections[0].get_offsets().tolist() == [[0, 1]]
    ax = style.new_figure(2, 2)[1]
    signed(ax, [[0, -1], [-4, 4]], dash=0.5, extent=(1, 5, 5, 1))
    assert ax.collections[0].get_offsets().tolist() == [[2, 4]]
    ax = style.new_figure(2, 2)[1]
    assert signed(ax, np.zeros((2, 2))).get_clim() == (-1, 1)
    assert signed(ax, [[np.nan, 2.0]], 3).get_clim() == (-3, 3)
