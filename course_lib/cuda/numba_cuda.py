"""The compiler behind the kernels, named in one place: Numba-CUDA, or its successor when that is ready.

Source: Numba's documentation, "Extending Numba for CUDA". Only this module says where `cuda`, `types` and the tools for
writing intrinsics come from; `COMPILER` is the package's name. Without NVIDIA's package numba-cuda, Numba's own copy
serves: it is older, and enough for a machine without a GPU.
"""

import importlib.util

import course_lib.cuda.choice  # noqa: F401  it switches Numba's simulator on, which must come before the next line

# isort: split
from numba import cuda, float32, int32, int64, types, uint32

HAS_PACKAGE = importlib.util.find_spec("numba_cuda") is not None
"""Whether NVIDIA's package numba-cuda is installed, which is what compiles for today's cards."""

COMPILER = "numba-cuda" if HAS_PACKAGE else "numba"

SIMULATOR = cuda.is_available.__module__.endswith("simulator_init")
"""Whether Numba's simulator stands in for the compiler; it has no intrinsics."""

if SIMULATOR:
    cgutils = intrinsic = None
else:
    from numba.cuda.extending import intrinsic

    if HAS_PACKAGE:
        from numba.cuda import cgutils
    else:
        from numba.core import cgutils

__all__ = [
    "COMPILER", "HAS_PACKAGE", "SIMULATOR", "cgutils", "cuda", "float32", "int32", "int64", "intrinsic", "types",
    "uint32",
]  # fmt: skip
