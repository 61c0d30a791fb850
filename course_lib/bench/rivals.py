"""The same network for each rival: the course's two backends, and PyTorch where it is installed.

Source: the course's choice. Weights, batch and labels are equal, so results can be compared before times are.
"""

import importlib.util

import numpy as np

from course_lib import fast, nn, reference

NETS = {
    "LeNet-5": lambda rng, ops: nn.models.lenet5(rng=rng, ops=ops),
    "MLP 784-128-10": lambda rng, ops: nn.models.mlp(rng=rng, ops=ops),
}
SHAPES = {"LeNet-5": (1, 32, 32), "MLP 784-128-10": (784,)}
BACKENDS = {"reference": reference, "fast": fast}
LR, MOMENTUM = 1e-4, 0.9


def has_torch():
    """Return whether PyTorch can be imported. No arguments, no errors. Source: the course's choice."""
    return importlib.util.find_spec("torch") is not None


def torch_on_a_card():
    """Return whether PyTorch is here and finds a GPU. No arguments, no errors. Source: the course's choice."""
    if not has_torch():
        return False
    import torch

    return torch.cuda.is_available()


def batch(name, count):
    """Return (x, labels) for the network of this name, seeded: x (count, ...), labels (count,).

    KeyError for an unknown name. Source: the course's choice.
    """
    rng = np.random.default_rng(1)
    return rng.standard_normal((count, *SHAPES[name])).astype(np.float32), rng.integers(0, 10, count)


class CourseRival:
    """One of the course's networks, and its parts as functions without arguments.

    KeyError for an unknown network or backend. Source: the course's choice.
    """

    def __init__(self, name, backend, count):
        self.ops = BACKENDS[backend]
        self.net = NETS[name](np.random.default_rng(0), self.ops)
        self.x, self.labels = batch(name, count)
        self.params = list(self.net.parameters().values())
        self.velocities = [np.zeros_like(p) for p in self.params]

    def step(self):
        """Train on the batch once: forward, loss, backward, update. Returns the loss."""
        loss, cache = self.ops.softmax_cross_entropy_forward(self.net.forward(self.x), self.labels)
        self.net.zero_grad()
        self.net.backward_parameters(self.ops.softmax_cross_entropy_backward(cache))
        self.ops.sgd_step(self.params, list(self.net.gradients().values()), LR, MOMENTUM, self.velocities)
        return loss

    def layers(self):
        """Yield (name, forward, backward) of each layer, on the input that reaches it."""
        x = self.x
        for i, layer in enumerate(self.net):
            y = layer.forward(x)
            dy = np.empty_like(y)  # in y's order in memory, as the layer above would hand it down
            dy[...] = np.random.default_rng(2).standard_normal(y.shape)
            backward = layer.backward_parameters if i == 0 else layer.backward
            yield f"{i + 1} {layer.describe()}", _call(layer.forward, x), _call(backward, dy)
            x = y


class TorchRival:
    """The same network in PyTorch, with the weights of the course's.

    ImportError without PyTorch. Source: the course's choice; PyTorch's modules.
    """

    def __init__(self, name, count):
        import torch

        self.torch = torch
        net = NETS[name](np.random.default_rng(0), reference)
        self.net = torch.nn.Sequential(*(_torch_layer(layer, torch) for layer in net))
        x, labels = batch(name, count)
        self.x, self.labels = torch.from_numpy(x), torch.from_numpy(labels)
        self.optimizer = torch.optim.SGD(self.net.parameters(), LR, momentum=MOMENTUM)

    def step(self):
        """Train on the batch once: forward, loss, backward, update. Returns the loss."""
        self.optimizer.zero_grad()
        loss = self.torch.nn.functional.cross_entropy(self.net(self.x), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def layers(self):
        """Yield (name, forward, backward) of each layer, on the input that reaches it."""
        torch, x = self.torch, self.x
        for i, layer in enumerate(self.net):
            if i:
                x = x.detach().requires_grad_()
            y = layer(x)
            dy = torch.from_numpy(np.random.default_rng(2).standard_normal(tuple(y.shape)).astype(np.float32))
            wanted = [*([x] if i else []), *layer.parameters()]
            backward = _call(torch.autograd.grad, y, wanted, dy, retain_graph=True)
            yield str(i + 1), _call(layer, x), backward
            x = y


def _call(function, *arguments, **options):
    return lambda: function(*arguments, **options)


def _torch_layer(layer, torch):
    if isinstance(layer, nn.Conv2d):
        module = torch.nn.Conv2d(layer.c_in, layer.c_out, layer.mask, stride=layer.stride, padding=layer.pad)
        weights = layer.params["w"]
    elif isinstance(layer, nn.Dense):
        module, weights = torch.nn.Linear(layer.n_in, layer.n_out), layer.params["w"].T
    else:
        simple = {nn.ReLU: torch.nn.ReLU, nn.Flatten: torch.nn.Flatten}
        return torch.nn.MaxPool2d(layer.size) if isinstance(layer, nn.MaxPool) else simple[type(layer)]()
    with torch.no_grad():
        module.weight.copy_(torch.from_numpy(weights.copy()))
        module.bias.copy_(torch.from_numpy(layer.params["b"]))
    return module
