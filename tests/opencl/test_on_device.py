"""What a simulator says of a kernel is understood, and it says it of the mistakes that lesson 19 shows."""

import numpy as np
import pytest

from course_lib.opencl.devices import NoDevice
from course_lib.opencl.findings import Finding, compiler_said, understood
from course_lib.opencl.on_device import simulator
from course_lib.opencl.session import Session
from course_lib.opencl.texts import text_of

TEXT = "\n".join(["__kernel void k()", "{", "    tile[x] = 1;", "", "    y[x] = tile[z];", "}"])
RACE = """
Read-write data race at local memory address 0x1000000000004
\tKernel: k
\t
\tFirst entity:  Global(0,1,0) Local(0,1,0) Group(0,0,0)
\t  store float %0, float addrspace(3)* %a, align 4
\tAt line 3 (column 5) of input.cl:
\t  tile[x] = 1;
\t
\tSecond entity: Global({x},0,0) Local({x},0,0) Group(0,0,0)
\t  %1 = load float, float addrspace(3)* %b, align 4
\tAt line 5 (column 12) of input.cl:
\t  (source not available)
\t
"""
READ = """
Invalid read of size 4 at global memory address 0x4000000000028
\tKernel: k
\tEntity: Global({x},0,0) Local(2,0,0) Group({group},0,0)
\t  %1 = load float, float addrspace(1)* %arrayidx, align 4
\tAt line 5 (column 94) of input.cl:
\t  y[x] = tile[z];
\t
"""


def lines(*blocks):
    return "\n".join(blocks).splitlines()


def test_a_race_names_who_reads_and_who_writes_and_is_counted():
    (race,) = understood(lines(RACE.format(x=2), RACE.format(x=1)), TEXT, axes=2)
    assert (race.kind, race.count, race.access.line, race.other.line) == ("race in local memory", 2, 5, 3)
    assert race.access.local_id == (1, 0, 0), "the first work-item, whichever group came first"
    assert str(race).splitlines() == [
        "race in local memory, line 5 (found 2 times): y[x] = tile[z];",
        "  work-item (1, 0) of group (0, 0) reads what work-item (0, 1) of group (0, 0) writes",
        "  line 3: tile[x] = 1;",
    ]


def test_an_index_out_of_bounds_names_its_work_item():
    (read,) = understood(lines(READ.format(x=14, group=3), READ.format(x=10, group=2)), TEXT, axes=1)
    assert isinstance(read, Finding)
    assert str(read).splitlines() == [
        "read out of bounds, line 5 (found 2 times): y[x] = tile[z];",
        "  first by work-item 2 of group 2",
    ]


def test_what_is_no_message_is_left_out():
    assert understood(["", "warning: nothing", "", "Invalid read of size 4"], TEXT) == []
    assert understood([], TEXT) == []


@pytest.mark.parametrize(
    "message",
    [
        "Build on <Device>:\n\nerror: /some/folder/tempfile_x.cl:2:5: use of undeclared identifier 'grid'\n(options: )",
        "input.cl:2:5: error: use of undeclared identifier 'grid'\n  x[grid(0)] = 1;\n    ^",
    ],
)
def test_compilers_errors_are_told_without_the_folder(message):
    assert compiler_said(message) == "line 2, column 5: use of undeclared identifier 'grid'"


def test_an_error_in_other_words_is_passed_on_by_its_first_line():
    assert compiler_said("clBuildProgram failed\nmore") == "clBuildProgram failed"


def find(kernel_text, name, sizes, *arguments, **constants):
    try:
        session = Session(simulator().handle)
    except NoDevice as error:
        pytest.skip(str(error))
    given = [session.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    return session.findings(session.kernel(name, kernel_text, **constants), *sizes, *given)


def test_the_simulator_finds_nothing_in_the_courses_kernels():
    x = np.arange(63, dtype=np.float32).reshape(7, 9)
    n = np.int32([7, 9])
    for way, width in (("naive", 4), ("tile", 4), ("tile", 5)):
        name = f"transpose_{way}"
        found = find(text_of(name), name, ((12, 8), (4, 4)), x, np.zeros((9, 7), np.float32), *n, TILE=4, WIDTH=width)
        assert found == []
    A, B, C = (np.ones(s, np.float32) for s in ((7, 9), (9, 5), (7, 5)))
    sizes = (8, 8), (4, 4)
    assert find(text_of("product_tiled"), "product_tiled", sizes, A, B, C, *np.int32([7, 5, 9]), TILE=4) == []


@pytest.mark.parametrize("barrier", [1, 2])
def test_the_simulator_finds_a_missing_barrier_of_the_tiled_product(barrier):
    parts = text_of("product_tiled").split("barrier(CLK_LOCAL_MEM_FENCE);")
    assert len(parts) == 3
    kept = "barrier(CLK_LOCAL_MEM_FENCE);"
    text = parts[0] + parts[1] + kept + parts[2] if barrier == 1 else parts[0] + kept + parts[1] + parts[2]
    A, B, C = (np.ones(s, np.float32) for s in ((8, 8), (8, 8), (8, 8)))
    found = find(text, "product_tiled", ((8, 8), (4, 4)), A, B, C, *np.int32([8, 8, 8]), TILE=4)
    assert "race in local memory" in {one.kind for one in found}


def test_the_simulator_finds_a_forgotten_guard():
    text = text_of("leaky_relu").replace("if (i < n)", "")
    x = np.arange(10, dtype=np.float32)
    found = find(text, "leaky_relu", ((12,), (4,)), x, np.float32(0.5), np.zeros_like(x), np.int32(10))
    assert {"read out of bounds", "write out of bounds"} <= {one.kind for one in found}
    first = found[0].access
    assert (first.group_id[0], first.local_id[0]) == (2, 2)
