"""What students get of the checks says the same as the instructors' checks, of every answer, to the last character."""

import dataclasses
import functools
import re

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import cells_of, read_sheet, stub_of

from course_lib.checks.calling import outcome_here
from course_lib.checks.card import card_of
from course_lib.checks.judge import Outcome, judge
from course_lib.checks.recorded import Recorded, recorded_exercises, unpacked
from course_lib.checks.registry import MODULES, SHEETS, sheet
from course_lib.checks.values import encode, resolve
from course_lib.grading.keys import load_keys, parts_of
from course_lib.grading.public_checks import record
from tests.setup.project import ROOT

SOLUTIONS = ROOT / "solutions"
CODE = ("expect", "causes", "budget")
each_sheet = pytest.mark.parametrize("name", SHEETS)


@functools.cache
def public_form(name):
    return recorded_exercises(record(sheet(name).exercises))


@functools.cache
def answers_of(name):
    """Return ({id: [(who, text)]}, names of the sheet's other cells)."""
    notebook, keys = read_sheet(SOLUTIONS / f"{name}.py"), load_keys(SOLUTIONS / "keys", name)
    cells, found = cells_of(notebook, "exercise"), {}
    for exercise in (e for e in sheet(name).exercises if e.kind != "text"):
        cell, mutants = cells[exercise.id], keys[exercise.id].mutants
        found[exercise.id] = [("solution", cell.source), ("stub", stub_of(cell, exercise))]
        found[exercise.id] += [(mutant.name, mutant.text) for mutant in mutants]
    return found, sheet_names(notebook, name)


def said(exercise, text, names, earlier=()):
    """Return [(words, cause, card)] of the public check of an answer, one of a case, up to the first that is wrong."""
    found = []
    for number, case in enumerate(exercise.cases):
        # Where it was stopped is chance; and a launch of 24 images takes seconds, and is the same in both forms.
        same = earlier and (earlier[number].stopped or getattr(exercise, "batch", 0))
        outcome = earlier[number] if same else outcome_here(exercise, case, text, names)
        finding = judge(exercise, case, outcome)
        words = finding and (finding.says, finding.cause, str(card_of(exercise, finding)))
        found.append((outcome, words))
        if finding is not None:
            break
    return [outcome for outcome, _ in found], [words for _, words in found]


@each_sheet
def test_every_answer_is_told_the_same_by_the_public_form(name):
    answers, setup = answers_of(name)
    told = set()
    for live, public in zip(sheet(name).exercises, public_form(name), strict=True):
        for who, text in answers.get(live.id, ()):
            names = dict(setup)
            if live.kind == "function":
                exec(compile(text, f"answer {live.id}", "exec"), names)
            outcomes, live_words = said(live, text, names)
            _, public_words = said(public, text, names, outcomes)
            assert public_words == live_words, f"{live.id} {who}"
            assert who != "solution" or live_words == [None] * len(live.cases), f"{live.id}: {live_words}"
            told |= {words[1] for words in live_words if words}
    assert len(told) > len(answers), "mistakes have names, and they were heard"


@each_sheet
def test_facts_and_cases_are_those_of_the_instructors_form(name):
    for live, public in zip(sheet(name).exercises, public_form(name), strict=True):
        assert type(public) is type(live)
        facts = [f for f in vars(live) if f not in (*CODE, "cases")]
        assert {f: getattr(public, f) for f in facts} == {f: getattr(live, f) for f in facts}
        if live.kind == "text":
            continue
        assert [encode(c.args) for c in public.cases] == [encode(c.args) for c in live.cases]
        assert [c.note for c in public.cases] == [c.note for c in live.cases]
        assert [c.says for c in public.causes] == [c.says for c in live.causes]


@each_sheet
def test_results_of_public_cases_are_those_of_the_instructors_form(name):
    for live, public in zip(sheet(name).exercises, public_form(name), strict=True):
        for case in getattr(live, "cases", ()):
            pairs = [(live.expect, public.expect)]
            pairs += [(a.wrong, b.wrong) for a, b in zip(live.causes, public.causes, strict=True)]
            for computes, looks_up in pairs:
                assert type(looks_up) is Recorded
                assert result(looks_up, case) == result(computes, case), live.id
            if getattr(live, "budget", None):
                assert public.budget(*case.args) == live.budget(*case.args)


def result(function, case):
    """Return the encoded result on a case, "impossible" where it raises."""
    try:
        with np.errstate(all="ignore"):
            return encode(function(*map(resolve, case.args)))
    except Exception:
        return "impossible"


@each_sheet
def test_the_public_form_has_no_right_value_of_a_hidden_case(name):
    keys = load_keys(SOLUTIONS / "keys", name)
    for exercise in (e for e in public_form(name) if e.kind != "text"):
        public = [encode(tuple(case.args)) for case in exercise.cases]
        for part in keys[exercise.id].parts:
            hidden = [c for c in part.cases(np.random.default_rng(7)) if encode(tuple(c.args)) not in public]
            assert hidden, f"{exercise.id} {part.name}: all of its cases are public"
            for case in hidden:
                for function in (exercise.expect, *(cause.wrong for cause in exercise.causes)):
                    with pytest.raises(LookupError, match="only the results of its"):
                        function(*map(resolve, case.args))


@each_sheet
def test_no_public_result_is_right_in_a_whole_hidden_part(name):
    """Else an answer that always returns it has points."""
    keys = load_keys(SOLUTIONS / "keys", name)
    for exercise in (e for e in sheet(name).exercises if e.kind == "function"):
        public = [exercise.expect(*map(resolve, case.args)) for case in exercise.cases]
        for part, hidden, _, cases in parts_of(exercise, keys[exercise.id]):
            known = [(_knowing(exercise, case), case) for case in cases] if hidden else []
            for value in public if hidden else ():
                right = all(judge(exercise, case, Outcome(value), reveal=False) is None for exercise, case in known)
                assert not right, f"{exercise.id} {part}: always {value} is right"


def _knowing(exercise, case):
    """Return the exercise with the right value of one case at hand, and without causes, which none here asks for."""
    value = exercise.expect(*map(resolve, case.args))
    return dataclasses.replace(exercise, expect=lambda *_: value, causes=())


def test_a_record_is_text_that_says_what_it_is_about():
    text = record(sheet("01_perceptron").exercises)
    assert '"id": "01.1"' in text
    assert re.search(r'^ \{"note": "two points: the line through both", "args"', text, re.MULTILINE)
    assert max(map(len, text.splitlines())) < 20_000


def test_the_records_of_the_course_are_those_of_its_sheets():
    from course_lib.grading.public_checks import public_checks

    found = public_checks(ROOT)
    assert set(found) == {f"course_lib/checks/exercises/{module}.json" for module in MODULES.values()}
    for name in ("01_perceptron", "12_memory"):
        assert found[f"course_lib/checks/exercises/{MODULES[name]}.json"].decode() == record(sheet(name).exercises)


def test_what_is_unpacked_twice_is_not_shared():
    exercise = public_form("01_perceptron")[3]
    one, two = (exercise.expect(*exercise.cases[0].args) for _ in range(2))
    one[0][...] = np.nan
    assert not np.isnan(two[0]).any()
    assert unpacked({"t": "int", "v": "0x5"}) == 5
