"""Exercises of lesson 18, many devices: rows, gradients, a ring, deadlocks, the best number of devices, a pipeline.

Right values are in `lesson18_values`, usual mistakes in `lesson18_mistakes`. No cluster is needed.

Source: P. Patarasuk and X. Yuan (2009); E. Coffman, M. Elphick and A. Shoshani (1971); R. Hockney (1994); Y. Huang et
al. (2019).
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson18_mistakes as mistakes
from course_lib.checks.exercises import lesson18_values as values

_EVERYBODY_SENDS = [[("send", (r + 1) % 3), ("receive", (r - 1) % 3)] for r in range(3)]
_ONE_RECEIVES = [[("send", 1), ("receive", 2)], [("receive", 0), ("send", 2)], [("send", 0), ("receive", 1)]]
_AND_ONE_WAITS = [
    [("send", 1), ("receive", 1)], [("send", 0), ("receive", 0)], [("receive", 0)], [("receive", 4)], [("send", 3)],
]  # fmt: skip
_NOBODY_SENDS = [[("send", 1)], [("receive", 0), ("receive", 0)], []]
_LATE_CIRCLE = [
    [("send", 1), ("send", 2), ("receive", 2)],
    [("receive", 0)],
    [("receive", 3), ("send", 0), ("receive", 0)],
    [("send", 2)],
]

EXERCISES = (
    Exercise(
        "18.1", "my_rows", "Which rows are mine?", 2, "warm-up", "a batch that does not divide",
        "the course's own", 3, values.my_rows,
        (Case((10, 3, 4), "10 rows, rank 3 of 4"), Case((10, 1, 4), "10 rows, rank 1 of 4"),
         Case((10, 0, 4), "10 rows, rank 0 of 4"), Case((64, 5, 8), "64 rows, rank 5 of 8"),
         Case((2, 3, 4), "2 rows, rank 3 of 4"), Case((11, 2, 4), "11 rows, rank 2 of 4")),
        mistakes.ROWS, section="One batch, several ranks", instead_of=("array_split", "cuts"),
        parts=("the first row", "the row behind the last one"),
    ),
    Exercise(
        "18.2", "whole_gradient", "The gradient of the whole batch", 3, "core", "means of unequal parts",
        "the course's own", 4, values.whole_gradient,
        (Case((np.array([[3.0, -1.0], [6.0, 2.0], [0.0, 5.0]]), np.array([1, 2, 5])), "1, 2 and 5 rows"),
         Case((np.array([[1.0, 2.0], [4.0, 8.0]]), np.array([10, 30])), "10 and 30 rows"),
         Case((np.array([[2.0], [np.nan], [5.0]]), np.array([4, 0, 2])), "a rank without rows")),
        mistakes.GRADIENTS, section="One batch, several ranks",
    ),
    Exercise(
        "18.3", "ring_plan", "What a rank of a ring does", 4, "core", "an all-reduce by parts",
        'P. Patarasuk and X. Yuan (2009), "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations"', 6,
        values.ring_plan,
        (Case((1, 3), "rank 1 of 3"), Case((0, 4), "rank 0 of 4"), Case((3, 4), "rank 3 of 4"),
         Case((1, 2), "rank 1 of 2"), Case((0, 1), "one rank alone")),
        mistakes.PLANS, section="How is a sum over all ranks made?",
    ),
    Exercise(
        "18.4", "stuck", "Who waits for ever?", 4, "stretch", "deadlock",
        'E. Coffman, M. Elphick and A. Shoshani (1971), "System Deadlocks"', 14, values.stuck,
        (Case((_AND_ONE_WAITS,), "two in a circle, one waits for them, two are fine"),
         Case((_EVERYBODY_SENDS,), "everybody sends first"), Case((_ONE_RECEIVES,), "rank 1 receives first"),
         Case((_NOBODY_SENDS,), "one waits for a rank that has ended"),
         Case((_LATE_CIRCLE,), "a circle that comes late")),
        mistakes.STUCK, section="Everybody sends first",
    ),
    Exercise(
        "18.5", "soonest", "The best number of devices", 3, "core", "what a step costs on n devices",
        'R. Hockney (1994), "The communication challenge for MPP"', 6, values.soonest,
        (Case((4096, 1e-6, 1e-4, 250_000, 5e-6, 1e9, 64), "one link, up to 64 devices"),
         Case((4096, 1e-6, 1e-4, 250_000, 5e-4, 1e8, 64), "a slow link"),
         Case((65536, 1e-5, 0.0, 1_000_000, 1e-6, 1e10, 16), "a quick link, up to 16 devices"),
         Case((1000, 1e-3, 0.05, 4_000_000, 1e-3, 1e9, 100), "much that cannot be divided")),
        mistakes.KNEES, section="When does the network cost more than it gives?",
        parts=("the number of devices", "the seconds"),
    ),
    Exercise(
        "18.6", "pipeline", "A pipeline of unequal stages", 3, "core", "the bubble",
        'Y. Huang et al. (2019), "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism"', 9,
        values.pipeline,
        (Case(([1.0, 1.0, 1.0, 1.0], 4), "four equal stages, four micro-batches"),
         Case(([1.0, 3.0, 2.0], 5), "the second stage is the slowest"),
         Case(([2.0, 1.0], 1), "one micro-batch"), Case(([1.0, 2.0, 4.0], 8), "ever slower stages")),
        mistakes.PIPELINES, section="A pipeline of stages", parts=("the seconds", "the idle share"),
    ),
)  # fmt: skip
