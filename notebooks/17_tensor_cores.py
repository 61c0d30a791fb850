# ---
# jupyter:
#   course_form: 2
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
# # 17 · Tensor cores: fewer digits, many more of them
#
# Every number of this course has been a float32. The fastest units of a card take shorter numbers, with ten bits after
# the binary point, or seven, or two. Used well, they multiply many times as fast, and a network learns what it learned
# in float32. Used badly, they keep it from learning at all. Choose a number below, move the slider, and watch what six
# formats make of it.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda, float32

from course_lib import data, fast, figures, gpu, nn, simt
from course_lib.bench.gpu.roof import roof_of
from course_lib.cuda import swizzle
from course_lib.cuda.fragments import fragment
from course_lib.cuda.intrinsics import mma_bf16, to_bf16_pair
from course_lib.figures.number_formats import TITLES
from course_lib.lesson import (
    float32_in_order,
    measured,
    measured_rows,
    microbench,
    precision_runs,
    predict,
    pruned_runs,
    returning_gradients,
    split_products,
    table,
    tensor_core_products,
)
from course_lib.lesson.tensor_sums import REMEDIES, SPLITS, operands
from course_lib.nn.init import glorot_normal
from course_lib.nn.pruning import compress, magnitude_mask, two_of_four_mask
from course_lib.reference.formats import FORMATS, round_to, split

figures.number_bits()

# %% [markdown]
# One might think that fewer digits make everything a little worse, everywhere. They do not. In one place you can
# throw most of them away and hardly notice. In a second, the loss of a few brings everything to a halt. And in a third
# it is not digits that are missing, but *range*.
#
# ## You will be able to
#
# - say what a tensor core does in a clock, and which lane of a warp holds which element;
# - round a number to BF16 by its bits, say what each format loses, and get lost digits back by splitting numbers;
# - say how an instruction of four warps finds its operand in shared memory, and why a tile is swizzled there;
# - train in FP16 and BF16 with float32 master weights and a loss scale, and say why each is needed.

# %% [markdown]
# <details><summary>About this page</summary>
#
# Prof. Owens' lecture 11 has one slide on the tensor cores of the Tesla V100, and names mixed precision,
# special-purpose hardware and sparsity as further topics; this page is about these. You need lessons 06 and 06b
# (training, and why it fails) and lessons 11 to 14 (warps, lanes, banks, products). Tensor cores are emulated here by
# the course's executor; times are from the card that is named beside them. Reading and trying takes about 115 minutes,
# the optional part 5 more.
#
# </details>

# %% [markdown]
# ## A small matrix in a clock
#
# In lesson 14 each multiply-add was an instruction of its lane. A **tensor core** does a small product of matrices at
# once: $D = A B + C$, where each is a 4 × 4 matrix.[^Owens "Tesla V100 Tensor Cores"] Every element of $D$ needs four
# multiply-adds, so the sixteen need 64, and a tensor core of a V100 does all 64 in each clock. A multiprocessor has
# eight of them. One generation earlier, on a P100 of the Pascal family, a multiprocessor had 64 cores for float32, and
# each of them did one multiply-add in a clock.[^NVIDIA "Tesla P100 Whitepaper, GP100 SM"
# https://images.nvidia.com/content/pdf/tesla/whitepaper/pascal-architecture-whitepaper.pdf]

# %%
volta = 8 * 64 * 2  # tensor cores, multiply-adds, operations in each
p100 = 64 * 2
whole_card = 80 * volta * 1.53e9  # multiprocessors, clocks in a second
print(f"{volta} against {p100}: {volta / p100:g} times; the card: {whole_card / 1e12:.0f} TFLOP/s")

# %% [markdown]
# With 80 multiprocessors and 1.53 billion clocks a second that makes the 125 TFLOP/s by which the V100 was
# sold.[^NVIDIA "Tesla V100 Whitepaper, Tensor Cores"
# https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf] The comparison is not
# quite fair: a tensor core multiplies FP16 numbers, half as long as float32, and a P100 did FP16 at twice its float32
# rate. Like for like, the factor is 4.
#
# Today's cards do more in a clock, and take more formats. On tensor cores each halving of the number doubles
# the speed:

