"""An answer is called in a copy of the notebook as it was when the answer was taken; a call costs no other answer."""

import pytest

from course_lib.checks.moments import DEFINED, FIRST, LAST
from course_lib.checks.values import decode, encode
from course_lib.grading.running import END
from course_lib.grading.sandbox import Box
from tests.grading.toy_sheet import SHORT, needs

pytestmark = needs("D")
CHECK = "from course_lib.checks import check\n"


@pytest.fixture
def box():
    box = Box("D", SHORT)
    ask(box, "watch", answers={"1": "f", "2": "g"})
    yield box
    assert box.close()


def ask(box, do, seconds=1.0, **more):
    return box.ask({"do": do, "limit": seconds, **more}, seconds)


def cells(box, *sources):
    return [ask(box, "cell", name="cell", source=source)["error"] for source in sources]


def call(box, *args, at=FIRST, id="1", function="f"):
    """Return the value of an answer, or the text of its error."""
    reply = ask(box, "call", id=id, function=function, at=at, args=[encode(a) for a in args])
    return reply["error"] or decode(reply["value"])


def test_names_that_later_cells_give_again_are_as_they_were_where_the_check_stood(box):
    assert cells(box, CHECK, "k = 2\ndef f(x):\n    return k * x", "check('1', f)", "k = 5\ndel f") == [""] * 4
    assert (call(box, 3), call(box, 4)) == (6, 8)


def test_each_moment_has_its_own_copy(box):
    cells(
        box,
        CHECK,
        "k = 1\ndef f():\n    return k",
        "check('1', f)",
        "k = 2\ncheck('1', f)",
        "k = 3\ndef f():\n    return -k",
    )
    assert [call(box, at=at) for at in (FIRST, LAST, DEFINED)] == [1, 2, -3]
    cells(box, "k = 4")
    assert call(box, at=END) == -4
    assert ask(box, "moments", id="1")["changed"] == [FIRST, LAST, DEFINED]
    assert ask(box, "moments", id="2")["changed"] == []


def test_what_a_call_changes_stays_in_its_copy(box):
    cells(box, "log = []\ndef f(x):\n    log.append(x)\n    return len(log)\ndef g():\n    return len(log)")
    assert [call(box, 1), call(box, 2)] == [1, 2]  # as in the notebook, where one call follows another
    assert call(box, id="2", function="g") == 0
    assert cells(box, "assert log == []") == [""]


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        ("import os; os._exit(3)", "ProcessEnded: its process ended with status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ProcessEnded: its process ended with status -9"),
        ("raise SystemExit", "SystemExit"),
        ("while True: pass", "TimeoutError: it ran longer than 1 s"),
        ("import time; time.sleep(1000)", "TimeoutError: it ran longer than 1 s"),
        (
            "import hashlib; hashlib.pbkdf2_hmac('sha1', b'', b'', 2**31 - 1)",
            "TimeoutError: it went on after its 1 s and was ended",
        ),
    ],
)
def test_a_copy_that_ends_costs_one_call_and_nothing_else(box, does, reason):
    cells(box, f"def f(x):\n    if x:\n        {does}\n    return 5\ndef g():\n    return 7")
    assert call(box, 1) == reason
    assert (call(box, 0), call(box, id="2", function="g"), cells(box, "x = 1")) == (5, 7, [""])


STUBBORN = """
import signal, time
def f(x):
    if x == 2:
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
    if x == 3:
        for number in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU):
            signal.signal(number, signal.SIG_IGN)
    while x:
        try:
            while True:
                pass
        except BaseException:
            pass
    return 5
"""


@pytest.mark.parametrize("how", [1, 2, 3], ids=["catches all", "blocks signals", "ignores signals"])
def test_a_stubborn_loop_is_ended(box, how):
    cells(box, STUBBORN)
    assert call(box, how) in (
        "TimeoutError: it went on after its 1 s and was ended",
        "TimeoutError: it ran longer than 1 s",
        "ProcessEnded: its process ended with status -9",
    )
    assert call(box, 0) == 5


def test_a_copy_is_made_while_threads_are_at_work(box):
    cells(
        box,
        "import threading, time, warnings\nwarnings.simplefilter('error')\nk = 1\ndef f():\n    return k",
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\ndef g():\n    return -k",
        "k = 2",
    )
    assert (call(box), call(box, id="2", function="g")) == (1, -1)


def test_an_executor_of_the_notebook_works_in_the_copy(box):
    pool = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\nlist(pool.map(abs, [1]))\n"
    cells(box, pool + "k = 3\ndef f(x):\n    return list(pool.map(lambda y: k * y, x))", "k = 0")
    assert call(box, [1, 2]) == [3, 6]


def test_an_answer_that_needs_a_thread_of_the_notebook_is_called_in_the_notebook(box):
    cells(
        box,
        "import queue, threading\nasked, told = queue.Queue(), queue.Queue()\n"
        "def serve():\n    while True:\n        told.put(asked.get() * 2)\n"
        "threading.Thread(target=serve, daemon=True).start()\n"
        "def f(x):\n    asked.put(x)\n    return told.get(timeout=0.5)",
    )
    assert call(box, 4) == 8


def test_a_check_in_a_thread_takes_the_answer_too(box):
    cells(box, CHECK + "k = 1\ndef other():\n    return k")
    assert cells(
        box, "import threading\nt = threading.Thread(target=check, args=('1', other))\nt.start()\nt.join()\nk = 2"
    ) == [""]
    assert call(box) == 1


def test_a_name_that_is_no_function_and_one_that_is_not_there_have_their_reason(box):
    cells(box, "f = 5")
    assert call(box) == "TypeError: 'int' object is not callable"
    assert call(box, id="2", function="g") == "NameError: name 'g' is not defined"


def test_files_beside_the_notebook_cannot_leave_its_folder(box, tmp_path):
    import base64

    text = base64.b64encode(b"k = 4\n").decode()
    assert ask(box, "files", files=[["h.py", text], ["parts/i.py", text]])["error"] == ""
    assert cells(box, "import h\nfrom parts.i import k\nassert h.k == k == 4") == [""]
