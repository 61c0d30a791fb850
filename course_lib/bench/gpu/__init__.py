"""`course bench gpu`: cases, who does them, how they are verified and timed, and what is made of the results.

`run` is where to begin reading. Source: the course's own.
"""

from course_lib.bench.gpu.run import GpuReport, bench_gpu, chosen, merged

__all__ = ["GpuReport", "bench_gpu", "chosen", "merged"]
