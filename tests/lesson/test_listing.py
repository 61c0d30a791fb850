"""A text of the library stands folded on the page, whole or in part, as it is in its file."""

import inspect

import pytest

from course_lib.cuda.ladders.gemm import v03_smem_tiled, v05_register_tile_2d, v08_pipelined
from course_lib.lesson import listing


def test_a_function_is_shown_as_it_stands_in_its_file():
    made = listing(v03_smem_tiled.traffic, "Counts of rung 3")
    assert made.text == inspect.getsource(v03_smem_tiled.traffic).strip("\n")
    assert made.html.startswith("<details><summary>Counts of rung 3</summary><pre")
    assert repr(made) == made._repr_mimebundle_()["text/plain"] == made.text


@pytest.mark.parametrize(
    ("module", "start", "end", "first", "last"),
    [
        (v05_register_tile_2d, "@jit", "def gemm_v05", "@jit(cache=True, launch_bounds=(THREADS, 2))", "C[r, c] = acc"),
        (v08_pipelined, "@jit(cache=True, launch", "return _gemm_v08", "@jit(cache=True, launch_bounds=", "store(C, r"),
        (v03_smem_tiled, None, "T = 32", '"""Tiles in shared memory', "from course_lib"),
        (v03_smem_tiled, "def traffic", None, "def traffic", "}"),
    ],
)
def test_a_part_begins_and_ends_where_it_is_told_and_loses_its_indent(module, start, end, first, last):
    lines = listing(module, "A part", start=start, end=end).text.splitlines()
    assert lines[0].startswith(first)
    assert lines[-1].strip().startswith(last)
    assert all(line.strip() in inspect.getsource(module) for line in lines)


def test_signs_of_html_are_text():
    assert "k0 + tx &lt; K" in listing(v03_smem_tiled, "Rung 3").html
    assert "<b>" not in listing(v03_smem_tiled, "<b>").html


@pytest.mark.parametrize(("start", "end"), [("nowhere", None), ("def traffic", "@jit")])
def test_a_line_that_is_not_there_is_named(start, end):
    with pytest.raises(ValueError, match="has no line that begins with"):
        listing(v03_smem_tiled, "Rung 3", start=start, end=end)
