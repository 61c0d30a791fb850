# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Demo · Two products of matrices, counted without a GPU
#
# You will be able to
#
# - read in a report which line of a kernel costs most, and why;
# - see on a memory map what a warp asks for and what is moved for it;
# - say in numbers what a tile in shared memory saves.

# %% [markdown]
# ## Why
#
# A GPU computes faster than its memory can deliver. So the question to a kernel is seldom "how many operations?" and
# mostly "how many bytes?". You will count them, line by line, on a computer without a GPU: the **SIMT executor** runs
# the kernel's source for all threads and counts what the hardware would do (H, "Grid and Block", says how threads are
# numbered and which 32 of them are a **warp**).

# %%
import numpy as np
from numba import cuda, float32

from course_lib import simt

N, T = 64, 16
rng = np.random.default_rng(0)
A, B = (rng.integers(-4, 5, (N, N)).astype(np.float32) for _ in range(2))

# %% [markdown]
# ## The naive product
#
# One thread for each element of C. It walks along a row of A and down a column of B.


# %%
def naive(A, B, C):
    col, row = cuda.grid(2)
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc


# %% [markdown]
# **Predict** before you run it: global memory moves **sectors** of 32 bytes, eight numbers of float32. A warp is two
# rows of 16 threads here. How many sectors does it need for `A[row, k]`, and how many for `B[k, col]`?

# %%
C = np.full((N, N), np.nan, np.float32)
naive_report = simt.run(naive, (N // T, N // T), (T, T), (A, B, C))
np.testing.assert_array_equal(C, A @ B)
naive_report

# %% [markdown]
# Nearly all traffic comes from one line, and little more than half of what it moves is used. The **memory map** shows
# the worst access of the kernel: who touches what, and what has to be moved for it.

# %%
naive_report.memory_map()

# %% [markdown]
# Two sectors for two numbers of A: sixteen threads want the same one, and seven of eight numbers are moved in vain.
# Step through the other accesses. Is `B[k, col]` any better?

# %%
simt.memory_maps(naive_report)

# %% [markdown]
# ## The tiled product
#
# The threads of a block fetch a tile of A and one of B together, each thread one element of each, and share them.


# %%
def tiled(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for m in range(A.shape[1] // T):
        As[ty, tx] = A[row, m * T + tx]
        Bs[ty, tx] = B[m * T + ty, col]
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
        cuda.syncthreads()
    C[row, col] = acc


# %% [markdown]
# **Predict**: by what factor does the number of loads from global memory fall, with tiles of 16 × 16?

# %%
C = np.full((N, N), np.nan, np.float32)
tiled_report = simt.run(tiled, (N // T, N // T), (T, T), (A, B, C))
np.testing.assert_array_equal(C, A @ B)
simt.compare(naive_report, tiled_report)

# %% [markdown]
# Each element is loaded once a block instead of once a thread. The arithmetic is the same; the traffic is not. Where
# does the work of the tiled kernel go now?

# %%
tiled_report

# %% [markdown]
# ## What goes wrong
#
# Leave out the second barrier, and a fast warp overwrites the tile while a slow one still reads it. The result may come
# out right today. **Predict** what the report says. (`on_error="collect"` makes a list of all hazards, where a launch
# would stop at the first.)


# %%
def racy(A, B, C):
    As = cuda.shared.array((T, T), float32)
    Bs = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for m in range(A.shape[1] // T):
        As[ty, tx] = A[row, m * T + tx]
        Bs[ty, tx] = B[m * T + ty, col]
        cuda.syncthreads()
        for k in range(T):
            acc += As[ty, k] * Bs[k, tx]
    C[row, col] = acc


# %% tags=["continued"]
racy_report = simt.run(racy, (N // T, N // T), (T, T), (A, B, C), on_error="collect")
racy_report

# %% [markdown]
# ## Check yourself
#
# Why is `A[row, k]` used to 12.5 % only?
#
# <details><summary>Answer</summary>
#
# Sixteen threads want one number of 4 bytes, and a sector of 32 bytes is moved for it.
#
# </details>
#
# Which accesses of the tiled kernel have bank conflicts?
#
# <details><summary>Answer</summary>
#
# None: a row of the tile lies in 16 different banks, and threads that want the same word share it.
#
# </details>
#
# By what factor do the loads of an element of A from global memory fall?
#
# <details><summary>Answer</summary>
#
# By T = 16: from once a thread of a row, N = 64 times, to once a block, N / T = 4 times.
#
# </details>
