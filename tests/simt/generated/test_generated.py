"""The executor gives what Numba's simulator, plain Python and a card give, on kernels made up at random.

What is compared, and why that is sound: all output arrays, number by number. The simulator and plain Python compute
with NumPy's types and the executor with Numba's, so the kernels for them (`wild=False`) keep every number where the
types make no difference (generator.py says how); floats are compared as numbers there. The kernels for a card also
have typed widths with overflow and warp operations, and are compared bit by bit with what was measured
(tools/generated_on_gpu.py). That the executor finds no hazard in any of them is part of each comparison.
"""

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib import simt
from tests.simt import plain
from tests.simt.generated.generator import INPUTS, OUTPUTS, Generator, kernel_case
from tests.simt.generated.simulator import Simulator
from tests.simt.text import function

ROOT = Path(__file__).resolve().parents[3]
CARDS = {
    p.name.split(".")[1]: json.loads(p.read_text()) for p in sorted(Path(__file__).parent.glob("generated.*.json"))
}
MISSING = "no generated.<gpu>.json here: no card has run them; tools/generated_on_gpu.py does"
RESULTS = (*OUTPUTS, "bins")


def examples(count):
    return settings(
        max_examples=count, derandomize=True, database=None, deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )  # fmt: skip


class Drawn:
    """Decisions that Hypothesis takes, and makes smaller when a kernel fails."""

    def __init__(self, draw):
        self._draw = draw

    def below(self, n):
        return self._draw(st.integers(0, n - 1))


@st.composite
def cases(draw, wild):
    return Generator(Drawn(draw), wild).case()


def executed(case, arguments=None, **options):
    """Return the arrays after a run of the executor, which must find nothing."""
    arguments = case.arguments() if arguments is None else arguments
    report = simt.run(function(case.text), case.grid, case.block, list(arguments.values()), **options)
    assert report.hazards == []
    return {name: arguments[name] for name in RESULTS}


def assert_equal(ours, theirs, case):
    for name in RESULTS:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=f"{name} of\n{case.text}", strict=True)


@pytest.fixture(scope="module")
def simulator():
    process = Simulator()
    yield process
    process.close()


@examples(20)
@given(case=cases(wild=False))
def test_executor_equals_numbas_simulator(simulator, case):
    assert_equal(executed(case), simulator.run(case), case)


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_executor_equals_numbas_simulator_on_seeds(simulator, first):
    for case in (kernel_case(seed, wild=False) for seed in range(first, first + 20)):
        assert_equal(executed(case), simulator.run(case), case)


def test_simulator_tells_what_a_kernel_raised(simulator):
    case = kernel_case(0, wild=False)
    with pytest.raises(RuntimeError, match="IndexError"):
        simulator.run(case._replace(text=case.text + "    oi[n + 99] = 1\n    oi[n + 99, n] = 1\n"))
    assert_equal(executed(case), simulator.run(case), case)


def is_without_barriers(case):
    return not any(word in case.text for word in ("sync", "shared", "atomic.xor", "atomic.or_", "device=True"))


def test_executor_equals_plain_python_thread_after_thread():
    compared = 0
    for case in filter(is_without_barriers, (kernel_case(seed, wild=False) for seed in range(250))):
        arguments = case.arguments()
        with np.errstate(all="ignore"):
            plain.run(function(case.text), case.grid, case.block, list(arguments.values()))
        assert_equal(executed(case), arguments, case)
        compared += 1
    assert compared >= 8


@examples(15)
@given(case=cases(wild=True))
def test_counters_or_not_one_batch_or_many_the_results_are_the_same(case):
    module = sys.modules["course_lib.simt.run"]
    expected = executed(case)
    assert_equal(executed(case, counters=False), expected, case)
    together = module.BATCH_LANES
    try:
        module.BATCH_LANES = 1  # one block in a batch
        assert_equal(executed(case), expected, case)
    finally:
        module.BATCH_LANES = together


def laid_out(array, way):
    """Return the same numbers with other strides: every second element, backwards, or the first axis fastest."""
    if way == "strided":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    if way == "reversed":
        return array[::-1].copy()[::-1]
    return np.asfortranarray(array)


@examples(12)
@given(case=cases(wild=True), way=st.sampled_from(["strided", "reversed", "fortran"]))
def test_the_layout_of_arrays_changes_no_result(case, way):
    arguments = {k: laid_out(a, way) if k in (*INPUTS, *OUTPUTS) else a for k, a in case.arguments().items()}
    assert_equal(executed(case, arguments), executed(case), case)


# ------------------------------------------------------------------------------------------- a card

DIFFERENCES: dict[str, str] = {}
"""Seed -> why a card gives something else."""


def numbers_of(entry, case):
    """Return {array: its numbers} of an entry of a card's file."""
    arguments, raw, found = case.arguments(), zlib.decompress(base64.b64decode(entry["out"])), {}
    for name in RESULTS:
        like = arguments[name]
        found[name] = np.frombuffer(raw[: like.nbytes], like.dtype).reshape(like.shape)
        raw = raw[like.nbytes :]
    assert not raw
    return found


@pytest.mark.skipif(not CARDS, reason=MISSING)
@pytest.mark.parametrize("card", CARDS or ["none"])
@pytest.mark.parametrize("part", range(6))
def test_executor_equals_a_card_bit_by_bit(card, part):
    kernels = CARDS[card]["kernels"]
    different = []
    for seed in [s for s in kernels if int(s) % 6 == part]:
        case = kernel_case(int(seed))
        assert kernels[seed]["sha256"] == case.sha256(), f"kernel {seed} has changed since: measure again"
        if seed in DIFFERENCES:
            continue
        theirs, ours = numbers_of(kernels[seed], case), executed(case, counters=False)
        if any(ours[name].tobytes() != theirs[name].tobytes() for name in RESULTS):
            different.append(seed)
    assert different == []


@pytest.mark.skipif(not CARDS, reason=MISSING)
@pytest.mark.parametrize("card", CARDS or ["none"])
def test_card_has_run_enough_kernels(card):
    assert len(CARDS[card]["kernels"]) >= 200
    assert [s for s, entry in CARDS[card]["kernels"].items() if "error" in entry] == []
    for key in ("device", "numba", "numba_cuda", "numpy", "date"):
        assert CARDS[card][key]


def test_tool_runs_without_a_card():
    line = [sys.executable, str(ROOT / "tools" / "generated_on_gpu.py"), "--dry-run"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1  # ten of three hundred
    assert "10 kernels, 0 failed" in done.stdout


def test_seeds_give_the_whole_vocabulary():
    texts = "\n".join(kernel_case(seed).text for seed in range(200))
    for word in (
        "cuda.grid(2)", "cuda.gridsize", "if ", "elif ", "else:", "while ", "break", "continue", "return\n", "not (",
        " and ", " or ", " if ", "//", "%", "<<", ">>", "~", "**", "local.array", "shared.array", "syncthreads()",
        "syncthreads_", "atomic.add", "atomic.xor", "shfl_", "ballot_", "match_any", "device=True", "math.sqrt",
        "math.floor", "math.trunc", "round(", "min(", "max(", "abs(", "+=", "uint8(", "uint64(", "float32(",
    ):  # fmt: skip
        assert word in texts, word
