"""Run every kernel of the library on the card under NVIDIA's compute-sanitizer: no wrong access, no race.

    python tools/sanitize_kernels.py                     memcheck and racecheck, each over all rungs and operations
    python tools/sanitize_kernels.py --tool synccheck    another of its tools; may be given several times
    python tools/sanitize_kernels.py --run 0 8           what the sanitizer runs: every 8th entry from 0 on, once

Needs a GPU and compute-sanitizer (of the CUDA toolkit). The entries are those that tests/gates compiles, with ragged
sizes among them. Exit code 1 if an entry fails or the sanitizer finds something.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("memcheck", "racecheck")
SHARES = max(1, min(14, os.cpu_count() or 1))
"""Processes at a time: most of the time goes into compiling and loading kernels."""


def run(share, shares):
    """Run every entry of this share once, in this process; return how many failed."""
    sys.path.insert(0, str(ROOT))
    from course_lib import gpu
    from tests.gates.launches import everything

    entries, failed = everything()[share::shares], 0
    for entry in entries:
        done = 0
        for call in entry.calls:
            try:
                call()
                gpu.synchronize()
                done += 1
            except ValueError as error:
                if entry.rung is None:
                    raise
                print(f"{entry.name}: refused: {str(error)[:100]}")
            except Exception as error:
                failed += 1
                print(f"{entry.name}: failed: {type(error).__name__}: {str(error)[:300]}")
        print(f"{entry.name}: {done} of {len(entry.calls)} calls")
    return failed


def sanitize(tool, shares=SHARES):
    """Run all shares under a tool of compute-sanitizer; return (calls, failures, errors found, complaints)."""
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    command = [program, "--tool", tool, "--error-exitcode", "9", sys.executable, __file__, "--run"]
    environ = os.environ | {"COURSE_DEVICE": "gpu", "COURSE_PROGRESS": "0"}
    running = [
        subprocess.Popen([*command, str(i), str(shares)], cwd=ROOT, env=environ, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
        for i in range(shares)
    ]  # fmt: skip
    calls = failures = errors = 0
    complaints = []
    for process in running:
        said = process.communicate()[0]
        calls += sum(int(n) for n in re.findall(r": (\d+) of \d+ calls", said))
        failures += said.count(": failed: ")
        found = re.findall(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (\d+)", said)
        errors += sum(map(int, found))
        if process.returncode or not found:
            complaints.append(f"a process ended with {process.returncode}:\n{said[-3000:]}")
    return calls, failures, errors, complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", action="append", help=f"of compute-sanitizer; default: {', '.join(TOOLS)}")
    parser.add_argument("--run", nargs=2, type=int, metavar=("SHARE", "SHARES"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        return min(1, run(*options.run))
    bad = False
    for tool in options.tool or TOOLS:
        start = time.perf_counter()
        calls, failures, errors, complaints = sanitize(tool)
        bad |= bool(failures or errors or complaints or not calls)
        print(f"{tool}: {calls} calls, {failures} failed, {errors} errors found, {time.perf_counter() - start:.0f} s")
        for complaint in complaints:
            print(complaint)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
