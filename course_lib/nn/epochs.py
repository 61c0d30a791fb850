"""One epoch of training: every sample once, batch after batch, step by step or by steps that are recorded.

Source: O, "Stochastic gradient descent" (mini-batch, epoch); K, "Training Using Backpropagation" (forward, loss,
backward, update, repeat).
"""

from dataclasses import dataclass

import numpy as np

from course_lib.nn.recorded import RecordedEpochs, why_not
from course_lib.nn.schedules import count_steps, rate
from course_lib.validate import NotFiniteError, as_float, require_choice, require_finite


@dataclass(eq=False)
class Task:
    """What is trained, on what, and how: the arguments of `train`, checked.

    Source: the course's own.
    """

    net: object
    x: np.ndarray
    y: np.ndarray
    loss: str
    batch_size: int
    lr: object
    optimiser: object
    augment: object
    precision: object
    rng: object
    epochs: int
    validation: object

    @property
    def targets(self):
        """What the loss will be asked for: y, and that of the validation data (x, y) if there are some."""
        return [self.y] if self.validation is None else [self.y, self.validation[1]]

    def rate(self, epoch, batch):
        """Return the learning rate of a batch of an epoch."""
        return rate(self.lr, epoch * count_steps(len(self.x), self.batch_size, 1) + batch)


class Alone:
    """Training by this process alone: what `train` asks of whoever trains. `parallel.epochs.Team` is the other one.

    Parameters
    ----------
    task : Task
    record : "auto", True or False

    Errors as `trainer`. Source: the course's own.
    """

    first = True
    """Whether this is the one that shows progress and writes checkpoints."""

    def __init__(self, task, record):
        self.epoch = trainer(task, record)

    def evaluate(self, evaluate, x, y):
        """Return evaluate(x, y), an Evaluation of rows x (n, ...) and y (n, ...)."""
        return evaluate(x, y)

    def any(self, asked):
        """Return whether anybody asks to stop."""
        return bool(asked)

    def same(self, content):
        """Return the bytes that the first one has."""
        return content

    def close(self):
        """Do nothing: there is nobody to take leave of."""


def records(task, record):
    """Return whether steps are to be recorded; ValueError if `record` is True and they cannot be.

    Source: the course's own.
    """
    if record != "auto" and not isinstance(record, bool):
        raise ValueError(f'record is {record!r:.40}; it must be "auto", True or False.')
    reason = why_not(task.net, task.loss, task.optimiser, task.precision)
    if record is True and reason:
        raise ValueError(f"record is True, and a step cannot be recorded: {reason}. Leave record out.")
    return not reason and (record is True or (record == "auto" and task.net.ops.RecordedSteps.worth_it()))


def trainer(task, record):
    """Return what trains an epoch, a function (epoch, history); errors as `records`. Source: the course's own."""
    if not records(task, record):
        return lambda epoch, history: _train(task, epoch, history)
    net = task.net
    out = net.ops.to_host(net.forward(net.ops.to_backend(task.x[: task.batch_size])))
    rehearse(net.ops, loss_of(net.ops, task.loss)[0], out, task.targets)  # before the first step changes a weight
    in_order = task.augment is not None
    recorded = RecordedEpochs(net, task.optimiser, len(task.x), task.batch_size, task.x.shape[1:], in_order)
    return lambda epoch, history: _train_recorded(task, recorded, epoch, history)


