"""Images stream past blocks that stay: a layer of few maps is bound by memory, and its blocks must never wait for it.

v06 starts a block for an image: it waits for the image, computes, writes and ends. Here as many blocks as a card holds
at a time go through all images; while they compute with some, the next ones are on their way. A thread has 4
neighbouring columns, so that windows and results are accesses of 16 bytes, and what it reads serves more products. Rows
lie so far apart in shared memory that threads of two rows do not meet in a bank. Blocks turn the weights round
themselves: no kernel goes before this one.

Source: H, "Specialization for the LeNet-5 C1 Layer"; M. Harris, "CUDA Pro Tip: Write Flexible Kernels with Grid-Stride
Loops"; the course's own.
"""

import functools
from dataclasses import replace

from course_lib.cuda.capability import compute_capability
from course_lib.cuda.intrinsics import cp_async16, cp_async_commit, cp_async_wait0, ld2, ld4, nonneg, st4
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.planned import AMPERE, launch_planned
from course_lib.cuda.ladders.conv2d.forward.stream_plan import WIDE, plan_stream
from course_lib.cuda.ladders.conv2d.forward.v06_specialised import conv2d_forward_v06_specialised
from course_lib.cuda.numba_cuda import cuda, float32, uint32
from course_lib.cuda.unroll import unroll


