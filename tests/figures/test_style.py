"""Colours mean one thing, never stand alone, and the look never leaks into the student's own plots."""

import re
from pathlib import Path

import matplotlib
import pytest

from course_lib import figures
from course_lib.figures import style

FOLDER = Path(figures.__file__).parent


def test_roles_have_the_colours_of_the_design():
    assert style.COLOURS == {
        "data": "#0072B2", "weight": "#E69F00", "output": "#009E73", "gradient": "#D55E00",
        "hazard": "#CC79A7", "thread": "#56B4E9", "idle": "#999999",
    }  # fmt: skip


def test_roles_differ_without_colour():
    cues = [style.cue(role) for role in style.COLOURS]
    for field in ("colour", "marker", "linestyle", "hatch"):
        assert len({getattr(cue, field) for cue in cues}) == len(style.COLOURS), field


def test_series_use_every_role_once_and_wrap_around():
    assert sorted(style.SERIES) == sorted(style.COLOURS)
    assert [style.cue(i) for i in range(7)] == [style.cue(role) for role in style.SERIES]
    assert style.cue(7) == style.cue(0)


def test_classes_differ_in_marker_and_fill():
    looks = [style.class_cue(k) for k in range(6)]
    assert len({look.marker for look in looks}) == len({look.region for look in looks}) == 6
    assert looks[0].face != looks[1].face
    assert style.class_cue(6) == looks[0]


def test_an_unknown_role_is_an_error_that_lists_the_roles():
    for function in (style.colour, style.tint, style.cue, style.shades):
        with pytest.raises(KeyError, match="no role 'red'; the roles are data, weight"):
            function("red")


@pytest.mark.parametrize("role", style.COLOURS)
def test_text_on_every_tint_has_the_contrast_that_wcag_asks(role):
    for amount in (0.1, 0.2, 0.25):
        assert style.contrast(style.INK, style.tint(role, amount)) >= 4.5
    assert style.contrast(style.MUTED, style.PAPER) >= 4.5


def test_contrast_is_that_of_wcag():
    assert style.contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert style.contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert style.ink_on("#FFFF00") == style.INK
    assert style.ink_on("#000088") == style.PAPER


def test_tint_runs_from_white_to_the_colour():
    assert style.tint("data", 0) == "#FFFFFF"
    assert style.tint("data", 1) == style.COLOURS["data"]


def test_no_text_is_smaller_than_nine_points():
    sizes = [value for key, value in style.RC.items() if key.endswith(("size", "fontsize")) and "marker" not in key]
    assert len(sizes) >= 6
    assert min(sizes) >= 9
    assert style.TEXT_PX / style.SCREEN_DPI * 72 == 9


def test_figures_leave_the_global_settings_alone():
    before = dict(matplotlib.rcParams)
    fig, ax = style.new_figure(4, 3)
    ax.plot([1, 2])
    figures.picture(fig, alt="A line that rises from one to two")
    assert dict(matplotlib.rcParams) == before


def test_styled_restores_the_settings_after_an_error():
    before = dict(matplotlib.rcParams)

    @style.styled
    def broken():
        assert matplotlib.rcParams["axes.spines.top"] is False
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        broken()
    assert dict(matplotlib.rcParams) == before


def test_use_changes_the_global_settings():
    with matplotlib.rc_context():
        style.use()
        assert matplotlib.rcParams["axes.titlelocation"] == "left"


def test_new_figure_makes_a_grid_like_subplots():
    fig, axes = style.new_figure(6, 3, 1, 2, sharey=True, width_ratios=[2, 1])
    assert axes.shape == (2,)
    assert tuple(fig.get_size_inches()) == (6, 3)


def test_only_the_style_module_names_colours():
    keyword = r"(?:colou?rs?|fill|stroke|c|face|edge|facecolor|edgecolor|markeredgecolor|markerfacecolor)"
    colour = r"(?:red|blue|green|black|white|gr[ae]y|orange|purple|[krbgwcmy]|C\d|tab:\w+|0?\.\d+)"
    pattern = rf"""#[0-9A-Fa-f]{{6}}\b|#[0-9A-Fa-f]{{3}}\b(?=["';])|\b{keyword}\s*[=:]\s*["']{colour}["']"""
    for path in sorted([*FOLDER.glob("*.py"), *FOLDER.glob("*.js")]):
        if path.name != "style.py":
            found = re.findall(pattern, path.read_text("utf-8"))
            assert not found, f"{path.name} names {found}; take colours from figures.style"


def test_only_the_style_module_names_font_sizes():
    for path in sorted(FOLDER.glob("*.py")):
        if path.name != "style.py":
            found = re.findall(r"(?:fontsize|labelsize|titlesize)\s*=\s*[\"'\d][\w.]*", path.read_text("utf-8"))
            assert not found, f"{path.name} has {found}; take sizes from figures.style"
