"""Kernels of a check: the notebook's object and the cell's text are judged alike, and a text is never executed."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from notebook_lib.sheets import cells_of, read_sheet

from course_lib import gpu
from course_lib.checks import Case, CheckFailed, check
from course_lib.checks.judge import NOT_STARTED, judge
from course_lib.checks.kernel_costs import costs_of
from course_lib.checks.kernels import run_here, run_kernel
from course_lib.checks.predicted import COUNTER
from course_lib.checks.registry import SHEETS, find, sheet, sheet_of

SOLUTIONS = Path(__file__).parents[2] / "solutions"
NAMES = [name for name in SHEETS if any(e.kind == "kernel" for e in sheet(name).exercises)]
BOOKS = {name: read_sheet(SOLUTIONS / f"{name}.py") for name in NAMES}
KERNELS = [e for name in NAMES for e in sheet(name).exercises if e.kind == "kernel"]
ADD = """
@gpu.jit
def guarded_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]
"""


def finding(text, id="11.1", case=0, reveal=True):
    """The judgement of a text in a public case of an exercise."""
    exercise = find(id)
    case = exercise.cases[case]
    return judge(exercise, case, run_kernel(exercise, text, case), reveal)


def cell(id):
    """The cell of an exercise in its sheet, with its solution."""
    return cells_of(BOOKS[sheet_of(id).name], "exercise")[id].source


# ------------------------------------------------------------------------------------------- what a text may be


@pytest.mark.parametrize("exercise", [e for e in KERNELS if not e.budget], ids=lambda e: e.id)
def test_the_text_of_a_solution_is_right_in_every_public_case(exercise):
    for case in exercise.cases:
        assert judge(exercise, case, run_kernel(exercise, cell(exercise.id), case)) is None


@pytest.mark.parametrize("exercise", [e for e in KERNELS if e.budget], ids=lambda e: e.id)
def test_the_text_of_a_solution_is_right_in_every_public_case_and_every_budget_is_near_what_it_takes(exercise):
    for case in exercise.cases:
        outcome = run_kernel(exercise, cell(exercise.id), case)
        assert judge(exercise, case, outcome) is None
        for counter, most in exercise.budget(*case.args).items():
            if counter == COUNTER:  # the public limit is a slow kernel's; the others are in the key
                assert outcome.counters[counter] <= most
                continue
            near = 4 * outcome.counters[counter]
            if counter == "bank_conflicts":  # an array that is padded by one number may cost each store one turn more
                near = max(near, outcome.counters["shared_store_requests"])
                if exercise.id == "14.6":  # a thread may have rows that cost most of its loads one turn more
                    near = outcome.counters["shared_load_requests"]
            assert outcome.counters[counter] <= most <= near


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_notebook_is_a_text(name):
    cells = [cell.source for cell in BOOKS[name].cells if cell.cell_type == "code"]
    text = "%matplotlib inline\n!ls\n" + "\n".join(cells)
    for exercise in (e for e in sheet(name).exercises if e.kind == "kernel"):
        assert judge(exercise, exercise.cases[0], run_kernel(exercise, text, exercise.cases[0])) is None


def test_device_functions_and_constants_of_the_text_may_be_used_and_the_rest_is_passed_over():
    text = """
import matplotlib.pyplot as plt
N = 3; FACTOR = N - 2
numbers = [1, 2, 3]
print(numbers)

def helper(*anything):
    return open("canary")

@gpu.jit(device=True)
def plus(x, y):
    return FACTOR * x + y
