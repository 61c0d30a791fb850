"""The rivals of `course bench gpu`, cuBLAS and cuDNN as PyTorch calls them, and exact results in float64 on the card.

Source: PyTorch's documentation. TF32 is off but where it is asked for, and cuDNN tries its algorithms and takes the
fastest (`benchmark`). `with_numpy` has the same names. All but importing this module needs PyTorch.
"""

import functools

from course_lib import gpu
from course_lib.bench.gpu import with_cudnn
from course_lib.bench.gpu.work import BF16, TF32, Player

DEVICE = "cuda"
CUBLAS, CUBLAS_TF32, CUDNN, CUDNN_TF32 = "cuBLAS", "cuBLAS TF32", "cuDNN", "cuDNN TF32"
CUBLAS_BF16 = "cuBLAS BF16"


@functools.cache
def _torch():
    """Return PyTorch, set up for a fair comparison."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    return torch


def versions():
    """Return the versions of what the rivals are. No errors. Source: PyTorch's documentation."""
    found = {"torch": _torch().__version__, "cuda of torch": _torch().version.cuda}
    if _torch().backends.cudnn.is_available():
        found["cudnn"] = ".".join(map(str, _digits(_torch().backends.cudnn.version())))
    return found


def _digits(number):
    """Return cuDNN's version 91900 as (9, 19, 0)."""
    return number // 10_000, number // 100 % 100, number % 100


def tensor(array):
    """Return a device array (...) as a tensor of the same memory; a tensor as it is. No errors beyond PyTorch's."""
    return array if isinstance(array, _torch().Tensor) else _torch().as_tensor(array, device=DEVICE)


def double(array, sizes=False):
    """Return a device array (...) in float64, or its absolute values. No errors beyond PyTorch's."""
    wide = tensor(array).double()
    return wide.abs() if sizes else wide


def nan(shape):
    """Return a float32 device array of this shape (...) full of NaN: what a kernel leaves out is seen. No errors."""
    array = gpu.empty(shape, "float32")
    spoil(array)
    return array


def spoil(array):
    """Fill a float32 device array (...) with NaN. No errors. Source: the course's own."""
    tensor(array).fill_(float("nan"))


def exact_of(array):
    """Return a float64 host array (...) as what `distance` compares with: a tensor on the card. No errors."""
    return _torch().from_numpy(array).to(DEVICE)


def distance(found, exact, magnitude):
    """Return (largest difference, largest exact number, largest difference as a share of `magnitude`).

    All are arrays (...) of one size. NaN where `found` has one. No errors. Source: the course's own.
    """
    far = (double(found).reshape(exact.shape) - exact).abs_()
    share = _torch().where(far == 0, far, far / magnitude)
    return far.max().item(), exact.abs().max().item(), share.max().item()


def product(a, b):
    """Return (a (M, K) @ b (K, N),). No errors beyond PyTorch's. Source: PyTorch, "matmul"."""
    return (a @ b,)


def transposed(x):
    """Return (x (M, N) as (N, M),). No errors. Source: PyTorch, "transpose"."""
    return (x.T.contiguous(),)


def total(x):
    """Return (the sum of x (...) as (1,),). No errors. Source: PyTorch, "sum"."""
    return (x.sum().reshape(1),)


def conv_forward(x, w, stride, pad):
    """Return (y (B, M, H_out, W_out),). No errors beyond PyTorch's. Source: PyTorch, "conv2d"."""
    return (_torch().nn.functional.conv2d(x, w, None, stride, pad),)


def conv_backward_data(dy, w, shape, stride, pad):
    """Return (dx of this shape (B, C, H, W),). No errors beyond PyTorch's. Source: PyTorch, "convolution_backward"."""
    return _backward(dy, dy.new_empty(shape), w, stride, pad, (True, False, False))[:1]


def conv_backward_weights(dy, x, shape, stride, pad):
    """Return (dw of this shape (M, C, K, K), db (M,)). No errors beyond PyTorch's. Source: the same."""
    return _backward(dy, x, dy.new_empty(shape), stride, pad, (False, True, True))[1:]


