"""Measure the memory traffic of tests/simt/measured's kernels with Nsight Compute, and print the table of it.

python tools/measure_traffic.py --out FOLDER        measure, on a machine with a GPU, ncu, NumPy, Numba and numba-cuda
python tools/measure_traffic.py --dry-run           print what would be done; needs no GPU
python tools/measure_traffic.py --table             write the table of the README from the measured data
python tools/measure_traffic.py --check             fail where the README's table is not that of the data

Each kernel is launched once in each pass over the metrics, and its result compared with NumPy's. Two passes: the
counters that the executor is tested against with their kin, then those again with all others, so that a counter which
changes from run to run is seen. A kernel that fails is reported, and the others go on.
"""

import argparse
import csv
import datetime
import json
import os
import re
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
import warnings
from glob import glob
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "tests" / "simt" / "measured"
sys.path.insert(0, str(ROOT))
SECONDS = 280
"""All of it has to end by then."""

FIRST = [
    *(
        f"l1tex__t_{what}_pipe_lsu_mem_{memory}.sum"
        for memory in ("global_op_ld", "global_op_st", "global_op_red", "global_op_atom", "local_op_ld", "local_op_st")
        for what in ("requests", "sectors")
    ),
    *(
        f"l1tex__data_{what}_mem_shared_op_{way}.sum"
        for way in ("ld", "st", "atom")
        for what in ("bank_conflicts_pipe_lsu", "pipe_lsu_wavefronts")
    ),
]
SECOND = [
    *(f"smsp__inst_executed_op_{op}.sum" for op in ("global_ld", "global_st", "shared_ld", "shared_st")),
    *(f"smsp__inst_executed_op_{op}.sum" for op in ("local_ld", "local_st", "shared_atom", "global_red", "ldc")),
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__warps_launched.sum",
    *(
        f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"
        for op in ("ffma", "fadd", "fmul", "dfma", "dadd", "dmul", "hfma", "hadd", "hmul")
    ),
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_uniform.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    *(f"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_{way}.sum" for way in ("ld", "st")),
    *(f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{way}.sum" for way in ("ld", "st")),
    "idc__requests.sum",
    "idc__requests_lookup_hit.sum",
    "idc__request_cycles_active.sum",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic",
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
    "sm__maximum_warps_per_active_cycle_pct",
]


def main():
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for counters.<gpu>.json and ncu's logs")
    parser.add_argument("--dry-run", action="store_true", help="print the plan")
    parser.add_argument("--table", action="store_true", help="write the README's table")
    parser.add_argument("--check", action="store_true", help="compare the README's table with the data")
    parser.add_argument("--only", nargs="+", metavar="KERNEL", help="these kernels, not all")
    parser.add_argument("--launch", type=Path, metavar="LOG", help=argparse.SUPPRESS)  # this is what runs under ncu
    options = parser.parse_args()
    find_numba_cuda()
    if options.launch:
        return launch_all(options.launch, options.only)
    if options.table or options.check:
        return table(write=options.table)
    if options.dry_run:
        return plan(options.only)
    if not options.out:
        parser.error("say where to write: --out FOLDER")
    return measure(options.out, options.only)


# ------------------------------------------------------------------------------------------- under ncu: launch


def find_numba_cuda():
    """Let `numba.cuda` be numba-cuda also where it lies in a folder of PYTHONPATH, whose .pth files nobody reads."""
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if folder and glob(os.path.join(folder, "_numba_cuda*.pth")):
            site.addsitedir(folder)


def launch_all(log, names):
    """Launch each kernel once, check its result, and write a line about it to the log."""
    os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"
    warnings.filterwarnings("ignore")
    from numba import cuda

    from tests.simt.measured.kernels import CASES

    with log.open("a") as file:

        def note(**entry):
            file.write(json.dumps(entry) + "\n")
            file.flush()

        note(about=about(cuda))
        for name in names or CASES:
            case, launched = CASES[name], False
            note(begin=name)
            try:
                arguments, expected = case.arguments()
                kernel = cuda.jit(case.kernel)
                there = [cuda.to_device(a) if hasattr(a, "dtype") and a.ndim else a for a in arguments]
                kernel[case.grid, case.block, 0, case.shared](*there)
                launched = True
                cuda.synchronize()
                case.check([t.copy_to_host() if hasattr(t, "copy_to_host") else t for t in there], expected)
                note(end=name, launched=True)
            except Exception as error:
                note(end=name, launched=launched, error=f"{type(error).__name__}: {str(error)[:400]}")
                if "Cuda" in type(error).__name__ or "CUDA" in str(error)[:80]:
                    return 3  # the context is gone; the next process goes on with the other kernels
    return 0


def about(cuda):
    """Return the card's and the software's versions."""
    import numba
    import numpy

    device = cuda.get_current_device()
    name = getattr(device, "name", "unknown")
    name = name.decode() if isinstance(name, bytes) else str(name)
    found = {
        "device": name,
        "compute_capability": ".".join(map(str, device.compute_capability)),
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "numba.cuda": "numba-cuda" if "numba_cuda" in cuda.__file__ else "numba's own",
    }
    try:
        import numba_cuda

        found["numba_cuda"] = numba_cuda.__version__
    except ImportError:
        found["numba_cuda"] = None
    return found


# ------------------------------------------------------------------------------------------- around ncu: measure


def measure(out, only):
    """Measure all kernels, write the data after each pass, and print a summary; 0 if every kernel was measured."""
    from tests.simt.measured.kernels import CASES

    stop = time.monotonic() + SECONDS
    ncu = find_ncu()
    out.mkdir(parents=True, exist_ok=True)
    names = only or list(CASES)
    known = known_metrics(ncu)
    print(f"{ncu}: knows {len(known):,} metrics; {len(names)} kernels", flush=True)
    data = {"ncu": version(ncu), "driver": driver(), "date": datetime.date.today().isoformat()}
    kernels, failed, unsteady = {}, {}, {}
    for number, metrics in ((1, FIRST), (2, FIRST + SECOND)):
        metrics = [m for m in metrics if not known or m.split(".")[0] in known or m.startswith(("launch__", "sm__max"))]
        metrics = accepted(ncu, metrics, names[0], stop)
        rows, errors, versions = profile(ncu, metrics, names, stop, out / f"ncu{number}.log")
        data.update(versions)
        for name, row in rows.items():
            case = CASES[name]
            entry = kernels.setdefault(
                name, {"sha256": case.sha256(), "grid": case.grid, "block": case.block, "shared": case.shared}
            )
            counters = entry.setdefault("counters", {})
            for metric, value in row.items():
                if metric not in metrics:  # ncu adds two hundred attributes of the card
                    continue
                if counters.setdefault(metric, value) != value:
                    unsteady.setdefault(name, {})[metric] = [counters[metric], value]
        if number == 1 or errors:
            failed = {**errors, **{n: "ncu gave no row" for n in names if n not in rows and n not in errors}}
        path = out / f"counters.{slug(data.get('device', 'unknown'))}.json"
        kernels = {n: kernels[n] for n in names if n in kernels}
        path.write_text(to_text({**data, "failed": failed, "unsteady": unsteady, "kernels": kernels}))
        print(f"pass {number}: {len(rows)} kernels, {len(metrics)} metrics, {stop - time.monotonic():.0f} s left")
        if stop - time.monotonic() < 60:
            break
    summary(kernels, failed, unsteady)
    print(f"{path}: {len(kernels)} of {len(names)} kernels measured, {len(failed)} failed, {len(unsteady)} unsteady")
    return 1 if failed or len(kernels) < len(names) else 0


def to_text(data):
    """Return data as JSON with a line for each kernel, so that a difference between two files can be read."""
    kernels = ",\n".join(f"  {json.dumps(n)}: {json.dumps(entry)}" for n, entry in data["kernels"].items())
    about = json.dumps({k: v for k, v in data.items() if k != "kernels"}, indent=1)
    return f'{about[:-2]},\n "kernels": {{\n{kernels}\n }}\n}}\n'


def profile(ncu, metrics, names, stop, log):
    """Return ({kernel: {metric: value}}, {kernel: error}, versions) of one pass; go on after a kernel that crashes."""
    from tests.simt.measured.kernels import CASES

    rows, errors, versions, rest = {}, {}, {}, list(names)
    with tempfile.TemporaryDirectory() as folder:
        for attempt in range(8):
            notes, text = Path(folder) / f"notes{attempt}", Path(folder) / f"log{attempt}"
            tail = run(command(ncu, metrics, text, notes, rest), stop - time.monotonic())
            found = text.read_text(errors="replace") if text.exists() else ""
            with log.open("a") as file:
                file.write(found + tail)
            lines = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
            versions.update(next((x["about"] for x in lines if "about" in x), {}))
            ended = {x["end"]: x for x in lines if "end" in x}
            errors.update({n: x["error"] for n, x in ended.items() if "error" in x})
            launched = [n for n in rest if ended.get(n, {}).get("launched")]
            begun = [x["begin"] for x in lines if "begin" in x]
            if begun and begun[-1] not in ended:
                errors[begun[-1]] = "the process ended here: " + tail[-300:]
                launched.append(begun[-1])
            rows.update(assign(read_rows(found), [(n, CASES[n].kernel.__name__) for n in launched]))
            after = rest.index(begun[-1]) + 1 if begun else len(rest)
            if not begun or after >= len(rest) or stop - time.monotonic() < 10:
                if not begun:
                    print(f"nothing was launched:\n{found[-1500:]}\n{tail[-1500:]}")
                break
            rest = rest[after:]
    return rows, errors, versions


def command(ncu, metrics, text, notes, names):
    """Return the command line of one ncu call."""
    options = ["--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(text)]
    script = [sys.executable, str(Path(__file__).resolve()), "--launch", str(notes), "--only", *names]
    return [ncu, *options, "--metrics", ",".join(metrics), *script]


def run(line, seconds):
    """Run a command for at most so many seconds; return what it printed. What it started ends with it."""
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    )
    try:
        return process.communicate(timeout=max(5, seconds))[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return (process.communicate()[0] or "") + f"\nstopped after {seconds:.0f} s"


def read_rows(text):
    """Return the rows of ncu's CSV as dicts; it stands among other lines, and its second line has the units."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    table = [line for line in lines[start:] if line.startswith('"')]
    return [row for row in csv.DictReader(table) if row["ID"].strip()]


def assign(rows, launched):
    """Return {kernel: {metric: value}}: rows come in the order of launches; other kernels' rows are left out."""
    found = {}
    for function in {f for _, f in launched}:
        names = [n for n, f in launched if f == function]
        its = [row for row in rows if is_name(row["Kernel Name"], function)]
        if len(its) == len(names):  # else nobody knows whose row is missing
            for name, row in zip(names, its, strict=True):
                found[name] = {k: number(v) for k, v in row.items() if re.match(r"[a-z0-9]+__", k)}
    return found


def is_name(text, function):
    """Return whether ncu's name of a kernel, mangled or not, is that of a function."""
    return f"{len(function)}{function}" in text or bool(re.search(rf"(?<!\w){re.escape(function)}(?!\w)", text))


def number(text):
    """Return ncu's number, with or without thousands separators; a text that is none stays one."""
    try:
        value = float(text.replace(",", ""))
    except (ValueError, AttributeError):
        return text
    return int(value) if value.is_integer() else value


def known_metrics(ncu):
    """Return the names that this ncu knows on this card, without suffix; an empty set if it does not say."""
    names = {line.split()[0] for line in run([ncu, "--query-metrics"], 60).splitlines() if "__" in line}
    return names if len(names) > 100 else set()


def accepted(ncu, metrics, name, stop):
    """Return those of the metrics that ncu takes, tried on one kernel."""
    for _ in range(4):
        with tempfile.TemporaryDirectory() as folder:
            text, notes = Path(folder) / "log", Path(folder) / "notes"
            printed = run(command(ncu, metrics, text, notes, [name]), min(60, stop - time.monotonic()))
            log = text.read_text(errors="replace") if text.exists() else ""
        rows = read_rows(log)
        if rows:
            without = [m for m in metrics if m not in rows[0]]
            if without:
                print(f"without a value: {', '.join(without)}")
            return metrics
        said = [line for line in (log + printed).splitlines() if re.search("rror|ind metric|nvalid", line)]
        bad = [m for m in metrics if any(m.split(".")[0] in line for line in said)]
        print(f"ncu refuses {', '.join(bad) or 'something'}: {' '.join(said)[:500] or printed[-500:]}", flush=True)
        if not bad and metrics == FIRST:
            break
        metrics = [m for m in metrics if m not in bad] if bad else FIRST
    return metrics


def find_ncu():
    """Return the path of ncu; SystemExit if there is none."""
    places = [shutil.which("ncu"), "/usr/local/cuda/bin/ncu", *sorted(glob("/opt/nvidia/nsight-compute/*/ncu"))]
    found = [p for p in places if p and os.path.exists(p)]
    if not found:
        raise SystemExit("ncu (Nsight Compute) is not there; --dry-run needs none.")
    return found[0]


def version(ncu):
    """Return ncu's version."""
    return next(iter(re.findall(r"Version ([\d.]+)", run([ncu, "--version"], 20))), "unknown")


def driver():
    """Return the driver's version, or "unknown"."""
    if not shutil.which("nvidia-smi"):
        return "unknown"
    printed = run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], 20).split()
    return printed[0] if printed else "unknown"


