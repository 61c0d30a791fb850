"""Train and test a network: mini-batches, epochs, and when to stop.

Source: O, "Stochastic gradient descent" (mini-batch, epoch, when to terminate); K, "Training Using
Backpropagation" (forward, loss, backward, update, repeat).
"""

import contextlib
import numbers
import os
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from course_lib.fast.products import one_blas_thread
from course_lib.nn.checkpoint import content_of, restore, write
from course_lib.nn.epochs import Alone, Task, count_right, loss_of, weight_of
from course_lib.nn.finite import first_not_finite, require_finite_outputs
from course_lib.nn.graph import DIFFERENCES
from course_lib.nn.metrics import Evaluation
from course_lib.nn.optimisers import SGD, Optimiser
from course_lib.nn.precision import Precision
from course_lib.nn.schedules import count_steps, rate
from course_lib.validate import (
    NotFiniteError,
    as_float,
    as_labels,
    require_count,
    require_finite,
    require_rng,
)


@dataclass
class History:
    """What happened in training: one entry per epoch in each list.

    Attributes
    ----------
    loss, accuracy : list of float
        Over all samples of the epoch, taken batch by batch while the weights were changing, and with dropout. The loss
        is what it is by its formula: a mean over the samples, or, for "half_squared_sum", the sum over them.
    val_loss, val_accuracy : list of float
        After the epoch, on the validation data, as `evaluate` gives them; empty without any.
    best_epoch : int
        Epoch (from 0) with the lowest validation loss, or training loss without validation data.
    stopped_early : bool
    loss_scale : list of float
        After the epoch; 1 unless `precision` asks for another.
    skipped : int
        Steps that were left out since a gradient had overflowed.

    Source: O, "Stochastic gradient descent" (epoch).
    """

    loss: list = field(default_factory=list)
    accuracy: list = field(default_factory=list)
    val_loss: list = field(default_factory=list)
    val_accuracy: list = field(default_factory=list)
    best_epoch: int = 0
    stopped_early: bool = False
    loss_scale: list = field(default_factory=list)
    skipped: int = 0

    @property
    def epochs(self):
        """Number of epochs that were run."""
        return len(self.loss)

    def __repr__(self):
        if not self.loss:
            return "History(0 epochs)"
        validation = f", val_accuracy {self.val_accuracy[-1]:.4f}" if self.val_accuracy else ""
        return f"History({self.epochs} epochs, loss {self.loss[-1]:.4f}, accuracy {self.accuracy[-1]:.4f}{validation})"


