"""Count what predictions are made from: results/counts.json, of every kernel that is judged, at the judged sizes.

python tools/estimate_counts.py [--only CASE ...]      needs the compiler of `make test`, and no GPU; an hour's half

The executor walks a few blocks of each launch, the compiler says what a warp executes. No time is in the file. The
kernels on the page of lesson 14 are counted too: --only "lesson 14".

Not recounted since `pipes.waits` follows a load from one stretch of a loop into the next: products v06 and v07;
convolutions v05, and 64->64 v06 and v07; dX 6->16 and 1->6 v06; dW, but for v02 and v06 of 1->6 and 6->16; transposes,
sums, single operations and the measured kernels. dX v02 has no counts, as ptxas refuses its code with line numbers, and
dW v01 none yet.
Source: the course's own.
"""

import argparse
import gc
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["COURSE_DEVICE"] = "simt"
PLACE = ROOT / "results" / "counts.json"
CC, DEVICE = (9, 0), "H200"
"""For what is compiled, and whose SMs hold the blocks; an H100's hold as many."""


KEPT = {}
"""What was compiled already: {a kernel and its types: (kernel, what `compiled` returned)}. Kernels that are made for a
size share their name, so the kernel itself is the key."""


class Zeros:
    """In the place of a random generator: numbers do not matter to counts, but for a few that are given."""

    def standard_normal(self, shape, dtype):
        """Return zeros."""
        import numpy as np

        return np.zeros(shape, dtype)

    def integers(self, low, high, size):
        """Return whole numbers, a pattern that is repeated."""
        import numpy as np

        return np.resize(np.random.default_rng(7).integers(low, high, 65521), size)


def main():
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="CASE", help="beginnings of cases' names; others are kept")
    parser.add_argument("--players", nargs="+", default=None)
    parser.add_argument("--out", type=Path, default=PLACE)
    options = parser.parse_args()
    from tests.gates.compiler import missing, use_compiler

    if reason := missing():
        raise SystemExit(reason)
    use_compiler()
    from tools.microbench.judged import LADDERS, MEASURED

    known = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    from tools.measure_lessons import CHANGES, OWN

    for name in (*LADDERS, MEASURED, OWN, CHANGES):
        if options.only and not name.startswith(tuple(options.only)):
            continue
        done = {p for p, f in known.get(name, {}).items() if "failure" not in f[0]}
        for player, facts in counts_of(name, options.players, done):
            known.setdefault(name, {})[player] = facts
            options.out.write_text(to_text(known), encoding="utf-8")
    return 0


def to_text(known):
    """Return the counts as JSON, a line for each player."""
    cases = []
    for case, players in known.items():
        lines = ",\n".join(f"  {json.dumps(p)}: {json.dumps(_rounded(f))}" for p, f in players.items())
        cases.append(f" {json.dumps(case)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(cases) + "\n}\n"


def _rounded(value):
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list) else value


def counts_of(name, players=None, known=()):
    """Yield (player, [facts of each launch, with how often it is done]) of a case."""
    from tools.microbench.judged import LADDERS, MEASURED
    from tools.microbench.large import LARGE

    if name.startswith("lesson"):
        yield from of_lesson_14(name, players, known)
        return
    if name.startswith(("conv", "gemm")):
        yield from grown(name, players, known)
        return
    if name == MEASURED:
        made = {case: lambda e=entry: large_launch(e) for case, entry in LARGE.items()}
    else:
        case = LADDERS[name]
        work = case.make(with_backend(), Zeros(), **case.sizes)
        made = {p: lambda m=m: m().calls[0].launches for p, m in work.ours.items()}
    for player, make in made.items():
        if player in known or (players and not player.startswith(tuple(players))):
            continue
        start = time.perf_counter()
        try:
            launches = make()
            facts = [asdict(f) | {"times": n} for f, n in distinct(launches)]
        except Exception as error:
            facts = [{"failure": f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]}]
        launches = None
        gc.collect()
        print(
            f"{name}, {player}: {facts[0].get('failure', len(facts))} in {time.perf_counter() - start:.1f} s",
            flush=True,
        )
        yield player, facts


