"""Every kernel of the corpus, right or wrong, runs the same with a recorder, and its trace can be looked at."""

import re

import numpy as np
import pytest

import tests.simt.broken
import tests.simt.correct  # noqa: F401  its kernels enter themselves
from course_lib import simt
from course_lib.simt.source import source_of
from course_lib.simt.trace.document import document_of
from course_lib.simt.trace.lane_states import RUNNING
from course_lib.simt.trace.recorder import Enough, Recorder
from course_lib.simt.trace.trace import Trace
from tests.simt.corpus import BROKEN, CORRECT

CASES = {**CORRECT, **{name: case for name, case in BROKEN.items() if not case.refused}}
AFTERWARDS = ("never written", "float64", "uncoalesced", "bank conflicts")
"""Kinds of findings that are told of a whole launch."""


class Named:
    """A kernel of which a document asks the name."""

    def __init__(self, source):
        self.__name__ = source.name


def run(case, arguments, numbers, recorder):
    given = [arguments[k] for k in numbers]
    return simt.run(case.kernel, case.grid, case.block, given, on_error="collect", recorder=recorder, **case.options)


def parts(value):
    """Return the arrays and numbers in arguments, also in tuples of them."""
    if isinstance(value, tuple | list):
        return [part for each in value for part in parts(each)]
    return [np.asarray(getattr(value, "numbers", value))]


def trace_of(recorder, case, report, complete):
    return Trace(document_of(recorder, Named(source_of(case.kernel)), report.grid, report.block, complete))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_recorder_changes_nothing_and_misses_nothing(case):
    arguments = case.arguments()
    watched = case.arguments()
    for numbers in getattr(case, "launches", None) or [range(len(arguments))]:
        report = run(case, arguments, numbers, None)
        recorder = Recorder(0, 0, 1, 100_000)
        its = run(case, watched, numbers, recorder)
        recorder.finish()
        assert its.to_dict() == report.to_dict()
    for one, other in zip(parts(arguments), parts(watched), strict=True):
        np.testing.assert_array_equal(one, other)
    trace = trace_of(recorder, case, report, True)
    assert "<figure" in trace._repr_mimebundle_()["text/html"]
    assert_is_whole(trace)
    told = {(f.kind, f.line, f.array) for f in (*trace.findings, *trace.elsewhere)}
    for hazard in report.hazards:
        if hazard.kind not in AFTERWARDS:
            assert (hazard.kind, hazard.line, hazard.array) in told, str(hazard)


def assert_is_whole(trace):
    """What every trace keeps to: lanes that have left stay away, and who reads or writes takes part."""
    gone = np.zeros(32, np.bool_)
    for step in trace.steps:
        letters = np.array(list(step.states))
        assert not (gone & np.isin(letters, list(RUNNING))).any(), step.words
        gone |= letters == "x"
        for access in step.accesses:
            assert step.active[list(access.lanes)].all(), step.words
        for name, who in step.changed.items():
            assert name in step.variables
            assert not (who & ~step.active).any(), step.words
        for found in step.findings:
            if found.kind == "unwritten memory":  # told where the number is used, which may be later
                assert found.line == step.line or f"in line {found.line}: " in step.words
            else:
                assert found.line == step.line, f"{found} stands at step {step}"
        assert re.match(r"line \d+", step.words)


@pytest.mark.parametrize("case", [c for c in CORRECT.values() if not c.launches][::4])
def test_a_trace_of_few_steps_is_the_beginning_of_the_long_one(case):
    long, short = Recorder(0, 0, 1, 100_000), Recorder(0, 0, 1, 5)
    arguments = case.arguments()
    report = run(case, arguments, range(len(arguments)), long)
    long.finish()
    arguments = case.arguments()
    try:
        run(case, arguments, range(len(arguments)), short)
        short.finish()
    except Enough:
        assert len(short.steps) == 5
    whole = trace_of(long, case, report, True)
    part = trace_of(short, case, report, False)
    assert [s.words for s in part.steps[:4]] == [s.words for s in whole.steps[: len(part)][:4]]
