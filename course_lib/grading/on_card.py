"""Times on this machine's card for the leaderboard: each kernel in a process of its own, which is ended after a while.

Only a kernel that the executor took, with full credit for its values, comes here; see `card_text` for what of its cell
crosses. No mark is made of it.

Source: the course's own.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from course_lib import simt
from course_lib.checks.kernel_text import written_out
from course_lib.checks.kernels import IMPORTS
from course_lib.checks.own_launch import launch_in_text
from course_lib.grading.card_text import packed_kernel
from course_lib.grading.csvfile import write_atomically

SECONDS = 120.0
"""On the clock, for one kernel: compiling, comparing, timing."""

SEED = 16
"""Of the inputs: all teams have the same."""

KEPT = "measured.json"
"""What was measured, so that a rerun asks for new kernels only."""


def request_of(exercise, text, batch=0):
    """Return the request for `card_process`, from an answer's text that the executor took.

    `batch` images instead of the exercise's. KernelError, LaunchError and NotForACard where it has no such form.

    Source: the course's own.
    """
    case = exercise.cases[-1]
    images = batch or exercise.batch
    arrays = exercise.arrays_of(case)
    plain = written_out(re.sub("(?m)^[%!].*$", "", text), exercise.function)
    source = simt.read(
        plain, exercise.function, names=dict(exercise.names), kept=arrays, imports=IMPORTS, skip=True
    )
    grid, block = launch_in_text(text, exercise.launcher, images, {name: array.shape for name, array in arrays.items()})
    return {
        "kernel": packed_kernel(source, arrays), "grid": grid, "block": block, "seed": SEED,
        "x": [images, *case.args[0].shape[1:]], "w": list(case.args[1].shape), "constant": next(iter(arrays), ""),
    }  # fmt: skip


def has_card():
    """Return whether kernels run on a GPU here. No errors. Source: the course's own."""
    from course_lib.cuda.choice import GPU, DeviceError
    from course_lib.cuda.device import choice

    try:
        return choice().device == GPU
    except DeviceError:
        return False


def measure_all(wanted, folder, ask=None):
    """Return {(exercise id, text): reply} of kernels, those that are kept in a folder without asking again.

    Parameters
    ----------
    wanted : iterable of (KernelExercise, str)
    folder : Path
    ask : callable, optional
        ask(request) -> reply; a process on this machine's card unless given.

    No errors: they are reasons in the replies. OSError if the folder takes no file. Source: the course's own.
    """
    file = Path(folder) / KEPT
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    kept, found, machine = kept if isinstance(kept, dict) else {}, {}, _machine()
    for exercise, text in wanted:
        if (exercise.id, text) in found:
            continue
        try:
            request = request_of(exercise, text)
        except Exception as error:  # what a text leads to is its own
            found[exercise.id, text] = _nothing(f"{type(error).__name__}: {error}"[:300])
            continue
        key = hashlib.sha256(json.dumps([machine, request], sort_keys=True).encode()).hexdigest()
        reply = kept[key] if isinstance(kept.get(key), dict) else (ask or ask_process)(request)
        if key not in kept and (reply["seconds"] or reply["wrong"]):  # a busy card may have ended the others
            kept[key] = reply
            write_atomically(file, json.dumps(kept, indent=1).encode("ascii"))
        found[exercise.id, text] = reply
    return found


@functools.cache
def _machine():
    from importlib import metadata

    files = [Path(__file__).with_name(name).read_bytes() for name in ("card_process.py", "card_text.py")]
    versions = []
    for package in ("numba", "numba-cuda", "torch", "course-lib"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions.append(f"{package} {metadata.version(package)}")
    return [*versions, hashlib.sha256(b"".join(files)).hexdigest()]


def ask_process(request, seconds=SECONDS):
    """Return the reply of a new process to a request; its whole group is ended after so many seconds. No errors.

    Source: the course's own.
    """
    command = [sys.executable, "-c", "from course_lib.grading.card_process import main; main()"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    try:
        out, errors = process.communicate(json.dumps(request).encode() + b"\n", timeout=seconds)
        return _sound(json.loads(out))
    except subprocess.TimeoutExpired:
        return _nothing(f"it did not end within {seconds:g} s on the card.")
    except (ValueError, TypeError, KeyError):
        last = errors[-300:].decode("utf-8", "replace").strip().rpartition("\n")[2]
        return _nothing(f"its process ended: {last or process.returncode}")
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _nothing(reason):
    """Return the reply for a kernel that was not timed."""
    return {"reason": reason, "wrong": False, "seconds": None, "vendor": None, "against": "", "card": ""}


def _sound(reply):
    """Return a reply with values of their types only; TypeError or KeyError if it has others."""
    times = {name: None if reply[name] is None else float(reply[name]) for name in ("seconds", "vendor")}
    if any(t is not None and not 0 < t < SECONDS for t in times.values()):
        raise TypeError("a time that cannot be")
    texts = {name: str(reply[name])[:300] for name in ("reason", "against", "card")}
    return times | texts | {"wrong": reply["wrong"] is True}
