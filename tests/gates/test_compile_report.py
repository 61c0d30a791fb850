"""The report tells a kernel's faults and virtues from its machine code."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda import compile_report
from course_lib.cuda.choice import SIMT
from course_lib.cuda.compile_report import NoCompiler, launches_of, tool
from course_lib.cuda.device import choice
from course_lib.cuda.recording import record_launches
from course_lib.cuda.sass import Loop, families, family, main_loop
from tests.bench.gpu_ladder import RIGHT
from tests.gates.compiler import missing
from tests.setup.project import ROOT

SASS = """
.text.kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   LDS.128 R4, [R2] ;
        /*0020*/                   FFMA R0, R4, R5, R0 ;
        /*0030*/                   FFMA R0, R6, R7, R0 ;
.L_x_1:
        /*0040*/                   IADD3 R8, R8, 0x1, RZ ;
        /*0050*/              @!P0 BRA `(.L_x_1) ;
        /*0060*/                   FFMA R0, R6, R7, R0 ;
        /*0070*/               @P1 BRA `(.L_x_0) ;
        /*0080*/                   STG.E.64 desc[UR4][R2.64], R4 ;
        /*0090*/                   EXIT ;
.L_x_2:
        /*00a0*/                   BRA `(.L_x_2);
        /*00b0*/                   NOP;
"""


def test_the_busiest_loop_is_the_one_with_most_multiply_adds_without_the_loops_inside():
    loop = main_loop(SASS)
    assert loop.mix == {"LDS.128": 1, "FFMA": 3, "BRA": 1}
    assert (loop.instructions, loop.share) == (5, 0.6)


def test_instructions_are_counted_by_family_and_filling_is_left_out():
    assert families(SASS) == {
        "LDC": 1, "LDS.128": 1, "FFMA": 3, "whole numbers": 1, "BRA": 3, "STG.64": 1, "other": 1
    }  # fmt: skip
    named = {"LDGSTS.E.BYPASS.128": "LDGSTS.128", "LDG.E.U8": "LDG.U8", "STS": "STS.32", "HMMA.1688.F32.TF32": "HMMA"}
    assert {i: family(i) for i in named} == named


def test_without_a_busy_loop_all_instructions_count():
    straight = "\n".join(line for line in SASS.splitlines() if "BRA" not in line)
    assert main_loop(straight).mix == families(straight)
    assert Loop({}).share == 0


def test_recording_notes_every_launch_and_runs_it_only_if_asked():
    if choice().device != SIMT:
        pytest.skip("the SIMT executor says whether a kernel ran")
    A, B, C = (gpu.to_device(np.ones((20, 20), np.float32)) for _ in "ABC")
    (launch,) = launches_of(RIGHT.launch, A, B, C)
    assert (launch.kernel.__name__, launch.grid, launch.block) == ("_product", (2, 2, 1), (16, 16, 1))
    assert launch.arguments == (A, B, C)
    assert (gpu.to_host(C) == 1).all()
    with record_launches() as launches:
        RIGHT.launch(A, B, C)
        assert (gpu.to_host(C) == 20).all()
    assert len(launches) == 1
    RIGHT.launch(A, B, C)
    assert len(launches) == 1


def test_a_missing_tool_says_where_it_comes_from(monkeypatch):
    monkeypatch.setattr(compile_report.sys, "path", [])
    monkeypatch.setattr(compile_report.shutil, "which", lambda *where, **more: None)
    with pytest.raises(NoCompiler, match=r"ptxas is not here; requirements-cuda\.lock"):
        tool("ptxas")


def test_without_numba_cuda_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(compile_report, "HAS_PACKAGE", False)
    with pytest.raises(NoCompiler, match="numba-cuda is not installed"):
        compile_report.ptx_of(None, (), (9, 0))


@pytest.fixture(scope="module")
def samples():
    if reason := missing():
        pytest.skip(reason)
    done = subprocess.run(
        [sys.executable, "-m", "tests.gates.samples"],
        cwd=ROOT, env=os.environ | {"COURSE_DEVICE": "simt"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_right_kernel_has_no_float64_and_spills_nothing(samples):
    found = samples["right"]
    assert (found["float64"], found["spills"], found["shared"]) == (0, 0, 0)
    assert 4 <= found["registers"] < 32
    assert found["text"].startswith("right for 9.0: ")


def test_a_float64_literal_is_found(samples):
    assert samples["float64_literal"]["float64"] > 0
    assert samples["takes_float64"] > 0


def test_access_widths_and_shared_memory_are_those_of_the_source(samples):
    assert {"LDG.128", "STG.128"} <= samples["wide"]["mix"].keys()
    assert not {"LDG.128", "STG.128"} & samples["right"]["mix"].keys()
    assert samples["shared"]["shared"] == 1024
    assert samples["shared"]["bounds"]
    assert not samples["right"]["bounds"]


def test_registers_that_do_not_suffice_are_spilled(samples):
    found = samples["too_few_registers"]
    assert found["registers"] <= 24
    assert found["spills"] > 0
    assert found["stack"] > 0


def test_an_unrolled_loop_is_the_busiest_one(samples):
    assert samples["nested_loops"]["loop"]["FFMA"] == 16


def test_an_instruction_that_a_card_lacks_is_refused_for_it(samples):
    assert "cp.async" in samples["needs_8_0 (7, 5)"]
    assert samples["needs_8_0 (8, 0)"] == ""


def test_products_by_four_warps_that_wait_for_each_other_are_refused(monkeypatch):
    said = "ptxas info : (C7518) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ..."

    def run(line, **_):
        assert "-arch=sm_90a" in line
        return subprocess.CompletedProcess(line, 0, "", said)

    monkeypatch.setattr(compile_report, "tool", lambda name: name)
    monkeypatch.setattr(compile_report.subprocess, "run", run)
    with pytest.raises(RuntimeError, match=r"by four warps wait for each other, for 9\.0: .*C7518"):
        compile_report.assemble(".version 9.0\n.target sm_90a\n", (9, 0))


def test_arguments_have_the_types_that_a_launch_would_compile_for(samples):
    arrays = ["array(float32, 2d, C)", "array(float32, 1d, C)"], ["array(float32, 1d, A)", "array(float32, 2d, F)"]
    assert samples["types"] == ["float64", *arrays[0], "int64", "float32", "uint32", "bool", *arrays[1]]


@pytest.mark.parametrize(
    ("kind", "operation"), [("tf32", "HMMA.1688.F32.TF32"), ("fp16", "HMMA.16816.F32"), ("bf16", "HMMA.16816.F32.BF16")]
)
def test_a_product_of_a_warp_is_one_instruction_of_tensor_cores_from_ampere_on(samples, kind, operation):
    found = samples["tensor cores"]
    assert "requires .target sm_80 or higher" in found[f"{kind} (7, 5)"]
    for cc in ("(8, 0)", "(9, 0)"):
        assert operation in found[f"{kind} {cc}"]
        assert any("PACK_AB" in word for word in found[f"{kind} {cc}"]) == (kind != "tf32")  # two numbers in a register
