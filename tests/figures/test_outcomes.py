"""Outcomes: what nobody wrote is hatched, what is wrong has a cross, and bad input is told."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_lib.figures.outcomes import WIDTH, outcomes
from course_lib.figures.style import colour

WHOLE = np.linspace(0, 1, 28 * 56).reshape(28, 56)
PART = np.where(np.arange(56) < 32, WHOLE, np.nan)


def test_what_nobody_wrote_is_left_out_of_the_image_above_a_hatch():
    fig = outcomes({"asked for": WHOLE, "made": PART})
    drawn = [ax.images[0].get_array() for ax in fig.axes]
    assert not np.ma.is_masked(drawn[0])
    np.testing.assert_array_equal(np.ma.getmaskarray(drawn[1]), np.isnan(PART))
    assert all(ax.patch.get_hatch() for ax in fig.axes)


def test_what_is_wrong_has_a_cross_and_a_frame():
    fig = outcomes({"asked for": WHOLE, "made": PART}, wrong=["made"])
    assert [ax.get_title(loc="left") for ax in fig.axes] == ["asked for", "\N{BALLOT X} made"]
    edges = [ax.spines["left"].get_linewidth() for ax in fig.axes]
    assert edges[0] < edges[1]
    assert to_hex(fig.axes[1].spines["left"].get_edgecolor()).upper() == colour("hazard")


def test_a_phone_shows_the_figure_in_its_own_size():
    width, _ = outcomes({"asked for": WHOLE}).get_size_inches()
    assert width == WIDTH
    assert 96 * WIDTH <= 340


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="all must have one"):
        outcomes({"a": WHOLE, "b": WHOLE.T})
    with pytest.raises(ValueError, match="wrong names"):
        outcomes({"a": WHOLE}, wrong=["b"])
    with pytest.raises(ValueError, match="images"):
        outcomes({})
