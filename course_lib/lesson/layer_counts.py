"""What kernels do for one convolution layer, counted by the executor: one row for each, all launches together."""

from dataclasses import dataclass

import numpy as np

from course_lib.lesson.measurements import SECTOR

WORD = 4
KINDS = {
    ("x", "read"): "input", ("y", "written"): "output",
    ("cols", "written"): "unrolled, written", ("cols", "read"): "unrolled, read",
}  # fmt: skip
"""What the ladder's kernels call an array, and what is done to it -> kind of bytes; all others are weights."""


@dataclass(frozen=True)
class Counted:
    """One way to compute a layer, an image's share of it.

    Attributes
    ----------
    name : str
        The rung's, such as "v01_basic".
    launches : int
    flops : float
        Floating-point operations, those on the padding of tiles too.
    requests : float
        Loads that warps ask of global memory.
    sectors : float
        Pieces of 32 bytes that these loads and the stores touch.
    asked : float
        Bytes in those sectors: what the caches are asked for.
    moves : dict of str to float
        Bytes that have to come from the card's memory or go there, if caches keep everything for as long as a launch:
        each element that a launch reads or writes, once. By kind, as `figures.data_movement` draws them.
    shared, constant : float
        Requests to shared and to constant memory, loads only.
    reuse : float
        Loads of a pixel of x from global memory.

    Source: the course's own.
    """

    name: str
    launches: int
    flops: float
    requests: float
    sectors: float
    asked: float
    moves: dict
    shared: float
    constant: float
    reuse: float

    @property
    def travels(self):
        """All bytes that have to travel."""
        return sum(self.moves.values())

    @property
    def intensity(self):
        """Operations for each byte that has to travel."""
        return self.flops / self.travels


def count_layer(launchers, x_shape, w_shape, y_shape, *, bias=True):
    """Return {name: `Counted`} of ways to compute a layer, each run by the executor on ones.

    Parameters
    ----------
    launchers : dict of str to function
        Each takes (x, w, b, y), device arrays, and launches what it needs, as a rung of the ladder does.
    x_shape, w_shape, y_shape : tuples
        (B, C, H, W), (M, C, K, K) and (B, M, H_out, W_out). Counts are divided by B.
    bias : bool
        False: b is None.

    Raises
    ------
    As the launchers, and as `gpu.simulate_launches`.

    Source: the course's own.
    """
    from course_lib import gpu  # lessons without kernels do not load the executor

    arrays = [np.ones(shape, np.float32) for shape in (x_shape, w_shape, w_shape[:1], y_shape)]
    arrays[2] = arrays[2] if bias else None
    found = {}
    for name, launch in launchers.items():
        reports = gpu.simulate_launches(launch, *arrays)
        found[name] = counted(name, reports, x_shape[0])
    return found


def counted(name, reports, images):
    """Return the `Counted` of a way's launches, for one of `images`. No errors. Source: the course's own."""
    total = {
        counter: sum(getattr(r.total, counter) for r in reports) / images
        for counter in (
            "flops", "global_load_requests", "global_load_sectors", "global_store_sectors", "shared_load_requests",
            "constant_load_requests",
        )
    }  # fmt: skip
    moves = {}
    for use in (use for r in reports for use in r.arrays.values() if use.space == "global"):
        for way, elements in (("read", use.distinct_loaded), ("written", use.distinct_stored)):
            kind = KINDS.get((use.name, way), "weights")
            moves[kind] = moves.get(kind, 0) + WORD * elements / images
    pixels = [r.arrays["x"] for r in reports if "x" in r.arrays]
    sectors = total["global_load_sectors"] + total["global_store_sectors"]
    return Counted(
        name, len(reports), total["flops"], total["global_load_requests"], sectors, SECTOR * sectors,
        moves, total["shared_load_requests"],
        total["constant_load_requests"], sum(use.loads for use in pixels) / max(u.distinct_loaded for u in pixels),
    )  # fmt: skip
