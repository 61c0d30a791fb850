"""Occupancy equals NVIDIA's own calculator, and says in words what the limit is."""

import json
from math import prod
from pathlib import Path

import pytest

from course_lib.simt.estimate.devices import DEVICES
from course_lib.simt.estimate.occupancy import occupancy
from tests.cases import all_of

# From NVIDIA's cuda_occupancy.h of CUDA 12.9 (package nvidia-cuda-runtime-cu12 12.9.79), compiled and called with the
# limits of each device: threads, registers, shared bytes -> blocks that threads, blocks, shared memory and registers
# allow, and the limiting ones. The same was compared once for 132,246 combinations, without a difference.
CALCULATOR = [
    ("T4", 768, 1, 2585, (1, 16, 23, 10), "threads"),
    ("T4", 48, 60, 3102, (16, 16, 19, 16), "threads, blocks, registers"),
    ("T4", 33, 123, 2585, (16, 16, 23, 8), "registers"),
    ("T4", 160, 48, 11891, (6, 16, 5, 8), "shared memory"),
    ("T4", 576, 69, 49874, (1, 16, 1, 1), "threads, shared memory, registers"),
    ("V100", 800, 1, 16027, (2, 32, 6, 10), "threads"),
    ("V100", 512, 66, 6204, (4, 32, 15, 1), "registers"),
    ("V100", 64, 39, 23210, (32, 32, 4, 24), "shared memory"),
    ("V100", 33, 1, 2585, (32, 32, 34, 128), "threads, blocks"),
    ("V100", 224, 162, 76538, (9, 32, 1, 1), "shared memory, registers"),
    ("A100", 384, 15, 15510, (5, 32, 10, 10), "threads"),
    ("A100", 256, 246, 43208, (8, 32, 3, 1), "registers"),
    ("A100", 48, 93, 16027, (32, 32, 9, 10), "shared memory"),
    ("A100", 64, 29, 4136, (32, 32, 32, 32), "threads, blocks, shared memory, registers"),
    ("A100", 160, 29, 11891, (12, 32, 12, 12), "threads, shared memory, registers"),
    ("H100", 33, 1, 6204, (32, 32, 32, 128), "threads, blocks, shared memory"),
    ("H100", 352, 117, 76538, (5, 32, 3, 1), "registers"),
    ("H100", 160, 93, 179861, (12, 32, 1, 4), "shared memory"),
    ("H200", 544, 29, 9823, (3, 32, 21, 3), "threads, registers"),
    ("H200", 64, 66, 149864, (32, 32, 1, 14), "shared memory"),
    ("H200", 48, 22, 5687, (32, 32, 34, 42), "threads, blocks"),
    ("RTX 4090", 224, 8, 9306, (6, 24, 9, 36), "threads"),
    ("RTX 4090", 64, 57, 13959, (24, 24, 6, 16), "shared memory"),
    ("RTX 4090", 48, 39, 3102, (24, 24, 24, 24), "threads, blocks, shared memory, registers"),
]


@pytest.mark.parametrize(("device", "threads", "registers", "shared", "limits", "limited_by"), CALCULATOR)
def test_occupancy_equals_nvidias_calculator(device, threads, registers, shared, limits, limited_by):
    o = occupancy(device, threads, shared, registers)
    names = ("threads", "blocks", "shared memory", "registers")
    assert o.limits == dict(zip(names, limits, strict=True))
    assert o.blocks == min(limits)
    assert ", ".join(o.limited_by) == limited_by


MEASURED = json.loads((Path(__file__).parent / "measured" / "counters.h200.json").read_text())["kernels"]


@all_of("name", MEASURED)
def test_occupancy_equals_what_nsight_compute_says_of_kernels_on_an_h200(name):
    measured = MEASURED[name]["counters"]
    limit = {what: measured[f"launch__occupancy_limit_{what}"] for what in ("warps", "blocks", "registers")}
    shared = sum(measured[f"launch__shared_mem_per_block_{kind}"] for kind in ("static", "dynamic"))
    o = occupancy("H200", prod(MEASURED[name]["block"]), shared, measured["launch__registers_per_thread"])
    assert (o.limits["threads"], o.limits["blocks"], o.limits["registers"]) == tuple(limit.values())
    # The driver gives a kernel no more shared memory than its blocks need, and Nsight Compute shows how many fit then.
    shown = measured["launch__occupancy_limit_shared_mem"]
    assert o.blocks == min(*limit.values(), shown)
    assert o.limits.get("shared memory", 228) >= shown
    assert 100 * o.share == pytest.approx(measured["sm__maximum_warps_per_active_cycle_pct"], abs=0.005)


