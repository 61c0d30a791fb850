"""Every rung and operation compiles for the newest card, and what an older one gets for that, into good machine code.

No GPU is needed: the compiler is numba-cuda, ptxas and nvdisasm, and nothing is run.
"""

import functools
import importlib
import pkgutil

import pytest

import course_lib.cuda
from course_lib.cuda.kernel import Kernel
from course_lib.cuda.sass import family
from course_lib.cuda.unroll import compiled_form
from course_lib.simt.estimate.devices import DEVICES
from tests.gates import compiler as gates
from tests.gates.launches import CCS, everything

ENTRIES = everything()
EACH = [pytest.param(e, cc, id=f"{e.name}-{cc[0]}.{cc[1]}") for e in ENTRIES for cc in e.asked]
launches = functools.cache(gates.launches)  # operations are run for it
CARDS = {(7, 5): "T4", (8, 0): "A100", (9, 0): "H100"}
NOTHING = {"ops/flatten", "ops/identity", "ops/to_host"}
"""Operations without a kernel: views and copies."""


@pytest.mark.parametrize(("entry", "cc"), EACH)
def test_a_kernel_compiles_without_float64_and_without_spilling(entry, cc, compiler):
    answer = compiler.answer(entry.name, cc)
    assert not answer["failure"]
    assert answer["reports"] or entry.name in NOTHING, "nothing was launched"
    for report in answer["reports"]:
        name, card = report["kernel"], DEVICES[CARDS[cc]]
        if not report["takes_float64"]:
            assert report["float64"] == 0, f"{name}: {report['float64']} float64 instructions; write float32(0), not 0."
        assert report["spills"] == 0, f"{name}: {report['registers']} registers were not enough"
        assert report["registers"] * report["threads"] <= card.registers_per_sm, f"{name}: no block fits an SM"
        assert report["shared"] <= card.shared_per_block, f"{name}: {report['shared']} bytes of shared memory"
    assert answer["kept"] or not answer["usable"], "what was compiled now is not kept: python tools/kept_answers.py"


@pytest.mark.parametrize(("entry", "cc"), [p for p in EACH if p.values[0].rung is not None])
def test_a_rung_keeps_its_share_of_multiply_adds_and_its_access_widths(entry, cc, compiler):
    reports, rung = compiler.answer(entry.name, cc)["reports"], entry.rung
    best = max(reports, key=lambda r: r["share"])
    assert best["share"] >= rung.ffma_share, f"{best['share']:.3f} of the main loop: {best['loop']}"
    for width in rung.widths:
        assert any(family(width) in r["mix"] for r in reports), f"no {width}: {[r['mix'] for r in reports]}"


def test_no_report_is_kept_that_nothing_asks_for(compiler):
    if set(compiler.names) != {entry.name for entry in ENTRIES}:
        pytest.skip("only some were asked for")
    assert compiler.answer("", ())["superfluous"] == 0, "python tools/kept_answers.py"


def test_there_are_gates_for_three_generations_and_no_rung_leaves_out_the_newest():
    assert {cc for p in EACH for cc in [p.values[1]]} == set(CCS) == CARDS.keys()
    assert all((9, 0) in entry.ccs for entry in ENTRIES)


def test_every_kernel_of_a_module_is_launched_by_some_entry():
    kernels = set()
    for info in pkgutil.walk_packages(course_lib.cuda.__path__, "course_lib.cuda."):
        module = importlib.import_module(info.name)
        kernels |= {(v.__module__, v.__name__) for v in vars(module).values() if isinstance(v, Kernel)}
    launched = {(x.kernel.__module__, x.kernel.__name__) for e in ENTRIES for cc in e.asked for x in launches(e, cc)}
    assert kernels - launched == set()


def test_every_kernel_finds_its_place_on_the_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    kernels = {x.kernel for e in ENTRIES for x in launches(e, e.asked[-1])}
    kept = {k for k in kernels if k.options.get("cache")}
    files = [compiled_form(k.py_func, cache=True, options=k.options)[0].__code__.co_filename for k in kept]
    assert len(kept) > 90
    assert {str(file) for file in tmp_path.glob("*.py")} == set(files)
