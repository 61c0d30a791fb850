"""A script for `course ranks`: trains a small network, and lets something happen to rank 2.

at_work.py WHAT FOLDER [ENGINE]: WHAT is nothing, killed, error, hang, other_weights, other_shape, deadlock or leaves.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from course_lib import nn, parallel

LONG = 1000  # seconds: far longer than any patience here
X, Y = np.random.default_rng(1).random((90, 6)), np.random.default_rng(2).integers(0, 3, 90)


def train(world, what="nothing", checkpoint=None, resume=False):
    """Train for five epochs; in the third something happens to rank 2."""
    rng = np.random.default_rng(5 + (what == "other_weights" and world.rank == 2))
    net = nn.Sequential(nn.Dense(6, 8, rng=rng), nn.ReLU(), nn.Dropout(0.4, rng=rng), nn.Dense(8, 3, rng=rng))

    def happens(epoch, history):
        if world.rank != 2 or epoch != 2:
            return
        if what == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "error":
            raise OSError("no more pictures")
        if what == "hang":
            time.sleep(LONG)
        if what == "other_shape":
            world.all_reduce(np.ones(7))
        if what == "leaves":
            raise SystemExit(3)

    settings = {"epochs": 5, "batch_size": 16, "lr": 0.01, "validation": 0.2, "optimiser": nn.Adam(net)}
    settings |= {"on_epoch": happens, "progress": False, "checkpoint": checkpoint, "resume": resume}
    history = nn.train(net, (X, Y), rng=np.random.default_rng(7), world=world, **settings)
    return {"history": repr(vars(history)), "weights": [p.tobytes().hex() for p in net.parameters().values()]}


def main(what, folder, engine="mpi", resume=""):
    """Train as a rank, and write what came of it."""
    folder = Path(folder)

    def work(world):
        if what == "deadlock":
            world.receive(np.empty(3), (world.rank + 1) % world.size)
        if what == "sums":
            return sums(world)
        return train(world, what, folder / "checkpoint.npz", resume == "resume")

    (result,) = parallel.run(work, engine=engine, patience=10.0 if what in ("hang", "deadlock") else 120.0)
    if not isinstance(result, list):
        result["rank"] = os.environ.get("PMI_RANK") or os.environ.get("PMIX_RANK")
    (folder / f"result-{os.getpid()}.json").write_text(json.dumps(result))


def sums(world):
    """All-reduce in every way, the engine's own too where it has one: bits, and what was sent."""
    found = []
    for by in ("ring", "tree", "all_to_one", *(["engine"] if world.own_all_reduce else [])):
        for count in (1, 3, 1001, 300_000):
            array, before = np.random.default_rng(world.rank).standard_normal(count).astype(np.float32), world.traffic
            world.all_reduce(array, by)
            sent = world.traffic - before
            found.append([by, count, world.rank, sent.messages, sent.bytes, array.tobytes().hex()[:4000]])
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
