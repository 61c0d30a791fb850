"""Optimisers: an update rule together with what it keeps for each parameter of one network.

Source: O, "Stochastic gradient descent"; Kingma and Ba (2015); Loshchilov and Hutter (2019). All arithmetic is in
`ops.sgd_step` and `ops.adam_step`; nothing here but memory.
"""

import numpy as np

from course_lib.nn.weights import load_weights, save_weights
from course_lib.reference.adam import check_adam
from course_lib.reference.optim import check_decay
from course_lib.validate import require_positive


class Optimiser:
    """Base of optimisers: `net`, the weight decay of each parameter, and arrays kept in `state`.

    Parameters
    ----------
    net : Sequential
        Its parameters are changed in place by `step`.
    weight_decay : float >= 0
        Of the weights; biases (parameters named "b") never decay.

    Attributes
    ----------
    state : dict
        Name -> list of arrays, one for each parameter, where the network computes.
    steps : int
        How many steps were made.

    Source: the course's own.
    """

    def __init__(self, net, weight_decay=0.0):
        if not hasattr(net, "parameters"):
            raise TypeError(f"net is {net!r:.60}; an optimiser belongs to a network: nn.Adam(net).")
        self.net, self.steps = net, 0
        self.weight_decay = require_positive("weight_decay", weight_decay, zero=True)
        self.state = {}

    def __getstate__(self):
        """What a copy or a pickle keeps: arrays as the host's; the network brings itself along."""
        host = {name: [self.net.ops.to_host(a) for a in arrays] for name, arrays in self.state.items()}
        return {**self.__dict__, "state": host}

    def __setstate__(self, state):
        ops = state["net"].ops
        here = {name: [ops.to_backend(a) for a in arrays] for name, arrays in state["state"].items()}
        self.__dict__.update(state, state=here)

    def step(self, lr):
        """Move every parameter by its gradient, in place, with the learning rate lr > 0."""
        raise NotImplementedError(f"{type(self).__name__} must define step(lr).")

    def plan(self, lr, ahead=0):
        """Return what the step that comes after `ahead` others reads from the device, (n,) float32, with the rate lr.

        Such as the rate itself. NotImplementedError if steps of this kind cannot be recorded.
        """
        raise NotImplementedError(f"{type(self).__name__} has no plan: its steps cannot be recorded.")

    def step_planned(self, now):
        """Move every parameter as `step`, by the numbers in the device array now (n,); nothing moves if they are NaN.

        For a recorded step: `steps` is not counted up. NotImplementedError as `plan`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define step_planned(now).")

    def check(self, lr):
        """Raise what a step with this rate would raise for its size: ValueError if lr * weight_decay >= 1."""
        check_decay(self.decays(), list(self.net.parameters().values()), lr)

    def decays(self):
        """Return the weight decay of each parameter, in the order of `net.parameters()`."""
        return [0.0 if name.split(".")[-1] == "b" else self.weight_decay for name in self.net.parameters()]

    def zeros(self):
        """Return an array of zeros for each parameter, where the network computes."""
        return [self.net.ops.zeros_like(p) for p in self.net.parameters().values()]


class Followed(Optimiser):
    """Base of what lets another optimiser step, and then does something to the weights: `follow`.

    Its memory and its count of steps are the other's.

    Parameters
    ----------
    optimiser : Optimiser
        What makes the steps, such as nn.SGD(net, momentum=0.9).

    Raises
    ------
    TypeError
        If optimiser is none.

    Source: the course's own.
    """

    def __init__(self, optimiser):
        if not isinstance(optimiser, Optimiser):
            raise TypeError(f"optimiser is {optimiser!r:.60}; it must be one, such as nn.SGD(net).")
        self.inner, self.net = optimiser, optimiser.net

    @property
    def state(self):
        """What the other one keeps for each parameter."""
        return self.inner.state

    @property
    def steps(self):
        """How many steps the other one made."""
        return self.inner.steps

    @steps.setter
    def steps(self, count):
        self.inner.steps = count

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)

    def follow(self):
        """Do what comes after a step."""
        raise NotImplementedError(f"{type(self).__name__} must define follow().")

    def step(self, lr):
        """Let the other one step with the rate lr > 0, and follow."""
        self.inner.step(lr)
        self.follow()

    def check(self, lr):
        """As the other one's."""
        self.inner.check(lr)


