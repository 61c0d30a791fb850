"""A trace as one JSON file: a student sends it, a teacher opens it. Nothing in a file is ever run.

Source: the course's own. A file may come from anybody: everything that is used is looked at first.
"""

import json

from course_lib.paths import user_path, write_whole
from course_lib.simt.trace.document import FORMAT, VERSION
from course_lib.simt.trace.lane_states import MEANINGS
from course_lib.simt.trace.packing import as_array, unpacked

MOST_BYTES = 30_000_000
SPACES, WAYS = ("global", "shared", "local", "constant"), ("load", "store", "atomic")
KINDS = ("", "if", "loop", "return", "break", "continue", "call", "stop")
AGAIN = "Ask for it to be made again, with trace.save(path)."


class _Damaged(Exception):
    """What is wrong with a document."""


def save(trace, path):
    """Write a trace's document to a file, whole or not at all. OSError in words if that is not possible."""
    text = json.dumps(trace.document | {"watched": list(trace.watched)}, allow_nan=False, separators=(",", ":"))
    write_whole(path, lambda file: file.write(text.encode()))


def load(path):
    """Return the Trace in a file.

    Raises
    ------
    OSError, ValueError
        If there is no such file; if it is no trace, of a later version, or damaged.

    Source: the course's own.
    """
    from course_lib.simt.trace.trace import Trace

    path = user_path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a trace; name the file in it that trace.save(path) wrote.")
    if (size := path.stat().st_size) > MOST_BYTES:
        raise ValueError(f"{path.name} has {size:,} bytes; a trace has at most {MOST_BYTES:,}.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is no trace, or only a part of one: {error}. {AGAIN}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{path.name} is no trace of a kernel. A trace is written by trace.save(path).")
    if document.get("version") != VERSION:
        raise ValueError(
            f"{path.name} is a trace of version {document.get('version')!r}; this course reads version {VERSION}. "
            "Update the course, or have the trace made with this version."
        )
    try:
        watched = _checked(document)
        trace = Trace(document)
        assert len(trace.steps) == len(document["steps"])
        return trace.watch(*watched)
    except _Damaged as error:
        raise ValueError(f"{path.name} is damaged: {error}. {AGAIN}") from None
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path.name} is damaged: {type(error).__name__}: {str(error)[:200]}. {AGAIN}") from None


def _no_constant(word):
    raise ValueError(f"{word} is no number of JSON")


def _need(holds, what):
    if not holds:
        raise _Damaged(what)


def _is(value, kind):
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _checked(d):
    """Look at the parts of a document; return the watched names."""
    for key, kind in {
        "kernel": str, "grid": list, "block": list, "place": list, "warps": list, "threads": int, "complete": bool,
        "functions": dict, "arrays": list, "frames": list, "steps": list, "elsewhere": list,
    }.items():  # fmt: skip
        _need(_is(d.get(key), kind), f"{key} is missing or no {kind.__name__}")
    for key in ("grid", "block", "place"):
        _need(len(d[key]) == 3 and all(_is(v, int) and v >= 0 for v in d[key]), f"{key} is no triple of whole numbers")
    warps = d["warps"]
    _need(1 <= len(warps) <= 8 and all(_is(w, int) for w in warps), "warps are not one to eight whole numbers")
    _need(warps == list(range(warps[0], warps[0] + len(warps))) and warps[0] >= 0, "warps do not follow each other")
    _need(0 < d["threads"] <= 32 * len(warps), f"{d['threads']} threads are not those of {len(warps)} warps")
    _need(d["kernel"] in d["functions"], "the kernel's text is missing")
    for lines in d["functions"].values():
        _need(_is(lines, dict) and all(n.isdecimal() and _is(t, str) for n, t in lines.items()), "a text is no text")
    for array in d["arrays"]:
        _array(array)
    for frame in d["frames"]:
        _need(_is(frame, dict) and frame.get("function") in d["functions"], "a call is one of no known function")
        _changes(frame.get("start"), d["threads"])
    _need(d["steps"], "it has no steps")
    for number, step in enumerate(d["steps"]):
        try:
            _step(step, d)
        except (_Damaged, ValueError, TypeError, KeyError) as error:
            raise _Damaged(f"step {number}: {error}") from None
    for found in d["elsewhere"]:
        _finding(found, d["threads"])
    watched = d.pop("watched", [])
    _need(_is(watched, list) and all(_is(n, str) for n in watched), "what is watched is no list of names")
    return watched


