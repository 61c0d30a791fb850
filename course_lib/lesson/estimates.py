"""What the model of a card says that a benchmark's kernels take, beside what they took: from `results/counts.json`."""

import json
from dataclasses import dataclass

from course_lib.lesson.measurements import results_folder
from course_lib.simt.estimate.devices import find_device

LANES = 32
"""Threads of a warp."""


@dataclass(frozen=True)
class Issued:
    """The machine instructions of one launch, or of several that are alike.

    Attributes
    ----------
    kernel : str
    of_a_warp : float
        Instructions that a warp issues, on average; multiply_adds : those of them that are float32 multiply-adds.
    multiply_adds : float
    warps : float

    Source: the course's own.
    """

    kernel: str
    of_a_warp: float
    multiply_adds: float
    warps: float

    def seconds(self, card):
        """Return how long a card needs to issue them, if every scheduler issues one in every clock.

        ValueError for an unknown card. Source: NVIDIA, "CUDA C++ Programming Guide", "Hardware Multithreading".
        """
        device = find_device(card)
        in_a_second = device.sms * device.instructions_per_clock * device.clock * 1e9
        return self.warps * self.of_a_warp / in_a_second


def issued(case, *, folder=None):
    """Return {name: list of `Issued`, one for each launch} of a case of `course bench gpu`, as `estimated` counts them.

    What could not be counted is left out. LookupError for a case that is not counted. Source: the course's own.
    """
    return {
        name: [
            Issued(
                one["kernel"], one["instructions"]["all"], one["instructions"].get("fma", 0.0),
                one["blocks"] * -(-one["threads"] // LANES) * one["times"],
            )
            for one in launches
        ]
        for name, launches in _counts(case, folder).items()
        if "failure" not in launches[0]
    }  # fmt: skip


def estimated(case, *, card, folder=None):
    """Return {kernel: predicted seconds, or None where nothing is predicted} of a case of `course bench gpu`.

    The kernels' instructions and bytes were counted once, by the compiler and the executor, at the benchmark's size; a
    card's rates were measured by small kernels that are not among these. So the prediction is the same on every
    machine.

    Parameters
    ----------
    case : str
        As the benchmark calls it, such as "conv 1->6 k5 forward".
    card : str
        Whose rates are taken, such as "H200".
    folder : Path, optional
        Where `counts.json` lies; `results_folder` unless given.

    Raises
    ------
    LookupError
        The case is not counted; the message names those that are. ValueError for an unknown card.

    Source: the course's own.
    """
    from course_lib.simt.estimate.calls import time_of_call  # lessons without kernels do not load the executor

    return {kernel: time_of_call(launches, card)[0] for kernel, launches in _counts(case, folder).items()}


def _counts(case, folder):
    folder = results_folder() if folder is None else folder
    counts = json.loads((folder / "counts.json").read_text(encoding="utf-8"))
    if case not in counts:
        raise LookupError(f"results/counts.json has no case {case!r}; there are {', '.join(counts)}.")
    return counts[case]
