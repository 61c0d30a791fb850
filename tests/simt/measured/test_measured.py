"""The executor's traffic is that of a card, counted by Nsight Compute, for each kernel of the course's lessons."""

import importlib.util
import json
from functools import cache
from pathlib import Path

import pytest

from course_lib import simt
from tests.simt.measured.differences import COUNTERS, DIFFERENCES
from tests.simt.measured.formulas import FORMULAS
from tests.simt.measured.kernels import CASES

HERE = Path(__file__).parent
TOOL = HERE.parents[2] / "tools" / "measure_traffic.py"
TABLES = {p.name.split(".")[1]: json.loads(p.read_text()) for p in sorted(HERE.glob("counters.*.json"))}
MISSING = "no counters.<gpu>.json here: no card has been measured; README.md says how"


@cache
def run(name):
    """Run a kernel once for all tests; return its report, its arguments afterwards and what they should be."""
    case = CASES[name]
    arguments, expected = case.arguments()
    options = {"shared": case.shared} if case.shared else {}
    report = simt.run(case.kernel, case.grid, case.block, arguments, on_error="collect", **options)
    return report, arguments, expected


def executor(name):
    total = run(name)[0].total
    return {counter: getattr(total, counter) for counter in COUNTERS}


@pytest.mark.parametrize("name", CASES)
def test_result_equals_numpy_and_nothing_is_found(name):
    report, arguments, expected = run(name)
    CASES[name].check(arguments, expected)
    assert report.hazards == []


@pytest.mark.parametrize("name", FORMULAS)
def test_traffic_equals_the_formula_derived_by_hand(name):
    counted = tuple(executor(name).values())
    expected = FORMULAS[name]
    assert len(expected) == len(counted)
    assert counted == tuple(c if e is None else e for c, e in zip(counted, expected, strict=True))


def test_there_are_kernels_and_formulas_enough():
    assert len(CASES) >= 30
    assert len({case.kernel.__name__ for case in CASES.values()}) >= 30
    assert len(FORMULAS) >= 12


@pytest.mark.skipif(not TABLES, reason=MISSING)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("card", TABLES or ["none"])
def test_traffic_equals_the_cards_or_is_a_known_difference(card, name):
    measured = TABLES[card]["kernels"][name]["counters"]
    ours = executor(name)
    theirs = {counter: measured[metric] for counter, metric in COUNTERS.items()}
    known = DIFFERENCES.get(name, {})
    different = {c: (ours[c], theirs[c]) for c in COUNTERS if ours[c] != theirs[c]}
    assert different == {counter: entry[:2] for counter, entry in known.items()}


@pytest.mark.skipif(not TABLES, reason=MISSING)
@pytest.mark.parametrize("card", TABLES or ["none"])
def test_table_is_complete_right_and_of_these_kernels(card):
    table = TABLES[card]
    assert table["failed"] == {}, "a kernel failed on the card, or its result was wrong"
    stale = [n for n, case in CASES.items() if table["kernels"].get(n, {}).get("sha256") != case.sha256()]
    assert stale == [], "changed since the measurement: measure again"
    assert set(table["kernels"]) == set(CASES)
    asked = set(COUNTERS.values())
    assert [n for n, changing in table["unsteady"].items() if asked & set(changing)] == []
    for key in ("device", "driver", "ncu", "numba", "numba_cuda", "numpy", "date"):
        assert table[key]


@pytest.mark.skipif(not TABLES, reason=MISSING)
def test_at_least_25_kernels_are_met_exactly():
    assert len(set(CASES) - set(DIFFERENCES)) >= 25


@pytest.mark.parametrize("name", DIFFERENCES)
def test_difference_has_a_kernel_and_a_reason(name):
    assert name in CASES
    for counter, (ours, theirs, why) in DIFFERENCES[name].items():
        assert counter in COUNTERS
        assert ours != theirs
        assert executor(name)[counter] == ours
        assert len(why.split()) >= 6
        assert why.endswith(".")


# ------------------------------------------------------------------------------------------- the tool


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("measure_traffic", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NCU = """==PROF== Connected to process 7
==PROF== Profiling "copy_stride" - 0: 0%....50%....100% - 3 passes
"ID","Process ID","Kernel Name","Block Size","Grid Size","l1tex__t_requests.sum","launch__registers_per_thread"
"","","","","","request","register/thread"
"0","7","_ZN5tests11copy_strideB2v1B8cw51E5ArrayIfLi1E","(128, 1, 1)","(2, 1, 1)","1,024","16"
"1","7","other_kernel","(1, 1, 1)","(1, 1, 1)","7","16"
"2","7","copy_stride[abi:v2](Array<float>)","(128, 1, 1)","(2, 1, 1)","8","16.5"
"3","7","row_sums","(64, 1, 1)","(2, 1, 1)","9","16"
==PROF== Disconnected from process 7
"""


def test_tool_reads_ncus_table_among_other_lines_and_leaves_other_kernels_out(tool):
    launched = [("copy_stride_2", "copy_stride"), ("copy_stride_8", "copy_stride"), ("row_sums", "row_sums")]
    assert tool.assign(tool.read_rows(NCU), launched) == {
        "copy_stride_2": {"l1tex__t_requests.sum": 1024, "launch__registers_per_thread": 16},
        "copy_stride_8": {"l1tex__t_requests.sum": 8, "launch__registers_per_thread": 16.5},
        "row_sums": {"l1tex__t_requests.sum": 9, "launch__registers_per_thread": 16},
    }


def test_tool_gives_no_row_to_launches_of_one_kernel_when_a_row_is_missing(tool):
    launched = [(f"copy_stride_{s}", "copy_stride") for s in (2, 8, 32)]
    assert tool.assign(tool.read_rows(NCU), launched) == {}


@pytest.mark.parametrize(
    ("name", "short"),
    [("NVIDIA H100 80GB HBM3", "h100"), ("NVIDIA H200", "h200"), ("Tesla T4", "t4"), ("NVIDIA TITAN", "nvidia-titan")],
)
def test_tool_names_a_file_after_its_card(tool, name, short):
    assert tool.slug(name) == short


def test_tool_writes_a_line_for_each_kernel(tool):
    data = {"device": "X", "failed": {}, "kernels": {"a": {"grid": [1]}, "b": {"grid": [2]}}}
    text = tool.to_text(data)
    assert json.loads(text) == data
    assert text.count("\n") == 8


def test_tool_counts_what_the_executor_is_compared_with(tool):
    assert set(COUNTERS.values()) <= set(tool.FIRST)


def test_readme_has_the_table_of_the_data(tool):
    assert tool.table(write=False) == 0


def test_plan_lists_every_kernel(tool, capsys):
    assert tool.plan(None) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in CASES)
