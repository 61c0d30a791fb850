"""The key of a sheet: hidden cases, and wrong answers with the message that each must get. Students do not get it.

Source: the course's own.
"""

import functools
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from course_lib.checks.registry import MODULES
from course_lib.checks.remembered import remembered

PUBLIC = "public"
"""The name of the part that a sheet's own check is; it weighs 1."""


@dataclass(frozen=True)
class Part:
    """A hidden part of an exercise: `cases(rng)` returns its list of cases; it counts if all of them pass.

    Its name is told to students: "other shapes", "edge cases". Source: the course's own.
    """

    name: str
    weight: int
    cases: Callable


@dataclass(frozen=True)
class Mutant:
    """A wrong answer that students really write: a name, the text of the cell, and words of the message it must get.

    Source: the course's own.
    """

    name: str
    text: str
    says: str


@dataclass(frozen=True)
class Key:
    """What is hidden of one exercise: its parts, and its mutants.

    Where students get a broken answer to repair, `untouched` has words of the message that it gets as it is.

    Source: the course's own.
    """

    id: str
    parts: tuple[Part, ...]
    mutants: tuple[Mutant, ...]
    untouched: str = ""


@dataclass(frozen=True)
class PartResult:
    """How a part went: `says` is the reason where it did not pass, `cause` the mistake in a few words.

    `counts` are what a right kernel cost where its time counts, {counter: number}, else {}. Source: the course's own.
    """

    name: str
    hidden: bool
    weight: int
    passed: bool
    says: str = ""
    cause: str = ""
    counts: Mapping = field(default_factory=dict)


def load_keys(folder, sheet):
    """Return {id: Key} of a sheet's key in a folder such as solutions/keys; {} where the folder is "".

    FileNotFoundError if there is no such key. Source: the course's own.
    """
    name = MODULES.get(sheet, sheet)
    return {key.id: key for key in _module(str(Path(folder).resolve()), name).KEYS} if folder else {}


@functools.cache
def _module(folder, name):
    file = Path(folder) / f"{name}.py"
    if not file.is_file():
        raise FileNotFoundError(f"there is no key {file.name} in {folder}; keys are in the course's solutions/keys.")
    spec = importlib.util.spec_from_file_location(f"course_key_{name}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@remembered
def parts_of(exercise, key):
    """Return [(name, hidden, weight, cases)] of an exercise: the public part, then the key's. No errors.

    The same key gives the same cases each time. Source: the course's own.
    """
    parts = [(PUBLIC, False, 1, list(exercise.cases))]
    for part in key.parts if key else ():
        seed = [ord(letter) for letter in exercise.id + part.name]
        parts.append((part.name, True, part.weight, list(part.cases(np.random.default_rng(seed)))))
    return parts


def score(points, results, required=()):
    """Return the points of an exercise as a Fraction: the share of the weight of its parts that passed.

    The public part counts only together with a hidden one, where there is one: constants earn nothing. Nothing counts
    where a part that is `required` did not pass. No errors.

    Source: the course's own.
    """
    hidden = [r for r in results if r.hidden]
    works = all(r.passed for r in results if r.name in required)
    if not results or not works or (hidden and not any(r.passed for r in hidden)):
        return Fraction(0)
    return Fraction(points) * sum(r.weight for r in results if r.passed) / sum(r.weight for r in results)
