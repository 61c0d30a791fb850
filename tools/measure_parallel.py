"""Measure ranks: sums over all ranks, training steps, and what a lost rank costs, on this machine.

python tools/measure_parallel.py --out results/parallel.<processor>.json     by MPI, minutes, on an idle machine
python tools/measure_parallel.py --out results/parallel.<card>.json --nccl   on a machine with two cards or more
python tools/measure_parallel.py --out FILE --smoke                          everything once: times mean nothing

Every part is a run of `course ranks` with this script, in processes of their own with a limit of time, so that one that
fails or hangs costs no other; what failed is in the file too. Without MPI only threads are measured.

Parts by MPI: `turns` (between 2 ranks, in short rounds: `messages`, one message over sizes and what a rank does beside
it, by which `course_lib.cluster` is calibrated; and `sums`, each all-reduce over sizes, ours and MPI's own), `sums` of
4 ranks, `steps` (LeNet-5 and the lesson's MLP, batches cut among 1, 2, 4 ranks of one core each, with and without
overlap), `cores` (the same steps by one process that uses all cores), `training` (one epoch on digits: are weights,
losses and bits those of one rank?). `--again 5` repeats what was asked for, for a machine that others use too. With
--nccl: `card_sums` (NCCL's own and ours over its messages, bus bandwidth), `card_training` (recorded steps of LeNet-5
and of a large MLP on one card and on all), `card_lost` (a rank is killed).
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from course_lib import data, nn, parallel  # noqa: E402
from course_lib.bench.report import describe_machine  # noqa: E402
from course_lib.parallel.buckets import Exchange  # noqa: E402
from course_lib.parallel.parts import part  # noqa: E402

PACKAGES = ("numpy", "numba", "numba-cuda", "mpi4py", "mpich", "openmpi", "cupy-cuda13x", "nvidia-nccl-cu13")
SIZES = [4 * count for count in (1, 256, 15_000, 61_706, 101_770, 1 << 18, 1 << 20, 1 << 22, 1 << 24)]
"""Bytes of a sum; 61,706 numbers are LeNet-5's gradients, 101,770 the MLP's."""

MESSAGES = [4**k for k in range(1, 11)] + [1 << k for k in range(21, 27)]
"""Bytes of one message, up to those of the largest sum; dense where caches overflow."""

CACHED = 1 << 14
"""Bytes from which it matters what was done with an array before, and by whom."""

BUDGET, TURNS, ROUNDS = 0.03, 12, 5
"""Seconds for the times of one call in a round; times of a call in turns with others; rounds of all calls."""

KEPT = {"MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 34)}
"""Linux's C library keeps memory that was given back: else a new array of some MiB lies now in pages that are there,
and now in such as must be made first, by what was allocated and freed before it."""

CARD_SIZES = [*SIZES, 1 << 28, 1 << 30]
OURS_MOST = 1 << 26
"""Bytes up to which our own ways are measured on cards: each message of theirs waits for the host."""

NETS = {
    "LeNet-5": (lambda ops: nn.models.lenet5(rng=np.random.default_rng(0), ops=ops), (1, 32, 32)),
    "MLP 784-128-10": (lambda ops: nn.models.mlp(rng=np.random.default_rng(0), ops=ops), (784,)),
    "MLP 784-4096-4096-10": (
        lambda ops: nn.models.mlp((784, 4096, 4096, 10), rng=np.random.default_rng(0), ops=ops),
        (784,),
    ),
}
LIMITS = {"card_compile": 150, "card": 40, "": 400}
"""Seconds that a part may take, by how its name begins; the first that fits."""


# ------------------------------------------------------------------------------------------- parts, on every rank


def turns(world, smoke=False):
    """Yield rows of messages and of sums, round after round, from rank 0.

    A round is short, so that both meet the machine in the same state: see `course_lib.cluster.calibrate`.
    """
    for _ in range(2 if smoke else ROUNDS):
        for part_of in (messages, sums):
            for row in part_of(world, smoke):
                if world.rank == 0:
                    yield {"part": part_of.__name__, **row}


def sums(world, smoke=False):
    """Yield rows of all-reduces on the host: seconds, messages and bytes that rank 0 sent."""
    for size in SIZES[:4:3] if smoke else SIZES:
        array = np.zeros(size // 4, np.float32)
        for by in (*parallel.world.WAYS, *(["engine"] if world.own_all_reduce else [])):
            before = world.traffic
            world.all_reduce(array, by)
            sent = world.traffic - before
            seconds = timed(world, lambda a=array, b=by: world.all_reduce(a, b), size, smoke)
            yield {"ranks": world.size, "rank": world.rank, "engine": world.engine, "by": by, "bytes": size, **seconds,
                   "messages": sent.messages, "sent": sent.bytes}  # fmt: skip


def messages(world, smoke=False):
    """Yield rows of what a sum is made of: a message, an exchange, an addition, a new array; size counts in bytes."""
    for size in MESSAGES[:8:7] if smoke else MESSAGES:
        times = {}
        for calls in (as_in_a_tree(world, size // 4), as_in_a_ring(world, size // 4)):
            times |= (timed_in_turns if size >= CACHED else timed_alone)(world, calls, size, smoke)
        once, again = times["exchange"], times.pop("exchange of a sum")
        times["exchange"] = {name: (once[name] + again[name]) / 2 for name in once}  # a ring has as many of both
        for kind, row in times.items():
            half = 2 if kind == "message" else 1  # there and back are two
            yield {"ranks": world.size, "rank": world.rank, "engine": world.engine, "kind": kind, "bytes": size,
                   **{name: seconds / half for name, seconds in row.items()}}  # fmt: skip


def as_in_a_tree(world, count):
    """Return {kind: call}: whole arrays of so many numbers, to rank 0, added there to its own, and back.

    The arrays are as many as in a sum, and as large. It matters, for caches hold all of them or not.
    """
    array, place = np.zeros(count, np.float32), {"came": np.zeros(count, np.float32)}

    def message():
        if world.rank == 0:
            world.receive(place["came"], 1)
            world.send(array, 1)
        else:
            world.send(array, 0)
            world.receive(array, 0)

    def fresh():
        place["came"] = None
        place["came"] = world.scratch(array)
        place["came"][::1024] = 0  # its pages are there only when they are touched

    def add():
        if world.rank == 0:
            world.add(array, place["came"])

    return {"message": message, "add": add, "fresh": fresh}


def as_in_a_ring(world, count):
    """Return {kind: call}: halves of an array, of so many numbers each, go round between two ranks.

    What was just added lies in the cache of the core that added it, and is fetched from there.
    """
    whole, came, other = np.zeros(2 * count, np.float32), np.zeros(count, np.float32), 1 - world.rank
    sent, summed = whole[:count], whole[count:]
    return {
        "exchange": lambda: world.exchange(sent, other, came, other),
        "both add": lambda: world.add(summed, came),
        "exchange of a sum": lambda: world.exchange(summed, other, sent, other),
    }


def timed_alone(world, calls, size, smoke):
    """Return {kind: times} of calls, one kind after another: small arrays, which stay in the cache anyway."""
    return {kind: timed(world, call, size, smoke) for kind, call in calls.items()}


def timed_in_turns(world, calls, size, smoke):
    """Return {kind: times} of calls in turns, as in a sum: none finds its arrays as its own last call left them.

    A call is over when the slowest rank is done: in a sum the others would wait for it in the next one.
    """
    count = 1 if smoke else TURNS
    mine = np.zeros((count, len(calls)))
    for k in range(count):
        for c, call in enumerate(calls.values()):
            world.barrier()
            begun = time.perf_counter()
            call()
            mine[k, c] = time.perf_counter() - begun
    slowest = mine.copy()
    for root in range(world.size):
        others = mine.copy()
        world.broadcast(others, root)
        np.maximum(slowest, others, out=slowest)
    return {kind: {"seconds": float(np.median(some)), "least": float(some.min())}
            for kind, some in zip(calls, slowest.T, strict=True)}  # fmt: skip


def timed(world, call, size, smoke):
    """Return {"seconds": median, "least": least} of a call that all ranks make, in rounds of about 20 ms.

    On processors there are more and shorter ones, of 0.3 ms, `BUDGET` seconds in all: some of those meet nothing else
    that runs there.
    """
    world.barrier()
    begun = time.perf_counter()
    call()
    once = np.array([time.perf_counter() - begun])
    world.broadcast(once)  # all ranks make equally many calls
    span, rounds = 0.02, 11
    if world.engine != "nccl":
        span = 0.0003
        rounds = max(8, min(500, round(BUDGET / max(once[0], span))))
    count, rounds = (1, 1) if smoke else (max(1, min(200, round(span / max(once[0], 1e-6)))), rounds)
    found = []
    for _ in range(rounds):
        world.barrier()
        begun = time.perf_counter()
        for _ in range(count):
            call()
        found.append((time.perf_counter() - begun) / count)
    return {"seconds": statistics.median(found), "least": min(found)}


def steps(world, smoke=False):
    """Yield rows of training steps on the processor: a batch cut among the ranks, ways to exchange in turns."""
    for name in list(NETS)[:2]:
        make, shape = NETS[name]
        for batch in (64, 512):
            mine = part(batch, world.rank, world.size, "softmax_cross_entropy")
            rows = mine.rows.stop - mine.rows.start
            rng = np.random.default_rng(1)
            x, y = rng.random((batch, *shape), np.float32)[mine.rows], rng.integers(0, 10, batch)[mine.rows]
            net = make(nn.sequential.fast)
            optimiser = nn.SGD(net, momentum=0.9)
            ways = {"overlap": Exchange(world, net), "after": Exchange(world, net, overlap=False)}
            exchanges = {**{k: e.backward for k, e in ways.items()}, "alone": net.backward_parameters}

            def step(back, net=net, x=x, y=y, optimiser=optimiser, weight=mine.weight):
                with net.training():
                    _, cache = net.ops.softmax_cross_entropy_forward(net.forward(x), y)
                net.renew_grad()
                dout = net.ops.softmax_cross_entropy_backward(cache)
                net.ops.scale_by(dout, weight)
                back(dout)
                optimiser.step(1e-4)

            found = {way: [] for way in exchanges}
            for _ in range(1 if smoke else 150):
                for way, back in exchanges.items():  # in turns, so that what else runs here meets all of them
                    world.barrier()
                    begun = time.perf_counter()
                    step(back)
                    found[way].append(time.perf_counter() - begun)
            for exchange in ways.values():
                exchange.close()
            bytes_a_step = sum(p.nbytes for p in net.parameters().values())
            for way, seconds in found.items():
                yield {"net": name, "batch": batch, "rows": rows, "ranks": world.size, "rank": world.rank,
                       "exchange": way, "seconds": statistics.median(seconds), "least": min(seconds),
                       "bytes": bytes_a_step}  # fmt: skip


def training(world, smoke=False):
    """Yield a row for each network: an epoch of `nn.train` on digits, with a digest of the weights of each rank."""
    digits = data.load_digits()
    count = 128 if smoke else 2048
    for name in list(NETS)[:2]:
        make, shape = NETS[name]
        x = digits.x_train[:count]
        if len(shape) == 3:
            x = np.pad(x.reshape(-1, 1, 28, 28), ((0, 0), (0, 0), (2, 2), (2, 2)))
        net, times = make(nn.sequential.fast), [time.perf_counter()]
        settings = {"epochs": 2, "batch_size": 64, "lr": 0.05, "momentum": 0.9, "progress": False, "world": world}
        history = nn.train(
            net, (x, digits.y_train[:count]), rng=np.random.default_rng(2), **settings,
            on_epoch=lambda epoch, history, t=times: t.append(time.perf_counter()),
        )  # fmt: skip
        content = b"".join(p.tobytes() for p in net.parameters().values())
        yield {"net": name, "batch": 64, "ranks": world.size, "rank": world.rank, "loss": history.loss,
               "accuracy": history.accuracy,
               "seconds": times[-1] - times[-2], "steps": -(-count // 64),
               "bits": hashlib.blake2b(content, digest_size=8).hexdigest(),
               "weights": [float(np.abs(p).sum(dtype=np.float64)) for p in net.parameters().values()]}  # fmt: skip


def card_sums(world, smoke=False):
    """Yield rows of all-reduces of device arrays: right sums first, then times and bus bandwidth."""
    from course_lib import gpu

    host = np.arange(1003, dtype=np.float32) % 97 + world.rank
    expected = world.size * (np.arange(1003) % 97) + sum(range(world.size))
    for by in ("engine", *parallel.world.WAYS):
        array = gpu.to_device(host)
        world.all_reduce(array, by)
        np.testing.assert_array_equal(gpu.to_host(array), expected, err_msg=f"{by} on cards")
    for size in CARD_SIZES[:4:3] if smoke else CARD_SIZES:
        array = gpu.to_device(np.zeros(size // 4, np.float32))
        for by in ("engine", *(parallel.world.WAYS if size <= OURS_MOST else ())):
            row = timed(world, lambda a=array, b=by: world.all_reduce(a, b), size, smoke)
            if by == "engine":  # as a training step has it: enqueued, and only the last one waited for

                def many(a=array):
                    for _ in range(20):
                        world.start([a])
                    world.wait(world.finish())

                row["enqueued"] = timed(world, many, size, smoke)["seconds"] / 20
            seconds = row.get("enqueued", row["seconds"])
            bus = 2 * (world.size - 1) / world.size * size / seconds
            yield {"ranks": world.size, "rank": world.rank, "engine": "nccl", "by": by, "bytes": size, **row,
                   "bus": bus}  # fmt: skip


def card_training(world, smoke=False, name="LeNet-5", batch=64, steps=200, record=True):
    """Yield a row: recorded steps by `nn.train` on one card or several, from the third epoch on."""
    from course_lib import cuda

    make, shape = NETS[name]
    rng, count = np.random.default_rng(1), batch * (4 if smoke else steps)
    x = rng.random((count, *shape), np.float32)
    y, times = rng.integers(0, 10, count), [time.perf_counter()]
    net = make(cuda)
    settings = {"epochs": 5, "batch_size": batch, "lr": 1e-3, "momentum": 0.9, "progress": False, "record": record}
    settings["world"] = world if world.size > 1 else None  # one card alone has nobody to sum with
    history = nn.train(
        net, (x, y), rng=np.random.default_rng(2), **settings,
        on_epoch=lambda epoch, history: times.append(time.perf_counter()),
    )  # fmt: skip
    content = b"".join(cuda.to_host(p).tobytes() for p in net.parameters().values())
    spans = [b - a for a, b in pairwise(times[3:])]
    yield {"net": name, "batch": batch, "ranks": world.size, "rank": world.rank, "record": record, "steps": steps,
           "seconds": statistics.median(spans) / (count / batch), "first epoch": times[1] - times[0],
           "loss": history.loss, "bytes": len(content),
           "bits": hashlib.blake2b(content, digest_size=8).hexdigest()}  # fmt: skip


def card_compile(world, smoke=False, name="LeNet-5"):
    """Run a few steps, so that all kernels lie in the cache when time is measured."""
    begun = time.perf_counter()
    for batch in (64, 256):
        for record in (False, True):
            list(card_training(world, True, name, batch, 2, record))
    yield {"net": name, "rank": world.rank, "seconds": time.perf_counter() - begun}


def card_lost(world, smoke=False):
    """Train recorded; rank 1 is killed in the third epoch. The others say after how many seconds they knew."""
    from course_lib import cuda

    make, shape = NETS["LeNet-5"]
    rng, last = np.random.default_rng(1), [0.0]

    def killed(epoch, history):
        last[0] = time.perf_counter()
        if epoch == 2 and world.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        nn.train(
            make(cuda), (rng.random((640, *shape), np.float32), rng.integers(0, 10, 640)), epochs=9, batch_size=64,
            lr=1e-3, rng=rng, progress=False, world=world, on_epoch=killed,
        )  # fmt: skip
    except parallel.RankError as error:
        yield {"rank": world.rank, "seconds": time.perf_counter() - last[0], "named": error.rank, "says": str(error)}


PARTS = {f.__name__: f for f in (turns, sums, steps, training, card_compile, card_sums, card_training, card_lost)}


def work(name, folder, smoke, options):
    """Run a part as one rank, and write its rows beside those of the others."""

    def of_rank(world):
        rows, path = [], Path(folder) / f"rows-{world.rank}.json"
        for row in PARTS[name](world, smoke, **options):
            rows.append(row)
            path.write_text(json.dumps(rows))  # what was measured before a failure stays

    parallel.run(of_rank, engine="nccl" if name.startswith("card") else "mpi", patience=30.0)


# ---------------------------------------------------------------------------------------------------- the driver


def run_part(name, ranks, smoke, options, limit):
    """Run a part as processes; return (rows of all ranks, what went wrong or "")."""
    with tempfile.TemporaryDirectory(prefix="measure-parallel-") as folder:
        command = [sys.executable, "-m", "course_lib", "ranks", "-n", str(ranks), "--grace", "5", __file__]
        command += ["--part", name, "--folder", folder, "--options", json.dumps(options), *(["--smoke"] * smoke)]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        environ |= KEPT if name in ("turns", "sums") else {}
        child = subprocess.Popen(
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        try:
            says, _ = child.communicate(timeout=limit)
            problem = "" if child.returncode == 0 else says[-1500:]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            problem = f"not done after {limit} s: {child.communicate()[0][-1500:]}"
        files = sorted(Path(folder).glob("rows-*.json"))
        return [row for file in files for row in json.loads(file.read_text())], problem


def plan(nccl, cards, most=4):
    """Yield (part, ranks, options) in the order in which they are measured; no more than `most` ranks as processes."""
    if not nccl:
        yield "turns", 2, {}
        for name, several in (("sums", (4,)), ("steps", (1, 2, 4)), ("training", (1, 2, 4))):
            for ranks in several:
                if ranks <= most:
                    yield name, ranks, {}
        return
    for name in NETS:
        yield "card_compile", 1, {"name": name}
    yield "card_sums", cards, {}
    for name, batch, count in (
        ("LeNet-5", 64, 400), ("LeNet-5", 256, 200), ("LeNet-5", 2048, 50),
        ("MLP 784-128-10", 64, 400), ("MLP 784-4096-4096-10", 1024, 40), ("MLP 784-4096-4096-10", 8192, 8),
    ):  # fmt: skip
        for ranks in (1, cards):
            yield "card_training", ranks, {"name": name, "batch": batch, "steps": count}
    for ranks in (1, cards):
        yield "card_training", ranks, {"name": "LeNet-5", "batch": 64, "steps": 50, "record": False}
    yield "card_lost", cards, {}


def threads(smoke):
    """Return rows of sums between threads, which need no MPI."""
    found = []
    for ranks in (2, 4):
        found += parallel.run(lambda world: list(sums(world, smoke)), ranks)[0]
    return found


def cores(smoke):
    """Return rows of steps by one process that uses all cores by itself: what ranks of one core each have to beat."""
    rows = parallel.run(lambda world: list(steps(world, smoke)), 1)[0]
    return [{**row, "exchange": "none"} for row in rows if row["exchange"] == "alone"]


def shown(row):
    """Return a row as a line of at most 110 characters; long values are left out."""
    cells = []
    for name, value in row.items():
        if name in ("seconds", "least", "enqueued"):
            cells.append(f"{name} {1e6 * value:,.1f} us")
        elif name == "bus":
            cells.append(f"bus {value / 1e9:,.2f} GB/s")
        elif name in ("loss", "accuracy"):
            cells.append(f"{name} {value[-1]:.6g}")
        elif name not in ("weights", "engine", "messages", "sent", "steps", "says", "rank"):
            cells.append(f"{name} {value:,}" if isinstance(value, int) and name == "bytes" else f"{name} {value}")
    return "  ".join(cells)


def verdicts(rows):
    """Yield sentences on whether ranks agree with one rank: bits on all ranks, weights and losses within rounding."""
    for key in dict.fromkeys((r["net"], r.get("batch"), r.get("record")) for r in rows):
        same = [r for r in rows if (r["net"], r.get("batch"), r.get("record")) == key]
        alone = [r for r in same if r["ranks"] == 1]
        for ranks in sorted({r["ranks"] for r in same} - {1}):
            of = [r for r in same if r["ranks"] == ranks]
            bits = "equal bits on all ranks" if len({r["bits"] for r in of}) == 1 else "OTHER BITS on some ranks"
            if alone:
                off = max(abs(a - b) / abs(a) for a, b in zip(alone[0]["loss"], of[0]["loss"], strict=True))
                speed = alone[0]["seconds"] / of[0]["seconds"]
                yield f"{key[0]}, batch {key[1]}, {ranks} ranks: {bits}; losses off by {off:.1e}; {speed:.2f} x as fast"


def main():
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a file for what was measured, as JSON")
    parser.add_argument("--nccl", action="store_true", help="measure cards, by NCCL")
    parser.add_argument("--cards", type=int, default=2, help="how many cards; 2 unless given")
    parser.add_argument("--only", action="append", help="only parts whose name begins so; again for more")
    parser.add_argument("--most", type=int, default=4, help="how many ranks at most as processes; 4 unless given")
    parser.add_argument("--again", type=int, default=1, help="how many times everything is measured; 1 unless given")
    parser.add_argument(
        "--more", action="store_true", help="keep what is in the file, of the same machine, and add to it"
    )
    parser.add_argument("--smoke", action="store_true", help="everything once: times mean nothing")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--options", default="{}", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        work(options.part, options.folder, options.smoke, json.loads(options.options))
        return
    from course_lib.cli.ranks_check import check_ranks

    mpi, found, failed = check_ranks(), {}, []
    begun = load()
    print(mpi.found, flush=True)
    asked = [
        p
        for p in plan(options.nccl, options.cards, options.most)
        if not options.only or p[0].startswith(tuple(options.only))
    ]
    if "as processes:" not in mpi.found:
        asked = []
    if not options.nccl and (not options.only or "threads".startswith(tuple(options.only))):
        found["threads"] = threads(options.smoke)
    if not options.nccl and (not options.only or "cores".startswith(tuple(options.only))):
        found["cores"] = [row for _ in range(options.again) for row in cores(options.smoke)]
    for name, ranks, more in asked * options.again:
        limit = next(seconds for start, seconds in LIMITS.items() if name.startswith(start))
        rows, problem = run_part(name, ranks, options.smoke, more, limit)
        print(f"\n{name}, {ranks} ranks {more or ''}: {len(rows)} rows", flush=True)
        for row in rows:
            found.setdefault(row.pop("part", name), []).append(row)
            if (row.get("rank", 0) == 0 and name != "turns") or name == "card_lost":
                print(shown(row), flush=True)
        if problem and name != "card_lost":  # there a rank is killed on purpose
            failed.append({"part": name, "ranks": ranks, "options": more, "says": problem})
            print(f"FAILED: {problem}", flush=True)
        elif name == "card_lost":
            print(rows[0]["says"] if rows else f"FAILED: nobody was told. {problem}", flush=True)
    for name in ("training", "card_training"):
        for line in verdicts(found.get(name, [])):
            print(line)
    if options.out:
        about = {"bench": "parallel", "date": f"{datetime.date.today()}", "machine": describe_machine(PACKAGES)}
        about |= {"mpi": re.sub(r",? /\S+", "", mpi.found), "smoke": options.smoke, "failed": failed}
        about |= {"load": [begun, load()]}
        if options.more:
            about, found = joined(options.out, about, found)
        if options.nccl:
            about["cards"] = card_names()
        options.out.write_text(text_of(about, found), encoding="utf-8")


def text_of(about, parts):
    """Return a file's text: what is about the run as lines of their own, and a line a row."""
    head = json.dumps(about, indent=1)[:-2]
    lists = (f'  "{name}": [\n   ' + ",\n   ".join(map(json.dumps, rows)) + "\n  ]" for name, rows in parts.items())
    return f'{head},\n "parts": {{\n' + ",\n".join(lists) + "\n }\n}\n"


def joined(file, about, found):
    """Return what a file has and what was found now, as one; ValueError if it is another machine's."""
    if not file.exists():
        return about, found
    before = json.loads(file.read_text(encoding="utf-8"))
    if before["machine"] != about["machine"]:
        raise ValueError(f"{file.name} is of {before['machine']}, this is {about['machine']}; write to another file.")
    about["failed"], about["load"] = before["failed"] + about["failed"], before["load"] + about["load"]
    parts = {**before["parts"]}
    for name, rows in found.items():
        parts[name] = parts.get(name, []) + rows
    return about, parts


def load():
    """Return how many programs want to compute, 0 on an idle machine; None where the system does not say. No errors."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def card_names():
    """Return what nvidia-smi says of the cards and their links, a list of lines; no errors."""
    lines = []
    for command in (["nvidia-smi", "-L"], ["nvidia-smi", "topo", "-m"]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
            lines += [line.split(" (UUID")[0].rstrip() for line in done.stdout.splitlines() if line.strip()]
        except (OSError, subprocess.SubprocessError):
            continue
    return lines


if __name__ == "__main__":
    main()