@functools.lru_cache(maxsize=64)
def make(plan):
    """Return the kernel of a StreamPlan. No errors of its own. Source: the course's own."""
    s = plan.s
    C, M, H, K_h, K_w, W_OUT, DEPTH = s.C, s.M, s.H, s.K_h, s.K_w, s.W_out, s.depth
    THREADS, BLOCKS, TH, NI, DOWN, ACROSS = plan.threads, plan.blocks, plan.TH, plan.NI, plan.down, plan.across
    PITCH, IMAGE, WINDOW, MAPS, MASKS, UNITS = plan.pitch, plan.image, plan.window, plan.maps, plan.masks, plan.units
    STAGE, CHW, MAP, PIECES, LINES = NI * plan.image, s.C * s.H * s.W, s.H_out * s.W_out, s.W // 4, s.C * s.H
    COPIES, SUMS, SEEN = -(-NI * LINES * PIECES // THREADS), 4 * M * TH, TH * plan.window
    FOURS, TWO, ONE = (M + 1) // 4, M % 4 == 2, M % 4 == 1

    @jit(device=True, forceinline=True)
    def fetch(x, B, first, to, shared):
        """Begin to copy NI images from number `first` on to shared[to] and on; the last one where there is none."""
        if first < B:
            for n in unroll(COPIES):
                i = uint32(uint32(cuda.threadIdx.x) + n * THREADS)  # divisions of 32 bits are multiplications
                if i < NI * LINES * PIECES:
                    line, image = uint32(i // PIECES), first
                    if NI > 1:
                        image = min(uint32(first + line // LINES), uint32(B - 1))
                    k = uint32(image * CHW + i % (LINES * PIECES) * 4)
                    cp_async16(shared, uint32(to + line * PITCH + i % PIECES * 4), x, k)
        cp_async_commit()

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _conv2d_forward_v11(x, w, b, biased, images, y):
        # Who am I: threads without work do the last one's again, and write nothing.
        shared = cuda.shared.array(0, float32, 16)  # weights and biases, then two stages
        acc, seen = cuda.local.array(SUMS, float32), cuda.local.array(SEEN, float32)
        ws = cuda.local.array(MAPS, float32)
        t = nonneg(cuda.threadIdx.x)
        u = min(t, UNITS - 1)
        col, row, image = u % ACROSS * 4, u // ACROSS % DOWN, u // (ACROSS * DOWN)
        B, step = uint32(images), uint32(uint32(cuda.gridDim.x) * NI)
        first, here = uint32(uint32(cuda.blockIdx.x) * NI), uint32(MASKS)
        fetch(x, B, first, here, shared)
        for i in range(t, MASKS, THREADS):  # the weights of one place, side by side; the biases
            m, k, value = i % MAPS, i // MAPS, float32(0)
            if m < M and k < DEPTH:
                value = w[m * DEPTH + k]
            if m < M and k == DEPTH and biased:
                value = b[m]
            shared[i] = value
        while first < B:
            cp_async_wait0()
            cuda.syncthreads()  # this stage is there, and nobody reads the other any more
            there = uint32(2 * MASKS + STAGE - here)
            fetch(x, B, uint32(first + step), there, shared)
            at_x, at_w = nonneg(here) + image * IMAGE + row * PITCH + col, 0
            for m in range(M):
                bias = shared[nonneg(DEPTH * MAPS + m)]
                for i in range(4 * TH):
                    acc[m * (4 * TH) + i] = bias
            for _ in range(C):
                for _ in range(K_h):
                    for i in range(TH):
                        for j in range(0, WINDOW, 4):
                            o, k = i * WINDOW + j, nonneg(at_x + i * (DOWN * PITCH) + j)
                            seen[o], seen[o + 1], seen[o + 2], seen[o + 3] = ld4(shared, k)
                    for q in unroll(K_w):
                        for m in range(FOURS):
                            k = nonneg(at_w + q * MAPS + 4 * m)
                            ws[4 * m], ws[4 * m + 1], ws[4 * m + 2], ws[4 * m + 3] = ld4(shared, k)
                        if TWO:
                            ws[M - 2], ws[M - 1] = ld2(shared, nonneg(at_w + q * MAPS + 4 * FOURS))
                        if ONE:
                            ws[M - 1] = shared[nonneg(at_w + q * MAPS + M - 1)]
                        for m in range(M):
                            for i in range(TH):
                                for j in range(4):
                                    acc[(m * TH + i) * 4 + j] += ws[m] * seen[i * WINDOW + j + q]
                    at_x += PITCH
                    at_w += K_w * MAPS
                at_x += (H - K_h) * PITCH
            if t < UNITS and first + image < B:
                for m in range(M):
                    for i in range(TH):
                        o, to = (m * TH + i) * 4, (nonneg(first) + image) * M + m
                        k = nonneg(to * MAP + (row + i * DOWN) * W_OUT + col)
                        st4(y, k, acc[o], acc[o + 1], acc[o + 2], acc[o + 3])
            first, here = uint32(first + step), there

    return _conv2d_forward_v11


made_for = plan_stream
"""Sizes -> the plan for a layer that this rung is made for, or None."""


def conv2d_forward_v11_streamed(x, w, b, y, stride=(1, 1), pad=(0, 0)):
    """Write x (B, C, H, W) convolved with w (M, C, K_h, K_w), plus b (M,) or None, into y (B, M, H_out, W_out).

    Layers with a stride, with padding, of more than 4 input or 8 output maps, or whose rows are no whole accesses of 16
    bytes, and cards before compute capability 8.0, are v06's work.

    Errors: TypeError and ValueError as `check_launch`. Source: H, "Specialization for the LeNet-5 C1 Layer".
    """
    launch_planned(x, w, b, y, stride, pad, plan_of=plan_stream, launch=launch,
                   otherwise=conv2d_forward_v06_specialised, here=compute_capability() >= AMPERE)  # fmt: skip


def launch(plan, x, w, b, biased, y):
    """Launch the kernel of a StreamPlan on checked arrays (...). No errors. Source: the course's own."""
    B = int(x.shape[0])
    flat = (array.reshape(array.size) for array in (x, w))
    make(plan)[plan.grid(B), plan.threads, 0, plan.shared](*flat, b, biased, B, y.reshape(y.size))


def traffic(s):
    """Return what the executor counts, for Sizes with a bias where NI divides B.

    No errors. Source: the course's own.
    """
    p = plan_stream(replace(s, B=0))
    blocks, units, warps = p.grid(s.B), s.B // p.NI, p.threads // 32
    pieces = -(-p.NI * s.C * s.H * (s.W // 4) // 32)
    weights = (s.M + 1) // 4 + (s.M % 4 in (1, 2))
    return {
        "global_load_requests": blocks * _weights(p) + units * pieces,
        "global_store_requests": units * warps * s.M * p.TH,
        "shared_load_requests": units * warps * (s.C * s.K_h * (p.TH * p.window // 4 + s.K_w * weights) + s.M),
        "flops": 2 * units * p.threads * s.M * p.TH * WIDE * s.depth,
    }


def _weights(p):
    """Return the requests for weights, and for biases, of a block."""
    wanted = set()
    for i in range((p.s.depth + 1) * p.maps):
        if i % p.maps < p.s.M:
            wanted.add((i // 32, i // p.maps == p.s.depth))
    return len(wanted)
