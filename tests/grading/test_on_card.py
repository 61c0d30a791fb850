"""What runs on a card: plain data of a kernel that the executor took, in a process that is ended; here the executor."""

import json

import pytest

from course_lib import gpu
from course_lib.checks.registry import find
from course_lib.grading import on_card
from course_lib.grading.card_process import measured
from course_lib.grading.card_text import NotForACard, built_kernel
from course_lib.simt.texts import KernelError
from tests.grading.dishonest_convolutions import C1, C3

EXERCISE = find("project.10")

DEVICE = C1.replace("@gpu.jit\n", """import math
from numba import float32 as f32
HALF, PAIR = 0.5, (2, f32(3))


@gpu.jit(device=True)
def times(a, b):
    return a * b * f32(HALF) * PAIR[0]


@gpu.jit
""", 1).replace("pixel * masks[m, 0, p, q]", "times(pixel, masks[m, 0, p, q])")


def request(text, exercise=EXERCISE, batch=2):
    return json.loads(json.dumps(on_card.request_of(exercise, text, batch)))


def clock(rivals):
    """A stand-in for the device's clock: everything is called."""
    for calls in rivals.values():
        for call in calls:
            call()
    return {"team": 2e-4, "vendor": 1e-4}


@pytest.mark.parametrize(("text", "exercise"), [(C1, "project.10"), (C3, "project.11"), (DEVICE, "project.10")],
                         ids=["C1", "C3", "with a device function"])  # fmt: skip
def test_a_kernel_is_built_from_its_data_compared_and_timed(text, exercise):
    reply = measured(request(text, find(exercise)), clock)
    assert reply["reason"] == ""
    assert (reply["seconds"], reply["vendor"], reply["against"]) == (2e-4, 1e-4, "v06")


