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
        Seconds until both were done: with `best`, by calculation; with the share nearest to it in whole pieces, by the
        clock, the least of many rounds.
    spans : tuple of (float, float, int)
        Of each device: when it began and ended, in seconds, and its images.

    Source: the course's own.
    """

    pair: Pair
    best: float
    predicted: float
    measured: float
    spans: tuple

    @property
    def ran(self):
        """The first one's share that was really measured, 0 to 1."""
        images = [n for *_, n in self.spans]
        return images[0] / sum(images)

    @property
    def promised(self):
        """Seconds until both are done with the share that ran, by calculation."""
        first, second = self.pair.seconds
        return max(self.ran * first, (1 - self.ran) * second)

    @property
    def kept(self):
        """How much of the gain over the faster one alone that was promised was there, 1 being all of it."""
        alone = min(self.pair.seconds)
        return (alone - self.measured) / (alone - self.promised)


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
    steps : int
        How many steps each of the queues' kernels did.
    forgotten : dict
        Steps of a kernel -> (wrong, runs): how often a queue out of order gave wrong numbers when nobody said what must
        wait, and in how many tries.
    transposes : dict
        Numbers in a row, such as 2048 -> {"naive, 8": seconds, ...}: the least of many rounds, by the side of a group.
    first_cache : dict
        A core's first cache for data: bytes, ways, and bytes of a line.
    wide : dict
        Side of a group -> instructions of the compiled ReLU that work on several floats at a time.
    leftovers : (int, int)
        How often one group's transpose without a barrier came out right just after the one with it, and the tries.
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
    steps: int
    forgotten: dict
    transposes: dict
    first_cache: dict
    wide: dict
    leftovers: tuple
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
    forgotten = {int(n): (tried["wrong"], tried["runs"]) for n, tried in found["forgotten"].items()}
    left = found["leftovers"]["right"], found["leftovers"]["runs"]
    return OpenclRun(
        found["device"], found["devices"], found["machine"]["cpu"], found["date"], found["load"], found["timelines"],
        found["steps"], forgotten,
        {int(n.replace(",", "")): seconds for n, seconds in found["transposes"].items()}, found["l1"],
        {int(n): count for n, count in found["wide"].items()}, left,
        {name: _job(name, job) for name, job in found["shares"].items()}, found["batch"],
    )  # fmt: skip


def _job(name, job):
    pair = Pair(("OpenCL", name), tuple(job["alone"]), curve=tuple(map(tuple, job["curve"])), upto=0.4)
    spans = tuple((one["start"], one["end"], one["images"]) for one in job["timeline"])
    return SharedJob(pair, job["best"], job["predicted"], job["measured"], spans)
