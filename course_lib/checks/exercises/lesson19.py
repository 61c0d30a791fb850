"""Exercises of lesson 19, OpenCL: sizes, groups, loops of work-items, queues, events, and a job on two devices.

Right values are in `lesson19_values`, usual mistakes in `lesson19_mistakes`. No OpenCL device is needed.

Source: Khronos, "The OpenCL Specification"; P. Jääskeläinen et al., "pocl: A Performance-Portable OpenCL
Implementation" (2015).
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise
from course_lib.checks.exercises import lesson19_mistakes as mistakes
from course_lib.checks.exercises import lesson19_values as values

_TURN = np.arange(16).reshape(4, 4).T.ravel()
_BACKWARDS = np.arange(8)[::-1].copy()
_CHAINS = ([30.0, 30.0, 30.0, 30.0], [[], [0], [], [2]])
_DIAMOND = ([2.0, 5.0, 1.0, 3.0], [[], [0], [0], [1, 2]])
_COPIES = (
    [["x_host"], ["x"], ["y"]],
    [["x"], ["y"], ["y_host"]],
)

EXERCISES = (
    Exercise(
        "19.1", "sizes", "From a grid to an NDRange", 2, "warm-up", "work-items are counted, and rounded up",
        'Khronos, "The OpenCL Specification", "clEnqueueNDRangeKernel"', 4, values.sizes,
        (Case((6, 10, (4, 4)), "6 x 10 in groups of 4 x 4"), Case((28, 28, (16, 8)), "28 x 28 in groups of 16 x 8"),
         Case((3, 100, (32, 1)), "3 x 100 in groups of 32 x 1"), Case((8, 16, (8, 4)), "8 x 16: both divide")),
        mistakes.SIZES, section="Who is who", instead_of=("round_up",),
        parts=("the global size", "the grid", "the work-items without a number"),
    ),
    Exercise(
        "19.2", "largest_tile", "As large as the device allows", 2, "core", "asking a device before a program is built",
        'Khronos, "The OpenCL Specification", "clGetDeviceInfo"', 4, values.largest_tile,
        (Case((64, 2**20, 2), "small groups"), Case((4096, 3072, 3), "three tiles that just fit"),
         Case((4096, 4096, 3), "little local memory, three tiles"), Case((1024, 32 * 1024, 2), "Oclgrind, two tiles")),
        mistakes.TILES, section="Compiled when it runs",
    ),
    Exercise(
        "19.3", "too_early", "Which reads come too early?", 3, "core", "a work-group as a loop",
        "Jääskeläinen et al. (2015)", 2, values.too_early,
        (Case((_TURN, 1), "a tile of 4 x 4, turned, one at a time"), Case((_TURN, 4), "the same, four at a time"),
         Case((_BACKWARDS, 2), "eight backwards, two at a time"), Case((_BACKWARDS, 8), "all in one turn"),
         Case((np.array([1, 2, 3, 4, 5, 0]), 3), "each its neighbour's, three at a time")),
        mistakes.EARLY, section="What is a work-group on a CPU?",
    ),
    Exercise(
        "19.4", "ends", "When is each command done?", 3, "core", "queues in order and out of order",
        'Khronos, "The OpenCL Specification", "Execution Model: Command-Queues"', 8, values.ends,
        (Case((*_CHAINS, True), "two chains, in order"), Case((*_CHAINS, False), "two chains, out of order"),
         Case((*_DIAMOND, False), "two commands wait for one, one for both"), Case((*_DIAMOND, True), "in order"),
         Case(([4.0], [[]], False), "a single command")),
        mistakes.ENDS, section="Queues, and what must wait",
    ),
    Exercise(
        "19.5", "missing", "The forgotten events", 4, "stretch", "races between commands",
        'Khronos, "The OpenCL Specification", "Event Objects"', 14, values.missing,
        (Case((*_COPIES, [[], [0], []]), "copy, kernel, copy; one event forgotten"),
         Case(([[], ["x"], ["x", "y"]], [["x"], ["y"], ["z"]], [[], [0], [1]]), "a detour is enough"),
         Case(([["a"], ["b"], []], [["c"], ["c"], ["a"]], [[], [], []]), "one buffer read, then written; one twice"),
         Case(([["x"], ["x"]], [["y"], ["z"]], [[], []]), "two read the same buffer")),
        mistakes.MISSING, section="Queues, and what must wait",
    ),
    Exercise(
        "19.6", "cut", "Where to cut a batch", 3, "core", "the best share, in whole pieces",
        "the course's own", 8, values.cut,
        (Case((100, (0.1, 0.3), (0.0, 0.0), 5), "three times as fast, nothing fixed"),
         Case((100, (0.1, 0.3), (2.0, 0.0), 5), "the first one begins late"),
         Case((64, (1.0, 2.0), (0.0, 70.0), 16), "the second one begins too late"),
         Case((96, (0.7, 0.1), (0.5, 0.5), 32), "pieces of 32 images"),
         Case((100, (7.0, 3.0), (0.0, 0.0), 50), "two pieces")),
        mistakes.CUT, section="Two devices, one job", instead_of=("best_share",),
        parts=("the first device's images", "the seconds"),
    ),
)  # fmt: skip
