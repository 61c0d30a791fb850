"""A record knows the public cases and nothing else; what has no form is refused when it is written."""

import json

import numpy as np
import pytest

from course_lib.checks import registry
from course_lib.checks.exercise import Case, Cause, Exercise, KernelExercise, TextQuestion
from course_lib.checks.exercises.launches import launch_problem
from course_lib.checks.exercises.lesson11_launches import add
from course_lib.checks.recorded import IMPOSSIBLE, NoForm, Recorded, packed, recorded_exercises, unpacked
from course_lib.checks.values import Named, Seeded, encode, resolve
from course_lib.grading.public_checks import RecordError, record, stays_here
from course_lib.grading.right_values import computations, record_problem

FACTS = {"title": "", "points": 1, "level": "core", "concept": "", "source": "", "lines": 1}
ARGUMENTS = {
    "numbers": (3, 2.5),
    "texts": ("a", None),
    "arrays": (np.arange(6.0).reshape(2, 3), np.array([True, False])),
    "another shape": (np.arange(6.0).reshape(3, 2), np.array([True, False])),
    "another dtype": (np.arange(6, dtype=np.int32).reshape(2, 3), np.array([True, False])),
    "float32": (np.float32(3), 2.5),
    "a truth value": (True, 2.5),
    "a list": ([3, 2.5],),
    "a tuple": ((3, 2.5),),
    "dicts": ({"x": [], "w": ["x"]},),
    "functions": (Named("numpy.sum"), 1),
    "another function": (Named("numpy.max"), 1),
    "generators": (5, Seeded(0)),
    "another seed": (5, Seeded(1)),
    "deep": ([(np.ones(2), Named("numpy.sum"))], {"rng": Seeded(3)}),
    "NaN": (float("nan"), np.array([np.nan])),
    "minus zero": (-0.0, 2.5),
    "zero": (0.0, 2.5),
}


def test_every_kind_of_argument_finds_its_own_result_and_no_other():
    cases = [Case(arguments, what) for what, arguments in ARGUMENTS.items()]
    right = Recorded("98.1", cases, [packed(case.note) for case in cases])
    for case in cases:
        assert right(*map(resolve, case.args)) == case.note
    others = (3, 2.6), (3,), (np.arange(6.0).reshape(2, 3), np.array([True, True])), (5, np.random.default_rng(9))
    for other in others:
        with pytest.raises(LookupError, match="only the results of its 18 public cases are known here"):
            right(*other)


def test_a_generator_that_was_used_is_another_argument():
    rng = np.random.default_rng(0)
    rng.random()
    with pytest.raises(LookupError):
        Recorded("98.1", [Case((Seeded(0),))], [packed(1)])(rng)


@pytest.mark.parametrize("value", [1, 2.5, (np.ones(3), [True]), {"a": None}, np.arange(4000.0), "x" * 9000], ids=type)
def test_what_is_packed_comes_back_with_its_type(value):
    assert encode(unpacked(json.loads(json.dumps(packed(value))))) == encode(value)


def test_long_values_are_compressed():
    assert len(json.dumps(packed(np.zeros(10_000)))) < 1000


@pytest.mark.parametrize(
    "value", [object(), [1, {2}], np.array([object()]), (print,)], ids=["object", "set", "array", "function"]
)
def test_what_has_no_form_is_refused(value):
    with pytest.raises(NoForm, match="cannot be recorded"):
        packed(value)


@pytest.mark.parametrize("data", [{"t": "zlib", "v": "?"}, {"t": "zlib", "v": "AAAA"}, {"t": "zlib"}, 3, None], ids=str)
def test_what_was_never_packed_is_refused(data):
    with pytest.raises(ValueError, match="value"):
        unpacked(data)


def half(x):
    return Exercise(
        "98.1", "half", expect=lambda x: x / 2, cases=(Case((x,), "one"), Case((4.0,), "two")),
        causes=(Cause("It is the double.", lambda x: 2 * x), Cause("Only of whole numbers.", lambda x: x.bit_length())),
        instead_of=("halves",), rtol=1e-5, **FACTS,
    )  # fmt: skip


def test_a_sheet_is_read_as_it_was_written():
    kernel = KernelExercise(
        "98.2", "add", expect=lambda a, b: a + b, cases=(Case((np.ones(3, np.float32), np.ones(3, np.float32))),),
        launch=add, budget=lambda a, b: {"global_loads": 2 * a.size}, names={"TILE": 4}, **FACTS,
    )  # fmt: skip
    form = _only(expect=lambda n: ((1, 1), (n, 1)), cases=(Case((32,)),), requires=launch_problem)
    words = TextQuestion("98.4", "why", 2, "core", "", "")
    one, two, three, four = recorded_exercises(record((half(3.0), kernel, form, words)))
    assert (one.expect(3.0), one.causes[0].wrong(4.0), one.instead_of, one.rtol) == (1.5, 8.0, ("halves",), 1e-5)
    with pytest.raises(LookupError, match="not possible on these arguments"):
        one.causes[1].wrong(4.0)
    assert (two.launch, two.names, two.budget(*two.cases[0].args)) == (add, {"TILE": 4}, {"global_loads": 6})
    assert (three.requires, three.expect(32)) == (launch_problem, ((1, 1), (32, 1)))
    assert four == words


