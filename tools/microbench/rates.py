"""Make constants of measurements: python -m tools.microbench.rates [--check]

Writes course_lib/simt/estimate/measured_rates.py from every results/microbench.<device>.json. Source: the course's own.
"""

import argparse
import json
import pprint
import sys
from pathlib import Path

from course_lib.simt.estimate.devices import DEVICES

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "course_lib" / "simt" / "estimate" / "measured_rates.py"
HEAD = '''"""Constants of the cards that were measured. Written by `python -m tools.microbench.rates`; nobody edits it.

Source: results/microbench.<device>.json.
"""

MEASURED = '''
SIZES = (32, 64, 128, 256, 512, 1024)
WARPS = 132 * 8 * 256 // 32
"""Of a launch of `arithmetic`, all warps."""


def main(words=None):
    """Write the module, or compare it; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(words)
    found = measured()
    if options.check:
        from course_lib.simt.estimate.measured_rates import MEASURED

        return int(found != MEASURED)
    PLACE.write_text(HEAD + pprint.pformat(found, width=116, sort_dicts=False) + "\n", encoding="utf-8")
    return 0


def measured():
    """Return {device: constants}, from the files that there are."""
    found = {}
    for path in sorted((ROOT / "results").glob("microbench.*.json")):
        file = json.loads(path.read_text(encoding="utf-8"))
        name = next(n for n in sorted(DEVICES, key=len, reverse=True) if n in file["machine"]["gpu"])
        found[name] = rates(file, DEVICES[name], path.name)
    return found


def rates(measured, device, name):
    """Return the constants of one file as a dict, for a `Device`."""
    runs = {n: r for group in measured["runs"].values() for n, r in group.items()}
    clock = device.clock * 1e9

    def seconds(what):
        """Of one thing, such as a sector."""
        return runs[what]["median"] / runs[what]["work"]

    def sm(what):
        """Clocks of an SM for one thing, with all SMs at work."""
        return seconds(what) * clock * device.sms

    def latency(what):
        """Clocks of a link: the long chain less the short one, so that starting is not in it."""
        short, long = sorted((r for n, r in runs.items() if n.startswith(f"chase {what},")), key=lambda r: r["work"])
        return (long["median"] - short["median"]) / (long["work"] - short["work"]) * clock

    whole, scattered = sm("read, 16 MiB"), sm("read one float32 of 8, 16 MiB")
    line = max(0.0, (scattered - whole) * 4 / 3)  # a request of n sectors in m lines: sector n + line m
    constants = dict(
        launch=seconds("one empty block"),
        block={n: sm(f"empty blocks of {n} threads") for n in SIZES},
        turn={n: sm(f"empty blocks of {n} threads, one on an SM at a time") for n in SIZES},
        dram_read=sm("read, 1024 MiB"),
        dram_write=sm("write, 1024 MiB"),
        l2_sector=whole - line / 4,
        l2_line=line,
        l2_write=sm("write, 16 MiB"),
        partial=sm("1 of 8 float32 of each sector, 16 MiB"),
        partial_beyond=sm("1 of 8 float32 of each sector, 1024 MiB"),
        shared_wavefront=sm("shared loads, lanes 32 words apart") / 32,
        l1_wavefront=sm("L1 loads, lanes 32 words apart") / 32,
        l1_line=sm("L1 loads, lanes 33 words apart") / 32,
        shared_latency=latency("shared memory"),
        l1_latency=latency("16 KiB"),
        l2_latency=latency("4 MiB"),
        dram_latency=seconds("chase DRAM, 1048576 links") * clock,
        shuffle_latency=seconds("shuffle, one warp") * clock * 2,
        fma=sm("FMA, shared operands, all warps"),
        imad=sm("integer product and sum, all warps"),
        float64=sm("float64 FMA, all warps"),
        tensor=sm("TF32 products of 16 x 8 x 8, all warps"),
        shuffle=sm("shuffle, all warps"),
        barrier={
            n: seconds(f"barriers, blocks of {n} threads, one block on an SM") * clock * device.sms for n in SIZES
        },
        barrier_busy={n: sm(f"barriers, blocks of {n} threads, all blocks on an SM") for n in SIZES},
        atomic_same=seconds("atomic sum: all lanes of all warps one element") * clock,
        atomic_apart=sm("atomic sum: lanes neighbours, each warp its own elements"),
        atomic_shared=sm("atomic sum in shared memory: lanes neighbours"),
    )
    about = f"{name}, {measured['date']}, driver {measured['machine']['driver']}"
    short = {k: _short(v) for k, v in constants.items()}
    return {"device": device.name, "source": about, **short}


def _short(value):
    return {k: _short(v) for k, v in value.items()} if isinstance(value, dict) else float(f"{value:.4g}")


if __name__ == "__main__":
    sys.exit(main())
