"""One submission always gives a result: exact points, a reason for each lost one, and never an exception."""

import dataclasses
import json
import os
import pickle
import subprocess
import sys
import time

import pytest

from course_lib.grading import host
from course_lib.grading.host import Task, grade
from course_lib.grading.levels import level
from course_lib.grading.task import result_key
from tests.grading import toy_sheet
from tests.grading.toy_sheet import NAME, RIGHT, SHORT, answered, book, code, needs

pytestmark = needs("B")
FILE = f"{NAME}.ipynb"
FORGE = (
    "import os, contextlib\n    for fd in range(3, 9):\n        with contextlib.suppress(OSError): os.write(fd, b'{}')"
)
STUBBORN = "import time\nwhile True:\n    try:\n        time.sleep(9)\n    except BaseException:\n        pass\n"


@pytest.fixture
def keys(monkeypatch, tmp_path):
    return toy_sheet.install(monkeypatch, tmp_path)


def graded(content, keys, **more):
    result = grade(Task("ann", NAME, ((FILE, content),), keys, **{"level": "B", "limits": SHORT} | more))
    json.dumps(result).encode()
    assert pickle.loads(pickle.dumps(result)) == result
    assert result["questions"] == [] or [q["id"] for q in result["questions"]] == ["98.1", "98.2", "98.3", "98.4"]
    return result


def points(result):
    return [q["points"] for q in result["questions"]]


def reasons(result):
    return [" ".join(q["lost"]) for q in result["questions"]]


@pytest.mark.parametrize("letter", [pytest.param(x, marks=needs(x)) for x in "ABD"])
def test_right_answers_get_all_points_in_one_box(keys, letter):
    result = graded(answered(), keys, level=letter)
    assert (result["status"], result["says"], result["level"]) == ("graded", f"{FILE} was graded.", letter)
    assert (result["points"], result["of"], points(result)) == ("8", 10, ["3", "3", "2", "0"])
    assert (result["boxes"], result["notes"], result["files"]) == (1, [], [FILE])
    passed = {"passed": True, "says": "", "cause": "", "counts": {}}
    assert result["questions"][0]["parts"] == [
        {"name": "public", "hidden": False, "weight": 1} | passed,
        {"name": "negative numbers", "hidden": True, "weight": 2} | passed,
    ]
    assert reasons(result) == ["", "", "", "No answer was found; it is graded by hand."]


def test_points_are_exact_fractions_of_the_parts_that_pass(keys):
    result = graded(
        answered(total="def total(x):\n    return 3.5\n", third="def third(x):\n    return list(x)[2]\n"), keys
    )
    assert points(result) == ["3", "0", "2", "0"]  # a constant passes the public part alone
    result = graded(
        answered(double="def double(x):\n    return 2 * abs(x)\n", third="def third(x):\n    return 'c'\n"), keys
    )
    assert points(result) == ["0", "3", "1", "0"]
    assert result["points"] == "4"


def test_a_hidden_case_is_not_given_away(keys):
    result = graded(answered(double="def double(x):\n    return 2 * x if x > -9 else x\n"), keys)
    assert "negative numbers (hidden): double on a hidden case returns" in reasons(result)[0]
    assert "170001" not in json.dumps(result)
    assert "340002" not in json.dumps(result)


def test_a_lost_point_has_its_reason(keys):
    texts = {
        "double": "def double(x):\n    return y\n",
        "total": "def totals(x):\n    return 1\n",
        "third": "def third(x:\n",
    }
    found = reasons(graded(answered(**texts), keys))
    assert "double(1) raises NameError: name 'y' is not defined." in found[0]
    assert "NameError: total is not defined in this notebook" in found[1]
    assert "third is not defined, as cell 4 stopped: SyntaxError" in found[2]


def test_a_name_that_may_not_be_used_loses_the_question(keys):
    third = "from operator import itemgetter\ndef third(x):\n    return itemgetter(2)(x)\n"
    result = graded(answered(third=third), keys)
    assert points(result) == ["3", "3", "0", "0"]
    assert "uses itemgetter" in reasons(result)[2]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("import os; os._exit(0)", "ProcessEnded"),
        ("raise SystemExit", "SystemExit"),
        ("return x.__class__.__subclasses__()[0]", "is a type"),
        ("return type('F', (float,), {'__eq__': lambda s, o: True})(2.0 * x)", "result is float64"),
        ("return float('nan')", "result is float64"),
        ("print('score: 10'); return -1", "-1"),
        ("return 10 ** 5000", "thousands of digits"),
        ("return '\\ud800'", "result is a text"),
        ("raise ValueError('\\ud800')", "ValueError: ?"),
        (
            FORGE,
            "Protocol",
        ),
    ],
)
def test_the_other_questions_count_whatever_one_answer_does(keys, body, reason):
    result = graded(answered(double=f"def double(x):\n    {body}\n"), keys)
    assert (result["status"], points(result)) == ("graded", ["0", "3", "2", "0"])
    assert reason in reasons(result)[0]


