"""Hold the simulated cluster against what was measured: a table, and exit status 1 if a prediction is too far off.

python tools/check_cluster.py                      every results/parallel.*.json
python tools/check_cluster.py FILE [FILE ...]      these files

Sums may be off by 25 percent, steps by 20. Not judged: * what the link was made of, for it proves nothing; ~ sums
beside a backward pass without a processor of their own, for how a system lets the two take turns is beyond the model.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from course_lib.cluster import calibrate  # noqa: E402


def lines(name, content, found):
    """Return the table of one file as lines, with a heading and a verdict."""
    machine = content["machine"]
    who = machine.get("gpu") or " ".join(content.get("cards", [])[:1]) or machine["cpu"]
    made = [f"{name}: {who}, {content['date']}"]
    made.append(f"{'':32}{'ranks':>5} {'bytes':>13} {'measured us':>13} {'predicted us':>13} {'off':>7}  may be")
    for c in found:
        mark = c.note or ("" if c.good else "  TOO FAR")
        made.append(
            f"{c.what:32}{c.ranks:5} {c.bytes:13,} {1e6 * c.measured:13,.1f} {1e6 * c.predicted:13,.1f} "
            f"{100 * c.off:+6.1f}%  {100 * c.within:.0f}%{mark}"
        )
    for kind, mine in by_kind(found).items():
        good, worst = sum(c.good for c in mine), max(abs(c.off) for c in mine)
        within = f"{good} of {len(mine)} within {100 * mine[0].within:.0f} %"
        made.append(f"{kind}: {within}; the worst is off by {100 * worst:.0f} %")
    return made


def by_kind(found):
    """Return {"sums" or "steps": those that are judged}."""
    kinds = {}
    for c in found:
        if c.judged:
            kinds.setdefault("sums" if c.within == calibrate.SUMS_WITHIN else "steps", []).append(c)
    return kinds


def main(arguments=None):
    """Print the tables; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    files = parser.parse_args(arguments).files or sorted((ROOT / "results").glob("parallel.*.json"))
    if not files:
        print("There is no results/parallel.*.json; tools/measure_parallel.py writes one.")
        return 1
    status = 0
    for file in files:
        content = calibrate.read(file)
        try:
            found = calibrate.compare(content)
        except ValueError as error:
            print(f"{file.name}: {error}")
            status = 1
            continue
        print("\n".join(lines(file.name, content, found)), end="\n\n")
        if any(c.judged and not c.good for c in found):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
