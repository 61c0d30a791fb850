"""Benchmarks: a speed is a ratio to a rival that was measured in the same run. `course bench` is the command.

Source: the course's choice.
"""

# Not here: course_lib.bench.simt. The process of Numba's simulator runs this file, and cannot import the executor.
from course_lib.bench.cpu import bench_cpu
from course_lib.bench.report import Report, tables, write
from course_lib.bench.timing import Timing, interleave

__all__ = ["Report", "Timing", "bench_cpu", "interleave", "tables", "write"]