def test_an_answer_that_never_ends_is_killed_and_the_others_count(keys):
    body = "def double(x):\n" + "".join(f"    {line}\n" for line in STUBBORN.splitlines())
    result = graded(answered(double=body), keys)
    assert points(result) == ["0", "3", "2", "0"]
    assert "double(1) does not end: it was stopped after 1 s" in reasons(result)[0]
    assert "negative numbers (hidden): it was not run, as the public part has no result." in reasons(result)[0]
    assert result["boxes"] == 1  # only the process that called it was ended


@pytest.mark.parametrize("later", ["os._exit(0)", "7 ** 10 ** 10", "os.write(4, b'{}')"])
def test_what_one_answer_does_later_costs_no_other_question(keys, later):
    thread = f"import threading, time, os; threading.Timer(0.01, lambda: {later}).start(); return 2 * x"
    slow = "def total(x):\n    import time\n    time.sleep(0.1)\n    return float(np.sum(x))\n"
    result = graded(answered(double=f"def double(x):\n    {thread}\n", total=slow), keys)
    assert points(result)[1:] == ["3", "2", "0"]


def test_of_a_cell_that_never_ends_the_definitions_count(keys):
    result = graded(answered(double=RIGHT["double"] + STUBBORN), keys)
    assert points(result) == ["3", "3", "2", "0"]
    assert "cell 2 did not end by itself" in result["notes"][0]
    assert result["boxes"] == 2


def test_a_notebook_whose_cells_all_end_the_process_is_given_up(keys):
    result = graded(book(*[code("import os\nos._exit(0)")] * 30), keys)
    assert (result["status"], result["points"], result["boxes"]) == ("graded", "0", 6)
    assert "6 cells did so" in reasons(result)[0]


def test_the_time_of_the_whole_submission_is_limited(keys):
    slow = code("import time\ntime.sleep(0.8)")
    limits = dataclasses.replace(SHORT, submission=2.0)
    result = graded(book(*[slow] * 25), keys, limits=limits)  # all cells together sleep for 20 s
    assert "the 2 s for the whole notebook are used up" in reasons(result)[0]


def test_the_last_definition_counts_as_in_a_notebook_that_runs(keys):
    wrong = "def double(x):\n    return x\n"
    assert points(graded(book(code(wrong), code(RIGHT["double"])), keys))[0] == "3"
    assert points(graded(book(code(RIGHT["double"]), code(wrong)), keys))[0] == "0"


def test_jupyters_own_lines_do_not_matter(keys):
    cells = ["%matplotlib inline\nimport numpy as np\n!ls\nfiles = !ls\nnp.sum?\n", "%%time\n" + RIGHT["double"]]
    limits = dataclasses.replace(SHORT, cell=20.0)  # IPython is loaded
    result = graded(book(*map(code, [*cells, RIGHT["total"], "%%bash\nmkdir x\n"])), keys, limits=limits)
    assert (points(result), result["notes"]) == (["3", "3", "0", "0"], [])


def test_what_is_printed_costs_nothing(keys):
    noise = code("import sys\nprint('x' * 10**7)\nprint('y', file=sys.stderr)")
    result = graded(book(noise, code(RIGHT["double"])), keys)
    assert points(result)[0] == "3"
    assert result["output_bytes"] > 10**7


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ((), "no notebook"),
        (((FILE, b""),), "unreadable"),
        (((FILE, b"{"),), "unreadable"),
        ((("\ud800", b"?"),), "no notebook"),
    ],
)
def test_without_a_notebook_there_is_a_result_with_no_points_and_the_reason(keys, files, status):
    result = grade(Task("ann", NAME, files, keys))
    json.dumps(result, ensure_ascii=False).encode()
    assert (result["status"], result["points"], result["boxes"]) == (status, "0", 0)
    assert all(result["says"] in reason for reason in reasons(result)[:3])