def slug(device):
    """Return a short name of a card: h100 of NVIDIA H100 80GB HBM3."""
    short = re.search(r"\b([a-z]{1,2}\d{1,4})\b", device.lower())
    return short.group(1) if short else re.sub(r"\W+", "-", device.lower()).strip("-")


def plan(only):
    """Print what would be measured."""
    from tests.simt.measured.kernels import CASES

    for name in only or CASES:
        case = CASES[name]
        print(f"{name:26} grid {case.grid!s:12} block {case.block!s:12} shared {case.shared:4}  {case.sha256()[:12]}")
    print(f"{len(only or CASES)} kernels, {len(FIRST)} metrics, then {len(FIRST + SECOND)}:")
    print(*FIRST, *SECOND, sep="\n")
    print(" ".join(command("ncu", ["..."], "LOG", "NOTES", ["..."])))
    return 0


# ------------------------------------------------------------------------------------------- the table


def header():
    """Return the columns: the counters that the executor is tested against."""
    from tests.simt.measured.differences import COUNTERS

    return COUNTERS


def summary(kernels, failed, unsteady):
    """Print one line a kernel."""
    print(f"{'kernel':26}" + "".join(f"{c.replace('global_', 'g').replace('shared_', 's'):>16}" for c in header()))
    for name, entry in kernels.items():
        print(f"{name:26}" + "".join(f"{entry['counters'].get(m, '-')!s:>16}" for m in header().values()))
    for name, metrics in unsteady.items():
        print(f"unsteady: {name} {json.dumps(metrics)[:300]}")
    for name, error in failed.items():
        print(f"FAILED: {name}: {error}")


