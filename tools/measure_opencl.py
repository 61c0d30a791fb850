"""Time OpenCL's kernels and queues on this machine, split a job between two devices, and record the lesson's launches.

python tools/measure_opencl.py --out results/opencl.<device>.json     two minutes, on an idle machine
python tools/measure_opencl.py --tiny --out FILE                      each once, small: a smoke test
python tools/measure_opencl.py --only share --out FILE                one part anew, the others as they are
python tools/measure_opencl.py --record                               course_lib/opencl/recorded_launches.json anew

COURSE_OPENCL chooses the device, by a part of its name. Each part runs in a process of its own, LIMIT seconds at most;
one that fails or hangs is told, and leaves the others as they are. Results are compared before anything is timed.
Kernels are told by the median. Transposes, and what runs at the same time, queues and shares, are told by the fastest
of their rounds: another program that takes one of two cores would change not a little but everything.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np

from course_lib import fast, opencl, reference
from course_lib.bench.report import describe_machine
from course_lib.bench.timing import interleave
from course_lib.checks.tolerance import product_tolerance
from course_lib.opencl.devices import find_devices
from course_lib.opencl.operations import GROUP, round_up

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 120
"""Seconds that a part may take."""

GRAIN = 16
"""Images of a share come in so many: in a row of another length, most of a CPU's wide loads lie on two cache lines."""

SHARES = [k / 16 for k in (0, 1, 2, 3, 4, 6, 8, 12, 16)]
"""The first device's share of the job, one after the other."""


class OnDevice:
    """A launch that the device times itself, by the events of its queue. Source: the course's own."""

    def __init__(self, session, kernel, sizes, *arguments):
        self.session, self.launch = session, partial(session.launch, kernel, *sizes, *arguments)

    def __call__(self):
        self.seconds(1)

    def seconds(self, calls):
        """Return the seconds of so many launches, from start to end of each on the device."""
        events = [self.launch() for _ in range(calls)]
        self.session.finish()
        return sum(e.profile.end - e.profile.start for e in events) / 1e9


def same(name, found, expected, within=0.0):
    """Stop unless a result is the reference's."""
    if not (np.abs(found - expected) <= within).all():
        raise SystemExit(f"{name} computes something else than the reference.")


def timed(case, size, rivals, tiny, *, moved=0.0, flops=0.0):
    """Return a row of the results: every rival timed in turns."""
    found = interleave(rivals, rounds=3 if tiny else 25, block=0 if tiny else 0.01)
    for name, timing in found.items():
        print(f"  {case}, {name:22} {1e3 * timing.median:10.3f} ms", flush=True)
    timings = {name: asdict(timing) for name, timing in found.items()}
    return {"case": case, "size": size, "timings": timings, "bytes": moved, "flops": flops}


def relu(tiny):
    """ReLU of many numbers, against NumPy."""
    n, rng = 2**12 if tiny else 2**22, np.random.default_rng(0)
    session, z = opencl.Session(), rng.standard_normal(n, np.float32)
    z_device, a = session.to_device(z), session.empty(n)
    slope = np.float32(0.5)
    same("leaky_relu", session.to_host(opencl.leaky_relu(z_device, slope)), reference.leaky_relu_forward(z, 0.5)[0])
    sizes = (round_up(n, GROUP),), (GROUP,)
    rivals = {
        "OpenCL": OnDevice(session, session.kernel("leaky_relu"), sizes, z_device, slope, a, np.int32(n)),
        "NumPy": lambda: reference.leaky_relu_forward(z, 0.5),
        "fast": lambda: fast.leaky_relu_forward(z, 0.5),
    }
    return {"rows": [timed("OpenCL ReLU", f"{n:,}", rivals, tiny, moved=8.0 * n)]}


