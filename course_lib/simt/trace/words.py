"""What a step did, in a sentence or two.

Source: the course's own.
"""

from course_lib.simt.gather import listed
from course_lib.simt.lanes import WARP
from course_lib.simt.trace import lane_states as lanes
from course_lib.simt.trace.packing import unpacked

NOT_HERE = {
    lanes.NEXT: ("waits for the other side of the if", "wait for the other side of the if"),
    lanes.SKIPS: ("skips the body of the if", "skip the body of the if"),
    lanes.DONE: ("has done its side of the if", "have done their side of the if"),
    lanes.LEFT: ("has left the loop", "have left the loop"),
    lanes.TURN: ("has ended this turn", "have ended this turn"),
    lanes.RETURNED: ("has returned from the function", "have returned from the function"),
    lanes.EXITED: ("has left the kernel", "have left the kernel"),
    lanes.WAITS: ("waits for other threads", "wait for other threads"),
    lanes.AWAY: ("is elsewhere", "are elsewhere"),
}
"""What one lane or several lanes do that take no part, by their letter."""

ALL = {"block": "all threads of the block", "warp": "the other lanes of the warp", "grid": "all threads of the grid"}
VERBS = {"load": "reads", "store": "writes", "atomic": "changes atomically"}


def said(document, number):
    """Return what step `number` of a trace's document did. No errors."""
    step = document["steps"][number]
    frame = step["frame"]
    function = document["frames"][frame]["function"] if frame >= 0 else document["kernel"]
    where = f"line {step['line']}" if function == document["kernel"] else f"line {step['line']} of {function}"
    parts = [f"{where}: {_who(step, document['threads'])}." if frame >= 0 else f"{where}:"]
    parts += [_went(step), _touched(document, step), _held(step)]
    for found in step.get("found", ()):
        elsewhere = f" in line {found['line']}" if found["line"] not in (step["line"], 0) else ""
        parts.append(f"{capital(found['kind'])}{elsewhere}: {found['message']}")
    return " ".join(part for part in parts if part)


def capital(text):
    """Return a text with a capital letter at its beginning. No errors."""
    return text[:1].upper() + text[1:]


def _who(step, threads):
    letters = step["state"]
    active = sum(letter in lanes.RUNNING for letter in letters)
    if active == 0:
        return "no lane of this warp is active" if threads <= WARP else "no lane of these warps is active"
    words = [f"all {threads} lanes active" if active == threads else f"{active} of {threads} lanes active"]
    if threads == 1:
        words = ["the only lane is active"]
    for letter, (one, many) in NOT_HERE.items():
        if count := letters.count(letter):
            words.append(f"{count} {one if count == 1 else many}")
    return "; ".join(words)


def _went(step):
    kind = step.get("kind")
    if kind == "call":
        return "A function is called; its lines come next."
    if step.get("barrier"):
        return f"They wait here for {ALL[step['barrier']]}."
    return _branched(step, kind) if kind in ("if", "loop") else ENDS.get(kind, "")


ENDS = {"return": "They return.", "break": "They leave the loop.", "continue": "They end this turn."}


def _branched(step, kind):
    """Return who went into the body of an `if` or a loop, and which warps went both ways."""
    active = [i for i, letter in enumerate(step["state"]) if letter in lanes.RUNNING]
    yes = set(unpacked(step.get("yes", [])))
    one_goes, go, past = ("goes in", "go in", "do not") if kind == "if" else ("goes round", "go round", "are done")
    if len(yes) == len(active):
        return f"All {go}." if len(active) > 1 else f"It {one_goes}."
    if not yes:
        return "None goes in." if kind == "if" else "The loop is over for them."
    inside = f"{len(yes)} {go if len(yes) > 1 else one_goes}"
    rest = len(active) - len(yes)
    outside = f"{rest} {past}" if rest > 1 else f"1 {'does not' if kind == 'if' else 'is done'}"
    split = sum(0 < len(yes & set(warp)) < len(warp) for warp in _by_warp(active))
    if len(step["state"]) <= WARP:
        return f"The warp diverges: {inside}, {outside}."
    diverge = "no warp diverges" if split == 0 else "1 warp diverges" if split == 1 else f"{split} warps diverge"
    return f"{inside}, {outside}; {diverge}."


def _by_warp(active):
    """Return the active lanes of each warp that has some."""
    warps = {}
    for lane in active:
        warps.setdefault(lane // WARP, []).append(lane)
    return warps.values()


def _touched(document, step):
    found = []
    for touch in step.get("touch", ()):
        array = document["arrays"][touch["a"]]
        words = f"{VERBS[touch['way']]} {array['name']}{_cost(touch, array)}"
        if words not in found:
            found.append(words)
    return f"The line {listed(found)}." if found else ""


def _cost(touch, array):
    """Return what an access costs, in words."""
    cost = touch.get("cost")
    if cost is None:
        return "" if array["space"] == "global" else f" ({array['space']})"
    if array["space"] == "global":
        return f" ({cost} sector{'s' * (cost > 1)})"
    least = len({lane // WARP for lane in unpacked(touch["who"])}) * max(1, array["bytes"] // 4)
    more = cost - least
    conflicts = f", {more} bank conflict{'s' * (more > 1)}" if more > 0 else ""
    return f" (shared, {cost} wavefront{'s' * (cost > 1)}{conflicts})"


def _held(step):
    return f"New: {', '.join(step['set'])}." if step.get("set") else ""
