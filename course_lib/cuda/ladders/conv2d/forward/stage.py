"""How v06 and v07 bring a part of the input, and the masks that belong to it, into shared memory.

A stage has BC input maps of NI images, the rows that a block looks at, with the padding around them as zeros; then as
many floats of arranged masks as the plan says. Copies are asynchronous: threads go on, and wait when they need them.

Source: NVIDIA, "PTX ISA", "cp.async"; H, "Shared Tile for LeNet-5 C1 Layer".
"""

import functools

from course_lib.cuda.intrinsics import cp_async4_part, cp_async16, cp_async16_part, nonneg
from course_lib.cuda.jit import jit
from course_lib.cuda.numba_cuda import cuda


@functools.lru_cache(maxsize=128)
def make_fetch(plan):
    """Return the device function that starts to copy a chunk into its stage. No errors. Source: the course's own."""
    s = plan.s
    H, W, CHW, HW, s_h, p_h, p_w = s.H, s.W, s.C * s.H * s.W, s.H * s.W, s.s_h, s.p_h, s.p_w
    PITCH, IMAGE, STAGE, PLANE = plan.pitch, plan.image, plan.stage, plan.rows * plan.pitch
    THREADS, CHUNKS, MASKS, BC, WHOLE = plan.threads, plan.chunks, plan.masks, plan.BC, plan.whole
    # Pieces of four are copied where rows begin at multiples of four; else number by number.
    PIECE = 4 if WHOLE or (W % 4 == 0 and p_w == 0) else 1
    PIECES = plan.NI * IMAGE // PIECE

    @jit(device=True, forceinline=True)
    def fetch(x, w, B, first, top, map_block, chunk, xs, ws):
        t, to = nonneg(cuda.threadIdx.x), chunk % 2 * STAGE
        for i in range(t, PIECES, THREADS):
            at = i * PIECE
            n, k = at // IMAGE, first * CHW + top * s_h * W + at
            inside = first + n < B
            if not WHOLE:
                c = chunk * BC + at % IMAGE // PLANE
                h, v = top * s_h + at % PLANE // PITCH - p_h, at % PITCH - p_w
                k = (first + n) * CHW + c * HW + h * W + v
                inside = inside and h >= 0 and h < H and v >= 0 and v < W
            if not inside:
                k = 0
            if PIECE == 4:
                cp_async16_part(xs, nonneg(to + at), x, nonneg(k), 4 if inside else 0)
            else:
                cp_async4_part(xs, nonneg(to + at), x, nonneg(k), 1 if inside else 0)
        for i in range(t, MASKS // 4, THREADS):
            cp_async16(ws, chunk % 2 * MASKS + i * 4, w, ((map_block * CHUNKS + chunk) * MASKS + i * 4))

    return fetch
