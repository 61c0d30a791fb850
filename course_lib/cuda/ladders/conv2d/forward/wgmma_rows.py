"""Four warps multiply together, for few maps: an input row meets all mask rows at once, and running sums move down.

As in forward's v10, a row of pixels is split once and serves all K_h output rows that look at it. There a warp loads
the weights into registers, again for every row; here `wgmma` reads them from shared memory, all mask rows and maps side
by side, 56 to 112 columns, and the threads load pixels only:

    T[p, m, d]  =  sum over c, j of  x[c, r, D a + j] w[m, c, p, j - d]     places a, 64 of them, on tensor cores
    sums[p]     =  sums[p - 1] + T[p]                                       in float32, from the last p to the first

A place looks at 8 columns, one step of a tensor core for each input map. A mask of 7 columns leaves one over: with
D = 2 it belongs to the place's second column of output, whose mask begins one further. So the operand is band by band
the same weights, shifted, and nothing but the band's corners is multiplied by 0.

That the sum moves from p - 1 to p while r goes to r + 1 is what makes it the sum of one output row; the register that
it is written to makes the move free. After K_h rows it is done. Tensor cores cut off what does not fit into their sum,
so a sum is theirs for one input row, or a batch of its maps, and then the threads', which round.

An address that lies beyond a row is led to a zero behind the rows, once for all: the rest is as within.

The gradient for the input is the same sum: of dy, padded by what the masks reach over, with masks that are turned round
and whose maps change places. Rows of zeros are left out.

Source: NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix Instructions"; H, "Specialization for the LeNet-5 C1
Layer", "Back-propagation dE/dX for a convolutional layer"; H. Ootomo and R. Yokota, "Recovering single precision
accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance" (2022).
"""

import functools

import numpy as np

from course_lib import gpu
from course_lib.cuda import hopper
from course_lib.cuda.hopper import (
    shared_address,
    shared_to_async,
    wgmma_commit,
    wgmma_fence,
    wgmma_wait0,
)
from course_lib.cuda.intrinsics import (
    bits_float,
    cp_async4,
    cp_async16,
    cp_async_commit,
    cp_async_wait0,
    cp_async_wait1,
    nonneg,
    st2,
)
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.forward.wgmma_plan import SLAB, WINDOW
from course_lib.cuda.ladders.conv2d.two_parts import two_parts
from course_lib.cuda.ladders.gemm.hopper_tiles import start_of
from course_lib.cuda.numba_cuda import cuda, float32, int32, uint32, uint64
from course_lib.cuda.swizzle import K_MAJOR
from course_lib.cuda.unroll import unroll

ARRANGING = 256