def test_answers_in_words_are_kept_for_grading_by_hand(keys):
    words = {"cell_type": "markdown", "source": "Because.", "metadata": {"nbgrader": {"grade_id": "answer-98-4"}}}
    result = graded(book(words, code(RIGHT["double"])), keys)
    assert result["answers"] == {"98.1": RIGHT["double"], "98.2": "", "98.3": "", "98.4": "Because."}
    assert reasons(result)[3] == "It is graded by hand."
    words["source"] = "*Your answer here.*"
    assert reasons(graded(book(words), keys))[3] == "No answer was found; it is graded by hand."


def test_a_fault_of_the_grader_says_so(keys, tmp_path, monkeypatch):
    assert "FileNotFoundError" in graded(answered(), str(tmp_path / "no"))["says"]
    assert "no sheet" in grade(Task("ann", "97_none", ()))["says"]

    def fail(exercise, case, outcome, reveal):
        if exercise.id == "98.2":
            raise TypeError("no such thing")

    monkeypatch.setattr("course_lib.grading.questions.judge", fail)
    result = graded(answered(), keys)
    assert result["status"] == "broken"
    assert "98.2, public: TypeError: no such thing" in result["says"]
    assert points(result) == ["3", "0", "2", "0"]


def test_a_value_that_cannot_be_compared_is_the_answers_fault(keys, monkeypatch):
    def fail(exercise, case, outcome, reveal=True):
        if outcome.value == -1:
            raise OverflowError("so odd")

    monkeypatch.setattr("course_lib.grading.questions.judge", fail)
    result = graded(answered(double="def double(x):\n    return -1\n"), keys)
    assert (result["status"], points(result)) == ("graded", ["0", "3", "2", "0"])
    assert "double returns a value that cannot be compared (OverflowError: so odd)" in reasons(result)[0]


def test_a_grader_that_hangs_still_gives_a_result(keys, monkeypatch):
    monkeypatch.setattr(host, "SLACK", 0.1)
    monkeypatch.setattr(host, "read_answers", lambda *a: time.sleep(3))
    result = graded(answered(), keys, limits=dataclasses.replace(SHORT, submission=0.2))
    assert (result["status"], result["says"]) == ("broken", "The grader did not end within 0.3 s.")


