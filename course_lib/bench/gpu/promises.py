"""Floors and goals of the course's kernels, and what a run measured of each.

Source: the course's own. A floor is what is promised; a goal is what is aimed at. Everything here reads the dict of a
`results/gpu.*.json`.
"""

from dataclasses import dataclass

from course_lib.bench.gpu.work import BF16, FFT, FLOAT32, READABLE, TF32, THREE_TF32

OURS = (READABLE, FLOAT32)
CONVOLUTION = (READABLE, FLOAT32, THREE_TF32)
"""Kinds with float32's precision: what may be compared with cuDNN in float32."""

ERROR_RATIO = 1.5
"""3xTF32: at most so many times the largest error of cuBLAS in float32."""


@dataclass(frozen=True)
class Promise:
    """A line of the table: work, the case it is measured by, which kinds of players count, and how fast.

    `floor` and `goal` are times the rival's speed; for work that is bound by memory, shares of a copy's speed. Both are
    None for a line that only lists. With a `player`, those count whose names begin so. With a `capability`, such as
    "9.0", it is promised on cards of this compute capability, and on no other.

    Source: the course's own.
    """

    work: str
    case: str
    kinds: tuple[str, ...]
    floor: float | None = None
    goal: float | None = None
    player: str = ""
    capability: str = ""


HOPPER, _SIZES = "9.0", (4096, 8192)
_FORWARD = {"conv 1->4 k7": (6, 10), "conv 4->16 k7": (4, 5), "conv 1->6 k5": (5, 5.5), "conv 6->16 k5": (1.7, 2.5)}
_GRADIENTS = {"conv 4->16 k7 dX": (4, 5)}
_MEMORY = ("transpose", "transpose of odd sizes", "reduce", "ReLU", "ReLU backward", "max pooling",
           "max pooling backward", "average pooling", "average pooling backward", "overlapping max pooling backward",
           "overlapping average pooling backward", "bias gradient", "SGD with momentum", "Adam", "dropout",
           "softmax cross-entropy")  # fmt: skip

PROMISES = (
    Promise("SGEMM", "gemm 4096", OURS, 0.88, 0.95),
    Promise("SGEMM", "gemm 8192", OURS, 0.88, 0.95),
    Promise("SGEMM without intrinsics", "gemm 4096", (READABLE,), 0.50, 0.65),
    Promise("3xTF32 product", "gemm 4096", (THREE_TF32,), 1.2, 1.5),
    Promise("TF32 product", "gemm 4096", (TF32,), 0.45, 0.55),
    *(Promise("3xTF32 product on Hopper", f"gemm {n}", (THREE_TF32,), 1.9, 2.4, "v13", HOPPER) for n in _SIZES),
    *(Promise("TF32 product on Hopper", f"gemm {n}", (TF32,), 0.70, 0.90, "v12", HOPPER) for n in _SIZES),
    *(Promise("BF16 product", f"gemm bf16 {n}", (BF16,), 0.65, 0.85, "half_tma", HOPPER) for n in _SIZES),
    *(Promise("convolution", f"{name} forward", CONVOLUTION, *limits) for name, limits in _FORWARD.items()),
    Promise("convolution", "conv 64->64 k3 forward", CONVOLUTION, 1.0, 1.5),
    Promise("the lecture's kernel for C1", "conv 1->6 k5 forward", OURS, player="v05b"),
    *(
        Promise(f"convolution {d}", f"{name} {d}", CONVOLUTION, *_GRADIENTS.get(f"{name} {d}", (1.5, 3)))
        for d in ("dX", "dW")
        for name in _FORWARD
    ),
    *(Promise("convolution by FFT", f"{n} {d}", (FFT,), 0.67, 1) for d in ("forward", "dX", "dW") for n in _FORWARD),
    *(Promise("bound by memory", name, OURS, 0.85, 0.92) for name in _MEMORY),
)
COMPILE = {"first": (5.0, 3.0), "cached": (0.3, 0.1)}
"""Seconds that compiling any kernel may take, for the first time and from the disk: (floor, goal)."""

TRAINING = {
    "training": {"LeNet-5, B = 64": 0.67, "LeNet-5, B = 256": 0.75, "MLP 784-128-10, B = 64": 0.67,
                 "MLP 784-128-10, B = 256": 0.67},
    "epoch": {"LeNet-5, B = 64": 0.7, "LeNet-5, B = 256": 0.7},
}  # fmt: skip
"""Our time may be at most so many times that of PyTorch's fastest way: of a step, and of an epoch."""


@dataclass(frozen=True)
class Kept:
    """A promise and what was measured: the fastest player that counts, its seconds, and its ratio to the rival.

    `ours` is "" where nobody was measured. Source: the course's own.
    """

    promise: Promise
    size: str
    ours: str = ""
    seconds: float = 0.0
    rival: str = ""
    rival_seconds: float = 0.0
    ratio: float | None = None
    error_ratio: float | None = None

    @property
    def verdict(self):
        """Return "goal", "floor", "below", "listed", or "-" where nothing was measured or there is no rival."""
        if self.ratio is None:
            return "-"
        if self.promise.floor is None:
            return "listed"
        exact = self.error_ratio is None or self.error_ratio <= ERROR_RATIO
        if not exact or self.ratio < self.promise.floor:
            return "below"
        return "goal" if self.ratio >= self.promise.goal else "floor"


def fastest(row, kinds, player=""):
    """Return the name of the fastest player of a row, a dict, that is of one of these kinds; None without one.

    Those count whose names begin with `player`.

    Of those that are equally fast, within half a percent, the lowest rung: a rung may hand its work to another.

    No errors. Source: the course's own.
    """
    ours = [n for n, k in row["kinds"].items() if k in kinds and n not in row["rivals"] and n.startswith(player)]
    names = [n for n in ours if n in row["timings"]]
    best = min((row["timings"][n]["median"] for n in names), default=None)
    return next((n for n in names if row["timings"][n]["median"] <= 1.005 * best), None)


def kept(report):
    """Return a `Kept` for each promise to this card whose case is among the rows of a report, a dict. No errors.

    Source: the course's own.
    """
    rows, here = {row["case"]: row for row in report["rows"]}, ("", report["machine"].get("compute_capability"))
    return [_kept(p, rows[p.case]) for p in PROMISES if p.case in rows and p.capability in here]


def _kept(promise, row):
    ours = fastest(row, promise.kinds, promise.player)
    if ours is None:
        return Kept(promise, row["size"])
    seconds = row["timings"][ours]["median"]
    rival = row["rival"].get(row["kinds"][ours])
    if rival not in row["timings"]:
        return Kept(promise, row["size"], ours, seconds)
    theirs = row["timings"][rival]["median"]
    errors = None
    if row["kinds"][ours] == THREE_TF32 and row["errors"].get(rival, [0])[0]:
        errors = row["errors"][ours][0] / row["errors"][rival][0]
    return Kept(promise, row["size"], ours, seconds, rival, theirs, theirs / seconds, errors)


def trained(report, what, case):
    """Return (ratio, floor) of a training that was timed: our fastest time / PyTorch's, and how large it may be.

    `what` is a key of `TRAINING`; each number is None where nothing was measured or promised. No errors.
    Source: the course's own.
    """
    times = report.get(what, {}).get(case, {})
    theirs = [t[0] for who, t in times.items() if who.startswith("PyTorch")]
    ours = [t[0] for who, t in times.items() if not who.startswith("PyTorch")]
    return min(ours) / min(theirs) if ours and theirs else None, TRAINING[what].get(case)