@jit(cache=True)
def _arrange_wgmma(w, b, biased, turned, D, block, slabs, arranged):
    """arranged[part, slab, column, place] = a weight's part, as it will lie in shared memory; behind that the bias.

    Column p `block` + m D + d, k = 8 c + j: the weight of mask row p, column j - d. In a row of 32 floats the groups of
    four change places: group x of row n lies at x ^ (n % 8). turned: w is (c, m, p, q), and p and q count backwards.
    """
    K_h, K_w = w.shape[2], w.shape[3]
    M, C = w.shape[0], w.shape[1]
    if turned:
        M, C = C, M
    columns = K_h * block
    part = slabs * columns * SLAB
    i = nonneg(cuda.grid(1))
    if i < arranged.size:
        if i >= 2 * part:
            value = float32(0)
            if biased:
                value = b[i - 2 * part]
        else:
            place, column, slab = i % SLAB, i // SLAB % columns, i // SLAB // columns % slabs
            k = slab * SLAB + (place // 4 ^ column % 8) * 4 + place % 4
            c, p, e = k // WINDOW, column // block, column % block
            m, q = e // D, k % WINDOW - e % D
            value = float32(0)
            if m < M and c < C and q >= 0 and q < K_w:
                value = w[c, m, K_h - 1 - p, K_w - 1 - q] if turned else w[m, c, p, q]
            big, small = two_parts(value)
            value = bits_float(big if i < part else small)
        arranged[i] = value


@functools.lru_cache(maxsize=64)
def make(plan, biased):
    """Return the kernel (x, arranged, B, y) of a WgmmaPlan; biased: whether a bias is added.

    No errors of its own. Source: the course's own.
    """
    s, D = plan.s, plan.D
    C, M, H, W, K_h, p_h, p_w, H_OUT, W_OUT = s.C, s.M, s.H, s.W, s.K_h, s.p_h, s.p_w, s.H_out, s.W_out
    THREADS, BLOCKS, PLACES, ACROSS, IMAGES = plan.threads, plan.blocks, plan.places, plan.across, plan.images
    MASKS, PART, PIECE, RUN, ZERO, PLANE = plan.masks, plan.part, plan.piece, plan.run, plan.zero, plan.plane
    STAGE, STAGES, RS, TURNS, AFTER = plan.stage, plan.STAGES, plan.RS, plan.turns, s.p_h
    HW, MAP, END, AHEAD = H * W, H_OUT * W_OUT, MASKS + STAGES * STAGE, STAGES - 1
    PIECES, COPIES, FOURS = RUN // PIECE, C * IMAGES * (RUN // PIECE), MASKS // 4
    ROW, RESULTS, LAST, BATCHES, BATCH = plan.block // 2, plan.columns // 2, K_h - 1, plan.batches, plan.batch
    EIGHTS, SLAB_STEP, SMALL = plan.block // 8, plan.columns * SLAB // 4, PART // 4  # in 16 bytes
    USED, ZEROS = s.K_w + D - 1, plan.zeros
    KEPT = LAST if BATCHES > 1 else LAST - 1  # the last mask row's sum is complete when the row's only batch is
    SUMS = (KEPT + 1) * ROW
    BUFFERS, END_TURNS = min(2, plan.batches), max(1, s.p_h)
    LEFT, DOWN = BUFFERS * 8 * BATCH, 8 // D if D > 1 else 8  # maps from one eight columns to the next
    SECOND = MAP if D == 1 else 1  # from a thread's first column to its neighbour
    NEXT_MAP = 1 if D == 1 else 0
    PAIRS = D > 1 and W_OUT % 2 == 0
    BIASES = EIGHTS * (1 + NEXT_MAP)
    DESCRIPTOR = uint64(K_MAJOR)
    wgmma = getattr(hopper, f"wgmma_tf32_n{plan.columns}")
    wait = cp_async_wait0 if STAGES == 2 else cp_async_wait1

    @jit(device=True, forceinline=True)
    def fetch(x, B, first, turn, to, shared):
        """Begin to copy RS rows of all input maps of the images from number `first` on to the stage at `to`."""
        for i in range(nonneg(cuda.threadIdx.x), COPIES, THREADS):
            i = uint32(i)  # divisions of 32 bits are multiplications
            line, off = uint32(i // PIECES), i % PIECES * PIECE
            n, c, k = first + line % IMAGES, line // IMAGES, turn * RUN + off
            at = to + c * PLANE + line % IMAGES * RUN + off
            if n < B and k < HW:
                if PIECE == 4:
                    cp_async16(shared, nonneg(at), x, nonneg((n * C + c) * HW + k))
                else:
                    cp_async4(shared, nonneg(at), x, nonneg((n * C + c) * HW + k))

    @jit(device=True, forceinline=True)
    def add(sums, T, batch):
        """Add a batch of products to the running sums, which move to the next mask row with the first one."""
        if batch == 0:
            for p in unroll(KEPT):
                for i in range(ROW):
                    sums[(KEPT - p) * ROW + i] = sums[(KEPT - 1 - p) * ROW + i] + T[(KEPT - p) * ROW + i]
            for i in range(ROW):
                sums[i] = T[i] + float32(0)  # not the same number in the same register: that is the tensor cores'
        else:
            for i in range(SUMS):
                sums[i] += T[i]

    @jit(device=True, forceinline=True)
    def write(y, out, valid, h, o, eight, even, odd):
        """Write a thread's two neighbouring columns of place `o`, row h."""
        t = cuda.threadIdx.x & 3
        m, d = eight * DOWN + 2 * t // D, 2 * t % D
        to = out[o] + h * W_OUT + eight * DOWN * MAP
        if m < M:
            if PAIRS:
                if d < valid[o]:
                    st2(y, nonneg(to), even, odd)
            else:
                if d < valid[o]:
                    y[nonneg(to)] = even
                if D == 1:
                    if m + 1 < M and valid[o] > 0:
                        y[nonneg(to + SECOND)] = odd
                elif d + 1 < valid[o]:
                    y[nonneg(to + SECOND)] = odd

    @jit(cache=True, launch_bounds=(THREADS, BLOCKS))
    def _conv2d_wgmma(x, w, B, y):
        # who am I
        shared = cuda.shared.array(0, float32, 1024)  # weights, then stages of x
        T, sums = cuda.local.array(RESULTS, float32), cuda.local.array(SUMS, float32)
        left = cuda.local.array(LEFT, uint32)  # of a batch and the next: for each step four big parts and four small
        bias = cuda.local.array(BIASES, float32)
        base = cuda.local.array(4, int32)  # rows g and g + 8, k t and t + 4
        out, valid = cuda.local.array(2, int32), cuda.local.array(2, int32)
        thread, block = nonneg(cuda.threadIdx.x), nonneg(cuda.blockIdx.x)
        g, t = thread % 32 // 4, thread % 4
        place0, total = block * PLACES, B * ACROSS
        first = int32(place0 // ACROSS)
        weights = shared_address(shared, 0)
        for o in unroll(2):
            mine = place0 + thread // 32 * 16 + g + 8 * o
            place = min(mine, total - 1)
            image, column = place // ACROSS, place % ACROSS * D
            out[o] = (image * M + 2 * t // D) * MAP + column + 2 * t % D
            valid[o] = min(D, W_OUT - column) if mine < total else 0
            for h in unroll(2):
                j = t + 4 * h
                at = column - p_w + j
                base[2 * h + o] = (image - first) * RUN + at
                if at < 0 or at >= W or j >= USED:
                    base[2 * h + o] = ZERO
        for i in range(RESULTS):
            T[i] = float32(0)
        for i in range(SUMS):
            sums[i] = float32(0)
        if biased:
            for i in unroll(BIASES):
                m = i // (1 + NEXT_MAP) * DOWN + 2 * t // D + i % (1 + NEXT_MAP)
                bias[i] = w[MASKS + m] if m < M else float32(0)
        # fill all stages but one
        if ZEROS:
            for i in range(thread, STAGES * C * RS, THREADS):
                shared[MASKS + i // RS * PLANE + ZERO + i % RS * W] = float32(0)
        for i in range(thread, FOURS, THREADS):
            cp_async16(shared, 4 * i, w, 4 * i)
        for turn in range(AHEAD):
            if turn < TURNS:
                fetch(x, B, first, turn, MASKS + turn * STAGE, shared)
            cp_async_commit()
        stage, free = int32(MASKS), int32(MASKS + AHEAD * STAGE)
        for turn in range(int32(TURNS)):
            wait()  # my copies to this stage are there,
            if turn == 0:
                shared_to_async()  # and the tensor cores see those of the weights
            cuda.syncthreads()  # everybody's are, and nobody reads the stage that was used last
            if turn + AHEAD < TURNS:
                fetch(x, B, first, turn + AHEAD, free, shared)
            cp_async_commit()
            for line in range(int32(RS)):
                r = int32(turn * RS + line)
                if r < H:
                    # compute: small products first; while tensor cores have a batch, the next one is loaded
                    at = int32(stage + line * W)
                    right = DESCRIPTOR | start_of(weights)
                    for batch in unroll(BATCHES):
                        o = batch % BUFFERS * 8 * BATCH
                        for k in unroll(BATCH):
                            c = batch * BATCH + k
                            if c < C:
                                for i in unroll(4):
                                    big, small = two_parts(shared[nonneg(at + base[i] + c * PLANE)])
                                    left[o + 8 * k + i], left[o + 8 * k + 4 + i] = big, small
                        if batch == 0:
                            cuda.syncwarp()  # copies and stores may have split a warp, which multiplies as one
                        else:
                            wgmma_wait0()
                            add(sums, T, batch - 1)
                        wgmma_fence()
                        for k in unroll(BATCH):
                            c = batch * BATCH + k
                            if c < C:
                                here = right + uint64(c // 4 * SLAB_STEP + c % 4 * 2)
                                wgmma(T, 0, left, o + 8 * k + 4, here, 1 if k > 0 else 0)
                        for k in unroll(BATCH):
                            c = batch * BATCH + k
                            if c < C:
                                here = right + uint64(c // 4 * SLAB_STEP + c % 4 * 2 + SMALL)
                                wgmma(T, 0, left, o + 8 * k, here, 1)
                        for k in unroll(BATCH):
                            c = batch * BATCH + k
                            if c < C:
                                here = right + uint64(c // 4 * SLAB_STEP + c % 4 * 2)
                                wgmma(T, 0, left, o + 8 * k, here, 1)
                        wgmma_commit()
                    wgmma_wait0()
                    # write what is complete
                    h = int32(r + p_h - LAST)
                    if h >= 0 and h < H_OUT:
                        for eight in unroll(EIGHTS):
                            for o in unroll(2):
                                i = 4 * eight + 2 * o
                                even = sums[KEPT * ROW + i] + T[LAST * ROW + i]
                                odd = sums[KEPT * ROW + i + 1] + T[LAST * ROW + i + 1]
                                if biased:
                                    even += bias[eight * (1 + NEXT_MAP)]
                                    odd += bias[eight * (1 + NEXT_MAP) + NEXT_MAP]
                                write(y, out, valid, h, o, eight, even, odd)
                    add(sums, T, BATCHES - 1)
            free = stage
            stage = int32(stage + STAGE if stage + STAGE < END else MASKS)
        # rows that end below the last one
        if AFTER > 0:
            for k in unroll(END_TURNS):
                for eight in unroll(EIGHTS):
                    for o in unroll(2):
                        i = (LAST - 1 - k) * ROW + 4 * eight + 2 * o
                        even, odd = sums[i], sums[i + 1]
                        if biased:
                            even += bias[eight * (1 + NEXT_MAP)]
                            odd += bias[eight * (1 + NEXT_MAP) + NEXT_MAP]
                        write(y, out, valid, H_OUT - AFTER + k, o, eight, even, odd)

    return _conv2d_wgmma


def launch(plan, x, w, b, y, *, turned=False):
    """Arrange the weights, and launch the kernel of a WgmmaPlan on device arrays (...); b: (M,) or None.

    turned: x is dy, y is dx, and the plan is of that sum; w is forward's. No errors. Source: the course's own.
    """
    biased = b is not None
    arranged = gpu.empty(plan.masks + biased * plan.s.M, np.float32)
    bias = b if biased else w.reshape(w.size)
    _arrange_wgmma[-(-arranged.size // ARRANGING), ARRANGING](
        w, bias, biased, turned, plan.D, plan.block, plan.slabs, arranged
    )
    B = int(x.shape[0])
    make(plan, biased)[plan.grid(B), plan.threads, 0, plan.shared](x.reshape(x.size), arranged, B, y.reshape(y.size))
