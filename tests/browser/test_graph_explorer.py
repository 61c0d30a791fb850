"""The graph of lesson 05 in a page: moved by mouse and by keys, and computing as `course_lib.nn.graph` does."""

import itertools
import json
import math

import pytest

from course_lib.figures.graph_explorers import explorer, shares_of
from course_lib.nn import graph
from tests.figures.test_graph_explorers import diamond, ladder, neuron

from .pages import HTML, SWEEP, caption, data, page_with, press, root

GOALS = {"diamond": diamond, "neuron": neuron, "ladder": ladder}


@pytest.fixture(scope="module")
def made():
    figures = {name: explorer(make(), title=f"The {name}") for name, make in GOALS.items()}
    return {**figures, "nochoice": explorer(diamond(), title="Without the choice", choice=False, finished=False)}


@pytest.fixture(scope="module")
def built(made, tmp_path_factory):
    return page_with(tmp_path_factory.mktemp("site"), made)


def numbers(page, name, what):
    return json.loads(data(page, name)[what])


def test_each_figure_is_alive_and_each_control_changes_what_is_shown(page, made):
    assert page.locator(".course-live > figure:visible").count() == 0
    for name, one in made.items():
        figure = root(page, name)
        assert figure.get_attribute("aria-label") == one.title
        assert len(caption(page, name)) > 40
        shown = figure.locator(".course-live-stage,.course-live-caption")
        for node in figure.locator("input[type=range]").all():
            before = shown.evaluate_all(HTML)
            node.focus()
            node.press("ArrowLeft")
            assert shown.evaluate_all(HTML) != before, f"{name}: a slider"
        for node in figure.locator("button").all():
            if node.get_attribute("aria-disabled") == "true" or node.get_attribute("aria-pressed") == "true":
                continue
            before = shown.evaluate_all(HTML)
            node.click()
            assert shown.evaluate_all(HTML) != before, f"{name}: {node.inner_text()}"


@pytest.mark.parametrize("name", GOALS)
def test_values_shares_and_gradients_are_those_of_the_library(page, made, name):
    goal = GOALS[name]()
    order = graph.topological_order(goal)
    leaves = [n for n in order if n.is_leaf]
    ends = itertools.product(*[(-4.0, -1.5, 0.0, 3.5)] * len(leaves))
    settings = [list(values) for k, values in enumerate(ends) if len(leaves) < 3 or k % 7 == 0]
    for values, shown in zip(settings, page.evaluate(SWEEP, [name, settings]), strict=True):
        for leaf, value in zip(leaves, values, strict=True):
            leaf.value = value
        sent = shares_of(goal)
        assert json.loads(shown["values"]) == pytest.approx([float(n.value) for n in order], rel=1e-12)
        assert json.loads(shown["grads"]) == pytest.approx([float(n.grad) for n in order], rel=1e-9, abs=1e-15)
        for node, got in zip(order, json.loads(shown["got"]), strict=True):
            assert sorted(got) == pytest.approx(sorted(sent[node.name]), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("name", GOALS)
def test_keys_walk_through_every_value_and_every_share(page, name):
    """One step a computed node, one to begin the way back, one an edge; and back again the same way."""
    order = graph.topological_order(GOALS[name]())
    computed, edges = sum(not n.is_leaf for n in order), sum(len(n.parents) for n in order)
    pad = root(page, name).locator("[tabindex='0']")
    pad.focus()
    page.keyboard.press("Home")
    assert "Given are the leaves" in caption(page, name)
    assert numbers(page, name, "grads") == [None] * len(order)
    pictures = [pad.inner_html()]
    for k in range(1, computed + edges + 2):
        page.keyboard.press("ArrowRight")
        assert int(data(page, name)["step"]) == k
        pictures.append(pad.inner_html())
        if k == computed + 1:
            assert "Backward begins at the goal" in caption(page, name)
    assert int(data(page, name)["steps"]) == len(pictures) == len(set(pictures))
    page.keyboard.press("ArrowRight")
    assert int(data(page, name)["step"]) == len(pictures) - 1, "there is nothing behind the last step"
    for before in reversed(pictures[:-1]):
        page.keyboard.press("ArrowLeft")
        assert pad.inner_html() == before
    assert pad.evaluate("e => e === document.activeElement")
    assert pad.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)") >= 2
    page.keyboard.press("End")
    assert "one walk back has found" in caption(page, name)


def test_the_diamond_tells_shares_and_their_sum(page):
    assert caption(page, "diamond") == "At x = 3, w = 2: J = 30, and one walk back has found dJ/dx = 16, dJ/dw = 21."
    press(page, "diamond", "Step back")
    assert "u sends x a share, its gradient times the slope of the edge: 5 · 2 = 10." in caption(page, "diamond")
    assert "x had 6, and now has 6 + 10 = 16." in caption(page, "diamond")
    assert "= 6 + 10" in root(page, "diamond").locator(".course-live-stage svg").text_content()


def test_without_the_sum_the_leaves_are_wrong_and_marked(page):
    press(page, "diamond", "keep the last")
    assert data(page, "diamond")["wrong"] == "x w"
    assert caption(page, "diamond").endswith("dJ/dx = 10, dJ/dw = 15. Wrong: x, w.")
    assert root(page, "diamond").locator("text:has-text('✗')").count() == 2
    press(page, "ladder", "keep the last")
    assert data(page, "ladder")["wrong"] == "s0 s1 s2 s3"
    assert root(page, "neuron").get_by_text("where paths meet").count() == 0, "no node is used twice"
    assert root(page, "diamond").get_by_text("where paths meet").count() == 1
    assert root(page, "nochoice").get_by_text("where paths meet").count() == 0, "the lesson asks first"


