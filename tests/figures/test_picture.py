"""A picture carries its alternative text, is small, and has the same bytes every time."""

import sys

import numpy as np
import pytest

from course_lib import figures
from course_lib.figures import style
from course_lib.figures.picture import MAX_BYTES, PNG_SCALE

from .pages import HOSTILE, read_html, read_png, read_svg

ALT = "A line that rises from zero to nine"


@style.styled
def line(n=10):
    fig, ax = figures.new_figure(5, 3)
    ax.plot(np.arange(n))
    ax.set(title="Title", xlabel="x")
    return fig


def test_a_figure_becomes_a_small_palette_png_of_the_right_size():
    p = figures.picture(line(), alt=ALT)
    image = read_png(p.src)
    assert p.drawn[0] == 480
    assert image.size == (480 * PNG_SCALE, 288 * PNG_SCALE)
    assert image.mode == "P"
    assert image.info.keys() <= {"transparency"}, "no date, no version"
    assert len(p.src) < 30_000


@pytest.mark.parametrize(
    ("drawn", "shown"),
    [
        ((90, 40), (126, 56)),
        ((400, 100), (560, 140)),
        ((500, 100), (560, 112)),
        ((640, 100), (640, 100)),
        ((400, 600), (480, 720)),
        ((400, 900), (400, 900)),
    ],
)
def test_a_small_picture_stands_larger_in_a_wide_column_up_to_its_width_and_a_screens_height(drawn, shown):
    p = figures.picture(figures.Svg(*drawn), alt=ALT)
    assert (p.drawn, (p.width, p.height)) == (drawn, shown)


def test_the_same_figure_gives_the_same_bytes():
    assert figures.picture(line(), alt=ALT) == figures.picture(line(), alt=ALT)


def test_a_figure_has_a_white_ground_even_when_it_is_transparent():
    fig = line()
    fig.patch.set_alpha(0)
    assert read_png(figures.picture(fig, alt=ALT).src).convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_svg_text_stays_svg():
    drawing = figures.Svg(90, 40)
    for given in (drawing, drawing.to_svg()):
        p = figures.picture(given, alt=ALT)
        assert (*p.drawn, p.width, p.height) == (90, 40, 126, 56)
        assert read_svg(p.src).attrib["viewBox"] == "0 0 90 40"


def test_a_data_uri_ends_where_its_attribute_ends():
    drawing = figures.Svg(900, 40)
    drawing.text(1, 20, HOSTILE)
    src = figures.picture(drawing, alt=ALT).src
    assert not set(src) & set(" \"'<>()&\n`{}")
    assert "".join(read_svg(src).itertext()).strip() == HOSTILE.strip()


def test_html_is_a_figure_with_alt_and_caption():
    tags, attributes, text = read_html(figures.picture(figures.Svg(90, 40), alt=ALT, caption="See it rise.").html)
    assert tags == ["figure", "img", "figcaption"]
    assert attributes[1]["alt"] == ALT
    assert attributes[1]["width"] == "126"
    assert "max-width:100%" in attributes[1]["style"]
    assert text == ["See it rise."]


def test_without_a_caption_there_is_no_figcaption():
    assert read_html(figures.picture(figures.Svg(90, 40), alt=ALT).html)[0] == ["figure", "img"]


def test_hostile_text_stays_text():
    p = figures.picture(figures.Svg(90, 40), alt=HOSTILE, caption=HOSTILE)
    tags, attributes, text = read_html(p.html)
    assert tags == ["figure", "img", "figcaption"]
    assert attributes[1]["alt"] == text[0] == " ".join(HOSTILE.split())


def test_plain_text_is_the_alternative_text():
    bundle = figures.picture(figures.Svg(90, 40), alt=f"  {ALT}\n  today ")._repr_mimebundle_()
    assert bundle["text/plain"] == f"{ALT} today"
    assert set(bundle) == {"text/html", "text/plain"}


@pytest.mark.parametrize("alt", ["", "a plot", " " * 30, "nineteen characters"])
def test_alternative_text_is_asked_for(alt):
    with pytest.raises(ValueError, match="at least 20 are needed"):
        figures.picture(figures.Svg(90, 40), alt=alt)


def test_alternative_text_must_be_given():
    with pytest.raises(TypeError, match="alt"):
        figures.picture(figures.Svg(90, 40))


def test_a_figure_that_is_too_large_says_what_to_reduce():
    fig, ax = figures.new_figure(4, 4)
    ax.imshow(np.random.default_rng(0).random((400, 400, 3)))
    with pytest.raises(ValueError, match=rf"the limit is {MAX_BYTES:,}: make it smaller, plot fewer points"):
        figures.picture(fig, alt=ALT)


def test_svg_that_is_too_large_says_what_to_reduce():
    drawing = figures.Svg(100, 100)
    for _ in range(2000):
        drawing.circle(50, 50, 20)
    with pytest.raises(ValueError, match="draw fewer elements"):
        figures.picture(drawing, alt=ALT)


@pytest.mark.parametrize("text", ["", "<p>no</p>", "<svg viewBox='0 0 1 1'/>", "<svg width='100%' height='10'/>"])
def test_svg_needs_a_size(text):
    with pytest.raises(ValueError, match=r"figures\.Svg"):
        figures.picture(text, alt=ALT)


def test_other_things_are_no_pictures():
    with pytest.raises(TypeError, match="got ndarray"):
        figures.picture(np.zeros(3), alt=ALT)


def test_a_pyplot_figure_is_closed():
    plt = pytest.importorskip("matplotlib.pyplot")
    fig, _ = plt.subplots()
    figures.picture(fig, alt=ALT)
    assert plt.get_fignums() == []


def test_our_figures_never_enter_pyplot():
    figures.picture(line(), alt=ALT)
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []


def test_show_displays_the_picture(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    figures.show(figures.Svg(90, 40), alt=ALT, caption="c")
    assert shown == [figures.picture(figures.Svg(90, 40), alt=ALT, caption="c")]
