"""One thread that follows a chain of loads: the latency of shared memory, of the L1 and L2 caches and of DRAM.

Source: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018).
"""

import numpy as np

from course_lib import gpu
from course_lib.cuda.numba_cuda import cuda, uint32
from tools.microbench.runs import Run

KIB, MIB = 2**10, 2**20
LINE = 32
"""uint32 in a line of 128 bytes: the chain has one link in each."""
STEP = 17
"""Shared memory: links lie so many words apart, so no two in one bank follow each other."""


@gpu.jit
def _chase(links, turns, first, out):
    k = uint32(first)
    for _ in range(turns):
        k = links[k]
    out[0] = k


@gpu.jit
def _chase_shared(links, turns, out):
    s = cuda.shared.array(1024, uint32)
    for i in range(1024):
        s[i] = links[i]
    k = uint32(0)
    for _ in range(turns):
        k = s[k]
    out[0] = k


def chain(lines, rng):
    """Return links (lines * LINE,) uint32 that lead once through all lines in random order, and back. No errors."""
    order = np.concatenate([[0], 1 + rng.permutation(lines - 1)]).astype(np.uint32) * np.uint32(LINE)
    links = np.zeros(lines * LINE, np.uint32)
    links[order] = np.roll(order, -1)
    return links


def runs(tiny):
    """Return {name: `Run`}; `tiny` for a smoke test. Source: the course's own."""
    rng, out = np.random.default_rng(0), gpu.to_device(np.zeros(1, np.uint32))
    turns = 8 if tiny else 4096
    shared = gpu.to_device(((np.arange(1024) + STEP) % 1024).astype(np.uint32))
    found = {}
    for times in (1, 4):  # their difference has no launch and no filling of shared memory in it
        found[f"chase shared memory, {times * turns} links"] = Run(
            lambda t=times * turns: _chase_shared[1, 1](shared, t, out), times * turns, "links"
        )
    sizes = {"1 KiB": KIB} if tiny else {
        "16 KiB": 16 * KIB, "128 KiB": 128 * KIB, "1 MiB": MIB, "4 MiB": 4 * MIB, "16 MiB": 16 * MIB,
        "32 MiB": 32 * MIB,
    }  # fmt: skip
    for name, size in sizes.items():
        links = gpu.to_device(chain(size // 4 // LINE, rng))
        whole = size // 4 // LINE if size >= MIB // 4 else turns  # goes through all of it: it is in L2
        for times in (1, 4):
            t = times * max(turns, min(whole, 1 << 15))
            found[f"chase {name}, {t} links"] = Run(lambda a=links, t=t: _chase[1, 1](a, t, 0, out), t, "links")
    lines = 64 if tiny else 2**22  # 512 MiB; each call follows another quarter, so that no cache has it
    host = chain(lines, rng)
    sparse = dict(zip(range(0, host.size, LINE), host[::LINE].tolist(), strict=True))
    order, k = [], 0
    for _ in range(4):
        order.append(k)
        k = _after(sparse, k, lines // 4)
    links, t = gpu.to_device(host), lines // 4
    calls = [lambda k=k: _chase[1, 1](links, t, k, out) for k in order]
    found[f"chase DRAM, {t} links"] = Run(calls, t, "links")
    return found


def _after(links, k, turns):
    """Return where a chain of links is after so many turns from k on."""
    for _ in range(turns):
        k = links[k]
    return k
