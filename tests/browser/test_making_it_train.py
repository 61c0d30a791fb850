"""The two figures of lesson 06b in a page: a signal through eight layers, and six curves to diagnose."""

import pytest

from course_lib import figures
from course_lib.figures import doctor, signals
from course_lib.lesson import sick_curves

from .drive import drive_live
from .pages import (
    HTML,
    assert_fits_a_phone,
    assert_no_text_leaves_its_drawing,
    caption,
    data,
    page_with,
    press,
    root,
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made = {"signals": figures.signal_explorer(sd=0.05), "doctor": figures.diagnose(sick_curves())}
    return page_with(tmp_path_factory.mktemp("site"), made)


def slide(page, sd):
    root(page, "signals").locator("input[type=range]").fill(str(signals.SCALES.index(sd)))


# --------------------------------------------------------------------------------------------------------- the signal


@pytest.mark.parametrize("activation", signals.AXES)
def test_each_size_of_the_weights_shows_what_python_counted(page, activation):
    press(page, "signals", activation)
    for sd in signals.SCALES:
        slide(page, sd)
        seen, layers = data(page, "signals"), signals.flow(activation, sd)
        assert (seen["activation"], float(seen["sd"])) == (activation, sd)
        assert [float(seen[key]) for key in ("first", "last", "back", "stuck")] == [
            layers[0]["rms"], layers[-1]["rms"], layers[0]["back"], layers[-1]["stuck"]
        ]  # fmt: skip


def test_the_verdict_is_that_of_the_signal(page):
    press(page, "signals", "ReLU")
    found = []
    for sd in (0.05, signals.HE, 1.0):
        slide(page, sd)
        found.append(data(page, "signals")["ill"])
    assert found == ["fades", "arrives", "explodes"]
    press(page, "signals", "tanh")
    assert data(page, "signals")["ill"] == "saturated"
    assert "nearly flat" in caption(page, "signals")


def test_the_marks_stand_where_their_numbers_are(page):
    """Measured on the drawing: from the first to the last layer a mark moves by as many powers of ten as its number."""
    press(page, "signals", "ReLU")
    slide(page, 0.05)
    places = root(page, "signals").evaluate(
        """e => { const svg = e.querySelector('.course-live-stage svg');
            const lines = [...svg.querySelectorAll('line')].filter(l => l.getAttribute('x1') === l.getAttribute('x2'));
            const marks = [...svg.querySelectorAll('circle')].slice(1).map(c => +c.getAttribute('cx'));
            return [lines.map(l => +l.getAttribute('x1')), marks]; }"""
    )
    (minus_10, _, one, _), marks = places
    power = (one - minus_10) / 10
    for x, layer in zip(marks, signals.flow("ReLU", 0.05), strict=True):
        assert 10 ** ((x - one) / power) == pytest.approx(layer["rms"], rel=0.01)


@pytest.mark.parametrize("activation", signals.AXES)
def test_dotted_lines_show_where_the_marks_stand_at_hes_deviation(page, activation):
    press(page, "signals", activation)
    lines = """e => [...e.querySelectorAll('polyline')].map(p => [p.getAttribute('stroke-dasharray'),
        p.getAttribute('points')])"""
    slide(page, 0.05)
    sick = root(page, "signals").evaluate(lines)
    slide(page, signals.HE)
    well = root(page, "signals").evaluate(lines)
    dotted = [points for dash, points in sick if dash == "1.5 3"]
    assert len(dotted) == 2
    assert dotted == [points for dash, points in well if dash != "1.5 3"]
    assert dotted != [points for dash, points in sick if dash != "1.5 3"]


def test_the_dotted_line_of_guessing_is_drawn_over_the_curves(page):
    assert patient(page) == 1
    order = root(page, "doctor").evaluate(
        """e => [...e.querySelectorAll('svg > polyline, svg > line[stroke-dasharray="2 3"]')].map(n => n.tagName)"""
    )
    assert order[:3] == ["polyline", "polyline", "line"]


def test_the_button_finds_hes_deviation_and_keys_move_the_slider(page):
    slide(page, 0.4)
    press(page, "signals", "√(2/n)")
    assert float(data(page, "signals")["sd"]) == signals.HE
    slider = root(page, "signals").locator("input[type=range]")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert float(data(page, "signals")["sd"]) == signals.SCALES[signals.SCALES.index(signals.HE) - 1]
    assert slider.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2


# --------------------------------------------------------------------------------------------------------- the doctor


def test_where_three_curves_lie_in_one_place_the_figure_says_so(page):
    while patient(page) > 1:
        press(page, "doctor", "Previous patient")
    said = []
    for number in range(1, len(doctor.ORDER) + 1):
        assert patient(page) == number
        said.append("both curves lie on the dotted line" in root(page, "doctor").locator("svg").text_content())
        if number < len(doctor.ORDER):
            press(page, "doctor", "Next patient")
    while patient(page) > 1:
        press(page, "doctor", "Previous patient")
    assert said == [name == "weights too small" for name in doctor.ORDER]


def patient(page):
    return int(data(page, "doctor")["patient"])


def test_every_wrong_diagnosis_gets_its_hint_and_the_right_one_its_reason(page):
    wards = {ward.name: ward for ward in doctor.WARDS}
    for number, name in enumerate(doctor.ORDER, start=1):
        assert patient(page) == number
        for other in wards:
            if other != name:
                press(page, "doctor", other)
                assert wards[other].hint in caption(page, "doctor")
                assert data(page, "doctor")["right"] == "false"
                assert root(page, "doctor").locator("button[aria-pressed=true]").count() == 0
        press(page, "doctor", name)
        assert wards[name].says in caption(page, "doctor")
        assert data(page, "doctor")["found"] == str(number)
        assert root(page, "doctor").locator("button[aria-pressed=true]").all_inner_texts() == [name]
        if number < len(doctor.ORDER):
            press(page, "doctor", "Next patient")
    last = root(page, "doctor").get_by_role("button", name="Next patient")
    assert last.get_attribute("aria-disabled") == "true", "there is no one after the last"
    last.click(force=True)
    assert patient(page) == len(doctor.ORDER)


def test_what_was_found_stays_found_and_is_not_taken_back(page):
    press(page, "doctor", doctor.ORDER[0])
    press(page, "doctor", "Next patient")
    press(page, "doctor", "Previous patient")
    press(page, "doctor", doctor.ORDER[1])
    assert data(page, "doctor")["right"] == "true"
    assert f"Right: {doctor.ORDER[0]}." in caption(page, "doctor")


def test_keys_choose_and_go_on(page):
    button = root(page, "doctor").get_by_role("button", name=doctor.ORDER[0], exact=True)
    button.focus()
    page.keyboard.press("Enter")
    assert data(page, "doctor")["right"] == "true"
    root(page, "doctor").get_by_role("button", name="Next patient").focus()
    page.keyboard.press("Space")
    assert patient(page) == 2


def test_the_drawing_tells_its_curve_to_a_screen_reader_and_not_its_name(page):
    label = root(page, "doctor").locator("svg[role=img]").get_attribute("aria-label")
    training, held = sick_curves()[doctor.ORDER[0]]
    for value in (training[0], training[5], training[-1], held[-1]):
        assert str(value) in label
    assert doctor.ORDER[0] not in label


def test_both_are_driven_as_every_figure_of_a_lesson_is(page):
    for name in ("signals", "doctor"):
        drive_live(root(page, name))
    assert page.locator(".course-live > figure:visible").count() == 0


@pytest.mark.parametrize("width", [900, 400, 320])
def test_text_is_readable_and_inside_at_every_width(page, width):
    for activation in signals.AXES:
        press(page, "signals", activation)
        assert_fits_a_phone(page, width)
        assert_no_text_leaves_its_drawing(page, width)
    for number in range(1, len(doctor.ORDER) + 1):
        assert patient(page) == number
        assert_fits_a_phone(page, width)
        assert_no_text_leaves_its_drawing(page, width)
        root(page, "doctor").get_by_role("button", name="Next patient").click(force=True)
    shown = root(page, "doctor").locator(".course-live-stage,.course-live-caption")
    assert len(shown.evaluate_all(HTML)) > 100
