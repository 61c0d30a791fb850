"""Reads that wait, places that are kept and arrays that nobody writes change no finding and no counter."""

import sys
import textwrap

import numpy as np
import pytest
from numba import cuda

import tests.simt.broken
import tests.simt.correct  # noqa: F401  their kernels enter themselves
from course_lib import simt
from course_lib.simt import shadow
from course_lib.simt.memory import Memory
from course_lib.simt.places import Place
from tests.simt.corpus import BROKEN, CORRECT
from tests.simt.generated.generator import kernel_case
from tests.simt.text import function

RUNS = [c for c in (*BROKEN.values(), *CORRECT.values()) if not getattr(c, "refused", None)]


class Eager(shadow.Shadow):
    """A Shadow that writes every read down at once."""

    quiet = property(lambda self: False, lambda self, quiet: None)


@pytest.fixture
def eagerly(monkeypatch):
    """A function that runs a launch with nothing put off, nothing kept and nothing left out."""

    def run(*arguments, **options):
        with monkeypatch.context() as patched:
            patched.setattr(sys.modules["course_lib.simt.memory"], "Shadow", Eager)
            patched.setattr(Memory, "may_change", property(lambda self: True, lambda self, may: None), raising=False)
            patched.setattr(Place, "shift", lambda self, view, indices, mask: -1)
            return simt.run(*arguments, **options)

    return run


def plain(value):
    """Return an argument as nested lists and tuples of numbers."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return np.asarray(getattr(value, "numbers", value)).tolist()


def both(eagerly, kernel, grid, block, arguments, **options):
    """Return the reports of two runs, as dicts, with what the arrays hold and what was touched."""
    out = []
    for run in (simt.run, eagerly):
        given = arguments()
        try:
            report = run(kernel, grid, block, given, on_error="collect", **options)
        except simt.KernelError as error:
            out.append(str(error))
            continue
        accesses = [(a.line, a.array, a.way, a.element.tolist(), a.address.tolist()) for a in report.accesses]
        out.append((report.to_dict(), accesses, repr(list(map(plain, given)))))
    return out


@pytest.mark.parametrize("case", RUNS, ids=[getattr(c.kernel, "__name__", str(c.kernel)) for c in RUNS])
def test_eager_and_lazy_agree_on_the_corpus(case, eagerly):
    now, later = both(eagerly, case.kernel, case.grid, case.block, case.arguments, **case.options)
    assert now == later


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("wild", [True, False])
@pytest.mark.parametrize("first", range(0, 20, 10))
def test_eager_and_lazy_agree_on_generated_kernels(first, wild, ordered, eagerly):
    for seed in range(first, first + 10):
        case = kernel_case(seed, wild=wild)
        text = case.text
        if not ordered:
            text = text.replace("cuda.syncthreads()", "pass").replace("cuda.syncwarp()", "pass")
        kernel = function(text)
        now, later = both(eagerly, kernel, case.grid, case.block, lambda case=case: list(case.arguments().values()))
        assert now == later, text


PHASES = """
    def kernel(x, out, n):
        s = cuda.shared.array(64, int32)
        i = cuda.threadIdx.x
        b = cuda.blockIdx.x
        s[i] = x[i]
        cuda.syncthreads()
        for k in range(n + b):
            {first}
            {second}
            {third}
        out[i] += 1
"""
STEPS = [
    "y = s[63 - i]", "s[i] = k", "cuda.syncthreads()", "cuda.syncwarp()", "y = s[(i + 1) % 64]", "s[63 - i] += 1",
    "if i < 32:\n                cuda.syncwarp()", "cuda.atomic.add(s, i // 2, 1)", "y = out[0]",
    "if i < 40:\n                y = s[i ^ 1]", "if k % 2 == 0:\n                cuda.syncthreads()",
    "if i < 32:\n                cuda.syncthreads()",
]  # fmt: skip


@pytest.mark.parametrize("first", range(len(STEPS)))
def test_eager_and_lazy_agree_on_every_order_of_three_steps(first, eagerly):
    rng = np.random.default_rng(first)
    for second in range(len(STEPS)):
        third = int(rng.integers(len(STEPS)))
        text = PHASES.format(first=STEPS[first], second=STEPS[second], third=STEPS[third])
        kernel = function(textwrap.dedent(text))

        def arguments():
            return np.arange(64, dtype=np.int32), np.zeros(64, np.int32), 3

        now, later = both(eagerly, kernel, 2, 64, arguments)
        assert now == later, text


def test_reads_are_written_down_when_too_many_wait(monkeypatch, eagerly):
    monkeypatch.setattr(shadow, "MOST_READS", 3)
    kernel = function("""
        def kernel(x):
            i = cuda.grid(1)
            y = 0.0
            for k in range(10):
                y += x[(i + k) % x.size]
            x[i] = y
    """)
    now, later = both(eagerly, kernel, 2, 32, lambda: (np.arange(64.0),))
    assert now == later
    assert now[0]["hazards"][0]["kind"] == "race"


@pytest.mark.parametrize(("body", "written"), [
    ("b[i] = a[i]", {"b"}), ("a[i] = b[i]", {"a"}), ("cuda.atomic.add(b, 0, a[i])", {"b"}), ("f(a, b)", {"b"}),
    ("c = a if n else b\n        c[i] = 1", {"a", "b"}), ("for v in (a, b):\n            v[i] = 1", {"a", "b"}),
    ("t = (a, b)\n        t[1][i] = a[i]", {"a", "b"}), ("a, b = b, a\n        a[i] = 1", {"b", "a"}),
    ("if n > 5:\n            b[i] = 1", {"b"}), ("y = a[i] + b[i]", set()), ("f(*(b, a))", {"a", "b"}),
    ("for k in range(2):\n            a, b = b, a\n            b[i] = 1", {"a", "b"}),
])  # fmt: skip
def test_no_array_that_a_kernel_writes_is_taken_for_one_that_it_only_reads(body, written, monkeypatch):
    machine, seen = sys.modules["course_lib.simt.run"].Machine, []
    before = machine.begin
    monkeypatch.setattr(machine, "begin", lambda self, lanes: (seen.append(self), before(self, lanes))[1])
    device = function("def f(a, b):\n    b[cuda.threadIdx.x] = a[0]", "f")
    kernel = function(f"""
    def kernel(a, b, n):
        i = cuda.threadIdx.x
        {body}
    """, f=cuda.jit(device=True)(device))  # fmt: skip
    simt.run(kernel, 1, 4, (np.arange(4.0), np.zeros(4), 0), on_error="collect")
    may = {m.name for m in seen[-1].memories if m.may_change}
    assert written <= may
    assert may <= {"a", "b"}
    if not any(word in body for word in ("(a, b)", "(b, a)", "b, a")):
        assert may == written