def test_256_threads_fill_an_h200():
    o = occupancy("H200", 256)
    assert (o.blocks, o.warps, o.share) == (8, 64, 1.0)  # 2,048 threads / 256
    assert o.limits == {"threads": 8, "blocks": 32}
    assert o.explanation == (
        "8 blocks of 8 warps fill 64 of the 64 warps of an SM; "
        "the limit is threads: a block of 256 threads has 8 warps and an SM room for 64."
    )


def test_1024_threads_leave_a_third_of_an_rtx_4090_empty():
    o = occupancy("RTX 4090", 1024)
    assert (o.blocks, o.warps) == (1, 32)
    assert o.share == pytest.approx(2 / 3)
    assert o.explanation.startswith("1 block of 32 warps fills 32 of the 48 warps of an SM")


def test_shared_memory_counts_with_what_the_driver_reserves_and_rounded_up():
    o = occupancy("H200", 128, 20_001)
    # 20,001 + 1,024 = 21,025, rounded up to a multiple of 128: 21,120; 228 KiB = 233,472; 233,472 / 21,120 = 11.05
    assert o.limits["shared memory"] == 11
    assert o.limited_by == ("shared memory",)
    assert "the limit is shared memory: a block takes 21,120 of 233,472 bytes." in o.explanation
    # Nothing is reserved on a T4, and 256 is the unit: 20,224; 65,536 / 20,224 = 3.2
    assert occupancy("T4", 128, 20_001).limits["shared memory"] == 3


def test_registers_are_rounded_up_for_a_warp_and_lie_in_one_of_four_partitions():
    o = occupancy("A100", 96, registers=81)
    # 32 x 81 = 2,592, rounded up to 2,816; a partition has 16,384: 5 warps; 20 of an SM; blocks of 3 warps: 6
    assert o.limits["registers"] == 6
    assert o.limited_by == ("registers",)
    assert "with 81 a thread, the 65,536 of an SM are enough for 20 warps" in str(o)


def test_small_blocks_meet_the_limit_of_blocks():
    o = occupancy("T4", 32)
    assert (o.blocks, o.share, o.limited_by) == (16, 0.5, ("blocks",))
    assert "an SM holds at most 16 blocks, whatever their size" in o.explanation


def test_a_partly_empty_warp_counts_whole():
    assert occupancy("V100", 33).warps_per_block == 2


def test_the_text_says_when_registers_are_not_counted():
    assert "Registers are not counted: a compiler decides" in str(occupancy("H100", 256))
    assert "not counted" not in str(occupancy("H100", 256, registers=32))
    assert str(occupancy("H100", 256, 16_384)).endswith(
        "Blocks per SM that each limit allows: threads 8, blocks 32, shared memory 13. "
        "Registers are not counted: a compiler decides how many a thread needs."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("K80", 32), r"'K80' is not in the table of devices; it has T4, .*RTX 4090"),
        (("H200", 1025), r"a block has 1,025 threads; at most 1,024 .*Use smaller blocks"),
        (("H200", 0), r"threads is 0; it must be >= 1"),
        (("H200", 32, -1), r"shared_bytes is -1; it must be >= 0"),
        (("T4", 32, 65_537), r"65,537 bytes of shared memory; T4 gives a block at most 65,536\. Use smaller tiles"),
        (("H200", 32, 232_449), r"232,449 bytes of shared memory; H200 gives a block at most 232,448\."),
        (("H200", 1024, 0, 65), r"65 registers; a block of 1024 threads can have at most 64 .*max_registers"),
        (("H200", 32, 0, 256), r"256 registers; a block of 32 threads can have at most 255"),
    ],
)
def test_what_no_device_can_run_is_refused_with_value_limit_and_fix(arguments, message):
    with pytest.raises(ValueError, match=message):
        occupancy(*arguments)


@pytest.mark.parametrize("arguments", [("H200", 32.0), ("H200", 32, 1.5), ("H200", 32, 0, "64")])
def test_numbers_that_are_not_whole_are_refused(arguments):
    with pytest.raises(TypeError, match="whole number"):
        occupancy(*arguments)


@pytest.mark.parametrize("name", DEVICES)
def test_the_largest_block_fits_on_every_device(name):
    d = DEVICES[name]
    assert occupancy(d, 1024, d.shared_per_block, 64).blocks == 1
