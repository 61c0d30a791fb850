"""Loops of one thread give the same report whether their turns are walked or compiled."""

import re

import numpy as np
import pytest
from numba import cuda

from course_lib import simt
from course_lib.simt.alone import compiled, handover
from tests.simt.generated.loops import Writer
from tests.simt.text import function


def told(report):
    """Return what a report says, without what it is made of."""
    accesses = [(a.line, a.array, a.way, a.element.tolist(), a.address.tolist()) for a in report.accesses]
    return *report.to_dict().items(), sorted(accesses)


def both(kernel, grid, block, make, monkeypatch, **options):
    """Run a kernel walked and compiled; return (both reports, both lists of arguments)."""
    reports, arguments = [], []
    for hot in (1 << 60, 3):
        monkeypatch.setattr(handover, "HOT", hot)
        monkeypatch.setattr(handover, "AGAIN", hot)
        arguments.append(make())
        reports.append(simt.run(kernel, grid, block, arguments[-1], on_error="collect", **options))
    return reports, arguments


def same(reports, arguments, where=""):
    for a, b in zip(*arguments, strict=True):
        if isinstance(a, np.ndarray):
            assert a.tobytes() == b.tobytes(), f"{where}\n{a}\n{b}"
    for first, second in zip(*map(told, reports), strict=True):
        assert first == second, where


def compiled_turns(monkeypatch):
    """Count the turns that are compiled from now on."""
    count = [0]
    enter = handover.enter

    def counting(machine, turns, mask):
        count[0] += turns.count
        enter(machine, turns, mask)

    monkeypatch.setattr(handover, "enter", counting)
    return count


def random_arguments(seed):
    rng = np.random.default_rng(seed)
    w = rng.integers(0, 9, 8).astype(np.dtype(rng.choice(["int32", "uint8", "int64", "float32"])))
    return rng.random(8) * 9, rng.random((8, 3)).astype(np.float32), w, np.zeros(4)


@pytest.mark.parametrize("start", range(0, 14, 7))
def test_random_loops_are_the_same_walked_and_compiled(start, monkeypatch):
    count = compiled_turns(monkeypatch)
    for seed in range(start, start + 7):
        text = Writer(seed).text()
        reports, arguments = both(
            function(text), 1, 40, lambda seed=seed: random_arguments(seed), monkeypatch
        )  # fmt: skip
        same(reports, arguments, f"seed {seed}\n{text}")
    assert count[0] > 100


