"""Replies of a box are claims that are read strictly: forged, late, large or missing ones end the box, no more."""

import json

import pytest

from course_lib.checks.values import encode
from course_lib.grading.limits import Limits
from course_lib.grading.replies import BROKEN, BoxEnded, read_reply
from course_lib.grading.sandbox import Box
from tests.grading.toy_sheet import SHORT, needs

pytestmark = needs("B")

FORGE = """
import os, json
def forge(text):
    for fd in range(3, 20):
        try:
            if "pipe" in os.readlink(f"/proc/self/fd/{fd}"):
                os.write(fd, text.encode())
        except OSError:
            pass
"""


STUBBORN = "import time\nwhile True:\n    try:\n        time.sleep(9)\n    except BaseException:\n        pass"


@pytest.fixture
def box():
    box = Box("B", SHORT)
    yield box
    assert box.close()


def cell(box, source, seconds=1.0):
    return box.ask({"do": "cell", "name": "cell 1", "source": source, "limit": seconds}, seconds)


def call(box, function, *args, seconds=1.0):
    request = {"do": "call", "function": function, "args": [encode(a) for a in args], "limit": seconds}
    return box.ask(request, seconds)


def test_a_call_gives_value_error_and_what_was_changed(box):
    cell(box, "def f(x):\n    x.append(1)\n    return len(x)\ndef g():\n    raise KeyError('k' * 1000)")
    reply = call(box, "f", [5])
    assert (reply["value"], reply["error"], reply["changed"]) == (encode(2), "", ["argument 1"])
    assert call(box, "g")["error"].startswith("KeyError: 'kkk")
    assert len(call(box, "g")["error"]) <= 300
    assert call(box, "h")["error"] == "NameError: name 'h' is not defined"


def test_a_cell_that_fails_says_how_and_the_next_one_goes_on(box):
    assert cell(box, "a = 1\n1 / 0\nb = 2")["error"] == "ZeroDivisionError: division by zero"
    assert cell(box, "import sys\nsys.exit(3)")["error"] == "SystemExit: 3"
    assert cell(box, "def f(:")["error"].startswith("SyntaxError")
    reply = cell(box, "x = input('Your name? ')\nassert x == ''")
    assert reply["error"] == ""
    assert reply["notes"] == ["input('Your name? ') was answered with an empty text: nobody is there to type"]
    assert cell(box, "assert a == 1 and __name__ == '__main__'")["error"] == ""


def test_the_soft_limit_is_an_error_of_the_call_only(box):
    assert cell(box, "while True:\n    try:\n        pass\n    except Exception:\n        pass", 0.2)["error"] == (
        "TimeoutError: it ran longer than 0.2 s"
    )
    assert cell(box, "a = 1")["error"] == ""


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (STUBBORN, "TimeoutError: it went on after its 0.2 s and was ended"),
        ("import os\nos._exit(0)", "ProcessEnded"),
        ("import os\nos.kill(os.getpid(), 9)", "ProcessEnded"),
        ("import ctypes\nctypes.string_at(0)", "ProcessEnded"),
        ("import os\nos.closerange(0, 99)", "ProcessEnded"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "TimeoutError"),
    ],
    ids=["swallows everything", "_exit", "kill", "segmentation fault", "closes all files", "stops itself"],
)
def test_what_no_exception_stops_ends_the_box(box, source, reason):
    with pytest.raises(BoxEnded, match=reason):
        cell(box, source, 0.2)


GOOD = {"nonce": "0", "seconds": 0.1, "error": "", "changed": [], "notes": [], "value": None}


@pytest.mark.parametrize(
    "text",
    ["\\n", "{}\\n", "[1]\\n", "[" * 5000 + "\\n", '{"score": 10}\\n', json.dumps(GOOD) + "\\n", "no line", "\\x00\\n"],
    ids=["empty", "no fields", "list", "deep", "score", "wrong nonce", "half a line", "zero byte"],
)
def test_a_forged_reply_breaks_the_protocol(box, text):
    cell(box, FORGE)
    with pytest.raises(BoxEnded, match="ProtocolError"):
        cell(box, f"forge('''{text}''')")


def test_a_second_reply_breaks_the_protocol(box):
    cell(box, FORGE + "import sys")
    reply = (
        "frame = sys._getframe()\nwhile 'request' not in frame.f_locals: frame = frame.f_back\n"
        f"forge(json.dumps({GOOD} | {{'nonce': frame.f_locals['request']['nonce']}}) + '\\n')"
    )
    cell(box, reply)
    with pytest.raises(BoxEnded, match="ProtocolError"):
        cell(box, "a = 1")


def test_a_copy_of_the_process_does_not_answer(box):
    assert cell(box, "import os\npid = os.fork()")["error"] == ""
    cell(box, "import time\ntime.sleep(0.3)")
    assert cell(box, "assert pid > 0")["error"] == ""


def test_a_value_larger_than_a_reply_may_be_is_an_error_of_the_call():
    box = Box("B", Limits(reply=10_000))
    cell(box, "def f(n):\n    return 'x' * n")
    assert call(box, "f", 9000)["error"] == ""
    assert call(box, "f", 20_000)["error"].startswith("ValueError: the returned value has more than")
    cell(box, FORGE)
    with pytest.raises(BoxEnded, match="its reply has more than 10000 bytes"):
        cell(box, "forge('x' * 60_000)")
    box.close()


@pytest.mark.parametrize(
    "change",
    [{"nonce": 0}, {"seconds": 1}, {"seconds": True}, {"error": None}, {"error": "x" * 2000}, {"changed": "a"},
     {"changed": [1]}, {"changed": ["x"] * 1000}, {"notes": "a"}, {"notes": [1]}, {"notes": ["x" * 2000]},
     {"value": 3}, {"value": []}, {"points": 10}],
    ids=lambda change: next(f"{key}: {str(value)[:9]}" for key, value in change.items()),
)  # fmt: skip
def test_each_field_has_its_exact_type(change):
    assert read_reply(json.dumps(GOOD), "0") == GOOD
    with pytest.raises(BoxEnded, match=BROKEN):
        read_reply(json.dumps(GOOD | change), "0")