def _backward(dy, x, w, stride, pad, wanted):
    return _torch().ops.aten.convolution_backward(
        dy, x, w, [w.shape[0]], [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], 1, wanted
    )


def copy_call(x, y):
    """Return a call that copies device array x (...) to y (...) by the driver. No errors. Source: PyTorch, "copy_"."""
    x, y = tensor(x), tensor(y)
    return lambda: y.copy_(x)


def product_rivals(A, B):
    """Return {name: Player} for A (M, K) @ B (K, N): cuBLAS, and cuBLAS with TF32. No errors beyond PyTorch's."""
    a, b = tensor(A), tensor(B)
    out = a.new_empty(a.shape[0], b.shape[1])
    return _rivals(lambda: (_torch().matmul(a, b, out=out),), CUBLAS, CUBLAS_TF32)


def product_rivals_bf16(A, B):
    """Return {name: Player} for A (M, K) @ B (K, N), rounded to BF16 first: cuBLAS, whose result is BF16 as well.

    No errors beyond PyTorch's.
    """
    a, b = tensor(A).bfloat16(), tensor(B).bfloat16()
    out = a.new_empty(a.shape[0], b.shape[1])
    return {CUBLAS_BF16: Player((lambda: (_torch().matmul(a, b, out=out),),), BF16)}


def conv_forward_rivals(x, w, stride, pad):
    """Return {name: Player}: cuDNN, and cuDNN with TF32, on x (B, C, H, W), and cuDNN's transforms, to be made.

    No errors beyond PyTorch's.
    """
    x, w = tensor(x), tensor(w)
    free = _rivals(lambda: conv_forward(x, w, stride, pad), CUDNN, CUDNN_TF32)
    return free | with_cudnn.forward(x, w, stride, pad)


def conv_backward_data_rivals(dy, w, shape, stride, pad):
    """Return {name: Player} as `conv_forward_rivals`, on dy (B, M, H_out, W_out). No errors beyond PyTorch's."""
    dy, w = tensor(dy), tensor(w)
    x = dy.new_empty(shape)  # only its shape counts
    free = _rivals(lambda: _backward(dy, x, w, stride, pad, (True, False, False))[:1], CUDNN, CUDNN_TF32)
    return free | with_cudnn.backward_data(dy, w, shape, stride, pad)


def conv_backward_weights_rivals(dy, x, shape, stride, pad):
    """Return {name: Player} as `conv_forward_rivals`, on dy (B, M, H_out, W_out). No errors beyond PyTorch's."""
    dy, x = tensor(dy), tensor(x)
    w = dy.new_empty(shape)
    free = _rivals(lambda: _backward(dy, x, w, stride, pad, (False, True, True))[1:], CUDNN, CUDNN_TF32)
    return free | with_cudnn.backward_weights(dy, x, shape, stride, pad)


def _rivals(call, name, name_tf32):
    return {name: Player((call,)), name_tf32: Player((_with_tf32(call),), TF32)}


def _with_tf32(call):
    matmul, cudnn = _torch().backends.cuda.matmul, _torch().backends.cudnn

    def run():
        matmul.allow_tf32 = cudnn.allow_tf32 = True
        try:
            return call()
        finally:
            matmul.allow_tf32 = cudnn.allow_tf32 = False

    return run


def plain_name(kernel):
    """Return a kernel's name without namespaces, template arguments and parameters. No errors.

    Source: the course's own.
    """
    return kernel.removeprefix("void ").split("(")[0].split("<")[0].split("::")[-1][:60]


def kernels_of(call):
    """Return the names of the kernels that a call launches, without PyTorch's own; [] where CUPTI cannot tell.

    No errors. Source: PyTorch, "profiler".
    """
    from torch.profiler import ProfilerActivity, profile

    call()  # cuDNN tries its algorithms at the first call
    try:
        with profile(activities=[ProfilerActivity.CUDA]) as found:
            call()
            _torch().cuda.synchronize()
        names = [e.key for e in found.key_averages() if e.device_type.name == "CUDA" and "at::native" not in e.key]
        return sorted({plain_name(name) for name in names})
    except Exception:  # watching needs a library and rights that may be missing
        return []