""" + ADD.replace("a[i] + b[i]", "plus(a[i], b[i])")
    assert finding(text) is None


def test_the_last_definition_counts():
    assert finding(ADD.replace("+", "-") + ADD) is None
    assert finding(ADD + ADD.replace("+", "-")) is not None


def test_a_name_that_was_passed_over_cannot_be_used():
    found = finding("FACTOR = 1\nFACTOR = numbers()\n" + ADD.replace("a[i]", "FACTOR * a[i]"))
    assert "FACTOR is nothing that a kernel can use" in found.says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no kernel guarded_add"),
        ("def guarded_add(:", "Python cannot read this"),
        (ADD.replace("guarded_add", "guardedadd"), "The text has guardedadd"),
        (ADD.replace("@gpu.jit", ""), "write @gpu.jit"),
        (ADD.replace("@gpu.jit", "@gpu.jit(device=True)"), "as a device function only"),
        (ADD.replace("@gpu.jit", "@staticmethod"), "decorated with"),
        (ADD.replace("a, b, c", "a, b, c, n"), "takes 4 arguments (a, b, c, n) and got 3"),
        (ADD + "guarded_add = 3", "is given another value after its def"),
        (ADD.replace("a[i]", "numpy.sum(a)"), "numpy is not defined"),
        (ADD.replace("a[i] +", "a[i] @"), "line 6"),
        (ADD.replace("c[i] =", "a[i] ="), "a is read-only"),
    ],
)
def test_a_text_that_has_no_such_kernel_is_told_why(text, says):
    assert says in finding(text).says


def test_a_stub_is_not_written_yet():
    stub = ADD.replace(
        "    i =", '    """Write c."""\n    # About 3 lines.\n    raise NotImplementedError("11.1")\n    i ='
    )
    assert finding(stub).cause == finding(stub, reveal=False).cause == NOT_STARTED


# ------------------------------------------------------------------------------------------- what is told


def test_an_element_that_nobody_wrote_is_named_with_the_array():
    found = finding(ADD.replace("c.size", "c.size - 2"))
    assert "c[3] is nan, expected 5 (no thread wrote it)" in found.says
    assert found.says.endswith("Nobody wrote c[3] and 1 more elements.")


def test_a_wrong_element_is_named_with_the_thread_that_wrote_it():
    text = ADD.replace("a[i] + b[i]", "a[i] + b[i] + (i > 100)")
    assert "c[101] is" in (found := finding(text, case=1)).says
    assert "(thread 37 of block 1 wrote it)" in found.says


def test_of_several_outputs_the_wrong_one_is_named():
    text = cell("13.7").replace("= place\n", "= place + (i == 1)\n")
    assert re.search(
        r"mask\[0, 1, 0\] is \d+, expected \d+ \(thread 3 of block 0 wrote it\)", finding(text, "13.7").says
    )


def test_a_hidden_case_names_no_element():
    assert finding(ADD.replace("c.size", "c.size - 2"), reveal=False).says == (
        "guarded_add on a hidden case returns wrong numbers: some of c is never written."
    )


def test_a_hazard_is_told_with_its_line_array_index_block_and_thread():
    found = finding(ADD.replace("<", "<="))
    assert found.cause == "hazard"
    assert "line 6, c[i] = a[i] + b[i]: thread 5 of block 0 uses index 5 on a" in found.says


def test_a_race_counts_also_where_the_numbers_are_right():
    text = cell("14.3").replace("        cuda.syncthreads()\n    if row", "    if row")
    outcome = run_kernel(find("14.3"), text, find("14.3").cases[0])
    np.testing.assert_array_equal(outcome.value, find("14.3").expect(*find("14.3").cases[0].args))
    assert outcome.hazards
    assert "with no barrier between" in finding(text, "14.3").says


def test_a_right_kernel_over_its_budget_is_told_which_counter_and_what_to_do():
    text = cell("12.3").replace("33", "32")
    assert "is right, but costs 3968 bank conflicts; at most 0 are allowed. Line " in finding(text, "12.3").says
    assert "Pad the array's last axis" in finding(text, "12.3").says


def test_a_shared_array_with_the_name_of_a_parameter_does_not_hide_global_loads():
    text = """
@gpu.jit(device=True)
def hide(i):
    x = cuda.shared.array(64, float32)
    x[cuda.threadIdx.x] = float32(0)
    return x[cuda.threadIdx.x]

@gpu.jit
def smooth_tiled(x, y):
    i = cuda.grid(1)
    nothing = hide(i)
    if i < y.size:
        acc = nothing
        for j in range(max(0, i - 2), min(x.size, i + 3)):
            acc += x[j]
        y[i] = acc
