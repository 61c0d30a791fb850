"""Kernels in Numba-CUDA, and the one place that knows which device they run on.

Lessons import `course_lib.gpu`. Everything that depends on a version of Numba stays in this package.
Source: Numba's documentation, "CUDA Python".
"""
