"""The queue, the demands and the reasons of a predicted time, by numbers that can be worked out by hand."""

from dataclasses import replace

import pytest

from course_lib.simt.estimate.devices import DEVICES
from course_lib.simt.estimate.facts import Facts
from course_lib.simt.estimate.model import (
    PARTS,
    STATIONS,
    blocks_in_a_clock,
    demands,
    dram_sectors,
    in_step,
    queue,
    time_of,
)
from course_lib.simt.estimate.predict import time_or_reason
from course_lib.simt.estimate.rates import RATES, by_size

H200 = DEVICES["H200"]
WAY = dict(requests=8, sectors=32, lines=8, wavefronts=8, partial=0, missed=32, distinct=32)
COPY = Facts(
    "copy", 132 * 1000, 256, 0, 16, load=WAY, store=WAY | {"missed": 0},
    instructions={"all": 12, "integer": 8, "memory": 2, "other": 2}, clocks=40, global_waits=1,
    arrays={"x": [132_000 * 1024, 32, 0], "y": [132_000 * 1024, 0, 32]},
)  # fmt: skip


def test_one_customer_meets_no_queue():
    assert queue([3.0, 5.0], 2.0, 1) == pytest.approx(1 / 10)


def test_many_customers_leave_as_fast_as_the_busiest_part_lets_them():
    assert queue([3.0, 5.0], 100.0, 500) == pytest.approx(1 / 5, rel=1e-3)


def test_two_customers_at_one_part_take_turns():
    assert queue([4.0], 0.0, 2) == pytest.approx(1 / 4)


def test_warps_that_go_in_step_are_one_customer_and_those_that_came_apart_are_many():
    stations, pause = [64.0, 32.0], 100.0
    together = queue(stations, pause, 2)
    apart = queue([8.0, 4.0], pause, 16) / 8
    assert blocks_in_a_clock(stations, pause, 2, 8, 1.0) == pytest.approx(together)
    assert blocks_in_a_clock(stations, pause, 2, 8, 0.0) == pytest.approx(apart)
    assert 1 / blocks_in_a_clock(stations, pause, 2, 8, 0.5) == pytest.approx((1 / together + 1 / apart) / 2)


def test_the_first_wait_behind_a_barrier_is_in_step_and_counts_by_its_clocks():
    r = RATES["H200"]
    assert in_step(replace(COPY, barriers=0.0), r) == 0
    assert in_step(replace(COPY, barriers=1.0, global_waits=1.0), r) == 1
    shared = replace(COPY, barriers=1.0, global_waits=0.0, shared_waits=8.0)  # two of eight, from barrier to barrier
    assert in_step(shared, r) == pytest.approx(2 / 8)
    assert in_step(replace(shared, global_waits=1.0), r) > 0.5  # the wait for global memory is the long one


def test_copies_that_are_under_way_hold_nobody_up_but_take_what_memory_takes():
    few = replace(COPY, registers=64, threads=1024, barriers=9.0)
    ahead = replace(few, load=few.load | {"ahead": 32})
    assert time_of(few, H200).seconds > time_of(ahead, H200).seconds
    assert all(time_of(ahead, H200).demands[part] == time_of(few, H200).demands[part] for part in ("L2", "DRAM"))
    much = {"missed": 32_000, "sectors": 32_000, "ahead": 32_000}
    found = time_of(replace(ahead, load=ahead.load | much, arrays={"x": [10**12, 32_000, 0]}), H200)
    assert found.limit == "DRAM"
    assert found.seconds > 1000 * 32_000 * RATES["H200"].dram_read / 1.98e9


def test_half_the_customers_and_a_long_pause_are_half_the_rate():
    assert queue([1.0], 1e6, 4) / queue([1.0], 1e6, 2) == pytest.approx(2, rel=1e-3)


def test_every_part_belongs_to_one_station():
    names = [name for station in STATIONS for name in station]
    assert sorted(names) == sorted(set(PARTS) - {"latency"}) == sorted(demands(COPY, RATES["H200"], H200))


def test_a_copy_asks_dram_for_each_sector_once():
    assert dram_sectors(COPY, "load") == dram_sectors(COPY, "store") == 132_000 * 32
    again = replace(COPY, arrays={"x": [1024, 32, 0]})  # all blocks read one piece
    assert dram_sectors(again, "load") == 1024 / 32


def test_single_sectors_cost_dram_two():
    alone = WAY | {"requests": 1, "lines": 32}
    assert dram_sectors(replace(COPY, load=alone, arrays={"x": [132_000 * 4096, 32, 0]}), "load") == 132_000 * 64


def test_tensor_cores_do_not_pass_through_l1():
    shuffling = replace(COPY, shuffles=10.0)
    multiplying = replace(shuffling, instructions=COPY.instructions | {"tensor": 10})
    l1 = [demands(f, RATES["H200"], H200)["L1"] for f in (COPY, multiplying, shuffling)]
    assert l1[0] == l1[1] < l1[2]


def test_a_sector_in_part_costs_more_than_a_whole_one():
    whole = demands(COPY, RATES["H200"], H200)
    part = demands(replace(COPY, store=WAY | {"partial": 32}), RATES["H200"], H200)
    assert part["partial writes"] > 1.5 * (whole["L2"] - part["L2"])


def test_more_of_anything_takes_no_less_time():
    time = time_of(COPY, H200).seconds
    for more in (
        dict(blocks=2 * COPY.blocks), dict(global_waits=9), dict(clocks=4000), dict(registers=255), dict(barriers=9),
        dict(shared_wavefronts=9000), dict(instructions={k: 20 * v for k, v in COPY.instructions.items()}),
    ):  # fmt: skip
        assert time_of(replace(COPY, **more), H200).seconds >= time, more


def test_the_copy_takes_what_its_bytes_take_or_what_starting_its_blocks_takes():
    r = RATES["H200"]
    at_least = 1000 * max(32 * (r.dram_read + r.dram_write), by_size(r.block, 256)) / 1.98e9
    assert at_least < time_of(COPY, H200).seconds < 1.6 * at_least


def test_what_is_not_known_gets_a_reason_and_no_time():
    for facts, device, reason in (
        (replace(COPY, blocks=16), "H200", "16 blocks do not fill the 132 SMs"),
        (replace(COPY, blocks=140), "H200", "less time than starting a kernel"),
        (replace(COPY, atomics=8.0, atomic_rounds=200.0), "H200", "atomic operations in global memory wait"),
        (COPY, "A100", "the rates of the A100 are not measured"),
    ):
        found, why = time_or_reason(facts, device)
        assert found is None
        assert reason in why


def test_a_small_launch_among_others_is_counted_as_a_launch():
    assert time_or_reason(replace(COPY, blocks=16), "H200", alone=False)[0].seconds >= RATES["H200"].launch