def _launch_of_a_test(kernel, x):
    return x


REFUSED = {
    "no plain result": (lambda: _only(expect=lambda x: {x}), "98.1 .*a set cannot be recorded"),
    "no plain mistake": (lambda: _only(causes=(Cause("", lambda x: {x}),)), "98.1 .*a set cannot be recorded"),
    "expect fails": (lambda: _only(expect=lambda x: 1 / 0), "98.1 .*division by zero"),
    "a launch that students lack": (lambda: _only(KernelExercise, launch=_launch_of_a_test), "students do not get"),
    "a requires within a function": (lambda: _only(requires=lambda value, x: None), "students do not get"),
    "facts that no text can say": (lambda: _only(parts=({1},)), "98.1: a fact of it is no text, number or tuple"),
    "facts that change": (lambda: _only(parts=("a", {"b": 1}, ("c",))), "not the same when they are read again"),
}


def _only(kind=Exercise, **more):
    return kind("98.1", "f", **{"expect": lambda x: x, "cases": (Case((3,), "a case"),)} | FACTS | more)


@pytest.mark.parametrize("what", REFUSED)
def test_what_students_could_not_use_is_refused_when_it_is_written(what):
    make, says = REFUSED[what]
    with pytest.raises(RecordError, match=says):
        record((make(),))


def test_a_record_names_only_the_code_of_the_checks():
    text = record((_only(requires=launch_problem),))
    with pytest.raises(LookupError, match="'os:system' is not in"):
        recorded_exercises(text.replace("course_lib.checks.exercises.launches:launch_problem", "os:system"))


def test_in_an_archive_the_registry_reads_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "recorded_file", lambda module: tmp_path / f"{module}.json")
    monkeypatch.setitem(registry.MODULES, "97_archive", "archive")
    (tmp_path / "archive.json").write_text(record((half(3.0),)), encoding="utf-8")
    (found,) = registry.sheet.__wrapped__("97_archive").exercises
    assert type(found.expect) is Recorded
    (tmp_path / "archive.py").touch()  # beside its module a record is old, or a stray file
    with pytest.raises(ModuleNotFoundError):
        registry.sheet.__wrapped__("97_archive")


def test_the_graders_own_sheets_are_missed_in_words_in_an_archive(monkeypatch):
    monkeypatch.setitem(registry.TRIALS, "00_selftest", "course_lib.grading.no_such_selftest.sheet")
    with pytest.raises(LookupError, match="the grader's own, and not in a student's archive"):
        registry.sheet.__wrapped__("00_selftest")


def test_it_is_known_what_stays_with_the_instructor():
    stays = ("lesson01.py", "lesson01_values.py", "lesson13_mistakes.py", "lesson15.py", "anything_new.py")
    goes = ("__init__.py", "launches.py", "lesson13_launches.py", "kernel_inputs.py", "lesson01.json")
    assert all(stays_here(f"course_lib/checks/exercises/{name}") for name in stays)
    assert not any(stays_here(f"course_lib/checks/exercises/{name}") for name in goes)
    assert stays_here("course_lib/grading/selftest/sheet.py")
    others = "course_lib/gpu.py", "course_lib/grading/keys.py", "exercises/01_perceptron.ipynb"
    assert not any(map(stays_here, others))


COMPUTE = {
    "a keyword": "Exercise(id='1', expect=f)",
    "a lambda": "checks.Exercise(id='1', expect=lambda x: x)",
    "by place": "KernelExercise('1', 'f', 't', 1, 'core', 'c', 's', 3, lambda a, b: a + b, ())",
    "a mistake": "Cause('says', lambda x: x)",
    "a mistake by keyword": "Cause(says='s', wrong=wrong)",
    "a change": "replace(exercise, expect=f)",
    "an assigned computation": "right = compute(1)\nExercise(id='1', expect=right)",
}


@pytest.mark.parametrize("what", COMPUTE)
def test_what_computes_right_values_is_seen(what):
    assert len(computations(COMPUTE[what])) == 1


def test_what_looks_them_up_is_let_through():
    looked_up = "Exercise(expect=Recorded('1', (), ()))", "Cause(s, Recorded(i, c, r))", "r = Recorded(1)\nE(expect=r)"
    for text in (*looked_up, "no Python (", "Exercise", "def expect(x):\n    return x"):
        assert computations(text) == []


def test_only_a_record_is_a_record():
    whole = record((half(3.0),))
    assert record_problem(whole.encode()) == ""
    changed = [whole.replace(*pair) for pair in (('"right"', '"left"'), ('"float"', '"opaque"'), ('"float"', '"code"'))]
    for broken in (b"", b"[]", b"\xff", *(text.encode() for text in changed)):
        assert "is no record of public cases" in record_problem(broken)
    assert IMPOSSIBLE is None
