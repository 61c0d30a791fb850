"""Move every control of every widget on a page by mouse, and each kind by keyboard; the picture must follow."""

import re

MIN_ALT = 20
PATIENCE = 60  # seconds a picture may take to follow
CONTROLS = "xpath=./*[not(contains(@class, 'widget-html'))]"  # what an explorer holds besides its title and picture


def drive_everything(scope):
    """Drive all steppers and explorers in `scope` (a locator). Returns how many there were: (steppers, explorers)."""
    steppers = scope.locator(".course-stepper")
    for i in range(steppers.count()):
        drive_stepper(steppers.nth(i))
    explorers = scope.locator(".course-explore")
    for i in range(explorers.count()):
        drive_explorer(explorers.nth(i))
    return steppers.count(), explorers.count()


def assert_readable(scope):
    """Every image in `scope` is decoded, says what it shows, and there is one at least."""
    images = scope.locator("figure.course-figure img")
    assert images.count(), "no figure on the page"
    for i in range(images.count()):
        alt, width = images.nth(i).evaluate(
            "async img => { await img.decode().catch(() => 0); return [img.alt, img.naturalWidth]; }"
        )
        assert width > 0, f"a broken image: {alt!r}"
        assert len(alt) >= MIN_ALT, f"alt text too short: {alt!r}"


# --- steppers -------------------------------------------------------------------------------------------------------


def drive_stepper(stepper):
    """Use every button and the slider of a stepper by mouse and by keys; look at every frame."""
    page = stepper.page
    stepper.locator(".course-controls").wait_for(timeout=1000 * PATIENCE)
    stepper.scroll_into_view_if_needed()
    first, previous, following, last = (
        stepper.get_by_role("button", name=f"{name} step") for name in ("First", "Previous", "Next", "Last")
    )
    slider = stepper.get_by_role("slider")
    count = int(re.fullmatch(r"step 1 of (\d+)", stepper.locator(".course-count").inner_text())[1])

    def at(step, how):
        shown = stepper.locator(".course-count").inner_text()
        assert shown == f"step {step} of {count}", f"{how}: the counter says {shown!r}, not step {step} of {count}"

    for button, step in ((following, 2), (previous, 1), (last, count), (first, 1)):  # each can be clicked, of two too
        button.click()
        at(step, f"click on {button}")
    for button, key, step in (
        (following, "Enter", 2), (last, "Space", count), (previous, "Space", count - 1), (first, "Enter", 1),
        (following, "Space", 2), (last, "Enter", count), (previous, "Enter", count - 1), (first, "Space", 1),
        (first, "Enter", 1), (previous, "Space", 1),
    ):  # fmt: skip
        button.focus()
        page.keyboard.press(key)
        at(step, f"{key} on {button}")
        assert button.evaluate("e => e === document.activeElement"), f"{button} loses the focus"
    slider.focus()
    for key, step in (
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("ArrowUp", 2),
        ("ArrowDown", 1),
        ("End", count),
        ("Home", 1),
    ):
        page.keyboard.press(key)
        at(step, f"{key} on the slider")
    first.focus()
    for expected in ("Previous step", "Step", "Next step", "Last step"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == expected

    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, y, steps=6)
    page.mouse.up()
    at(count, "the slider dragged to its end")

    frames = [_stepper_frame(stepper, k) for k in range(count)]
    assert len({src for src, *_ in frames}) > 1, "the stepper's picture never changes"
    for k, (_, alt, caption, width) in enumerate(frames, start=1):
        assert width > 0, f"frame {k} is a broken image"
        assert len(alt) >= MIN_ALT, f"frame {k} has alt text {alt!r}"
        assert caption.strip() or not any(c.strip() for _, _, c, _ in frames), f"frame {k} lost its caption"
    first.click()


def _stepper_frame(stepper, k):
    return stepper.evaluate(
        """async (root, k) => {
            const range = root.querySelector('input[type=range]'), img = root.querySelector('figure img');
            range.value = k;
            range.dispatchEvent(new Event('input', {bubbles: true}));
            await img.decode().catch(() => 0);
            return [img.src, img.alt, root.querySelector('figcaption').textContent, img.naturalWidth];
        }""",
        k,
    )


