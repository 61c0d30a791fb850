# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 17 · Exercises: tensor cores
#
# You round numbers by their bits, find out which lane holds what, get lost digits back, keep a loss scale, prune, move
# a systolic array by one beat, and write a product for tensor cores. The sheet belongs to lesson 17,
# [Tensor cores](../notebooks/17_tensor_cores.ipynb). A warm-up takes about five minutes, a core exercise ten to twenty,
# a stretch half an hour.
#
# No GPU is needed. The check of the last exercise runs your kernel in the course's executor, and looks at its values,
# its hazards and the budget that the statement names.

# %%
import numpy as np
from numba import cuda, float32

from course_lib import gpu
from course_lib.checks import check
from course_lib.cuda.intrinsics import mma_bf16, to_bf16_pair
from course_lib.reference.formats import round_to

# %% [markdown]
# ## 17.1 · What a format can hold
#
# *2 points, warm-up. Trains: what the bits of a format mean. (Owens, "Tesla V100 Tensor Cores")*
#
# A format has $e$ bits of exponent and $f$ of fraction. A stored exponent $E$ from 1 on means $2^{E - b} \cdot
# (1 + F/2^f)$, where $F$ is the stored fraction and $b = 2^{e-1} - 1$. The highest $E$, all ones, is kept for infinity
# and NaN. $E = 0$ means $2^{1-b} \cdot F/2^f$, a subnormal number.
#
# Return four numbers: the largest finite number, the smallest one with all digits ($E = 1$), the smallest one above 0,
# and the step from 1 to the next number.
#
# Specification, by an example: `limits(5, 10)`, which is FP16, is 65,504, 2⁻¹⁴, 2⁻²⁴ and 2⁻¹⁰.
#
# <details><summary>Hint 1</summary>
#
# $E$ has $2^e$ values. Which is the highest that a finite number may have, and what is $E - b$ then?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The largest $F$ is $2^f - 1$, so the largest number is nearly twice a power of two.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `2.0**b * (2 - 2.0**-f)` is the largest, since the highest $E$ of a number is $2b$. The smallest has $E = 0$ and
# $F = 1$.
#
# </details>

# %% exercise="17.1"
def limits(exponent_bits, fraction_bits):
    """Return (largest, smallest with all digits, smallest, step after 1) of a format with infinities."""
    ### BEGIN SOLUTION
    bias = 2 ** (exponent_bits - 1) - 1
    step = 2.0**-fraction_bits
    normal = 2.0 ** (1 - bias)
    return 2.0**bias * (2 - step), normal, normal * step, step
    ### END SOLUTION


# %% check="17.1"
check("17.1", limits)

# %% [markdown]
# ## 17.2 · Round by bits
#
# *3 points, core. Trains: rounding to even on the bits of a float32. (NVIDIA, "PTX ISA", "cvt")*
#
# BF16 is the upper half of a float32. Return x, an array of float32, rounded to BF16: to the nearest number that has
# only zeros in its lower 16 bits, and halves to the one whose bit 16 is 0. The result is float32. x may hold
# infinities, which stay, but no NaN.
#
# `x.view(np.uint32)` gives the bits as whole numbers, and `bits.view(np.float32)` the way back. `round_to` may not be
# used here.
#
# Specification: `to_bf16(np.float32([1 + 2**-8, 1 + 3 * 2**-8, 257]))` is 1, 1 + 4 · 2⁻⁸ and 256.
#
# <details><summary>Hint 1</summary>
#
# Cutting alone always rounds down. What must be added before, so that more than half of a step carries into bit 16, and
# less does not?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Half of a step is 0x8000. With 0x7FFF exactly half does not carry; it must, if bit 16 is 1.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `(bits >> 16) & 1` is bit 16. `(bits + 0x7FFF + that) & 0xFFFF0000` are the bits of the result. If the fraction runs
# over, the carry goes into the exponent, and that is right.
#
# </details>

