"""Kernels whose constants, names or helpers are given again elsewhere in the notebook."""

from __future__ import annotations

from unusual.books import Model, Shape, renamed, shape

GPU = "from numba import cuda, float32\n\nfrom course_lib import gpu\nfrom course_lib.checks import check\n"


def _model() -> Model:
    m = Model("gpu_warm_up")
    m.setup = GPU
    m.text["gpu.6"] = "TILE = 16\n\n\n" + m.text["gpu.6"]
    m.text["gpu.9"] = "SPAN = 64\nWITH_HALO = SPAN + 4\n\n\n" + m.text["gpu.9"]
    return m


@shape
def a_kernels_constant_used_by_another() -> Shape:
    m = _model()
    smooth = renamed(m.text["gpu.9"], SPAN="TILE")
    return m.shape({"gpu.9": [smooth, m.check("gpu.9"), "TILE = 7\nWITH_HALO = 3"]})


@shape
def a_kernel_under_a_second_name() -> Shape:
    m = _model()
    first = renamed(m.text["gpu.8"], conv_basic="convolved") + "\n\nconv_basic = convolved\n"
    called = m.text["gpu.9"].replace("@gpu.jit\n", "") + "\n\nsmooth_tiled = gpu.jit(smooth_tiled)\n"
    return m.shape({"gpu.8": [first, m.check("gpu.8")], "gpu.9": [called, m.check("gpu.9")]})


@shape
def constants_of_a_kernel_in_a_tuple() -> Shape:
    m = _model()
    smooth = m.text["gpu.9"].replace("SPAN = 64\nWITH_HALO = SPAN + 4", "SPAN, WITH_HALO = 64, 68")
    return m.shape({"gpu.9": [smooth, m.check("gpu.9"), "for SPAN in range(3):\n    pass"]})


@shape
def a_kernels_constant_in_a_magic_and_given_again() -> Shape:
    m = _model()
    magic = "%time SPAN = 64\n" + m.text["gpu.9"].replace("SPAN = 64\n", "", 1)
    return m.shape({"gpu.9": [magic, m.check("gpu.9"), "%timeit SPAN\nSPAN = 8"]})
