"""How a layer's time grows with the batch, and with mask and image: cases for tools/measure_lessons.py.

Beside the kernels of the lessons' pages stand the ladder's rungs, transforms and the vendor's library. Each way's first
and last image is compared with the first way's, so that nothing is timed that computes something else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from course_lib import gpu
from course_lib.bench.fft_cases import Sweep, sweeps
from course_lib.bench.gpu import with_numpy, with_torch
from course_lib.bench.gpu.fft import fft_players
from course_lib.bench.gpu.players import replayed
from course_lib.bench.gpu.work import EVEN_ERRORS, FLOAT32
from course_lib.cuda.ladders.conv2d.forward import LADDER
from course_lib.cuda.ladders.conv2d.forward.checks import Sizes, sizes_of

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 10_000)
"""Images of C1: from 7 blocks of H's kernel, on a card of 132 multiprocessors, to 70,000."""

NAMES = {"v08_fft": "FFT in tiles"}
"""What lesson 15 calls a rung, beside cuFFT, which transforms whole images."""

LARGEST_GENERATED = 11
"""v06 is compiled for each shape; for larger masks that takes long, and it hands them to v05 in the end."""


def cases(tiny: bool) -> Iterator[tuple[str, str, int, Callable]]:
    """Yield (case, size in words, bytes that it has to move, a function that makes {name: function that launches}).

    So that what is not asked for is not compiled.
    """
    size = f"32 x 32, B = {BATCHES[0]} to {BATCHES[-1]:,}"
    yield "C1, batch by batch", size, 4 * (32 * 32 + 6 * 28 * 28), functools.partial(batches, tiny)
    for sweep in sweeps("gpu")[:1] if tiny else sweeps("gpu"):
        sweep = replace(sweep, B=2) if tiny else sweep
        moved = 4 * sweep.B * sweep.side**2 * (sweep.C + sweep.M)
        yield sweep.case, sweep.size, moved, functools.partial(crossing, sweep, tiny)


def batches(tiny: bool) -> dict[str, Callable]:
    """C1 for ever more images, by three rungs and by cuDNN: "v06_specialised, 64" is v06 for 64 images."""
    launches, w = {}, _normal(6, 1, 5, 5)
    for B in BATCHES[:2] if tiny else BATCHES:
        x = _normal(B, 1, 32, 32)
        launches |= {f"{n}, {B}": call for n, call in ways(x, w, ("v01", "v05b", "v06"), False, tiny).items()}
    return launches


def crossing(sweep: Sweep, tiny: bool) -> dict[str, Callable]:
    """Mask after mask for images of one size, direct and by transforms: "FFT in tiles, 5" is a mask of 5 x 5."""
    x, launches = _normal(sweep.B, sweep.C, sweep.side, sweep.side), {}
    for K in sweep.masks[1:3] if tiny else sweep.masks:
        rungs = ("v05_", "v06", "v08") if K <= LARGEST_GENERATED else ("v05_", "v08")
        w = _normal(*sweep.shapes(K)[1])
        launches |= {f"{n}, {K}": call for n, call in ways(x, w, rungs, True, tiny).items()}
    return launches


def ways(x, w, rungs: tuple[str, ...], transforms: bool, tiny: bool) -> dict[str, Callable]:
    """{name: function that launches} of convolving x (B, C, H, W) with w (M, C, K, K), by these rungs and others.

    AssertionError where one computes something else than the first.
    """
    s = sizes_of(x.shape, w.shape)
    y = with_numpy.nan((s.B, s.M, s.H_out, s.W_out))
    found = {
        NAMES.get(rung.name, rung.name): replayed(lambda rung=rung: rung.launch(x, w, None, y), (y,))
        for rung in LADDER
        if rung.name.startswith(rungs) and rung.takes(s)
    }
    if transforms:
        found |= {name: make().calls[0] for name, make in fft_players("forward", s, (x, w), lambda: (y,)).items()}
    if not tiny:
        found["cuDNN"] = with_torch.conv_forward_rivals(x, w, 1, 0)["cuDNN"].calls[0]
    compare(found, s)
    return found


def compare(found: dict[str, Callable], s: Sizes) -> None:
    """AssertionError where the first or the last image of one way is another than the first way's; s: all sizes."""
    expected = None
    for name, call in found.items():
        (y,) = call()
        ends = [_host(y[:1]), _host(y[s.B - 1 :])]
        if not hasattr(y, "cpu"):  # all but PyTorch write into one array: what the next one leaves out must be seen
            gpu.overwrite(y, np.full(y.shape, np.nan, np.float32))
        expected = expected or ends
        for one, other in zip(ends, expected, strict=True):
            allowed = 2 * EVEN_ERRORS[FLOAT32] * np.abs(other).max()
            np.testing.assert_allclose(one, other, rtol=0, atol=allowed, err_msg=f"{name}, {s}")


def _host(array):
    return array.cpu().numpy() if hasattr(array, "cpu") else gpu.to_host(array)


def _normal(*shape):
    return gpu.to_device(np.random.default_rng(len(shape)).standard_normal(shape, np.float32))
