"""Transforms of whole images by cuFFT, through CuPy: where there is a GPU and CuPy is installed.

CuPy takes this course's device arrays as they lie (`__cuda_array_interface__`), keeps cuFFT's plans, and works on the
same default stream; nothing is copied to the host. It is an optional extra, imported when it is first needed.

Source: CuPy's documentation, "Interoperability", "Fast Fourier Transform"; NVIDIA, "cuFFT Library".
"""

import functools
import importlib.util

from course_lib.cuda.choice import GPU, DeviceError
from course_lib.cuda.device import choice, executor
from course_lib.cuda.numba_cuda import cuda

INSTALL = 'pip install "course-lib[cufft]"'


def available():
    """Return whether cuFFT can be used: kernels run on a GPU, and CuPy is installed. No errors.

    Source: the course's own.
    """
    return choice().device == GPU and importlib.util.find_spec("cupy") is not None


@functools.cache
def _cupy():
    if choice().device != GPU:
        raise DeviceError(
            "cuFFT needs a GPU, and kernels run on the CPU here", "Use the tile kernels: conv2d_fft_tiles_forward."
        )
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(f"cuFFT is used through CuPy, which is not installed ({error})", INSTALL) from None
    return cupy


def _refuse_recording():
    if executor().recording is not None:
        raise DeviceError(
            "cuFFT within gpu.record: CuPy's work cannot be recorded",
            "Use the tile kernels in a recorded step: conv2d_fft_tiles_forward.",
        )


def transform(images):
    """Return the spectra of real images (n, N_h, N_w), float32: a flat device array of real and imaginary parts.

    For each image (N_h, N_w // 2 + 1) complex numbers; the others are their conjugates. DeviceError without a GPU or
    CuPy, or while a graph is recorded. Source: NVIDIA, "cuFFT Library", "Multidimensional Transforms".
    """
    cupy = _cupy()
    _refuse_recording()
    spectra = cupy.fft.rfft2(cupy.asarray(images))
    return cuda.as_cuda_array(spectra.view(cupy.float32).reshape(-1))


def back(spectra, shape):
    """Return the real images, `shape` = (n, N_h, N_w), of what `transform` makes; errors as there.

    Source: NVIDIA, "cuFFT Library", "Multidimensional Transforms".
    """
    cupy = _cupy()
    _refuse_recording()
    n, N_h, N_w = shape
    numbers = cupy.asarray(spectra).view(cupy.complex64).reshape(n, N_h, N_w // 2 + 1)
    images = cupy.fft.irfft2(numbers, s=(N_h, N_w))
    return cuda.as_cuda_array(images)
