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


def has_hopper():
    """Return whether the device is a GPU of compute capability 9.0, whose instructions no other has.

    DeviceError as `gpu.why`. Source: NVIDIA, "PTX ISA", "Target ISA Notes" of wgmma (sm_90a).
    """
    return compute_capability() == (9, 0)


def multiprocessors():
    """Return how many multiprocessors the GPU has; an H200's 132 where kernels are only compiled.

    DeviceError as `gpu.why`. Source: NVIDIA, "CUDA Driver API", "cuDeviceGetAttribute".
    """
    if choice().device != GPU:
        return 132
    from course_lib.cuda.numba_cuda import cuda

    return cuda.get_current_device().MULTIPROCESSOR_COUNT
