"""`course bench simt`: the SIMT executor against Numba's CUDA simulator, on twelve kernels, and how its time grows.

Source: the course's own; what is promised, the course's design of the executor.
"""

from dataclasses import dataclass

import numpy as np

from course_lib import simt
from course_lib.bench.report import describe_machine, milliseconds
from course_lib.bench.simt_cases import CASES, TILED
from course_lib.bench.simulator import Simulator
from course_lib.bench.timing import Timing, interleave
from course_lib.checks import check_close
from course_lib.validate import require_count

EVERYTHING, UNCOUNTED, BARE = "executor", "counters off", "races off too"
SIMULATOR = "Numba's simulator"
EXECUTORS = {EVERYTHING: {}, UNCOUNTED: {"counters": False}, BARE: {"counters": False, "races": False}}
"""The executor with everything on, without counters, and without looking for races either; what `simt.run` is told."""

GROWTH = (32, 64, 128, 256)
BLOCK = 0.05
"""Seconds of a block of the executor's calls; the simulator's one call takes longer than that anyway."""

RATIO, LARGE, LARGE_SECONDS = 200, 128, 0.15
"""Promised for the tiled product, everything on: so many times the simulator's speed; seconds for that size."""


@dataclass(frozen=True)
class SimtRow:
    """A kernel, its size, what is of this size, in how many threads, and {rival: Timing}. Source: the course's own."""

    kernel: str
    size: int
    shape: str
    threads: int
    timings: dict[str, Timing]

    def ratio(self, rival):
        """Return how many times as fast as the simulator this rival is, by the medians; None without the simulator."""
        slow = self.timings.get(SIMULATOR)
        return slow and slow.median / self.timings[rival].median


@dataclass(frozen=True)
class SimtReport:
    """A run: the machine, the rows with the simulator, and the executor alone on growing sizes.

    Source: the course's own.
    """

    machine: dict
    rounds: int
    rows: list[SimtRow]
    growth: list[SimtRow]

    def promises(self):
        """Return [(what is promised and measured, whether it holds)], where these sizes of the tiled product ran."""
        found = []
        for row in self.rows:
            if (row.kernel, row.size) == (TILED, CASES[TILED].size):
                ratio = row.ratio(EVERYTHING)
                what = f"{TILED} of {row.size}: {ratio:,.0f} times as fast as the simulator, at least {RATIO}"
                found.append((what, ratio >= RATIO))
        for row in self.growth:
            if row.size == LARGE:
                seconds = row.timings[EVERYTHING].median
                what = f"{TILED} of {row.size}: {seconds:.3f} s, at most {LARGE_SECONDS} s"
                found.append((what, seconds <= LARGE_SECONDS))
        return found


def bench_simt(*, kernels=None, sizes=None, growth=GROWTH, rounds=7, on_row=None):
    """Return a `SimtReport`: seconds per launch of the executor, also without counters and races, and the simulator's.

    Results are compared before anything is timed: exactly, but for the exponential function's last bit.

    Parameters
    ----------
    kernels : sequence of str, optional
        Names of `simt_cases.CASES`; all of them unless given.
    sizes : dict of str to int, optional
        Other sizes than the cases' own.
    growth : sequence of int
        Sizes of the tiled product for the executor alone, multiples of 16.
    rounds : int >= 1
    on_row : callable, optional
        on_row(row) after each row, to show progress.

    Raises
    ------
    ValueError, TypeError
        For an unknown kernel, or a number that is not a whole number >= 1.
    checks.Mismatch
        If the executor and the simulator do not compute the same.
    RuntimeError
        If the simulator ends on its own.

    Source: the course's own.
    """
    rounds = require_count("rounds", rounds)
    names = list(CASES) if kernels is None else list(kernels)
    unknown = [n for n in names if n not in CASES]
    if unknown:
        raise ValueError(f"no kernel is called {unknown[0]!r}; there are {', '.join(CASES)}.")
    rows, grown = [], []
    with Simulator() as simulator:
        for name in names:
            rows.append(_row(CASES[name], (sizes or {}).get(name, CASES[name].size), rounds, simulator))
            if on_row is not None:
                on_row(rows[-1])
    for size in growth:
        grown.append(_row(CASES[TILED], require_count("growth", size), rounds))
        if on_row is not None:
            on_row(grown[-1])
    return SimtReport(describe_machine(("course-lib", "numpy", "numba")), rounds, rows, grown)


def _row(case, size, rounds, simulator=None):
    rivals = {name: _executor(case, size, options) for name, options in EXECUTORS.items()}
    if simulator is not None:
        expected = simulator.results(case, size)
        for name, run in rivals.items():
            for found, wanted in zip(run(), expected, strict=True):
                check_close(found, wanted, rtol=case.rtol, atol=0, name=f"{case.name} by the {name}")
        rivals[SIMULATOR] = simulator.rival(case, size)
    launch = case.launch(size)
    threads = int(np.prod(launch.grid) * np.prod(launch.block))
    timings = interleave(rivals, rounds=rounds, block=BLOCK, slow={SIMULATOR})
    return SimtRow(case.name, size, case.shape.format(n=size), threads, timings)


def _executor(case, size, options):
    launch = case.launch(size)

    def run():
        simt.run(launch.kernel, launch.grid, launch.block, launch.arguments, **options)
        return launch.results()

    return run


def simt_tables(report):
    """Return two rich Tables: rivals in ms per launch with the executor's advantage, and growth of the tiled product.

    No errors. Source: the course's own.
    """
    from rich.table import Table

    rivals = Table(title="ms per launch", title_justify="left")
    for i, column in enumerate(("kernel", "size", "threads", *EXECUTORS, SIMULATOR, "faster")):
        rivals.add_column(column, justify="left" if i < 2 else "right")
    for row in report.rows:
        times = [milliseconds(t) for t in row.timings.values()]
        rivals.add_row(row.kernel, row.shape, f"{row.threads:,}", *times, f"{row.ratio(EVERYTHING):,.0f}x")
    growth = Table(title=f"{TILED}, executor: ms per launch", title_justify="left")
    for column in ("n", *EXECUTORS, "ns per n³", "off: times as fast"):
        growth.add_column(column, justify="right")
    for row in report.growth:
        times = list(row.timings.values())
        growth.add_row(
            str(row.size),
            *(milliseconds(t) for t in times),
            f"{times[0].median / row.size**3 * 1e9:.1f}",
            ", ".join(f"{times[0].median / t.median:.1f}x" for t in times[1:]),
        )
    return [rivals, growth]