# %% exercise="17.2"
def to_bf16(x):
    """Return x (n,) float32, rounded to BF16, as float32."""
    ### BEGIN SOLUTION
    bits = x.view(np.uint32)
    last = (bits >> 16) & 1
    return ((bits + 0x7FFF + last) & 0xFFFF0000).view(np.float32)
    ### END SOLUTION


# %% check="17.2"
check("17.2", to_bf16)

# %% [markdown]
# ## 17.3 · Who holds A[row, k]?
#
# *3 points, core. Trains: a fragment, from the element's side. (NVIDIA, "PTX ISA", "Matrix Fragments for
# mma.m16n8k16")*
#
# In `mma_bf16` A is 16 × 16, and a lane holds eight of its numbers, in four registers of two each. With
# `g = lane // 4` and `q = lane % 4`:
#
# | register | lower half | upper half |
# |---|---|---|
# | 0 | A[g, 2 q] | A[g, 2 q + 1] |
# | 1 | A[g + 8, 2 q] | A[g + 8, 2 q + 1] |
# | 2 | A[g, 2 q + 8] | A[g, 2 q + 9] |
# | 3 | A[g + 8, 2 q + 8] | A[g + 8, 2 q + 9] |
#
# Turn the table round. Return three whole numbers for the element A[row, k]: the lane that holds it, the register, and
# the half, 0 for the lower one.
#
# Specification, by examples: `holder(0, 0)` is (0, 0, 0), `holder(1, 3)` is (5, 0, 1), `holder(9, 2)` is (5, 1, 0).
#
# <details><summary>Hint 1</summary>
#
# Which lanes hold row 1, and which row 9? What does the row say about the lane, and what about the register?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `row % 8` is g. Within eight neighbouring k, two at a time belong to a lane.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# The lane is `4 * (row % 8) + k % 8 // 2`, the half is `k % 2`. Rows from 8 on add 1 to the register, k from 8 on 2.
#
# </details>

# %% exercise="17.3"
def holder(row, k):
    """Return (lane, register, half) of A[row, k] in mma_bf16; row and k are 0 to 15."""
    ### BEGIN SOLUTION
    lane = 4 * (row % 8) + k % 8 // 2
    return lane, row // 8 + 2 * (k // 8), k % 2
    ### END SOLUTION


# %% check="17.3"
check("17.3", holder)

# %% [markdown]
# ## 17.4 · Digits back
#
# *3 points, core. Trains: splitting, and which products matter. (Ootomo and Yokota, 2022)*
#
# A is (M, K), B is (K, N), float32. Cut each into two parts of BF16: `big` is the number rounded, `small` is what is
# left, rounded too. Return the sum of three products: small A times big B, big A times small B, and big A times big B.
# The products are to be those of float32 arrays, `@`. `round_to(x, "bf16")` rounds.
#
# With one product the error is a 400th of a number, with three about 500 times less.
#
# <details><summary>Hint 1</summary>
#
# x - big is exact in float32. It has up to 16 digits, so it must be rounded once more.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Split A and split B by the same two lines, then write down all four products that (big + small)(big + small) has.
# Which one is asked for not to be there?
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `big = round_to(A, "bf16")`, `small = round_to(A - big, "bf16")`, and the same for B. Add the small products first.
#
# </details>

# %% exercise="17.4"
def three_products(A, B):
    """Return about A @ B (M, N) from three products of BF16 numbers; A (M, K) and B (K, N) are float32."""
    ### BEGIN SOLUTION
    a, b = round_to(A, "bf16"), round_to(B, "bf16")
    a_rest, b_rest = round_to(A - a, "bf16"), round_to(B - b, "bf16")
    return a_rest @ b + a @ b_rest + a @ b
    ### END SOLUTION


# %% check="17.4"
check("17.4", three_products)

