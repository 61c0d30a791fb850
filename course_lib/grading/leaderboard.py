"""The leaderboard of a project: who has the fastest kernels, under names that teams chose; from the graded results.

Places go by measured time where this machine has a card, else by the time that is predicted from the counts:

1. who has a right kernel for more of the layers is before who has one for fewer;
2. among these, who was measured on every layer is before who was not, where anything was measured at all;
3. then the sum over the layers counts, in three digits; equal sums share a place, and the next place is left out.

A kernel that a card finds wrong at the full size counts as none here; its marks are for a person to look at. Who has no
right kernel of the free stage has no place, and stands below with the stage that was reached. No real name
is shown: a team without a name of its own is "team" and a number.

Source: the course's own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from course_lib.checks.predicted import COUNTER, significant
from course_lib.grading.pages import one_line
from course_lib.grading.team import looks

FREE = "free"
"""The stage of who has a right kernel for a layer."""

@dataclass
class Layer:
    """A team's kernel for one layer: `text` is the answer; times in microseconds, None where there is none.

    Source: the course's own.
    """

    id: str
    text: str
    predicted: float
    counts: dict
    measured: float | None = None
    vendor: float | None = None
    against: str = ""
    reason: str = ""

    @property
    def share(self):
        """How fast it is as a share of the vendor's library; None where nothing was measured."""
        return self.vendor / self.measured if self.measured and self.vendor else None


@dataclass
class Entry:
    """A team: its students' ids, the name that is shown, the stage it reached, and its right kernels by layer.

    `left_out` are kernels whose results a card found wrong at the full size. Source: the course's own.
    """

    students: list[str]
    chosen: str
    stage: str
    layers: dict[str, Layer] = field(default_factory=dict)
    name: str = ""
    place: int | None = None
    left_out: dict[str, Layer] = field(default_factory=dict)


def layers_of(exercises) -> dict[str, object]:
    """Return {layer: exercise} of those whose time counts; the last word of the title is the layer. No errors.

    Source: the course's own.
    """
    return {one.title.rpartition(" ")[2]: one for one in exercises if getattr(one, "batch", 0)}


def entries_of(finals: list[dict], exercises) -> list[Entry]:
    """Return the entries of final results of one sheet: one for each team, who handed the same answers in.

    Copies of one notebook count as one, whatever was run in them; two sheets in which nothing is right are two.

    No errors. Source: the course's own.
    """
    found: dict[tuple, Entry] = {}
    for result in finals:
        if not result["files"]:
            continue
        chosen = one_line(result.get("team", ""), 60)
        stage, layers = _reached(result, exercises)
        at = (chosen, *sorted(result.get("answers", {}).items()))
        if not chosen and stage == "none":
            at = (result["student"],)
        if at in found:
            found[at].students.append(result["student"])
            continue
        found[at] = Entry([result["student"]], chosen, stage, layers)
    return list(found.values())


def _reached(result, exercises):
    """Return (stage, {layer: Layer}) of a result."""
    questions = {question["id"]: question for question in result["questions"]}
    layers = {}
    for layer, exercise in layers_of(exercises).items():
        question = questions.get(exercise.id, {"points": "0", "parts": []})
        counts = [part["counts"] for part in question["parts"] if COUNTER in part.get("counts", {})]
        if Fraction(question["points"]) > 0 and counts:
            last, text = counts[-1], str(result["answers"].get(exercise.id, ""))
            layers[layer] = Layer(exercise.id, text, float(last[COUNTER]), last)
    if layers:
        return FREE, layers
    solved: dict[int, list[bool]] = {}
    for exercise in (e for e in exercises if e.kind == "kernel"):
        if stage := re.match(r"Stage (\d+)", exercise.title):
            question = questions.get(exercise.id, {"points": "0", "of": 1})
            solved.setdefault(int(stage[1]), []).append(Fraction(question["points"]) == question["of"])
    return str(max((stage for stage, all_of in solved.items() if all(all_of)), default="none")), layers


def placed(entries: list[Entry]) -> list[Entry]:
    """Return entries in order, with places and names; those without a place last. No errors.

    Source: the course's own.
    """
    anywhere = any(layer.measured for entry in entries for layer in entry.layers.values())

    def key(entry):
        times = [layer.measured if anywhere else layer.predicted for layer in entry.layers.values()]
        known = None not in times
        if not known:
            times = [layer.predicted for layer in entry.layers.values()]
        return -len(times), not known, significant(sum(times)) if times else 0.0

    order = sorted(entries, key=lambda entry: (*key(entry), _rank(entry), _mark(entry)))
    for number, entry in enumerate(order, 1):
        before = order[number - 2] if number > 1 else None
        entry.place = number if entry.layers else None
        if before and entry.layers and key(before) == key(entry):
            entry.place = before.place
    _give_names(order)
    return order


def _rank(entry):
    """Return what sorts entries without kernels: the highest stage first."""
    return -int(entry.stage) if entry.stage.isdigit() else 0


def _mark(entry):
    """Return an order that has nothing to do with names."""
    return hashlib.sha256("\n".join(sorted(entry.students)).encode("utf-8", "surrogatepass")).hexdigest()


def _give_names(entries):
    """Give each entry the name that is shown: the chosen one, with a number where several chose it, or "team 3"."""
    used: set[str] = set()
    for entry in entries:
        wanted, number = entry.chosen, 1
        while wanted and looks(wanted) in used:
            number += 1
            wanted = f"{entry.chosen} ({number})"
        entry.name = wanted
        used |= {looks(wanted)} if wanted else set()
    number = 0
    for entry in sorted((e for e in entries if not e.name), key=_mark):
        number += 1
        while looks(f"team {number}") in used:
            number += 1
        entry.name = f"team {number}"


def add_times(entries: list[Entry], exercises, measure: Callable) -> None:
    """Add measured times: measure([(exercise, text)]) -> {(exercise id, text): reply}, as `on_card.measure_all`.

    Errors as `measure`'s. Source: the course's own.
    """
    by_layer = layers_of(exercises)
    wanted = [(by_layer[name], layer.text) for entry in entries for name, layer in entry.layers.items()]
    replies = measure(wanted)
    for layer in (layer for entry in entries for layer in entry.layers.values()):
        reply = replies[layer.id, layer.text]
        layer.reason = one_line(reply["reason"], 200)
        if not layer.reason and reply["seconds"]:
            layer.measured, layer.vendor = 1e6 * reply["seconds"], 1e6 * reply["vendor"]
            layer.against = f"{reply['against']}, {reply['card']}"
    for entry in entries:
        entry.left_out = {name: layer for name, layer in entry.layers.items() if replies[layer.id, layer.text]["wrong"]}
        entry.layers = {name: layer for name, layer in entry.layers.items() if name not in entry.left_out}
