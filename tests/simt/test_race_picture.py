"""The picture of a finding tells its facts: who, which element, which line, in which phase."""

import numpy as np
import pytest
from numba import cuda, float32

from course_lib.simt.show.barrier_picture import COMES, LEFT, MISSES, states
from course_lib.simt.show.bounds_picture import MOST, neighbours
from course_lib.simt.show.explain import picture_of
from tests.figures.pages import read_svg, svg_texts
from tests.simt import kernels, reports


def scan(a, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    if t >= 4:
        s[t] += s[t - 4]
    cuda.syncthreads()
    out[t] = s[t]


def two_writers(a, out):
    i = cuda.grid(1)
    out[0] = a[i]


def same_number(a, out):
    out[0] = 1


def in_a_branch(a, out):
    t = cuda.threadIdx.x
    if t % 2 == 0:
        cuda.syncthreads()
    out[t] = a[t]


def early_return(a, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    cuda.syncthreads()
    out[i] = a[i]


def unguarded(a, out):
    i = cuda.grid(1)
    out[i] = a[i]


def below(a, out):
    i = cuda.grid(1)
    out[i] = a[i - 2]


def launched(kernel, grid=1, block=64, n=64):
    return reports.run(kernel, grid, block, reports.vectors(n))


def test_a_race_says_both_threads_the_element_the_line_and_the_phase():
    report = launched(scan)
    hazard = next(h for h in report.hazards if h.kind == "race")
    d = hazard.details
    assert {d["did"], NOW[d["other_did"]]} == {"writes", "reads"}
    made = report.race_picture()
    reader, writer = d["thread"][0], d["other_thread"][0]
    if d["did"] == "writes":
        reader, writer = writer, reader
    assert reader == writer + 4 == d["index"][0] + 4
    assert f"thread {reader} " in made.static.alt.lower()
    assert f"s[{writer}]" in made.static.alt
    assert f"both in line {hazard.line}, with no barrier between" in made.static.alt
    texts = svg_texts(read_svg(made.static.src))
    assert "one phase: 1 barrier passed" in texts
    assert f"line {hazard.line}: s[t] += s[t - 4]" in texts
    assert "then the barrier, then write" in made.data["scenes"][2]["says"]


NOW = {"wrote": "writes", "read": "reads"}


def test_the_neighbours_of_a_race_are_those_of_the_text():
    data = launched(scan).race_picture().data["beside"]
    elements = {x: int(t.strip("[]")) for x, _, t, _ in data["boxes"] if t.startswith("[")}
    rows = {y: {x: int(t) for x, top, t, _ in data["boxes"] if top == y} for y in (18, 110)}
    apart = set()
    for x1, y1, x2, _, _ in data["lines"]:
        apart.add((y1 < 60, rows[18 if y1 < 60 else 110][x1 - 20] - elements[x2 - 20]))
    assert {d for _, d in apart} == {0, 4}
    assert len(apart) == 2
    assert sum(hot for *_, hot in data["lines"]) == 2


def test_threads_of_two_blocks_need_two_launches_not_a_barrier():
    report = reports.run(kernels.next_block_reads_halo, 2, 32, reports.vectors(64))
    made = report.race_picture()
    assert made.data["phase"] is None
    assert "of block 0" in made.static.alt
    assert "of block 1" in made.static.alt
    assert made.data["scenes"][2]["barrier"] == "the launch ends, the next begins"


def test_two_writers_are_told_that_a_barrier_does_not_help():
    made = launched(two_writers).race_picture()
    assert "does not help: use cuda.atomic" in made.data["scenes"][2]["says"]
    assert "the other's is lost" in made.data["scenes"][0]["says"]


def test_writers_of_one_number_are_told_that_it_is_the_same():
    report = launched(same_number)
    assert [h.kind for h in report.advice] == ["same value"]
    made = report.race_picture()
    assert "both orders give the same number" in made.static.alt
    assert not any("lost" in scene["says"] for scene in made.data["scenes"])


def test_a_barrier_in_a_branch_shows_exactly_the_threads_that_come():
    report = launched(in_a_branch)
    state = states(report, report.hazards[0])
    np.testing.assert_array_equal(state, np.where(np.arange(64) % 2, MISSES, COMES))
    made = report.race_picture()
    assert made.data["states"] == "01" * 32
    assert "32 threads of block 0 come to the barrier" in made.static.alt
    assert "32 do not" in made.static.alt


def test_threads_that_have_left_are_told_apart_from_those_that_do_not_come():
    report = launched(early_return, 2, 64, 100)
    advice = next(h for h in report.advice if h.kind == "early return")
    np.testing.assert_array_equal(states(report, advice), np.where(np.arange(64) < 36, COMES, LEFT))
    made = report.race_picture()
    assert "28 threads have left the kernel" in made.static.alt
    assert made.data["ways"][1] == "without the early return"


def test_details_of_threads_are_not_repeated_in_a_reports_words():
    for kernel in (scan, in_a_branch):
        assert "came" not in str(launched(kernel))
        assert "did" not in launched(kernel)._repr_html_().replace("did not", "")


@pytest.mark.parametrize(
    ("index", "size", "cells"),
    [(100, 100, [None, 96, 97, 98, 99, 100]), (102, 100, [None, 96, 97, 98, 99, 100, 101, 102]),
     (500, 100, [None, 96, 97, 98, 99, 100, None, 500]), (-2, 64, [-2, -1, 0, 1, 2, 3, None]), (3, 2, [0, 1, 2, 3]),
     (0, 0, [0]), (-70, 64, [-70, None, -1, 0, 1, 2, 3, None])],
)  # fmt: skip
def test_the_end_of_an_axis_is_shown_with_the_index_beyond_it(index, size, cells):
    assert neighbours(index, size) == cells
    assert len(cells) <= MOST


def test_out_of_bounds_names_thread_index_and_the_arrays_end():
    report = launched(unguarded, 2, 64, 100)
    picture = picture_of(report, report.hazards[0])
    assert "elements 0 to 99" in picture.alt
    assert "thread 36 of block 1 uses index 100" in picture.alt
    assert {"96", "99", "100", "thread 36 of block 1"} <= set(svg_texts(read_svg(picture.src)))
    report = launched(below)
    wraps = next(h for h in (*report.hazards, *report.advice) if h.kind == "negative index")
    assert "it is element 62" in picture_of(report, wraps).alt


def test_what_memory_moves_in_vain_is_explained_by_its_map():
    report = reports.transpose()
    conflict = next(h for h in report.advice if h.kind == "bank conflicts")
    assert picture_of(report, conflict).alt.startswith("Memory map of tile (32, 32)")


def test_a_report_without_such_a_finding_has_nothing_to_draw():
    report = reports.transpose(kernels.transpose_padded)
    with pytest.raises(ValueError, match="nothing to draw"):
        report.race_picture()
    report = launched(unguarded, 2, 64, 100)
    with pytest.raises(ValueError, match="no picture of two threads"):
        report.race_picture(report.hazards[0])
