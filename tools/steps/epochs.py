"""How long one pass over 60,000 images takes: on the processor, launch by launch, recorded, with batches ahead.

Source: H, "Test Cycle Time is Important". Slow ways see a part of the images, and their time is multiplied.
"""

import inspect
import os
import time

import numpy as np

from course_lib import cuda, fast, gpu, nn
from tools.steps.clock import row, summary
from tools.steps.on_card import OnCard
from tools.steps.step import Step, images, network

IMAGES, PART, BATCH = 60_000, 6_400, 64
EPOCHS = 5
"""Of a training by `nn.train` whose steps are recorded: it checks its data and records once, not in each epoch."""


def rows(tiny):
    """Yield one row of seconds for an epoch, with how many images each way has seen."""
    name, count, part, batch = ("tiny", 8, 4, 2) if tiny else ("LeNet-5", IMAGES, PART, BATCH)
    x, labels = images(name, count)
    case, size, timings, seen = "an epoch", f"{count:,} images, B = {batch}", {}, {}

    def add(way, run, shown, rounds=3):
        found = []
        for _ in range(rounds):
            gpu.synchronize()
            begin = time.perf_counter()
            run()
            gpu.synchronize()
            found.append((time.perf_counter() - begin) * count / shown)
        timings[way], seen[way] = summary(found), shown

    for way, shown, options in trainings(count, part):
        backend = fast if "processor" in way else cuda
        net = network(name, backend)

        epochs = EPOCHS if options.get("record") else 1

        def train(shown=shown, net=net, options=options, epochs=epochs):
            rng = np.random.default_rng(0)
            more = dict(epochs=epochs, batch_size=batch, lr=1e-4, momentum=0.9, progress=False, **options)
            nn.train(net, (x[:shown], labels[:shown]), rng=rng, **more)

        nn.train(net, (x[:batch], labels[:batch]), epochs=1, batch_size=batch, lr=1e-4, rng=np.random.default_rng(0),
                 momentum=0.9, progress=False)  # fmt: skip
        add(way, train, epochs * shown)
        yield row(case, size, dict(timings), seen=dict(seen))
    whole = count // batch * batch
    by_hand = Recorded(name, x, labels, batch)
    add("recorded, each batch in turn", by_hand.in_turn, whole)
    add("recorded, batches ahead", by_hand.ahead, whole)
    add("feeding alone", by_hand.feed_only, whole)
    add("training alone", by_hand.train_only, whole)
    yield row(case, size, dict(timings), seen=dict(seen))
    stay = OnCard(by_hand.steps[0], gpu.to_device(x), gpu.to_device(labels))
    add("digits stay on the card", lambda: stay.epoch(np.random.default_rng(0)), whole)
    yield row(case, size, timings, seen=seen, cores=len(os.sched_getaffinity(0)))


def trainings(count, part):
    """Yield (way, images seen, options of nn.train): recorded steps where nn.train has them.

    Those come last, and what is recorded by hand after them: once a process has made a stream, each array costs more.
    """
    yield "nn.train on the processor", part, {}
    if "record" in inspect.signature(nn.train).parameters:
        yield "nn.train on the card", part, {"record": False}
        yield "nn.train on the card, recorded", count, {"record": True}
    else:
        yield "nn.train on the card", part, {}


class Recorded:
    """Two recorded steps of one network, each with a batch of its own on the device and a pinned one on the host."""

    def __init__(self, name, x, labels, batch):
        self.x, self.labels, self.batch = x, labels, batch
        net = network(name)
        self.steps = [Step(net, x[:batch], labels[:batch]) for _ in range(2)]
        self.steps[1].velocities = self.steps[0].velocities
        self.graphs = [gpu.record(step) for step in self.steps]
        self.pinned = [
            (gpu.pinned(s.x.shape, s.x.dtype), gpu.pinned(s.labels.shape, s.labels.dtype)) for s in self.steps
        ]
        self.copies, self.computes = gpu.stream(), gpu.stream()
        self.copied, self.used = ([gpu.event(), gpu.event()] for _ in range(2))

    def order(self):
        """The rows of each whole batch of an epoch."""
        shuffled = np.random.default_rng(0).permutation(len(self.x))
        return [shuffled[k : k + self.batch] for k in range(0, len(self.x) - self.batch + 1, self.batch)]

    def in_turn(self):
        """Gather a batch, copy it from usual memory, train; then the next one."""
        step, graph = self.steps[0], self.graphs[0]
        for batch in self.order():
            gpu.overwrite(step.x, self.x[batch])
            gpu.overwrite(step.labels, self.labels[batch])
            graph()
        gpu.synchronize()

    def ahead(self, compute=True):
        """Gather and copy a batch while the step before computes; two buffers, a stream for copies."""
        for k, batch in enumerate(self.order()):
            slot = k % 2
            step, (x, labels) = self.steps[slot], self.pinned[slot]
            self.copied[slot].synchronize()  # the host must not overwrite what is still being copied
            np.take(self.x, batch, axis=0, out=x, mode="clip")  # "raise" would copy twice
            np.take(self.labels, batch, out=labels, mode="clip")
            self.used[slot].wait(self.copies)
            gpu.overwrite(step.x, x, self.copies)
            gpu.overwrite(step.labels, labels, self.copies)
            self.copied[slot].record(self.copies)
            self.copied[slot].wait(self.computes)
            if compute:
                self.graphs[slot](self.computes)
            self.used[slot].record(self.computes)
        gpu.synchronize()

    def feed_only(self):
        """As `ahead`, without training."""
        self.ahead(compute=False)

    def train_only(self):
        """The recorded step as often, always on the batch that is there."""
        for _ in range(len(self.x) // self.batch):
            self.graphs[0]()
        gpu.synchronize()