def measured():
    """Return the measured data that are there, as {short name of the card: data}."""
    return {p.name.split(".")[1]: json.loads(p.read_text()) for p in sorted(HERE.glob("counters.*.json"))}


def markdown():
    """Return the README's tables, one for each card."""
    from tests.simt.measured.differences import DIFFERENCES

    tables = []
    for data in measured().values():
        lines = [
            f"### {data['device']}",
            f"driver {data['driver']}, ncu {data['ncu']}, Numba {data['numba']}, numba-cuda {data['numba_cuda']}, "
            f"NumPy {data['numpy']}, {data['date']}",
            "",
            "| kernel | grid | block | load requests | load sectors | store requests | store sectors "
            "| load conflicts | store conflicts |",
            "| --- | --- | --- " + "| ---: " * 6 + "|",
        ]
        for name, entry in data["kernels"].items():
            cells = [name + (" *" if name in DIFFERENCES else ""), short(entry["grid"]), short(entry["block"])]
            cells += [f"{entry['counters'][m]:,}" for m in header().values()]
            lines.append("| " + " | ".join(cells) + " |")
        tables.append("\n".join(lines))
    if not tables:
        return "Not measured yet."
    stars = [
        f"- {name}, {counter.replace('_', ' ')}: the executor counts {ours:,}, the card {theirs:,}. {why}"
        for name, counters in DIFFERENCES.items()
        for counter, (ours, theirs, why) in counters.items()
    ]
    return "\n\n".join([*tables, "Differences (*):\n\n" + ("\n".join(stars) or "none")])


def short(sizes):
    """Return (128, 1, 1) as 128, (16, 16, 1) as 16x16."""
    sizes = list(sizes)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return "x".join(map(str, sizes))


def table(write):
    """Write the README's table, or compare it with the data; 0 if it is (now) that of the data."""
    path = HERE / "README.md"
    text = path.read_text()
    begin, end = "<!-- table: tools/measure_traffic.py --table -->", "<!-- end of table -->"
    before, rest = text.split(begin)
    new = f"{before}{begin}\n\n{markdown()}\n\n{end}{rest.split(end)[1]}"
    if write:
        path.write_text(new)
    elif new != text:
        print(f"{path.name} is out of date: python tools/measure_traffic.py --table")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
