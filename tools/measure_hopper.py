"""Verify Hopper's rungs on a card, and time what they leave open: python tools/measure_hopper.py --out FILE

    compile                  every choice, in several processes: the parts after it find them on the disk
    v11, v12, v13, half      whole numbers must come out exactly, others within what may be lost: one tile, ragged
                             sizes, more tiles than blocks, rows that fit no multiple, 4096
    v12 choices, ...         the same for what a rung could do instead, at fewer sizes
    TF32, 3xTF32, 16 bits    at 4096 and 8192: each choice against float64, then in turns with cuBLAS (through PyTorch)
    graph                    recorded, and replayed on other numbers
    sanitizer                compute-sanitizer's memcheck, racecheck and synccheck, if it is there

Each part is a process of its own with a limit of 40 seconds: what hangs or fails is told, with what had begun last, and
the others still run, without the choices that were wrong, and without a rung that hangs at once. FILE is such as
results/hopper.<device>.json.
--tiny does all of it once, small, on the executor: a smoke test whose times mean nothing. Needs compute capability 9.0.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from course_lib.bench.gpu.promises import ERROR_RATIO, PROMISES  # noqa: E402  - a script finds the course beside it
from tools.hopper.choices import of  # noqa: E402
from tools.hopper.parts import PARTS, SHARES, compile_share, small  # noqa: E402

LIMIT = 40
"""Seconds that a part may take."""

RUNGS = ("v11", "v12", "v13", "half")
VERIFIES = (*RUNGS, *(f"{rung} choices" for rung in RUNGS))
SMALL = tuple(f"small {rung}" for rung in RUNGS)
COMPILES = tuple(f"compile {share}" for share in range(SHARES))
"""What the sanitizer runs, and what compiles."""

WORKS = {"TF32": "TF32 product on Hopper", "3xTF32": "3xTF32 product on Hopper", "bf16": "BF16 product"}
"""Kind -> what the benchmark's floors and goals call it."""