class _Kept:
    """What `save_weights` and `load_weights` ask of a network, told of an optimiser's memory."""

    def __init__(self, optimiser):
        self.ops, names = optimiser.net.ops, list(optimiser.net.parameters())
        self.steps = self.ops.to_backend(np.array([optimiser.steps], np.float32))  # exact up to 2^24
        self.arrays = {f"{s}.{n}": a for s, kept in optimiser.state.items() for n, a in zip(names, kept, strict=True)}

    def parameters(self):
        return {"steps": self.steps, **self.arrays}


def save_optimiser(optimiser, path):
    """Write what an optimiser keeps of its steps to `path`, an .npz file; the network's weights are saved apart.

    Names in it are "steps", "first_moments.0.w" and so on. Rates and decays are not in it: they are arguments.
    Errors as `save_weights`: OSError where nothing can be written. Source: the course's own.
    """
    save_weights(_Kept(optimiser), path)


def load_optimiser(optimiser, path):
    """Read what an optimiser of the same kind, of a network of the same layers, kept of its steps; in place.

    Errors as `load_weights`: FileNotFoundError, or WeightsError if names, shapes, dtypes or values do not fit; then
    nothing changes. Source: the course's own.
    """
    kept = _Kept(optimiser)
    load_weights(kept, path)
    optimiser.steps = int(kept.ops.to_host(kept.steps)[0])


class SGD(Optimiser):
    """Stochastic gradient descent, plain or with momentum; its weight decay adds to the gradient (L2).

    Parameters
    ----------
    net : Sequential
    momentum : float in [0, 1)
    weight_decay : float >= 0

    Raises
    ------
    TypeError, ValueError
        If one of them is not of that kind.

    Source: O, "Stochastic gradient descent"; Loshchilov and Hutter (2019), algorithm 1.
    """

    def __init__(self, net, momentum=0.0, weight_decay=0.0):
        super().__init__(net, weight_decay)
        self.momentum = require_positive("momentum", momentum, zero=True)
        if self.momentum >= 1:
            raise ValueError(f"momentum is {momentum:g}; it must be below 1, or old steps never fade.")
        if self.momentum:
            self.state["velocities"] = self.zeros()

    def step(self, lr):
        """Move every parameter by its gradient, in place, with the learning rate lr > 0."""
        params, grads = list(self.net.parameters().values()), list(self.net.gradients().values())
        self.net.ops.sgd_step(params, grads, lr, self.momentum, self.state.get("velocities"), self.decays())
        self.steps += 1

    def plan(self, lr, ahead=0):
        """Return (lr,), as `Optimiser.plan`."""
        return np.array([lr], np.float32)

    def step_planned(self, now):
        """As `Optimiser.step_planned`."""
        params, grads = list(self.net.parameters().values()), list(self.net.gradients().values())
        velocities = self.state.get("velocities")
        self.net.ops.sgd_step_planned(params, grads, now, self.momentum, velocities, self.decays())


class Adam(Optimiser):
    """Adam; with a weight decay AdamW: the weights shrink by lr * weight_decay beside the gradient's step.

    Parameters
    ----------
    net : Sequential
    beta1, beta2 : float in [0, 1)
    eps : float > 0
    weight_decay : float >= 0

    Raises
    ------
    TypeError, ValueError
        If one of them is not of that kind.

    Source: Kingma and Ba (2015), algorithm 1; Loshchilov and Hutter (2019), algorithm 2.
    """

    def __init__(self, net, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0):
        super().__init__(net, weight_decay)
        check_adam(1, 1, beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.state = {"first_moments": self.zeros(), "second_moments": self.zeros()}

    def step(self, lr):
        """Move every parameter by its gradient, in place, with the learning rate lr > 0."""
        params, grads = list(self.net.parameters().values()), list(self.net.gradients().values())
        rule = self.beta1, self.beta2, self.eps, self.decays()
        self.net.ops.adam_step(params, grads, lr, *self.state.values(), self.steps + 1, *rule)
        self.steps += 1

    def plan(self, lr, ahead=0):
        """Return the numbers of a later step, (4,), as `Optimiser.plan`."""
        rule = self.beta1, self.beta2, self.eps
        return self.net.ops.adam_plan(lr, self.steps + ahead + 1, *rule, self.weight_decay)

    def step_planned(self, now):
        """As `Optimiser.step_planned`."""
        params, grads = list(self.net.parameters().values()), list(self.net.gradients().values())
        rule = self.beta1, self.beta2, self.eps, [decay > 0 for decay in self.decays()]
        self.net.ops.adam_step_planned(params, grads, now, *self.state.values(), *rule)