# --- live figures ---------------------------------------------------------------------------------------------------


def drive_live(figure):
    """Use a live figure by mouse and by keys: something moves it either way, and its static picture is kept."""
    title = figure.get_attribute("aria-label")
    figure.locator(".course-live-caption").wait_for(state="attached")
    static = figure.locator("figure.course-figure img")
    assert static.count() == 1, f"{title}: no static picture is kept"
    assert len(static.get_attribute("alt")) >= MIN_ALT, title
    assert not static.is_visible(), f"{title}: both pictures are shown"
    controls = figure.locator(".course-live-bar").locator("button, input[type=range]").all()
    pads = figure.locator(".course-live-stage[tabindex='0'], .course-live-stage [tabindex='0']").all()
    assert controls or pads, f"{title}: nothing takes the focus"
    shown = figure.locator(".course-live-stage, .course-live-caption")

    def moves(act):
        before = shown.evaluate_all("nodes => nodes.map(e => e.innerHTML).join()")
        act()
        return shown.evaluate_all("nodes => nodes.map(e => e.innerHTML).join()") != before

    by_keys = [lambda c=c, k=k: c.press(k) for c in controls + pads for k in ("ArrowLeft", "ArrowRight", "Enter")]
    assert any(moves(act) for act in by_keys), f"{title}: no key moves it"
    buttons = [control for control in controls if control.evaluate("e => e.tagName") == "BUTTON"]
    boxes = figure.locator(".course-live-stage rect").all()[:3]
    by_mouse = [lambda c=c: c.click(force=True) for c in buttons + boxes]
    assert any(moves(act) for act in by_mouse), f"{title}: the mouse moves nothing"


# --- explorers ------------------------------------------------------------------------------------------------------


def drive_explorer(explorer):
    """Use every control of an explorer by mouse, and one of each kind by keys; each must change the picture."""
    explorer.locator("figure img").wait_for(timeout=1000 * PATIENCE)
    explorer.scroll_into_view_if_needed()
    controls = explorer.locator(CONTROLS)
    assert controls.count(), "an explorer without controls"
    kinds = set()
    for i in range(controls.count()):
        control = controls.nth(i)
        name = " ".join(control.inner_text().split())
        kind, ways = _ways(control)
        assert ways, f"the test does not know how to drive control {name!r}: {control.get_attribute('class')}"
        for how, moves in ways.items():
            if how == "mouse" or kind not in kinds:
                _must_change(explorer, f"control {name!r} moved by {how}", moves)
        kinds.add(kind)
    assert_readable(explorer)


def _ways(control):
    """Return (kind, {"mouse": moves, "keyboard": moves}); a move is a function, tried until the picture changes."""
    if control.locator(".noUi-handle").count():
        return "slider", _slider(control)
    if control.locator("select").count():
        return "choice", _select(control.locator("select").first)
    if control.locator("input[type=checkbox]").count():
        box = control.locator("input[type=checkbox]").first
        return "box", {"mouse": [box.click], "keyboard": [lambda: box.press("Space")]}
    if control.locator("input[type=radio]").count():
        radios = control.locator("input[type=radio]")
        clicks = [radios.nth(i).click for i in reversed(range(radios.count()))]
        press = [lambda: control.locator("input:checked").press("ArrowUp")] * len(clicks)
        return "radio", {"mouse": clicks, "keyboard": press}
    buttons = control.locator("xpath=descendant-or-self::button")
    if buttons.count():
        every = [buttons.nth(i) for i in range(buttons.count())]
        press = {key: [lambda b=b, key=key: b.press(key) for b in every] for key in ("Space", "Enter")}
        return "button", {"mouse": [b.click for b in reversed(every)], **press}
    if control.locator("input").count():
        return "field", _field(control.locator("input").first)
    return "", {}


