"""Exercises of lesson 16: what a step waits for, requests in streams, recorded steps, and kernels that save launches.

Requests are judged by what a simulated card does with them, kernels by their values, hazards and traffic. No GPU is
needed.

Source: Hwu, "Mini-Batching May be Needed to Fill GPU"; NVIDIA, "CUDA C++ Programming Guide", "Streams", "CUDA Graphs".
"""

import numpy as np

from course_lib.checks.exercise import Case, Exercise, KernelExercise
from course_lib.checks.exercises import lesson16_launches as launches
from course_lib.checks.exercises import lesson16_mistakes as mistakes
from course_lib.checks.exercises.kernel_inputs import up, whole
from course_lib.checks.exercises.lesson16_launches import BATCHES, ROOM, THREADS, WARP


def _times(batches, launches, cost, fixed, each):
    """Try one batch size after the other."""
    turn = 1
    while fixed + each * turn < launches * cost:
        turn += 1
    asking = np.full(len(batches), launches * cost)
    return np.maximum(asking, fixed + each * np.array(batches)) / np.array(batches), turn


def _pinning(size, host, link, pin):
    """Add up copies until the pinned ones have won."""
    usual, quick, copies = size / host + size / link, size / link, 1
    while pin + copies * quick >= copies * usual:
        copies += 1
    return usual, quick, copies


def _pieces(pieces, slots, out="writes"):
    """Each stage waits for what it needs, and for who used its place before."""
    found = []
    for k in range(pieces):
        for stage, needs, frees in (("read", "", "compute"), ("compute", "read", "write"), ("write", "compute", "")):
            stream = out if stage == "write" else f"{stage}s"
            found += [("wait", f"{needs} {k}", stream)] * bool(needs)
            found += [("wait", f"{frees} {k - slots}", stream)] * bool(frees and k >= slots)
            found += [(stage, k, stream), ("record", f"{stage} {k}", stream)]
    return found


def _batches(batches):
    found = []
    for k in range(batches):
        found += [("wait", f"copy {k - BATCHES}")] * (k >= BATCHES) + [("gather", k)]
        found += [("wait", f"train {k - BATCHES}", "copies")] * (k >= BATCHES)
        found += [("copy", k, "copies"), ("record", f"copy {k}", "copies"), ("wait", f"copy {k}", "steps")]
        found += [("train", k, "steps"), ("record", f"train {k}", "steps")]
    return found


def _trained(actions):
    """Arrays as lists of one number: a name points to one, and so does a graph."""
    x, graph, found = None, None, []
    for what, *batch in actions:
        if what == "new":
            x = [*batch]
        elif what == "overwrite":
            x[:] = batch
        elif what == "record":
            graph = x
            found += x
        else:
            found += graph
    return found


def _fused(operations, most):
    """Give each map to the first launch of its shape that has what it needs, or comes behind it."""
    found, at = [], {}
    shapes = {name: tuple(shape) for name, _, shape, _ in operations}
    for name, kind, shape, inputs in operations:
        first = max([at[each] for each in inputs], default=0)
        fits = [i for i in range(first, len(found)) if kind == "map" and shapes[found[i][0]] == tuple(shape)]
        at[name] = fits[0] if fits else len(found)
        if fits:
            found[fits[0]].append(name)
        else:
            found.append([name])
    return found


STEP = [
    ("z1", "product", (64, 128), []), ("add b1", "map", (64, 128), ["z1"]), ("relu", "map", (64, 128), ["add b1"]),
    ("z2", "product", (64, 10), ["relu"]), ("add b2", "map", (64, 10), ["z2"]),
    ("softmax", "sum", (64, 10), ["add b2"]), ("dz2", "map", (64, 10), ["softmax"]),
    ("da1", "product", (64, 128), ["dz2"]), ("dz1", "map", (64, 128), ["da1", "relu"]),
    ("dW2", "product", (128, 10), ["relu", "dz2"]), ("db2", "sum", (10,), ["dz2"]),
    ("dW1", "product", (784, 128), ["dz1"]), ("db1", "sum", (128,), ["dz1"]),
    ("W2", "map", (128, 10), ["dW2", "da1"]), ("b2", "map", (10,), ["db2", "add b2"]),
    ("W1", "map", (784, 128), ["dW1", "z1"]), ("b1", "map", (128,), ["db1", "add b1"]),
]  # fmt: skip
"""A training step of the network 784-128-10: (name, kind, shape of the result, what it needs)."""

