"""The work of `course bench gpu`: products, convolutions and their gradients, and what is bound by memory.

Each maker takes a backend (`with_torch` or `with_numpy`), a random generator and sizes, puts arrays on the device and
returns a `Work`. Source: the sizes are those of the course's floors and goals; LeNet-5's first two convolutions, the
two of H's course project, and one as in a residual network.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib import gpu
from course_lib.bench.gpu.fft import fft_players
from course_lib.bench.gpu.memory import MEMORY
from course_lib.bench.gpu.players import ladder, players, replayed
from course_lib.bench.gpu.with_cudnn import FORCED
from course_lib.bench.gpu.work import BF16, FFT, FLOAT32, READABLE, TF32, THREE_TF32, Player, Work
from course_lib.cuda.capability import has_hopper
from course_lib.cuda.ladders.conv2d.forward.checks import sizes_of
from course_lib.cuda.ladders.gemm.half_tma import gemm_half_tma

FLOAT, HALF = 4, 2
"""Bytes."""


@dataclass(frozen=True)
class Case:
    """Work of one size: `family` is what --only takes, `size` is what to read, `sizes` and `small` what `make` takes.

    The small sizes have the same kernels, for compiling and for tests without a GPU. Source: the course's own.
    """

    family: str
    name: str
    size: str
    make: Callable
    sizes: dict
    small: dict

    def work(self, backend, *, small=False):
        """Return the `Work`, with arrays on the device. Errors as the kernels' launchers."""
        return self.make(backend, np.random.default_rng(0), **(self.small if small else self.sizes))


def _normal(rng, *shape):
    return gpu.to_device(rng.standard_normal(shape, np.float32))


def _compared(rivals, float32, tf32):
    free = {READABLE: float32, FLOAT32: float32, THREE_TF32: float32, TF32: tf32} if rivals else {}
    forced = tuple(name for name in FORCED if name in rivals)
    return free | ({FFT: forced} if forced else {})


def _gemm(backend, rng, M, N, K, least):
    A, B = _normal(rng, M, K), _normal(rng, K, N)

    def exact(sizes=False):
        return backend.product(backend.double(A, sizes), backend.double(B, sizes))

    def make(rung):
        C = backend.nan((M, N))
        return lambda: rung.launch(A, B, C), (C,)

    rivals = backend.product_rivals(A, B)
    return Work(
        flops=2 * M * N * K,
        bytes=FLOAT * (M * K + K * N + M * N),
        terms=K,
        exact=exact,
        ours=players(ladder("gemm", least), make),
        rivals=rivals,
        rival=_compared(rivals, "cuBLAS", "cuBLAS TF32"),
    )


def _gemm_bf16(backend, rng, M, N, K):
    """The product of numbers in BF16, as float32: no rung of the ladder. The rival rounds its result to BF16."""
    bits = [rng.standard_normal(s, np.float32).view(np.uint32) >> np.uint32(16) for s in ((M, K), (K, N))]
    A, B = (gpu.to_device((b << np.uint32(16)).view(np.float32)) for b in bits)  # the same numbers
    a, b = (gpu.to_device(b.astype(np.uint16)) for b in bits)

    def exact(sizes=False):
        return backend.product(backend.double(A, sizes), backend.double(B, sizes))

    def half_tma():
        if not has_hopper():
            raise ValueError("products of BF16 numbers are for compute capability 9.0.")
        C = backend.nan((M, N))
        return Player((replayed(lambda: gemm_half_tma(a, b, C), (C,)),), BF16)

    rivals = backend.product_rivals_bf16(A, B)
    moved = HALF * (M * K + K * N) + FLOAT * M * N
    return Work(2 * M * N * K, moved, K, exact, {"half_tma": half_tma}, rivals, {BF16: "cuBLAS BF16"} if rivals else {})


def _conv_sizes(B, C, H, W, M, K, stride, pad):
    out = B, M, (H + 2 * pad - K) // stride + 1, (W + 2 * pad - K) // stride + 1
    return (B, C, H, W), (M, C, K, K), out, 2 * np.prod(out, dtype=float) * C * K * K


