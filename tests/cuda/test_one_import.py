"""The compiler of kernels is named in one place, and one variable switches it."""

import ast
import os
import runpy
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numba
import pytest

import course_lib.cuda
from course_lib import gpu
from course_lib.cuda import device, numba_cuda
from course_lib.cuda.choice import GPU, SIMT, Choice, DeviceError
from course_lib.cuda.intrinsics import ld4, nonneg
from course_lib.cuda.numba_cuda import choose_compiler, cuda, float32
from course_lib.cuda.unroll import compiled_form, unroll
from tests.cases import all_of

FOLDER = Path(course_lib.cuda.__file__).parent
NAMES_IT = {
    "numba_cuda.py": "the place",
    "choice.py": "asks whether there is a GPU, before anything else",
    "fastrange.py": "replaces parts of numba-cuda",
    "pool.py": "is a plug-in of Numba's driver",
    "on_numba.py": "is how Numba launches",
    "thin_launch.py": "launches past Numba",
    "thin_copy.py": "copies past Numba",
    "compile_report.py": "compiles without a driver",
    "unroll.py": "reads Numba's version",
    "mlir_names.py": "gives the other compiler its own names",
    "simulator_arrays.py": "mends Numba's simulator",
    "jit.py": "asks whether Numba simulates",
    "simulate.py": "takes kernels of Numba's own decorator",
}


@all_of("file", sorted(FOLDER.rglob("*.py")), ids=lambda f: str(f.relative_to(FOLDER)))
def test_only_these_modules_import_numba(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    modules += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    names_numba = any(m.split(".")[0] in ("numba", "numba_cuda_mlir") for m in modules)
    may = file.parent.name == "host" or file.name in NAMES_IT  # host stands for Numba without a GPU
    assert may or not names_numba, "write: from course_lib.cuda.numba_cuda import cuda, float32"


def test_only_one_module_reads_the_variable():
    said = [f.name for f in FOLDER.rglob("*.py") if '"COURSE_COMPILER"' in f.read_text(encoding="utf-8")]
    assert said == ["numba_cuda.py"]


@pytest.mark.parametrize(
    ("wanted", "installed", "compiler"),
    [
        (None, {"numba_cuda", "numba_cuda_mlir"}, "numba-cuda"),
        ("", {"numba_cuda"}, "numba-cuda"),
        ("numba-cuda", {"numba_cuda"}, "numba-cuda"),
        (None, set(), "numba"),
        ("numba-cuda", {"numba_cuda_mlir"}, "numba"),
        ("numba-cuda-mlir", {"numba_cuda", "numba_cuda_mlir"}, "numba-cuda-mlir"),
        ("numba-cuda-mlir", {"numba_cuda_mlir"}, "numba-cuda-mlir"),
    ],
)
def test_which_compiler_is_chosen(wanted, installed, compiler):
    environ = {} if wanted is None else {"COURSE_COMPILER": wanted}
    assert choose_compiler(environ, installed.__contains__) == compiler


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("nvcc", ["COURSE_COMPILER=nvcc is none of numba-cuda, numba-cuda-mlir", "Unset it"]),
        ("numba-cuda-mlir", ["not installed", "Unset COURSE_COMPILER", 'pip install "numba-cuda-mlir[cu13]==0.6.0"']),
    ],
)
def test_what_cannot_be_had_is_told_with_the_fix(wanted, words):
    with pytest.raises(DeviceError) as info:
        choose_compiler({"COURSE_COMPILER": wanted}, {"numba_cuda"}.__contains__)
    assert all(word in str(info.value) for word in words), str(info.value)


def test_a_wrong_name_is_told_when_a_kernel_is_compiled(monkeypatch):
    monkeypatch.setenv("COURSE_COMPILER", "nvcc")
    with pytest.raises(DeviceError, match="COURSE_COMPILER=nvcc is none of"):
        compiled_form(_sums)


def test_the_course_does_without_the_other_package():
    assert choose_compiler({}) in ("numba", "numba-cuda")


PROGRAM = """
import numpy as np
from course_lib import gpu
from course_lib.cuda.ladders.transpose import LADDER
x, y = gpu.to_device(np.arange(15, dtype=np.float32).reshape(3, 5)), gpu.empty((5, 3), np.float32)
LADDER[-1].launch(x, y)
assert (gpu.to_host(y) == gpu.to_host(x).T).all()
print(gpu.device_name())
"""


@pytest.mark.parametrize("compiler", ["numba-cuda-mlir", "nvcc"])
def test_the_executor_takes_no_notice_of_the_variable(compiler):
    environment = os.environ | {"COURSE_COMPILER": compiler, "COURSE_DEVICE": "simt"}
    environment.pop("NUMBA_ENABLE_CUDASIM", None)  # set in this process where COURSE_DEVICE asked for the simulator
    line = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(line, env=environment, cwd=FOLDER.parents[1], capture_output=True, text=True, timeout=120)
    assert done.stdout == "SIMT executor (no GPU)\n", done.stderr


@gpu.jit(device=True)
def _twice(x):
    return x + x


def _sums(x, out):
    total = float32(0)
    for k in unroll(2):
        total += _twice(x[nonneg(cuda.threadIdx.x) + k])
    out[0] = total


def _wide(x, out):
    out[0] = ld4(x, 0)[0]


@pytest.fixture
def mlir(monkeypatch):
    """Stand in for numba-cuda-mlir: its objects are known by their sight."""
    package, types = ModuleType("numba_cuda_mlir"), ModuleType("numba_cuda_mlir.types")
    package.__spec__ = ModuleSpec("numba_cuda_mlir", None)
    for kind in ("float32", "int32", "int64", "uint32", "uint64"):
        setattr(types, kind, f"its {kind}")
    package.types, package.tools = types, SimpleNamespace()
    package.cuda = SimpleNamespace(jit=lambda device: lambda function: ("its own", function))
    monkeypatch.setitem(sys.modules, "numba_cuda_mlir", package)
    monkeypatch.setitem(sys.modules, "numba_cuda_mlir.types", types)
    monkeypatch.setenv("COURSE_COMPILER", "numba-cuda-mlir")
    sys.modules.pop("course_lib.cuda.mlir_names", None)
    yield package
    sys.modules.pop("course_lib.cuda.mlir_names", None)


def test_the_names_in_a_kernels_text_become_the_other_compilers(mlir):
    function, kept = compiled_form(_sums, cache=True)
    assert not kept
    names = function.__globals__
    assert names["cuda"] is mlir.cuda
    assert names["float32"] == "its float32"
    assert names["_twice"][0] == names["nonneg"][0] == "its own"
    assert names["_twice"][1](3) == 6
    assert "unroll" not in function.__code__.co_names


def test_an_intrinsic_that_the_other_compiler_lacks_is_named(mlir):
    with pytest.raises(DeviceError, match=r"^ld4 is written for numba-cuda's code generator; .* Unset COURSE_COMPILER"):
        compiled_form(_wide)


@pytest.mark.parametrize("found", [GPU, SIMT])
def test_the_names_of_this_module_are_the_other_compilers_where_it_runs(mlir, monkeypatch, found):
    monkeypatch.setattr(device, "choice", lambda: Choice(found, "pretended"))
    names = runpy.run_path(numba_cuda.__file__)
    assert names["COMPILER"] == "numba-cuda-mlir"
    if found == GPU:
        assert (names["cuda"], names["types"], names["uint32"]) == (mlir.cuda, mlir.types, "its uint32")
    else:
        assert (names["cuda"], names["types"], names["uint32"]) == (cuda, numba.types, numba.uint32)
