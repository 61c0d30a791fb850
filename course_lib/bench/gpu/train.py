"""What a training step costs on a GPU: launched one by one, recorded, and PyTorch's three ways.

Source: the course's own. Timed by the host's clock, from the first launch until the device is done: what counts for a
small network is how fast the host can ask.
"""

import gc

import numpy as np

from course_lib import cuda as ops
from course_lib import gpu, reference
from course_lib.bench.rivals import LR, MOMENTUM, NETS, TorchRival, batch, torch_on_a_card
from course_lib.bench.timing import interleave
from course_lib.checks import check_close

STEPPED = {f"{name}, B = {count}": (name, count) for name in NETS for count in (64, 256)}
"""Case -> (network, batch size)."""

STEPS = 20
"""Steps between two looks at the clock."""

OURS, RECORDED = "one by one", "recorded"
TORCH, TORCH_RECORDED, TORCH_COMPILED = "PyTorch", "PyTorch, CUDA graph", "PyTorch, compiled and CUDA graph"


def training_steps(case, rounds=20):
    """Return {player: [median, lower, upper], "failures": {player: what happened}}, seconds a step; case in `STEPPED`.

    A recorded step is checked first: three of them give the losses of the reference. PyTorch takes part where it is. A
    player that fails is left out and named.

    KeyError for an unknown case. Source: the course's own.
    """
    name, count = STEPPED[case]
    failures = {}
    makers = {OURS: _one_by_one, RECORDED: _recorded}
    if torch_on_a_card():
        makers |= {TORCH: _torch_step, TORCH_RECORDED: _torch_graph, TORCH_COMPILED: _torch_compiled}
    players = {}
    for who, make in makers.items():
        try:
            step = make(name, count)
            _several(step, gpu.synchronize)()
            players[who] = (step, gpu.synchronize)
        except Exception as error:
            failures[who] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    timings = interleave({who: _several(*how) for who, how in players.items()}, rounds=rounds)
    found = {who: [s / STEPS for s in (t.median, t.lower, t.upper)] for who, t in timings.items()}
    return found | {"failures": failures}


def _one_by_one(name, count):
    return Step(name, count)


def _recorded(name, count):
    step = Step(name, count)
    _check(name, count, step.record())
    return step.graph


def _several(step, wait):
    def run():
        for _ in range(STEPS):
            step()
        wait()

    return run


class Step:
    """A network on the device with a batch there; a call trains once, and returns the sums of its losses (1, 2).

    KeyError for an unknown network. Source: the course's own.
    """

    def __init__(self, name, count):
        self.net = NETS[name](np.random.default_rng(0), ops)
        x, labels = batch(name, count)
        self.x, self.labels = gpu.to_device(x), gpu.to_device(labels)
        self.params = list(self.net.parameters().values())
        self.velocities = [ops.zeros_like(p) for p in self.params]
        self.graph, self.count = None, count

    def __call__(self):
        sums, cache = ops.softmax_cross_entropy_sums(self.net.forward(self.x), self.labels)
        self.net.renew_grad()
        self.net.backward_parameters(ops.softmax_cross_entropy_backward(cache))
        ops.sgd_step(self.params, list(self.net.gradients().values()), LR, MOMENTUM, self.velocities)
        return sums

    def record(self):
        """Record the step, run it three times in all, and return the mean losses of these. Errors as `gpu.record`."""
        losses = []
        self.graph = gpu.record(lambda: losses.append(self()) or losses[-1])
        found = [float(gpu.to_host(losses[0])[0, 0])]  # of the run that was real
        for _ in range(2):
            self.graph()
            found.append(float(gpu.to_host(self.graph.result)[0, 0]))
        return [loss / self.count for loss in found]


def _check(name, count, losses):
    net, (x, labels) = NETS[name](np.random.default_rng(0), reference), batch(name, count)
    params = list(net.parameters().values())
    velocities, expected = [np.zeros_like(p) for p in params], []
    for _ in losses:
        loss, cache = reference.softmax_cross_entropy_forward(net.forward(x), labels)
        net.zero_grad()
        net.backward_parameters(reference.softmax_cross_entropy_backward(cache))
        reference.sgd_step(params, list(net.gradients().values()), LR, MOMENTUM, velocities)
        expected.append(loss)
    check_close(np.array(losses), np.array(expected), rtol=1e-4, atol=0, name=f"three losses of {name}")


def _torch_step(name, count, compiled=lambda function: function):
    import torch

    rival = TorchRival(name, count)
    rival.net.cuda()
    optimizer = torch.optim.SGD(rival.net.parameters(), LR, momentum=MOMENTUM)
    x, labels = rival.x.cuda(), rival.labels.cuda()
    loss = compiled(lambda: torch.nn.functional.cross_entropy(rival.net(x), labels))
    update = compiled(lambda: optimizer.step())

    def step():
        optimizer.zero_grad()
        loss().backward()
        update()

    return step


def _torch_graph(name, count):
    return torch_recorded(_torch_step(name, count))


def _torch_compiled(name, count):
    import torch

    return torch_recorded(_torch_step(name, count, torch.compile))


def torch_recorded(step):
    """Return the replay of a step that PyTorch has recorded as a CUDA graph; it runs three times before.

    Source: PyTorch's documentation, "CUDA Graphs".
    """
    import torch

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    gc.collect()  # arrays that go while PyTorch records would spoil the recording
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        step()

    def replay(step=step):  # the batch lies where it did as long as the step lives
        graph.replay()

    return replay
