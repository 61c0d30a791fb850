"""What a card needed, from the files in `results/`: measured there and then, never typed by hand."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.simt.estimate.devices import find_device
from course_lib.simt.estimate.rates import rates_of

MORE = (
    "launches", "kernels", "spans", "percentiles", "steps_per_second", "ahead", "parts", "seen", "cores", "runs",
    "best",
)  # fmt: skip
"""What only some rows have."""

REQUEST, SECTOR = 128, 32
"""Bytes of a warp's load of neighbouring float32, and of a sector."""


@dataclass(frozen=True)
class Measured:
    """One case on one card.

    Attributes
    ----------
    card : str
        The card's name as its driver gives it, such as "NVIDIA H200".
    date : str
        When it was measured, such as "2026-11-28".
    case, size : str
        What was run, and on how much: "transpose", "8,192 x 8,192".
    seconds : dict of str to float
        The median of each kernel and of each rival, in the order of the benchmark.
    bytes : float
        What the case has to move at least; flops: how many operations it has to do.
    flops : float
    counters : dict of str to dict
        {kernel: {counter: value}} where a profiler looked on: in bytes, sectors, percent and seconds.
    library : tuple of str
        The kernels that the vendor's library chose in float32, where they were looked at.
    errors : dict of str to float
        How far each kernel was off, as a share of the largest result, where that was looked at.
    more : dict
        What else the row has: the launches of a step, spans by the card's clock, percentiles.

    Source: the course's own.
    """

    card: str
    date: str
    case: str
    size: str
    seconds: dict
    bytes: float
    flops: float
    counters: dict = field(default_factory=dict)
    library: tuple = ()
    errors: dict = field(default_factory=dict)
    more: dict = field(default_factory=dict)

    @property
    def algorithm(self):
        """How the vendor's library did it, by the names of its kernels: "FFT", "implicit GEMM", or "" for neither."""
        names = " ".join(self.library)
        return next((how for sign, how in (("fft", "FFT"), ("implicit_gemm", "implicit GEMM")) if sign in names), "")

    def along(self, *names):
        """Return {number: seconds} of what is called "name, number", of several names the fastest. No errors."""
        found = {}
        for called, seconds in self.seconds.items():
            name, _, number = called.rpartition(", ")
            if name in names:
                found[int(number)] = min(seconds, found.get(int(number), seconds))
        return found


@dataclass(frozen=True)
class Rate:
    """One microbenchmark: how long a launch took, and how much it did; `unit` says of what.

    Source: the course's own.
    """

    card: str
    seconds: float
    work: float
    unit: str

    @property
    def rate(self):
        """How many `unit` a second."""
        return self.work / self.seconds


@dataclass(frozen=True)
class Rows:
    """A part of what a tool measured on a card, row by row: a dict each, whose names are the tool's.

    Source: the course's own.
    """

    card: str
    date: str
    rows: tuple

    def one(self, **wanted):
        """Return the only row with these values, as in one(choice="v12"); LookupError if there is none, or another."""
        found = [row for row in self.rows if all(row.get(name) == value for name, value in wanted.items())]
        if len(found) != 1:
            raise LookupError(f"{len(found)} rows of {len(self.rows)} have {wanted}; one() takes what names one row.")
        return found[0]


TIMES = ("seconds", "least", "enqueued")
"""In which a call that is measured again may differ."""


def by_round(rows):
    """Return rows as a list of lists, one a round: the same call again belongs to the next. No errors.

    Source: the course's own.
    """
    seen, rounds = Counter(), []
    for row in rows:
        key = tuple((name, value) for name, value in row.items() if name not in TIMES)
        if seen[key] == len(rounds):
            rounds.append([])
        rounds[seen[key]].append(row)
        seen[key] += 1
    return rounds


def results_folder(start=None):
    """Return the folder `results/` of the course: beside the notebook's folder or above it, else beside the package.

    Source: the course's own.
    """
    start = Path.cwd() if start is None else Path(start)
    around = [start, *start.parents, Path(__file__).resolve().parents[2]]
    return next((place / "results" for place in around if (place / "results").is_dir()), around[-1] / "results")


def measured(case, *, card, folder=None):
    """Return the `Measured` of a case: of `course bench gpu`, lessons' kernels, caches, transforms, steps, or OpenCL.

    Parameters
    ----------
    case : str
        As the benchmark calls it: "ReLU", "transpose", "reduce", ...
    card : str
        Of the files `results/gpu.<card>.json`, `lessons.<card>.json`, `cache.<card>.json` and `steps.<card>.json`, such
        as "h200"; or the processor of `fft.<processor>.json` and `opencl.<processor>.json`.
    folder : Path, optional
        Where the measurements lie; `results_folder` unless given.

    Raises
    ------
    FileNotFoundError
        There are no measurements of this card; the message names the cards that there are.
    LookupError
        No file has such a case; the message names the cases.

    Source: the course's own.
    """
    cases = []
    others = [_read(bench, card, folder, needed=False) for bench in ("lessons", "cache", "fft", "steps", "opencl")]
    for bench in (_read("gpu", card, folder, needed=not any(others)), *others):
        for row in bench.get("rows", ()):
            if row["case"] == case:
                seconds = {name: timing["median"] for name, timing in row["timings"].items()}
                machine = bench["machine"].get("gpu") or bench["machine"]["cpu"]
                about = machine, row.get("date") or bench["date"], case, row["size"]
                first = (row.get("rivals") or [""])[0]  # the one in float32; others round to TF32
                library = tuple(row.get("rival_kernels", {}).get(first, ()))
                work = row.get("bytes", 0.0), row.get("flops", 0.0)
                off = {name: error[0] for name, error in row.get("errors", {}).items()}
                more = {name: row[name] for name in MORE if name in row}
                return Measured(*about, seconds, *work, row.get("counters", {}), library, off, more)
            cases.append(row["case"])
    raise LookupError(f"no measurements of {card} have a case {case!r}; there are {', '.join(cases)}.")


