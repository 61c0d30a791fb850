"""Look for what computes right values in the files that students are to get: the checks' own answers.

Whoever has `expect` of an exercise needs no answer of his own. So no text of the archive may give one to an exercise
but `Recorded`, no function of the instructors' modules may be there, and a record must be one and nothing more.

Source: the course's own.
"""

import ast
import re
from pathlib import Path

from course_lib.checks.recorded import IMPOSSIBLE, recorded_exercises, unpacked
from course_lib.grading.public_checks import INSTRUCTORS, stays_here

COMPUTE = {"Exercise": ("expect", 8), "KernelExercise": ("expect", 8), "Cause": ("wrong", 1)}
"""What is made with a function of an exercise's arguments -> its keyword, and its place among the others."""

WORDS = re.compile(rf"\b({'|'.join(COMPUTE)}|expect)\b")
"""One of them is in every text that does so: most texts need not be parsed."""

HARMLESS = "Recorded"
"""The only such function that computes nothing."""


def computations(text):
    """Return where a Python text makes an exercise or a mistake with a function that computes, a line each.

    No errors; a text that does not parse has none. Source: the course's own.
    """
    try:
        tree = ast.parse(text if WORDS.search(text) else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    recorded = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _called(node.value) == HARMLESS
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        keyword, place = COMPUTE.get(_called(node), ("expect", len(node.args)))
        given = [k.value for k in node.keywords if k.arg == keyword] or node.args[place : place + 1]
        for value in given:
            if _called(value) != HARMLESS and not (isinstance(value, ast.Name) and value.id in recorded):
                found.append(f"line {value.lineno} computes what is right or a mistake: {ast.unparse(value)[:60]}")
    return found


def _called(node):
    """Return the last name of what is called, "" of anything but a call."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", None) or getattr(function, "id", "")


def instructors_code(course):
    """Return [(file, its text, [(name, text) of its functions])] of the modules that compute right values.

    OSError if they cannot be read. Source: the course's own.
    """
    found = []
    for folder in INSTRUCTORS:
        for file in sorted((Path(course) / folder).glob("*.py")):
            if stays_here(f"{folder}{file.name}"):
                text = file.read_text(encoding="utf-8")
                found.append((file.name, text, _functions(text)))
    return found


def _functions(text):
    lines = text.splitlines()
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    return [(node.name, "\n".join(lines[node.lineno - 1 : node.end_lineno])) for node in nodes]


def record_problem(content):
    """Return why bytes are no record of a sheet's public cases, "" if they are one. No errors.

    Source: the course's own.
    """
    try:
        for exercise in recorded_exercises(content.decode("utf-8")):
            functions = [exercise.expect, *(c.wrong for c in exercise.causes)] if exercise.kind != "text" else []
            for packed in (result for function in functions for result in function.results):
                if packed is not IMPOSSIBLE:
                    unpacked(packed)
    except Exception as error:  # whatever else it may be
        return f"it is no record of public cases ({type(error).__name__}: {error})"[:200]
    return ""