FORMS = {
    "all types": "x = int32(i) + uint64(3) if i % 2 else float32(i) / 3\n            out[0] = x",
    "tuples": "p, q = q, p + q\n            out[i % 4] = p",
    "both ways out": "if i == 500:\n                break\n            out[i % 4] += 1",
    "next turn": "if i % 3:\n                continue\n            out[i % 4] += i",
    "chained": "if 0 <= a[i % 9] < 5 <= i:\n                out[1] += 1",
    "and, or": "if (a[i % 9] > 2 and i > 5) or not i % 7:\n                out[2] += 1",
    "a loop inside": "for j in range(i % 5, -1, -2):\n                if j == 2:\n                    break\n"
                     "                out[j] += a[j]",
    "while inside": "j = 0\n            while a[j] < 7:\n                j += 1\n            out[0] += j",
    "a function": "out[i % 4] = clamp(a[i % 9] - 3, 0, i)",
    "shapes": "out[i % len(out)] += a.shape[0] + a.size + m.shape[1] + cuda.blockDim.x",
    "two axes": "m[i % 3, (i + 1) % 2] = m[(i + 2) % 3, 0] * 0.5 + 1",
    "shared": "s[i % 8] += i\n            out[0] = s[(i + 3) % 8]",
    "local": "own[i % 4] = i\n            out[1] = own[(i + 1) % 4]",
    "a number that overflows": "k = int32(i * 40000000)\n            out[0] = k + (i << 62) - (p << i)",
    "conversions": "out[0] = int32(a[i % 9] * 1e9) + int64(a[i % 9] * 1e18 * i) + uint8(i)",
    "functions": "out[0] += math.sqrt(a[i % 9]) + abs(-i) + min(i, 3) + max(a[0], 2.5) + math.floor(a[1] / 2)",
    "a NaN": "x = math.sqrt(a[i % 9] - 3.5)\n            out[0] += min(x, 1.0) + max(2.0, x)\n"
             "            out[1] += min(1.0, x) + max(x, 0.0)",
    "a negative divisor": "out[i % 4] += (i - 300) % (p - 4) + (i - 300) // (p - 4)",
    "out of bounds": "out[0] += a[i // 60]",
    "a negative index": "out[0] += a[i % 9 - 1]",
    "division by zero": "out[0] += 7 // (i % 100)",
    "unwritten": "out[0] += gaps[i % 64]",
    "the same value": "out[3] = 5\n            out[2] = i",
    "printed": "if i % 250 == 0:\n                print(i)\n            out[0] += i",
    "a type of its own": "z = complex(i, 1)\n            out[0] += z.real",
}  # fmt: skip
FORM = """
@cuda.jit(device=True)
def clamp(v, low, high):
    if v < low:
        return low
    for q in range(3):
        if v + q > high:
            return v + q
    return v


def kernel(a, m, out):
    s = cuda.shared.array(8, float32)
    gaps = cuda.shared.array(64, float32)
    own = cuda.local.array(4, int64)
    t = cuda.threadIdx.x
    if t < 8:
        s[t] = t
    gaps[t % 60] = t
    for j in range(4):
        own[j] = j
    p, q = 1, 2
    cuda.syncthreads()
    if {which}:
        for i in range(600):
            {body}
    cuda.syncthreads()
    if t == 1:
        out[4] = out[0]
"""


def forms():
    m = np.arange(6.0).reshape(3, 2).astype(np.float32)
    return np.arange(9.0), m, np.zeros(8)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_the_same_walked_and_compiled(name, monkeypatch):
    count = compiled_turns(monkeypatch)
    kernel = function(FORM.format(which=f"t == {7 * len(name) % 64}", body=FORMS[name]))
    same(*both(kernel, 1, 64, forms, monkeypatch))
    walked = name in ("a type of its own", "printed")
    assert (count[0] == 0) == walked, count


def test_races_with_other_threads_are_found_in_compiled_turns(monkeypatch):
    text = """
    def kernel(a, out):
        t = cuda.threadIdx.x
        a[t] = t
        if t == 3:
            total = 0.0
            for i in range(a.size):
                total += a[i]
                a[i] = total
            out[0] = total
        out[t] = a[(t + 1) % 64]
    """
    reports, arguments = both(function(text), 1, 64, lambda: (np.zeros(64), np.zeros(64)), monkeypatch)
    same(reports, arguments)
    assert {h.line for h in reports[1].hazards if h.kind == "race"} == {7, 8, 10}


def test_a_long_loop_lets_others_go_on_whom_it_waits_for(monkeypatch):
    text = """
    def kernel(flag, tries):
        if cuda.threadIdx.x == 0:
            n = 0
            while cuda.atomic.add(flag, 0, 0) == 0:
                n += 1
            tries[0] = n
        elif cuda.threadIdx.x == 1:
            k = 0
            for i in range(1000):
                k += i % 7
            cuda.threadfence()
            cuda.atomic.add(flag, 0, 1)
            tries[1] = k
    """
    wanted = sum(i % 7 for i in range(1000))
    for hot in (1 << 60, 1):
        monkeypatch.setattr(handover, "HOT", hot)
        flag, tries = np.zeros(1, np.int32), np.zeros(2, np.int64)
        simt.run(function(text), 1, 2, (flag, tries))
        assert (flag[0], tries[1]) == (1, wanted)


