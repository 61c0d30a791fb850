"""An explorer follows its controls, names them, shows errors, and is a plain figure without a kernel."""

import json
import subprocess
import sys

import ipywidgets as widgets
import pytest

from course_lib import figures
from course_lib.figures.explore import WIDGET_VIEW

from .pages import HOSTILE, read_html


def draw(**values):
    drawing = figures.Svg(300, 40)
    drawing.text(10, 20, values)
    return figures.picture(drawing, alt=f"The values {values} in a box", caption=f"Now {values}.")


def shown(made):
    """The alternative text in the live view."""
    return read_html(made.view.value)[1][1]["alt"]


@pytest.fixture
def made():
    return figures.explore(
        draw, title="Try", rate=(0.1, 2.0, 0.1), steps=(1, 9, 2), start=["a", ("Bee", "b")], momentum=True
    )


def test_shorthand_makes_the_right_controls(made):
    kinds = {name: type(control) for name, control in made.controls.items()}
    assert list(kinds) == ["rate", "steps", "start", "momentum"]
    assert list(kinds.values()) == [widgets.FloatSlider, widgets.IntSlider, widgets.Dropdown, widgets.Checkbox]
    assert made.values == {"rate": 1.0, "steps": 5, "start": "a", "momentum": True}


def test_a_start_value_can_be_given():
    made = figures.explore(draw, title="Try", rate=(0.1, 2.0, 0.1, 0.3), steps=(0, 10, 1, 7))
    assert made.values == {"rate": 0.3, "steps": 7}


@pytest.mark.parametrize(
    ("given", "written"), [((0.1, 2.0, 0.1), ".1f"), ((0, 1.0, 0.05), ".2f"), ((0.001, 1, 0.1), ".3f")]
)
def test_a_slider_shows_as_many_decimals_as_it_steps(given, written):
    assert figures.explore(draw, title="Try", a=given).controls["a"].readout_format == written


def test_every_value_of_every_control_draws_its_own_picture(made):
    for name, control in made.controls.items():
        if isinstance(control, widgets.Dropdown):
            values = [value for _, value in control._options_full]
        elif isinstance(control, widgets.Checkbox):
            values = [False, True]
        else:
            count = round((control.max - control.min) / control.step) + 1
            values = [round(control.min + k * control.step, 6) for k in range(count)]
        for value in values:
            control.value = value
            assert shown(made) == draw(**made.values).alt
            assert made.values[name] == value


def test_every_control_has_a_label_and_a_tooltip(made):
    assert [c.description for c in made.controls.values()] == ["rate", "steps", "start", "momentum"]
    assert [c.tooltip for c in made.controls.values()] == [
        "rate (0.1 to 2)", "steps (1 to 9)", "start (a, Bee)", "momentum (on or off)",
    ]  # fmt: skip


def test_labels_replace_names():
    made = figures.explore(draw, title="Try", labels={"lr": "learning rate"}, lr=(0.1, 1.0, 0.1), batch_size=[1, 2])
    assert [c.description for c in made.controls.values()] == ["learning rate", "batch size"]


def test_any_control_can_be_passed():
    log = widgets.FloatLogSlider(value=0.1, min=-3, max=1, step=0.5)
    radio = widgets.RadioButtons(options=["u", "v"], description="way")
    made = figures.explore(draw, title="Try", rate=log, way=radio)
    assert "rate (0.001 to 10); way (u, v)" in made.html
    log.value = 1.0
    assert shown(made) == draw(rate=1.0, way="u").alt


def test_many_options_are_named_by_their_ends():
    assert "k (0 to 19)" in figures.explore(draw, title="Try", k=list(range(20))).html


def test_slow_pictures_wait_for_the_end_of_a_drag():
    for quick in (True, False):
        assert figures.explore(draw, title="T", quick=quick, a=(1, 3, 1)).controls["a"].continuous_update is quick


def test_an_error_while_drawing_is_shown_and_goes_away():
    def fragile(n):
        if n == 2:
            raise ValueError("two <b>is</b> too much")
        return draw(n=n)

    made = figures.explore(fragile, title="Try", n=(1, 3, 1, 1))
    made.controls["n"].value = 2
    tags, _, text = read_html(made.view.value)
    assert tags == ["pre"]
    assert "".join(text) == "draw(n=2) failed:\nValueError: two <b>is</b> too much"
    made.controls["n"].value = 3
    assert shown(made) == draw(n=3).alt