def of_lesson_14(name, players=None, known=()):
    """Yield (player, facts) of the kernels on the page of lesson 14 with 4,096 rows, from two small depths."""
    import numpy as np

    from course_lib.cuda.recording import record_launches
    from tools.measure_lessons import OWN, changed_products, lesson, own_products

    own, ends = lesson("14_matrix_multiplication"), []
    for depth in FEW:
        A, B, C = (np.zeros(shape, np.float32) for shape in ((SIDE, depth), (depth, SIDE), (SIDE, SIDE)))
        ends.append((own_products if name == OWN else changed_products)(own, A, B, C))
    for player in ends[0]:
        if player in known or (players and not player.startswith(tuple(players))):
            continue
        pair = []
        for end in ends:
            with record_launches(run=False) as launches:
                end[player]()
            pair.append(told(launches)[0][0] | {"times": 1})
        print(f"{name}, {player}", flush=True)
        yield player, [widened(between(*pair, (4096 - FEW[0]) / (FEW[1] - FEW[0])), 4096)]


FEW = 256, 512
"""Images of a convolution, or depths of a product, that are counted: the work grows by as much with each."""
MANY = 2048, 4096
"""Images where a gradient of weights has as many blocks as it ever gets, and each of them only more to do."""


def grown(name, players=None, known=()):
    """Yield (player, facts) of a convolution, from two small batches, or of a product, from two depths."""
    from tools.microbench.judged import LADDERS

    case = LADDERS[name]
    grows = "B" if "B" in case.sizes else "K"
    for player in case.make(with_backend(), Zeros(), **case.sizes | {"M" if grows == "K" else grows: 1}).ours:
        if player in known or (players and not player.startswith(tuple(players))):
            continue
        start = time.perf_counter()
        full = name.endswith("dW") and "product" not in player
        for few in (MANY if full else FEW, (2, 4)):  # the second where a thread goes through all images
            try:
                found = extrapolated(case, player, grows, few)
                break
            except Exception as error:
                found = [{"failure": f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]}]
        print(
            f"{name}, {player}: {found[0].get('failure', len(found))} in {time.perf_counter() - start:.1f} s",
            flush=True,
        )
        yield player, found


def extrapolated(case, player, grows, few):
    """Return the facts of a player's launches at the case's size, from two that are `few` in what grows."""
    if few[1] > case.sizes[grows]:
        few = case.sizes[grows] // 4, case.sizes[grows] // 2
    fixed = {"M": SIDE, "N": SIDE} if grows == "K" else {}  # blocks of a product are alike, however many there are
    key = player, *fixed
    if not fixed or key not in PAIRS:
        pair = []
        for size in few:
            work = case.make(with_backend(), Zeros(), **case.sizes | fixed | {grows: size})
            pair.append([f | {"times": n} for f, n in told(work.ours[player]().calls[0].launches)])
        PAIRS[key] = pair
    small, large = PAIRS[key]
    if [f["kernel"] for f in small] != [f["kernel"] for f in large]:
        raise ValueError("the two sizes launch other kernels")
    share = (case.sizes[grows] - few[0]) / (few[1] - few[0])
    found = [between(a, b, share) for a, b in zip(small, large, strict=True)]
    return [widened(f, case.sizes["M"]) for f in found] if fixed else found


SIDE = 1024
PAIRS = {}
"""Counts of products that are done already, by the rung."""


