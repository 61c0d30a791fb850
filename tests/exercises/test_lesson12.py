"""What sheet 12 asks to be counted is what the executor counts, and its table of SMs is the library's."""

import numpy as np
import pytest
from notebook_lib.kill import sheet_names
from notebook_lib.sheets import cells_of, read_sheet, stub_of

from course_lib import simt
from course_lib.checks import Case
from course_lib.checks.judge import judge
from course_lib.checks.kernels import IMPORTS, output, run_kernel
from course_lib.checks.registry import find
from course_lib.simt.estimate.devices import DEVICES
from tests.setup.project import ROOT

SHEET = read_sheet(ROOT / "solutions" / "12_memory.py")
NAMES = sheet_names(SHEET, "12_memory")

READ = """
@gpu.jit
def read(x, stride, offset, y):
    lane = cuda.threadIdx.x
    y[lane] = x[offset + stride * lane]
"""

BANKS = """
@gpu.jit
def read(stride, y):
    words = cuda.shared.array(3200, float32)
    lane = cuda.threadIdx.x
    for k in range(lane, 3200, 32):
        words[k] = float32(k)
    cuda.syncthreads()
    y[lane] = words[stride * lane]
"""


def run(text, arguments):
    """Return the executor's report of a launch of one warp."""
    source = simt.read(text, "read", names={}, imports=IMPORTS, skip=True)
    return simt.run(source, 1, 32, arguments, on_error="collect")


@pytest.mark.parametrize("offset", [0, 1, 5, 7, 8, 31])
def test_sectors_are_those_that_the_executor_counts(offset):
    x = np.zeros(4096, np.float32)
    for stride in (0, 1, 2, 3, 4, 7, 8, 9, 32, 100):
        counted = run(READ, (x, stride, offset, output(32))).total.global_load_sectors
        assert find("12.2").expect(stride, offset) == NAMES["sectors"](stride, offset) == counted


def test_turns_are_the_wavefronts_that_the_executor_counts():
    for stride in (0, 1, 2, 3, 4, 6, 8, 16, 17, 31, 32, 33, 48, 64, 96):
        counted = run(BANKS, (stride, output(32))).total.shared_load_wavefronts
        assert find("12.5").expect(stride) == NAMES["wavefronts"](stride) == counted


def test_a_column_of_a_tile_costs_31_more_turns_and_none_with_padding():
    assert [find("12.5").expect(stride) - 1 for stride in (32, 33)] == [31, 0]


def test_the_sheets_table_and_rules_are_those_of_the_devices():
    for name, (warps, blocks, shared) in NAMES["SM"].items():
        d = DEVICES[name]
        assert (d.warps_per_sm, d.blocks_per_sm, d.shared_per_sm) == (warps, blocks, shared)
        assert (d.shared_reserved_per_block, d.shared_granularity, d.register_granularity) == (1024, 128, 256)
        assert d.registers_per_sm // d.partitions_per_sm == 16_384


def test_blocks_of_an_sm_are_the_librarys_for_any_block():
    rng = np.random.default_rng(12)
    limits = set()
    for _ in range(300):
        device, threads = str(rng.choice(list(NAMES["SM"]))), int(rng.integers(1, 513))
        arguments = device, threads, int(rng.choice([0, 1, 900, 5000, 20_000, 60_000])), int(rng.integers(1, 120))
        found = NAMES["blocks_per_sm"](*arguments)
        assert found == find("12.6").expect(*arguments), arguments
        limits.add(found[1])
    assert limits == {"threads", "blocks", "shared memory", "registers"}


def test_the_kernel_to_repair_is_right_and_has_31_conflicts_a_turn():
    exercise = find("12.4")
    broken = stub_of(cells_of(SHEET, "exercise")["12.4"], exercise)
    x = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
    outcome = run_kernel(exercise, broken, Case((x,)))
    np.testing.assert_array_equal(outcome.value, x.sum(axis=1))
    assert outcome.hazards == ()
    assert outcome.counters["bank_conflicts"] == 2 * 32 * 31
    finding = judge(exercise, Case((x,)), outcome)
    assert finding.cause == "over the budget of bank conflicts"
    assert "the loads of tile" in finding.says
    assert "Pad the array's last axis" in finding.says