def _array(array):
    _need(_is(array, dict) and _is(array.get("name"), str) and array.get("space") in SPACES, "an array is none")
    shape = array.get("shape")
    _need(_is(shape, list) and all(_is(s, int) and s >= 0 for s in shape), f"array {array['name']} has no shape")
    as_array([0], array["dtype"])


def _step(step, d):
    threads = d["threads"]
    _need(_is(step, dict) and _is(step.get("line"), int), "it has no line")
    frame, kind, letters = step.get("frame"), step.get("kind", ""), step.get("state")
    _need(_is(frame, int) and -1 <= frame < len(d["frames"]), f"there is no call {frame!r}")
    _need(kind in KINDS, f"{str(kind)[:40]!r} is no kind of step")
    _need(_is(letters, str) and set(letters) <= set(MEANINGS), "its lanes have unknown states")
    _need(len(letters) == threads or frame == -1, f"it has {len(letters)} lanes, not {threads}")
    _need(step.get("barrier", "") in ("", "block", "warp", "grid"), "it has an unknown barrier")
    _changes(step.get("set", {}), threads)
    _lanes(step.get("yes", []), threads)
    for touch in _list(step, "touch"):
        array = _of(touch, d["arrays"])
        _need(touch.get("way") in WAYS, "an access is neither a load nor a store")
        who, count = _lanes(touch["who"], threads), _places(touch, array)
        _need(len(who) == count, "an access has more lanes than elements, or fewer")
        _need("v" not in touch or len(as_array(unpacked(touch["v"]), array["dtype"])) == count, "values are missing")
        _need(touch.get("cost") is None or _is(touch["cost"], int), "a cost is no number")
    for change in _list(step, "shared"):
        array = _of(change, d["arrays"])
        count = _places(change, array)
        _need(len(unpacked(change["v"])) == len(unpacked(change["by"])) == count, "shared values are missing")
        _need(all(_is(t, int) and 0 <= t < 1024 for t in unpacked(change["by"])), "there is no such thread")
    for found in _list(step, "found"):
        _finding(found, threads)


def _list(step, key):
    value = step.get(key, [])
    _need(_is(value, list) and all(_is(v, dict) for v in value), f"{key} is no list")
    return value


def _of(touch, arrays):
    _need(_is(touch.get("a"), int) and 0 <= touch["a"] < len(arrays), "there is no such array")
    return arrays[touch["a"]]


def _places(touch, array):
    size = 1
    for side in array["shape"]:
        size *= side
    at = unpacked(touch["at"])
    _need(all(_is(i, int) and 0 <= i < size for i in at), f"an element lies outside of {array['name']}")
    return len(at)


def _lanes(packed_lanes, threads):
    lanes = unpacked(packed_lanes)
    _need(all(_is(i, int) and 0 <= i < threads for i in lanes), "there is no such lane")
    return lanes


def _changes(changes, threads):
    _need(_is(changes, dict), "variables are missing")
    for name, change in changes.items():
        _need(_is(change, dict) and _is(change.get("t"), str), f"variable {name} has no type")
        count = len(_lanes(change["who"], threads)) if "who" in change else threads
        if "of" in change:
            _need(_is(change["of"], int) and _is(change["v"], list), f"variable {name} has no values")
            _need(len(change["v"]) == count * change["of"], f"variable {name} has too few values, or too many")
            unpacked([v for v in change["v"] if v is not None])
        else:
            _need(len(as_array(unpacked(change["v"]), change["t"])) == count, f"{name} has too few values, or too many")


def _finding(found, threads):
    for key in ("kind", "message", "fix", "array", "severity"):
        _need(_is(found.get(key), str), f"a finding has no {key}")
    _need(_is(found.get("line"), int) and _is(found.get("count"), int), "a finding has no line")
    for key in ("lane", "other"):
        _need(found.get(key) is None or (_is(found[key], int) and 0 <= found[key] < threads), "there is no such lane")
