"""What no executor can answer: each name says why, and what to do instead.

Source: Numba's documentation, "CUDA Host API"; the course's own.
"""

from numba.cuda import CudaSupportError

from course_lib.cuda.choice import DeviceError

FIX = "Run this on a machine with a GPU, where gpu.use() changes nothing."


class NeedsGPU(DeviceError, CudaSupportError):
    """Something that takes a real GPU. Also Numba's CudaSupportError, which a notebook may catch. Source: the course's.

    Parameters
    ----------
    problem, fix : str
        What cannot be had, and what to do.
    """

    def __init__(self, problem, fix=FIX):
        super().__init__(problem, fix)


REASONS = {
    "declare_device": "foreign code is compiled for a GPU, and the SIMT executor runs Python kernels only",
    "open_ipc_array": "memory of another process lies on a GPU",
    "from_cuda_array_interface": "an address in a GPU's memory means nothing here",
    "compile_for_current_device": "nothing is compiled for a device that is not there",
    "compile_ptx_for_current_device": "nothing is compiled for a device that is not there",
    "set_memory_manager": "a memory manager hands out a GPU's memory",
}
"""Names of numba.cuda -> why they cannot be had."""

INSPECTED = (
    "inspect_llvm", "inspect_asm", "inspect_lto_ptx", "inspect_sass", "inspect_sass_cfg", "get_regs_per_thread",
    "get_const_mem_size", "get_shared_mem_per_block", "get_max_threads_per_block", "get_local_mem_per_thread",
)  # fmt: skip
"""Methods of a kernel that show what its compiler made."""


def refusal(name, like=None):
    """Return a function that raises NeedsGPU for `numba.cuda.<name>`. No errors. Source: the course's own."""

    def answer(*arguments, **options):
        raise NeedsGPU(f"cuda.{name} needs a GPU: {REASONS[name]}")

    answer.__name__ = answer.__qualname__ = name
    answer.__wrapped__ = like
    return answer


def no_inspection(name):
    """Return a method of a kernel that raises NeedsGPU. No errors. Source: the course's own."""

    def answer(self, *arguments, **options):
        raise NeedsGPU(
            f"{self.__name__}.{name}() has nothing to show: the SIMT executor reads a text and compiles nothing",
            f"{self.__name__}.report shows what the hardware would do; for machine code, take a machine with a GPU.",
        )

    answer.__name__ = name
    return answer
