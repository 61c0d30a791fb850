"""Time launches on the executor of this checkout and of an earlier one, in one run; seconds a launch, and their ratio.

python tools/compare_executors.py OLD_CHECKOUT [--rounds 5] [--slow]

The launches are those of `course bench simt`. --slow has the large ones instead: the tiled product of 512 and 1,024
with all checks, and a million turns of one thread (the old executor takes a minute for them). Each checkout runs in a
process of its own, one launch after the other in turns; the first launch of each, which compiles, is not timed, but
for the slow ones, where it is what a user waits for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
SLOW = ("tiled product, 512", "tiled product, 1024", "one thread, 1,000,000 turns")
TURNS = 1_000_000
console = Console(highlight=False)


def one_thread(x, out):
    """Add up an array in a single thread: the loop of a first kernel."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * 0.5
    out[0] = total


def launch(name):
    """Return (kernel, grid, block, arguments) of a launch by its name."""
    if name.startswith("one thread"):
        return one_thread, 1, 1, (np.random.default_rng(0).random(TURNS), np.zeros(1))
    from course_lib.bench.simt_cases import CASES

    case, _, size = name.partition(",")
    made = CASES[case].launch(int(size)) if size.strip().isdigit() else CASES[name].launch()
    return made.kernel, made.grid, made.block, made.arguments


def child():
    """Time the launches that come in, one a line, and answer with the seconds of each."""
    from course_lib import simt

    for line in sys.stdin:
        kernel, grid, block, arguments = launch(line.strip())
        started = time.perf_counter()
        simt.run(kernel, grid, block, arguments)
        print(json.dumps(time.perf_counter() - started), flush=True)


class Executor:
    """The executor of one checkout, in a process of its own."""

    def __init__(self, checkout):
        environment = os.environ | {"PYTHONPATH": str(checkout), "COURSE_PROGRESS": "0"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--child"], env=environment, cwd=checkout, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def seconds(self, name):
        """Return the seconds of one launch."""
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the executor ended during {name}.")
        return json.loads(line)


def main(
    old: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A checkout with the old executor.")],
    rounds: Annotated[int, typer.Option(min=1, help="Launches of each on each side.")] = 5,
    slow: Annotated[bool, typer.Option(help="The large launches.")] = False,
) -> None:
    """Time both executors, launch by launch in turns."""
    from course_lib.bench.simt_cases import CASES

    sides = {"old": Executor(old.resolve()), "new": Executor(ROOT)}
    table = Table("launch", "old (s)", "new (s)", "new / old")
    for name in SLOW if slow else CASES:
        taken = {side: [] for side in sides}
        for turn in range(1 if slow else rounds + 1):
            for side, executor in sides.items():
                seconds = executor.seconds(name)
                if turn or slow:
                    taken[side].append(seconds)
        before, after = median(taken["old"]), median(taken["new"])
        table.add_row(name, f"{before:.4f}", f"{after:.4f}", f"{after / before:.2f}")
    console.print(table)


if __name__ == "__main__":
    child() if sys.argv[1:] == ["--child"] else typer.run(main)