def train(
    net,
    data,
    *,
    epochs,
    batch_size,
    lr,
    rng,
    momentum=0.0,
    weight_decay=0.0,
    optimiser=None,
    loss="softmax_cross_entropy",
    validation=None,
    early_stop=None,
    augment=None,
    on_epoch=None,
    progress="auto",
    record="auto",
    precision="float32",
    loss_scale=None,
    world=None,
    checkpoint=None,
    resume=False,
):
    """Train `net` in place by stochastic gradient descent and return its `History`.

    Every epoch draws a new order of the samples and cuts it into batches; the last one may be smaller. The data stay
    on the host: where `net.ops` computes on a device, each batch is copied there, and x must be float32. On a GPU steps
    are recorded, and the next batches loaded meanwhile: as fast as the device can, with equal bits.
    Equal arguments and an equal generator give equal weights, bit for bit, on the same machine, with any number of
    threads: NumPy's matrix products, whose bits depend on it, get one meanwhile, whatever the backend.

    With a `world` of ranks all of them call this, with equal networks, data, generators and settings. Each computes its
    part of every batch; histories and weights are those of one rank, up to rounding, with the same bits on all ranks
    and in every run of as many ranks.

    Parameters
    ----------
    net : Sequential
    data : object with x_train and y_train, or a pair (x, y)
        x (n, D); y (n,) int labels, or (n, C) targets for a loss that takes targets.
    epochs : int >= 1
        The most that are run.
    batch_size : int >= 1
    lr : float > 0, or function step -> rate
        The function gets the number of the batch, counted from 0 through all epochs; `nn.schedules` has such.
    rng : numpy.random.Generator
        Draws the order of the samples (and a validation set).
    momentum : float in [0, 1)
    weight_decay : float >= 0
        Of the weights, added to their gradient (L2); biases never decay.
    optimiser : Optimiser, optional
        Of this net, such as nn.Adam(net), instead of momentum and weight_decay. It goes on from where it is.
    loss : str
        Name of a loss in net.ops.
    validation : pair (x, y), object with x_test and y_test, or float in (0, 1), optional
        Data to judge each epoch by, or the share of the training data to set aside for that.
    early_stop : int >= 1, optional
        Stop after so many epochs without a lower loss (of the validation data if there is any), and go
        back to the best epoch's weights.
    augment : callable, optional
        augment(x, rng) returns a changed copy of a batch, such as `random_shifts(2)`; only the training
        data pass through it.
    on_epoch : callable, optional
        on_epoch(epoch, history) after each epoch; a true return value stops training.
    progress : "auto", True or False
        A progress bar; "auto" shows one unless the environment has COURSE_PROGRESS=0.
    record : "auto", True or False
        Whether steps on a device are recorded and replayed (`gpu.record`); "auto": on a GPU, where that can be done.
        Then augment sees each batch while earlier ones are still computed, and must keep the shape of the rows.
    precision : "float32", "bf16" or "fp16"
        What layers compute with in training: weights, activations and gradients are rounded to it, while the
        weights that are kept and the sums of an operation are float32 (`nn.precision`). Validation is in float32.
    loss_scale : float > 0, "auto", LossScale or None
        What the loss is multiplied by, and gradients divided by before the step; "auto" finds one, and None is that
        for "fp16", and 1 else. A step whose gradients are not finite is left out.
    world : parallel.World, optional
        The ranks that train together (`parallel.run` gives one to each).
    checkpoint : path, optional
        A file that gets all of the training's state after every epoch, completely or not at all; of several ranks
        rank 0 writes it.
    resume : bool
        Go on from the checkpoint, if there is one: to the same bits as without the stop, if the same calls came before.

    Returns
    -------
    History

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit, or record is True and a step cannot be recorded; the message names the values.
    NotFiniteError (a ValueError and a FloatingPointError)
        If x, y or the validation data hold NaN or infinity; if the loss of a batch is no longer a finite number, where
        the weights are left as they were before that batch; or if validation data or the last batch show that the
        weights have grown too large.
    CheckpointError (a ValueError)
        If the checkpoint to go on from is of another training, or none.
    parallel.RankError
        If ranks differ, or one ends or hangs; see `parallel.World`.

    Source: O, "Stochastic gradient descent".
    """
    loss_of(net.ops, loss)  # an unknown name is refused before the first step
    x, y = _pair(data, loss)
    epochs, batch_size = require_count("epochs", epochs), require_count("batch_size", batch_size)
    optimiser = _optimiser(net, optimiser, momentum, weight_decay)
    precision = Precision(net, precision, loss_scale)
    require_rng(rng)
    if early_stop is not None:
        early_stop = require_count("early_stop", early_stop)
    for name, function in (("augment", augment), ("on_epoch", on_epoch)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} is {function!r:.60}; it must be a function, or be left out.")
    (x, y), validation = _split(x, y, validation, rng, loss)
    for name, rows in (("x", x), ("validation's x", x if validation is None else validation[0])):
        require_finite(name, rows)
        if rows.shape[1:] != x.shape[1:]:
            raise ValueError(f"{name} is {rows.shape} and x is {x.shape}; they must agree in all but the rows.")
    batches = count_steps(len(x), batch_size, 1)
    for step in (0, epochs * batches - 1):  # refused now, not after an hour
        optimiser.check(rate(lr, step))
    task = Task(net, x, y, loss, batch_size, lr, optimiser, augment, precision, rng, epochs, validation)
    if resume and checkpoint is None:
        raise ValueError("resume is True, but there is no checkpoint to go on from: pass checkpoint=path as well.")
    history, best, best_params = History(), np.inf, None
    with (
        one_blas_thread(),
        contextlib.closing(_team(task, record, world)) as team,
        _progress_bar(epochs, progress if team.first else False) as bar,
    ):
        if resume and (content := team.same(content_of(checkpoint) if team.first else b"")):
            best, best_params = restore(content, checkpoint, task, history)
        bar.update(history.epochs)
        for epoch in range(history.epochs, 0 if history.stopped_early else epochs):
            team.epoch(epoch, history)
            if validation is not None:
                result = team.evaluate(partial(_evaluate_validation, net, loss), *validation)
                history.val_loss.append(result.loss)
                history.val_accuracy.append(result.accuracy)
            current = history.val_loss[-1] if validation is not None else history.loss[-1]
            if current < best:
                best, history.best_epoch = current, epoch
                if early_stop is not None:
                    best_params = [net.ops.copy_of(p) for p in net.parameters().values()]
            bar.set_postfix_str(f"loss {history.loss[-1]:.4f}")
            bar.update()
            asked = team.any(on_epoch is not None and on_epoch(epoch, history))
            history.stopped_early = asked or (early_stop is not None and epoch - history.best_epoch >= early_stop)
            if checkpoint is not None and team.first:
                write(checkpoint, task, history, best, best_params)
            if history.stopped_early:
                break
    if best_params is not None:
        for p, kept in zip(net.parameters().values(), best_params, strict=True):
            net.ops.assign(p, kept)
    # What the last batch did no loss has seen. On a device a look costs copies: there `evaluate` and `predict` tell it.
    on_host = all(isinstance(p, np.ndarray) for p in net.parameters().values())
    if on_host and (diverged := first_not_finite(net)):
        last = rate(lr, history.epochs * batches - 1)
        raise NotFiniteError(
            f"{diverged} holds NaN or infinity after the last batch, with lr={last:g}: the steps are too large. "
            "Try a learning rate ten times smaller, and inputs scaled to about [0, 1]."
        )
    return history


