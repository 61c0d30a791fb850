"""One question: its parts, case by case, and a reason for every point that is lost.

Source: the course's own.
"""

import time
from fractions import Fraction

from course_lib.checks.judge import Finding, Outcome, judge
from course_lib.checks.values import decode, encode, resolve
from course_lib.grading.keys import PartResult, parts_of, score

STUB = "your answer here"
"""What a sheet has in place of an answer in words."""


class GraderFault(Exception):
    """The grader itself failed on a case; the message says how. Source: the course's own."""


def run_part(exercise, part, outcome_of):
    """Return the `PartResult` of one part; it ends with the first case that is not right.

    Parameters
    ----------
    exercise : Exercise
    part : (str, bool, int, list of Case)
        As `keys.parts_of` returns it.
    outcome_of : callable
        outcome_of(case) -> Outcome.

    GraderFault if a case cannot be judged. Source: the course's own.
    """
    name, hidden, weight, cases = part
    for case in cases:
        outcome = outcome_of(case)
        try:
            finding = judge(exercise, case, outcome, reveal=not hidden)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"[:200]
            if not _judges_itself(exercise, case):
                raise GraderFault(f"{exercise.id}, {name}: {text}") from error
            finding = Finding(f"{exercise.function} returns a value that cannot be compared ({text}).", "odd value")
        if finding is not None:
            return PartResult(name, hidden, weight, False, finding.says, finding.cause)
    return PartResult(name, hidden, weight, True)


def _judges_itself(exercise, case):
    """Return whether the right value is judged to be right: then an error was caused by the answer's value."""
    try:
        value = exercise.expect(*[resolve(a) for a in case.args])
        return judge(exercise, case, Outcome(decode(encode(value)))) is None
    except Exception:
        return False


def run_parts(exercise, key, outcome_of, result_of=run_part, hidden=(False, True)):
    """Return (results, fault) of all parts, the public one first; a part that the grader failed on is not passed.

    `hidden` says which to run: (False,) the public one, (True,) the hidden ones.

    No errors but those of `outcome_of`. Source: the course's own.
    """
    results, fault = [], ""
    for part in (p for p in parts_of(exercise, key) if p[1] in hidden):
        try:
            results.append(result_of(exercise, part, outcome_of))
        except GraderFault as error:
            fault = fault or str(error)
            results.append(PartResult(*part[:3], False, "The grader itself failed on it.", "the grader failed"))
    return results, fault


def lost_parts(exercise, reason):
    """Return the only result of a question whose answer is not run at all. No errors. Source: the course's own."""
    return [PartResult("public", False, 1, False, reason, "not run")]


def unheard_parts(exercise, key, reason):
    """Return the results of hidden parts that are not run, for this reason. No errors. Source: the course's own."""
    says = f"it was not run, as {reason}."
    return [PartResult(*part[:3], False, says, "not run") for part in parts_of(exercise, key) if part[1]]


def question(exercise, results, started):
    """Return a question's entry in a result, with points as an exact fraction and the reasons for what is missing.

    No errors. Source: the course's own.
    """
    required = getattr(exercise, "required", ())
    points = score(exercise.points, results, required)
    points = max(Fraction(0), min(Fraction(exercise.points), points))
    lost = [f"{r.name}{' (hidden)' if r.hidden else ''}: {r.says}" for r in results if not r.passed]
    if points == 0 and any(r.passed for r in results):
        broken = [r.name for r in results if r.name in required and not r.passed]
        lost.append(
            f"Code must work for any credit; what has to pass for that: {', '.join(broken)}." if broken else
            "The public part counts only if a hidden part passes too."
        )  # fmt: skip
    return {
        "id": exercise.id,
        "title": exercise.title,
        "kind": exercise.kind,
        "points": str(points),
        "of": exercise.points,
        "seconds": round(time.monotonic() - started, 3),
        "parts": [vars(r).copy() for r in results],
        "lost": lost,
    }


def stand_in(exercises, entries):
    """Give earlier exercises their points where a later one that stands for them passed in all its parts, in place.

    Returns what to say of it, a list of sentences.

    Parameters
    ----------
    exercises : sequence of Exercise
    entries : list of dict
        The questions of a result, in the same order.

    No errors. Source: H, "Strategies for Lab 7": only the last step is needed for full credit.
    """
    found, says = {entry["id"]: entry for entry in entries}, []
    for exercise, entry in zip(exercises, entries, strict=True):
        whole = bool(entry["parts"]) and all(part["passed"] for part in entry["parts"])
        given = [found[id] for id in getattr(exercise, "stands_for", ())] if whole else []
        given = [earlier for earlier in given if Fraction(earlier["points"]) < earlier["of"]]
        for earlier in given:
            earlier |= {"points": str(earlier["of"]), "lost": [], "by": exercise.id}
        if given:
            ids = ", ".join(earlier["id"] for earlier in given)
            says.append(f"{ids} count as solved, as {exercise.id} is right in all its parts.")
    return says


def text_question(exercise, text):
    """Return the entry of a question that is answered in words, and graded by hand. No errors.

    Source: the course's own.
    """
    entry = question(exercise, [], time.monotonic())
    written = text.strip(" *._\n").lower() not in ("", STUB)
    entry["lost"] = ["It is graded by hand." if written else "No answer was found; it is graded by hand."]
    return entry
