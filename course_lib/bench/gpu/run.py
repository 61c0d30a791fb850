"""`course bench gpu`: each rung and operation verified, then timed in turns with cuBLAS, cuDNN or a copy.

Source: the course's own. Without PyTorch there are no rivals but the copy, and exact results come from NumPy.
"""

import datetime
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field, replace

import course_lib
from course_lib import gpu
from course_lib.bench.gpu.cases import CASES
from course_lib.bench.gpu.compile import compile_times
from course_lib.bench.gpu.epoch import EPOCHS
from course_lib.bench.gpu.measure import GpuRow, find_backend
from course_lib.bench.gpu.process import in_processes
from course_lib.bench.gpu.train import STEPPED
from course_lib.bench.report import describe_machine
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.choice import GPU, DeviceError
from course_lib.cuda.device import choice
from course_lib.validate import require_count

PACKAGES = ("numpy", "numba", "numba-cuda", "cuda-bindings", "cuda-core", "nvidia-cublas", "nvidia-cudnn-cu13")


@dataclass
class GpuReport:
    """A run: the machine, and the rows. Seconds are seconds a call. Source: the course's own."""

    machine: dict
    rounds: int
    rows: list[GpuRow]
    compile: list = field(default_factory=list)
    launch: dict = field(default_factory=dict)
    training: dict = field(default_factory=dict)
    epoch: dict = field(default_factory=dict)

    @property
    def failures(self):
        """Every failure as (case, player, what happened)."""
        found = [(row.case, name, text) for row in self.rows for name, text in row.failures.items()]
        found += [("compile", c["case"], c["failure"]) for c in self.compile if c.get("failure")]
        extras = (("launch", self.launch), ("training", self.training), ("epoch", self.epoch))
        return found + [(name, who, text) for name, x in extras for who, text in x.get("failures", {}).items()]


def bench_gpu(*, only=None, rounds=20, folder=None, jobs=4, on_row=None, keep=None):
    """Return a `GpuReport`: seconds per call of every rung and operation that is right, and of its rivals.

    A player that fails, or computes something wrong, is in `failures` and not timed; the others go on. Kernels run in
    a process of their own, and in a new one after a failure that leaves the card's context unusable.

    Parameters
    ----------
    only : sequence of str, optional
        Beginnings of names of families or cases, such as "gemm" or "conv 1->4", or "compile", "launch", "training",
        "epoch"; all of them unless given.
    rounds : int >= 1
    folder : path, optional
        For compiled kernels; empty, so that compiling can be timed. Default: a temporary one.
    jobs : int >= 1
        Processes that compile at a time.
    on_row : callable, optional
        on_row(text) after each row, to show progress.
    keep : callable, optional
        keep(report) after each row, to write down what there is so far.

    Raises
    ------
    ValueError, TypeError
        If `only` fits nothing, or a number is not a whole number >= 1.
    DeviceError
        Without a GPU.

    Source: the course's own.
    """
    rounds, jobs = require_count("rounds", rounds), require_count("jobs", jobs)
    cases, extra = chosen(only)
    if choice().device != GPU:
        raise DeviceError("`course bench gpu` needs a GPU", "On this machine: `course bench simt`, `course bench cpu`.")
    on_row, keep = on_row or (lambda text: None), keep or (lambda report: None)
    report = GpuReport(describe_gpu(find_backend()), rounds, [])
    with tempfile.TemporaryDirectory() as temporary:
        place = {name: str(folder or temporary) for name in ("COURSE_CACHE", "NUMBA_CACHE_DIR")}
        if "compile" in extra:
            report.compile = compile_times([case.name for case in cases or CASES.values()], place, jobs, on_row)
            keep(report)
        if "launch" in extra:
            report.launch = next(in_processes("launch", ["launch"], place, rounds))
        for row in in_processes("measure", [case.name for case in cases], place, rounds):
            report.rows.append(GpuRow(**row | {"date": datetime.date.today().isoformat()}))
            on_row(f"{row['case']}: {', '.join(row['failures']) or 'right'}")
            keep(report)
        for what, names in (("training", list(STEPPED)), ("epoch", list(EPOCHS))):
            for said in in_processes(what, names, place, rounds) if what in extra else ():
                _add_times(getattr(report, what), said)
                on_row(f"{what}, {said['case']}: {', '.join(said['failures']) or 'right'}")
                keep(report)
        _ask_rivals(report, place)
    return report


def _add_times(times, said):
    """Note what one network's training takes; failures of all networks are together, each with network and player."""
    names = {f"{said['case']}, {who}": text for who, text in said["failures"].items()}
    times["failures"] = times.get("failures", {}) | names
    times[said["case"]] = {who: t for who, t in said.items() if isinstance(t, list)}


def _ask_rivals(report, place):
    """Note which kernels cuDNN launches: it chooses among several algorithms."""
    rows = {row.case: row for row in report.rows if row.family == "conv forward" and row.rivals}
    for answer in in_processes("rivals", list(rows), place):
        rows[answer["case"]].rival_kernels = answer.get("rival_kernels", {})


EXTRA = ("compile", "launch", "training", "epoch")
"""What is measured beside the cases."""


def chosen(only=None):
    """Return (the cases whose name or family begins with one of `only`, those of `EXTRA` that it names).

    Everything unless given; ValueError where a word fits nothing. Source: the course's own.
    """
    if not only:
        return list(CASES.values()), EXTRA
    for word in only:
        if word not in EXTRA and not any(_fits(case, word) for case in CASES.values()):
            names = ", ".join([*sorted({case.family for case in CASES.values()}), *EXTRA, *CASES])
            raise ValueError(f"nothing is called {word!r}; there are {names}.")
    cases = [case for case in CASES.values() if any(_fits(case, word) for word in only)]
    return cases, tuple(word for word in EXTRA if word in only)


def _fits(case, word):
    return case.family.startswith(word) or case.name.startswith(word)


def describe_gpu(backend):
    """Return the device, the driver, the processor and the versions that a timing depends on; no host's name.

    No errors: what cannot be found out is "unknown". Source: the course's own.
    """
    machine = describe_machine(PACKAGES)
    versions = {"course-lib": course_lib.__version__, **machine["versions"], **backend.versions()}
    capability = ".".join(map(str, compute_capability()))
    found = dict(gpu=gpu.device_name(), compute_capability=capability, driver=_driver(), cpu=machine["cpu"])
    return {**found, "system": machine["system"], "versions": versions}


def _driver():
    if not shutil.which("nvidia-smi"):
        return "unknown"
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def merged(report, path):
    """Return the report with the rows of an older file of the same machine and versions that it lacks itself.

    So that parts can be measured one by one; a file that is cut off has none. OSError if it cannot be read.
    Source: the course's own.
    """
    if not path.exists():
        return report
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return report
    if old["machine"] != report.machine or old["rounds"] != report.rounds:
        return report
    kept = {row["case"]: GpuRow(**row | {"date": row.get("date") or old["date"]}) for row in old["rows"]}
    rows = kept | {row.case: row for row in report.rows}
    rows = [rows[name] for name in CASES if name in rows]
    return replace(report, rows=rows, **{name: getattr(report, name) or old.get(name, {}) for name in EXTRA})
