"""The compiler behind the kernels, named in one place: Numba-CUDA, or its successor numba-cuda-mlir.

The environment variable COURSE_COMPILER=numba-cuda (the default) or numba-cuda-mlir says which; it is read here alone.
Only this module says where `cuda`, `types` and the tools for writing intrinsics come from; `COMPILER` is the package's
name. Without NVIDIA's package numba-cuda, Numba's own copy serves: it is older, and enough for a machine without a GPU.

What runs without a GPU compiles nothing: the SIMT executor and Numba's simulator take no notice of the variable. For
numba-cuda-mlir the text of a kernel stays as it is, and its names are bound anew (`mlir_names`). With it intrinsics are
an error when a kernel is compiled, and the cheap range, the pool of device memory, recorded graphs and the disk cache
are left out. That kernels compile is tested without a card (tests/gates/README.md has the table); they have not been
launched on one yet. Source: Numba's documentation, "Extending Numba for CUDA"; NVIDIA, "numba-cuda-mlir".
"""

import importlib.util
import os
import warnings
from contextlib import contextmanager

from course_lib.cuda.choice import GPU, DeviceError  # it switches Numba's simulator on, which must come first
from course_lib.cuda.device import choice

# isort: split
from numba import cuda, float32, int32, int64, types, uint32, uint64

NUMBA_CUDA, MLIR = COMPILERS = ("numba-cuda", "numba-cuda-mlir")
TRIED_MLIR = "0.6.0"
"""The version of numba-cuda-mlir that kernels were compiled with."""


def choose_compiler(environ=None, has=importlib.util.find_spec):
    """Return the package that compiles kernels: "numba-cuda", "numba-cuda-mlir", or "numba" without either.

    Parameters
    ----------
    environ : mapping, optional
        Environment variables; default: the process's own.
    has : function, optional
        Of a module's name, true if it is installed.

    Raises
    ------
    DeviceError
        If COURSE_COMPILER is none of them, or numba-cuda-mlir is not installed.

    Source: the course's own.
    """
    wanted = (os.environ if environ is None else environ).get("COURSE_COMPILER") or NUMBA_CUDA
    if wanted not in COMPILERS:
        raise DeviceError(
            f"COURSE_COMPILER={wanted} is none of {', '.join(COMPILERS)}", "Unset it, or set one of these."
        )
    if wanted == MLIR and not has("numba_cuda_mlir"):
        raise DeviceError(
            "COURSE_COMPILER=numba-cuda-mlir, but that package is not installed",
            f'Unset COURSE_COMPILER, or: pip install "numba-cuda-mlir[cu13]=={TRIED_MLIR}"',
        )
    return wanted if wanted == MLIR or has("numba_cuda") else "numba"


HAS_PACKAGE = importlib.util.find_spec("numba_cuda") is not None
"""Whether NVIDIA's package numba-cuda is installed, which is what compiles for today's cards."""

try:
    COMPILER = choose_compiler()
except DeviceError:  # told when a kernel is to be compiled, which without a GPU none is
    COMPILER = "none"

SIMULATOR = cuda.is_available.__module__.endswith("simulator_init")
"""Whether Numba's simulator stands in for the compiler; it has no intrinsics."""

if HAS_PACKAGE and not SIMULATOR:
    from numba.cuda.core.errors import NumbaPerformanceWarning as PerformanceWarning
else:
    from numba.core.errors import NumbaPerformanceWarning as PerformanceWarning

if SIMULATOR:
    cgutils = intrinsic = None
else:
    from numba.cuda.extending import intrinsic

    if HAS_PACKAGE:
        from numba.cuda import cgutils
    else:
        from numba.core import cgutils

if COMPILER == MLIR and choice().device == GPU:
    from numba_cuda_mlir import cuda, types
    from numba_cuda_mlir.types import float32, int32, int64, uint32, uint64


@contextmanager
def quiet_small_grids():
    """Within a `with` block Numba does not warn of a small grid: a lesson's is meant to be small. No errors.

    The warning begins with codes of colours where the package colorama is installed.
    Source: Numba's documentation, "CUDA Kernel API".
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*Grid size", PerformanceWarning)
        yield


__all__ = [
    "COMPILER", "COMPILERS", "HAS_PACKAGE", "MLIR", "SIMULATOR", "PerformanceWarning", "cgutils", "choose_compiler",
    "cuda", "float32", "int32", "int64", "intrinsic", "quiet_small_grids", "types", "uint32",
    "uint64",
]  # fmt: skip
