"""What the gates compile: every rung of every ladder, and every operation, with the arguments of some launches.

Sizes are small, since nothing is run: some that fit 16-byte accesses and some ragged ones, which are other kernels.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib import gpu
from course_lib.cuda import step_log
from course_lib.cuda.fft import large
from course_lib.cuda.ladders.conv2d import chosen
from course_lib.cuda.ladders.conv2d.forward import c1_by_pixels
from course_lib.cuda.ladders.gemm.half_tma import gemm_half_tma
from course_lib.cuda.ladders.rung import Rung, rungs_for
from tests.cuda.op_cases import CASES, OTHERS, put, run
from tools.hopper.choices import CHOICES

CCS = ((7, 5), (8, 0), (9, 0))
"""Compute capabilities: Turing, Ampere, Hopper."""


@dataclass(frozen=True)
class Entry:
    """One thing to compile: functions without arguments that launch; a rung or None; whether kernels must be run.

    A ladder's highest rung for an older card is what that card gets: its code for this card is read too. `least_cc`
    counts for what is no rung.
    """

    name: str
    calls: tuple[Callable, ...]
    rung: Rung | None = None
    run: bool = False
    older: tuple = ()
    least_cc: tuple[int, int] = CCS[0]

    @property
    def ccs(self):
        """The compute capabilities that it must compile for."""
        return [cc for cc in CCS if cc >= (self.least_cc if self.rung is None else self.rung.least_cc)]

    @property
    def asked(self):
        """The compute capabilities whose machine code the gates read: the newest, and `older` ones.

        That everything compiles for all three, the table says.
        """
        return [*self.older, CCS[-1]]


def zeros(*shape, dtype=np.float32):
    """Return a device array of zeros."""
    return gpu.to_device(np.zeros(shape, dtype))


def _products(M, N, K):
    return zeros(M, K), zeros(K, N), zeros(M, N)


CONVOLUTIONS = (  # B, C, H, W, M, K, stride, pad: LeNet-5's two, a residual network's, a ragged one with stride
    (2, 1, 32, 32, 6, 5, 1, 0),
    (2, 6, 14, 14, 16, 5, 1, 0),
    (1, 64, 8, 8, 64, 3, 1, 1),
    (2, 3, 9, 7, 5, 3, 2, 1),
)

TIMED = ((1, 4, 40, 40, 16, 7, 1, 0), (1, 64, 56, 56, 64, 3, 1, 1))
"""The second layer of H's course project, and a residual network's as large as it is timed: what the newest rungs are
cut for."""


def _out(B, C, H, W, M, K, stride, pad):
    return B, M, (H + 2 * pad - K) // stride + 1, (W + 2 * pad - K) // stride + 1


def _forward(*sizes):
    B, C, H, W, M, K, stride, pad = sizes
    return zeros(B, C, H, W), zeros(M, C, K, K), zeros(M), zeros(*_out(*sizes)), stride, pad


def _backward_data(*sizes):
    B, C, H, W, M, K, stride, pad = sizes
    return zeros(*_out(*sizes)), zeros(M, C, K, K), zeros(B, C, H, W), stride, pad


def _backward_weights(*sizes):
    B, C, H, W, M, K, stride, pad = sizes
    return zeros(*_out(*sizes)), zeros(B, C, H, W), zeros(M, C, K, K), zeros(M), stride, pad


LADDERS = {
    "gemm": (_products, ((256, 256, 256), (130, 150, 67))),
    "conv2d.forward": (_forward, CONVOLUTIONS),
    "conv2d.backward_data": (_backward_data, CONVOLUTIONS),
    "conv2d.backward_weights": (_backward_weights, CONVOLUTIONS),
    "reduce": (lambda n: (zeros(n), zeros(1)), ((100_000,), (1001,))),
    "transpose": (lambda M, N: (zeros(M, N), zeros(N, M)), ((256, 128), (65, 37))),
}
"""Ladder -> (how to make a launcher's arguments from sizes, the sizes)."""


def rungs():
    """Return an `Entry` for each rung of each ladder."""
    found = []
    for ladder, (make, sizes) in LADDERS.items():
        all_rungs = importlib.import_module(f"course_lib.cuda.ladders.{ladder}").LADDER
        newest = [name.split("/")[1] for name in chosen.ABOVE if ladder == f"conv2d.{name.split('/')[0]}"]
        for_older = [r for r in rungs_for(all_rungs) if r.name not in newest]
        highest = {cc: [r for r in for_older if r.exact and r.least_cc <= cc][-1] for cc in CCS[:-1]}
        for rung in all_rungs:
            older = tuple(cc for cc, best in highest.items() if best is rung)
            cuts = (*sizes, *TIMED) if rung.name in newest else sizes
            found.append(Entry(f"{ladder}/{rung.name}", tuple(_call(rung, make, s) for s in cuts), rung, older=older))
    return found


def _call(rung, make, sizes):
    return lambda: rung.launch(*make(*sizes))


RUN = (
    "one_minus_probability", "expected_squared_distance", "rbf_loss", "perceptron_fit", "linear_regression_fit",
    "linear_regression_descend", "all_finite",
)  # fmt: skip
"""Operations that look at a kernel's result before they go on, so that their kernels must be run, not only noted."""


FEW = 3
"""Shapes of conv2d: each gets kernels made for it, of which the ladders have more."""


def _operation(ops, case):
    return lambda: run(ops, case)


def _other(ops, name, arguments):
    return lambda: getattr(ops, name)(*put(ops, arguments))


def _large(ops):
    """Sizes at which operations choose kernels that small ones do not get."""
    for samples, inputs, outputs in ((256, 784, 128), (1024, 1024, 1024)):
        z, cache = ops.dense_forward(zeros(samples, inputs), zeros(inputs, outputs), zeros(outputs))
        ops.dense_backward(z, cache)
    y, cache = ops.conv2d_forward(zeros(2, 6, 14, 14), zeros(16, 6, 5, 5), zeros(16))
    ops.conv2d_backward(y, cache)
    for pool in (ops.max_pool_forward, ops.average_pool_forward):
        pool(zeros(2, 6, 28, 28), 2)
    for name in ("max_pool", "average_pool"):  # a window that is too large for a band
        y, cache = getattr(ops, f"{name}_forward")(zeros(1, 1, 12, 12), 9, 1)
        getattr(ops, f"{name}_backward")(y, cache)
    _, cache = ops.softmax_cross_entropy_forward(zeros(256, 10), zeros(256, dtype=np.int32))
    ops.softmax_cross_entropy_backward(cache)


def _sgd(ops):
    ops.sgd_step([zeros(784, 128), zeros(7)], [zeros(784, 128), zeros(7)], 0.1)
    ops.sgd_step([zeros(784, 128)], [zeros(784, 128)], 0.1, 0.9, [zeros(784, 128)])


def _adam(ops):
    ops.adam_step(*[[zeros(784, 128), zeros(7)] for _ in "wg"], 0.001, *[[zeros(784, 128), zeros(7)] for _ in "mv"], 1)


def _recorded(ops):
    """What only a recorded step launches."""
    log, turn = ops.StepLog(3, 4), zeros(1, dtype=np.int32)
    step_log.take_batch(zeros(4, 8, 3), zeros(4, 8, dtype=np.int64), turn, zeros(8, 3), zeros(8, dtype=np.int64))
    log.note(zeros(8, 10), zeros(8, dtype=np.int64), zeros(1, 2), turn)
    log.heed()
    pair = [zeros(784, 128), zeros(7)], [zeros(784, 128), zeros(7)]
    ops.sgd_step_planned(*pair, zeros(1), 0.0, None, [0, 0])
    ops.sgd_step_planned(*pair, zeros(1), 0.9, [zeros(784, 128), zeros(7)], [0, 0])
    moments = [[zeros(784, 128), zeros(7)] for _ in "mv"]
    ops.adam_step_planned(*pair, zeros(4), *moments, 0.9, 0.999, 1e-8, [True, False])


def _by_transforms_of_images():
    """The kernels around cuFFT, which itself is not ours to compile."""
    spectra, images, bias = zeros(1024), zeros(4, 1, 8, 8), zeros(4)
    large.multiply(spectra, 2, 1, spectra, 2, 1, large.CONJUGATE_Q, 40, 3, 3, 2)
    large.put(images, (1, 1), (8, 8))
    large.take(spectra, (8, 8), (0, 0), (1, 1), bias, images)
    large.add_to(spectra, spectra)


def _products_of_16_bits():
    for M, N, K in ((256, 256, 256), (7, 13, 9)):
        for dtype in (np.float16, np.uint16):
            gemm_half_tma(zeros(M, K, dtype=dtype), zeros(K, N, dtype=dtype), zeros(M, N))


def _choices():
    """What Hopper's rungs could do instead: clusters, other tiles, other ways to round and to let sums out."""
    for choice in CHOICES.values():
        operands = (zeros(256, 256, dtype=choice.dtype) for _ in "AB")
        choice.launch(*operands, zeros(256, 256))
    CHOICES["v11"].launch(zeros(260, 100), zeros(100, 132), zeros(260, 132))


BESIDE = {
    "convolution by cuFFT": _by_transforms_of_images,
    "C1 by pixels": lambda: c1_by_pixels.conv2d_forward_c1_by_pixels(*_forward(*CONVOLUTIONS[0])),
}
"""Kernels that lessons compare with a rung or an operation."""


def beside():
    """Return an `Entry` for each kernel beside the ladders and the operations."""
    found = [Entry(f"beside/{name}", (call,)) for name, call in BESIDE.items()]
    hopper = {"products of 16 bits": _products_of_16_bits, "what Hopper's rungs could do": _choices}
    return found + [Entry(f"beside/{name}", (call,), least_cc=(9, 0)) for name, call in hopper.items()]


def operations():
    """Return an `Entry` for each operation, forward and backward together, on the sizes of tests/cuda."""
    ops = importlib.import_module("course_lib.cuda")
    calls = {}
    for case in CASES:
        if case.op != "conv2d" or len(calls.get(case.op, ())) < FEW:
            calls.setdefault(case.op, []).append(_operation(ops, case))
    for name, arguments in OTHERS.items():
        if arguments is not None:
            calls.setdefault(name, []).append(_other(ops, name, arguments))
    calls |= {"sgd_step": [lambda: _sgd(ops)], "adam_step": [lambda: _adam(ops)]}
    calls |= {"large sizes": [lambda: _large(ops)], "a recorded step": [lambda: _recorded(ops)]}
    calls |= {"all_finite": [lambda: ops.all_finite([zeros(784, 128), zeros(7)])]}
    return [Entry(f"ops/{name}", tuple(c), run=name in RUN) for name, c in calls.items()]


def everything():
    """Return every `Entry`: rungs, what stands beside them, operations."""
    return rungs() + beside() + operations()
