"""Training on a device by recorded steps: the host enqueues an epoch, and asks once, at its end, what came of it.

A step that is launched operation by operation waits for the host, and the host for the step's loss. What `train` needs
of a step can wait: the loss, the number of right rows, whether all is finite. So a step is recorded once for each size
of batch (`gpu.record`), and all of it, down to the learning rate, lies on the device. Results are those of steps that
are not recorded, bit for bit. A step whose loss is no finite number leaves the weights as they are, and so does every
later one: the error at the end of the epoch finds the network as it was before that batch.

Source: H, "Mini-batching"; NVIDIA, "CUDA C++ Programming Guide", "CUDA Graphs".
"""

import numpy as np

from course_lib.nn import conv_layers, layers
from course_lib.nn.optimisers import Optimiser

LAYERS = (layers.__name__, conv_layers.__name__)
"""Modules whose layers do the same at every step. Dropout, which has one of its own, draws a new seed each time, and of
somebody's own layer nothing is known."""

LOSS = "softmax_cross_entropy"
"""The loss that leaves its sum on the device."""


def why_not(net, loss, optimiser, precision):
    """Return why steps of this training cannot be recorded, as a clause; "" if they can. No errors.

    Source: the course's own.
    """
    if not hasattr(net.ops, "RecordedSteps"):
        return f"{getattr(net.ops, '__name__', net.ops)} does not compute on a device"
    if loss != LOSS:
        return f"the loss {loss} is brought to the host at each step; {LOSS} is not"
    if precision.name != "float32":
        return f"with precision={precision.name!r} the host looks at the gradients before each step"
    if not _says_ahead(type(optimiser)):
        return f"{type(optimiser).__name__} does not say its numbers ahead: it has no `plan` beside its `step`"
    for layer in net:
        if type(layer).__module__ not in LAYERS:
            return f"{layer.describe()} may do something else at each step"
    return ""


def _says_ahead(kind):
    """Whether a kind of optimiser has a plan of its own `step`, and not of one that it inherits the plan of."""
    order = kind.__mro__
    step, plan, planned = (
        next(place for place, base in enumerate(order) if name in vars(base))
        for name in ("step", "plan", "step_planned")
    )
    return order[plan] is not Optimiser and max(plan, planned) <= step


class RecordedEpochs:
    """Epochs of recorded steps of one training.

    Parameters
    ----------
    net : Sequential
        Of which `why_not` says "".
    optimiser : Optimiser
    rows, batch_size : int >= 1
        Of the training data, and of a batch.
    row_shape : tuple of int
    in_order : bool
        Ask for batch after batch, each as a whole, for data that are made batch by batch.

    Source: the course's own.
    """

    def __init__(self, net, optimiser, rows, batch_size, row_shape, in_order):
        self.net, self.optimiser, self.rows, self.batch_size = net, optimiser, rows, batch_size
        self.sizes = [min(batch_size, rows - first) for first in range(0, rows, batch_size)]
        self.log = net.ops.StepLog(len(self.sizes), len(optimiser.plan(1.0)))
        self.steps = net.ops.RecordedSteps(self._step, row_shape, in_order=in_order)

    def run(self, rates, fill):
        """Train an epoch; return (losses, right rows), a list of each for the batches, a mean loss as `train` sees it.

        A batch whose outputs are not finite has the loss NaN; neither it nor a later one changed anything, and the
        lists end with it.

        Parameters
        ----------
        rates : list of float
            The learning rate of each batch.
        fill : function (first, x, y)
            Writes the rows from place `first` of the epoch on into host arrays x (n, ...) float32 and y (n,) int64; in
            several threads at once, unless `in_order`.

        Errors of `fill`. Source: the course's own.
        """
        self.log.begin(np.stack([self.optimiser.plan(rate, ahead) for ahead, rate in enumerate(rates)]))
        self.steps.run(self.rows, self.batch_size, fill)
        losses, right = [], []
        for (total, _, correct, endless), size in zip(self.log.read(len(self.sizes)), self.sizes, strict=True):
            losses.append(np.nan if endless else float(total) / size)
            right.append(int(correct))
            if not np.isfinite(losses[-1]):
                break
            self.optimiser.steps += 1
        return losses, right

    def _step(self, x, y, turn):
        self.net.backward_parameters(self._forward(x, y, turn))
        self.optimiser.step_planned(self.log.now)

    def _forward(self, x, y, turn):
        """Go forward with a batch, note its loss in the log, forget old gradients; return dL/dscores."""
        ops = self.net.ops
        with self.net.training():
            scores = self.net.forward(x)
        sums, cache = ops.softmax_cross_entropy_sums(scores, y)
        self.log.note(scores, y, sums, turn, self._right_by(scores))
        self.net.renew_grad()
        return ops.softmax_cross_entropy_backward(cache)

    def _right_by(self, scores):
        if scores.shape[1] == 1:
            return "half"
        return "lowest" if self.net.layers[-1].smaller_is_better else "highest"