def test_what_is_no_picture_is_an_error_in_the_first_draw_and_later():
    with pytest.raises(TypeError, match=r"draw returned a int; return figures.picture"):
        figures.explore(lambda n: n, title="Try", n=(1, 3, 1))
    made = figures.explore(lambda n: draw(n=n) if n < 3 else None, title="Try", n=(1, 3, 1, 1))
    made.controls["n"].value = 3
    assert "draw returned a NoneType" in made.view.value


def test_the_first_error_is_raised():
    with pytest.raises(ZeroDivisionError):
        figures.explore(lambda n: 1 / 0, title="Try", n=(1, 3, 1))


def test_the_bundle_has_a_static_figure_beside_the_view(made):
    bundle = made._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain", WIDGET_VIEW}
    assert bundle[WIDGET_VIEW]["model_id"] == made.box.model_id
    tags, attributes, text = read_html(bundle["text/html"])
    assert tags == ["div", "p", "figure", "img", "figcaption", "p"]
    assert attributes[3]["alt"] == made.first.alt
    assert text[-1] == "Run this cell to change: rate (0.1 to 2); steps (1 to 9); start (a, Bee); momentum (on or off)."
    assert bundle["text/plain"] == f"Try. {made.first.caption} {made.first.alt}"


def test_the_static_form_does_not_move_with_the_controls(made):
    before = made._repr_mimebundle_()
    made.controls["steps"].value = 9
    assert made._repr_mimebundle_() == before


def test_hostile_text_stays_text():
    made = figures.explore(
        lambda k: figures.picture(figures.Svg(90, 40), alt=HOSTILE, caption=HOSTILE),
        title=HOSTILE, labels={"k": HOSTILE}, k=["a", HOSTILE],
    )  # fmt: skip
    assert read_html(made.html)[0] == ["div", "p", "figure", "img", "figcaption", "p"]
    heading = made.box.children[0].value
    assert read_html(heading)[0] == ["style", "p"]
    assert read_html(heading)[2][-1] == HOSTILE


@pytest.mark.parametrize(
    ("controls", "error", "text"),
    [
        ({}, ValueError, "one control at least"),
        ({"a": 3}, TypeError, "control 'a' is 3; use"),
        ({"a": []}, TypeError, "use"),
        ({"a": (1, 2)}, TypeError, "use"),
        ({"a": ("x", "y", "z")}, TypeError, "use"),
        ({"a": (2, 1, 1)}, ValueError, "min < max"),
        ({"a": (1, 2, 0)}, ValueError, "0 < step"),
        ({"a": (1, 2, 1, 7)}, ValueError, "value 7"),
    ],
)
def test_wrong_controls_say_what_is_right(controls, error, text):
    with pytest.raises(error, match=text):
        figures.explore(draw, title="Try", **controls)


def test_a_label_without_a_control_is_an_error():
    with pytest.raises(ValueError, match=r"labels names \['lr'\], the controls are \['rate'\]"):
        figures.explore(draw, title="Try", labels={"lr": "x"}, rate=(1, 2, 1))


def test_widgets_are_imported_only_when_an_explorer_is_made():
    code = "import sys, json; from course_lib import figures; print(json.dumps([m for m in sys.modules]))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert not {"ipywidgets", "IPython", "matplotlib.pyplot"} & set(loaded)


@pytest.mark.parametrize(
    ("given", "value", "written"),
    [
        ((0, 0.6, 0.1), 0.3, ".1f"),  # 0.3 / 0.1 is a hair below 3
        ((1e-8, 1e-6, 1e-8), 5e-7, ".8f"),
        ((1e-8, 1e-6, 1e-8, 3e-8), 3e-8, ".8f"),
        ((0.1, 0.7, 0.1), 0.4, ".1f"),
        ((0.0, 1.0, 0.1, 0.25), 0.25, ".2f"),
        ((0.0, 1e6, 0.125, 12345.125), 12345.125, ".3f"),
        ((0.0, 1.0, 1e-5), 0.5, ".5f"),
    ],
)
def test_a_slider_keeps_its_numbers_at_any_size(given, value, written):
    slider = figures.explore(draw, title="Try", a=given).controls["a"]
    assert (slider.value, slider.readout_format) == (value, written)
    assert float(format(value, written)) == value
