"""What OpenCL's queues and a job on two devices did, from `results/opencl.<device>.json`, for lesson 19."""

import json
from dataclasses import dataclass
from pathlib import Path

from course_lib.figures.shares_of_two import Pair

from .measurements import results_folder


@dataclass(frozen=True)
class SharedJob:
    """A batch that two devices did together.

    Attributes
    ----------
    pair : figures.shares_of_two.Pair
        Their names, seconds alone, and the measured curve of shares.
    best : float
        The first one's share that `opencl.best_share` gives.
    predicted, measured : float
        Seconds until both were done with it.
    spans : tuple of (float, float, int)
        Of each device: when it began and ended, in seconds, and its images.

    Source: the course's own.
    """

    pair: Pair
    best: float
    predicted: float
    measured: float
    spans: tuple


@dataclass(frozen=True)
class OpenclRun:
    """What tools/measure_opencl.py found on one device beside the kernels' times.

    Attributes
    ----------
    device : dict
        Facts of it, as `opencl.devices.Device` has them; devices: of all that computed there.
    devices : list of dict
    processor, date : str
    load : list of float
        How many programs wanted to compute, at the beginning and at the end.
    queues : dict
        Name of a queue -> its commands, as `figures.queue_timelines` takes them.
    wrong, runs : int
        How often a queue out of order gave wrong numbers when nobody said what must wait, and in how many tries.
    jobs : dict of str to SharedJob
        By the second device's name.
    batch : int
        Images of the job.

    Source: the course's own.
    """

    device: dict
    devices: list
    processor: str
    date: str
    load: list
    queues: dict
    wrong: int
    runs: int
    jobs: dict
    batch: int


def opencl_run(device="amd-epyc", *, folder=None):
    """Return the `OpenclRun` of a device, by the name in its file.

    Raises
    ------
    FileNotFoundError
        There is no such file; the message says what writes it.

    Source: the course's own.
    """
    file = (results_folder() if folder is None else Path(folder)) / f"opencl.{device}.json"
    if not file.is_file():
        raise FileNotFoundError(f"there is no results/{file.name}; tools/measure_opencl.py writes it.")
    found = json.loads(file.read_text(encoding="utf-8"))
    return OpenclRun(
        found["device"], found["devices"], found["machine"]["cpu"], found["date"], found["load"], found["timelines"],
        found["forgotten"]["wrong"], found["forgotten"]["runs"],
        {name: _job(name, job) for name, job in found["shares"].items()}, found["batch"],
    )  # fmt: skip


def _job(name, job):
    pair = Pair(("OpenCL", name), tuple(job["alone"]), curve=tuple(map(tuple, job["curve"])))
    spans = tuple((one["start"], one["end"], one["images"]) for one in job["timeline"])
    return SharedJob(pair, job["best"], job["predicted"], job["measured"], spans)
