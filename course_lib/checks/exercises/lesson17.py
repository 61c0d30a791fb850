"""Exercises of lesson 17: formats, rounding by bits, fragments, splitting, loss scaling, 2:4, systolic, a kernel.

Right values are in `lesson17_values`, usual mistakes in `lesson17_mistakes`. No GPU is needed.

Source: Owens, "Tesla V100 Tensor Cores"; NVIDIA, "PTX ISA"; Micikevicius et al. (2018); Mishra et al. (2021); Kung
(1982).
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise, KernelExercise
from course_lib.checks.exercises import lesson17_launches as launches
from course_lib.checks.exercises import lesson17_mistakes as mistakes
from course_lib.checks.exercises import lesson17_values as values
from course_lib.checks.exercises.kernel_inputs import whole

_MIXED = np.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 257, 259, 0.1, 1.25 * 2**-130, np.pi], np.float32)
_OTHERS = np.array([-0.1, 0.0, 65504, 3e38, 3.4e38, 1e-40, np.inf, -np.inf, 1 + 2**-8 + 2**-20], np.float32)


def floats(seed, *shape):
    """Return (...) float32 numbers from -1 to 1. No errors. Source: the course's own."""
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def _budget(A, B):
    (M, K), N = A.shape, B.shape[1]
    return {"global_loads": M * K * (N // 8) + K * N * (M // 16), "float64_operations": 0}


_W, _G = np.array([1.0, -2.0, 0.5]), np.array([64.0, -32.0, 8.0])

EXERCISES = (
    Exercise(
        "17.1", "limits", "What a format can hold", 2, "warm-up", "what the bits of a format mean",
        'Owens, "Tesla V100 Tensor Cores"', 6, values.limits,
        (Case((5, 10), "FP16"), Case((6, 9), "6 and 9 bits"), Case((5, 2), "E5M2"), Case((3, 2), "a toy format")),
        mistakes.LIMITS, section="What is given up",
        parts=("the largest number", "the smallest with all digits", "the smallest", "the step after 1"),
    ),
    Exercise(
        "17.2", "to_bf16", "Round by bits", 3, "core", "rounding to even on the bits of a float32",
        'NVIDIA, "PTX ISA", "cvt"', 4, values.rounded,
        (Case((_MIXED,), "halves and others"), Case((_OTHERS,), "very large, very small, infinite")),
        mistakes.ROUND, rtol=0, atol=0, instead_of=("round_to", "encode", "pack_pairs"), section="What is given up",
    ),
    Exercise(
        "17.3", "holder", "Who holds A[row, k]?", 3, "core", "a fragment, from the element's side",
        'NVIDIA, "PTX ISA", "Matrix Fragments for mma.m16n8k16"', 4, values.holder,
        (Case((0, 0), "the first element"), Case((1, 3), "A[1, 3]"), Case((9, 2), "A[9, 2]"),
         Case((4, 13), "A[4, 13]"), Case((15, 8), "A[15, 8]")),
        mistakes.HOLDER, instead_of=("fragment",), section="Who holds what",
        parts=("the lane", "the register", "the half"),
    ),
    Exercise(
        "17.4", "three_products", "Digits back", 3, "core", "splitting, and which products matter",
        "Ootomo and Yokota (2022)", 5, values.products,
        (Case((floats(1, 3, 5), floats(2, 5, 4)), "(3, 5) times (5, 4)"),
         Case((floats(3, 1, 16), floats(4, 16, 2)), "(1, 16) times (16, 2)")),
        mistakes.PRODUCTS, rtol=1e-6, atol=4e-6, instead_of=("split", "split_products"),
        section="Getting the digits back",
    ),
    Exercise(
        "17.5", "scaled_step", "A loss scale that finds itself", 3, "core", "unscale, skip, halve, double",
        'Micikevicius et al. (2018), "Mixed Precision Training"', 8, values.scaled_step,
        (Case((_W, _G, 16.0, 3, 0.1, 200), "a good step"),
         Case((_W, np.array([64.0, np.inf, 8.0]), 16.0, 3, 0.1, 200), "an infinite gradient"),
         Case((_W, np.array([64.0, np.nan, -np.inf]), 16.0, 199, 0.1, 200), "NaN, just before doubling"),
         Case((_W, _G, 16.0, 199, 0.1, 200), "the last of 200 good steps")),
        mistakes.STEP, section="Gradients on their way back",
        parts=("the weights", "the scale", "the count of good steps"),
    ),
    Exercise(
        "17.6", "prune", "Two of four", 2, "warm-up", "structured sparsity along the axis of the sum",
        "Mishra et al. (2021)", 5, values.pruned,
        (Case((np.array([[1, -8], [-5, 2], [3, 7], [0.5, -6]]),), "4 inputs, 2 outputs"),
         Case((np.round(10 * floats(5, 8, 4), 3).astype(float),), "8 inputs, 4 outputs")),
        mistakes.PRUNE, instead_of=("two_of_four_mask",), section="Zeros that pay",
    ),
    Exercise(
        "17.7", "beat", "One beat of a systolic array", 2, "core", "what moves, and in which order",
        'Kung (1982), "Why Systolic Architectures?"', 4, values.beat,
        (Case((np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]]), np.array([9.0, 10]),
               np.array([[1.0, 2], [3, 5]])), "2 x 2 cells"),
         Case((np.array([[1.0, -2, 3]]), np.array([[4.0, 5, 6]]), np.array([7.0]), np.array([[2.0, 3, -1]])),
              "a single row of cells")),
        mistakes.BEAT, instead_of=("systolic_product",), section="Optional: a machine for one thing",
        parts=("what moves", "the sums"),
    ),
    KernelExercise(
        "17.8", "tensor_product", "A product by tensor cores", 4, "stretch",
        "fragments in a kernel, and a sum that stays",
        'NVIDIA, "PTX ISA", "mma"', 22, lambda A, B: A @ B,
        (Case((whole(10, 16, 16), whole(11, 16, 8)), "(16, 16) times (16, 8)"),
         Case((whole(12, 16, 48), whole(13, 48, 8)), "(16, 48) times (48, 8)"),
         Case((whole(14, 32, 32), whole(15, 32, 24)), "(32, 32) times (32, 24)")),
        mistakes.TILES, launch=launches.tiles, budget=_budget, section="Who holds what",
    ),
)  # fmt: skip
