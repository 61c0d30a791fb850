"""Training shared among ranks: each computes its rows of every batch, gradients are summed, and all make one step.

Every rank has the same network, the same data and an equal generator. So all draw the same order of the samples and the
same augmented batches, and each takes its part; a dropped number is the one that one rank alone would drop. The sum of
the weighted gradients is the gradient of the whole batch, up to rounding, and its bits are the same on all ranks: so
are their weights after the step, and no weights are ever sent.

Source: P. Goyal et al. (2017), "Accurate, Large Minibatch SGD", section 3; K's course plan ("parallel and distributed
processing").
"""

import numpy as np

from course_lib.nn.epochs import (
    augmented,
    count_right,
    loss_of,
    of_shape,
    records,
    rehearse,
    require_finite_loss,
    run_recorded,
    weight_of,
)
from course_lib.nn.metrics import Evaluation
from course_lib.nn.schedules import count_steps, rate
from course_lib.parallel.agree import agree, broadcast_bytes
from course_lib.parallel.parts import part
from course_lib.parallel.traffic import cuts

EQUAL = (
    "Every rank must make its network, data and settings in the same way: from equal generators, "
    "rng=np.random.default_rng(0), or from one file of weights."
)


class Team:
    """Training by all ranks of a world: what `nn.train` asks of whoever trains. `nn.epochs.Alone` is the other one.

    Parameters
    ----------
    task : Task
    world : World

    Raises
    ------
    RankError
        If the ranks' weights, data, generators or settings differ; it names the first rank that does, and in what.

    Source: Goyal et al. (2017), section 3.
    """

    def __init__(self, task, world, record="auto"):
        self.task, self.world, self.first = task, world, world.rank == 0
        agree(world, shared(task), EQUAL)
        self.exchange = world.gradients(task.net)
        self.recorded = None
        if records(task, record):
            from course_lib.parallel.recorded import RecordedTogether  # it needs a device

            self.recorded = RecordedTogether(task, world)
            self.epoch = self._recorded_epoch

    def _recorded_epoch(self, epoch, history):
        """As `epoch`, by recorded steps on a device; what came of them is asked at the end."""
        task, recorded = self.task, self.recorded
        x, y, B, order = task.x, task.y, task.batch_size, task.rng.permutation(len(task.x))
        if epoch == 0:
            net = task.net
            out = net.ops.to_host(net.forward(net.ops.to_backend(x[: min(B, len(x))])))
            rehearse(net.ops, loss_of(net.ops, task.loss)[0], out, task.targets)

        def fill(batch, rows, inputs, labels):
            mine = order[batch * B : (batch + 1) * B][rows]
            labels[...] = y[mine]
            if task.augment is None:
                np.take(x, mine, axis=0, out=inputs, mode="clip")
            else:
                whole = x[order[batch * B : (batch + 1) * B]]
                inputs[...] = of_shape(augmented(task.augment, whole, task.rng), whole, task.net.ops)[rows]

        run_recorded(task, recorded, fill, epoch, history)

    def epoch(self, epoch, history):
        """Show every sample once, a batch at a time: forward, loss, backward and the sum of gradients, update."""
        task, net, x, y, ops, precision = (t := self.task), t.net, t.x, t.y, t.net.ops, t.precision
        loss_forward, loss_backward = loss_of(ops, task.loss)
        totals = np.zeros(2)  # of this rank: loss and right rows
        order = task.rng.permutation(len(x))
        for start in range(0, len(x), task.batch_size):
            batch = order[start : start + task.batch_size]
            speed = task.rate(epoch, start // task.batch_size)
            mine = part(len(batch), self.world.rank, self.world.size, task.loss)
            rows = batch[mine.rows]
            # What is drawn for a batch is drawn for all of it, by every rank.
            inputs = x[rows] if task.augment is None else augmented(task.augment, x[batch], task.rng)[mine.rows]
            with net.training(mine.rows.start), precision.rounding():
                scores = net.forward(ops.to_backend(inputs))
            out = ops.to_host(scores)
            if epoch == start == 0:
                rehearse(ops, loss_forward, out, task.targets)
            finite = np.isfinite(out).all()
            value, cache = loss_forward(scores, ops.to_backend(y[rows])) if finite else (np.nan, None)
            net.renew_grad()
            may_step = self._backward(loss_backward(cache) if np.isfinite(value) else None, mine.weight)
            require_finite_loss(np.nan if self.bad else value, epoch, start // task.batch_size, speed)
            if may_step:
                task.optimiser.step(speed)
            if mine.weight:
                totals += value * weight_of(task.loss, rows), count_right(net, out, y[rows])
        self.world.all_reduce(totals)
        history.loss.append(float(totals[0]) / weight_of(task.loss, x))
        history.accuracy.append(round(totals[1]) / len(x))
        history.loss_scale.append(precision.scale.value)
        history.skipped = precision.scale.skipped

    def _backward(self, dout, weight):
        """Go back, with this rank's weight, and sum over all ranks; return whether a step may follow."""
        if dout is None:
            self.bad = self.exchange.backward(None)
            return False
        ops = self.task.net.ops
        if weight != 1:
            dout = ops.copy_of(dout)
            ops.scale_by(dout, weight)
        return self.task.precision.backward(dout, self._back)

    def _back(self, dout):
        self.bad = self.exchange.backward(dout)

    def evaluate(self, evaluate, x, y):
        """Return evaluate(x, y), an Evaluation, of all rows x (n, ...) and y (n, ...): each rank looks at its part."""
        first, last = cuts(len(x), self.world.size)[self.world.rank : self.world.rank + 2]
        totals = np.zeros(2)
        if first < last:
            mine = evaluate(x[first:last], y[first:last])
            totals += mine.loss * weight_of(self.task.loss, x[first:last]), round(mine.accuracy * mine.count)
        self.world.all_reduce(totals)
        return Evaluation(float(totals[0]) / weight_of(self.task.loss, x), round(totals[1]) / len(x), len(x))

    def any(self, asked):
        """Return whether any rank asks to stop: then all do."""
        count = np.array([bool(asked)], np.int64)
        self.world.all_reduce(count)
        return bool(count[0])

    def same(self, content):
        """Return the bytes that rank 0 has."""
        return broadcast_bytes(self.world, content)

    def close(self):
        """Let the thread that sums gradients end. No errors."""
        self.exchange.close()


def shared(task):
    """Return what all ranks must have the same of, by name: settings, data, generators, weights. No errors.

    Source: the course's own.
    """
    steps = count_steps(len(task.x), task.batch_size, 1) * task.epochs
    stepping = getattr(task.optimiser, "inner", task.optimiser)  # of one that follows another, that one has the rule
    rule = {name: v for name, v in vars(stepping).items() if isinstance(v, int | float)}
    things = {
        "epochs": task.epochs,
        "batch_size": task.batch_size,
        "loss": task.loss,
        "lr": [rate(task.lr, step) for step in (0, steps - 1)],
        "precision": f"{task.precision.name}, loss scale {task.precision.scale.value:g}",
        "the layers": [layer.describe() for layer in task.net],
        "the optimiser": f"{type(task.optimiser).__name__} {rule}",
        "x": task.x,
        "y": task.y,
        **dict(zip(("validation's x", "validation's y"), task.validation or (), strict=False)),
    }
    to_host = task.net.ops.to_host
    for name, parameter in task.net.parameters().items():
        things[f"the weights, {name}"] = to_host(parameter)
    for kind, arrays in task.optimiser.state.items():
        for name, array in zip(task.net.parameters(), arrays, strict=True):
            things[f"the optimiser's {kind}, {name}"] = to_host(array)
    things["the generator rng"] = task.rng.bit_generator.state
    for place, layer in enumerate(task.net):
        if (rng := getattr(layer, "rng", None)) is not None:
            things[f"the generator of layer {place}, {layer.describe()}"] = rng.bit_generator.state
    return things
