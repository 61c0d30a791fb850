"""Convolutions by Fourier transforms in cuDNN, which is told to take that algorithm: rivals that do the same as ours.

PyTorch lets cuDNN choose and cannot be told otherwise. So this calls, through ctypes, the library that PyTorch has
loaded: descriptors, the workspace that an algorithm asks for, and the convolution, on PyTorch's current stream.

Source: NVIDIA, "cuDNN API", "cudnn_cnn Library" and "cudnn_ops Library" (functions and enumerations, versions 8 and 9).
All but importing this module needs PyTorch and a card.
"""

import ctypes
import functools
import importlib.util
from pathlib import Path

from course_lib.bench.gpu.work import FLOAT32, Player

FFT, FFT_TILING = "cuDNN FFT", "cuDNN FFT tiling"
FORCED = (FFT, FFT_TILING)
"""Whole images are transformed, or tiles of them."""

ALGORITHMS = {
    "Forward": {FFT: 4, FFT_TILING: 5},
    "BackwardData": {FFT: 2, FFT_TILING: 3},
    "BackwardFilter": {FFT: 2, FFT_TILING: 6},
}
"""Direction, as cuDNN's functions are called, -> its numbers (cudnnConvolutionFwdAlgo_t, ...BwdDataAlgo_t, ...)."""

_FLOAT, _NCHW, _CROSS_CORRELATION, _FMA_MATH = 0, 0, 1, 3
"""Members of cudnnDataType_t, cudnnTensorFormat_t, cudnnConvolutionMode_t, cudnnMathType_t (float32: no TF32)."""


class NoRival(ValueError):
    """cuDNN has no such algorithm for these sizes, or there is no cuDNN. Source: the course's own."""


