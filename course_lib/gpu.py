"""What lessons import: `from course_lib import gpu`, then @gpu.jit kernels, device arrays, and where it all runs.

Source: the course's own. The names are `course_lib.cuda`'s; the kernels are Numba-CUDA, the launch syntax is Numba's.
"""

from course_lib.cuda.choice import DeviceError
from course_lib.cuda.collect import collect_hazards
from course_lib.cuda.device import (
    device_name,
    empty,
    event,
    overwrite,
    pinned,
    stream,
    synchronize,
    to_device,
    to_host,
    why,
)
from course_lib.cuda.graph import Graph, record
from course_lib.cuda.host.switch import use
from course_lib.cuda.jit import jit
from course_lib.cuda.kernel import DeviceFunction, Kernel
from course_lib.cuda.launch_checks import LaunchError
from course_lib.cuda.simulate import simulate, simulate_launches
from course_lib.cuda.trace import load_trace, trace
from course_lib.cuda.try_sizes import try_sizes

__all__ = [
    "DeviceError", "DeviceFunction", "Graph", "Kernel", "LaunchError", "collect_hazards", "device_name", "empty",
    "event", "jit", "load_trace", "overwrite", "pinned", "record", "simulate", "simulate_launches", "stream",
    "synchronize", "to_device", "to_host", "trace", "try_sizes", "use", "why",
]  # fmt: skip
