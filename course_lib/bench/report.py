"""What a benchmark found: as a table to read, and as JSON in results/ for lessons and later comparison.

Source: the course's choice. Numbers are only ever written by a run.
"""

import json
import os
import platform
import re
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from course_lib.bench.timing import Timing

PACKAGES = ("course-lib", "numpy", "numba", "torch")


@dataclass(frozen=True)
class Row:
    """A network, its part that was timed, in which direction, and {rival: Timing}. Source: the course's choice."""

    network: str
    part: str
    direction: str
    timings: dict[str, Timing]

    def ratio(self, rival, to="PyTorch"):
        """Return how many times the time of `to` this rival takes, by the medians; None where one is missing."""
        if rival not in self.timings or to not in self.timings:
            return None
        return self.timings[rival].median / self.timings[to].median


@dataclass(frozen=True)
class Report:
    """A run: the machine, threads, batch size, seconds of the first call's compilation, and the rows.

    Source: the course's choice.
    """

    machine: dict
    threads: int
    batch: int
    first_call_seconds: float
    rows: list[Row]


def describe_machine(packages=PACKAGES):
    """Return the processor, the BLAS and the versions of packages that a timing depends on, as a dict of texts.

    No errors: what cannot be found out is "unknown". Source: the course's choice.
    """
    from threadpoolctl import threadpool_info

    blas = [f"{b['internal_api']} {b['version']} {b.get('architecture', '')}".strip() for b in threadpool_info()]
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {"cpu": _cpu(), "system": platform.system(), "blas": ", ".join(blas) or "unknown", "versions": versions}


def _cpu():
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(errors="replace"), re.MULTILINE)
        if found:
            return found[1]
    return platform.processor() or platform.machine() or "unknown"


def write(report, folder, name="cpu"):
    """Write `report` as JSON to folder/<name>.<device>.json and return the path. OSError if that fails.

    Source: the course's choice.
    """
    device = report.machine.get("gpu") or report.machine["cpu"]
    path = Path(folder) / f"{name}.{short_name(device)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"bench": name, "date": time.strftime("%Y-%m-%d"), **asdict(report)}
    part = path.with_suffix(".part")
    try:
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        os.replace(part, path)  # at once, so that a full disk leaves what was there
    finally:
        part.unlink(missing_ok=True)
    return path


def short_name(device):
    """Return a device's name for a file: "amd-epyc"; "h200" of "NVIDIA H200". No errors. Source: the course's own."""
    card = re.search(r"^nvidia\b.*?\b([a-z]{1,3}\d{1,4})\b", device.lower())
    return card[1] if card else re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")


def milliseconds(timing):
    """Return "12.3 ±4%": the median, and half the quartiles' distance. No errors. Source: the course's own."""
    number = 1000 * timing.median
    spread = 50 * (timing.upper - timing.lower) / timing.median
    return f"{number:,.0f} ±{spread:.0f}%" if number >= 1000 else f"{number:.3g} ±{spread:.0f}%"


def tables(rows):
    """Return one rich Table per network: milliseconds per call with half the quartiles' distance in percent, ratios.

    No errors. Source: the course's choice.
    """
    from rich.table import Table

    shown = {}
    for row in rows:
        rivals = list(row.timings)
        ratios = [r for r in rivals if row.ratio(r) is not None and r != "PyTorch"]
        if row.network not in shown:
            shown[row.network] = table = Table(title=f"{row.network}: ms per call", title_justify="left")
            for column in ("", "", *rivals, *(f"{r}/PyTorch" for r in ratios)):
                table.add_column(column, justify="right" if column else "left")
        times = [milliseconds(t) for t in row.timings.values()]
        shown[row.network].add_row(row.part, row.direction, *times, *(f"{row.ratio(r):.2f}" for r in ratios))
    return list(shown.values())
