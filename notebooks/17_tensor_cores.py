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
# Every number of this course has been a float32. The fastest units of a card do not take float32: their numbers have
# ten digits after the binary point, or seven, or two. Used well, they multiply eight times as fast, and a network
# learns to read as well as before. Used badly, it learns nothing at all. Choose a number below, move the slider, and
# watch what six formats make of it.

# %% tags=["hide-input"]
import numpy as np
from numba import cuda

from course_lib import data, figures, gpu, nn, simt
from course_lib.bench.gpu.roof import roof_of
from course_lib.cuda.intrinsics import mma_bf16, to_bf16_pair
from course_lib.lesson import (
    measured,
    microbench,
    precision_runs,
    predict,
    pruned_runs,
    returning_gradients,
    split_products,
    table,
)
from course_lib.nn.pruning import compress, magnitude_mask, two_of_four_mask
from course_lib.reference.formats import FORMATS, round_to, split

figures.number_bits()

# %% [markdown]
# Most people believe that fewer digits make everything a little worse, everywhere. You will see that a network hardly
# notices the digits, and that what it cannot do without is the *exponent*.
#
# ## You will be able to
#
# - say what a tensor core does in a clock, and which lane of a warp holds which element;
# - round a number to BF16 by its bits, and say for each format what becomes too small, too large or too coarse;
# - get lost digits back by splitting numbers, and say what that costs;
# - train in FP16 and BF16 with float32 master weights and a loss scale, and say why each is needed.

# %% [markdown]
# <details><summary>About this page</summary>
#
# Prof. Owens' lecture 11 has one slide on the tensor cores of the Tesla V100, and names mixed precision,
# special-purpose hardware and sparsity as further topics; this page is about these. You need lesson 06 (training) and
# lessons 11, 13 and 14 (warps, lanes, products). Tensor cores are emulated here by the course's executor; times are
# from the card that is named beside them. Reading and trying takes about 90 minutes.
#
# </details>

# %% [markdown]
# ## A small matrix in a clock
#
# In lesson 14 each multiply-add was an instruction of its own. A **tensor core** does a small product of matrices at
# once: $D = A B + C$, where each is a 4 × 4 matrix.[^Owens "Tesla V100 Tensor Cores"] Every element of $D$ needs four
# multiply-adds, so the sixteen need 64, and a tensor core of a V100 does all 64 in each clock. A multiprocessor has
# eight of them. One generation earlier, on a P100 of the Pascal family, a multiprocessor had 64 cores for float32, and
# each of them did one multiply-add in a clock.[^NVIDIA "Tesla P100 Whitepaper, GP100 SM"]

# %% tags=["hide-input"]
# A prediction.
pascal = predict(
    "In a clock, how many times as many operations does a multiprocessor of a V100 do on its tensor cores as one of a "
    "P100?",
    [2, 4, 8, 64],
    answer=8,
    reveals=2,
)
pascal

# %% tags=["hide-output"]
volta = 8 * 64 * 2  # tensor cores, multiply-adds, operations in each
p100 = 64 * 2
whole_card = 80 * volta * 1.53e9  # multiprocessors, clocks in a second
print(f"{volta} against {p100}: {volta / p100:g} times; the card: {whole_card / 1e12:.0f} TFLOP/s")