def test_a_plain_flag_of_another_block_is_seen_by_compiled_turns(monkeypatch):
    monkeypatch.setattr(handover, "HOT", 1)
    monkeypatch.setattr(handover, "AGAIN", 1)
    text = """
    def kernel(flag, tries):
        if cuda.blockIdx.x == 0:
            n = 0
            while flag[0] == 0:
                n += 1
            tries[0] = n
        else:
            flag[0] = 1
    """
    flag, tries = np.zeros(1, np.int32), np.zeros(1, np.int64)
    report = simt.run(function(text), 2, 1, (flag, tries), on_error="collect")
    assert flag[0] == 1
    assert tries[0] > 0
    assert "race" in {h.kind for h in report.hazards}


def test_a_loop_without_an_end_is_an_error_that_names_it(monkeypatch):
    text = """
    def kernel(a):
        i = 0
        while i >= 0:
            i = (i + 1) % 1000
    """
    with pytest.raises(simt.KernelError, match="does not come to an end") as raised:
        simt.run(function(text), 1, 1, (np.zeros(4),))
    assert raised.value.line == 3


def test_a_million_turns_of_one_thread_are_within_the_budget():
    text = """
    def kernel(a, out):
        if cuda.grid(1) == 5:
            for i in range(1, a.size):
                a[i] = a[i] * 0.5 + a[i - 1] * 0.5 + (i % 3) * 0.25
            out[0] = a[a.size - 1]
    """
    a, out = np.random.default_rng(0).random(1_000_000), np.zeros(1)
    wanted = a[0]
    for i, value in enumerate(a[1:].tolist(), 1):
        wanted = value * 0.5 + wanted * 0.5 + (i % 3) * 0.25
    report = simt.run(function(text), 1, 32, (a, out))
    assert out[0] == wanted
    assert report.total.global_store_requests == 1_000_000


def test_what_is_compiled_has_nothing_of_the_kernels_own_words(monkeypatch):
    seen = []
    monkeypatch.setattr(handover, "HOT", 1)
    code_of = handover.code_of
    monkeypatch.setattr(handover, "code_of", lambda t: seen.append(compiled.written(t)) or code_of(t))
    words = ["numbers", "result", "total_of_all", "another", "np_secret"]
    text = """
    def kernel(numbers, result, total_of_all):
        for another in range(50):
            np_secret = numbers[another % 4] + total_of_all
            result[0] = np_secret
    """
    simt.run(function(text), 1, 1, (np.arange(4.0), np.zeros(1), 3))
    assert seen
    own = r"np\.\w+|math\.\w+|\b[a-z]\d+_?\b"
    for line in "\n".join(seen).splitlines():
        left = set(re.findall(r"[A-Za-z_]\w*", re.sub(own, "", line)))
        assert not left & set(words)
        assert left <= OURS


OURS = {
    "def", "while", "if", "else", "not", "and", "or", "True", "False", "break", "continue", "return", "turns", "site",
    "cell", "old", "was", "did", "counts", "most", "steps", "steps_", "room", "e", "e_", "bad", "size", "floor_divide",
    "modulo", "left_shift", "right_shift", "whole64", "whole32", "smaller", "larger",
}  # fmt: skip
"""Every word that there may be in compiled turns, beside numbered names and those of np and math."""


def test_functions_of_one_text_made_with_other_values_keep_their_own():
    def made(factor, array):
        @cuda.jit(device=True)
        def total(x):
            s = 0.0
            for i in range(x.size):
                s += x[i] * factor + array[i % 2]
            return s

        return total

    first, second = made(2.0, np.array([1.0, 2.0])), made(3, np.array([10, 20]))

    def kernel(x, out):
        out[0] = first(x)
        out[1] = second(x)
        out[2] = first(x)

    x, out = np.ones(20_000), np.zeros(3)
    for _ in range(2):
        simt.run(kernel, 1, 1, (x, out))
        np.testing.assert_array_equal(out, [20_000 * 3.5, 20_000 * 18, 20_000 * 3.5])