# %% [markdown]
# ## 17.5 · A loss scale that finds itself
#
# *3 points, core. Trains: unscale, skip, halve, double. (Micikevicius et al., 2018, "Mixed Precision Training")*
#
# The loss was multiplied by `scale`, so the gradients `scaled`, an array like the weights w, are as many times too
# large. `good` counts the steps that went well since the scale was last changed. Make one step:
#
# - if a gradient is infinite or NaN, leave w as it is, halve the scale, and count from 0 again;
# - else divide the gradients by the scale, move w by `lr` times that, downhill, and count this step. If there are
#   `grow_after` good ones now, double the scale and count from 0 again.
#
# Return w, the scale and the count. Do not change the arrays that you are given.
#
# Specification, by an example: with w = 1, scaled = 64, scale = 16, good = 3, lr = 0.1 and grow_after = 200 the result
# is 0.6, 16 and 4.
#
# <details><summary>Hint 1</summary>
#
# `np.isfinite(scaled).all()` is True if no number is infinite or NaN. Look before you step.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The gradients belong to the scale that they were computed with: divide by it before you change it.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# Begin with the bad case and return from it: `return w, scale / 2, 0`. Then `w = w - lr * scaled / scale`, which makes
# a new array, and `good = good + 1`; one `if` is left.
#
# </details>

# %% exercise="17.5"
def scaled_step(w, scaled, scale, good, lr, grow_after):
    """Return (w (n,), scale, good) after a step with gradients scaled (n,) of a loss times scale."""
    ### BEGIN SOLUTION
    if not np.isfinite(scaled).all():
        return w, scale / 2, 0
    w, good = w - lr * scaled / scale, good + 1
    if good == grow_after:
        return w, scale * 2, 0
    return w, scale, good
    ### END SOLUTION


# %% check="17.5"
check("17.5", scaled_step)

# %% [markdown]
# ## 17.6 · Two of four
#
# *2 points, warm-up. Trains: structured sparsity along the axis of the sum. (Mishra et al., 2021)*
#
# w is (K, N), the weights of a layer x @ w, and K is a multiple of 4. The sum runs down a column. Of each four
# neighbours in a column, rows 0 to 3, 4 to 7 and so on, keep the two that are largest in size and set the other two to
# zero. No two of a four are of the same size. Return a new array.
#
# Specification, by an example: the column 1, -5, 3, 0.5 becomes 0, -5, 3, 0.
#
# <details><summary>Hint 1</summary>
#
# `w.reshape(K // 4, 4, N)` has an axis for the four. What should be compared along it?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Sort the sizes of each four: the third smallest is the smallest that stays.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `limit = np.sort(np.abs(fours), axis=1)[:, 2:3]` has the shape (K / 4, 1, N). `np.where(np.abs(fours) >= limit, fours,
# 0)` keeps two of each; then reshape back.
#
# </details>

# %% exercise="17.6"
def prune(w):
    """Return w (K, N) with the two smallest of each four in a column set to zero."""
    ### BEGIN SOLUTION
    fours = w.reshape(-1, 4, w.shape[1])
    limit = np.sort(np.abs(fours), axis=1)[:, 2:3]
    return np.where(np.abs(fours) >= limit, fours, 0).reshape(w.shape)
    ### END SOLUTION


# %% check="17.6"
check("17.6", prune)

# %% [markdown]
# ## 17.7 · One beat of a systolic array
#
# *2 points, core. Trains: what moves, and in which order. (Kung, 1982, "Why Systolic Architectures?")*
#
# A grid of K × N cells; cell (k, n) keeps the weight B[k, n]. `moving` (K, N) are the numbers of A that lie in the
# cells, `sums` (K, N) what each cell has made. In a beat
#
# 1. every number moves one cell to the right; `entering` (K,) comes into the first column, and the last one leaves;
# 2. then every cell takes the sum that the cell *above* it had before the beat, 0 in the first row, and adds its number
#    times its weight.
#
# Return the new `moving` and the new `sums`. Do not change the arrays that you are given.
#
# <details><summary>Hint 1</summary>
#
# Nothing but shifted arrays: one by a column, one by a row.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `np.column_stack` puts a column before the others, `np.vstack` a row above them.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `moving = np.column_stack([entering, moving[:, :-1]])`, `above = np.vstack([np.zeros(N), sums[:-1]])`, and the new
# sums are `above + moving * B`.
#
# </details>