def transposes(tiny):
    """Transposes with and without local memory, for groups and rows of several sizes, and a copy; of each the least.

    All of them in turns, and of many rounds the fastest: a machine that is not idle can only make a launch slower.
    """
    session, cases, found = opencl.Session(), {}, {}
    for n in (64, 96) if tiny else (2048, 2080):
        x = np.arange(n * n, dtype=np.float32).reshape(n, n)
        x_device, y = session.to_device(x), session.empty((n, n))
        for tile in (8, 16, 32):
            if tile * tile > session.device.max_work_group_size:
                continue
            for way in ("copy", "naive", "tile", "padded"):
                name = {"copy": "copy_matrix", "naive": "transpose_naive"}.get(way, "transpose_tile")
                kernel = session.kernel(name, TILE=tile, WIDTH=tile + (way == "padded"))
                one = OnDevice(session, kernel, ((n, n), (tile, tile)), x_device, y, *np.int32([n, n]))
                one()
                same(f"{way}, {tile}", session.to_host(y), x if way == "copy" else x.T)
                cases[n, f"{way}, {tile}"] = one
    rounds = 3 if tiny else 250
    for _ in range(rounds):
        for case, one in cases.items():
            found[case] = min(found.get(case, np.inf), one.seconds(1))
    by_rows = {f"{n:,}": {name: t for (m, name), t in found.items() if m == n} for n, _ in found}
    for n, times in by_rows.items():
        print(f"  {n}:", *(f"{name} {1e3 * t:.1f}" for name, t in times.items()), "ms", flush=True)
    return {"transposes": by_rows, "rounds": rounds, "l1": _first_cache()}


def _first_cache():
    """Return the size, ways and bytes of a line of a core's first cache for data; {} where nobody says."""
    if not shutil.which("getconf"):
        return {}
    asked = {"bytes": "SIZE", "ways": "ASSOC", "line": "LINESIZE"}
    told = {
        name: subprocess.run(["getconf", f"LEVEL1_DCACHE_{what}"], capture_output=True, text=True, check=False).stdout
        for name, what in asked.items()
    }
    return {name: int(said) for name, said in told.items() if said.strip().isdigit()}


def vectors(tiny):
    """How many instructions of the compiled ReLU work on 8 or 16 floats at a time, by the size of its groups.

    PoCL writes a library for each kernel and size of a group; objdump reads it.
    """
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["POCL_CACHE_DIR"] = folder  # read when PoCL begins
        session, n = opencl.Session(), 4096
        x, y, kernel = session.to_device(np.ones(n, np.float32)), session.empty(n), session.kernel("leaky_relu")
        seen = set()
        for group in (4, 256):
            session.launch(kernel, (n,), (group,), x, np.float32(0.5), y, np.int32(n))
            session.finish()
            new = set(Path(folder).rglob("*.so")) - seen
            seen |= new
            if new and shutil.which("objdump"):
                said = [
                    subprocess.run(["objdump", "-d", file], capture_output=True, text=True, check=True) for file in new
                ]
                found[str(group)] = sum(
                    "%ymm" in line or "%zmm" in line for s in said for line in s.stdout.splitlines()
                )
    print("  wide instructions, by the size of a group:", found, flush=True)
    return {"wide": found}


def leftovers(tiny):
    """One group's transpose without its barrier, just after the right one of the same numbers: how many are wrong."""
    session, side, wrong = opencl.Session(), 16, []
    text = opencl.text_of("transpose_tile")
    right, without = text, text.replace("barrier(CLK_LOCAL_MEM_FENCE);", "")
    x = np.arange(1, side**2 + 1, dtype=np.float32).reshape(side, side)
    x_device = session.to_device(x)
    for _ in range(3 if tiny else 100):
        for what in (right, without):
            y = session.empty((side, side))
            kernel = session.kernel("transpose_tile", what, TILE=side, WIDTH=side)
            session.launch(kernel, (side, side), (side, side), x_device, y, *np.int32([side, side]))
            off = int((session.to_host(y) != x.T).sum())
        wrong.append(off)
    print(f"  after the right kernel: {wrong.count(0)} of {len(wrong)} without a wrong number", flush=True)
    return {"leftovers": {"runs": len(wrong), "right": wrong.count(0)}}


def product(tiny):
    """Matrix products, a work-item for each result and tiled, against NumPy's."""
    n, rng, session = 32 if tiny else 512, np.random.default_rng(0), opencl.Session()
    A, B = (rng.standard_normal((n, n), np.float32) for _ in "AB")
    given, C, rivals = [session.to_device(A), session.to_device(B)], session.empty((n, n)), {}
    exact, within = A.astype(np.float64) @ B, product_tolerance(A, B)
    for tile in (8, 16, 32):
        if tile * tile > session.device.max_work_group_size:
            continue
        for way in ("naive", "tiled"):
            kernel = session.kernel(f"product_{way}", TILE=tile)
            sizes = (round_up(n, tile), round_up(n, tile)), (tile, tile)
            rivals[f"{way}, {tile}"] = OnDevice(session, kernel, sizes, *given, C, *np.int32([n, n, n]))
            rivals[f"{way}, {tile}"]()
            same(f"{way}, {tile}", session.to_host(C), exact, within)
    rivals["NumPy"] = lambda: A @ B
    return {"rows": [timed("OpenCL product", f"{n} x {n}", rivals, tiny, moved=12.0 * n * n, flops=2.0 * n**3)]}