def _train(task, epoch, history):
    """Show every sample once, a batch at a time: forward, loss, backward, update (K).

    On a device: two copies there, the batch and its targets; two copies back, the output for the accuracy, the loss.
    """
    net, x, y, ops, precision = task.net, task.x, task.y, task.net.ops, task.precision
    loss_forward, loss_backward = loss_of(ops, task.loss)
    total_loss = total_right = 0.0
    order = task.rng.permutation(len(x))
    for start in range(0, len(x), task.batch_size):
        batch = order[start : start + task.batch_size]
        speed = task.rate(epoch, start // task.batch_size)
        inputs = x[batch] if task.augment is None else augmented(task.augment, x[batch], task.rng)
        with net.training(), precision.rounding():
            scores = net.forward(ops.to_backend(inputs))
        out = ops.to_host(scores)
        if epoch == start == 0:
            rehearse(ops, loss_forward, out, task.targets)  # before the first step changes a weight
        # What has grown beyond all numbers has no loss; a loss of probabilities would refuse it with another message.
        finite = np.isfinite(out).all()
        value, cache = loss_forward(scores, ops.to_backend(y[batch])) if finite else (np.nan, None)
        require_finite_loss(value, epoch, start // task.batch_size, speed)
        net.renew_grad()
        if precision.backward(loss_backward(cache)):
            task.optimiser.step(speed)
        total_loss += value * weight_of(task.loss, batch)
        total_right += count_right(net, out, y[batch])
    history.loss.append(total_loss / weight_of(task.loss, x))
    history.accuracy.append(total_right / len(x))
    history.loss_scale.append(precision.scale.value)
    history.skipped = precision.scale.skipped


def _train_recorded(task, recorded, epoch, history):
    """As `_train`; what came of the steps is asked at the end."""
    x, y, order = task.x, task.y, task.rng.permutation(len(task.x))

    def fill(first, inputs, labels):
        batch = order[first : first + len(labels)]
        labels[...] = y[batch]
        if task.augment is None:
            np.take(x, batch, axis=0, out=inputs, mode="clip")  # the other modes make a copy first
        else:
            inputs[...] = of_shape(augmented(task.augment, x[batch], task.rng), inputs, task.net.ops)

    run_recorded(task, recorded, fill, epoch, history)


def run_recorded(task, recorded, fill, epoch, history):
    """Train an epoch by recorded steps, and note in the history what came of them; NotFiniteError as `train`.

    Parameters
    ----------
    task : Task
    recorded : RecordedEpochs
    fill : function
        As `recorded.run` takes it.
    epoch : int
    history : History

    Errors of `fill`, too. Source: the course's own.
    """
    rates = [task.rate(epoch, batch) for batch in range(len(recorded.sizes))]
    losses, right = recorded.run(rates, fill)
    require_finite_loss(losses[-1], epoch, len(losses) - 1, rates[len(losses) - 1])
    history.loss.append(sum(loss * size for loss, size in zip(losses, recorded.sizes, strict=True)) / len(task.x))
    history.accuracy.append(sum(right) / len(task.x))
    history.loss_scale.append(task.precision.scale.value)


def of_shape(changed, inputs, ops):
    """Return what augment made, if it has dtype and shape of the inputs (B, ...); TypeError or ValueError.

    Source: the course's own.
    """
    if changed.dtype != np.float32:
        ops.to_backend(changed)  # it says what is wrong
    if changed.shape != inputs.shape:
        raise ValueError(
            f"augment made {changed.shape} of a batch {inputs.shape}; recorded steps need one shape. Pass record=False."
        )
    return changed


def require_finite_loss(value, epoch, batch, speed):
    """Raise NotFiniteError, with what to do, if the loss of a batch is no finite number. Source: the course's own."""
    if not np.isfinite(value):
        raise NotFiniteError(
            f"the loss became {value} in epoch {epoch}, batch {batch}, with lr={speed:g}: the steps are too large. Try "
            "a learning rate ten times smaller, and inputs scaled to about [0, 1]."
        )


def augmented(augment, x, rng):
    """Return augment(x, rng) for a batch x (B, ...); TypeError or ValueError, naming augment, if that is no such batch.

    Source: the course's own.
    """
    changed = augment(x, rng)
    if np.shape(changed)[:1] != x.shape[:1]:
        found = "None; does it lack a return?" if changed is None else f"shape {np.shape(changed)}."
        raise ValueError(f"augment was given {len(x)} rows, {x.shape}, and must return as many; it gave {found}")
    changed = as_float("what augment returned", changed)
    require_finite("what augment returned", changed)
    return changed


def weight_of(loss, rows):
    """Return what a batch counts: a sum adds over batches, a mean over rows is weighted by the rows of each batch.

    No errors. Source: the course's own.
    """
    return 1 if loss == "half_squared_sum" else len(rows)


def loss_of(ops, name):
    """Return (forward, backward) of a loss; ValueError for an unknown name. Source: the course's own."""
    require_choice("loss", name, ops.LOSSES)
    return getattr(ops, f"{name}_forward"), getattr(ops, f"{name}_backward")


def rehearse(ops, loss_forward, out, targets):
    """Raise what the loss would raise in some later batch, for all targets (n, ...), with their real row numbers.

    out (B, ...) is an output of the network. Source: the course's own.
    """
    for y in targets:
        even = np.full((len(y), *out.shape[1:]), 1 / max(out[0].size, 1), out.dtype)
        loss_forward(ops.to_backend(even), ops.to_backend(y))


def count_right(net, out, target):
    """Return how many rows have the right class; with one output, how many lie on the right side of 1/2. No errors.

    Source: the course's own.
    """
    if out.ndim == 2 and out.shape[1] == 1:
        return int(np.sum((out >= 0.5) == (np.reshape(target, out.shape) >= 0.5)))
    classes = target if target.ndim == 1 else target.argmax(axis=-1)
    return int(np.sum(net.best(out) == classes))
