"""How long LeNet-5 trains until it reads enough digits that it has not seen, for batches of several sizes.

Each size gets a few learning rates, and the best one two more seeds. The images are the course's 4,000 digits, each of
them moved a little, so often that there are 60,000; the others, 1,000, judge. Only the seconds of training count.

Source: H, "Mini-Batching May be Needed to Fill GPU" and "Test Cycle Time is Important".
"""

import time

import numpy as np

from course_lib import data, gpu, nn
from course_lib.lesson import padded
from tools.steps.clock import row
from tools.steps.on_card import OnCard
from tools.steps.step import Step, images, network

SHARES = 0.94, 0.95, 0.96, 0.97, 0.975
"""Of the digits that judge: when each was reached is noted, and with the last one a run ends."""

RATES = {
    64: (0.01, 0.02, 0.04, 0.005), 256: (0.02, 0.04, 0.08, 0.01), 1024: (0.04, 0.08, 0.16, 0.02),
    4096: (0.08, 0.16, 0.32, 0.04),
}  # fmt: skip
"""Batch -> learning rates, the likely ones first."""

EPOCHS = {64: 8, 256: 12, 1024: 25, 4096: 60}
"""The most of a run."""

LOOKS = 8
"""Per epoch, or after each batch where there are fewer."""

COPIES, SEEDS = 15, (0, 1, 2)
SECONDS = 30
"""After so many no further run begins."""


def rows(tiny):
    """Yield a row for each size of batch, again whenever it has one more of its "runs", {lr, seed, reached, last}.

    "reached" is {share: [epochs, seconds]}, and "last" the [epochs, seconds, share] of the run's last look.
    """
    begin, name = time.perf_counter(), "tiny" if tiny else "LeNet-5"
    (x, labels), judges = digits(tiny)
    pool, pool_labels = gpu.to_device(x), gpu.to_device(labels)
    rates = {2: (0.01, 0.02)} if tiny else RATES
    ready, runs = {}, {batch: [] for batch in rates}
    todo = [(batch, lr, SEEDS[0]) for k in range(len(next(iter(rates.values())))) for batch, each in rates.items()
            for lr in each[k : k + 1]]  # fmt: skip
    while todo:
        batch, lr, seed = todo.pop(0)
        if time.perf_counter() - begin > SECONDS:
            break
        if batch not in ready:
            ready[batch] = Run(name, batch, judges)
        epochs = 1 if tiny else EPOCHS[batch]
        reached, last = ready[batch].until(lr, seed, pool, pool_labels, epochs)
        runs[batch].append({"lr": lr, "seed": seed, "reached": reached, "last": last})
        yield written(batch, len(x), runs[batch])
        if not todo and seed == SEEDS[0]:
            todo = [(b, best(each)["lr"], more) for more in SEEDS[1:] for b, each in runs.items() if each]


def written(batch, count, runs):
    """The row of one size of batch: seconds of its best run until each share that it has reached."""
    one = best(runs)
    timings = {
        f"until {share}": dict.fromkeys(("median", "lower", "upper"), seconds) | {"rounds": 1, "calls": 1}
        for share, (_, seconds) in one["reached"].items()
    }
    return row(f"until enough are right, B = {batch}", f"{count:,} images", timings, runs=runs, best=one["lr"])


def best(runs):
    """The run that has reached the most, and of those the quickest."""
    return max(runs, key=lambda run: (len(run["reached"]), -max([t for _, t in run["reached"].values()] or [0])))


def digits(tiny):
    """Return ((x, labels) to train on, (x, labels) to judge by), x (n, 1, 32, 32) float32; tiny: rows of 6."""
    if tiny:
        return images("tiny", 8), images("tiny", 4)
    found, shift, rng = data.load_digits(0), nn.random_shifts(2), np.random.default_rng(0)
    x, judges = padded(found.x_train).astype(np.float32), padded(found.x_test).astype(np.float32)
    moved = np.concatenate([shift(x, rng) for _ in range(COPIES)])
    return (moved, np.tile(found.y_train, COPIES)), (judges, found.y_test)


class Run:
    """Trainings of one size of batch, each with weights of its own seed.

    The network is made anew for each run, since a recorded step has its learning rate in it.
    """

    def __init__(self, name, batch, judges):
        self.name, self.batch = name, batch
        self.judges, self.right = gpu.to_device(judges[0]), judges[1]

    def until(self, lr, seed, pool, pool_labels, epochs):
        """Train until the last of SHARES is reached, or for so many epochs; return (reached, the last look)."""
        net = network(self.name, seed=seed)
        shape = (self.batch, *pool.shape[1:])
        step = Step(net, np.zeros(shape, np.float32), np.zeros(self.batch, np.int64), lr)
        weights = [gpu.to_host(p) for p in step.params]
        card = OnCard(step, pool, pool_labels)
        for there, here in zip([*step.params, *step.velocities], [*weights, *map(np.zeros_like, weights)], strict=True):
            gpu.overwrite(there, here)  # recording has trained once
        judge = gpu.record(lambda: net.forward(self.judges))
        rng, reached, spent = np.random.default_rng(seed), {}, 0.0
        every = max(1, card.batches // LOOKS)
        for epoch in range(epochs):
            gpu.synchronize()
            begin = time.perf_counter()
            card.begin(rng.permutation(card.rows))
            for k in range(card.batches):
                card.graph()
                if (k + 1) % every and k + 1 < card.batches:
                    continue
                gpu.synchronize()
                spent += time.perf_counter() - begin
                judge()
                scores = gpu.to_host(judge.result)
                share = float((net.best(scores) == self.right).mean())
                done = epoch + (k + 1) / card.batches
                for wanted in SHARES:
                    if share >= wanted:
                        reached.setdefault(str(wanted), [done, spent])
                if str(SHARES[-1]) in reached or not np.isfinite(scores).all():
                    return reached, [done, spent, share]
                begin = time.perf_counter()
        return reached, [done, spent, share]
