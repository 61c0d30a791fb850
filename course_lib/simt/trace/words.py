"""What a step did, in a sentence or two.

Source: the course's own.
"""

from course_lib.simt.gather import listed
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
    parts = [f"{where}: {_who(step, document['threads'])}."] if frame >= 0 else [f"{where}:"]
    parts += [_went(step), _touched(document, step), _held(step)]
    for found in step.get("found", ()):
        parts.append(f"{_kind(found)}: {found['message']}")
    return " ".join(part for part in parts if part)


def _kind(found):
    return found["kind"][0].upper() + found["kind"][1:]


def _who(step, threads):
    letters = step["state"]
    active = sum(letter in lanes.RUNNING for letter in letters)
    if active == 0:
        return "no lane of this warp is active" if threads <= 32 else "no lane of these warps is active"
    words = [f"all {threads} lanes active" if active == threads else f"{active} of {threads} lanes active"]
    if threads == 1:
        words = ["the only lane is active"]
    for letter, (one, many) in NOT_HERE.items():
        if count := letters.count(letter):
            words.append(f"{count} {one if count == 1 else many}")
    return "; ".join(words)


def _went(step):
    active = sum(letter in lanes.RUNNING for letter in step["state"])
    if step.get("kind") == "call":
        return "A function is called; its lines come next."
    if step.get("barrier"):
        return f"They wait here for {ALL[step['barrier']]}."
    if step.get("kind") in ("if", "loop"):
        yes = len(unpacked(step.get("yes", [])))
        inside, past = ("go in", "do not") if step["kind"] == "if" else ("go round", "are done")
        if yes in (0, active):
            return f"All {inside}." if yes else ("None goes in." if step["kind"] == "if" else "All are done with the loop.")
        return f"The warp diverges: {yes} {inside}, {active - yes} {past}."
    ends = {"return": "They return.", "break": "They leave the loop.", "continue": "They end this turn."}
    return ends.get(step.get("kind"), "")


def _touched(document, step):
    found = []
    for touch in step.get("touch", ()):
        array = document["arrays"][touch["a"]]
        words = f"{VERBS[touch['way']]} {array['name']}"
        cost = touch.get("cost")
        if cost is not None and array["space"] == "global":
            words += f" ({cost} sector{'s' * (cost > 1)})"
        elif cost is not None:
            words += f" (shared, {cost} wavefront{'s' * (cost > 1)})"
        if words not in found:
            found.append(words)
    return f"It {listed(found)}." if found else ""


def _held(step):
    names = [n for n in step.get("set", ())]
    return f"New: {', '.join(names)}." if names else ""
