"""A sheet's exercises as students have them: for each public case the right result, written down, and no way to others.

What an instructor's course folder computes, the students' archive looks up: what is right, what each usual mistake
returns, and what a kernel may cost. `grading.public_checks` writes it, and everything that judges reads either form.

Source: the course's own.
"""

import base64
import binascii
import importlib
import json
import zlib
from pathlib import Path

import numpy as np

from course_lib.checks.exercise import Case, Cause, Exercise, KernelExercise, TextQuestion
from course_lib.checks.values import decode, encode, resolve

KINDS = {"function": Exercise, "kernel": KernelExercise, "text": TextQuestion}

CODE = "course_lib.checks.exercises."
"""Where the code lies that even a student's machine needs: how a kernel is launched, what one of many right values
must fulfil."""

LONG = 4096
"""Characters of a value from which on it is packed."""

OPAQUE = '"t": "opaque"'
"""What the JSON of a value has where something is no plain value; in a text that it holds the quotes are escaped."""

IMPOSSIBLE = None
"""Stands for the result of a mistake that nobody can make on the arguments of a case."""


class NoForm(ValueError):
    """A value is, or holds, what cannot be written down; the message says of what type. Source: the course's own."""


class Recorded:
    """A function of an exercise's arguments that knows its results on the public cases, and computes nothing.

    Parameters
    ----------
    id : str
        Of the exercise.
    cases : sequence of Case
    results : sequence
        What `packed` returned for each case, or `IMPOSSIBLE`.

    Called with other arguments, or where nothing is possible, it raises LookupError. Source: the course's own.
    """

    def __init__(self, id, cases, results):
        self.id, self.cases, self.results = id, tuple(cases), tuple(results)

    def __call__(self, *arguments):
        given = _mark(arguments)
        for case, result in zip(self.cases, self.results, strict=True):
            if _mark(tuple(map(resolve, case.args))) == given:
                if result is IMPOSSIBLE:
                    raise LookupError(f"{self.id}: this mistake is not possible on these arguments.")
                return unpacked(result)
        raise LookupError(
            f"{self.id}: only the results of its {len(self.cases)} public cases are known here, and none for these "
            "arguments. Other cases are the instructor's."
        )


def _mark(value):
    """Return what two arguments have in common only if an answer cannot tell them apart."""
    if isinstance(value, np.random.Generator):
        return "generator", repr(value.bit_generator.state)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return type(value).__name__, tuple(map(_mark, value))
    if isinstance(value, dict):
        return "dict", tuple((_mark(k), _mark(v)) for k, v in value.items())
    return value if callable(value) else json.dumps(encode(value))


def packed(value):
    """Return a value as plain JSON data, a long one compressed; NoForm if it has none.

    Source: the course's own.
    """
    data = encode(value)
    text = json.dumps(data)
    if OPAQUE in text:
        raise NoForm(f"a {type(value).__name__} cannot be recorded: it is, or holds, no plain value.")
    if len(text) < LONG:
        return data
    return {"t": "zlib", "v": base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")}


def unpacked(data):
    """Return the value that `packed` was given, a new one each time; ValueError for anything else.

    Source: the course's own.
    """
    text = json.dumps(data)
    if type(data) is dict and data.get("t") == "zlib":
        try:
            text = zlib.decompress(base64.b64decode(data["v"], validate=True)).decode()
        except (KeyError, TypeError, binascii.Error, zlib.error) as error:
            raise ValueError(f"a packed value cannot be read: {error}.") from error
        data = json.loads(text)
    if OPAQUE in text:
        raise ValueError("a packed value is, or holds, no plain value.")
    return decode(data)


def recorded_exercises(text):
    """Return the exercises of a sheet, in order, from the text of its record.

    ValueError or LookupError if the text is no such record: of each exercise, `facts`, and if it is no question in
    words, `cases` with `args`, `note`, `right`, one of `wrong` for each of `causes`, and a kernel's `most`.

    Source: the course's own.
    """
    return tuple(_exercise(one) for one in json.loads(text)["exercises"])


def recorded_file(module):
    """Return the path of a sheet's record beside its module of `checks.exercises`. No errors.

    Source: the course's own.
    """
    return Path(__file__).with_name("exercises") / f"{module}.json"


def _exercise(record):
    kind = KINDS[record["kind"]]
    facts = {name: tuple(v) if isinstance(v, list) else v for name, v in record["facts"].items()}
    if kind is TextQuestion:
        return kind(**facts)
    id, rows = facts["id"], record["cases"]
    cases = tuple(Case(unpacked(row["args"]), row["note"]) for row in rows)
    wrong = zip(*(row["wrong"] for row in rows), strict=True) if record["causes"] else ()
    causes = [Cause(says, Recorded(id, cases, results)) for says, results in zip(record["causes"], wrong, strict=True)]
    code = {part: _code(record[part]) for part in ("launch", "requires") if part in record}
    if "most" in rows[0]:
        code["budget"] = Recorded(id, cases, [row["most"] for row in rows])
    right = Recorded(id, cases, [row["right"] for row in rows])
    return kind(**facts, expect=right, cases=cases, causes=tuple(causes), **code)


def _code(name):
    module, _, function = name.partition(":")
    if not module.startswith(CODE):
        raise LookupError(f"{name!r} is not in {CODE.rstrip('.')}.")
    return getattr(importlib.import_module(module), function)