# %% tags=["hide-input"]
# Peaks of the data sheet, without sparsity, and what cuBLAS reached.
products = measured_rows("tensor_cores", "library", card="h200")
roof = roof_of(products.card)
SHEET = {"TF32": 989, "BF16": 1979, "FP16": 1979, "FP8": 3958}  # as printed, "with sparsity"
SIZES = 4096, 8192
cublas = {(f, n): products.one(format=f, n=n)["tflops"] for f in ("float32", *SHEET) for n in SIZES}
bytes_of = {"float32": 4, "TF32": 4, "BF16": 2, "FP16": 2, "FP8": 1}
peaks = {"float32": round(roof.peak / 1e12)} | {f: printed / 2 for f, printed in SHEET.items()}
heads = ["peak, TFLOP/s", *(f"measured, {n:,}" for n in SIZES)]
table(
    [(f, bytes_of[f], peak, *(cublas[f, n] for n in SIZES)) for f, peak in peaks.items()],
    ["operands", "bytes a number", *heads], align="lrrrr",
    formats=dict(zip(heads, (",.4g", ",.0f", ",.0f"), strict=True)),
    caption=f"{products.card}, {products.date}: data sheet, dense (float32: no tensor cores); and cuBLAS on square "
    "matrices of 4,096 and 8,192 rows",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked.
assert 7.5 < cublas["TF32", 4096] / cublas["float32", 4096] < 9
assert 1.9 < cublas["BF16", 4096] / cublas["TF32", 4096] < 2.1
assert 1.6 < cublas["FP8", 4096] / cublas["BF16", 4096] < 1.8
assert all(0.65 < rate / peaks[f] < 0.82 for (f, _), rate in cublas.items())
large = measured("gemm 4096", card="h200")
reached = {name: large.flops / large.seconds[name] for name in ("cuBLAS", "cuBLAS TF32")}

# %% [markdown]
# The data sheet prints twice as much for these formats, with a footnote: "with sparsity".[^NVIDIA "H200 Tensor Core GPU
# Datasheet"] A later section shows what that means; for ordinary matrices, halve it. TF32 is eight times as fast as
# float32, BF16 twice as fast as that, FP8 once more 1.7 times at 4,096 and twice at 8,192. All of them reach two thirds
# to four fifths of their peak. What takes most of the rest from BF16 is a surprise, further down. And fewer bytes pay
# by themselves: a layer that waits for memory, left of the corner of lesson 12's roofline, has half as many bytes to
# wait for in BF16.
#
# Now for a riddle. This is lesson 14's large product as it was measured there (runs differ, by a tenth and more), with
# the two rungs of its ladder that you have not met. TF32 keeps ten bits of a float32's fraction.

# %% tags=["hide-input"]
# Lesson 14's large product in float32 and on tensor cores.
ROWS = {"v08_pipelined": "rung 8, float32", "cuBLAS": "cuBLAS, float32", "v09_3xtf32": "rung 9, three TF32 products",
        "v10_tf32": "rung 10, one TF32 product", "cuBLAS TF32": "cuBLAS, TF32"}  # fmt: skip
heads = ["milliseconds", "TFLOP/s", "largest error"]
table(
    [(called, 1e3 * large.seconds[k], large.flops / large.seconds[k] / 1e12, large.errors[k])
     for k, called in ROWS.items()],
    ["product", *heads], formats={"milliseconds": ".2f", "TFLOP/s": ".0f", "largest error": ".1e"},
    caption=f"{large.card}, {large.date}; errors as a share of the largest result",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked.
assert round(large.seconds["cuBLAS"] / large.seconds["cuBLAS TF32"]) == 8
assert 90 < large.errors["cuBLAS TF32"] / large.errors["cuBLAS"] < 130
assert large.errors["v09_3xtf32"] < large.errors["cuBLAS"]

# %% [markdown]
# One product in TF32 is fast, and its error a hundred times as large. Now look at the row in the middle: three
# products of numbers with so few bits are together as exact as float32, and *still* faster than one in float32. Where
# do the lost digits come from? And how can three be faster than one? The answers need some tools.
#
# ## What is given up
#
# A floating-point number is $\pm\,2^{E} \cdot 1.\text{fraction}$. The exponent says how large or small a number may
# be, the fraction how finely numbers follow each other. The leading 1 is not stored, so a number has one **significant
# bit** more than its fraction: 24 in float32, 8 in BF16. The more bits one part gets, the fewer are left for the other:

# %% tags=["hide-input"]
# The formats.
raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

def power(x):
    return f"2{str(round(np.log2(x))).translate(raised)}"

table(
    [(TITLES[f.name], f.exponent_bits, f.fraction_bits, f"{f.largest:,.0f}" if f.largest < 1e6 else f"{f.largest:.1e}",
      power(f.smallest_normal), power(f.smallest), power(f.step_at_one)) for f in FORMATS.values()],
    ["format", "exponent", "fraction", "largest", "full from", "smallest", "step at 1"], align="lrrrrrr",
    caption="Bits of exponent and fraction; from where on all bits of the fraction count; from 1 to the next number",
)  # fmt: skip

# %% [markdown]
# **FP16** spends five bits on the exponent and ten on the fraction; it ends at 65,504. **BF16** is the upper half of a
# float32: the same eight bits of exponent, and only seven of fraction. **TF32** has BF16's exponent and FP16's
# fraction, but lies in 32 bits of memory, so it saves arithmetic and no bytes. The two FP8 formats are for inference
# and, with care, for training.[^Micikevicius et al. 2022 "FP8 Formats for Deep Learning"
# https://arxiv.org/abs/2209.05433] E4M3 has no infinity: its highest exponent holds numbers too, up to 448, and only
# one pattern for each sign is NaN. What is too large becomes NaN, or stays at 448 if the conversion is told to
# *saturate*.
#
# Below "full from" a format has **subnormal** numbers: the leading 1 is gone and the step stays as it is, so that bits
# get lost one by one. "Below $2^{-14}$ FP16 is zero" is a common mistake; it is zero up to $2^{-25}$, half of its
# smallest number.

# %% [markdown]
# Rounding to BF16 takes two steps on the bits. Add almost half a unit of the last bit that stays (`0x7FFF`), or exactly
# half (`0x8000`) if that bit is 1. Then cut. So a number halfway between two others goes to the one that ends with 0:
# **to even**.

# %%
def to_bf16(x):
    """Round float32 to BF16, which has the upper 16 of its bits."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    last = (bits >> 16) & 1
    return ((bits + 0x7FFF + last) & 0xFFFF0000).view(np.float32)

x = np.array([np.pi, 0.1, 1 + 1 / 256, 1 + 3 / 256], np.float32)
print(to_bf16(x))

# %% tags=["hide-input"]
# The same as the library's on a million numbers of all sizes and both signs.
draw = np.random.default_rng(0)
signs = draw.choice(np.float32([-1, 1]), 1_000_000)
many = signs * draw.integers(0, 2**31 - 2**24, 1_000_000).astype(np.uint32).view(np.float32)
np.testing.assert_array_equal(to_bf16(many), round_to(many, "bf16"))

# %% [markdown]
# The last two lie halfway: $1 + 1/256$ goes down to 1 and $1 + 3/256$ up to $1 + 4/256$. (The library's `round_to` does
# the same for every format; NaN needs a line more, and so do numbers beyond FP16's largest.) What does it mean to
# compute with so few bits?

# %% tags=["hide-input"]
# A prediction.
stall = predict(
    "Add 1,000 ones, one after the other, and round the sum to BF16 after each addition. What comes out?",
    ["1,000", "996", "512", "256"],
    answer="256",
    reveals=2,
)
stall

# %% tags=["hide-output"]
def add_ones(count, name):
    total = np.float32(0)
    for _ in range(count):
        total = round_to(total + np.float32(1), name)
    return int(total)

sums = {name: add_ones(3000, name) for name in ("bf16", "fp16")}
print(add_ones(1000, "bf16"), sums)

# %% [markdown]
# <details class="reveal"><summary>Why there?</summary>
#
# From 256 to 512 the numbers of BF16 are 2 apart. 257 lies halfway between 256 and 258 and goes to the even one, back
# to 256; there the sum stays for good. FP16 has three bits more, and stands still at 2,048. So the tensor-core
# instructions of this page take short numbers in, but **keep the sum in float32**. How they add to it is a matter of
# its own, below.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
stall.confirm(str(add_ones(1000, "bf16")))

# %% [markdown]
# ## Who holds what
#
# A kernel reaches a tensor core by an instruction of a whole **warp**. The name tells the size: in `m16n8k16`, $D$ has
# $m = 16$ rows and $n = 8$ columns, and each of its elements is a sum of $k = 16$ products. So $16 \times 16$ times
# $16 \times 8$, 2,048 multiply-adds in one instruction, 64 for each lane.
#
# The matrices lie in the registers of the 32 lanes. What a lane holds is its **fragment**; no lane has a matrix of its
# own. Two numbers say which elements are whose: `g = lane // 4`, from 0 to 7, and `t = lane % 4`, from 0 to 3. In rows
# $g$ and $g + 8$ of $A$ a lane holds the columns $2t$, $2t + 1$, $2t + 8$ and $2t + 9$; in column $g$ of $B$ the rows
# $2t$, $2t + 1$, $2t + 8$ and $2t + 9$; and in rows $g$ and $g + 8$ of $D$ the columns $2t$ and $2t + 1$.
#
# In the figure, $B$ stands above $D$ and $A$ to its left: a row of $A$ and a column of $B$ meet in their element. The
# numbers in the cells are the lane's registers. Point at an element, or use the arrow keys.

# %% tags=["hide-input"]
# The map by which the executor itself multiplies.
figures.fragment_map()

# %% [markdown]
# Numba-CUDA has no words for tensor cores. The course's `mma_bf16` is a name for one line of PTX, the assembly language
# that NVIDIA's driver translates further. Where there is no card, the executor computes it by the map above.[^NVIDIA
# "PTX ISA, Matrix Fragments for mma.m16n8k16"
# https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-fragment-mma-16816-float] BF16 has two
# bytes, so two of them share a register; `to_bf16_pair` rounds and packs them. This is a whole kernel for one warp:

# %%
@gpu.jit
def one_product(A, B, C, D):
    lane = cuda.laneid
    g, t = lane // 4, lane % 4
    k = n = 2 * t
    a0 = to_bf16_pair(A[g, k], A[g, k + 1])
    a1 = to_bf16_pair(A[g + 8, k], A[g + 8, k + 1])
    a2 = to_bf16_pair(A[g, k + 8], A[g, k + 9])
    a3 = to_bf16_pair(A[g + 8, k + 8], A[g + 8, k + 9])
    b0 = to_bf16_pair(B[k, g], B[k + 1, g])
    b1 = to_bf16_pair(B[k + 8, g], B[k + 9, g])
    c = (C[g, n], C[g, n + 1], C[g + 8, n], C[g + 8, n + 1])
    D[g, n], D[g, n + 1], D[g + 8, n], D[g + 8, n + 1] = mma_bf16((a0, a1, a2, a3), (b0, b1), c)

# %% [markdown]
# Small whole numbers fit into BF16, so the result must be exact; random numbers are rounded once, on their way in.

# %%
def warp_product(A, B, C):
    D = np.zeros_like(C)
    simt.run(one_product, 1, 32, [A, B, C, D])
    return D

rng = np.random.default_rng(0)
shapes = (16, 16), (16, 8), (16, 8)
whole = [rng.integers(-9, 10, s).astype(np.float32) for s in shapes]
print(np.array_equal(warp_product(*whole), whole[0] @ whole[1] + whole[2]))
A, B, C = (rng.standard_normal(s).astype(np.float32) for s in shapes)
D = warp_product(A, B, C)
rounded_in = to_bf16(A).astype(float) @ to_bf16(B) + C
print(f"{np.abs(D - (A @ B + C)).max():.1e} from float32, {np.abs(D - rounded_in).max():.0e} from the rounded operands")

# %% [markdown]
# Nearly all of the error comes from rounding `A` and `B`. Now suppose that half of the warp stays away.

# %% tags=["hide-input"]
# A prediction.
half = predict(
    "Lanes 0 to 15 hold parts of A and B. Which share of D could they compute from these alone?",
    ["all of it", "half", "a quarter", "none of it"],
    answer="a quarter",
    reveals=3,
)
half

# %% tags=["hide-output"]
rows, columns = np.unique(fragment("a", "bf16").rows[:16]), np.unique(fragment("b", "bf16").columns[:16])
share = len(rows) * len(columns) / (16 * 8)
print(f"rows {rows.tolist()} of A, columns {columns.tolist()} of B: {share:.0%} of D")

# %% tags=["hide-output", "continued"]
@gpu.jit
def half_a_warp(x, D):
    lane = cuda.laneid
    p = to_bf16_pair(x[lane], x[lane])
    if lane < 16:
        d = mma_bf16((p, p, p, p), (p, p), (x[lane], x[lane], x[lane], x[lane]))
        D[lane] = d[0]

broken = simt.run(half_a_warp, 1, 32, [np.ones(32, np.float32), np.zeros(32, np.float32)], on_error="collect")
stuck = broken.hazards[0]
print(f"{stuck.kind}: {stuck.message.split(', which')[0]}")

# %% [markdown]
# <details class="reveal"><summary>And does it?</summary>
#
# Half of the rows times half of the columns is a quarter. Yet put `mma_bf16` inside of `if lane < 16`, and you get not
# even that: by its definition the instruction takes the registers of all 32 lanes, or its result is undefined. It is
# the warp's, as a shuffle is (lesson 13). The executor says which lane is missed. A card may hang, or return wrong
# numbers without a word.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was found.
assert stuck.kind == "warp operation not reached"
half.confirm("a quarter" if share == 1 / 4 else f"{share:.0%}")

# %% [markdown]
# A longer product is a loop over $k$ in steps of 16. What was $C$ is the sum so far, and it never leaves the registers:

# %%
@gpu.jit
def long_product(A, B, D):
    lane = cuda.laneid
    g, t = lane // 4, lane % 4
    acc = (float32(0), float32(0), float32(0), float32(0))
    for k0 in range(0, A.shape[1], 16):
        k = k0 + 2 * t
        a0, a1 = to_bf16_pair(A[g, k], A[g, k + 1]), to_bf16_pair(A[g + 8, k], A[g + 8, k + 1])
        a2, a3 = to_bf16_pair(A[g, k + 8], A[g, k + 9]), to_bf16_pair(A[g + 8, k + 8], A[g + 8, k + 9])
        b0, b1 = to_bf16_pair(B[k, g], B[k + 1, g]), to_bf16_pair(B[k + 8, g], B[k + 9, g])
        acc = mma_bf16((a0, a1, a2, a3), (b0, b1), acc)
    n = 2 * t
    D[g, n], D[g, n + 1], D[g + 8, n], D[g + 8, n + 1] = acc

A, B = rng.standard_normal((16, 256), np.float32), rng.standard_normal((256, 8), np.float32)
D = np.zeros((16, 8), np.float32)
report = simt.run(long_product, 1, 32, [A, B, D])
off = np.abs(D - to_bf16(A).astype(float) @ to_bf16(B)).max()
print(f"{off:.0e} from the rounded operands; {report.total.flops:,} operations, {len(report.hazards)} hazards")

# %% [markdown]
# The same loop for TF32, in steps of 8, is the core of rung 10. What it adds is lesson 14's: a warp holds the sums of
# $64 \times 64$ results, so that a fragment of one matrix is used eight times and of the other four; tiles come through
# shared memory, some steps ahead.
#
# ## Exact products, cut sums
#
# A BF16 number has 8 significant bits, so a product of two has at most 16, and float32 has 24: products are exact
# (unless they are too large or too small for a float32). Only the sum can lose bits. An addition in float32 rounds to
# the nearest number; tensor cores *cut*, toward zero, as was found on a V100, a T4 and an A100.[^Fasi et al. 2021
# "Numerical behavior of NVIDIA tensor cores" https://doi.org/10.7717/peerj-cs.330] Add three quarters of float32's step
# to 1:

# %%
A, B, C = np.zeros((16, 16), np.float32), np.zeros((16, 8), np.float32), np.ones((16, 8), np.float32)
A[:, 0], B[0] = 1.5 * 2**-12, 2**-12  # their product is three quarters of the step after 1
print("rounded:", np.float32(1) + A[0, 0] * B[0, 0], " tensor core:", warp_product(A, B, C)[0, 0])

# %% [markdown]
# It stays 1. Errors of rounding go both ways and partly cancel. What a cut loses always goes one way, as long as the
# sum keeps its sign: losses add up.
#
# <details><summary>Is a card's result the executor's, bit by bit?</summary>
#
# Not always. How a card lines up the addends before it cuts is not documented, and differs between generations. The
# executor adds the products of an instruction exactly, and cuts once. So compare with a tolerance; `rounding_bound`
# computes one: for one instruction, the two differ by at most about $4(K+1)$ units in the last place of $|c| + \sum
# |a_k b_k|$.
#
# </details>
#
# ## Getting the digits back
#
# What rounding takes away is itself a number, and can be kept: $x \approx x_1 + x_2$, where $x_1$ is $x$ rounded, and
# $x_2$ the rest, rounded again.

# %%
for part in split(np.float32(np.pi), "bf16", 3):
    print(f"{part:+.10f}")
print(f"{np.sum(split(np.float32(np.pi), 'bf16', 3), dtype=np.float64):+.10f}  and pi was {np.float32(np.pi):+.10f}")

# %% [markdown]
# Three BF16 numbers hold a float32 entirely (unless it is tiny). A product then becomes several: $ab \approx a_1 b_1 +
# a_1 b_2 + a_2 b_1$. The fourth, $a_2 b_2$, is as small as what was left out anyway. With three parts each, six
# products matter in the same way. How much is that worth?

# %% tags=["hide-input", "nbval-ignore-output"]
# Errors of products from numbers with few bits, and from split ones.
rng = np.random.default_rng(1)
A, B = rng.standard_normal((128, 512), np.float32), rng.standard_normal((512, 128), np.float32)

def error(C, A, B):
    exact = A.astype(np.float64) @ B
    return float(np.abs(C - exact).max() / np.abs(exact).max())

ways = [("e4m3", 1), ("bf16", 1), ("fp16", 1), ("tf32", 1), ("bf16", 2), ("tf32", 2), ("float32", 1)]
errors, rows = {}, []
for name, parts in ways:
    product, count = split_products(A, B, name, parts)
    errors[name, parts] = error(product, A, B)
    rows.append((TITLES[name], parts, count, f"{errors[name, parts]:.1e}"))
table(rows, ["format", "parts of a number", "products", "largest error"], align="lrrr",
      caption="Sums of 512 random products, rounded in float32; errors as a share of the largest result")  # fmt: skip

# %% tags=["hide-input"]
# Checked: the sentences below.
assert 450 < errors["bf16", 1] / errors["bf16", 2] < 550
assert errors["tf32", 2] < 2 * errors["float32", 1]

# %% [markdown]
# Two parts of BF16 for one, and the error is some 500 times smaller. The second part brings 8 bits. It gains one more
# by its sign: rounding leaves at most *half* a step, up or down, where a cut would leave a whole one. That makes $2^9$.
# TF32 has 11 significant bits. Two parts hold 23 of a float32's 24, or all of them, and nothing is left to see but the
# rounding of the sum.
#
# This table was added by an ordinary unit, though, which rounds. Tensor cores cut.

# %% tags=["hide-input"]
# A prediction.
third = predict(
    "In the executor's tensor cores, which cut once an instruction, in sums of 4,096 products: three BF16 parts "
    "instead of two, so six products instead of three, all added into one sum as they come. What becomes of the error?",
    ["500 times smaller", "half as large", "as large as before", "twice as large"],
    answer="twice as large",
    reveals=2,
)
third

# %% tags=["hide-output", "hide-input", "nbval-ignore-output"]
# The same splits, in cut sums, and in cut sums that are let out.
cut_errors, rows = {}, []
for K in (512, 4096):
    A, B = operands(K)
    for name, parts in SPLITS:
        product, count = split_products(A, B, name, parts)
        found = [product, *(tensor_core_products(A, B, name, parts, **kept) for kept in REMEDIES.values())]
        cut_errors[K, name, parts] = [error(C, A, B) for C in found]
        cuts = count * K // (8 if name == "tf32" else 16)
        label = f"{TITLES[name]}, {parts} part{'s' * (parts > 1)}"
        rows.append((f"{K:,}" if (name, parts) == ("tf32", 1) else "", label, cuts, *cut_errors[K, name, parts]))
    cut_errors[K] = error(float32_in_order(A, B), A, B)
    rows.append(("", "float32, in order", None, cut_errors[K], *[None] * len(REMEDIES)))
heads = ["rounded", *REMEDIES]
table(rows, ["K", "operands", "cuts", *heads], align="rlrrrrr",
      formats=dict.fromkeys(heads, ".1e") | {"cuts": ",.0f"},
      caption="Largest error of sums: rounded (in blocks by NumPy, or in order); cut; cut, but let out every 256; "
      "and with the small products in a sum of their own",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Cuts add up</summary>
#
# In the executor's model each instruction cuts the sum once, toward zero. Of 4,096 products there are 256 instructions
# for BF16, so 768 cuts for three products and 1,536 for six: twice as many, twice the error. In sums that are as long
# as this, it is no longer the operands that limit split numbers. (What a card does comes next.)
#
# Rung 9 has a second trick.[^Ootomo and Yokota 2022 "Recovering single precision accuracy from Tensor Cores"
# https://arxiv.org/abs/2203.03341] Every 256 steps of $k$ it adds the tensor cores' sum to an ordinary float32 sum,
# which rounds, and starts the next one at zero: it **lets the sums out**. Then two parts of TF32 are as exact as
# float32 added in order, at 4,096 products. Either of the two alone would not have done it. And a
# third trick: if the small products get a sum of their own, **apart**, the large one is cut by its own product only.
# With all three tricks three parts of BF16 are several times as exact as float32 added in order.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed; and the sentences above.
worse = cut_errors[4096, "bf16", 3][1] / cut_errors[4096, "bf16", 2][1]
third.confirm("twice as large" if 1.8 < worse < 2.2 else f"{worse:.1f} times as large")
assert 0.8 < cut_errors[4096, "tf32", 2][2] / cut_errors[4096] < 1.2
assert cut_errors[4096, "tf32", 2][1] > 10 * cut_errors[4096]
assert 4 * cut_errors[4096, "bf16", 3][3] < cut_errors[4096]
assert max(cut_errors[4096, "tf32", 1]) / min(cut_errors[4096, "tf32", 1]) < 1.02

# %% [markdown]
# That is a model. What does a card do? A probe shows where it cuts:[^Fasi et al. 2021 "Numerical behavior of NVIDIA
# tensor cores" https://doi.org/10.7717/peerj-cs.330] add sixteen equal products to 1, in one instruction in BF16. Each
# is float32's step over a power of two. Sixteen eighths of a step, say, are two steps.

# %% tags=["hide-input"]
# A prediction.
eighths = predict(
    "By how many steps does 1 grow on an H200, if sixteen products of an eighth of a step are added to it?",
    ["2: their sum is cut, once", "1", "none: each of them is cut"],
    answer="none: each of them is cut",
    reveals=3,
)
eighths

# %% tags=["hide-input", "hide-output"]
# What arrives of sixteen equal addends.
cuts = measured_rows("tensor_cores", "cuts", card="h200")
WAYS = {"mma": "mma m16n8k16", "wgmma": "wgmma m64n64k16"}
kept = {p: [cuts.one(instruction=w, format="bf16", one=2.0**-p)["steps"] for w in WAYS.values()] for p in range(5)}
table(
    [("a step" if p == 0 else f"1/{2**p}", 16 * 2.0**-p, *kept[p]) for p in kept],
    ["each of sixteen", "cut once", "H200, mma", "H200, wgmma"], align="lrrr",
    formats=dict.fromkeys(("cut once", "H200, mma", "H200, wgmma"), ".0f"),
    caption=f"{cuts.card}, {cuts.date}: by how many steps of float32 the sum is above 1",
)  # fmt: skip

# %% tags=["hide-input", "hide-output", "continued"]
# The long sums of the last table, on the same operands.
sums_there = measured_rows("tensor_cores", "sums", card="h200")
there = {(r["format"], r["parts"], r["way"]): r["error"] for r in sums_there.rows if r["K"] == 4096}
heads = [head for way in REMEDIES for head in (way, f"{way}, H200")]
table(
    [(f"{TITLES[name]}, {parts} part{'s' * (parts > 1)}",
      *(e for i, way in enumerate(REMEDIES) for e in (cut_errors[4096, name, parts][1 + i], there[name, parts, way])))
     for name, parts in SPLITS],
    ["K = 4,096", *heads], formats=dict.fromkeys(heads, ".1e"), align="l" + "r" * len(heads),
    caption="Largest error: by the executor's model, and by mma on the card, with the same operands",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Where it cuts</summary>
#
# Quarters of a step arrive, eighths do not. The H200 lines all addends up with the largest, keeps two bits beyond
# float32's last, and cuts *each* before it adds. Then it cuts the sum. `mma` and `wgmma` agree.
#
# Yet in long sums its errors are those of the model, or smaller by up to three tenths. Cut addends lose in both
# directions, and that cancels. Their sum, in quarters of a step, loses 0 to 3/4 of a step, on average 3/8, where the
# model loses half of one: a quarter less. Three parts of BF16 are 1.7 times as far off as two. Letting out and keeping
# apart help as they should.
#
# In FP8 the sums are shorter. The same probe with cuBLAS: 31 products of $2^{-13}$, added to 1, all arrive; 31 of
# $2^{-14}$ vanish. So 13 bits follow the point, where float32 has 23. Therefore cuBLAS lets such sums out now and then,
# unless it is told to be fast.[^NVIDIA "cuBLAS, CUBLASLT_MATMUL_DESC_FAST_ACCUM"
# https://docs.nvidia.com/cuda/cublas/#cublasltmatmuldescattributes-t] Then its errors, at 4,096, are twice as large.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed; and the sentences above.
eighths.confirm("none: each of them is cut" if kept[3] == [0, 0] else f"{kept[3]}")
assert (kept[0], kept[1], kept[2], kept[4]) == ([16, 16], [8, 8], [4, 4], [0, 0])
shares = [there[name, parts, way] / cut_errors[4096, name, parts][1 + i]
          for name, parts in SPLITS for i, way in enumerate(REMEDIES)]  # fmt: skip
assert min(shares) > 0.65
assert max(shares) < 1.02
assert 1.65 < there["bf16", 3, "cut"] / there["bf16", 2, "cut"] < 1.8
probe = measured_rows("tensor_cores", "fp8_sums", card="h200")
for told in (False, True):
    assert probe.one(fast=told, one=2.0**-13)["sum"] == 31 * 2.0**-13
    assert probe.one(fast=told, one=2.0**-14)["sum"] == 0
let_out, told = (products.one(n=4096, format=f)["error_of_sums"] for f in ("FP8", "FP8, fast sums"))
assert 1.8 < told / let_out < 2.1

# %% [markdown]
# ## Three products against one
#
# So much for the digits: the first half of the riddle. Now for the time. Rung 9 does three products in TF32, of
# $4096^3$ multiply-adds each, in the 1.74 milliseconds of the table at the top.

# %% tags=["hide-input"]
# A prediction.
three = predict(
    f"Count all three of rung 9's products. How many TFLOP/s does it do, where rung 10 does "
    f"{large.flops / large.seconds['v10_tf32'] / 1e12:.0f} and cuBLAS {reached['cuBLAS TF32'] / 1e12:.0f} in TF32?",
    ["about 80", "about 160", "about 240", "about 400"],
    answer="about 240",
    reveals=2,
)
three

# %% tags=["hide-input", "hide-output"]
# The ladder, the library, and a kernel whose warps do nothing but TF32 products by mma, in registers.
bare = microbench("tensor", card="h200")["TF32 products of 16 x 8 x 8, all warps"]
speed = bare.rate * 2 * 16 * 8 * 8
tera = {
    "data sheet": roof.tensor_peak, "cuBLAS, TF32": reached["cuBLAS TF32"], "nothing but mma": speed,
    "rung 9, its three products": 3 * large.flops / large.seconds["v09_3xtf32"],
    "rung 10, one product": large.flops / large.seconds["v10_tf32"],
}  # fmt: skip
table(
    [(name, rate / 1e12, rate / roof.tensor_peak, 3e3 * large.flops / rate) for name, rate in tera.items()],
    ["TF32", "TFLOP/s", "of the peak", "three products, ms"],
    formats={"TFLOP/s": ".1f", "of the peak": ".0%", "three products, ms": ".2f"},
    caption=f"{bare.card}; products of 4,096 × 4,096 × 4,096",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked: the sentences below.
ms = {name: 1e3 * s for name, s in large.seconds.items()}
assert (round(ms["v10_tf32"], 2), round(ms["v09_3xtf32"], 2), round(ms["v08_pipelined"], 2)) == (0.62, 1.74, 2.75)
assert 0.98 < tera["rung 9, its three products"] / speed < 1
assert 0.9 < tera["rung 10, one product"] / speed < 1
assert speed < roof.tensor_peak / 2
assert [round(t / 1e12) for t in (speed, tera["rung 9, its three products"], roof.peak)] == [240, 236, 67]

# %% [markdown]
# <details class="reveal"><summary>The riddle's other half</summary>
#
# The table at the top counts one product of the three: 79 TFLOP/s. All three are 236. So rung 9 keeps the tensor cores
# even busier than rung 10, which needs 0.62 milliseconds for its one product: three of those would take
# $3 \cdot 0.62 = 1.9$, and rung 9 takes 1.74. That is less than the 2.75 that rung 8 needs in float32, where the card
# ends at 67 TFLOP/s. Three are faster than one because each of them is more than four times as fast.
#
# Rungs 9 and 10 are both near the end of what `mma` does here. A kernel that waits for nothing, whose warps do only
# `mma`, in registers, in four independent chains each, ends at 240: not even half of the card. Hopper still runs this
# instruction, but its full speed takes another one, whose operands do not pass through registers. That is the next
# section. (A good place for a pause.)
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
three.confirm(f"about {round(tera['rung 9, its three products'] / 4e13) * 40}")

# %% [markdown]
# ## Operands that stay where they lie
#
# `mma` takes its operands from registers, and a kernel loads them there, lane by lane. The new way, `wgmma`, is an
# instruction of *four* warps together, a **warpgroup**, on up to $64 \times 256$ results. It fetches the right operand
# from shared memory by itself, and the left one too, if it lies there.[^NVIDIA "PTX ISA, Asynchronous Warpgroup Level
# Matrix Instructions"
# https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions]
#
# For these operands the map of lanes is no longer needed; for the sums it still is. The kernel says *where a tile
# lies*. In TF32, the tile of the right operand
# has a row for each column of $B$, and in it 32 numbers along $k$: 128 bytes. Cut each row into eight **chunks** of 16
# bytes, 0 to 7. Two parties use the tile, each in its own direction:
#
# - a *copy* from global memory writes a row: all its chunks;
# - a *product* reads eight $k$ in an instruction: two chunks, but of all rows.

# %% [markdown]
# In which order should the chunks lie? The tile could be stored row by row; or chunk 0 of all eight rows first, then
# chunk 1 of all, and so on. How the hardware fetches them is not documented. So let us ask the question of lesson 12,
# for which we know the rules: eight threads, each with a chunk. That is 128 bytes, just what the 32 banks of shared
# memory give in one wavefront if all of them are asked:

# %%
def wavefronts(banks):
    """Of eight threads, each with a chunk in four banks from a given one on."""
    return int(np.bincount(banks).max())

by_rows = swizzle.banks(8, plain=True)  # (row, chunk): first of its four banks
by_chunks = by_rows.T
for name, banks in {"by rows": by_rows, "by chunks": by_chunks}.items():
    print(f"{name}: row 3 takes {wavefronts(banks[3])}, chunk 2 of all rows {wavefronts(banks[:, 2])}")

# %% tags=["hide-input", "continued"]
# The same as a picture.
figures.tile_banks({"by rows": by_rows, "by chunks": by_chunks})

# %% [markdown]
# One of the two always waits. It is lesson 12's column of a tile once more. There, a gap behind each row was the cure.
# Here the eight rows of a chunk must follow each other. A gap behind each *chunk* is allowed, and would cure it too,
# for a few more bytes and a copy chunk by chunk. There is a way without a gap. (Of these two layouts the instruction
# knows the second.)[^NVIDIA "PTX ISA, Shared Memory Matrix Layout"
# https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-shared-memory-layout]

# %% tags=["hide-input"]
# A prediction.
swap = predict(
    "Let rows follow each other without a gap, but each may put its eight chunks in an order of its own. What is the "
    "best that can come of it?",
    ["row 1, chunk 8: it stays so", "row 1, chunk 4", "row 1, chunk 2", "row 1, chunk 1"],
    answer="row 1, chunk 1",
    reveals=3,
)
swap

# %% tags=["hide-output"]
swizzled = swizzle.banks(8)
most = max(map(wavefronts, swizzled)), max(map(wavefronts, swizzled.T))
print(f"any row: {most[0]}, any chunk of all rows: {most[1]}")

# %% tags=["hide-output", "hide-input", "continued"]
# Beside each other.
figures.tile_banks({"by rows": by_rows, "swizzled": swizzled})

# %% [markdown]
# <details class="reveal"><summary>Neither waits</summary>
#
# Chunk $c$ of row $r$ goes to place `c ^ (r % 8)`: the bits of $c$ are turned over where those of $r$ are 1. Chunk 5 of
# row 3 is `101` and `011`, so it goes to `110`, place 6. This is a **swizzle**, the one of 128 bytes.
#
# Take one chunk of all rows: $r$ runs from 0 to 7, and two different $r$ never give the same `c ^ r`. So the eight
# go to eight places, and all 32 banks answer at once. In a row $c$ runs and $r$ stays: the same. No byte is added, and
# the rule undoes itself: what lies at place $p$ of row $r$ is chunk `p ^ r`.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
swap.confirm(f"row {most[0]}, chunk {most[1]}")

# %% [markdown]
# A thread that reads this tile must turn bits over for each address. `wgmma` does it by itself: in an address, bits 4
# to 6 are the place of a chunk, and bits 7 to 9 are `r % 8`. The kernel hands over one number for the whole operand, a
# **descriptor**. Its lowest field says where reading starts, in units of 16 bytes. It is the address that a chunk would
# have *without* a swizzle; the hardware turns over the bits afterwards, so that 32 bytes further are the next eight $k$
# in every row. An instruction takes eight $k$, 32 bytes of each row. For the next eight the kernel adds 2 to the
# descriptor, and that is all. Step through the 32 $k$ of eight columns:

# %% tags=["hide-input"]
# What each of four instructions reads: as the kernel thinks of it, and where it lies.
figures.tile_walk()

# %% [markdown]
# In memory each shade stands once in each of the eight columns: eight times four banks, all 32. And is what is read
# what was meant? `copied` lays a tile down as Hopper's copying unit, TMA, does,[^NVIDIA "CUDA Driver API,
# cuTensorMapEncodeTiled" https://docs.nvidia.com/cuda/cuda-driver-api/] and `operand` reads it by a descriptor:

# %%
columns = np.arange(256, dtype=np.float32).reshape(8, 32)  # (n, k)
memory = swizzle.copied(columns)  # the tile's 1,024 bytes
for start in (0, 32, 64, 96):
    number = swizzle.descriptor(start)
    read = swizzle.operand(memory, number, 8, np.float32)  # (k, n)
    k = start // 4
    print(f"{number:#_x}", np.array_equal(read.T, columns[:, k : k + 8]))

# %% [markdown]
# What is the rest of the number? Read it from the right, four hexadecimal digits at a time. First the start; then the
# leading offset, from one chunk to the next where there is no swizzle; then the **stride**, which in a larger tile
# leads from eight rows to the next eight. Bytes are divided by 16, so that 14 bits reach through 256 KiB. The uppermost
# two bits name the **swizzle**, which must be the one by which the tile was laid down.[^NVIDIA "PTX ISA, Matrix
# Descriptor Format"
# https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-shared-memory-layout-matrix-descriptor]
# (Bits 49 to 51 are the base, 0 if the tile begins at a multiple of 1,024 bytes.)
#
# Below is a tile of 16 rows, swizzled by 128 bytes. Change a field, and see what the product's 16 columns get. At which
# stride do columns 8 to 15 get the numbers of columns 0 to 7? And what does column 1 get if the descriptor says "none"?

# %% tags=["hide-input"]
# A descriptor, and what is read for it.
figures.descriptor_bits()

# %% [markdown]
# <details><summary>Answers</summary>
#
# At stride 0 the second eight rows are the first eight again. With none, the instruction expects a tile by chunks, rows
# of 16 bytes one after the other, and takes the next chunk of row 0 for column 1: at start 32, chunks 3 and 4. Neither
# is an error that anybody reports. A wrong descriptor is a wrong product, without a word.
#
# </details>
#
# In a kernel it looks like this, four steps of eight $k$ (rung 12 has the left operand in registers):
#
# ```python
# wgmma_fence()                              # what was written to these registers is in them
# for k in range(4):
#     wgmma(sums, left, 4 * k, right + 2 * k)  # asks, and goes on
# wgmma_commit()                             # these four are a group
# wgmma_wait1()                              # all groups but the last one are done
# ```
#
# `wgmma` is **asynchronous**: four warps ask together, and go on at once. While the tensor cores have one group, the
# warps make the next one ready. Until they have waited for a group they must leave its registers alone, those of the
# sums and of the left operand: one more race of the kind of lesson 16, between a program and a unit that works for it.
#
# And what does it buy? Here is one step of eight $k$ for $64 \times 256$ sums in TF32: by four warps with `mma`, each
# of $64 \times 64$ as in rung 10, and by one `wgmma` with both operands in shared memory.

# %% tags=["hide-input"]
# Counted, not measured.
k, loaded = 8, 2 * 64 * 8  # numbers of a warp's fragments, of A and B
table(
    [
        ("instructions of each warp", 64 * 64 * k // (16 * 8 * 8), 1),
        ("a lane's registers for operands", loaded // 32, 0),
        ("a lane's registers for sums", 64 * 64 // 32, 64 * 256 // 128),
        ("bytes of operands, read from shared memory", 4 * 4 * loaded, 4 * k * (64 + 256)),
    ],
    ["four warps, eight k", "mma", "wgmma"], formats=dict.fromkeys(("mma", "wgmma"), ",.0f"), align="lrr",
    caption="64 × 256 sums in TF32: counted from the sizes of the instructions",
)  # fmt: skip

# %% [markdown]
# 32 instructions become one, and the operands' registers are free; rung 10 keeps two sets of them, to load ahead. The
# sums stay in registers.
#
# ## From 200 to 400
#
# Those are counts. What do they bring? Lesson 14's ladder goes on above rung 10. Each step exchanges one thing, and
# what must change with it:
#
# - **rung 10**: `mma`; all threads copy tiles, and load operands from them;
# - **rung 11**: `wgmma` instead of `mma`; threads copy as before;
# - **rung 12**: one thread has whole tiles copied by the unit for it, TMA, and the others only multiply.
#
# They took turns with cuBLAS on one card, in another run than the tables at the top: rung 10 was a tenth slower in it,
# cuBLAS in TF32 a little faster. So compare within the table.

# %% tags=["hide-input"]
# A prediction.
climb = measured_rows("hopper", "TF32 4096", card="h200")
tflops = {row["choice"]: row["tflops"] for row in climb.rows}
first, last = (round(tflops[name], -1) for name in ("v10", "cuBLAS TF32"))
onward = predict(
    f"In TF32, at 4,096, rung 10 reaches {first:.0f} TFLOP/s here and cuBLAS {last:.0f}. Which of the two steps brings "
    "more of the difference?",
    ["`wgmma`, about two thirds of it", "TMA, about two thirds of it", "each half of it",
     "neither: both stay below 240"],
    answer="`wgmma`, about two thirds of it",
    reveals=3,
)
onward

# %% tags=["hide-input", "hide-output"]
# Rungs 10 to 12 in turns with cuBLAS.
CLIMB = {"v10": "rung 10, mma", "v11": "rung 11, wgmma", "v12": "rung 12, and TMA", "cuBLAS TF32": "cuBLAS, TF32",
         "cuBLAS": "cuBLAS, float32"}  # fmt: skip
larger = measured_rows("hopper", "TF32 8192", card="h200")
table(
    [(called, climb.one(choice=k)["tflops"], larger.one(choice=k)["tflops"], climb.one(choice=k)["error"])
     for k, called in CLIMB.items()],
    ["product", "TFLOP/s, 4,096", "8,192", "largest error, 4,096"],
    formats={"TFLOP/s, 4,096": ".0f", "8,192": ".0f", "largest error, 4,096": ".1e"},
    caption=f"{climb.card}, {climb.date}; errors as a share of the largest result",
)  # fmt: skip

# %% tags=["hide-input", "hide-output", "continued"]
# The same unit for three products, and for numbers of 16 bits.
three_tf32 = measured_rows("hopper", "3xTF32 4096", card="h200")
short = measured_rows("hopper", "16 bits 4096", card="h200")
MORE = {
    "rung 9, three TF32 products": (three_tf32, "v09"), "rung 13, three, wgmma and TMA": (three_tf32, "v13"),
    "cuBLAS, float32": (three_tf32, "cuBLAS"), "ours, BF16": (short, "bf16"), "cuBLAS, BF16": (short, "cuBLAS BF16"),
}  # fmt: skip
table(
    [(called, part.one(choice=k)["tflops"], part.one(choice=k)["error"]) for called, (part, k) in MORE.items()],
    ["product, 4,096", "TFLOP/s", "largest error"], formats={"TFLOP/s": ".0f", "largest error": ".1e"},
    caption="The same card and day; the BF16 products take numbers that BF16 holds, and cuBLAS rounds its result to it",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>What each step brought</summary>
#
# `wgmma` makes 200 into 330, two thirds of the way. It is past the 240 at which `mma` alone ends, though its threads
# still copy. TMA brings the rest: no thread computes addresses, and the whole block no longer stops for each tile.
# Only who needs a tile waits for it, at a barrier in shared memory. Rung 12 is level with cuBLAS. Its error is cuBLAS's
# too, digit for digit: TMA *rounds* to TF32 on the way. Rungs 10 and 11 hand over float32 as it is; the tensor core
# ignores its last 13 bits, which is a cut. To make up for that on average they enlarge one operand slightly.
#
# The riddle's three products gain as well. Rung 13 does 127 TFLOP/s of *one* product, so 380 of all three: nearly
# what rung 12 does. It is 2.7 times as fast as cuBLAS in float32, and its error a third as large.
#
# In BF16 tensor cores do twice as many in a clock. Ours reaches more than 700, within a tenth of cuBLAS. And sums in
# float32 are hundreds of times as exact as what is left when the *result* is rounded to BF16.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed; and the sentences above.
brought = (tflops["v11"] - tflops["v10"]) / (tflops["v12"] - tflops["v10"])
onward.confirm("`wgmma`, about two thirds of it" if 0.58 < brought < 0.72 else f"{brought:.2f}")
assert (round(tflops["v10"], -1), round(tflops["v11"], -1)) == (200, 330)
assert tflops["v11"] > speed / 1e12
assert all(0.95 < part.one(choice="v12")["of_rival"] < 1.05 for part in (climb, larger))
assert climb.one(choice="v12")["error"] == climb.one(choice="cuBLAS TF32")["error"]
assert climb.one(choice="v11")["error"] == climb.one(choice="v10")["error"] > climb.one(choice="v12")["error"]
again = three_tf32.one(choice="v13")
assert (round(again["tflops"]), round(3 * again["tflops"], -1), round(again["of_rival"], 1)) == (127, 380, 2.7)
assert 0.28 < again["of_error"] < 0.38
ours = short.one(choice="bf16")
assert ours["tflops"] > 700
assert 0.9 < ours["of_rival"] < 1
assert short.one(choice="cuBLAS BF16")["error"] > 300 * ours["error"]

# %% [markdown]
# One question is left from the sums that are cut: how often should they be let out? Rung 13 was measured with four
# answers:

# %% tags=["hide-input"]
# Rung 13, whose sums leave after more or fewer products.
out = {k: three_tf32.one(choice="v13" if k == 64 else f"v13 flush {k}") for k in (256, 128, 64, 32)}
table(
    [(f"every {k} k", row["tflops"], row["of_error"]) for k, row in out.items()],
    ["let out", "TFLOP/s", "error, of cuBLAS float32's"],
    formats={"TFLOP/s": ".0f", "error, of cuBLAS float32's": ".2f"}, align="lrr",
    caption=f"{three_tf32.card}, {three_tf32.date}: three TF32 products of 4,096 × 4,096 × 4,096",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked: the sentences below.
assert out[64]["of_error"] < 0.5 * out[256]["of_error"]
assert 0.97 < out[64]["tflops"] / out[256]["tflops"] < 1.03
assert out[32]["of_error"] > 0.8 * out[64]["of_error"]
assert 0.8 < out[32]["tflops"] / out[64]["tflops"] < 0.9

# %% [markdown]
# Four times as often, and the error is less than half: these cuts are a real card's. And it costs nothing, because two
# groups of warps take turns; while one adds, the other keeps the tensor cores busy. Every 32 is too often: little is
# gained, and the product is an eighth slower.
#
# ## In clocks
#
# How near is that to what the card can do? A kernel that does nothing but one instruction, in registers and shared
# memory, reads the multiprocessor's clock before and after. A V100's tensor core does 64 multiply-adds in a clock. Its
# grandchild has only four in a multiprocessor, not eight, but they are larger.

# %% tags=["hide-input"]
# A prediction.
per_core = predict(
    "How many multiply-adds does a tensor core of an H200 do in a clock, in BF16, by `wgmma`?",
    [128, 256, 512, 1024],
    answer=512,
    reveals=3,
)
per_core

# %% tags=["hide-input", "hide-output"]
# Instructions one by one, and back to back.
instructions = [row for part in ("mma", "wgmma") for row in measured_rows("tensor_cores", part, card="h200").rows]

def of(name, kind):
    chain, *others = [r for r in instructions if (r["instruction"], r["format"]) == (name, kind)]
    return chain["clocks"], max(r["fma_a_clock_and_core"] for r in others)

ONES = [("mma m16n8k8", "tf32", 1), ("mma m16n8k16", "bf16", 1), ("wgmma m64n256k8", "tf32", 4),
        ("wgmma m64n256k16", "bf16", 4)]  # fmt: skip
clocks = {(name.split()[0], kind): of(name, kind) for name, kind, _ in ONES}
heads = ["a chain: clocks each", "multiply-adds, a clock and core", "of the most"]
table(
    [(f"{name}, {TITLES[kind]}", *of(name, kind), of(name, kind)[1] / {"tf32": 256, "bf16": 512}[kind])
     for name, kind, _ in ONES],
    ["instruction", *heads], align="lrrr", formats=dict(zip(heads, (".0f", ".0f", ".0%"), strict=True)),
    caption=f"{products.card}, {products.date}: each waiting for the one before; and back to back, the best of 1 to 32 "
    "warps",
)  # fmt: skip

# %% tags=["hide-output", "continued"]
core = round(clocks["wgmma", "bf16"][1])
hopper = 4 * core * 2  # tensor cores, multiply-adds, operations in each
sheet_clock = peaks["BF16"] * 1e12 / (132 * hopper)  # 132 multiprocessors
print(f"{hopper} against {volta}: {hopper / volta:g} times; {peaks['BF16']:.0f} TFLOP/s at {sheet_clock / 1e9:.2f} GHz")

# %% [markdown]
# <details class="reveal"><summary>How many a clock</summary>
#
# Eight times a V100's core. $64 \times 256 \times 16$ multiply-adds on four cores are 128 clocks, and 128.0 are
# measured, with a single group of four warps. TF32 does half as many. `mma` ends at 65 % of both
# with any number of warps: the limit that rung 11 passed. In the last line is the arithmetic that was the V100's at the
# top: four times as much for a multiprocessor, and the clock at which the card does what its data sheet says.
#
# And a chain is slow: an `mma` that waits for the one before takes 24 clocks. In BF16 that makes 85 multiply-adds a
# clock, of 512. So a warp works on many sums at once, and several warps share a core.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed; and the sentences above.
per_core.confirm(round(clocks["wgmma", "bf16"][1]))
assert [round(clocks["wgmma", kind][1], 1) for kind in ("tf32", "bf16")] == [256, 512]
assert all(0.64 < clocks["mma", kind][1] / most < 0.67 for kind, most in (("tf32", 256), ("bf16", 512)))
assert [clocks["mma", kind][0] for kind in ("tf32", "bf16")] == [24, 24]
(one_group,) = [r for r in instructions if (r["instruction"], r["format"], r["run"], r["by"]) == (
    "wgmma m64n256k16", "bf16", "back to back", 1)]  # fmt: skip
assert round(one_group["clocks"], 1) == 128

# %% [markdown]
# Does the card run at the clock of its data sheet?

# %% tags=["hide-input"]
# How the card ran while cuBLAS multiplied.
busy = products.one(format="BF16", n=8192)
possible = 132 * hopper * busy["MHz"] * 1e6 / 1e12
print(f"BF16, 8,192: {busy['watts']:.0f} W at {busy['MHz'] / 1e3:.2f} GHz; {possible:.0f} TFLOP/s possible, "
      f"{busy['tflops']:.0f} reached: {busy['tflops'] / possible:.0%}")
assert 690 < busy["watts"] < 700
assert 0.85 < busy["tflops"] / possible < 0.92
mma_clock = speed / (132 * 4 * clocks["mma", "tf32"][1] * 2)
assert round(mma_clock / 1e9, 2) == 1.36
tf32 = products.one(format="TF32", n=8192)
assert (round(tf32["MHz"] / 1e3, 2), round(tf32["watts"])) == (1.98, 664)
assert (round(132 * 4 * 256 * 2 * tf32["MHz"] / 1e6), round(tf32["tflops"])) == (535, 361)

# %% [markdown]
# While cuBLAS multiplied, `nvidia-smi` was asked once: 693 watts, of the 700 that this card may draw, and a clock of
# 1.47 GHz, not 1.83. *That* is the surprise. What holds this product in BF16 back most is neither bytes nor
# instructions but **power**: the card lowers its clock until it stays within its limit.[^NVIDIA "H200 Tensor Core GPU
# Datasheet"] At that clock cuBLAS reaches nearly nine tenths of what is possible. (In TF32 the one look found 1.98 GHz
# and 664 W. At that clock 535 TFLOP/s would be possible, and 361 were reached; what held it back, one look cannot say.)
#
# The 240 of bare `mma` were probably held back in the same way: 167 multiply-adds a clock are 240 TFLOP/s at 1.36 GHz.
# So a peak on a data sheet is a speed that the card may not be able to afford, and runs differ, by up to a seventh on
# this page.

# %% [markdown]
# ## Weights and steps
#
# Can a network be *trained* with so few bits? A step of training adds something small to each weight. Let a weight be
# 1.5, kept in BF16, and look back at the table of formats.

# %% tags=["hide-input"]
# A prediction.
steps = predict(
    "Which is the smallest of these steps that changes a BF16 weight of 1.5, when it is added?",
    [0.001, 0.003, 0.005, 0.02],
    answer=0.005,
    reveals=2,
)
steps

# %% tags=["hide-output"]
moving = [s for s in (0.001, 0.003, 0.005, 0.02) if round_to(np.float32(1.5 + s), "bf16") != 1.5]
kept, master = np.float32(1.5), np.float32(1.5)
for _ in range(100):
    kept = round_to(kept + np.float32(0.003), "bf16")
    master = master + np.float32(0.003)
print(f"changed by {moving}; after 100 steps of 0.003: {kept:g}, and a float32 is {master:.3f}")

# %% [markdown]
# <details class="reveal"><summary>Master weights</summary>
#
# Numbers of BF16 are 1/128 apart here. A step of less than half of that, 0.0039, up or down, is rounded away, each
# time: a hundred steps of 0.003 leave 1.5. It is the sum of ones again. The cure is the same, to add in float32: the
# weights that are kept, the **master weights**, stay float32. Each step rounds a copy of them to BF16 for the products,
# which run at full speed; the update is added to the original.[^Micikevicius et al. 2018 "Mixed Precision Training,
# 3.1" https://arxiv.org/abs/1710.03740]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
steps.confirm(min(moving))

# %% [markdown]
# ## Gradients on their way back
#
# Now a whole training, of a network that lesson 06b would warn you of: six hidden layers of 64 sigmoids, and all 4,000
# training digits in one batch. Adam makes 75 large steps, with a rate of 0.01, and then 75 small ones, with 0.0003. The
# same network is trained in five ways. Weights, activations and gradients are rounded to the format wherever a layer
# reads or writes them; sums and the loss are float32, and so are the master weights, except in one of the five. (The
# library emulates the small formats, on a card too: nothing gets faster here, and sums are rounded, not cut.)

# %% tags=["hide-input"]
# A prediction.
five = predict(
    "Two of the five: BF16 with float32 master weights, and BF16 without. Where does the loss without them fall "
    "behind?",
    ["from the first step on", "in the large steps", "only in the small steps", "nowhere"],
    answer="only in the small steps",
    reveals=3,
)
five

# %% tags=["hide-output", "nbval-ignore-output"]
digits = data.load_digits(seed=0)
ways = {
    "float32": {},
    "BF16": {"precision": "bf16"},
    "BF16, no master": {"precision": "bf16", "kept": "bf16"},
    "FP16": {"precision": "fp16", "loss_scale": 1},
    "FP16, loss × 65,536": {"precision": "fp16", "loss_scale": 65536},
}
runs = precision_runs(digits, ways)
heads = ["loss at 75", "at the end", "right", "layer 1 moved", "last step moved"]
table(
    [(way, r.history.loss[75], r.history.loss[-1], r.accuracy, r.moved, r.late) for way, r in runs.items()],
    ["way", *heads], formats=dict(zip(heads, (".2f", ".2f", ".0%", ".0%", ".0%"), strict=True)),
    caption="Loss after 75 large steps, and before the last small one; test digits that are right; weights that have "
    "moved: of layer 1 in all steps, of all layers in the last one",
)  # fmt: skip

# %% tags=["hide-output", "hide-input", "continued"]
# The five losses.
fig, (whole_run, small_steps) = figures.style.new_figure(3.4, 5.6, 2)
roles = dict(zip(runs, ("data", "thread", "weight", "hazard", "gradient"), strict=True))
losses = {k: r.history.loss for k, r in runs.items()}
late = {k: (np.arange(75, 150), loss[75:]) for k, loss in losses.items() if k != "FP16"}
figures.plots.curves(losses, roles=roles, ylabel="loss", ax=whole_run)
whole_run.legend(loc="center right", fontsize=7, handlelength=3)
figures.plots.curves(late, roles=roles, xlabel="step", ylabel="loss, small steps", ax=small_steps)
small_steps.legend(loc="lower left", fontsize=7, handlelength=3)
figures.show(
    fig,
    alt="Loss against step: FP16 stays at 2.3, which is guessing; the four others fall together to about 0.5 at step "
    "75. From there on, in small steps, three fall by 0.05 to 0.08, and BF16 without master weights by 0.03.",
)

# %% tags=["hide-input"]
# The answer, confirmed; and the sentences below.
silent = [k for k, r in runs.items() if r.history.loss[-1] > 2.29 and r.accuracy < 0.2]
assert silent == ["FP16"]
assert runs["FP16"].moved == 0
fall = {k: r.history.loss[75] - r.history.loss[-1] for k, r in runs.items()}
behind = {at: losses["BF16, no master"][at] - losses["BF16"][at] for at in (25, 50, 75)}
late_only = max(map(abs, behind.values())) < 0.06 and fall["BF16, no master"] < 0.5 * fall["BF16"]
five.confirm("only in the small steps" if late_only else f"{behind}, {fall}")
assert fall["BF16, no master"] < 0.6 * min(fall["float32"], fall["FP16, loss × 65,536"])
assert runs["BF16, no master"].late < 0.2 < 0.9 < runs["BF16"].late
assert abs(runs["BF16"].history.loss[-1] - runs["float32"].history.loss[-1]) < 0.06

# %% [markdown]
# <details class="reveal"><summary>What each of them shows</summary>
#
# Without master weights BF16 learns just as well *while steps are large*. Then the rate falls, and most updates are
# less than half a step of their weight: in the last step nearly nine weights of ten stay where they are. The loss falls
# by less than half as much as in BF16 with them.
#
# And FP16, with nothing else? It stays at 2.30, the logarithm of ten, which is guessing. It has 16 bits like BF16,
# three more for the fraction and three fewer for the exponent. Why it learns nothing comes next. BF16, with master
# weights, ends close to float32.
#
# So: **the operands of products get by with few bits. Sums need many, in the accumulator and in the master weight.
# Gradients need the exponent.**
#
# </details>

# %% [markdown]
# Which weights does a gradient reach at all, in FP16 with nothing else?

# %% tags=["hide-input", "nbval-ignore-output"]
# Shares of the weights whose gradient is not zero, in some of the steps.
arrived = runs["FP16"].reached
table(
    [(f"layer {n}", *arrived[[0, 4, 9, 19, 59], n - 1]) for n in range(1, 8)],
    ["FP16", "step 1", "5", "10", "20", "60"], formats=dict.fromkeys(["step 1", "5", "10", "20", "60"], ".0%"),
    align="lrrrrr", caption="Weights whose gradient is not zero",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked: the sentences below.
assert not arrived[:, 0].any()
assert arrived[0, 1] > 0.9 > 0.1 > arrived[19, 1]

# %% [markdown]
# Layer 1's gradients are zero from the first step on, and ten or twenty steps later layer 2's are zero too. The silence
# spreads upward: layers that learn from numbers which hardly depend on the image learn only how frequent each digit is,
# and then their gradients shrink as well.

# %% [markdown]
# These are the gradients of the first step, by powers of two: the derivatives of the loss with respect to the sums $z$
# of a layer's neurons, one for each neuron and image. The loss is a mean over 4,000 images, so that each of them has a
# factor of $1/4000$ in it, twelve powers of two. What is lost of layers 1 to 3? Find a scale that saves layer 1. Then
# look at the gradients of the *weights*: each adds up 4,000 of the others, each times what came into the layer, and
# they may be several hundred times as large. How far can the scale go before one of them overflows?

# %% tags=["hide-input"]
# The real gradients of the first step, moved by a scale.
returned = returning_gradients(digits)
figures.loss_scale(returned)

# %% tags=["hide-input"]
# Checked: what becomes zero in FP16.
lost = {name: float(np.mean(round_to(g, "fp16") == 0)) for name, g in returned["sums z"].items()}
assert (lost["layer 1"], round(lost["layer 2"], 1), round(lost["layer 3"], 1), lost["layer 7"]) == (1, 0.7, 0.2, 0)
largest = max(float(np.abs(g).max()) for g in returned["weights"].values())
assert largest * 2**18 < FORMATS["fp16"].largest < largest * 2**19

# %% [markdown]
# <details><summary>Answers</summary>
#
# Without a scale *every* gradient of layer 1 is zero in FP16, of layer 2 two thirds and of layer 3 a fifth; most of the
# others have only some bits left. BF16, with its eight bits of exponent, keeps them all. From $2^9$ on nearly all of
# layer 1 is saved. The largest gradient of all is a weight's in layer 7, about $2^{-2.4}$. It overflows from a scale of
# $2^{19}$ on.
#
# </details>
#
# The right end of FP16 was empty. So multiply the loss by $2^{16}$, say: by the chain rule, every gradient becomes
# $2^{16}$ times as large, and nothing else changes. Divide by it again in float32, before the step.[^Micikevicius et
# al. 2018 "Mixed Precision Training, 3.2" https://arxiv.org/abs/1710.03740] That is a **loss scale**. (FP16 ends before
# $2^{16}$, but loss and scale are float32. What flows back in FP16 begins with at most $2^{16} / 4000$, about 16.)
#
# One scale serves all layers, so the largest gradient anywhere limits it. If one becomes infinite, leave this step out
# and halve the scale; if all goes well for a while, double it. Begin too high, and watch:

# %%
scale = nn.LossScale("auto", start=2**24, grow_after=10)
searching = precision_runs(digits, {"FP16": {"precision": "fp16", "loss_scale": scale}}, epochs=60)["FP16"].history
scales = np.log2([2**24, *searching.loss_scale])
print(f"{searching.skipped} steps skipped; the first: 2 to the {scales[:8].astype(int).tolist()}")

# %% tags=["hide-input"]
# The scale over the steps.
fig, ax = figures.style.new_figure(3.4, 2.2)
figures.plots.curves({"loss scale": scales}, xlabel="step", ylabel="power of two", ax=ax)
ax.lines[0].set_drawstyle("steps-post")
figures.show(
    fig,
    alt="The loss scale falls from 2 to the 24 to 2 to the 18 in six steps; then it rises by one every ten good steps, "
    "and falls by one where a gradient overflows.",
)
assert scales[:8].astype(int).tolist() == [24, 23, 22, 21, 20, 19, 18, 18]
assert searching.skipped >= 7

# %% [markdown]
# The first six steps are skipped. From then on the scale tries the next power every ten good steps (2,000 are usual),
# and soon runs at $2^{19}$ and above without harm: the last layer's gradients are not again as large as in the first
# step. (Those of layer 1 *grow*, more than a hundred times, as soon as the network learns.) That is why a scale must be
# able to move, both ways. A log that says "overflow, step skipped" now and then is in order.
#
# Together, and without the part that doubles the scale, this is a step of **mixed-precision training**:

# %%
def mixed_step(net, optimiser, x, y, scale, lr=0.01):
    """One step in FP16 with float32 master weights; returns the loss and the next loss scale, which here only falls."""
    with nn.rounded(net, "fp16"):  # layers read their weights, and all else, rounded
        loss, cache = fast.softmax_cross_entropy_forward(net.forward(x), y)
        net.zero_grad()
        net.backward_parameters(scale * fast.softmax_cross_entropy_backward(cache))
    gradients = net.gradients().values()
    if not all(np.isfinite(g).all() for g in gradients):
        return loss, scale / 2  # an overflow: this step is left out
    for g in gradients:
        g /= scale  # in float32
    optimiser.step(lr)  # on the master weights
    return loss, scale

deep = nn.models.mlp((784, *[64] * 6, 10), rng=np.random.default_rng(1), activation="sigmoid", init=glorot_normal)
adam, scale = nn.Adam(deep), np.float32(2**20)
for _ in range(5):
    loss, scale = mixed_step(deep, adam, digits.x_train, digits.y_train, scale)
    print(f"loss {loss:.2f}, next scale 2 to the {np.log2(scale):.0f}")

# %% [markdown]
# PyTorch has the same under other names. `torch.autocast` runs products in the short format, and leaves the loss, the
# softmax and long sums in float32. `GradScaler` is the scale: `scale(loss).backward()` multiplies, `unscale_` divides,
# `step` leaves a step out if it must, `update` finds the next scale. Keep sizes multiples of 8: rows of
# 16-bit numbers then begin at multiples of 16 bytes, which the fast kernels ask for.
#
# Our sigmoids are a hard case: many networks with ReLUs train in FP16 without a scale. Not all of them; a detector
# diverged.[^Micikevicius et al. 2018 "Mixed Precision Training, 3.2"] One cannot know beforehand, so one always scales,
# or takes BF16, today's default where the hardware has it. FP8, with four or five bits of exponent, needs scales again.
#
# ## Zeros that pay
#
# Fewer bits are one way to do less. Another is fewer weights. **Pruning** sets the smallest ones to zero.[^Han et al.
# 2015 "Learning both Weights and Connections" https://arxiv.org/abs/1506.02626] Scattered, zeros save little: each is
# multiplied as slowly as any number, and to skip them takes a list of where the others are. So hardware asks for a
# pattern: of every four neighbours along the sum at least **two** are zero, *2:4*.[^Mishra et al. 2021 "Accelerating
# Sparse Deep Neural Networks" https://arxiv.org/abs/2104.08378] (Of TF32, one of every two.) Then two numbers and two
# places of two bits each are enough:

# %%
w = np.array([0.9, -0.1, 0.2, 0.7, 0.3, -0.8, 0.0, 0.1], np.float32)
left = np.where(two_of_four_mask(w) == 1, w, 0)
values, places = compress(left)
print(left, "->", values, places)

# %% [markdown]
# Four weights of 16 bits need 64 bits, and now $2 \cdot 16 + 2 \cdot 2 = 36$, 56 %. A sparse tensor core does half of
# the products; the data sheet's "with sparsity" counts the other half as done. What does it cost? Here is lesson 06's
# network, pruned at once, and after three more epochs in which zeros stay zero:

# %% tags=["hide-input", "nbval-ignore-output"]
# Lesson 06's network with fewer weights, and a control: three more epochs and nothing pruned.
net = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
nn.train(net, digits, epochs=20, batch_size=64, lr=0.1, momentum=0.9, rng=np.random.default_rng(1), progress=False)
rules = {"nothing": np.ones_like, "2:4": two_of_four_mask} | {
    f"the smallest {share:.0%}": (lambda w, s=share: magnitude_mask(w, s)) for share in (0.5, 0.8, 0.95)
}
pruned = pruned_runs(net, digits, rules)
heads = ["at once", "after three epochs"]
table(
    [(name, once, more) for name, (_, once, more) in pruned.items()], ["set to zero", *heads],
    formats=dict.fromkeys(heads, ".1%"), caption="Test digits that are right",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked.
full, control = pruned["nothing"][1:]
assert pruned["the smallest 50%"][1] > full - 0.02
assert pruned["2:4"][1] < pruned["the smallest 50%"][1]
assert min(pruned["2:4"][2], pruned["the smallest 50%"][2]) > control - 0.01
assert len(digits.y_test) == 1000
assert pruned["the smallest 80%"][2] > control - 0.02
assert pruned["the smallest 95%"][1] < 0.8
first = net[0].params["w"]
stays = {"2:4": two_of_four_mask(first), "half": magnitude_mask(first, 0.5)}
stays = {name: float(np.abs(first * mask).sum()) for name, mask in stays.items()}
assert stays["2:4"] < stays["half"]

# %% [markdown]
# At once, 2:4 costs more than the smallest half does, for it must drop the third largest of four even where all four
# are large. After three more epochs both are within a point of the control, ten of the 1,000 test digits. Without a
# pattern one can prune further, to 80 %, but only the pattern makes a tensor core faster.
#
# A tensor core is a small special-purpose machine within a general one. A whole chip of that kind is the optional
# section below.

# %% [markdown]
# ## Optional: a machine for one thing
#
# The classic machine for one thing is the **systolic array**: a grid of cells, each with a weight, through which
# numbers move one cell a beat.[^Kung 1982 "Why Systolic Architectures?" https://doi.org/10.1109/MC.1982.1653825] In
# each cell, the sum from above, plus the number that has come in times the weight, goes on down. A hatched cell has
# only its weight.
#
# <details><summary>A grid whose cells never ask a memory</summary>
#
# Row $k$ of the grid gets *column* $k$ of $A$, one number a beat, and each row begins one beat later than the one
# above. So the three numbers of a row of $A$ meet the same sum on its way down.
#
# A number that has come in is used in every column, as a number in lesson 14's shared tile was; but there is no
# address, no wavefront, no instruction. Here is all that it does in a beat, as in `course_lib.reference.systolic`:
#
# ```python
# moving = np.column_stack([entering, moving[:, :-1]])  # one cell to the right
# above = np.vstack([np.zeros(N), sums[:-1]])           # one cell down
# sums = above + moving * B
# ```
#
# The price is in the timeline below the grid: it fills and it drains. $M$ rows through $K \times N$ cells take
# $M + K + N - 2$ beats, and each cell is busy in $M$ of them.
#
# </details>

# %% tags=["hide-input"]
# A grid of 3 x 3 cells multiplies two matrices of 3 x 3.
figures.systolic_array(np.arange(1, 10).reshape(3, 3), np.array([[1, 0, 2], [0, 1, 1], [3, 1, 0]]))

# %% tags=["hide-output"]
K = N = 256  # the grid of Google's first TPU
busy = {M: M / (M + K + N - 2) for M in (16, 256, 4096)}
tpu = 2 * K * N * 700e6  # operations a second, if all cells are busy
print({M: f"{share:.0%}" for M, share in busy.items()}, f"{tpu / 1e12:.0f} trillion operations a second")

# %% [markdown]
# <details><summary>The first TPU</summary>
#
# A grid of $256 \times 256$ cells at 700 MHz was the heart of Google's first TPU: 92 trillion operations a second, with
# numbers of 8 bits, in 2015, when Pascal cards were still to come.[^Jouppi et al. 2017 "In-Datacenter Performance
# Analysis of a Tensor Processing Unit" https://arxiv.org/abs/1704.04760] One product of 16 rows alone keeps it 3 %
# busy. Several can follow each other without a gap, but then each brings its own weights, and these have to be fetched.
# It is lesson 14's finding once more: one image at a time is a waste of any machine.
#
# </details>

# %% [markdown]
# ## Three places
#
# Where may bits be saved, and where not? This is the whole page in three rows:

# %% tags=["hide-input"]
# What was found.
table(
    [
        ("operands of a product", "digits", "nothing, or a second part: 500 times as exact"),
        ("sums: accumulator, weight", "what is added, once it is below half a step",
         "float32; in BF16 a sum of ones stops at 256"),
        ("gradients", "small ones, to zero", "exponent bits, or a loss scale such as 2¹⁶"),
    ],
    ["numbers", "what few bits take away", "what helps"], align="lll",
)  # fmt: skip

# %% [markdown]
# ## Try it
#
# - Which lane holds $A[12, 7]$ of `m16n8k16`, and in which register? Work it out, then point at it.
#   <details><summary>Answer</summary>
#
#   Row 12 is $g + 8$ with $g = 4$. Column 7 is in the pair that begins at 6, so $t = 3$. Lane $4 \cdot 4 + 3 = 19$, and
#   register 1: the lower row, and $k$ below 8.
#
#   </details>
# - A tile is swizzled by 128 bytes. In which banks does chunk 5 of row 11 lie?
#   <details><summary>Answer</summary>
#
#   $11 \bmod 8 = 3$, and `5 ^ 3` is 6: place 6, so banks 24 to 27.
#
#   </details>
# - In the first figure, find a power of two at which FP16 still has a number for π and E4M3 has only zero.
#   <details><summary>Answer</summary>
#
#   From $2^{-12}$ down to $2^{-26}$: E4M3's smallest number is $2^{-9}$, and $3.14 \cdot 2^{-12}$ is below half of
#   that. FP16's smallest is $2^{-24}$.
#
#   </details>
# - From which loss scale on does less than half of layer 1's gradients lose digits?
#   <details><summary>Answer</summary>
#
#   From $2^{14}$ on, though $2^9$ is enough to save nearly all of them from zero.
#
#   </details>

# %% [markdown]
# <details><summary>For those who know the lectures</summary>
#
# - "Each tensor core does 64 FLOPS/clock": it does 64 *multiply-adds*, 128 floating-point operations. The slide's last
#   line proves it: with 64 operations a multiprocessor would do $8 \cdot 64 / 128 = 4$ times as much as Pascal's, not
#   8 times.
#
# </details>

# %% [markdown]
# ## Check yourself
#
# **1.** A gradient is $10^{-8}$. What is it in FP16 and in BF16, and what with a loss scale of 1,024 in FP16?
#
# <details><summary>Answer</summary>
#
# In FP16 it is zero: half of the smallest number is $3 \cdot 10^{-8}$. In BF16 it stays, to two or three decimal
# digits. Times 1,024 it is about $10^{-5}$, a subnormal of FP16, with eight significant bits left.
#
# </details>

# %% [markdown]
# **2.** Your training in FP16 begins with a scale of 65,536. In the first hundred steps it logs "overflow, step
# skipped" twice, and the scale is 16,384. What do you do?
#
# <details><summary>Answer</summary>
#
# Nothing: the scale is finding its place. If steps are skipped again and again and the scale falls to 1, some number
# is infinite for another reason, a learning rate that is too large, for instance.
#
# </details>

# %% [markdown]
# **3.** Adam keeps a running mean $v$ of squared gradients: in each step it becomes $0.999\,v + 0.001\,g^2$. Somebody
# computes in float32 and stores $v$ in BF16. All $g^2$ are 1. Where does $v$ end that begins at 0? And one that begins
# at 1, if all $g$ are 0?
#
# <details><summary>Answer</summary>
#
# The first at 0.25: there numbers of BF16 are 1/512 apart, and a step of $0.001 \cdot 0.75$ is less than half of that.
# The second stays at 1: just below 1 they are 1/256 apart, and 0.001 is less than half of it. It is the sum of ones
# once more, so $v$ belongs to what is kept in float32.
#
# </details>