# %% exercise="17.7"
def beat(moving, sums, entering, B):
    """Return (moving, sums), (K, N) each, one beat later."""
    ### BEGIN SOLUTION
    moving = np.column_stack([entering, moving[:, :-1]])
    above = np.vstack([np.zeros(B.shape[1]), sums[:-1]])
    return moving, above + moving * B
    ### END SOLUTION


# %% check="17.7"
check("17.7", beat)

# %% [markdown]
# ## 17.8 · A product by tensor cores
#
# *4 points, stretch. Trains: fragments in a kernel, and a sum that stays. (NVIDIA, "PTX ISA", "mma")*
#
# Write C = A B with A (M, K) and B (K, N), float32, by `mma_bf16`. M and K are multiples of 16, N of 8. A block is one
# warp and has a tile of C of 16 × 8: x counts the tiles side by side, y those one below the other. It walks along K in
# steps of 16. The numbers in the checks fit into BF16, so C must be exact.
#
# ```python
# lane = cuda.laneid                          # 0 to 31
# u = to_bf16_pair(low, high)                 # two numbers in one register
# d = mma_bf16((a0, a1, a2, a3), (b0, b1), c) # c and d are tuples of four float32
# ```
#
# A lies in the registers as in exercise 17.3. With `g = lane // 4` and `q = lane % 4`, register 0 of B has B[2 q, g]
# and B[2 q + 1, g], register 1 has B[2 q + 8, g] and B[2 q + 9, g]; and c and d have C[g, 2 q], C[g, 2 q + 1],
# C[g + 8, 2 q] and C[g + 8, 2 q + 1], all counted from the corner of the tile.
#
# The budget: each lane loads what it holds and nothing else, M K N / 8 + K N M / 16 numbers altogether.
#
# <details><summary>Hint 1</summary>
#
# Write the product of one tile with K = 16 first, with row0 = 16 * cuda.blockIdx.y and col0 = 8 * cuda.blockIdx.x added
# to the indices. All 32 lanes must come to `mma_bf16`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The sum stays in the four registers: begin with four float32 zeros in a tuple, and give the d of one step to the next
# one as c.
#
# </details>
#
# <details><summary>Hint 3</summary>
#
# `c = (float32(0), float32(0), float32(0), float32(0))`, then `for k0 in range(0, A.shape[1], 16):`, in it four pairs
# such as `to_bf16_pair(A[r, k], A[r, k + 1])` with `r = row0 + g` and `k = k0 + 2 * q`, two pairs of B, and
# `c = mma_bf16(...)`. After the loop, four stores.
#
# </details>

# %% exercise="17.8"
@gpu.jit
def tensor_product(A, B, C):
    """Write C (M, N) = A (M, K) @ B (K, N) by mma_bf16; a block is a warp and has a tile of 16 x 8."""
    ### BEGIN SOLUTION
    lane = cuda.laneid
    g, q = lane // 4, lane % 4
    r, n = 16 * cuda.blockIdx.y + g, 8 * cuda.blockIdx.x
    c = (float32(0), float32(0), float32(0), float32(0))
    for k0 in range(0, A.shape[1], 16):
        k = k0 + 2 * q
        a0 = to_bf16_pair(A[r, k], A[r, k + 1])
        a1 = to_bf16_pair(A[r + 8, k], A[r + 8, k + 1])
        a2 = to_bf16_pair(A[r, k + 8], A[r, k + 9])
        a3 = to_bf16_pair(A[r + 8, k + 8], A[r + 8, k + 9])
        b0 = to_bf16_pair(B[k, n + g], B[k + 1, n + g])
        b1 = to_bf16_pair(B[k + 8, n + g], B[k + 9, n + g])
        c = mma_bf16((a0, a1, a2, a3), (b0, b1), c)
    m = n + 2 * q
    C[r, m], C[r, m + 1], C[r + 8, m], C[r + 8, m + 1] = c
    ### END SOLUTION


# %% check="17.8"
check("17.8", tensor_product)
