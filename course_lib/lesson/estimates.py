"""What the model of a card says that a benchmark's kernels take, beside what they took: from `results/counts.json`."""

import json

from course_lib.lesson.measurements import results_folder


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

    folder = results_folder() if folder is None else folder
    counts = json.loads((folder / "counts.json").read_text(encoding="utf-8"))
    if case not in counts:
        raise LookupError(f"results/counts.json has no case {case!r}; there are {', '.join(counts)}.")
    return {kernel: time_of_call(launches, card)[0] for kernel, launches in counts[case].items()}
