"""Measure what lesson 16 shows, on this machine's card: python -m tools.steps --out results/steps.<device>.json

Each part runs in a process of its own, and is ended after so many seconds; rows that it has written by then count.
--tiny launches everything once, small, for a smoke test without a GPU: its times mean nothing.
Source: the course's own.
"""

import argparse
import datetime
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PARTS = "timeline", "batches", "copies", "overlap", "serving", "epochs", "until"

SECONDS = 40
"""Of a part; the first one gets three times as many, since it compiles."""


def main(words=None):
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write; rows of an older one stay")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts only")
    parser.add_argument("--tiny", action="store_true", help="once each, small: a smoke test")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="after so many a part is ended")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)  # in the process of one part
    options = parser.parse_args(words)
    if options.part:
        return say(options.part, options.tiny)
    from course_lib.cuda.choice import GPU
    from course_lib.cuda.device import choice

    if not options.tiny and choice().device != GPU:
        parser.error("steps are timed on a GPU, and there is none here; --tiny is a smoke test without one.")
    found, failures = known(options.out), {}
    for part in options.only:
        begin = time.perf_counter()
        limit = options.seconds * (3 if part == PARTS[0] else 1)
        for row in in_process(part, options.tiny, limit, failures):
            found[row["case"]] = row | {"date": datetime.date.today().isoformat()}
            print(in_words(row), flush=True)
            write(options.out, found, failures)
        print(f"{part}: {failures.get(part, 'done')} in {time.perf_counter() - begin:.1f} s", flush=True)
    write(options.out, found, failures)
    return 1 if failures else 0


def say(part, tiny):
    """In a part's own process: print each row as a line of JSON."""
    for row in importlib.import_module(f"tools.steps.{part}").rows(tiny):
        print(json.dumps(row), flush=True)
    return 0


def in_process(part, tiny, limit, failures):
    """Yield the rows that a part's process writes; what went wrong is noted in `failures`."""
    line = [sys.executable, "-m", "tools.steps", "--out", os.devnull, "--part", part, *(["--tiny"] if tiny else [])]
    environ = os.environ | {"COURSE_PROGRESS": "0"}
    process = subprocess.Popen(
        line, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        failures[part] = f"ended after {limit:g} s"
    lines = said.splitlines()
    yield from (json.loads(text) for text in lines if text.startswith('{"case"'))
    if process.returncode and part not in failures:
        failures[part] = f"exit status {process.returncode}: {' '.join(' '.join(lines[-12:]).split())[-600:]}"


def known(out):
    """Return {case: row} of a file that is there; without one, or of one that is cut off, {}."""
    try:
        old = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {row["case"]: row for row in old["rows"]}


def in_words(row):
    """A row in a few lines: microseconds of each way, and what is beside them."""
    lines = [f"{row['case']} ({row['size']})"]
    lines += [f"  {1e6 * t['median']:12.1f} us  {way}" for way, t in row["timings"].items()]
    if "launches" in row:
        busy = sum(one["seconds"] for one in row["launches"])
        lines.append(f"  {1e6 * busy:12.1f} us  in {len(row['launches'])} kernels, each in a graph of its own")
    lines += [
        f"  {way}: {each}"
        for key in ("percentiles", "steps_per_second", "parts", "seen", "a_step")
        for way, each in row.get(key, {}).items()
    ]
    lines += [f"  {run}" for run in row.get("runs", [])[-1:]]
    return "\n".join(lines)


def write(out, found, failures):
    """Write what there is so far; OSError if it cannot be."""
    from course_lib.bench.gpu.measure import find_backend
    from course_lib.bench.gpu.run import describe_gpu

    about = {
        "bench": "steps", "date": datetime.date.today().isoformat(), "machine": describe_gpu(find_backend()),
        "failures": failures,
    }  # fmt: skip
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(about | {"rows": list(found.values())}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