"""
    assert "global loads; at most 68" in finding(text, "15.3").says


def test_counters_are_those_of_the_executor_counted_by_hand():
    # 64 threads: 2 warps; each loads 2 elements and stores 1, 32 floats are 4 sectors
    exercise, a = find("11.1"), np.arange(64, dtype=np.float32)
    counters = run_kernel(exercise, ADD, Case((a, a))).counters
    assert {k: v for k, v in counters.items() if v} == {
        "global_loads": 128, "global_stores": 64, "global_load_requests": 4, "global_store_requests": 2,
        "global_load_sectors": 16, "global_store_sectors": 8,
    }  # fmt: skip


def test_costs_name_every_counter_that_a_budget_uses():
    exercise = find("14.3")
    text = cell("14.3")
    counters = run_kernel(exercise, text, exercise.cases[0]).counters
    for each in KERNELS:
        assert set(each.budget(*each.cases[0].args) if each.budget else ()) <= set(counters)
    assert costs_of.__doc__.count("loads") >= 2


# ------------------------------------------------------------------------------------------- in a notebook


@gpu.jit
def guarded_add(a, b, c):
    i = gpu_grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@gpu.jit
def unguarded_add(a, b, c):
    i = gpu_grid(1)
    c[i] = a[i] + b[i]


from numba.cuda import grid as gpu_grid  # noqa: E402  a global that is there at the launch, not at the def


def test_check_takes_a_kernel_and_runs_it_in_the_executor(capsys):
    check("11.1", guarded_add)
    assert "right in all 2 public cases" in capsys.readouterr().out
    with pytest.raises(CheckFailed, match="uses index 5 on a, which has 5 elements"):
        check("11.1", unguarded_add)


def test_check_asks_for_a_decorator():
    with pytest.raises(CheckFailed, match=r"write @gpu\.jit in the line above its def"):
        check("11.1", guarded_add.py_func)


def test_notebook_and_text_give_the_same_outcome():
    exercise = find("11.1")
    text = "from numba.cuda import grid as gpu_grid\n" + ADD.replace("cuda.grid", "gpu_grid")
    one, other = run_here(exercise, guarded_add, exercise.cases[1]), run_kernel(exercise, text, exercise.cases[1])
    np.testing.assert_array_equal(one.value, other.value)
    assert (one.hazards, one.counters, one.error) == (other.hazards, other.counters, other.error)


# ------------------------------------------------------------------------------------------- hostile texts

BODY = "@gpu.jit\ndef guarded_add(a, b, c):\n    i = cuda.grid(1)\n    "
HOSTILE = {
    "import at the top": ("import os\nos.system('touch canary')\n" + BODY + "c[i] = os.getpid()", "cannot be imported"),
    "import in the kernel": (BODY + "import os\n    c[i] = 1", "import is not possible in a kernel"),
    "open at the top": ("X = open('canary', 'w')\n" + BODY + "c[i] = X", "X is nothing that a kernel can use"),
    "open in the kernel": (BODY + "open('canary', 'w')\n    c[i] = 1", "open is Python's own"),
    "__import__": (BODY + "c[i] = __import__('os').getpid()", "__import__ is Python's own"),
    "eval": (BODY + "c[i] = eval('1')", "eval is Python's own"),
    "exec at the top": ("exec('X = 3')\n" + BODY + "c[i] = X", "X is not defined"),
    "dunder": (BODY + "c[i] = a.__class__.__mro__[0]", "__class__"),
    "default argument": (BODY.replace("c)", "c=open('canary', 'w'))") + "c[i] = 1", "open is Python's own"),
    "decorator": ("@open('canary', 'w').write\n" + BODY.replace("@gpu.jit\n", "") + "c[i] = 1", "decorated with"),
    "decorator's option": (BODY.replace("jit", "jit(device=open('canary', 'w'))") + "c[i] = 1", "is no option"),
    "annotation": (BODY.replace("b,", "b: open('canary', 'w'),") + "c[i] = 1", "an annotation is"),
    "class with a body": ("class cuda:\n    open('canary', 'w')\n" + BODY + "c[i] = 1", "cuda is nothing"),
    "endless while": (BODY + "while True:\n        i += 1", "does not come to an end"),
    "a billion turns": (BODY + "for j in range(10 ** 9):\n        i += j", "does not come to an end"),
    "a billion turns of nothing": (BODY + "for j in range(1000000000):\n        pass", "does not come to an end"),
    "loops in loops": (
        BODY + "for j in range(10 ** 5):\n        for k in range(10 ** 5):\n            i += 1",
        "does not come to an end",
    ),
    "endless for a few": (BODY + "while i < 3:\n        pass", "does not come to an end"),
    "huge shared array": (BODY + "s = cuda.shared.array(1000000000, float32)\n    c[i] = 1", "shared arrays take"),
    "huge local array": (BODY + "s = cuda.local.array(1000000000, float32)\n    c[i] = 1", "local arrays take"),
    "huge constant": ("X = 9 ** 9 ** 9\n" + BODY + "c[i] = X", "X is nothing that a kernel can use"),
    "huge number in the kernel": (BODY + "c[i] = 9 ** 9 ** 9 ** 9", ""),
    "huge tuple": ("X = (1,) * 10 ** 9\n" + BODY + "c[i] = X[0]", "X is nothing that a kernel can use"),
    "recursion": ("@gpu.jit(device=True)\ndef f(x):\n    return f(x + 1)\n" + BODY + "c[i] = f(i)", "f"),
    "recursion of two": (
        "@gpu.jit(device=True)\ndef f(x):\n    return g(x)\n@gpu.jit(device=True)\ndef g(x):\n    return f(x)\n"
        + BODY + "c[i] = f(i)", "",
    ),
    "nested deep": (BODY + "c[i] = " + "(" * 5_000 + "1" + ")" * 5_000, ""),
    "many operators": (BODY + "c[i] = " + "1 + " * 20_000 + "1", "Python cannot read this text"),
    "too long": (BODY + "c[i] = 1\n" + "#" * 300_000, "at most 200,000 are read"),
    "many constants": ("X = 1\n" * 20_000 + BODY + "c[i] = X", ""),
    "bytes of zero": (BODY + "c[i] = 1\0", "Python cannot read"),
    "no text": (None, "a kernel's text is a str"),
}  # fmt: skip

events, armed = [], []
WATCHED = (
    "open",
    "exec",
    "import",
    "subprocess",
    "os.",
    "socket",
    "shutil",
    "ctypes",
    "builtins.input",
    "code.__new__",
)


def _watch(event, arguments):
    if armed and event.startswith(WATCHED):
        frame, files = sys._getframe(1), []
        while frame is not None:
            files.append(frame.f_code.co_filename)
            frame = frame.f_back
        ours = not any("numba" in Path(f).parts or f.startswith("<frozen importlib") for f in files)
        if (ours or "canary" in repr(arguments)) and "<unknown>" not in arguments[:1]:
            events.append(f"{event} {arguments!r:.200}")


sys.addaudithook(_watch)  # for good; it does nothing unless it is armed


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_refused_or_stopped_and_nothing_of_it_is_executed(name, tmp_path, monkeypatch):
    text, says = HOSTILE[name]
    finding(ADD)  # what the executor loads when it is first used
    monkeypatch.chdir(tmp_path)
    events.clear()
    armed.append(True)
    try:
        outcome = run_kernel(find("11.1"), text, find("11.1").cases[0])
    finally:
        armed.clear()
    assert says in outcome.error
    assert outcome.error or outcome.hazards or name == "many constants"
    assert events == []
    assert list(tmp_path.iterdir()) == []


def test_the_watch_sees_what_it_watches_for(tmp_path):
    armed.append(True)
    try:
        exec("open(path, 'w').close()", {"path": tmp_path / "canary"})
    finally:
        armed.clear()
    assert any(e.startswith("open") for e in events)
    events.clear()