FORWARD, TWO_BRANCHES = STEP[:5], [
    ("a", "product", (8, 8), []), ("b", "product", (8, 8), []), ("c", "map", (8, 8), ["a"]),
    ("d", "map", (8, 8), ["c", "b"]), ("total", "sum", (8,), ["d"]), ("mean", "map", (8,), ["total"]),
    ("centred", "map", (8, 8), ["d", "mean"]),
]  # fmt: skip


def batches_of(seed, N, B, C):
    """Return (losses (N, B), scores (N, B, C), labels (N, B)) of N batches; some scores are equal."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, C, (N, B)).astype(np.int32)
    return whole(seed, N, B, low=0), whole(seed + 1, N, B, C, low=-3, high=3), labels


def _tally_right(losses, scores, labels):
    hits = np.take_along_axis(scores, labels[..., None].astype(np.int64), -1)[..., 0] == scores.max(axis=-1)
    first = np.array([[row.tolist().index(row.max()) for row in batch] for batch in scores])
    return np.array([(hits & (first == labels)).sum(), losses.sum()], np.float32)


def _tally_budget(losses, scores, labels):
    warps = losses.shape[0] * up(losses.shape[1], THREADS) * (THREADS // WARP)
    return {"atomic_rounds": 2 * warps, "global_loads": 2 * warps + losses.size + labels.size + 2 * scores.size,
            "float64_operations": 0}  # fmt: skip


def parameters_of(seed, sizes, decays, lr=0.5, momentum=0.5):
    """Return the arguments of exercise 16.9 for parameters of these sizes."""
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return whole(seed, 2, int(starts[-1])), starts, np.array(decays, np.float32), np.float32(lr), np.float32(momentum)


def _update_right(grads, starts, decays, lr, momentum):
    w, v = np.ones(grads.shape[1]), np.zeros(grads.shape[1])
    for grad in grads.astype(np.float64):
        for p in range(len(decays)):
            part = slice(starts[p], starts[p + 1])
            v[part] = momentum * v[part] - lr * (grad[part] + decays[p] * w[part])
            w[part] += v[part]
    return w.astype(np.float32), v.astype(np.float32)


def _update_budget(grads, starts, decays, lr, momentum):
    steps, n = grads.shape
    return {"global_loads": steps * n * (4 + len(starts)), "global_stores": 2 * steps * n,
            "global_store_sectors": 2 * steps * 5 * up(n, WARP), "float64_operations": 0}  # fmt: skip


EXERCISES = (
    Exercise(
        "16.1", "time_per_image", "What an image costs", 2, "warm-up", "launches or work; time an image against B",
        'Hwu, "Mini-Batching May be Needed to Fill GPU"', 4, _times,
        (Case(([1, 10, 100, 1000], 20, 10, 50, 2), "20 launches of 10 µs; kernels 50 + 2 B µs"),
         Case(([1, 64, 4096], 73, 9, 160, 3), "73 launches of 9 µs; kernels 160 + 3 B µs"),
         Case(([8], 1, 12, 40, 1), "one recorded graph")),
        mistakes.TIME, parts=("the microseconds an image", "the batch from which the kernels outlast their launches"),
    ),
    Exercise(
        "16.2", "worth_pinning", "When is it worth pinning?", 2, "warm-up", "pageable and pinned memory",
        'NVIDIA, "CUDA C++ Programming Guide", "Page-Locked Host Memory"', 4, _pinning,
        (Case((4_000_000, 8_000, 40_000, 2_000), "4 MB; pinning takes 2,000 µs"),
         Case((64_000, 16_000, 32_000, 51), "64 kB; pinning takes 51 µs"),
         Case((1_000_000, 10_000, 50_000, 30), "1 MB; pinning takes 30 µs")),
        mistakes.PINNING, parts=("a pageable copy", "a pinned copy", "the number of copies"),
    ),
    Exercise(
        "16.3", "overlapped", "Read the next, compute this one, write the last", 3, "core", "streams and events",
        'Hwu, "Mini-Batching May be Needed to Fill GPU"', 14, _pieces,
        (Case((1, 2), "one piece"), Case((4, 2), "4 pieces, 2 places"), Case((8, 3), "8 pieces, 3 places"),
         Case((5, 1), "5 pieces, one place")),
        requires=launches.overlap_problem,
    ),
    Exercise(
        "16.4", "flowing", "Repair: a wait that spoils it", 2, "core", "what a synchronisation costs",
        'NVIDIA, "CUDA C++ Programming Guide", "Implicit Synchronization"', 14, lambda pieces: _pieces(pieces, ROOM),
        (Case((3,), "3 pieces"), Case((8,), "8 pieces")), requires=launches.flow_problem,
    ),
    Exercise(
        "16.5", "loaded_ahead", "Repair: every second batch is a mixture", 3, "core",
        "two buffers; what an event orders", 'NVIDIA, "CUDA C++ Programming Guide", "Events"', 16, _batches,
        (Case((3,), "3 batches"), Case((8,), "8 batches")),
        requires=launches.ahead_problem,
    ),
    Exercise(
        "16.6", "trained_on", "Which batch does a recorded step see?", 2, "core", "a graph has addresses, not names",
        'NVIDIA, "CUDA C++ Programming Guide", "CUDA Graphs"', 14, _trained,
        (Case(([("new", 0), ("record",), ("overwrite", 1), ("replay",), ("replay",)],), "fed by overwrite"),
         Case(([("new", 0), ("record",), ("new", 1), ("replay",), ("new", 2), ("replay",)],), "a new array each time"),
         Case(([("new", 7), ("record",), ("new", 8), ("overwrite", 9), ("replay",), ("record",), ("overwrite", 5),
                ("replay",)],), "recorded twice")),
        mistakes.RECORDED,
    ),
    Exercise(
        "16.7", "fuse", "A step in eight launches", 3, "core", "fusion across a whole step; what has to come first",
        "the course's own", 14, _fused,
        (Case((FORWARD, 2), "the forward pass of 784-128-10"), Case((TWO_BRANCHES, 4), "two products that meet"),
         Case((STEP, 8), "a training step of 784-128-10")),
        requires=launches.fusion_problem,
    ),
    KernelExercise(
        "16.8", "tally", "Read once an epoch", 3, "core", "a loss that stays on the device; one atomic a warp",
        "the course's own", 18, _tally_right,
        (Case(batches_of(1, 2, 64, 5), "2 batches of 64 rows, 5 classes"),
         Case(batches_of(11, 3, 45, 10), "3 batches of 45 rows, 10 classes")),
        mistakes.TALLY, launch=launches.tally, budget=_tally_budget,
    ),
    KernelExercise(
        "16.9", "update_all", "All parameters in one launch", 3, "stretch", "many small launches become one",
        "the course's own", 14, _update_right,
        (Case(parameters_of(21, (40, 3, 60, 7), (0.25, 0, 0.25, 0)), "4 parameters, biases do not decay"),
         Case(parameters_of(22, (1, 90, 5), (0, 0.5, 0.25)), "3 parameters, the first a single number")),
        mistakes.UPDATE, rtol=1e-5, atol=1e-5, launch=launches.update, budget=_update_budget,
    ),
)  # fmt: skip
