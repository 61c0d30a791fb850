"""What the tile explorer says of a choice of tiles is what the ladder's rungs promise and what the compiler gave."""

import json
import re
from pathlib import Path

import pytest

from course_lib import figures, simt
from course_lib.cuda.ladders.gemm import v03_smem_tiled, v04_register_tile_1d, v05_register_tile_2d
from course_lib.figures.product_tiles import REFUSALS, ladder_tiles, product_tile
from tests.figures.pages import read_svg, svg_texts

RUNGS = {"v03 tiles": v03_smem_tiled, "v04 column": v04_register_tile_1d, "v05 square": v05_register_tile_2d}
COUNTS = json.loads((Path(__file__).resolve().parents[2] / "results/counts.json").read_text("utf-8"))


def rung(name, size=(256, 384, 128), **others):
    return product_tile(*size, **ladder_tiles()[name], **others)


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize("size", [(128, 128, 128), (256, 384, 128), (4096, 4096, 4096)])
def test_loads_are_those_that_the_rung_promises_of_the_executor(name, size):
    t, promised = rung(name, size), RUNGS[name].traffic(*size)
    assert 4 * t.global_loads == promised["global_load_bytes"]
    M, N, K = size
    assert t.loads_per_product * M * N * K / 32 == promised["shared_load_requests"]
    assert t.flops == promised["flops"]


def test_intensities_are_a_quarter_and_a_quarter_of_the_tile():
    naive = rung("v02 coalesced")
    assert (naive.intensity, naive.global_loads) == (0.25, 2 * 256 * 384 * 128)
    for T in (8, 16, 32):
        assert product_tile(256, 256, 256, BM=T, BN=T, BK=T).intensity == T / 4


def test_ragged_edges_are_loaded_as_the_guards_do():
    t = product_tile(33, 7, 5, BM=32, BN=32)
    assert t.global_loads == 33 * 5 * 1 + 5 * 7 * 2
    assert t.blocks == 2


def test_reuse_in_registers_alone_is_the_lectures_two_by_two_and_two_by_four():
    pairs = [product_tile(64, 64, 64, BM=8, BN=8, TM=tm, TN=tn, shared=False) for tm, tn in ((2, 2), (2, 4))]
    assert [t.uses for t in pairs] == [(2, 2), (4, 2)]
    assert [t.global_loads for t in pairs] == [64**3 * 2 // 2, 64**3 // 2 + 64**3 // 4]


@pytest.mark.parametrize("name", ladder_tiles())
def test_estimated_registers_are_given_out_as_the_compilers(name):
    measured = next(launch[0]["registers"] for k, launch in COUNTS["gemm 1024"].items() if k.startswith(name[:3]))
    estimated = rung(name).registers
    assert -(-estimated // 8) == -(-measured // 8), (estimated, measured)


def test_one_output_a_thread_allows_an_eighth_of_the_peak_and_eight_by_eight_all_of_it():
    assert rung("v03 tiles").load_ceiling == 0.125
    assert rung("v05 square").load_ceiling == 1


def test_the_held_blocks_are_those_of_the_occupancy_calculation():
    t = rung("v05 square", (4096, 4096, 4096))
    assert t.held == simt.occupancy("H200", t.threads, t.shared_bytes, t.registers)
    assert t.waves == t.blocks / (132 * t.held.blocks)


@pytest.mark.parametrize(
    ("why", "sizes", "device"),
    [
        ("tile", dict(BM=8, BN=64, TM=16), "H200"),
        ("threads", dict(BM=64, BN=64), "H200"),
        ("shared memory", dict(BM=256, BN=256, BK=128, TM=16, TN=4), "H200"),
        ("shared memory", dict(BM=128, BN=128, BK=128, TM=8, TN=8), "T4"),
        ("registers", dict(BM=128, BN=128, TM=16, TN=16), "H200"),
        ("launch", dict(BM=256, BN=256, BK=8, TM=8, TN=8), "H200"),
    ],
)
def test_an_impossible_choice_says_why_and_is_no_first_choice(why, sizes, device):
    t = product_tile(1024, 1024, 1024, device=device, **sizes)
    assert t.refused[0] == why
    assert t.refused[0] in REFUSALS
    with pytest.raises(ValueError, match=re.escape(t.refused[1])):
        figures.tile_explorer(1024, 1024, 1024, device, **{"BK": 32, **sizes})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(BM=33), "BM is 33; it must be one of 8, 16, 32"),
        (dict(TN=0), "TN is 0; it must be one of 1, 2, 4"),
        (dict(device="H300"), "'H300' is not in the table of devices"),
        (dict(M=0), "M"),
    ],
)
def test_bad_sizes_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        product_tile(**{"M": 64, "N": 64, "K": 64, **arguments})


def test_the_static_picture_states_loads_intensity_and_ridge():
    made = figures.tile_explorer(device="h200", **ladder_tiles()["v05 square"])
    assert "1,073,741,824 numbers, 32 FLOP for each byte; the ridge of the H200 is at 13.9" in made.static.alt
    lines = svg_texts(read_svg(made.static.src))
    assert any(line.startswith("256 threads a block, 64 sums a thread") for line in lines)
    assert made.html == figures.tile_explorer(device="H200", **ladder_tiles()["v05 square"]).html


@pytest.mark.parametrize("size", [(1, 1, 1), (7, 13, 9), (4096, 64, 8), (64, 4096, 100_000)])
def test_every_shape_can_be_drawn(size):
    assert figures.tile_explorer(*size).static.drawn[0] == 400
