"""Print the estimate's table: predicted and measured times of every judged kernel, tau of every ladder, a summary.

python tools/estimate_table.py [--device H200]        from results/counts.json and results/kernels.<device>.json

Judged are all rungs of all ladders, the single operations, and the kernels of tests/simt/measured at sizes that fill a
card. None of them is used for a constant: the rates are those of tools/microbench, whose kernels are not in here.

What was looked at while the model was made, on an H200: the ladders of transposes and sums, products and some twenty
measured kernels, for which parts work at the same time and which microbenchmark a constant comes from; and the
instruction counts of tests/simt/measured, of products and of convolutions, for how executions are found. One kernel
each prompted a rule that then holds for all: the gradient dX v01 of conv 1->6 that for unrolled loops, product v09 that
for the code of device functions, product v10 that for copies ahead of their use, conv 4->16 v06 that for warps which
come apart between barriers, products v05 and v08 that the first wait behind a barrier counts by its clocks, conv 1->6
v04 that for loads and their use in two stretches of a loop. The other gradients, single operations and measured
kernels came after that, and so does any other card.

Two times that differ by less than a twentieth count as a tie, and no pair of them goes into tau. A launch that does not
fill the card gets no prediction, and stands in the table without one.

Source: the course's own; M. G. Kendall, "A New Measure of Rank Correlation" (1938).
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
TIE = 0.05
NOT_COUNTED = [{"failure": "python tools/estimate_counts.py has not counted it yet"}]
LADDER = 3
"""Rungs that a case has at the least to be ranked."""


@dataclass(frozen=True)
class Row:
    """A kernel: seconds measured, and predicted; `limit` is what it waits for, or why nothing is predicted."""

    case: str
    player: str
    predicted: float | None
    measured: float
    limit: str

    @property
    def ratio(self):
        """Predicted / measured."""
        return None if self.predicted is None else self.predicted / self.measured


def main(words=None):
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="H200")
    parser.add_argument("--counts", type=Path, default=ROOT / "results" / "counts.json")
    options = parser.parse_args(words)
    print(text(rows(options.device, options.counts)))
    return 0


def rows(device, counts=ROOT / "results" / "counts.json"):
    """Return the `Row` of every kernel of which there is a time."""
    from course_lib.simt.estimate.calls import time_of_call

    known = json.loads(counts.read_text(encoding="utf-8"))
    place = ROOT / "results" / f"kernels.{device.lower().replace(' ', '')}.json"
    measured = json.loads(place.read_text(encoding="utf-8"))["rows"]
    found = []
    for case, players in measured.items():
        for player, timing in players["players"].items():
            launches = known.get(case, {}).get(player, NOT_COUNTED)
            guess, limit = time_of_call(launches, device)
            found.append(Row(case, player, guess, timing["median"], limit))
    return found


def tau(predictions, times):
    """Return Kendall's tau of two sequences, None without a pair; pairs whose times are a tie are left out."""
    agree = pairs = 0
    for i in range(len(times)):
        for j in range(i):
            if abs(math.log(times[i] / times[j])) > math.log(1 + TIE):
                pairs += 1
                agree += math.copysign(1, math.log(times[i] / times[j]) * math.log(predictions[i] / predictions[j]))
    return agree / pairs if pairs else None


def taus(found):
    """Return {case: tau} of the ladders: cases with at least `LADDER` predicted rungs."""
    result = {}
    for case in dict.fromkeys(r.case for r in found):
        known = [r for r in found if r.case == case and r.predicted]
        if len(known) >= LADDER and case != "measured kernels":
            result[case] = tau([r.predicted for r in known], [r.measured for r in known])
    return result


def summary(found):
    """Return {what: number} of all predicted rows: kernels, geometric mean error, within 2x, within 4x, without."""
    errors = [abs(math.log(r.ratio)) for r in found if r.predicted]
    return {
        "kernels": len(errors),
        "without": len(found) - len(errors),
        "error": math.exp(sum(errors) / len(errors)),
        "within 2x": sum(e <= math.log(2) for e in errors) / len(errors),
        "within 4x": sum(e <= math.log(4) for e in errors) / len(errors),
    }


def text(found):
    """Return the table as Markdown."""
    lines = ["| case | kernel | predicted | measured | ratio | limit |", "|---|---|---:|---:|---:|---|"]
    for r in found:
        guess = "-" if r.predicted is None else f"{1e6 * r.predicted:,.1f} µs"
        ratio = "-" if r.predicted is None else f"{r.ratio:.2f}"
        lines.append(f"| {r.case} | {r.player} | {guess} | {1e6 * r.measured:,.1f} µs | {ratio} | {r.limit} |")
    ranks = taus(found)
    lines += [
        "",
        "| ladder | tau |",
        "|---|---:|",
        *(f"| {c} | {'-' if t is None else f'{t:.2f}'} |" for c, t in ranks.items()),
    ]
    groups = {"all": found, "ladders and operations": [r for r in found if r.case != "measured kernels"],
              "measured kernels": [r for r in found if r.case == "measured kernels"]}  # fmt: skip
    lines += [
        "",
        "| judged | kernels | typical factor | within 2x | within 4x | not predicted |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, part in groups.items():
        if any(r.predicted for r in part):
            s = summary(part)
            shares = f"{s['within 2x']:.0%} | {s['within 4x']:.0%}"
            lines.append(f"| {name} | {s['kernels']} | {s['error']:.2f} | {shares} | {s['without']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