def layer(tiny):
    """Return (x, w, b, y): LeNet-5's C3 with all its connections, on a batch, and what comes out."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((16 if tiny else 768, 6, 14, 14), np.float32)
    w, b = rng.standard_normal((16, 6, 5, 5), np.float32), rng.standard_normal(16, np.float32)
    return x, w, b, reference.conv2d_forward(x, w, b)[0]


def close(name, y, expected, x, w, b):
    """Stop unless a convolution is right within the bound of its sums."""
    scale = reference.conv2d_forward(np.abs(x), np.abs(w), np.abs(b))[0]
    same(name, y, expected, 8 * np.sqrt(w[0].size) * 2.0**-24 * scale)


def convolution(tiny):
    """A convolution in both layouts, against the CPU's."""
    x, w, b, expected = layer(tiny)
    session, turned = opencl.Session(), np.ascontiguousarray(x.transpose(1, 2, 3, 0))
    (B, C, H, W), M = x.shape, len(w)
    masks, sizes = [session.to_device(w), session.to_device(b)], np.int32([B, C, H, W, M])
    first, last = session.to_device(x), session.to_device(turned)
    y, z = session.empty(expected.shape), session.empty((*expected.shape[1:], B))
    close("conv2d", session.to_host(opencl.conv2d(first, *masks)), expected, x, w, b)
    found = session.to_host(opencl.conv2d_images_last(last, *masks)).transpose(3, 0, 1, 2)
    close("conv2d_images_last", found, expected, x, w, b)
    one, eight = session.kernel("conv2d", MASK=5, MAPS=1), session.kernel("conv2d_images_last", MASK=5, MAPS=8)
    single = session.kernel("conv2d_images_last", MASK=5, MAPS=1)
    lanes = round_up(B, 32)
    rivals = {
        "images first": OnDevice(session, one, ((16, 16, B * M), (8, 8, 1)), first, *masks, y, *sizes),
        "images last": OnDevice(session, single, ((lanes, 100, M), (32, 1, 1)), last, *masks, z, *sizes),
        "images last, 8 maps": OnDevice(session, eight, ((lanes, 100, M // 8), (32, 1, 1)), last, *masks, z, *sizes),
        "NumPy": lambda: reference.conv2d_forward(x, w, b),
        "fast": lambda: fast.conv2d_forward(x, w, b),
    }
    flops = 2.0 * expected.size * w[0].size
    return {"rows": [timed("OpenCL convolution", f"{B} x 6 x 14 x 14", rivals, tiny, flops=flops)]}


def queues(tiny):
    """Two chains of two launches: one queue in order, one out of order, two in order; and without a word of waiting."""
    n, lines, rounds = _steps(tiny), {}, 2 if tiny else 300
    loose = opencl.pick().out_of_order
    found = {"timelines": lines, "steps": n, "forgotten": {}}
    ways = {"in order": (1, False), **({"out of order": (1, True)} if loose else {}), "two queues": (2, False)}
    for _ in range(rounds):
        for name, (count, out_of_order) in ways.items():
            right, line = _chains(n, count, out_of_order)
            same(name, np.array([float(right)]), 1.0)
            lines[name] = min(lines.get(name, line), line, key=_end)
    if loose:
        for steps in (SHORT, n):
            runs = [_chains(steps, 1, True, say_so=False) for _ in range(3 if tiny else 100)]
            wrong = [line for right, line in runs if not right]
            found["forgotten"][str(steps)] = {"runs": len(runs), "wrong": len(wrong)}
            lines["nothing said"] = min(wrong or [line for _, line in runs], key=_end)
    for name, line in lines.items():
        print(f"  {name:14}", *(f"{b['label']} {1e3 * b['start']:.1f}-{1e3 * b['end']:.1f}" for b in line), "ms")
    print("  nothing said, by steps:", found["forgotten"], flush=True)
    return found


def _end(line):
    return max(bar["end"] for bar in line)


SHORT = 40
"""Steps of the launches that lesson 19 runs."""


def _steps(tiny):
    """So many steps that a launch takes about 3 ms: short enough to find both cores free now and then."""
    session, n = opencl.Session(), 1000
    x, y, kernel = session.to_device(np.ones(64, np.float32)), session.empty(64), session.kernel("settle")
    while not tiny and n < 2**28:
        one = OnDevice(session, kernel, ((64,), (64,)), x, y, np.int32(n))
        took = min(one.seconds(1) for _ in range(10))
        if took > 0.002:
            return int(round(n * 0.003 / took, -3))
        n *= 4
    return n


def _chains(n, queues, out_of_order, say_so=True):
    """Run `opencl.two_chains` with one queue or two; return whether the results are right, and its timeline."""
    sessions = [opencl.Session(out_of_order=out_of_order) for _ in range(queues)]
    given = sessions[0], sessions[-1]
    opencl.two_chains(*given, 1)  # compiles
    ends, events = opencl.two_chains(*given, n, say_so)
    return opencl.right(ends), opencl.timeline(events)


def share(tiny):
    """One batch, split between OpenCL's device and the CPU's NumPy or `fast`: alone, at every share, at the best."""
    fast.set_threads(1)
    x, w, b, expected = layer(tiny)
    device, cores = _half(opencl.pick())
    session = opencl.Session(device)
    masks = session.to_device(w), session.to_device(b)

    def on_opencl(images):
        last = session.to_device(np.ascontiguousarray(images.transpose(1, 2, 3, 0)))
        y = session.to_host(opencl.conv2d_images_last(last, *masks))
        return y.transpose(3, 0, 1, 2)

    others = {"NumPy": reference.conv2d_forward, "fast": fast.conv2d_forward}
    found = {}
    for name, convolve in others.items():
        found[name] = _split(x, (on_opencl, lambda part, c=convolve: c(part, w, b)[0]), expected, (w, b), tiny)
        f = found[name]
        print(f"  OpenCL {1e3 * f['alone'][0]:.1f} ms, {name} {1e3 * f['alone'][1]:.1f} ms alone; best share "
              f"{f['best']:.3f}: predicted {1e3 * f['predicted']:.1f} ms, measured {1e3 * f['measured']:.1f} ms",
              flush=True)  # fmt: skip
    return {"shares": found, "cores": cores, "batch": len(x)}


POCL_CORES = "POCL_MAX_PTHREAD_COUNT"
"""How PoCL is told on how many cores it may compute; it has sub-devices, but lets all of its threads work for each."""


def _half(found):
    """Return (device, its cores or None): of a CPU half the cores, so that the other ones are the second device's."""
    if os.environ.get(POCL_CORES):  # set by `_run`
        return found.handle, int(os.environ[POCL_CORES])
    if found.kind != "CPU" or found.units < 2:
        return found.handle, None
    import pyopencl as cl

    half = found.units // 2
    return found.handle.create_sub_devices([cl.device_partition_property.BY_COUNTS, half, 0])[0], half


def _split(x, workers, expected, masks, tiny):
    """Measure both alone and together for every share, in turns; of each the fastest round."""
    rounds = 3 if tiny else 25

    def run(s):
        cut = round(len(x) * s / GRAIN) * GRAIN
        parts = [(f, p) for f, p in zip(workers, (x[:cut], x[cut:]), strict=True) if len(p)]
        done = opencl.together(*(partial(f, p) for f, p in parts))
        return max(d.end for d in done), done

    with fast.one_blas_thread():
        for s in (0.0, 0.5, 1.0):  # compile, and compare
            close("a split batch", np.concatenate([d.value for d in run(s)[1]]), expected, x, *masks)
        fastest = {s: run(s) for s in (SHARES[::8] if tiny else SHARES)}
        for _ in range(rounds):
            for s in fastest:
                fastest[s] = min(fastest[s], run(s), key=lambda r: r[0])
        alone = [fastest[s][0] for s in (1.0, 0.0)]
        best = opencl.best_share(*alone)
        seconds, done = min((run(best.first) for _ in range(rounds)), key=lambda r: r[0])
    return {
        "alone": [float(t) for t in alone], "best": best.first, "predicted": best.seconds, "measured": seconds,
        "curve": [[s, float(t)] for s, (t, _) in fastest.items()],
        "timeline": [{"start": d.start, "end": d.end, "images": len(d.value)} for d in done],
    }  # fmt: skip


PARTS = {"relu": relu, "transposes": transposes, "product": product, "convolution": convolution, "vectors": vectors,
         "leftovers": leftovers, "queues": queues, "share": share}  # fmt: skip


def record():
    """Run the lesson's cells with a device that answers and is recorded; write the recording."""
    from course_lib.opencl.answers import answered_by
    from course_lib.opencl.record import Recorder

    device = opencl.pick()
    second = next((d for d in find_devices({}) if not d.trouble and d != device), device)
    about = {"date": datetime.date.today().isoformat(), "processor": describe_machine()["cpu"]}
    recorder = Recorder(device, about, second)
    os.environ["COURSE_OPENCL"] = "off"  # the lesson gets the recording's names
    opencl.api.api.cache_clear()
    script = ROOT / "notebooks" / "19_opencl.py"
    with answered_by(recorder):
        exec(compile(script.read_text(encoding="utf-8"), script, "exec"), {"__name__": "lesson"})
    recorder.recording.save()
    kept = recorder.recording
    print(f"{len(kept.builds)} programs, {len(kept.launches)} launches, {len(kept.findings)} of them looked over")


def main(arguments=None):
    """Measure every part in a process of its own and write the file; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="the JSON file to write: results/opencl.<device>.json")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tiny", action="store_true", help="each once, small: a smoke test")
    parser.add_argument("--record", action="store_true", help="record the lesson's launches anew")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.part:
        given.out.write_text(json.dumps(PARTS[given.part](given.tiny)), encoding="utf-8")
        return 0
    try:
        device = opencl.pick()
    except opencl.NoDevice as error:
        parser.error(str(error))
    if given.record:
        record()
        return 0
    if not given.out:
        parser.error("where to? --out results/opencl.<device>.json")
    print(f"{device.name} ({device.platform}), {device.units} compute units", flush=True)
    found = _kept(given.out) if given.only != list(PARTS) else {"rows": []}
    failed = 0
    load = [os.getloadavg()[0]] if hasattr(os, "getloadavg") else []
    for name in given.only:
        part, trouble = _run(name, given.tiny)
        failed += bool(trouble)
        if trouble:
            print(f"{name}: FAILED: {trouble}", flush=True)
            continue
        new = part.pop("rows", [])
        cases = {row["case"] for row in new}
        found["rows"] = sorted([r for r in found["rows"] if r["case"] not in cases] + new, key=lambda r: r["case"])
        found |= part
    machine = describe_machine() | ({"gpu": device.name} if device.kind == "GPU" else {})
    about = {
        "bench": "opencl", "date": datetime.date.today().isoformat(), "machine": machine,
        "load": load + ([os.getloadavg()[0]] if load else []),
        "device": _facts(device), "devices": [_facts(d) for d in find_devices({}) if not d.trouble],
    }  # fmt: skip
    given.out.write_text(json.dumps(found | about, indent=1) + "\n", encoding="utf-8")
    return int(failed > 0)


def _kept(file):
    """Return what a file holds already: parts that are not measured now stay as they are."""
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"rows": []}


def _facts(device):
    return {k: v for k, v in asdict(replace(device, handle=None)).items() if k not in ("handle", "trouble")}


def _run(name, tiny):
    """Measure a part in another process; return (what it found, "" or why there is nothing)."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "part.json"
        command = [sys.executable, __file__, "--part", name, "--out", str(out)] + ["--tiny"] * tiny
        started = time.monotonic()
        environment = {**os.environ, "COURSE_PROGRESS": "0"}
        device = opencl.pick()
        if name == "share" and device.kind == "CPU" and "pocl" in device.version.lower() and device.units > 1:
            environment[POCL_CORES] = str(device.units // 2)
        try:
            status = subprocess.run(command, timeout=LIMIT, check=False, env=environment)
        except subprocess.TimeoutExpired:
            return None, f"not done after {time.monotonic() - started:.0f} s"
        if status.returncode or not out.is_file():
            return None, f"exit status {status.returncode}"
        return json.loads(out.read_text(encoding="utf-8")), ""


if __name__ == "__main__":
    raise SystemExit(main())