def measured_training(case, *, card, folder=None):
    """Return the `Measured` of a training step of `course bench gpu training`, such as "LeNet-5, B = 64".

    Its seconds are those of the course's step launched one by one and recorded, and of PyTorch's both ways.
    Errors as `measured`. Source: the course's own.
    """
    bench = _read("gpu", card, folder)
    cases = {name: times for name, times in bench.get("training", {}).items() if name != "failures"}
    if case not in cases:
        raise LookupError(f"no training steps of {card} are called {case!r}; there are {', '.join(cases)}.")
    seconds = {name: median for name, (median, *_) in cases[case].items()}
    return Measured(bench["machine"]["gpu"], bench["date"], case, case.split(", ")[-1], seconds, 0.0, 0.0)


def microbench(part, *, card, folder=None):
    """Return {name: `Rate`} of a part of `python -m tools.microbench`, such as "streams", on a card.

    Errors as `measured`. Source: the course's own.
    """
    bench = _read("microbench", card, folder)
    if part not in bench["runs"]:
        raise LookupError(f"the microbenchmarks of {card} have no part {part!r}; there are {', '.join(bench['runs'])}.")
    name = bench["machine"]["gpu"]
    return {k: Rate(name, run["median"], run["work"], run["unit"]) for k, run in bench["runs"][part].items()}


def measured_rows(bench, part, *, card, folder=None):
    """Return the `Rows` of a part of `results/<bench>.<card>.json`, for tools that verify and measure in parts.

    They are tools/measure_hopper.py ("hopper") and tools/measure_tensor_cores.py ("tensor_cores").
    Errors as `measured`. Source: the course's own.
    """
    found = _read(bench, card, folder)
    if part not in found["parts"]:
        raise LookupError(f"results/{bench}.{card}.json has no part {part!r}; there are {', '.join(found['parts'])}.")
    return Rows(found["machine"]["gpu"], found["date"], tuple(found["parts"][part]))


def registers(case, *, folder=None):
    """Return {name: registers of a thread} of a benchmark's kernels, as the compiler gave them for an H200.

    case is as `measured` takes it; of a name with several kernels, the most. Read from `results/counts.json`.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    LookupError
        It has no such case; the message names the cases.

    Source: the course's own.
    """
    file = (results_folder() if folder is None else Path(folder)) / "counts.json"
    if not file.is_file():
        raise FileNotFoundError("there is no results/counts.json; tools/estimate_counts.py writes it.")
    cases = json.loads(file.read_text(encoding="utf-8"))
    if case not in cases:
        raise LookupError(f"results/counts.json has no case {case!r}; there are {', '.join(cases)}.")
    return {name: max(kernel["registers"] for kernel in kernels) for name, kernels in cases[case].items()}


def memory_ladder(card):
    """Return [(name, latency in seconds, latency in clocks, bytes a second)] of a card's memories, the nearest first.

    The rate is that of all multiprocessors together, reading. Of a card that was not measured there is nothing:
    ValueError, as `find_device` for an unknown one.

    Source: the card's `Rates`, which tools/microbench makes of what it measured.
    """
    device = find_device(card)
    rates = rates_of(device)
    if rates is None:
        raise ValueError(f"the rates of the {device.name} are not measured; CONTRIBUTING says how a card is.")
    hertz = device.clock * 1e9
    sms = device.sms * hertz  # clocks of all multiprocessors in a second
    return [
        (name, clocks / hertz, clocks, size * sms / each)
        for name, clocks, size, each in (
            ("shared memory", rates.shared_latency, REQUEST, rates.shared_wavefront),
            ("L1 cache", rates.l1_latency, REQUEST, rates.l1_wavefront),
            ("L2 cache", rates.l2_latency, SECTOR, rates.l2_sector + rates.l2_line / 4),
            ("DRAM", rates.dram_latency, SECTOR, rates.dram_read),
        )
    ]


def _read(kind, card, folder, needed=True):
    folder = results_folder() if folder is None else Path(folder)
    file = folder / f"{kind}.{card}.json"
    if file.is_file():
        return json.loads(file.read_text(encoding="utf-8"))
    if not needed:
        return {}
    there = ", ".join(sorted(f.name.split(".")[1] for f in folder.glob(f"{kind}.*.json"))) or "none"
    raise FileNotFoundError(
        f"there is no results/{file.name}; cards with such measurements: {there}. CONTRIBUTING says how this "
        "machine's card is measured."
    )
