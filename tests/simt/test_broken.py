"""Each broken kernel gets the message it must get, and no other: what, who, where, and what to do about it."""

import inspect
import re
import sys

import numpy as np
import pytest

import tests.simt.broken  # noqa: F401  its kernels enter themselves
from course_lib import simt
from tests.cases import all_of
from tests.simt.corpus import BROKEN

ERRORS = {"KernelError": simt.KernelError, "LaunchError": simt.LaunchError, "TypeError": TypeError}
BATCHES = pytest.mark.parametrize("blocks_at_once", ["all", "one"])
RUNNING = pytest.mark.parametrize(
    "case", [c for c in BROKEN.values() if not c.refused], ids=[n for n, c in BROKEN.items() if not c.refused]
)


@pytest.fixture(autouse=True)
def _blocks_at_once(request, monkeypatch):
    """Let the executor walk all blocks together, or one after the other."""
    if "blocks_at_once" in request.fixturenames and request.getfixturevalue("blocks_at_once") == "one":
        monkeypatch.setattr(sys.modules["course_lib.simt.run"], "BATCH_LANES", 1)


def marked(case):
    """Return {mark: line number} of the lines that end in `# bad` or `# bad: name`, also in device functions."""
    found = {}
    module = sys.modules[getattr(case.kernel, "py_func", case.kernel).__module__]
    functions = [case.kernel, *(f for n, f in vars(module).items() if n in case.kernel.__code__.co_names)]
    for function in functions:
        function = getattr(function, "py_func", function)
        if inspect.isfunction(function):
            lines, first = inspect.getsourcelines(function)
            ends = {first + i: re.search(r"# bad(: \w+)?$", line.rstrip()) for i, line in enumerate(lines)}
            found |= {end.group(): number for number, end in ends.items() if end}
    return found


def run(case, on_error):
    return simt.run(case.kernel, case.grid, case.block, case.arguments(), on_error=on_error, **case.options)


def triple(value):
    """Return a number or a tuple of one to three as (x, y, z)."""
    return (*(int(v) for v in np.atleast_1d(value)), 0, 0)[:3]


def check(hazard, wanted, marks, severity):
    """Assert that a hazard is the wanted one, and that its message tells it."""
    text = f"{hazard.message} {hazard.fix}"
    assert (hazard.kind, hazard.array, hazard.severity) == (wanted.kind, wanted.array, severity), text
    if wanted.mark:
        assert hazard.line == marks[wanted.mark], text
        assert re.match(rf"lines? (.* )?{hazard.line}\b", str(hazard))
    facts = {n: getattr(wanted, n) for n in ("thread", "block", "index", "axis", "phase")}
    for name, fact in facts.items():
        if fact is not None and name in ("thread", "block"):
            assert triple(hazard.details[name]) == triple(fact), (name, hazard.details, text)
            assert f"{name} {fact}" in hazard.message
        elif fact is not None:
            assert np.array_equal(np.ravel(hazard.details[name]), np.ravel(fact)), (name, hazard.details, text)
    for part in (wanted.array, wanted.other or "", *wanted.says):
        assert part in text, f"{part!r} is not said by: {text}"
    if wanted.kind in ("out of bounds", "negative index"):
        assert f"index {wanted.index}" in hazard.message
    elif wanted.index is not None:
        assert f"{wanted.array}[{wanted.index}]" in hazard.message
    if wanted.kind == "race":
        d = hazard.details
        assert (triple(d["thread"]), triple(d["block"])) != (triple(d["other_thread"]), triple(d["other_block"])), text
    assert hazard.message[-1] == hazard.fix[-1] == "."
    assert hazard.message.count("\n") == hazard.fix.count("\n") == 0


def key(finding, marks=None):
    return finding.kind, finding.array, finding.line if marks is None else marks.get(finding.mark)


@RUNNING
@BATCHES
def test_findings_are_the_expected_ones_and_say_what_a_student_needs(case, blocks_at_once):
    report, marks = run(case, "collect"), marked(case)
    found = {key(h): h for h in report.hazards}
    wanted = {key(f, marks): f for f in case.findings}
    assert set(found) == set(wanted), "\n".join(map(str, report.hazards)) or "no finding"
    assert len(report.hazards) == len(found), "one finding twice"
    for name, finding in wanted.items():
        check(found[name], finding, marks, "error")


@pytest.mark.parametrize(
    "case", [c for c in BROKEN.values() if c.advice], ids=[n for n, c in BROKEN.items() if c.advice]
)
@BATCHES
def test_advice_is_the_expected_one(case, blocks_at_once):
    report, marks = run(case, "collect"), marked(case)
    found = {(h.kind, h.array, h.line if h.kind != "never written" else None): h for h in report.advice}
    wanted = {key(f, marks): f for f in case.advice}
    assert set(found) == set(wanted), "\n".join(map(str, report.advice)) or "no advice"
    for name, finding in wanted.items():
        check(found[name], finding, marks, "advice")


@RUNNING
@BATCHES
def test_run_that_raises_stops_at_one_of_the_findings(case, blocks_at_once):
    marks = marked(case)
    if not case.findings:
        assert run(case, "raise").hazards == []
        return
    with pytest.raises(simt.HazardFound) as raised:
        run(case, "raise")
    wanted = {key(f, marks): f for f in case.findings}
    assert key(raised.value.hazard) in wanted, str(raised.value)
    check(raised.value.hazard, wanted[key(raised.value.hazard)], marks, "error")
    assert raised.value.line == raised.value.hazard.line
    assert raised.value.hazard.message in str(raised.value)
    assert raised.value.hazard.fix in str(raised.value)


@all_of("on_error", ["raise", "collect"])
@all_of("case", [c for c in BROKEN.values() if c.refused], ids=[n for n, c in BROKEN.items() if c.refused])
@BATCHES
def test_refusal_names_the_line_and_what_to_write_instead(case, on_error, blocks_at_once):
    wanted = case.refused
    with pytest.raises(ERRORS[wanted.error]) as raised:
        run(case, on_error)
    text = str(raised.value)
    assert not isinstance(raised.value, simt.HazardFound), text
    for part in wanted.says:
        assert part in text, f"{part!r} is not said by: {text}"
    if wanted.mark:
        assert raised.value.line == marked(case)[wanted.mark], text
        assert f"line {raised.value.line}" in text


def test_corpus_is_large_enough_and_every_mark_is_used():
    assert len(BROKEN) >= 50
    for name, case in BROKEN.items():
        marks = {f.mark for f in (*case.findings, *case.advice)} - {None}
        assert set(marked(case)) == marks, name
