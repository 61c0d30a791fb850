"""The self-test finds out where a grader does not hold: without a box, submissions reach what they are after."""

import dataclasses
import os
import subprocess
import sys
import time

import pytest
from rich.console import Console
from typer.testing import CliRunner

from course_lib.cli import app
from course_lib.grading import selftest
from course_lib.grading.levels import level
from course_lib.grading.selftest import batch, memory, table, traces
from course_lib.grading.selftest.batch import judged, selected
from course_lib.grading.selftest.collection import FAMILIES, HONEST
from course_lib.grading.selftest.world import World

READERS = ("reads a secret", "reads the key", "reads a classmate", "searches everywhere", "network")
OTHERS = ("writes outside", "kills a process", "grader's code")

pytestmark = pytest.mark.skipif(not level("D").works, reason=f"plain processes do not work here: {level('D').says}")


@pytest.fixture(scope="module")
def unboxed():
    """Verdicts and traces of harmless submissions, in plain processes: all that they reach is this test's own."""
    with World() as world:
        verdicts = {v.submission.name: v for v in judged(world, selected(names=READERS + OTHERS), "D")}
        return verdicts, traces.of_world(world)


@pytest.mark.parametrize("name", READERS + OTHERS)
def test_without_a_box_it_gets_out_and_that_is_seen(unboxed, name):
    assert any(problem.startswith("it got out") for problem in unboxed[0][name].problems)


@pytest.mark.parametrize("name", READERS[:3])
def test_a_secret_in_a_result_is_seen(unboxed, name):
    assert "a secret is in its result" in unboxed[0][name].problems


@pytest.mark.parametrize("trace", ["was written", "a connection reached", "a datagram reached", "was killed"])
def test_what_was_done_outside_is_seen(unboxed, trace):
    assert any(trace in sentence for sentence in unboxed[1])


def test_a_process_that_is_left_is_seen():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "cst-selftest"])
    try:
        end = time.monotonic() + 120
        while not (found := traces.processes("cst-selftest")) and time.monotonic() < end:
            time.sleep(0.01)  # it is listed under its own name only after it has begun
        assert [number for number, _ in found] == [process.pid]
    finally:
        process.kill()
        process.wait()
    assert traces.processes("cst-selftest") == []


def result_of_honest():
    questions = [{"id": "00.1", "points": "8", "of": 8, "lost": []}]
    return {"status": "graded", "says": "", "points": "8", "level": "B", "questions": questions, "notes": []}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"points": "33/5"}, "the score is 33/5, not 8"),
        ({"points": "9"}, "the score is 9, not 8"),
        ({"status": "broken"}, "the status is broken"),
        ({"notes": ["BREACH: root"]}, "it got out: BREACH: root"),
        ({"notes": ["secret-of-this-run"]}, "a secret is in its result"),
        ({"notes": ["\ud800"]}, "its result cannot be written"),
        ({"seconds": float("nan")}, "its result cannot be written"),
        ({"level": "D"}, "it was graded at level D, not B"),
        ({"left": ["17 cst"]}, "process 17 cst was left"),
        ({"questions": [{"id": "00.1", "points": "7", "of": 8, "lost": []}]}, "a point is lost without a reason"),
    ],
)
def test_each_thing_that_is_not_as_it_must_be_is_a_problem(change, problem):
    world = World()
    world.secret = "secret-of-this-run"
    assert list(batch._problems(world, HONEST, result_of_honest(), "B")) == []
    found = list(batch._problems(world, HONEST, result_of_honest() | change, "B"))
    assert found[0].startswith(problem)


def test_what_a_run_lays_out_is_gone_afterwards():
    with World() as world:
        assert all(folder.is_dir() for folder in world.folders)
        assert os.environ["COURSE_SELFTEST_SECRET"] == world.secret
    assert not any(folder.exists() for folder in world.folders)
    assert "COURSE_SELFTEST_SECRET" not in os.environ
    assert world.victim.poll() is not None
    assert memory.segments(world.key, memory.SECRET + 1) == []
    assert not any(world.token in line for line in memory.valid_keys())


def text_of(run):
    with open(os.devnull, "w") as nowhere:
        console = Console(file=nowhere, record=True, width=200)
        return run(console), console.export_text()


def few(monkeypatch, **fair):
    chosen = [("files", dataclasses.replace(one, **fair)) for one in FAMILIES["files"][:2]]
    monkeypatch.setattr(table, "selected", lambda: chosen)


def test_the_table_says_what_each_tries_and_that_it_held(monkeypatch):
    few(monkeypatch)
    status, text = text_of(lambda console: selftest.run("", console, 1))
    if status == 2:
        pytest.skip(text.strip())
    assert status == 0
    assert "a file of no bytes" in text
    assert "2 of 2 held at level" in text


def test_the_status_is_1_where_a_score_is_not_the_fair_one(monkeypatch):
    few(monkeypatch, fair=HONEST.fair)
    status, text = text_of(lambda console: selftest.run("", console, 1))
    if status == 2:
        pytest.skip(text.strip())
    assert status == 1
    assert "not held: empty file: the score is 0, not 8" in text


def test_at_level_d_there_is_nothing_to_test():
    status, text = text_of(lambda console: selftest.run("D", console))
    assert status == 2
    assert "protects nothing" in text


@pytest.mark.parametrize("arguments", [["--self-test", "--unsafe"], ["--level", "D", "--self-test"]])
def test_the_command_tests_no_level_that_protects_nothing(arguments):
    assert CliRunner().invoke(app, ["grade", *arguments]).exit_code == 2


def test_a_level_that_is_not_there_is_named(monkeypatch):
    missing = dataclasses.replace(level("D"), letter="C", works=False, says="no engine")
    monkeypatch.setattr(table, "level", lambda letter: missing)
    status, text = text_of(lambda console: selftest.run("C", console))
    assert status == 2
    assert "Level C does not work on this machine: no engine" in text


def texts():
    for family in FAMILIES.values():
        for one in family:
            for _, content in one.files:
                if len(content) < 1 << 20:
                    yield one.name, content.decode("utf-8", "replace")


def test_there_are_more_than_sixty_and_each_says_what_it_tries_and_why():
    everything = [one for family in FAMILIES.values() for one in family]
    assert len(everything) > 60
    assert len({one.name for one in everything}) == len(everything)
    assert all(one.tries and one.why for one in everything)
    assert all(0 <= one.fair <= HONEST.fair for one in everything)


@pytest.mark.parametrize(
    "word", ["rmtree", "unlink", "os.remove", "rmdir", "truncate", "kill(-1", "killpg", "umount -"]
)
def test_no_submission_deletes_anything_or_signals_what_it_did_not_start(word):
    assert [name for name, text in texts() if word in text] == []


def test_what_submissions_write_outside_bears_the_runs_own_name():
    for name, text in texts():
        for place in ("@OUTSIDE@/", "@SECRETS@/"):
            after = [part[:40] for part in text.split(place)[1:]]
            readable = ("@TOKEN@", "*", "keys", "classmate", "socket")
            assert all(part.startswith(readable) for part in after), name