def main(arguments=None):
    """Do what the command line says; return the exit status: 1 if a part failed or something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="the JSON file to write, after each part")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), help="these parts only")
    parser.add_argument("--seconds", type=float, default=LIMIT, help=f"that a part may take; {LIMIT} unless given")
    parser.add_argument("--tiny", action="store_true", help="a smoke test without a GPU")
    parser.add_argument("--part", choices=[*PARTS, *SMALL, *COMPILES], help=argparse.SUPPRESS)
    parser.add_argument("--skip", nargs="*", default=[], help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.part:
        return run_here(given.part, given.tiny, given.skip)
    if not given.tiny:
        from course_lib.cuda.capability import compute_capability
        from course_lib.cuda.choice import GPU
        from course_lib.cuda.device import choice

        if choice().device != GPU or compute_capability() != (9, 0):
            parser.error("wgmma and TMA are measured on compute capability 9.0; --tiny is a smoke test without it.")
    found = {"bench": "hopper", "date": str(datetime.date.today()), "machine": _machine(given.tiny), "parts": {},
             "failures": {}}  # fmt: skip
    skip = set()
    for name in given.only or PARTS:
        start = time.perf_counter()
        rows, failure, last = run_apart(name, given.tiny, sorted(skip), given.seconds)
        found["parts"][name] = rows
        if failure:
            found["failures"][name] = failure
            skip |= set(of(name) if name in RUNGS else [last.split(",")[0]] if name in VERIFIES else ())
        if name in VERIFIES:
            skip |= {row["choice"] for row in rows if not row["right"]}
        print(f"\n{name}, {time.perf_counter() - start:.0f} s" + (f": FAILED: {failure}" if failure else ""))
        print("\n".join(table(name, rows)), flush=True)
        if given.out:
            given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n" + "\n".join(verdicts(found["parts"])), flush=True)
    wrong = any(row.get("right") is False for rows in found["parts"].values() for row in rows)
    return 1 if found["failures"] or wrong else 0


def _machine(tiny):
    if tiny:
        return {}
    from course_lib.bench.gpu.measure import find_backend
    from course_lib.bench.gpu.run import describe_gpu

    return describe_gpu(find_backend())


def run_here(part, tiny, skip):
    """Do a part in this process: a line of JSON for all that it says. Return the exit status."""
    if tiny:  # the executor has twins of Hopper's instructions; launchers ask for the card that has them
        from course_lib.cuda import capability

        capability.EVERY = (9, 0)

    def say(what):
        print(json.dumps(what), flush=True)

    if part in SMALL:
        small(part.split()[1], say)
    elif part in COMPILES:
        compile_share(int(part.split()[1]), say)
    else:
        PARTS[part](say, tiny, skip)
    return 0


def run_apart(part, tiny, skip, seconds):
    """Return (rows, failure or "", what had begun last) of a part that ran in a process of its own."""
    line = [sys.executable, str(Path(__file__).resolve()), "--part", part, *(["--tiny"] if tiny else [])]
    line += ["--skip", *skip] if skip else []
    process = subprocess.Popen(
        line, cwd=ROOT, env=os.environ | {"COURSE_PROGRESS": "0"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True,
    )  # fmt: skip
    failure = ""
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        failure = f"not done after {seconds:g} s"
    rows, last, other = [], "", []
    for text in said.splitlines():
        if text.startswith('{"row"'):
            rows.append(json.loads(text)["row"])
        elif text.startswith('{"begins"'):
            last = json.loads(text)["begins"]
        elif text.strip():
            other.append(text)
    if process.returncode and not failure:
        failure = f"exit status {process.returncode}: {' '.join(' '.join(other[-6:]).split())[-400:]}"
    return rows, failure + (f"; last begun: {last}" if failure and last else ""), last


def table(part, rows):
    """Return a part's rows as lines of text. No errors."""
    if part in VERIFIES:
        names = dict.fromkeys(row["choice"] for row in rows)
        return [_verified(name, [row for row in rows if row["choice"] == name]) for name in names]
    if part == "compile":
        right = [row["seconds"] for row in rows if row["right"]]
        return [f"  {len(right)} compiled, the slowest in {max(right, default=0):.1f} s",
                *(f"  {row['choice']} WRONG: {row['said']}" for row in rows if not row["right"])]  # fmt: skip
    if part in ("graph", "sanitizer"):
        called = [" ".join(filter(None, (row.get("choice"), row.get("tool"), row.get("rung")))) for row in rows]
        words = {True: "right", False: "WRONG", None: "-"}
        return [f"  {n:18} {words[r['right']]:6} {r['said']}".rstrip() for n, r in zip(called, rows, strict=True)]
    lines = [f"  {'':18} {'time':>9} {'':>6} {'TFLOP/s':>8} {'of rival':>8} {'error':>8} {'of cuBLAS':>9}"]
    for row in sorted(rows, key=lambda r: r.get("seconds", 1e9)):
        cells = [f"{1e6 * row['seconds']:7.0f}us ±{row['spread']:4.1f}% {row['tflops']:8.1f}" if "seconds" in row
                 else f"{'-':>9} {'':6} {'':8}"]  # fmt: skip
        cells += [f"{row['of_rival']:8.3f}" if row.get("of_rival") else f"{'':8}"]
        cells += [f"{row['error']:8.1e}" if row.get("error") is not None else f"{'':8}"]
        cells += [f"{row['of_error']:9.2f}" if "of_error" in row else f"{'':9}", row["said"][:100]]
        lines.append(f"  {row['choice']:18} {' '.join(cells)}".rstrip())
    return lines


def _verified(name, rows):
    wrong = [row for row in rows if not row["right"]]
    if wrong:
        first = wrong[0]
        many = f"{len(wrong)} of {len(rows)} WRONG, first {first['size']}, {first['numbers']}"
        return f"  {name:18} {many}: {first['said'][:180]}"
    worst = max(row["share"] for row in rows)
    return f"  {name:18} {len(rows)} right; normal numbers within {worst:.3f} of what may be lost"


def verdicts(parts):
    """Return lines of text: the fastest of each size and kind, and whether it keeps floor and goal. No errors."""
    lines = ["fastest of each, floor / goal"]
    for part, rows in parts.items():
        kind = part.split()[0]
        if kind not in ("TF32", "3xTF32", "16"):
            continue
        wanted = [("bf16", "bf16"), ("f16", "bf16")] if kind == "16" else [("v", kind)]
        for prefix, work in wanted:
            ours = [r for r in rows if r["choice"].startswith(prefix) and r.get("of_rival")]
            if kind == "3xTF32":
                ours = [r for r in ours if r.get("of_error", 0) <= ERROR_RATIO]
            if not ours:
                lines.append(f"  {part:13} {prefix:5} nothing was timed beside its rival")
                continue
            best = max(ours, key=lambda r: r["of_rival"])
            floor, goal = next((p.floor, p.goal) for p in PROMISES if p.work == WORKS[work])
            word = "goal" if best["of_rival"] >= goal else "floor" if best["of_rival"] >= floor else "BELOW"
            text = f"{best['choice']:18} {best['of_rival']:.3f} of {best['rival']}, {floor} / {goal}: {word}"
            lines.append(f"  {part:13} {text}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
