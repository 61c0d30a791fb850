"""A stepper is readable without scripts, carries all frames for them, and cannot be broken by its text."""

import json
import re

import pytest

from course_lib import figures
from course_lib.figures.picture import Picture
from course_lib.figures.stepper import MAX_HTML

from .pages import HOSTILE, read_html


def frames(n=4, width=120):
    made = []
    for k in range(n):
        drawing = figures.Svg(width, 40)
        drawing.text(10, 20, str(k))
        made.append(figures.picture(drawing, alt=f"The number {k} in a white box", caption=f"Now {k}."))
    return made


def data_of(html):
    """The frames as the script gets them."""
    call = re.search(r"\}\)\((.*)\);</script>", html, re.DOTALL)[1]
    key, data, look = json.loads(f"[{call}]")
    return key, data, look


def test_the_static_frame_is_plain_html():
    tags, attributes, text = read_html(figures.stepper(frames(), title="Count").html)
    assert tags == ["div", "p", "figure", "img", "figcaption", "script"]
    assert attributes[0]["aria-label"] == text[0] == "Count"
    assert attributes[3]["alt"] == "The number 3 in a white box"
    assert attributes[3]["src"] == frames()[3].src
    assert text[1] == "Step 4 of 4. Now 3."


@pytest.mark.parametrize(("static", "step"), [(0, 1), (2, 3), (-1, 4), (-4, 1)])
def test_the_static_frame_can_be_chosen(static, step):
    made = figures.stepper(frames(), title="Count", static=static)
    assert f"Step {step} of 4." in made.html
    assert f"Step {step} of 4. Now {step - 1}. The number {step - 1}" in made._repr_mimebundle_()["text/plain"]


def test_the_script_gets_every_frame():
    made = figures.stepper(frames(), title="Count")
    key, data, _ = data_of(made.html)
    assert key == made.key == read_html(made.html)[1][0]["data-stepper"]
    assert data == [{"src": f.src, "alt": f.alt, "caption": f.caption} for f in frames()]


def test_the_same_frames_have_the_same_key_and_bytes():
    assert figures.stepper(frames(), title="Count").html == figures.stepper(frames(), title="Count").html
    keys = {figures.stepper(frames(n), title=t).key for n in (2, 3) for t in "ab"}
    assert len(keys) == 4


def test_the_key_ignores_png_bytes_which_depend_on_versions():
    a, b = (
        [Picture(f"data:image/png;base64,{body}{k}", f"Picture number {k} of two", "", 9, 9, (9, 9)) for k in range(2)]
        for body in ("AAAA", "BBBB")
    )
    assert figures.stepper(a, title="t").key == figures.stepper(b, title="t").key


def test_hostile_text_stays_text():
    made = [figures.picture(figures.Svg(90, 40), alt=HOSTILE + str(k), caption=HOSTILE) for k in range(2)]
    html = figures.stepper(made, title=HOSTILE).html
    tags, attributes, text = read_html(html)
    assert tags == ["div", "p", "figure", "img", "figcaption", "script"]
    assert attributes[0]["aria-label"] == text[0] == HOSTILE
    assert html.count("</script>") == 1
    call = re.search(r"\}\)\((.*)\);</script>", html, re.DOTALL)[1]
    assert not set("<>&") & set(call)
    assert data_of(html)[1][1]["caption"] == " ".join(HOSTILE.split())


def test_nothing_is_loaded_from_elsewhere():
    html = figures.stepper(frames(), title="Count").html
    urls = set(re.findall(r"https?:[^\s\"'<>]*", html.replace("%3A", ":").replace("%2F", "/")))
    assert all(url.startswith("http://www.w3.org/2000/svg") for url in urls)


def test_frames_of_different_sizes_are_an_error():
    with pytest.raises(ValueError, match=r"\[\(120, 40\), \(130, 40\)\].*nothing jumps"):
        figures.stepper(frames(2) + frames(2, width=130), title="Count")


def test_one_frame_is_no_stepper():
    with pytest.raises(ValueError, match=r"two frames or more, got 1; use figures\.show"):
        figures.stepper(frames(1), title="Count")


def test_a_frame_must_be_a_picture():
    with pytest.raises(TypeError, match=r"frame 1 is a str; make it with figures\.picture"):
        figures.stepper([frames(1)[0], "<svg/>"], title="Count")


def test_a_static_frame_must_exist():
    with pytest.raises(IndexError, match="static is 4, there are 4 frames"):
        figures.stepper(frames(), title="Count", static=4)


def test_a_stepper_that_is_too_large_says_so():
    large = [
        Picture("data:image/png;base64," + "A" * 99_000, f"Picture number {k} of five", "", 9, 9, (9, 9))
        for k in range(5)
    ]
    with pytest.raises(ValueError, match=rf"the limit is {MAX_HTML:,}: use fewer or smaller frames"):
        figures.stepper(large, title="Count")


def test_script_is_small():
    html = figures.stepper(frames(2), title="Count").html
    assert len(html) < 8_000


def test_a_title_ends_with_one_mark():
    picture = figures.climb([("a", 1.0, 1e12, "one")], title="How far?")
    said = picture._repr_mimebundle_()["text/plain"]
    assert said.startswith("How far? ")
    assert figures.climb([("a", 1.0, 1e12, "one")], title="Far")._repr_mimebundle_()["text/plain"].startswith("Far. ")
