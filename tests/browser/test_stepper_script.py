"""The stepper's script on a bare page: however it is evaluated, there is one set of controls and no foreign code."""

import pytest

from course_lib import figures

from .drive import drive_stepper

HOSTILE = """</script><script>window.broken = 1</script><img src=x onerror="window.broken = 2"> ' " & \u2028"""


def frames(caption="Now {k}."):
    made = []
    for k in range(3):
        drawing = figures.Svg(320, 40)
        drawing.text(10, 24, f"frame {k}")
        made.append(figures.picture(drawing, alt=f"A white box with the text frame {k}", caption=caption.format(k=k)))
    return made


@pytest.fixture
def page(browser):
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    assert errors == []


HTML = figures.stepper(frames(), title="Count").html
# As JupyterLab does: the HTML is parsed aside, and each script is replaced by a copy, which runs once on the page.
LIKE_JUPYTERLAB = """html => {
    const host = document.createElement('div');
    host.innerHTML = html;
    for (const old of host.querySelectorAll('script')) {
        const copy = document.createElement('script');
        copy.textContent = old.textContent;
        old.replaceWith(copy);
    }
    document.body.append(host);
}"""
# Without a current script and before its element is on the page.
DETACHED = """html => {
    const host = document.createElement('div');
    host.innerHTML = html;
    window.eval(host.querySelector('script').textContent);
    setTimeout(() => document.body.append(host), 250);
}"""


@pytest.mark.parametrize("way", [LIKE_JUPYTERLAB, DETACHED], ids=["copied script", "detached"])
def test_controls_appear_however_the_script_runs(page, way):
    page.evaluate(way, HTML)
    drive_stepper(page.locator(".course-stepper"))


def test_moving_the_element_keeps_one_set_of_controls_that_work(page):
    page.set_content(HTML)
    page.get_by_role("button", name="Next step").click()
    page.evaluate("() => { const e = document.querySelector('.course-stepper'); e.remove(); document.body.append(e); }")
    assert page.locator(".course-controls").count() == 1
    page.get_by_role("button", name="Next step").click()
    assert page.locator(".course-count").inner_text() == "step 3 of 3"


def test_a_page_saved_by_the_browser_has_one_set_of_controls(page, tmp_path):
    page.set_content(HTML)
    page.get_by_role("button", name="Last step").click()
    saved = tmp_path / "saved.html"
    saved.write_text(page.content(), encoding="utf-8")
    assert 'class="course-controls"' in saved.read_text("utf-8")
    page.goto(saved.as_uri())
    assert page.locator(".course-controls").count() == 1
    drive_stepper(page.locator(".course-stepper"))


def test_two_evaluations_without_a_current_script_mount_once(page):
    page.set_content(HTML + HTML)
    page.evaluate("() => window.eval(document.querySelector('script').textContent)")
    page.wait_for_timeout(150)
    assert page.locator(".course-controls").count() == 2
    for i in range(2):
        drive_stepper(page.locator(".course-stepper").nth(i))


def test_hostile_text_does_not_run(page):
    page.set_content(figures.stepper(frames(HOSTILE.replace("{", "{{")), title=HOSTILE).html)
    page.get_by_role("button", name="Last step").click()
    assert page.locator("figcaption").inner_text().startswith("</script><script>window.broken = 1")
    assert page.evaluate("window.broken") is None


def test_the_caption_speaks_and_the_slider_says_the_step(page):
    page.set_content(HTML)
    page.get_by_role("slider").press("ArrowRight")
    assert page.locator("figcaption").get_attribute("aria-live") == "polite"
    assert page.locator("figcaption").inner_text() == "Now 1."
    assert page.get_by_role("slider").get_attribute("aria-valuetext") == "step 2 of 3"
    assert page.locator("figure img").get_attribute("alt") == "A white box with the text frame 1"
    assert page.get_by_role("group", name="Count").count() == 1


def test_controls_fit_a_narrow_page(page):
    page.set_viewport_size({"width": 320, "height": 600})
    page.set_content(HTML)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
