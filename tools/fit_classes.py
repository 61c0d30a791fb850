"""Fit what an operation of each class costs in machine instructions, and print it beside `class_costs.COSTS`.

python tools/fit_classes.py        half a minute; no GPU, no compiler

Fitted to the instructions that an H200's profiler counted for the kernels of tests/simt/measured, as shares of each
count, so that small kernels weigh as much as large ones. Classes hang together (who loads also makes addresses), so a
fit alone would give some of them a wild number: each is drawn towards a first guess from the machine code of single
operations, as strongly as `PULL` says. No time is used.

Source: the course's own; Hoerl and Kennard, "Ridge Regression" (1970).
"""

import importlib
import json
import math
import os
import pkgutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["COURSE_DEVICE"] = "simt"

GUESS = {
    "start": 10, "integer": 2, "multiply": 3, "power": 4, "constant": 12, "divided": 35, "address": 6, "shared": 3,
    "access": 1, "turn": 3, "range": 15, "branch": 1.5, "fma": 1, "special": 12, "together": 2,
}  # fmt: skip
PULL = 0.3
FOLDS = 10
COUNT = "smsp__inst_executed.sum"


def main():
    """Fit and print."""
    from course_lib.simt.estimate.class_costs import COSTS, registers_of

    found = rows()
    costs = fitted([(classes, number) for _, classes, number, *_ in found])
    for name, cost in costs.items():
        print(f"{name:10} {cost:6.1f}   in use {COSTS[name]:6.1f}")
    print(f"typical factor of {len(found)} kernels: {typical(found, costs):.3f}, in use {typical(found, COSTS):.3f}")
    out = []
    for fold in range(FOLDS):
        kept = [(r[1], r[2]) for i, r in enumerate(found) if i % FOLDS != fold]
        out += errors(found[fold::FOLDS], fitted(kept))
    print(f"of kernels that are left out: {math.exp(sum(out) / len(out)):.3f}")
    far = [abs(math.log(registers_of(report) / registers)) for *_, report, registers in found]
    print(f"of registers: {math.exp(sum(far) / len(far)):.3f}")


def rows():
    """Return [(name, classes, machine instructions of a warp, report, registers)] of the kernels that were profiled."""
    import tests.simt.measured.kernels as kernels
    from course_lib import simt
    from course_lib.simt.estimate.classes import classes_of
    from course_lib.simt.source import source_of
    from tests.simt.measured.cases import LAUNCHES

    for module in pkgutil.iter_modules(kernels.__path__):
        importlib.import_module(f"{kernels.__name__}.{module.name}")
    text = (ROOT / "tests" / "simt" / "measured" / "counters.h200.json").read_text(encoding="utf-8")
    found = []
    for name, one in json.loads(text)["kernels"].items():
        case = LAUNCHES[name]
        source = source_of(getattr(case.kernel, "py_func", case.kernel))
        report = simt.run(source, case.grid, case.block, case.arguments()[0], shared=case.shared, on_error="collect",
                          races=False)  # fmt: skip
        warps = math.prod(case.grid) * -(-math.prod(case.block) // 32)
        counters = one["counters"]
        classes = classes_of(source, report, warps)
        found.append((name, classes, counters[COUNT] / warps, report, counters["launch__registers_per_thread"]))
    return found


def fitted(pairs):
    """Return {class: cost}, none below 0, of pairs (classes, machine instructions)."""
    import numpy as np

    A = np.array([[classes[name] / number for name in GUESS] for classes, number in pairs])
    A = np.vstack([A, np.diag([PULL / guess for guess in GUESS.values()])])
    b = np.concatenate([np.ones(len(pairs)), np.full(len(GUESS), PULL)])
    G, h, x = A.T @ A, A.T @ b, np.array(list(GUESS.values()), float)
    for _ in range(3000):  # one after the other, to the best that it can be without being negative
        for j in range(len(x)):
            x[j] = max(0.0, x[j] + (h[j] - G[j] @ x) / G[j, j])
    return dict(zip(GUESS, map(float, x), strict=True))


def errors(found, costs):
    """Return |log of guessed / counted| of rows."""
    return [abs(math.log(sum(costs[n] * c for n, c in classes.items()) / number)) for _, classes, number, *_ in found]


def typical(found, costs):
    """Return by which factor a row is off, the geometric mean."""
    return math.exp(sum(errors(found, costs)) / len(found))


if __name__ == "__main__":
    main()
