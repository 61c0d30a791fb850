"""Which instructions this process's device has.

Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities".
"""

from course_lib.cuda.choice import GPU
from course_lib.cuda.device import choice

EVERY = (99, 0)
"""Of a device that interprets source text: it has every instruction of the course."""


def compute_capability():
    """Return the compute capability of a GPU, such as (9, 0), or `EVERY` without one. DeviceError as `gpu.why`.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities".
    """
    if choice().device != GPU:
        return EVERY
    from course_lib.cuda.numba_cuda import cuda

    return tuple(cuda.get_current_device().compute_capability)
