"""Reductions, cuda.reduce and cuda.Reduce: a kernel of our own applies a binary function as a device function.

The order of the operations is that of Numba's kernel, so that sums of floats have the same bits: each thread over its
elements, then a tree in each warp, then over the warps of a block. Where a warp is not full, its first thread goes
through it. Source: Numba's documentation, "GPU Reduction"; M. Harris, "Optimizing Parallel Reduction in CUDA".
"""

from numba import cuda
from numba.cuda.kernels import reduction

from course_lib.cuda.jit import jit
from course_lib.cuda.kernel import DeviceFunction

WARP, WARPS = 32, 4
_kernels = {}


def kernel_of(function, dtype):
    """Return the kernel (numbers, partials, init, use_init) that reduces a device array by a function. No errors."""
    combine = DeviceFunction(getattr(function, "py_func", function), {"device": True})
    wide = WARP + 1  # no two lanes of a column in one bank

    @jit(device=True)
    def reduce_warp(s):
        lane = cuda.threadIdx.x % WARP
        width = WARP // 2
        while width > 0:
            if lane < width:
                s[lane] = combine(s[lane], s[lane + width])
            cuda.syncwarp()
            width //= 2

    def reduce_array(numbers, partials, init, use_init):
        s = cuda.shared.array((WARPS, wide), dtype)
        t, block, threads = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockDim.x
        warp, lane = t // WARP, t % WARP

        total = numbers[t + threads * block]
        for i in range(t + threads * (block + cuda.gridDim.x), numbers.size, threads * cuda.gridDim.x):
            total = combine(total, numbers[i])
        s[warp, lane] = total
        cuda.syncthreads()

        full = threads == WARP * WARPS
        if full or (warp + 1) * WARP < threads:
            reduce_warp(s[warp, :])
        elif lane == 0:
            for i in range(1, threads - warp * WARP):
                s[warp, 0] = combine(s[warp, 0], s[warp, i])
        cuda.syncthreads()

        if full:
            if t < 2:
                s[t, 0] = combine(s[t, 0], s[t + 2, 0])
            cuda.syncthreads()
        if t == 0:
            total = s[0, 0]
            for i in range(1, 2 if full else (threads + WARP - 1) // WARP):
                total = combine(total, s[i, 0])
            if use_init and block == 0:
                total = combine(total, init)
            partials[block] = total

    return cuda.jit(reduce_array)


def _compile(self, dtype):
    """Return the kernel of a Reduce for an array's dtype, made once for each."""
    key = self._functor, dtype
    if key not in _kernels:
        _kernels[key] = kernel_of(self._functor, dtype)
    return _kernels[key]


def methods():
    """Return (Numba's class, {name: what takes the place of its method}). No errors. Source: the course's own."""
    return reduction.Reduce, {"_compile": _compile}