def test_without_a_safe_box_nothing_is_run(keys, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    level.cache_clear()
    result = graded(answered(), keys, level="")
    level.cache_clear()
    assert result["status"] == "broken"
    assert "B: bwrap is not installed; install the package bubblewrap" in result["says"]


def test_the_key_of_a_result_changes_with_the_files_and_the_limits_only(keys):
    task = Task("ann", NAME, ((FILE, b"a"),), keys)
    other = [{"files": ((FILE, b"b"),)}, {"files": (("x", b"a"),)}, {"keys": ""}, {"limits": SHORT}, {"sheet": "x"}]
    found = {result_key(dataclasses.replace(task, **change)) for change in other}
    assert len(found) == 5
    assert result_key(task) not in found
    assert result_key(dataclasses.replace(task, student="bob", level="D")) == result_key(task)


CHECK = "from course_lib.checks import check\n"
SHELL = dataclasses.replace(SHORT, cell=20.0)
"""Limits for notebooks whose cells load IPython."""


def test_names_given_again_below_a_check_cost_nothing(keys):
    helped = "def twice(x):\n    return 2 * x\ndef double(x):\n    return twice(x)\n"
    cells = [CHECK + "import numpy as np", helped, "check('98.1', double)", RIGHT["total"], "check('98.2', total)"]
    later = "twice = np = sum = float = None\ndef total(x):\n    return 'tried'\ndef double(x):\n    return x\n"
    assert points(graded(book(*map(code, [*cells, later, RIGHT["third"]])), keys))[:3] == ["3", "3", "2"]


def test_an_answer_repaired_below_its_check_counts(keys):
    wrong = "def double(x):\n    return x\n"
    cells = [CHECK, wrong, "check('98.1', double)", RIGHT["double"]]
    assert points(graded(book(*map(code, cells)), keys))[0] == "3"
    cells = [
        CHECK,
        "def double(x):\n    raise NotImplementedError\n",
        "check('98.1', double)",
        RIGHT["double"],
        "x = 1",
    ]
    assert points(graded(book(*map(code, cells)), keys))[0] == "3"
    cells = [
        CHECK,
        "k = 1\ndef double(x):\n    return k * x\n",
        "check('98.1', double)",
        "k = 2\ncheck('98.1', double)",
        "k = 3",
    ]
    assert points(graded(book(*map(code, cells)), keys))[0] == "3"


def test_what_was_wrong_at_the_last_moment_is_told(keys):
    cells = [CHECK, "def double(x):\n    return x\n", "check('98.1', double)", "def double(x):\n    return -x\n"]
    result = graded(book(*map(code, cells)), keys)
    assert points(result)[0] == "0"
    assert "double(1): result is -1, expected 2" in reasons(result)[0]


def test_an_answer_of_another_name_is_the_one_that_is_checked(keys):
    cells = [CHECK, "def mine(x):\n    return 2 * x\n", "check('98.1', mine)", "del mine\ndouble = 'see above'"]
    assert points(graded(book(*map(code, cells)), keys))[0] == "3"


def test_an_answer_that_needs_a_cell_below_is_called_at_the_end(keys):
    cells = ["def double(x):\n    return k * x\n", "x = 1", "k = 2"]
    assert points(graded(book(*map(code, cells)), keys))[0] == "3"


def test_files_beside_are_found_and_cannot_leave_the_folder(keys):
    answer = "from parts.h import k\nimport os\ndef double(x):\n    return k * x * len(os.listdir('parts'))\n"
    files = [
        (FILE, book(code(answer))), ("parts/h.py", b"k = 2\n"), ("../out.py", b"x"), ("/tmp/out.py", b"x"),
        ("a/../../out.py", b"x"), ("C:\\out.py", b"x"), ("", b"x"), ("parts\\..\\..\\out.py", b"x"), ("x\0.py", b"x"),
    ]  # fmt: skip
    result = grade(Task("ann", NAME, tuple(files), keys, level="B", limits=SHORT))
    assert (points(result)[0], [n for n in result["notes"] if "files" in n]) == ("3", [])


def test_what_was_left_out_reaches_the_report(keys):
    cells = ["import no_such_package, numpy as np", "age = input('age? ')", "1 / 0", "%no_such_magic", *RIGHT.values()]
    result = graded(book(*map(code, cells)), keys, limits=SHELL)
    assert points(result)[:3] == ["3", "3", "2"]
    told = "\n".join(result["notes"])
    assert "cell 1: the import of no_such_package is left out" in told
    assert "input('age? ') was answered with an empty text" in told
    assert "cell 3 stopped: ZeroDivisionError" in told
    assert "cell 4: a magic command is left out" in told


def test_the_time_of_cells_is_no_questions_and_sleep_counts_as_time(keys):
    busy = "import time\nend = time.process_time() + 0.7\nwhile time.process_time() < end:\n    pass\n"
    asleep = "import time\ntime.sleep(1000)\n"
    result = graded(book(*map(code, [*[busy] * 5, asleep, "import numpy as np", *RIGHT.values()])), keys)
    assert points(result)[:3] == ["3", "3", "2"]
    assert [note for note in result["notes"] if "cell 6 stopped: TimeoutError" in note]


def test_endless_answers_cost_only_themselves(keys):
    endless = "def {}(x):\n    while True:\n        pass\n"
    texts = {name: endless.format(name) for name in ("double", "total")}
    assert points(graded(answered(**texts), keys)) == ["0", "0", "2", "0"]


def test_on_a_busy_machine_a_right_answer_is_right(keys):
    limits = dataclasses.replace(SHORT, call=2.0, patience=30.0)
    work = "import time\n    end = time.process_time() + 0.8\n    while time.process_time() < end:\n        pass\n"
    answers = {"double": f"def double(x):\n    {work}    return 2 * x\n"}
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        assert points(graded(answered(**answers), keys, limits=limits)) == ["3", "3", "2", "0"]
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    "cell",
    [
        "import sys\nsys.exit(0)", "exit()", "raise KeyboardInterrupt", "import asyncio\nraise asyncio.CancelledError",
        "import builtins\nbuiltins.input = None", "import sys\nsys.modules['__main__'] = None",
        "import sys\nsys.stdout = sys.stderr = None", "import os\nos.chdir('/')", "import os\nos.fork()",
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "import signal\nfor n in (14, 27): signal.signal(n, signal.SIG_IGN)", "import os\nos.closerange(3, 40)",
        "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (0, 0))", "globals().clear()",
        "import gc\ngc.disable()", "import course_lib.checks as c\nc.check = None", "%reset -f",
    ],
)  # fmt: skip
def test_answers_above_such_a_cell_count(keys, cell):
    cells = [
        "import numpy as np",
        CHECK,
        *RIGHT.values(),
        "check('98.1', double)\ncheck('98.2', total)\ncheck('98.3', third)",
    ]
    result = graded(book(*map(code, [*cells, cell, "x = 1"])), keys, limits=SHELL)
    assert points(result)[:3] == ["3", "3", "2"]