def test_a_figure_that_is_to_be_played_opens_before_its_first_step(page):
    assert data(page, "nochoice")["step"] == "0"
    assert "Given are the leaves" in caption(page, "nochoice")
    assert int(data(page, "diamond")["step"]) == int(data(page, "diamond")["steps"]) - 1


MIDDLES = """() => {
    const svg = document.querySelector('#diamond .course-live-stage svg');
    const of = (r, name) => +r.getAttribute(name);
    const labels = [...svg.querySelectorAll('rect[rx="4"]')]
        .map(r => [of(r, 'x') + of(r, 'width') / 2, of(r, 'y') + 9]);
    const edges = [...svg.querySelectorAll('path[fill=none]')]
        .map(p => p.getAttribute('d').split(/[ML ]/).slice(1).map(Number));
    const far = (x, y) => Math.min(...edges.map(([a, b, c, d]) => Math.hypot(x - (a + c) / 2, y - (b + d) / 2)));
    return labels.map(([x, y]) => far(x, y));
}"""


def test_the_number_on_its_way_does_not_lie_where_edges_cross(page):
    """The two edges between x, w and u, v cross in the middle; the number stands nearer its end."""
    last, seen = int(data(page, "diamond")["steps"]) - 1, 0
    for step in range(last + 1):
        far = page.evaluate(MIDDLES)
        seen += len(far)
        assert all(place > 8 for place in far), "a number covers the middle of an edge"
        if step < last:
            press(page, "diamond", "Step back")
    assert seen >= 6, "one share an edge, at least"


def test_a_click_on_a_node_goes_where_its_gradient_is_complete(page):
    root(page, "diamond").locator("rect[style*=pointer]").nth(0).click()
    assert "x had 6, and now has" in caption(page, "diamond")
    root(page, "diamond").locator("rect[style*=pointer]").nth(4).click()
    assert "Backward begins at the goal" in caption(page, "diamond")


def test_play_walks_by_itself_and_pauses(page):
    press(page, "neuron", "Play")
    assert data(page, "neuron")["step"] == "0"
    root(page, "neuron").locator("[data-step]").count()
    page.wait_for_function("document.querySelector('#neuron .course-live').dataset.step === '2'")
    press(page, "neuron", "Pause")
    stopped = data(page, "neuron")["step"]
    page.wait_for_timeout(2000)
    assert data(page, "neuron")["step"] == stopped
    press(page, "neuron", "Play")
    assert int(data(page, "neuron")["step"]) == int(stopped) + 1
    press(page, "neuron", "End")
    assert root(page, "neuron").get_by_role("button", name="Play", exact=True).count() == 1


def test_a_changed_leaf_recomputes_at_the_step_that_is_shown(page):
    for _ in range(3):
        press(page, "diamond", "Step back")
    step = data(page, "diamond")["step"]
    slider = root(page, "diamond").locator("input[type=range]").first
    slider.focus()
    slider.press("Home")
    assert data(page, "diamond")["step"] == step
    assert numbers(page, "diamond", "values") == [-4, 2, -8, -2, 16]
    assert slider.get_attribute("aria-valuetext") == "−4"


@pytest.mark.parametrize("width", [900, 400, 320])
def test_it_fits_and_can_be_read_at_every_width(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in GOALS:
        page.evaluate(SWEEP, [name, [[-3.5] * root(page, name).locator("input[type=range]").count()]])
        boxes = page.evaluate(
            """name => [...document.querySelectorAll(`#${name} .course-live-stage rect[style*=pointer]`)].map(r => {
                const b = r.getBoundingClientRect(), svg = r.ownerSVGElement, stage = svg.getBoundingClientRect();
                const inside = [...svg.querySelectorAll('text:not([text-anchor])')].map(t => t.getBoundingClientRect())
                  .filter(t => t.top >= b.top && t.bottom <= b.bottom + 1 && t.left >= b.left && t.left <= b.right);
                const over = Math.max(...inside.map(t => t.right)) - b.right;
                return {x: b.left, y: b.top, w: b.width, h: b.height, over,
                  out: Math.max(b.right - stage.right, stage.left - b.left)};
            })""",
            name,
        )
        for box in boxes:
            assert box["over"] <= 0, f"{name}: a text leaves its box"
            assert box["out"] <= 0, f"{name}: a box leaves the drawing"
        for a, b in itertools.combinations(boxes, 2):
            apart = max(abs(a["x"] - b["x"]) - a["w"], abs(a["y"] - b["y"]) - a["h"])
            assert apart > 0, f"{name}: boxes overlap"
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('.course-live-stage text')].map(t => {
            const svg = t.ownerSVGElement, scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            return parseFloat(getComputedStyle(t).fontSize) * scale;
        })"""
    )
    assert min(sizes) >= 11
    assert not any(math.isnan(size) for size in sizes)


def test_less_motion_means_no_running_dot(browser, built):
    page = browser.new_page(reduced_motion="reduce")
    page.goto(built)
    assert page.locator("#diamond svg text").count() > 5
    assert page.locator("#diamond svg circle").count() == 0
    page.close()