# %% [markdown]
# <details class="reveal"><summary>Where the 125 TFLOP/s come from</summary>
#
# $8 \cdot 64 \cdot 2 \,/\, (64 \cdot 2) = 8$. With 80 multiprocessors and 1.53 billion clocks a second that makes the
# 125 TFLOP/s by which the V100 was announced.[^NVIDIA "Tesla V100 Whitepaper, Tensor Cores"] The price is in the
# operands: they had to be FP16, with 10 bits of fraction.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
pascal.confirm(volta // p100)

# %% [markdown]
# Today's cards do more in a clock, and take more formats. This is lesson 14's large product once more, with the two
# rungs of its ladder that you have not met, beside NVIDIA's library. TF32 is a format that keeps 10 bits of fraction,
# so a float32 has to be rounded on its way in.

# %% tags=["hide-input"]
# Lesson 14's large product in float32 and on tensor cores.
large = measured("gemm 4096", card="h200")
ROWS = {"v08_pipelined": "rung 8, float32", "cuBLAS": "cuBLAS, float32", "v09_3xtf32": "rung 9, TF32, three products",
        "v10_tf32": "rung 10, TF32", "cuBLAS TF32": "cuBLAS, TF32"}  # fmt: skip
heads = ["milliseconds", "TFLOP/s", "largest error"]
table(
    [(called, 1e3 * large.seconds[k], large.flops / large.seconds[k] / 1e12, large.errors[k])
     for k, called in ROWS.items()],
    ["product", *heads], formats={"milliseconds": ".2f", "TFLOP/s": ".0f", "largest error": ".1e"},
    caption=f"4,096 × 4,096 × 4,096 on an {large.card} ({large.date}); errors as a share of the largest result",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked.
assert round(large.seconds["cuBLAS"] / large.seconds["cuBLAS TF32"]) == 8
assert 90 < large.errors["cuBLAS TF32"] / large.errors["cuBLAS"] < 130
assert large.errors["v09_3xtf32"] < large.errors["cuBLAS"]

# %% [markdown]
# Eight times as fast as float32, and the error a hundred times as large. And a row in the middle that looks wrong:
# three products in TF32 are faster than one in float32, and as exact. By the end of the page it will not look wrong
# any more.
#
# ## What is given up
#
# A floating-point number is $\pm\,2^{E} \cdot 1.\text{fraction}$. The exponent says how large or small a number may
# be, the fraction how finely numbers follow each other. Sixteen bits can be shared out in two ways, and both are in
# use:

# %% tags=["hide-input"]
# The formats.
heads = ["largest", "smallest with all digits", "smallest", "step after 1"]
table(
    [(f.name, f.exponent_bits, f.fraction_bits, f.largest, f.smallest_normal, f.smallest, f.step_at_one)
     for f in FORMATS.values()],
    ["format", "bits of exponent", "of fraction", *heads], formats=dict.fromkeys(heads, ".3g"),
)  # fmt: skip

# %% [markdown]
# **FP16** spends five bits on the exponent and ten on the fraction; it ends at 65,504. **BF16** is the upper half of a
# float32: the same eight bits of exponent, and only seven of fraction. **TF32** has BF16's exponent and FP16's
# fraction, but lies in 32 bits of memory, so it saves arithmetic and no bytes. The two FP8 formats are for inference
# and, with care, for training.[^Micikevicius et al. 2022 "FP8 Formats for Deep Learning"] E4M3 has no infinity: its
# highest exponent holds numbers too, up to 448, and one pattern is NaN. What is too large becomes that NaN, or stays at
# 448 if the conversion is told to *saturate*.
#
# Below its smallest number with all digits a format has **subnormal** numbers: the leading 1 is gone and the step stays
# as it is, so that digits get lost one by one. "Below 6 · 10⁻⁵ FP16 is zero" is a common mistake; it is zero below half
# of 6 · 10⁻⁸.

# %% [markdown]
# Rounding is two steps on the bits: add a little less than half of what will be cut off, or exactly half if the last
# bit that stays is 1; then cut. So a number halfway between two others goes to the one that ends with 0: **to even**.

# %%
def to_bf16(x):
    """Round float32 to BF16, which has the upper 16 of its bits."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    last = (bits >> 16) & 1
    return ((bits + 0x7FFF + last) & 0xFFFF0000).view(np.float32)

x = np.array([np.pi, 0.1, 1 + 1 / 256, 1 + 3 / 256], np.float32)
print(to_bf16(x))

# %% tags=["hide-input"]
# The same as the library's on a million numbers of all sizes.
many = np.random.default_rng(0).integers(0, 2**31 - 2**24, 1_000_000).astype(np.uint32).view(np.float32)
np.testing.assert_array_equal(to_bf16(many), round_to(many, "bf16"))

# %% [markdown]
# The last two lie halfway: $1 + 1/256$ goes down to 1 and $1 + 3/256$ up to $1 + 4/256$. (The library's `round_to` does
# the same for every format; NaN and numbers beyond the largest need a line each.) What does it mean to compute with so
# few digits?

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
# <details class="reveal"><summary>A sum that stands still</summary>
#
# From 256 to 512 the numbers of BF16 are 2 apart. 257 lies halfway between 256 and 258 and goes to the even one, back
# to 256; there the sum stays for good. FP16 has three bits more, and stands still at 2,048. So tensor cores take small
# numbers in, but **add in float32**. Remember this sum: a weight in training is one, too.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
stall.confirm(str(add_ones(1000, "bf16")))

# %% [markdown]
# ## Who holds what
#
# A kernel reaches a tensor core by an instruction that a whole **warp** executes together. The name tells the size:
# `m16n8k16` is $16 \times 16$ times $16 \times 8$, so 2,048 multiply-adds in one instruction, 64 for each lane. The
# matrices lie in the registers of 32 lanes. What a lane holds is its **fragment**; no lane has a matrix of its own.
# Point at an element, or use the arrow keys.

# %% tags=["hide-input"]
# The map by which the executor itself multiplies.
figures.fragment_map()

# %% [markdown]
# Numba-CUDA has no words for tensor cores. The course's `mma_bf16` is one line of machine language (PTX) with a name,
# and where there is no card, the executor computes it by the table that you have just seen.[^NVIDIA "PTX ISA, Matrix
# Fragments for mma.m16n8k16"] BF16 has two bytes, so two of them share a register; `to_bf16_pair` rounds and packs
# them. This is a whole kernel for one warp:

# %%
@gpu.jit
def one_product(A, B, C, D):
    lane = cuda.laneid
    g, k = lane // 4, 2 * (lane % 4)
    a0 = to_bf16_pair(A[g, k], A[g, k + 1])
    a1 = to_bf16_pair(A[g + 8, k], A[g + 8, k + 1])
    a2 = to_bf16_pair(A[g, k + 8], A[g, k + 9])
    a3 = to_bf16_pair(A[g + 8, k + 8], A[g + 8, k + 9])
    b0 = to_bf16_pair(B[k, g], B[k + 1, g])
    b1 = to_bf16_pair(B[k + 8, g], B[k + 9, g])
    c = (C[g, k], C[g, k + 1], C[g + 8, k], C[g + 8, k + 1])
    D[g, k], D[g, k + 1], D[g + 8, k], D[g + 8, k + 1] = mma_bf16((a0, a1, a2, a3), (b0, b1), c)

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
# Nearly all of the error comes from rounding `A` and `B`. Now a mistake that is easy to make, if one thinks of lanes as
# owners of matrices: "sixteen rows, so sixteen lanes are enough".

# %% tags=["hide-input"]
# A prediction.
half = predict(
    "What happens if `mma_bf16` stands inside of `if lane < 16`?",
    ["half of D is computed", "all of D, at half the speed", "nothing that is defined: all 32 lanes must come"],
    answer="nothing that is defined: all 32 lanes must come",
    reveals=2,
)
half

# %% tags=["hide-output"]
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
# <details class="reveal"><summary>A warp is one reader</summary>
#
# The instruction is the warp's, as a shuffle is (lesson 13). Lanes 16 to 31 hold half of `A` and of `B`; without them
# there is nothing to multiply. The executor says which lane is missed. A card may hang, or give numbers.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed by what was found.
named = stuck.kind == "warp operation not reached"
half.confirm("nothing that is defined: all 32 lanes must come" if named else "all of D, at half the speed")

# %% [markdown]
# ## Exact products, cut sums
#
# Two BF16 fractions of 8 digits multiply to one of 16: in float32 that is exact. Rounding happens only in the sum, and
# there tensor cores differ from every other unit: they *cut*, toward zero.[^Fasi et al. 2021 "Numerical behavior of
# NVIDIA tensor cores"] Add three quarters of float32's last digit to 1:

# %%
A, B, C = np.zeros((16, 16), np.float32), np.zeros((16, 8), np.float32), np.ones((16, 8), np.float32)
A[:, 0], B[0] = 1.5 * 2**-12, 2**-12  # their product is three quarters of the step after 1
print("rounded:", np.float32(1) + A[0, 0] * B[0, 0], " tensor core:", warp_product(A, B, C)[0, 0])

# %% [markdown]
# It stays 1. A loss of less than one digit, but always to the same side: over 4,096 additions it adds up to ten times
# what rounding loses.[^Ootomo and Yokota 2022 "Recovering single precision accuracy from Tensor Cores"] Rung 9
# therefore lets its sums out of the tensor cores every 256 additions, into ordinary ones.
#
# How a card lines up the addends before it cuts is not documented, and differs between generations. The executor adds
# exactly, and cuts once. So its results are not promised to be a card's to the last bit: the two lie within twice a
# bound that `rounding_bound` computes, about $2(K+1)$ units of the last place, of the sum of all sizes.

# %% [markdown]
# ## Getting the digits back
#
# What rounding takes away is itself a number, and can be kept: $x = x_1 + x_2$, where $x_1$ is $x$ rounded, and $x_2$
# the rest, rounded again.

# %%
for part in split(np.float32(np.pi), "bf16", 3):
    print(f"{part:+.10f}")
print(f"{np.sum(split(np.float32(np.pi), 'bf16', 3), dtype=np.float64):+.10f}  and pi was {np.float32(np.pi):+.10f}")

# %% [markdown]
# Three BF16 numbers hold a float32 entirely. A product then becomes several: $ab \approx a_1 b_1 + a_1 b_2 + a_2 b_1$.
# The fourth, $a_2 b_2$, is as small as what was left out anyway. Three products for one: how much is that worth?

# %% tags=["hide-input"]
# A prediction.
recovered = predict(
    "With three products in BF16 in place of one, how much smaller is the error of a product of matrices?",
    ["3 times", "about 10 times", "about 500 times"],
    answer="about 500 times",
    reveals=2,
)
recovered

# %% tags=["hide-output", "hide-input"]
# Errors of products from numbers with few digits, and from split ones.
A, B = (np.random.default_rng(1).standard_normal((512, 512)).astype(np.float32) for _ in "AB")
exact = A.astype(np.float64) @ B
ways = [("e4m3", 1), ("bf16", 1), ("fp16", 1), ("tf32", 1), ("bf16", 2), ("bf16", 3), ("tf32", 2), ("float32", 1)]
errors, rows = {}, []
for name, parts in ways:
    product, count = split_products(A, B, name, parts)
    errors[name, parts] = np.linalg.norm(product - exact) / np.linalg.norm(exact)
    rows.append((name, parts, count, f"{errors[name, parts]:.0e}"))
table(rows, ["format", "parts of a number", "products", "error"], align="lrrr",
      caption="512 × 512 × 512 random numbers, added in float32; error as a share of the result")  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Three times the work, nine more bits</summary>
#
# Each part brings the digits of one more fraction, eight or nine bits in BF16: about $2^9$, not $3$. Two parts of TF32
# are as exact as float32 itself. That is rung 9 of the ladder: three products, each eight times as fast, are still
# faster than one.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
gain = errors["bf16", 1] / errors["bf16", 2]
recovered.confirm("about 500 times" if 350 < gain < 750 else f"{gain:.0f} times")

# %% [markdown]
# ## A weight that will not move
#
# Can a network be *trained* with so few digits? Take the sum that stood still. A weight is a sum, too: of thousands of
# small steps. Let it be 1, and let each step add 0.003.

# %% tags=["hide-input"]
# A prediction.
steps = predict(
    "A weight kept in BF16 begins at 1 and gets a hundred steps of 0.003. What is it then?",
    [1, 1.15, 1.3],
    answer=1,
    reveals=2,
)
steps

# %% tags=["hide-output"]
kept, master = np.float32(1), np.float32(1)
for _ in range(100):
    kept = round_to(kept + np.float32(0.003), "bf16")
    master = master + np.float32(0.003)
print(f"kept in BF16: {kept:g}; kept in float32: {master:.3f}, and BF16 sees {round_to(master, 'bf16'):.4f}")

# %% [markdown]
# <details class="reveal"><summary>Master weights</summary>
#
# Numbers of BF16 are 1/128 apart here, about 0.008, and a step below half of that is rounded away, each time. So the
# weights that are kept, the **master weights**, stay float32. Layers see them rounded, and get all their speed; only
# the update is done with all digits.[^Micikevicius et al. 2018 "Mixed Precision Training, 3.1"]
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
steps.confirm(float(kept))

# %% [markdown]
# ## Gradients that vanish
#
# The second trouble is FP16's alone. Gradients are small. Take a network that lesson 06b would warn you of: six hidden
# layers of 64 sigmoids, and all 4,000 training digits in one batch. Here is what comes back to each of its layers in
# the first step, by powers of two. Look at layer 1; then find a scale that saves it.

# %% tags=["hide-input"]
# The real gradients of the first step, moved by a scale.
digits = data.load_digits(seed=0)
figures.loss_scale(returning_gradients(digits))

# %% [markdown]
# Without a scale, *every* gradient of layer 1 is zero in FP16: they lie below $2^{-25}$, half of its smallest number.
# BF16, with its eight bits of exponent, keeps them all. But the right end of FP16 is empty. So multiply the loss by
# $2^{16}$: by the chain rule, every gradient becomes $2^{16}$ times as large, and nothing else changes. Divide by it
# again in float32, before the step.[^Micikevicius et al. 2018 "Mixed Precision Training, 3.2"] That is a **loss
# scale**. If it was too large, some gradient is infinite; then leave this step out and halve the scale. If all goes
# well for a while, double it. A log that says "overflow, step skipped" now and then is in order.
#
# `nn.train` does all this with `precision="fp16"`; `loss_scale=1` turns the scale off. Here all four ways train the
# same network. (The library emulates the small formats: what goes into a layer and what comes out is rounded, on a CPU
# and on a card alike. Nothing gets faster by that; it shows what would be learned.)

# %% tags=["hide-input"]
# A prediction.
four = predict(
    "Which of the four will not learn: float32, BF16, FP16 without a scale, FP16 with one?",
    ["BF16, which has the fewest digits", "FP16 without a scale", "both FP16s", "all but float32"],
    answer="FP16 without a scale",
    reveals=3,
)
four

# %% tags=["hide-output"]
ways = {
    "float32": {},
    "BF16": {"precision": "bf16"},
    "FP16, no scale": {"precision": "fp16", "loss_scale": 1},
    "FP16, scale": {"precision": "fp16"},
}
runs = precision_runs(digits, ways, epochs=100)
rows = [
    (way, run.history.loss[-1] < 2, f"{run.moved:.0%}", run.history.loss_scale[-1])
    for way, run in runs.items()
]  # fmt: skip
heads = ["way", "learns", "first layer's weights that moved", "scale at the end"]
table(rows, heads, align="llrr", formats={"scale at the end": ",.0f"})

# %% tags=["hide-output", "hide-input", "continued"]
# The four losses.
figures.show(
    figures.plots.curves(
        {k: r.history.loss for k, r in runs.items()}, xlabel="epoch", ylabel="loss",
        roles={"FP16, no scale": "hazard", "float32": "data", "BF16": "output", "FP16, scale": "weight"},
    ),
    alt="Loss against epoch: three ways fall together, FP16 without a scale stays at 2.3, which is guessing.",
)  # fmt: skip

# %% [markdown]
# <details class="reveal"><summary>Digits do not matter, exponents do</summary>
#
# BF16 has the fewest digits of all, and learns as float32 does. FP16 without a scale stays at 2.30, the logarithm of
# ten, which is guessing: not one weight of its first layer has moved. Rounding errors point in all directions and
# average out, as the noise of mini-batches does. Underflow points in one direction: zero.
#
# </details>

# %% tags=["hide-input"]
# The answer, confirmed.
silent = [k for k, r in runs.items() if r.history.loss[-1] > 2.29 and r.moved == 0]
rest = [r.history.loss[-1] for k, r in runs.items() if k not in silent]
four.confirm("FP16 without a scale" if silent == ["FP16, no scale"] and max(rest) < 1.6 else ", ".join(silent))

# %% [markdown]
# A network that is shallow, or has ReLUs, gives gradients that FP16 can hold, and trains without a scale; you cannot
# know before. That is why today's default is BF16, where the hardware has it.
#
# ## Zeros that pay
#
# Fewer digits are one way to do less. Another is fewer weights. **Pruning** sets the smallest ones to zero.[^Han et al.
# 2015 "Learning both Weights and Connections"] Here is lesson 06's network, pruned at once, and after three more epochs
# in which zeros stay zero:

# %% tags=["hide-input"]
# Lesson 06's network with fewer and fewer weights.
net = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0))
nn.train(net, digits, epochs=20, batch_size=64, lr=0.1, momentum=0.9, rng=np.random.default_rng(1), progress=False)
dropped = (0.5, 0.8, 0.9, 0.95, 0.98)
rules = {share: (lambda w, s=share: magnitude_mask(w, s)) for share in dropped}
pruned = pruned_runs(net, digits, rules | {"2:4": two_of_four_mask})
full = nn.evaluate(net, digits.x_test, digits.y_test).accuracy
percent = {
    "at once": [100 * full, *(100 * pruned[s][1] for s in dropped)],
    "after three more epochs": [100 * full, *(100 * pruned[s][2] for s in dropped)],
}
figures.show(
    figures.plots.curves(
        percent, x=[0, *(100 * s for s in dropped)], xlabel="% of weights set to zero", ylabel="% of test digits right",
        roles={"at once": "hazard", "after three more epochs": "output"},
    ),
    alt="Accuracy against the share of weights set to zero: level to 50 %, then falling; trained on, level to 80 %.",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked.
assert pruned[0.5][1] > full - 0.02
assert pruned[0.8][2] > full - 0.02
assert pruned[0.95][1] < 0.8
assert pruned[0.95][2] > pruned[0.95][1] + 0.15

# %% [markdown]
# Half of the weights go without notice, and four fifths after a little more training. But what is saved? A zero in a
# matrix is multiplied like any number. To skip it, a list of what is left is needed, and an access for each entry: on a
# GPU, irregular zeros must be very many before that pays.
#
# So hardware asks for a rhythm: of every four neighbours along the sum, **two** are zero, *2:4*.[^Mishra et al. 2021
# "Accelerating Sparse Deep Neural Networks"] Then two numbers and two places of two bits each are enough:

# %%
w = np.array([0.9, -0.1, 0.2, 0.7, 0.3, -0.8, 0.0, 0.1], np.float32)
left = np.where(two_of_four_mask(w) == 1, w, 0)
values, places = compress(left)
print(left, "->", values, places)

# %% tags=["hide-input"]
# What 2:4 saves and costs.
bits = {16: (4 * 16, 2 * 16 + 2 * 2), 8: (4 * 8, 2 * 8 + 2 * 2)}
first = net[0].params["w"]
stays = {name: float(np.abs(first * mask).sum()) for name, mask in
         (("2:4", two_of_four_mask(first)), ("the best half", magnitude_mask(first, 0.5)))}  # fmt: skip
table(
    [
        ("bits for four weights of 16 bits", f"{bits[16][0]}", f"{bits[16][1]}"),
        ("bits for four weights of 8 bits", f"{bits[8][0]}", f"{bits[8][1]}"),
        ("products of a sum of 784", "784", "392"),
    ],
    ["", "dense", "2:4"], align="lrr",
)  # fmt: skip

# %% [markdown]
# The weights of 16 bits shrink to 56 %, and a sparse tensor core does half of the products. The peaks that are printed
# largest on data sheets count the other half as done; divide by two for a dense product.
#
# The loss is small: after three more epochs 2:4 is within two points of the dense network. At once it loses more than
# the best half: it must drop the third largest of four even where all four are large.

# %% tags=["hide-input"]
# Checked.
assert pruned["2:4"][2] > full - 0.02
assert pruned["2:4"][1] < pruned[0.5][1]
assert stays["2:4"] < stays["the best half"]
assert round(100 * bits[16][1] / bits[16][0]) == 56

# %% [markdown]
# ## A machine for one thing
#
# A tensor core is a small special-purpose machine in a general one. What if a whole chip is one? The oldest answer is
# the **systolic array**: a grid of cells, each with a weight, through which numbers move one cell a beat.[^Kung 1982
# "Why Systolic Architectures?"] Rows of $A$ come in from the left, one beat later in each row below; sums move down.

# %% tags=["hide-input"]
# A grid of 3 x 3 cells multiplies two matrices of 3 x 3.
figures.systolic_array(np.arange(1, 10).reshape(3, 3), np.array([[1, 0, 2], [0, 1, 1], [3, 1, 0]]))

# %% [markdown]
# No cell ever asks a memory for anything. A number that has come in is used in every column, as a number in lesson 14's
# shared tile was; but there is no address, no wavefront, no instruction. Here is all that it does in a beat, as in
# `course_lib.reference.systolic`:
#
# ```python
# moving = np.column_stack([entering, moving[:, :-1]])  # one cell to the right
# above = np.vstack([np.zeros(N), sums[:-1]])           # one cell down
# sums = above + moving * B
# ```
#
# The price is in the timeline below the grid: it fills and it drains. $M$ rows through $K \times N$ cells take
# $M + K + N - 2$ beats, and each cell is busy in $M$ of them.

# %% tags=["hide-input"]
# A grid of the size of Google's first TPU, and how busy M rows keep it.
K = N = 256
busy = {M: M / (M + K + N - 2) for M in (16, 256, 4096)}
tpu = 2 * K * N * 700e6
table(
    list(busy.items()), ["rows of A", "busy"], formats={"busy": ".0%"},
    caption=f"256 × 256 cells; if all are busy, at 700 MHz: {tpu / 1e12:.0f} trillion operations a second",
)  # fmt: skip

# %% [markdown]
# That grid was the heart of Google's first TPU: 92 trillion operations a second, with numbers of 8 bits, in 2015, when
# Pascal cards were still to come.[^Jouppi et al. 2017 "In-Datacenter Performance Analysis of a Tensor Processing Unit"]
# A batch of 16 keeps it 3 % busy. It is lesson 14's finding once more: one digit at a time is a waste of any machine.
#
# ## How far the instruction carries
#
# Back to the H200. How fast are tensor cores if a kernel does nothing but products in registers?

# %% tags=["hide-input"]
# The bare instruction, the ladder, and the library.
bare = microbench("tensor", card="h200")["TF32 products of 16 x 8 x 8, all warps"]
speed = bare.rate * 2 * 16 * 8 * 8
peak = roof_of(large.card).tensor_peak
reached = {
    "data sheet": peak, "cuBLAS, N = 4,096": large.flops / large.seconds["cuBLAS TF32"], "nothing but products": speed,
    "rung 10, N = 4,096": large.flops / large.seconds["v10_tf32"],
}  # fmt: skip
table(
    [(name, rate / 1e12, rate / peak) for name, rate in reached.items()], ["TF32", "TFLOP/s", "of the peak"],
    formats={"TFLOP/s": ".0f", "of the peak": ".0%"}, caption=f"Measured on an {bare.card}",
)  # fmt: skip

# %% tags=["hide-input"]
# Checked.
assert 0.9 < reached["rung 10, N = 4,096"] / speed < 1
assert speed < peak / 2

# %% [markdown]
# Rung 10 gets more than nine tenths of what its instruction can do, and the instruction less than half of what the card
# can do. On this generation, Hopper, `mma` is the old way. The new one, `wgmma`, is given by *four* warps together, on
# up to $64 \times 256$ results, and fetches its operands from shared memory by itself. The larger the tile of one
# instruction, the more often a number is used where it lies: lesson 14's rule of $m \times n$, once more, now in
# hardware.[^NVIDIA "Hopper Tuning Guide, Tensor Core Operations"] Rungs with it are a story for later.

# %% [markdown]
# ## Try it
#
# - In the first figure, find a power of two at which FP16 still has a number for π and E4M3 has only zero.
#   <details><summary>Answer</summary>
#
#   From $2^{-12}$ down to $2^{-26}$: E4M3's smallest number is $2^{-9}$, and $3.14 \cdot 2^{-12}$ is below half of
#   that. FP16's smallest is $2^{-24}$.
#
#   </details>
# - Which loss scales $2^s$ keep more than 99 % of layer 1's gradients above zero in FP16, and overflow none?
#   <details><summary>Answer</summary>
#
#   From $2^9$ on; yet more than half have lost digits until $2^{14}$. There is plenty of room above: the largest is
#   below $2^{-25}$, and FP16 goes up to $2^{16}$.
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
# In FP16 it is zero: half of the smallest number is $3 \cdot 10^{-8}$. In BF16 it stays, to two or three digits. Times
# 1,024 it is about $10^{-5}$, a subnormal of FP16, with seven or eight bits left.
#
# </details>

# %% [markdown]
# **2.** Your training in FP16 logs "overflow, step skipped, scale 32,768" twice in the first hundred steps. What do you
# do?
#
# <details><summary>Answer</summary>
#
# Nothing: the scale is finding its place. If steps are skipped again and again and the scale falls to 1, some number
# is infinite for another reason, a learning rate that is too large, for instance.
#
# </details>

# %% [markdown]
# **3.** Why do three products in BF16 not give the exactness of float32, when two parts of TF32 do?
#
# <details><summary>Answer</summary>
#
# Two parts of BF16 hold 16 or 17 bits of a float32's 24, two parts of TF32 hold 22 or 23. BF16 needs three parts, and
# six products.
#
# </details>
