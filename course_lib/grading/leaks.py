"""Look for what students must not get in the files that they are to get: a proof by search, not by trust.

Source: the course's own.
"""

import io
import json
import re
import tokenize

from course_lib.grading.public_checks import INSTRUCTORS, stays_here
from course_lib.grading.right_values import computations, instructors_code, record_problem

MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN BROKEN", "END BROKEN", "BEGIN HIDDEN", "END HIDDEN")
NEAR = ("exercises/", "course_lib/checks/", "course_lib/grading/")
"""Where no solution and no line of a key may be. The lessons and the library teach what the sheets ask for: there a
guarded addition is a guarded addition, and only what is long is no coincidence."""

LONG = 6
"""Lines of a solution from which on it must not be in a lesson or in the library either."""

RUN, LEAST, FAR_RUNS = 4, 80, 4
"""Lines of a key, or of what computes right values, in a row that must not be near a sheet, if they have so many
characters together; and how many such runs are no coincidence elsewhere."""

_REGION = re.compile(r"^[ \t]*### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION", re.MULTILINE | re.DOTALL)
_TEXT_REGION = re.compile(r"<!-- BEGIN SOLUTION -->(.*?)<!-- END SOLUTION -->", re.DOTALL)


def leaks(files, solutions):
    """Return what must not be in {path: bytes}, a line each: "exercises/04...: the solution of cell 7". [] if nothing.

    `solutions` is the folder of the solutions' scripts and keys, in the course folder: what computes right values there
    is searched for too. OSError if they cannot be read.

    Source: the course's own.
    """
    found = [f"{name}: it has no place in the archive" for name in files if not _has_place(name)]
    secrets = _secret_runs(solutions)
    bodies = _bodies(solutions) + _functions(solutions.parent)
    for name, content in files.items():
        text = _text(name, content)
        if name.endswith(".ipynb"):
            found += [f"{name}: {problem}" for problem in _outputs(content)]
        if name.endswith(".py"):
            found += [f"{name}: {problem}" for problem in computations(text)]
        if name.startswith(INSTRUCTORS) and name.endswith(".json") and (problem := record_problem(content)):
            found.append(f"{name}: {problem}")
        if not name.startswith("course_lib/grading/"):  # this file says what the markers are
            found += [f"{name}: the marker {marker!r}" for marker in MARKERS if marker in text]
        lines = _lines(text)
        joined = "\n" + "\n".join(lines) + "\n"
        near = name.startswith(NEAR)
        found += [
            f"{name}: {where}"
            for where, body in bodies
            if (near or len(body) >= LONG) and "\n" + "\n".join(body) + "\n" in joined
        ]
        for whose, runs in secrets.items():
            shared = sorted(_windows(lines) & runs)
            if shared and (near or len(shared) >= FAR_RUNS):
                found.append(f"{name}: {len(shared)} runs of lines of {whose}, such as {shared[0][0][:60]!r}")
    return found


def _has_place(name):
    inside = name.split("/")[0] in ("notebooks", "exercises", "results", "course_lib") or "/" not in name
    return inside and not stays_here(name) and "__pycache__" not in name and not name.endswith((".pyc", ".pyo"))


def _text(name, content):
    """Return the source of a file; of a notebook, that of its cells."""
    if not name.endswith(".ipynb"):
        return content.decode("utf-8", "replace")
    return "\n".join("".join(cell["source"]) for cell in json.loads(content)["cells"])


def _outputs(content):
    cells = enumerate(json.loads(content)["cells"], start=1)
    return [f"cell {n} has an output" for n, c in cells if c.get("outputs") or c.get("execution_count")]


def _lines(text):
    """Return the lines of code without indentation and comments, empty ones left out."""
    stripped = (line.split("  #")[0].strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def _bodies(solutions):
    """Return [(where, lines)] of every marked region."""
    found = []
    for script in sorted(solutions.glob("*.py")):
        text = script.read_text(encoding="utf-8")
        for number, body in enumerate(_REGION.findall(text), start=1):
            found.append((f"the solution {number} of {script.name}", _lines(body)))
        for number, body in enumerate(_TEXT_REGION.findall(text), start=1):
            words = [line.lstrip("# ").strip() for line in body.splitlines()]
            found.append((f"the solution in words {number} of {script.name}", [line for line in words if line]))
    return [(where, body) for where, body in found if body]


def _functions(course):
    """Return [(where, lines)] of every function that computes right values, its name included."""
    return [
        (f"the function {function} of {file}", _lines(code))
        for file, _, functions in instructors_code(course)
        for function, code in functions
    ]


def _secret_runs(solutions):
    """Return {whose: runs of lines} of all keys, and of what computes right values."""
    keys = [file.read_text(encoding="utf-8") for file in sorted((solutions / "keys").glob("*.py"))]
    checks = [text for _, text, _ in instructors_code(solutions.parent)]
    return {"a key": _runs(keys), "a check that computes right values": _runs(checks)}


def _runs(texts):
    """Return the runs of lines of modules; their docstrings and imports are no secret."""
    return set().union(*(_windows(_lines(_without_head(text))) for text in texts))


def _without_head(text):
    """Return a module's text from its first line after the imports on."""
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.start[1] == 0 and token.string in ("import", "from"):
            last = token.end[0]
    return "\n".join(text.splitlines()[last:])


def _windows(lines):
    runs = (tuple(lines[i : i + RUN]) for i in range(len(lines) - RUN + 1))
    return {run for run in runs if sum(map(len, run)) >= LEAST}
