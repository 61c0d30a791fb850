"""A hostile text, object or launch executes nothing, ends within its budget, and is told what and where."""

import json
import re
import subprocess
import sys

import pytest

from tests.simt.hostile import objects, texts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a limited process, forked for each try, needs Unix")

LONGEST_MESSAGE = 2_000
TRIES = [("texts", name) for name in texts.TRIES] + [("objects", name) for name in objects.TRIES]


@pytest.fixture(scope="module")
def sandbox():
    """Return a function that makes a try in a process of its own, and says what came out."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.simt.hostile.sandbox"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(module, name):
        process.stdin.write(json.dumps({"module": module, "name": name}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield ask
    process.stdin.close()
    process.wait(timeout=60)


@pytest.mark.parametrize(("module", "name"), TRIES, ids=lambda v: v)
def test_hostile_try_executes_nothing_and_is_told_why(sandbox, module, name):
    attempt = sys.modules[f"tests.simt.hostile.{module}"].TRIES[name]
    result = sandbox(module, name)
    assert result["status"] == 0, f"the process ended with {result}"
    assert result["executed"] == []
    opens = getattr(attempt, "opens", False)
    assert [e for e in result["events"] if not (opens and e.startswith("open"))] == []
    kinds, message = result["kinds"], result["message"]
    assert set(kinds) & set(attempt.errors) or (not kinds and None in attempt.errors), (kinds, message, result["trace"])
    assert re.search(attempt.says, message), message
    assert len(message) <= LONGEST_MESSAGE
    if kinds and attempt.line is not None:
        assert result["line"] == attempt.line, message


def test_there_are_enough_tries():
    assert len(TRIES) > 300
