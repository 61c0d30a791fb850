"""What is kept is used for equal parts and by the same compiler only, and some of it is compiled again."""

import json
import re
from datetime import date

import pytest

from tests import kept
from tests.gates.compiler import REPORTS
from tests.kept import COMPILED_AGAIN, Changed, Kept, compiled_again, of_this_week, toolchain
from tests.setup.project import CUDA_LOCK, ROOT
from tests.simt.by_numba_cuda import ANSWERS

TODAY = date.today()
KEYS = [f"{number:016x}" for number in range(10 * COMPILED_AGAIN)]
AGAIN = next(key for key in KEYS if of_this_week(key))
TRUSTED = next(key for key in KEYS if not of_this_week(key))


@pytest.fixture(autouse=True)
def as_usual(monkeypatch):
    """Some are compiled again, as without the variable, and those of the week in which this file was read."""
    monkeypatch.delenv(kept.ALL, raising=False)
    monkeypatch.setattr(kept, "date", type("Today", (), {"today": staticmethod(lambda: TODAY)}))


def never():
    raise RuntimeError("compiled")


@pytest.fixture
def file(tmp_path):
    """A file with an answer for each of both keys."""
    first = Kept(tmp_path / "kept.json")
    for key in (AGAIN, TRUSTED):
        first.answer(key, lambda key=key: {"of": key})
    first.write()
    return first.file


def test_an_answer_is_kept_and_compiled_no_more(file):
    again = Kept(file)
    assert again.answer(TRUSTED, never) == {"of": TRUSTED}
    assert (again.usable, again.missing, again.superfluous()) == (True, set(), {AGAIN})


def test_a_key_that_is_new_is_compiled_once(file):
    again, made = Kept(file), []
    for _ in range(2):
        assert again.answer("b", lambda: made.append(1) or "said") == "said"
    assert (len(made), again.missing) == (1, {"b"})


def test_some_are_compiled_again_and_must_be_equal(file):
    with pytest.raises(RuntimeError, match="compiled"):
        Kept(file).answer(AGAIN, never)
    assert Kept(file).answer(AGAIN, lambda: {"of": AGAIN}) == {"of": AGAIN}
    with pytest.raises(Changed, match=r"the compiler says now:\n.*another"):
        Kept(file).answer(AGAIN, lambda: {"of": "another"})


def test_one_in_so_many_is_compiled_again():
    assert sum(map(compiled_again, KEYS)) == len(KEYS) / COMPILED_AGAIN


def test_what_does_not_compile_is_neither_asked_nor_missing_and_the_rest_is_written(file):
    again = Kept(file)
    again.answer(TRUSTED, never)
    with pytest.raises(RuntimeError):
        again.answer("new", never)
    again.write()
    assert json.loads(file.read_text("utf-8"))["answers"] == {TRUSTED: {"of": TRUSTED}}
    assert again.missing == set()


def test_all_are_compiled_again_where_it_is_asked_for(file, monkeypatch):
    monkeypatch.setenv(kept.ALL, "none")
    with pytest.raises(RuntimeError, match="compiled"):
        Kept(file).answer(TRUSTED, never)


def test_another_toolchain_keeps_nothing_here(file, monkeypatch):
    monkeypatch.setattr(kept, "version", lambda name: "99.0")
    other = Kept(file)
    assert (other.usable, other.answers) == (False, {})


def test_what_nothing_asks_for_is_not_written(file):
    again = Kept(file)
    again.answer(TRUSTED, never)
    again.write()
    assert json.loads(file.read_text("utf-8"))["answers"] == {TRUSTED: {"of": TRUSTED}}


@pytest.mark.parametrize("file", [REPORTS, ANSWERS], ids=lambda file: file.name)
def test_the_kept_answers_are_of_the_locked_compiler(file):
    content = json.loads(file.read_text("utf-8"))
    said = dict(re.fullmatch(r"(\S+) (\S+)", entry).groups() for entry in content["toolchain"])
    locked = "".join((ROOT / name).read_text("utf-8") for name in (CUDA_LOCK, "requirements.lock"))
    versions = dict(re.findall(r"^(\S+)==(\S+)", locked, re.MULTILINE))
    assert said.keys() - {"Python"} == set(kept.COMPILERS)
    assert {name: versions[name] for name in kept.COMPILERS} == {n: v for n, v in said.items() if n != "Python"}


def test_the_toolchain_names_python_and_each_package():
    assert [entry.split()[0] for entry in toolchain()] == ["Python", *kept.COMPILERS]