def _team(task, record, world):
    """Return who trains: this process alone, or all ranks of a world."""
    if world is None:
        return Alone(task, record)
    from course_lib.parallel.epochs import Team  # it is written against this package

    return Team(task, world, record)


def _evaluate_validation(net, loss, x, y):
    return _evaluate(net, x, y, 1000, loss, "validation's x")


def _optimiser(net, optimiser, momentum, weight_decay):
    """Return the optimiser that was given, if it is one of this net, or the one of momentum and weight decay."""
    if optimiser is None:
        return SGD(net, momentum, weight_decay)
    if not isinstance(optimiser, Optimiser):
        raise TypeError(f"optimiser is {optimiser!r:.60}; it must be one of this network, such as nn.Adam(net).")
    if optimiser.net is not net:
        raise ValueError("optimiser belongs to another network; make one of this, such as nn.Adam(net).")
    if momentum or weight_decay:
        raise ValueError(
            f"momentum is {momentum} and weight_decay is {weight_decay} beside an optimiser; tell them to it, as in "
            "nn.SGD(net, momentum=0.9) or nn.Adam(net, weight_decay=0.01)."
        )
    return optimiser


def evaluate(net, x, y, *, batch_size=1000, loss="softmax_cross_entropy"):
    """Return the loss and the accuracy of `net` on data it need not have seen.

    The loss is the one of all n samples at once: their mean, or, for "half_squared_sum", their sum.

    Parameters
    ----------
    net : Sequential
    x : (n, D) array, n >= 1
    y : (n,) int labels, or (n, C) targets
    batch_size : int >= 1
        Only bounds the memory.
    loss : str
        Name of a loss in net.ops.

    Returns
    -------
    Evaluation

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit.
    NotFiniteError (a ValueError and a FloatingPointError)
        If x or y holds NaN or infinity, or the network's outputs do: such rows have no class. The message says why.

    Source: K, "Supervised Learning Workflow" (training and testing).
    """
    loss_of(net.ops, loss)
    x, y = _pair((x, y), loss)
    return _evaluate(net, x, y, require_count("batch_size", batch_size), loss, "x")


def _evaluate(net, x, y, batch_size, loss, name):
    ops = net.ops
    loss_forward, _ = loss_of(ops, loss)
    total = right = 0.0
    with one_blas_thread():
        for start in range(0, len(x), batch_size):
            inputs, target = x[start : start + batch_size], y[start : start + batch_size]
            scores = net.forward(ops.to_backend(inputs))
            out = ops.to_host(scores)
            require_finite_outputs(net, inputs, out, name=name, first=start)
            total += loss_forward(scores, ops.to_backend(target))[0] * weight_of(loss, target)
            right += count_right(net, out, target)
    if not np.isfinite(total):
        raise NotFiniteError(f"the loss {loss} of {name} is {total}: the outputs lie too far from what they should be.")
    return Evaluation(total / weight_of(loss, x), right / len(x), len(x))


def _pair(data, loss, name="data", part="train", other=""):
    if isinstance(data, tuple) and len(data) == 2:
        x, y = data
    elif hasattr(data, f"x_{part}") and hasattr(data, f"y_{part}"):
        x, y = getattr(data, f"x_{part}"), getattr(data, f"y_{part}")
    else:
        wanted = f"it must have x_{part} and y_{part}, or be a pair (x, y){other}"
        raise TypeError(f"{name} is {type(data).__name__}; {wanted}.")
    x = as_float("x", x, min_rows=1)
    # Some losses compare numbers, the others take class numbers: each says what is wrong with the y that was given.
    y = as_float("y", y) if loss in DIFFERENCES else as_labels("y", y)
    require_finite("y", y)
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} rows and y has {len(y)}; there must be one y for each row of x.")
    return x, y


def _split(x, y, validation, rng, loss):
    if validation is None:
        return (x, y), None
    if isinstance(validation, numbers.Real) and not isinstance(validation, bool):
        count = round(len(x) * validation) if 0 < validation < 1 else 0  # NaN and infinity are no share either
        if not 0 < count < len(x):
            raise ValueError(f"validation is {validation:g} of {len(x)} rows; it must leave rows on both sides.")
        order = rng.permutation(len(x))
        return (x[order[count:]], y[order[count:]]), (x[order[:count]], y[order[:count]])
    return (x, y), _pair(validation, loss, "validation", "test", ", or a share of the training data such as 0.2")


def _progress_bar(epochs, progress):
    show = os.environ.get("COURSE_PROGRESS") != "0" if progress == "auto" else bool(progress)
    if show:  # here, because it is slow to import and not needed for the mathematics
        from tqdm.auto import tqdm
    else:  # where nothing is shown, a missing widget is no reason for a warning
        from tqdm import tqdm
    return tqdm(total=epochs, unit="epoch", disable=not show, leave=False)