def _slider(control):
    page, handles = control.page, control.locator(".noUi-handle")

    def drag(handle, share):
        handle.scroll_into_view_if_needed()
        grip, bar = handle.bounding_box(), control.locator(".noUi-base").bounding_box()
        y = grip["y"] + grip["height"] / 2
        page.mouse.move(grip["x"] + grip["width"] / 2, y)
        page.mouse.down()
        page.mouse.move(bar["x"] + bar["width"] * share, y, steps=5)
        page.mouse.up()

    def press(handle, key):
        before = control.locator(".widget-readout").inner_text()
        handle.press(key)
        page.wait_for_timeout(30)
        after = control.locator(".widget-readout").inner_text()
        assert before != after or key in ("Home", "End"), f"{key} does not move the slider at {before}"

    mouse, keys = [], []
    for i in range(handles.count()):
        handle = handles.nth(i)
        mouse += [lambda h=handle, s=s: drag(h, s) for s in (0.85, 0.15, 0.5, 0.7, 0.3)]
        # From the middle, so that an arrow always has somewhere to go.
        keys += [lambda h=handle, k=k: press(h, k) for k in ["ArrowLeft", "ArrowRight", "ArrowRight", "Home", "End"]]
        keys.insert(len(keys) - 5, lambda h=handle: drag(h, 0.5))
    return {"mouse": mouse, "keyboard": keys}


def _select(select):
    labels = select.locator("option").all_inner_texts()
    page = select.page

    def key(name):
        before = select.evaluate("e => e.selectedIndex")
        select.focus()
        page.keyboard.press(name)
        ends = {"ArrowUp": 0, "ArrowDown": len(labels) - 1}
        after = select.evaluate("e => e.selectedIndex")
        assert after != before or before == ends[name], f"{name} does not move the choice from {labels[before]!r}"

    arrows = [lambda k=k: key(k) for k in ["ArrowDown", "ArrowUp"] * 2 + ["ArrowDown"] * len(labels)]
    return {
        "mouse": [lambda i=i: select.select_option(index=i) for i in reversed(range(len(labels)))],
        "keyboard": arrows,
    }


def _field(field):
    def arrow(key):
        field.press(key)
        field.press("Enter")

    return {
        "mouse": [lambda: (field.click(), arrow("ArrowUp"))],
        "keyboard": [lambda k=k: arrow(k) for k in ("ArrowDown", "ArrowUp")],
    }


def _must_change(explorer, what, moves):
    """Make moves until the picture changes; wait until it stays the same."""
    before = _settled(explorer)
    for move in moves:
        move()
        after = _settled(explorer, unlike=before)
        assert not explorer.locator("[role=alert]").count(), f"{what}: {explorer.locator('[role=alert]').inner_text()}"
        if after != before:
            return
    if _settled(explorer, unlike=before, hope=4000) == before:  # a slow machine may answer late
        raise AssertionError(f"{what}: the picture never changes")


# Resolves to a hash of the picture once it stays the same for `rest` ms; waits up to `hope` ms for one unlike `before`.
_SETTLE = """(box, [before, rest, hope, patience]) => new Promise((resolve, reject) => {
    const start = performance.now();
    let shown = null, last = null, since = start;
    const look = () => {
        const text = (box.querySelector('figure img') || {}).src || box.querySelector('[role=alert]').textContent;
        const now = performance.now();
        if (text !== shown) {
            [shown, since, last] = [text, now, 0];
            for (let i = 0; i < text.length; i++) last = (31 * last + text.charCodeAt(i)) | 0;
        }
        const hash = last;
        const hoping = hash === before && now - start < hope;
        if (!hoping && now - since > rest) resolve(hash);
        else if (now - start > patience) reject(new Error('the picture does not come to rest'));
        else setTimeout(look, 40);
    };
    look();
})"""


def _settled(explorer, unlike=None, hope=1000):
    return explorer.evaluate(_SETTLE, [unlike, 200, hope, 1000 * PATIENCE])
