"""What an epoch costs on a GPU: 60,000 digits on the host, shuffled anew, trained once; PyTorch's ways beside it.

Every player begins with the images in the host's memory and ends with the epoch's mean loss there. Source: the
course's own; H, "Test Cycle Time is Important".
"""

import functools
import time

import numpy as np

from course_lib import cuda as ops
from course_lib import nn
from course_lib.bench.gpu.train import torch_recorded
from course_lib.bench.rivals import LR, MOMENTUM, NETS, SHAPES, TorchRival, torch_on_a_card
from course_lib.checks import check_close
from course_lib.data.digits import load_digits

EPOCHS = {f"{name}, B = {count}": (name, count) for name in NETS for count in (64, 256)}
"""Case -> (network, batch size)."""

IMAGES = 60_000
"""As many as MNIST has for training."""

OURS = "nn.train"
TORCH, AHEAD, RESIDENT = "PyTorch", "PyTorch, graph, batches ahead", "PyTorch, graph, all on the card"


def epochs(case, rounds=5, count=IMAGES):
    """Return {player: [median, lower, upper], "failures": {player: what happened}}, seconds an epoch; case in `EPOCHS`.

    Every player trains the same network on the same batches; a mean loss that is not ours is a failure. Recording, and
    all that is made once a training, is not timed.

    KeyError for an unknown case. Source: the course's own.
    """
    name, size = EPOCHS[case]
    x, labels = generated(name, count)
    failures, found, expected = {}, {}, None
    for who, run in {OURS: _ours, **_rivals()}.items():
        try:
            losses, seconds = run(name, size, x, labels, rounds + 1)
            expected = losses if expected is None else expected  # a rival leaves out the last, smaller batch
            check_close(np.array(losses), np.array(expected), rtol=5e-3, atol=0, name=f"mean losses of {who}")
            found[who] = [float(q) for q in np.quantile(seconds[1:], (0.5, 0.2, 0.8))]
        except Exception as error:
            failures[who] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return found | {"failures": failures}


@functools.cache
def generated(name, count):
    """Return (x, labels) of `count` digits for a network of `NETS`: real ones, each many times, moved by two pixels.

    KeyError for an unknown network. Source: the course's own.
    """
    digits, rng = load_digits(), np.random.default_rng(2)
    pick = rng.integers(0, len(digits.x_train), count)
    room = (SHAPES[name][-1] - 28) // 2 if len(SHAPES[name]) == 3 else 0
    images = np.pad(digits.images("train"), ((0, 0), (room, room), (room, room)))
    x = nn.random_shifts(2)(images[pick][:, None], rng)
    return np.ascontiguousarray(x.reshape(count, *SHAPES[name])), digits.y_train[pick]


def _ours(name, size, x, labels, count):
    """Return (mean losses, seconds) of `count` epochs; a seed of 0 for their orders."""
    net, clock = NETS[name](np.random.default_rng(0), ops), [time.perf_counter()]
    history = nn.train(
        net, (x, labels), epochs=count, batch_size=size, lr=LR, momentum=MOMENTUM, rng=np.random.default_rng(0),
        on_epoch=lambda epoch, history: clock.append(time.perf_counter()), progress=False,
    )  # fmt: skip
    return history.loss, np.diff(clock)


def _rivals():
    return {TORCH: _torch, AHEAD: _ahead, RESIDENT: _resident} if torch_on_a_card() else {}


class _Torch:
    """PyTorch's network with a batch on the card, the sum of its losses there, and the step on it."""

    def __init__(self, name, size, x):
        import torch

        self.torch, self.net = torch, TorchRival(name, 1).net.cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), LR, momentum=MOMENTUM)
        self.x = torch.zeros((size, *x.shape[1:]), device="cuda")
        self.labels = torch.zeros(size, dtype=torch.int64, device="cuda")
        self.total = torch.zeros((), device="cuda")

    def step(self):
        self.optimizer.zero_grad()
        loss = self.torch.nn.functional.cross_entropy(self.net(self.x), self.labels)
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach()

    def recorded(self):
        """Record the step, which trains, and return its replay with the network as it was before."""
        kept = [p.detach().clone() for p in self.net.parameters()]
        replay = torch_recorded(self.step)
        with self.torch.no_grad():
            for p, before in zip(self.net.parameters(), kept, strict=True):
                p.copy_(before)
                self.optimizer.state[p]["momentum_buffer"].zero_()
        return replay

    def epochs(self, count, rows, size, train):
        """Return (mean losses, seconds) of `count` epochs; train(batches) enqueues one, batches (n, size) of places."""
        rng, losses, seconds = np.random.default_rng(0), [], []
        for _ in range(count):
            begin = time.perf_counter()
            self.total.zero_()
            batches = rng.permutation(rows)[: rows // size * size].reshape(-1, size)
            train(batches)
            losses.append(self.total.item() / len(batches))
            seconds.append(time.perf_counter() - begin)
        return losses, seconds


def _torch(name, size, x, labels, count):
    """Copy each batch from usual memory, then train operation by operation."""
    it = _Torch(name, size, x)

    def train(batches):
        for batch in batches:
            it.x.copy_(it.torch.from_numpy(x[batch]))
            it.labels.copy_(it.torch.from_numpy(labels[batch]))
            it.step()

    return it.epochs(count, len(x), size, train)


def _ahead(name, size, x, labels, count):
    """Gather a batch into pinned memory and copy it in a stream of its own while the graph computes the one before."""
    it = _Torch(name, size, x)
    torch = it.torch
    replay, copies, main = it.recorded(), torch.cuda.Stream(), torch.cuda.current_stream()
    pinned = [(torch.empty(it.x.shape).pin_memory(), torch.empty(size, dtype=torch.int64).pin_memory()) for _ in "01"]
    there = [(torch.empty_like(it.x), torch.empty_like(it.labels)) for _ in "01"]
    arrived, used = [torch.cuda.Event() for _ in "01"], [torch.cuda.Event() for _ in "01"]

    def train(batches):
        for k, batch in enumerate(batches):
            slot = k % 2
            arrived[slot].synchronize()
            np.take(x, batch, axis=0, out=pinned[slot][0].numpy(), mode="clip")
            np.take(labels, batch, out=pinned[slot][1].numpy(), mode="clip")
            with torch.cuda.stream(copies):
                copies.wait_event(used[slot])
                for to, of in zip(there[slot], pinned[slot], strict=True):
                    to.copy_(of, non_blocking=True)
                arrived[slot].record()
            main.wait_event(arrived[slot])
            it.x.copy_(there[slot][0])
            it.labels.copy_(there[slot][1])
            used[slot].record()
            replay()

    return it.epochs(count, len(x), size, train)


def _resident(name, size, x, labels, count):
    """Copy all images from pinned memory first; then gather each batch on the card for the graph."""
    it = _Torch(name, size, x)
    torch, replay = it.torch, it.recorded()
    images, classes = torch.from_numpy(x).pin_memory(), torch.from_numpy(labels).pin_memory()

    def train(batches):
        there, right = images.cuda(non_blocking=True), classes.cuda(non_blocking=True)
        places = torch.from_numpy(batches).cuda()
        for batch in places:
            torch.index_select(there, 0, batch, out=it.x)
            torch.index_select(right, 0, batch, out=it.labels)
            replay()

    return it.epochs(count, len(x), size, train)