def forward(x, w, stride, pad):
    """Return {name: function that makes the Player} of x (B, C, H, W) with w (M, C, K_h, K_w), float32 tensors.

    NoRival from the functions where cuDNN refuses; RuntimeError where it fails. Source: cudnnConvolutionForward.
    """

    def make(name):
        B, _, H, W = x.shape
        M, _, K_h, K_w = w.shape
        y = x.new_empty(B, M, (H + 2 * pad - K_h) // stride + 1, (W + 2 * pad - K_w) // stride + 1)
        operands = [(tensor_of(x), x), (filter_of(w), w)]
        run = _convolution("Forward", name, operands, (tensor_of(y), y), stride, pad)
        return Player((lambda: (run(), (y,))[1],), FLOAT32)

    return {name: functools.partial(make, name) for name in FORCED}


def backward_data(dy, w, shape, stride, pad):
    """Return {name: function that makes the Player} of dx, of this shape (B, C, H, W), from dy (B, M, H_out, W_out).

    Errors as `forward`. Source: cudnnConvolutionBackwardData.
    """

    def make(name):
        dx = dy.new_empty(shape)
        operands = [(filter_of(w), w), (tensor_of(dy), dy)]
        run = _convolution("BackwardData", name, operands, (tensor_of(dx), dx), stride, pad)
        return Player((lambda: (run(), (dx,))[1],), FLOAT32)

    return {name: functools.partial(make, name) for name in FORCED}


def backward_weights(dy, x, shape, stride, pad):
    """Return {name: function that makes the Player} of dw, of this shape (M, C, K_h, K_w), and db (M,), from dy and x.

    The gradient of the bias is cuDNN's own, a second function: PyTorch and the course's rungs compute it too.

    Errors as `forward`. Source: cudnnConvolutionBackwardFilter, cudnnConvolutionBackwardBias.
    """

    def make(name):
        dw, db = dy.new_empty(shape), dy.new_empty(1, shape[0], 1, 1)
        operands = [(tensor_of(x), x), (tensor_of(dy), dy)]
        run = _convolution("BackwardFilter", name, operands, (filter_of(dw), dw), stride, pad)
        one, zero, given, made = _factor(1), _factor(0), tensor_of(dy), tensor_of(db)

        def call():
            run()
            _call("cudnnConvolutionBackwardBias", _handle(), one, given, _at(dy), zero, made, _at(db))
            return dw, db.reshape(-1)

        return Player((call,), FLOAT32)

    return {name: functools.partial(make, name) for name in FORCED}


def _convolution(direction, name, operands, result, stride, pad):
    """Return a function that enqueues one convolution; what it needs is made here, once."""
    algorithm, how = ctypes.c_int(ALGORITHMS[direction][name]), convolution_of(stride, pad)
    (first, a), (second, b), (third, out) = *operands, result
    size = ctypes.c_size_t()
    ask = f"cudnnGetConvolution{direction}WorkspaceSize"
    _call(ask, _handle(), first, second, how, third, algorithm, ctypes.byref(size))
    space = a.new_empty(max(1, -(-size.value // 4)))  # float32 numbers; a tensor starts at 256 bytes
    one, zero = _factor(1), _factor(0)
    arguments = (
        one, first, _at(a), second, _at(b), how, algorithm, _at(space), size, zero, third, _at(out)
    )  # fmt: skip

    def run():
        _call(f"cudnnConvolution{direction}", _handle(), *arguments)

    run.keeps = space, a, b, out  # pointers do not keep tensors alive
    return run


def tensor_of(tensor):
    """Return a descriptor of a float32 tensor (B, C, H, W) without gaps. Errors as `forward`."""
    sizes = [ctypes.c_int(n) for n in _without_gaps(tensor).shape]
    return _described("Tensor", "4d", ctypes.c_int(_NCHW), ctypes.c_int(_FLOAT), *sizes)


def filter_of(tensor):
    """Return a descriptor of float32 masks (M, C, K_h, K_w) without gaps. Errors as `forward`."""
    sizes = [ctypes.c_int(n) for n in _without_gaps(tensor).shape]
    return _described("Filter", "4d", ctypes.c_int(_FLOAT), ctypes.c_int(_NCHW), *sizes)


def convolution_of(stride, pad):
    """Return a descriptor: masks are not flipped, sums are float32's, and no operand is cut to TF32.

    Errors as `forward`. Source: cudnnSetConvolution2dDescriptor, cudnnSetConvolutionMathType.
    """
    numbers = (pad, pad, stride, stride, 1, 1, _CROSS_CORRELATION, _FLOAT)
    descriptor = _described("Convolution", "2d", *map(ctypes.c_int, numbers))
    _call("cudnnSetConvolutionMathType", descriptor, ctypes.c_int(_FMA_MATH))
    return descriptor


def _without_gaps(tensor):
    if not tensor.is_contiguous() or str(tensor.dtype) != "torch.float32":
        raise TypeError(
            f"a tensor of {tensor.dtype} and shape {tuple(tensor.shape)} must be float32 without gaps. "
            "Use .float().contiguous()."
        )
    return tensor


def _described(kind, suffix, *values):
    descriptor = ctypes.c_void_p()
    _call(f"cudnnCreate{kind}Descriptor", ctypes.byref(descriptor))
    _call(f"cudnnSet{kind}{suffix}Descriptor", descriptor, *values)
    return descriptor


def _at(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def _factor(value):
    return ctypes.byref(ctypes.c_float(value))


@functools.cache
def _library():
    """Return libcudnn: that of PyTorch's package `nvidia.cudnn`, else the one that the system finds; or NoRival."""
    import torch  # noqa: F401  - loads the libraries that cuDNN needs

    spec = importlib.util.find_spec("nvidia.cudnn") if importlib.util.find_spec("nvidia") else None
    folders = [Path(p) / "lib" for p in (spec.submodule_search_locations or ())] if spec else []
    files = [str(f) for folder in folders for f in sorted(folder.glob("libcudnn.so.*"))]
    reasons = []
    for file in (*files, "libcudnn.so.9", "libcudnn.so.8"):
        try:
            return ctypes.CDLL(file)
        except OSError as error:
            reasons.append(str(error))
    raise NoRival(f"libcudnn cannot be loaded: {'; '.join(reasons)}"[:300])


@functools.cache
def _created():
    handle = ctypes.c_void_p()
    _call("cudnnCreate", ctypes.byref(handle))
    return handle


def _handle():
    """Return cuDNN's handle, on PyTorch's current stream."""
    import torch

    handle = _created()
    _call("cudnnSetStream", handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    return handle


def refuses(status):
    """Return whether a status says "not supported": 9 up to version 8, 3,000 to 3,999 since. No errors.

    Source: NVIDIA, "cuDNN API", "cudnnStatus_t".
    """
    return status == 9 or status // 1000 == 3


def _call(name, *arguments):
    """Call a function of cuDNN; NoRival where it says that it does not support this, RuntimeError for other errors."""
    library = _library()
    status = getattr(library, name)(*arguments)
    if status:
        explain = library.cudnnGetErrorString
        explain.restype = ctypes.c_char_p
        text = (explain(status) or b"").decode(errors="replace")
        raise (NoRival if refuses(status) else RuntimeError)(f"{name} answers {status}, {text}.")