WRONG = {
    "wrong at the full size": (C1.replace("acc[m] += pixel", "acc[m] += pixel + pixel"), "results are wrong"),
    "images left out": (C1.replace("    row, col", "    if b > 0:\n        return\n    row, col"), "never written"),
    "inputs changed": (C1.replace("    row, col", "    x[b, 0, 0, 0] = x[b, 0, 0, 0]\n    w[0, 0, 0, 0] = float32(0)\n"
                                  "    row, col"), "wrong|changes its inputs"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_a_kernel_that_is_wrong_there_has_no_time_and_a_reason(text, says):
    import re

    reply = measured(request(text), clock)
    assert (reply["seconds"], reply["wrong"]) == (None, True)
    assert re.search(says, reply["reason"])


def test_what_is_timed_has_to_compute_again():
    # A clock that does not call: the results were emptied, so a kernel that computes the first time only is found.
    reply = measured(request(C1), lambda rivals: {"team": 1e-4, "vendor": 1e-4})
    assert reply["reason"].startswith("after it was timed")
    assert reply["seconds"] is None


def test_nothing_of_a_cell_but_the_kernel_crosses():
    text = C1.replace("@gpu.jit", "print('here')\nimport os\nSECRET = os.environ\n\n\n@gpu.jit(fastmath=True)")
    data = request(text)["kernel"]
    assert [one["name"] for one in data["functions"]] == ["conv_c1"]
    assert "@" not in data["functions"][0]["text"]
    assert "print" not in json.dumps(data)
    assert data["functions"][0]["names"].keys() == {"cuda", "float32", "range", "C1_MASKS"}


HOSTILE = {
    "a default": "def conv_c1(x, w, y=print('ran')):\n    pass\n",
    "a decorator": "@print\ndef conv_c1(x, w, y):\n    pass\n",
    "an annotation": "def conv_c1(x: print('ran'), w, y):\n    pass\n",
    "an annotation of what is left": "def conv_c1(x, *w: print('ran')):\n    pass\n",
    "an annotation of other names": "def conv_c1(x, **w: print('ran')):\n    pass\n",
    "a default of a name": "def conv_c1(x, *, w=print('ran')):\n    pass\n",
    "a result": "def conv_c1(x, w, y) -> print('ran'):\n    pass\n",
    "a statement": "print('ran')\ndef conv_c1(x, w, y):\n    pass\n",
    "a class": "class conv_c1:\n    print('ran')\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_data_that_would_run_something_is_refused(text, capsys):
    with pytest.raises(ValueError, match="is not one plain def"):
        built_kernel({"functions": [{"name": "conv_c1", "text": text, "names": {}}]}, {}, gpu.jit)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("meaning", [["word", "os.system"], ["word", "gpu.jit"], ["word", "__import__"],
                                     ["word", "cuda.__dict__"], ["word", "eval"], ["code", "1"],
                                     ["number", "int", "__import__('os')"]], ids=str)  # fmt: skip
def test_a_name_stands_for_numbers_words_and_functions_only(meaning):
    one = {"name": "k", "text": "def k(x):\n    x[0] = a\n", "names": {"a": meaning}}
    with pytest.raises((ValueError, KeyError)):
        built_kernel({"functions": [one]}, {}, gpu.jit)


def test_what_has_no_such_form_is_a_reason():
    with pytest.raises(KernelError, match="there is no function c1_launch"):
        on_card.request_of(EXERCISE, C1[: C1.index("def c1_launch")])
    with pytest.raises(NotForACard, match="default"):
        on_card.request_of(EXERCISE, C1.replace("(x, w, y)", "(x, w, y, n=3)"))


def test_a_process_that_does_not_end_is_ended(monkeypatch):
    monkeypatch.setattr(on_card.sys, "executable", "/bin/sleep")
    monkeypatch.setattr(on_card.subprocess, "Popen", _sleeping(on_card.subprocess.Popen))
    reply = on_card.ask_process({}, seconds=0.2)
    assert (reply["reason"], reply["seconds"]) == ("it did not end within 0.2 s on the card.", None)


def _sleeping(popen):
    return lambda command, **options: popen(["/bin/sleep", "60"], **options)


NO_REPLIES = ("", "no JSON", "[]", '{"seconds": "1"}', '{"seconds": -1, "vendor": 1, "reason": ""}')


@pytest.mark.parametrize("line", NO_REPLIES)
def test_a_reply_that_is_none_is_a_reason(monkeypatch, line):
    popen = on_card.subprocess.Popen
    monkeypatch.setattr(on_card.subprocess, "Popen", lambda c, **o: popen(["/bin/echo", line], **o))
    reply = on_card.ask_process({})
    assert reply["seconds"] is None
    assert reply["reason"]


def test_a_rerun_asks_for_new_kernels_only(tmp_path):
    asked = []

    def ask(request):
        asked.append(request["block"])
        return {"reason": "", "wrong": False, "seconds": 1e-4, "vendor": 1e-4, "against": "v06", "card": "a card"}

    first = on_card.measure_all([(EXERCISE, C1), (EXERCISE, C1)], tmp_path, ask)
    second = on_card.measure_all([(EXERCISE, C1), (EXERCISE, C1.replace("B), 128", "B), 128 + 32"))], tmp_path, ask)
    assert len(asked) == 2
    assert first[EXERCISE.id, C1] == second[EXERCISE.id, C1]


def test_a_kernel_that_was_not_timed_is_asked_for_again(tmp_path):
    asked = []

    def ask(request):
        asked.append(request)
        return on_card._nothing("the card was busy")

    for _ in range(2):
        on_card.measure_all([(EXERCISE, C1)], tmp_path, ask)
    assert len(asked) == 2


def test_a_text_that_cannot_be_asked_for_is_a_reason_and_stops_nobody(tmp_path):
    found = on_card.measure_all([(EXERCISE, "no kernel")], tmp_path, ask=None)
    assert found[EXERCISE.id, "no kernel"]["seconds"] is None
    assert "KernelError" in found[EXERCISE.id, "no kernel"]["reason"]
