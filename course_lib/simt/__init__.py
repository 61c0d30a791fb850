"""Run the source of a Numba-CUDA kernel without a GPU, and say what the hardware would do.

Source: NVIDIA, "CUDA C++ Programming Guide"; the course's own.
"""

from course_lib.cuda.launch_checks import LaunchError
from course_lib.simt.hazards import Hazard
from course_lib.simt.machine import HazardFound
from course_lib.simt.reader import read
from course_lib.simt.report import Report
from course_lib.simt.run import run
from course_lib.simt.source import KernelError, Source

__all__ = ["Hazard", "HazardFound", "KernelError", "LaunchError", "Report", "Source", "read", "run"]