def _conv_forward(backend, rng, stride, pad, **shape):
    inputs, masks, outputs, flops = _conv_sizes(stride=stride, pad=pad, **shape)
    x, w = _normal(rng, *inputs), _normal(rng, *masks)  # no bias: cuDNN would need a second kernel for it

    def exact(sizes=False):
        return backend.conv_forward(backend.double(x, sizes), backend.double(w, sizes), stride, pad)

    def make(rung):
        y = backend.nan(outputs)
        return lambda: rung.launch(x, w, None, y, stride, pad), (y,)

    rivals = backend.conv_forward_rivals(x, w, stride, pad)
    bytes_ = FLOAT * (x.size + w.size + np.prod(outputs, dtype=float))
    s = sizes_of(inputs, masks, stride, pad)
    ours = players(ladder("conv2d.forward", sizes=s), make)
    ours |= fft_players("forward", s, (x, w), lambda: (backend.nan(outputs),))
    return Work(flops, bytes_, w.size // masks[0], exact, ours, rivals, _compared(rivals, "cuDNN", "cuDNN TF32"))


def _conv_backward_data(backend, rng, stride, pad, **shape):
    inputs, masks, outputs, flops = _conv_sizes(stride=stride, pad=pad, **shape)
    dy, w = _normal(rng, *outputs), _normal(rng, *masks)

    def exact(sizes=False):
        return backend.conv_backward_data(backend.double(dy, sizes), backend.double(w, sizes), inputs, stride, pad)

    def make(rung):
        dx = backend.nan(inputs)
        return lambda: rung.launch(dy, w, dx, stride, pad), (dx,)

    rivals = backend.conv_backward_data_rivals(dy, w, inputs, stride, pad)
    bytes_ = FLOAT * (dy.size + w.size + np.prod(inputs, dtype=float))
    ours = players(ladder("conv2d.backward_data"), make)
    ours |= fft_players("dX", sizes_of(inputs, masks, stride, pad), (dy, w), lambda: (backend.nan(inputs),))
    return Work(flops, bytes_, w.size // masks[1], exact, ours, rivals, _compared(rivals, "cuDNN", "cuDNN TF32"))


def _conv_backward_weights(backend, rng, stride, pad, **shape):
    inputs, masks, outputs, flops = _conv_sizes(stride=stride, pad=pad, **shape)
    dy, x = _normal(rng, *outputs), _normal(rng, *inputs)

    def exact(sizes=False):
        return backend.conv_backward_weights(backend.double(dy, sizes), backend.double(x, sizes), masks, stride, pad)

    def make(rung):
        dw, db = backend.nan(masks), backend.nan(masks[:1])
        return lambda: rung.launch(dy, x, dw, db, stride, pad), (dw, db)

    rivals = backend.conv_backward_weights_rivals(dy, x, masks, stride, pad)
    bytes_ = FLOAT * (dy.size + x.size + np.prod(masks, dtype=float) + masks[0])
    ours = players(ladder("conv2d.backward_weights"), make)
    s = sizes_of(inputs, masks, stride, pad)
    ours |= fft_players("dW", s, (dy, x), lambda: (backend.nan(masks), backend.nan(masks[:1])))
    return Work(flops, bytes_, dy.size // masks[0], exact, ours, rivals, _compared(rivals, "cuDNN", "cuDNN TF32"))


def _square(n, least):
    # Small sizes that get the kernels of large ones, and once those of ragged ones.
    side = dict(M=37, N=41, K=29) if least == 1 else dict(M=512, N=512, K=512)
    sizes, small = dict(M=n, N=n, K=n, least=least), dict(**side, least=least)
    return Case("gemm", f"gemm {n}", f"{n} x {n} x {n}", _gemm, sizes, small)


def _square_bf16(n):
    sizes, small = dict(M=n, N=n, K=n), dict(M=512, N=512, K=512)
    return Case("gemm bf16", f"gemm bf16 {n}", f"{n} x {n} x {n}", _gemm_bf16, sizes, small)


CONVOLUTIONS = {
    "conv 1->4 k7": dict(B=10_000, C=1, H=86, W=86, M=4, K=7, stride=1, pad=0),
    "conv 4->16 k7": dict(B=10_000, C=4, H=40, W=40, M=16, K=7, stride=1, pad=0),
    "conv 1->6 k5": dict(B=10_000, C=1, H=32, W=32, M=6, K=5, stride=1, pad=0),
    "conv 6->16 k5": dict(B=10_000, C=6, H=14, W=14, M=16, K=5, stride=1, pad=0),
    "conv 64->64 k3": dict(B=64, C=64, H=56, W=56, M=64, K=3, stride=1, pad=1),
}
"""Name -> sizes; the last one is measured forward only."""

DIRECTIONS = {"forward": _conv_forward, "dX": _conv_backward_data, "dW": _conv_backward_weights}


def _convolution(name, direction):
    sizes = CONVOLUTIONS[name]
    size = "B = {B:,}, {H} x {W}".format(**sizes) + (f", pad {sizes['pad']}" if sizes["pad"] else "")
    small = {**sizes, "B": 2 if sizes["C"] < 64 else 1}
    if sizes["C"] == 64:
        small |= dict(H=6, W=6)
    return Case(f"conv {direction}", f"{name} {direction}", size, DIRECTIONS[direction], sizes, small)


CASES = {
    case.name: case
    for case in (
        _square(1024, 1),
        _square(4096, 3),
        _square(8192, 5),
        _square_bf16(4096),
        _square_bf16(8192),
        *(_convolution(name, "forward") for name in CONVOLUTIONS),
        *(_convolution(name, "dX") for name in list(CONVOLUTIONS)[:4]),
        *(_convolution(name, "dW") for name in list(CONVOLUTIONS)[:4]),
        *(Case("memory", name, *entry) for name, entry in MEMORY.items()),
    )
}
"""Everything that `course bench gpu` times, by name."""
