"""Measure every constant on this machine's card: python -m tools.microbench --out results/microbench.<device>.json

--tiny launches everything once, as small as it can be, for a smoke test without a GPU: its times mean nothing.
Source: the course's own.
"""

import argparse
import datetime
import json
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from course_lib import gpu
from course_lib.bench.gpu import with_numpy
from course_lib.bench.gpu.run import describe_gpu
from course_lib.bench.gpu.timing import time_in_turns
from course_lib.cuda.choice import GPU
from course_lib.cuda.device import choice
from tools.microbench import arithmetic, chase, launches, stores, streams, strides, tensor, warps
from tools.microbench.runs import by_the_hosts_clock, measured

FILES = {m.__name__.split(".")[-1]: m for m in (launches, stores, streams, chase, strides, arithmetic, tensor, warps)}


def main(words=None):
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--only", nargs="+", choices=FILES, help="these files' measurements only")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tiny", action="store_true", help="once each, small: a smoke test")
    options = parser.parse_args(words)
    if not options.tiny and choice().device != GPU:
        parser.error("constants are measured on a GPU, and there is none here; --tiny is a smoke test without one.")
    found, failures = {}, {}
    for name in options.only or FILES:
        start = time.perf_counter()
        try:
            with gpu.collect_hazards() if options.tiny else nullcontext():  # several write one element on purpose
                found[name] = measured(FILES[name].runs(options.tiny), timer(options.tiny), options.rounds)
        except Exception as error:
            failures[name] = f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]
        print(f"{name}: {failures.get(name, 'done')} in {time.perf_counter() - start:.1f} s", flush=True)
        write(options, found, failures)
    return 1 if failures else 0


def timer(tiny):
    """Return the function that times: a smoke test's is the host's clock. No errors. Source: the course's own."""
    if tiny:
        return by_the_hosts_clock
    return lambda rivals, rounds: time_in_turns(rivals, rounds=rounds, block=0.004)


def write(options, found, failures):
    """Write what there is so far; OSError if it cannot be. Source: the course's own."""
    about = {
        "bench": "microbench", "date": datetime.date.today().isoformat(), "machine": describe_gpu(with_numpy),
        "clocks": clocks(), "rounds": options.rounds, "failures": failures,
    }  # fmt: skip
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(about | {"runs": found}, indent=1) + "\n", encoding="utf-8")


def clocks():
    """Return {clock: MHz} as nvidia-smi says them, {} without it. No errors. Source: NVIDIA, "nvidia-smi"."""
    names = ("clocks.sm", "clocks.mem", "clocks.max.sm")
    gpu.synchronize()
    line = ["nvidia-smi", f"--query-gpu={','.join(names)}", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(line, capture_output=True, text=True, timeout=20, check=True).stdout
        return dict(zip(names, map(float, said.splitlines()[0].split(",")), strict=True))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return {}


if __name__ == "__main__":
    sys.exit(main())
