"""Kernels whose constants, names or helpers are given again elsewhere in the notebook."""

from __future__ import annotations

from unusual.books import Model, Shape, lines, renamed, shape

GPU = lines(
    "import numpy as np", "from numba import cuda, float32", "from course_lib import gpu",
    "from course_lib.checks import check",
    "MASKS, C1_MASKS = np.ones((3, 2, 3, 3), np.float32), np.ones((6, 5, 5), np.float32)",
)  # fmt: skip


def _model() -> Model:
    m = Model("15_convolution_kernels")
    m.setup = GPU
    return m


@shape
def a_kernels_constant_used_by_another() -> Shape:
    m = _model()
    smooth = renamed(m.text["15.3"], SPAN="TILE")
    return m.shape({"15.3": [smooth, m.check("15.3"), "TILE = 7\nWITH_HALO = 3"]})


@shape
def a_kernel_under_a_second_name() -> Shape:
    m = _model()
    first = renamed(m.text["15.2"], conv_basic="convolved") + "\n\nconv_basic = convolved\n"
    called = m.text["15.3"].replace("@gpu.jit\n", "") + "\n\nsmooth_tiled = gpu.jit(smooth_tiled)\n"
    return m.shape({"15.2": [first, m.check("15.2")], "15.3": [called, m.check("15.3")]})


@shape
def constants_of_a_kernel_in_a_tuple() -> Shape:
    m = _model()
    smooth = m.text["15.3"].replace("SPAN = 64\nWITH_HALO = SPAN + 4", "SPAN, WITH_HALO = 64, 68")
    return m.shape({"15.3": [smooth, m.check("15.3"), "for SPAN in range(3):\n    pass"]})


@shape
def a_kernels_constant_in_a_magic_and_given_again() -> Shape:
    m = _model()
    magic = "%time SPAN = 64\n" + m.text["15.3"].replace("SPAN = 64\n", "", 1)
    return m.shape({"15.3": [magic, m.check("15.3"), "%timeit SPAN\nSPAN = 8"]})