def widened(facts, side):
    """Return the facts of a product of SIDE x SIDE results as those of one of side x side."""
    arrays = {n: [4 * side**2, *rest] for n, (_, *rest) in facts["arrays"].items()}
    return facts | {"blocks": facts["blocks"] * side**2 // SIDE**2, "arrays": arrays}


def told(launches):
    """Return [(facts as a dict, how often)] of launches, one for each kernel: means over its blocks."""
    kernels = {}
    for f, n in distinct(launches):
        kernels.setdefault(f.kernel, []).append(asdict(f) | {"times": n})
    return [(together(alike), sum(f["times"] for f in alike)) for alike in kernels.values()]


def together(alike):
    """Return the facts of several launches of one kernel: each number is the mean over all their blocks."""
    shares = [f["blocks"] * f["times"] for f in alike]

    def mean(values):
        if isinstance(values[0], dict):
            return {k: mean([v.get(k, 0) for v in values]) for k in {k: 0 for v in values for k in v}}
        if isinstance(values[0], list):
            return [mean(part) for part in zip(*values, strict=True)]
        if isinstance(values[0], int | float) and not isinstance(values[0], bool):
            return sum(v * s for v, s in zip(values, shares, strict=True)) / sum(shares)
        return values[0]

    found = {k: mean([f[k] for f in alike]) for k in alike[0]} if len(alike) > 1 else dict(alike[0])
    fixed = {k: alike[0][k] for k in ("threads", "shared_bytes", "registers", "walked")}
    return found | fixed | {"blocks": sum(shares) / sum(f["times"] for f in alike)}


def between(small, large, share):
    """Return the facts at small + share (large - small).

    Where blocks grow in number, each does what it did: the mean of both. Where they do not, each does more: a line.
    """
    count = [f["blocks"] * f["times"] for f in (small, large)]
    grown = count[0] + share * (count[1] - count[0])
    times = small["times"] + share * (large["times"] - small["times"])
    alike = count[1] > 1.9 * count[0]

    def at(first, second):
        if isinstance(first, dict):
            return {k: at(first.get(k, 0), second.get(k, 0)) for k in {**first, **second}}
        if alike:
            return (first + second) / 2
        return max(0.0, first * count[0] + share * (second * count[1] - first * count[0])) / grown

    fixed = ("kernel", "threads", "shared_bytes", "registers", "shared_atomics", "walked")
    found = {
        k: small[k] if k in fixed else at(small[k], large[k]) for k in small if k not in ("arrays", "times", "blocks")
    }
    arrays = {
        n: [a[0] + share * (large["arrays"][n][0] - a[0]), *map(at, a[1:], large["arrays"][n][1:])]
        for n, a in small["arrays"].items()
    }
    return found | {"arrays": arrays, "blocks": round(grown / times), "times": times}


def with_backend():
    """Return `with_numpy` without what costs memory: outputs are made, not filled."""
    from course_lib.bench.gpu import with_numpy

    return with_numpy


def large_launch(entry):
    """Return the launches of a `Large` entry, with arrays of zeros that take no memory until they are touched."""
    import numpy as np

    from course_lib import gpu
    from course_lib.cuda.launch_checks import check_launch
    from course_lib.cuda.recording import Launch

    arguments = entry.make(lambda shape, dtype=np.float32: np.zeros(shape, dtype))
    return [Launch(gpu.jit(entry.kernel), *check_launch(entry.grid, entry.block), 0, entry.shared, tuple(arguments))]


def distinct(launches):
    """Return [(facts, how often)] of launches; what is alike is walked once."""
    groups = {}
    for launch in launches:
        shapes = tuple(getattr(a, "shape", a) for a in launch.arguments)
        groups.setdefault((id(launch.kernel), launch.grid, launch.block, launch.shared, shapes), []).append(launch)
    return [(facts(alike[0]), len(alike)) for alike in groups.values()]


def facts(launch):
    """Return the `Facts` of a launch."""
    from course_lib.cuda.compile_report import types_of
    from course_lib.simt.estimate.compiled import compiled
    from course_lib.simt.estimate.launch import counted

    key = id(launch.kernel), str(types_of(launch.arguments))
    if key not in KEPT:
        KEPT[key] = launch.kernel, compiled(launch, CC)  # the kernel is kept, so that its id stays its own
    return counted(launch, DEVICE, KEPT[key][1])[1]


if __name__ == "__main__":
    sys.exit(main())
