"""Machine code is read into stretches and loops, and gets its execution counts from the executor's counts by line."""

from types import SimpleNamespace

import pytest

from course_lib.simt.counters import Counters
from course_lib.simt.estimate.code import stretches
from course_lib.simt.estimate.executions import executions, operations
from course_lib.simt.estimate.pipes import ahead, of_a_warp, waits

SASS = """
	//## File "k.py", line 1
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   LDC.64 R2, c[0x0][0x210] ;
.L_x_1:
	//## File "k.py", line 3
        /*0020*/                   LDG.E R4, desc[UR6][R2.64] ;
        /*0030*/                   LDG.E R5, desc[UR6][R2.64+0x4] ;
        /*0040*/                   FADD R6, R4, R6 ;
        /*0050*/                   FADD R6, R5, R6 ;
        /*0060*/                   IADD3 R2, R2, 0x8, RZ ;
        /*0070*/              @P0 BRA `(.L_x_1) ;
	//## File "k.py", line 4
        /*0080*/                   STG.E desc[UR6][R8.64], R6 ;
        /*0090*/                   EXIT ;
.L_x_2:
        /*00a0*/                   BRA `(.L_x_2);
        /*00b0*/                   NOP;
"""


def report(**lines):
    """A report of one warp; lines are {"l3": {counter: number}}."""
    found = [
        SimpleNamespace(function="k", number=int(n[1:]), text="", counters=Counters(**c)) for n, c in lines.items()
    ]
    place = SimpleNamespace(line=3, space="global", way="load", itemsize=4)
    return SimpleNamespace(kernel="k", grid=(1, 1, 1), block=(32, 1, 1), sampled=None, lines=found, accesses=[place])


def test_a_loop_is_what_a_branch_goes_back_over_and_the_trap_at_the_end_is_none():
    found = stretches(SASS)
    assert [len(s.instructions) for s in found] == [2, 6, 2]
    assert [s.loops for s in found] == [(), ((1, 1),), ()]
    assert found[1].instructions[0].kind == ("global", "load")
    assert found[1].instructions[0].written == ("R4",)
    assert {"R4", "R6"} <= set(found[1].instructions[2].read)


def test_an_unrolled_loop_is_gone_through_as_often_as_its_loads_say():
    counts = report(l3=dict(global_load_requests=20), l4=dict(global_store_requests=1))
    found = executions(stretches(SASS), counts)
    assert [s.times for s in found] == [1, 10, 1]  # two loads in a turn
    assert of_a_warp(found) == {"other": 2 + 10 + 1, "memory": 21, "fma": 20, "integer": 10, "all": 64}


def test_code_whose_accesses_never_happen_is_not_executed():
    found = executions(stretches(SASS), report(l3=dict(branches=1), l4=dict(global_store_requests=1)))
    assert [s.times for s in found] == [1, 0, 1]


def test_code_of_a_device_function_is_executed_though_its_accesses_are_counted_at_other_lines():
    counts = report(l3=dict(branches=1), l4=dict(global_store_requests=1))
    counts.lines[0].text = "y += brought(x, i)"
    counts.lines.append(SimpleNamespace(function="brought", number=9, text="return x[i]", counters=Counters()))
    assert [s.times for s in executions(stretches(SASS), counts)] == [1, 1, 1]


def test_a_line_number_that_a_device_function_has_too_means_the_kernels_line():
    counts = report(l3=dict(global_load_requests=20), l4=dict(global_store_requests=1))
    other = SimpleNamespace(function="d", number=3, text="", counters=Counters(global_load_requests=700))
    counts.lines.append(other)
    assert [s.times for s in executions(stretches(SASS), counts)] == [1, 10, 1]


COPIES = SASS.replace("LDG.E R4, desc[UR6][R2.64]", "LDGSTS.E [R4], desc[UR6][R2.64]").replace(
    "LDG.E R5, desc[UR6][R2.64+0x4]", "DEPBAR.LE SB0, 0x0"
)

WAIT, COPY = "DEPBAR.LE SB0, 0x0", "LDGSTS.E [R4], desc[UR6][R2.64]"
SWAPPED = COPIES.replace(WAIT, "first").replace(COPY, WAIT).replace("first", COPY)
"""The wait is for the copy of the turn before."""


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (SASS, 0), (COPIES, 0), (COPIES.replace("SB0, 0x0", "SB0, 0x2"), 1),
        (COPIES.replace("DEPBAR", "FADD R6, R4, R6 ;\n        /*0021*/   " * 700 + "DEPBAR"), 1),
        (SWAPPED.replace("LDGSTS", "FADD R6, R4, R6 ;\n        /*0021*/   " * 700 + "LDGSTS"), 0),
        (SWAPPED.replace("FADD R6, R4, R6", "FADD R6, R4, R6 ;\n        /*0041*/   " * 700 + "NOP"), 1),
    ],
    ids=[
        "loads", "waited for at once", "two stages under way", "waited for after long work", "asked for just before",
        "asked for long before, in the turn before",
    ],
)  # fmt: skip
def test_copies_are_ahead_where_the_wait_leaves_some_or_comes_late(text, share):
    found = stretches(text)
    for s in found:
        s.times = 1
    assert ahead(found) == share


def test_two_loads_before_their_sums_are_one_wait():
    found = executions(stretches(SASS), report(l3=dict(global_load_requests=20), l4=dict(global_store_requests=1)))
    _, loads, shared, shuffles = waits(found)
    assert (loads, shared, shuffles) == (10, 0, 0)


def test_a_load_that_each_sum_waits_for_is_a_wait_each():
    apart = SASS.replace("LDG.E R5", "FADD R6, R4, R6 ;\n        /*0035*/  LDG.E R5")
    found = executions(stretches(apart), report(l3=dict(global_load_requests=20), l4=dict(global_store_requests=1)))
    assert waits(found)[1] == 20


def test_what_one_stretch_of_a_loop_loads_and_the_next_one_needs_is_a_wait_in_each_turn():
    split = SASS.replace("FADD R6, R4", "@P1 BRA `(.L_x_3) ;\n.L_x_3:\n        /*0035*/  FADD R6, R4")
    found = stretches(split)
    for s in found:
        s.times = 10 if s.loops else 1
    assert len(found) == 4
    assert waits(found)[1] == 10


@pytest.mark.parametrize(
    ("text", "number"),
    [("row, col = h * s + p - q, v", 3), ("    k += 1", 1), ("if 0 <= row < H and col < W:", 0), ("x = y", 0)],
)
def test_operations_of_a_statement_are_counted(text, number):
    assert operations(text) == number
