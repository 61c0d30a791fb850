"""Time what predictions are judged by: python -m tools.microbench.judged --out results/kernels.<device>.json

Every rung of every ladder at the sizes of `course bench gpu`, products of 2,048 and transposes of 4,096 too, the
single operations, and the kernels of tests/simt/measured at sizes that fill a card (`large`). Results are verified by
`course bench gpu`, tests/cuda and tools/measure_traffic.py; here kernels are only timed. Each comes with the grid,
block and shared memory of its launches. --tiny times the small sizes once, for a smoke test without a GPU.
Source: the course's own.
"""

import argparse
import datetime
import json
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from course_lib import gpu
from course_lib.bench.gpu import with_numpy
from course_lib.bench.gpu.cases import CASES, Case
from course_lib.bench.gpu.measure import said
from course_lib.bench.gpu.players import replayed
from course_lib.bench.gpu.run import describe_gpu
from course_lib.cuda.choice import GPU
from course_lib.cuda.device import choice
from tools.microbench.__main__ import timer
from tools.microbench.large import LARGE, noise

MORE = (
    replace(
        CASES["gemm 1024"], name="gemm 2048", size="2048 x 2048 x 2048", sizes=dict(M=2048, N=2048, K=2048, least=1)
    ),
    replace(CASES["transpose"], name="transpose 4096", size="4,096 x 4,096", sizes=dict(M=4096, N=4096)),
)
"""Sizes that `course bench gpu` has not."""
LADDERS = {case.name: case for case in (*CASES.values(), *MORE)}
"""All pieces of work but the kernels of tests/simt/measured."""
MEASURED = "measured kernels"


@dataclass(frozen=True)
class Judged:
    """What is timed: calls that do it, and [kernel, grid, block, shared bytes] of each launch of the first one.

    Source: the course's own.
    """

    calls: list
    launches: list


def main(words=None):
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the JSON file; rows that it has already are kept")
    parser.add_argument("--only", nargs="+", metavar="CASE", help="beginnings of cases' names")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tiny", action="store_true", help="once each, small: a smoke test")
    parser.add_argument("--once", action="store_true", help="launch everything once and time nothing: for a profiler")
    parser.add_argument("--seconds", type=float, default=260, help="begin no case after so many seconds")
    options = parser.parse_args(words)
    if not options.tiny and choice().device != GPU:
        parser.error("kernels are timed on a GPU, and there is none here; --tiny is a smoke test without one.")
    start = time.perf_counter()
    rows = json.loads(options.out.read_text(encoding="utf-8"))["rows"] if options.out.exists() else {}
    names = [n for n in (*LADDERS, MEASURED) if not options.only or n.startswith(tuple(options.only))]
    for name in names:
        if name in rows or time.perf_counter() - start > options.seconds:
            continue
        begun = time.perf_counter()
        with gpu.collect_hazards() if options.tiny else nullcontext():
            rows[name] = row_of(name, options)
        failures = rows[name]["failures"]
        print(f"{name}: {failures or 'done'} in {time.perf_counter() - begun:.1f} s", flush=True)
        write(options, rows)
    return 0


def row_of(name, options):
    """Return {"size", "players": {name: timing and launches}, "failures"} of a case. No errors but an interrupt.

    Source: the course's own.
    """
    row = {"size": "large" if name == MEASURED else LADDERS[name].size, "players": {}, "failures": {}}
    if name == MEASURED:  # one after the other: their arrays would not fit beside each other
        players = {case: lambda e=entry: _large(e, options.tiny) for case, entry in LARGE.items()}
        groups = [{case: make} for case, make in players.items()]
    else:
        groups = [_players(LADDERS[name], options.tiny)]
    for group in groups:
        made = {}
        for player, make in group.items():
            try:
                made[player] = make()
                made[player].calls[0]()
                gpu.synchronize()
            except Exception as error:
                made.pop(player, None)
                row["failures"][player] = said(error)
        try:
            calls = {n: p.calls for n, p in made.items()}
            timings = {} if options.once else timer(options.tiny)(calls, rounds=options.rounds)
        except Exception as error:
            row["failures"]["timing"] = said(error)
            continue
        for player, judged in made.items():
            timing = asdict(timings[player]) if player in timings else {}
            row["players"][player] = timing | {"launches": judged.launches}
    return row


def _players(case: Case, tiny):
    """Return {player: maker of `Judged`} of a piece of work; {} where arrays cannot be made."""
    work = case.work(with_numpy, small=tiny)
    return {name: lambda make=make: _judged(make()) for name, make in work.ours.items()}


def _judged(player):
    return Judged(list(player.calls), [_told(each) for each in player.calls[0].launches])


def _told(launch):
    return [launch.kernel.__name__, list(launch.grid), list(launch.block), launch.shared]


def _large(entry, tiny):
    if tiny:
        from tests.simt.measured.kernels import CASES as SMALL

        case = SMALL[entry.case]
        arguments, grid, block, shared = case.arguments()[0], case.grid, case.block, case.shared
    else:
        arguments, grid, block, shared = entry.make(noise), entry.grid, entry.block, entry.shared
    kernel = gpu.jit(entry.kernel)
    there = [gpu.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    call = replayed(lambda: kernel[grid, block, 0, shared](*there), ())
    return Judged([call], [_told(each) for each in call.launches])


def write(options, rows):
    """Write what there is so far; OSError if it cannot be. Source: the course's own."""
    about = {
        "bench": "kernels", "date": datetime.date.today().isoformat(), "machine": describe_gpu(with_numpy),
        "rounds": options.rounds,
    }  # fmt: skip
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(about | {"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
