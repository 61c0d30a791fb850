"""Usual mistakes in the exercises of lesson 06 that leave a recognisable value, and what is said of each."""

import numpy as np

from course_lib import reference as ops
from course_lib.checks.exercise import Cause
from course_lib.checks.exercises.lesson06_values import (
    batches,
    crowd,
    network,
    per_class,
    stop,
    table,
    trained,
    valley,
    weights_and_accuracy,
)


def _shifted(z, tau, by):
    """Softmax whose scores are divided by tau and then lowered by by(scores), whatever that leads to."""
    z = np.asarray(z, dtype=float) / tau
    powers = np.exp(z - by(z))
    return powers / powers.sum(axis=1, keepdims=True)


SOFTEN = (
    Cause("The scores are to be divided by tau, not multiplied.", lambda z, tau: ops.softmax(z * float(tau))),
    Cause(
        "The temperature has no effect: a factor behind the power cancels in the fraction.",
        lambda z, tau: ops.softmax(np.asarray(z, dtype=float)),
    ),
    Cause(
        "Each row has to add up to 1, not each column.",
        lambda z, tau: ops.softmax(np.asarray(z, dtype=float).T / tau).T,
    ),
    Cause(
        "Each row has to add up to 1, not the whole batch.",
        lambda z, tau: ops.softmax(np.ravel(z) / tau).reshape(np.shape(z)),
    ),
    Cause(
        "One maximum was subtracted from the whole batch, and far below it all powers of a row are 0: each row "
        "needs its own maximum.",
        lambda z, tau: _shifted(z, tau, np.max),
    ),
    Cause(
        "The maximum of each column was subtracted: each row needs its own.",
        lambda z, tau: _shifted(z, tau, lambda z: z.max(axis=0)),
    ),
    Cause(
        "Less than the row's largest was subtracted, so that powers still overflow: subtract the largest.",
        lambda z, tau: _shifted(z, tau, lambda z: z.min(axis=1, keepdims=True)),
    ),
    Cause(
        "Less than the row's largest was subtracted, so that powers still overflow: subtract the largest.",
        lambda z, tau: _shifted(z, tau, lambda z: z.mean(axis=1, keepdims=True)),
    ),
    Cause(
        "All powers of a row overflow, or are 0: first divide by tau, then subtract the row's largest, then "
        "take the powers.",
        lambda z, tau: _shifted(z, tau, lambda z: 0),
    ),
    Cause(
        "These are the powers; each row has to be divided by its sum.",
        lambda z, tau: np.exp(np.asarray(z, float) / tau - np.max(z, axis=1, keepdims=True) / tau),
    ),
    Cause(
        "These are the logarithms of the probabilities.",
        lambda z, tau: np.log(ops.softmax(np.asarray(z, float) / tau)),
    ),
)


def _majority(votes):
    return np.eye(votes.shape[1])[votes.argmax(axis=1)]


def _own_probability_only(z, votes):
    """Each score is said to act on its own probability alone: the Jacobian without what is off its diagonal."""
    k = ops.softmax(np.asarray(z, dtype=float))
    return -_shares(votes) * (1 - k) / len(z)


def _shares(votes):
    return votes / np.sum(votes, axis=1, keepdims=True)


def _by_vote(z, votes, count):
    """Every vote counts as an image of its own."""
    k = ops.softmax(np.asarray(z, dtype=float))
    return (np.sum(votes, axis=1, keepdims=True) * k - votes) / count


CROWD = (
    Cause(
        "Votes are counts; make shares of them, row by row, before you compare them with probabilities.",
        lambda z, votes: (ops.softmax(np.asarray(z, dtype=float)) - votes) / len(z),
    ),
    Cause(
        "The loss is a mean over the images; this is the gradient of their sum.",
        lambda z, votes: crowd(z, votes, count=lambda z: 1),
    ),
    Cause(
        "The mean is over the images, not over images and classes.",
        lambda z, votes: crowd(z, votes, count=np.size),
    ),
    Cause(
        "Only the class with most votes was used; the others' votes count too.",
        lambda z, votes: crowd(z, votes, shares=_majority),
    ),
    Cause(
        "Each image's votes have their own total; they were divided by that of all images.",
        lambda z, votes: (ops.softmax(np.asarray(z, dtype=float)) - votes / np.sum(votes)) / len(z),
    ),
    Cause(
        "The votes of an image are its row; they were divided by the totals of the classes, the columns.",
        lambda z, votes: (ops.softmax(np.asarray(z, dtype=float)) - votes / np.sum(votes, axis=0)) / len(z),
    ),
    Cause(
        "The total of an image divided the votes of a class: keep the totals as a column, with keepdims=True.",
        lambda z, votes: (ops.softmax(np.asarray(z, dtype=float)) - votes / np.sum(votes, axis=1)) / len(z),
    ),
    Cause(
        "Softmax goes row by row; here each class was shared out among the images.",
        lambda z, votes: (ops.softmax(np.asarray(z, dtype=float).T).T - _shares(votes)) / len(z),
    ),
    Cause(
        "This is the gradient for the probabilities k; go on through softmax to the scores z.",
        lambda z, votes: -_shares(votes) / ops.softmax(np.asarray(z, dtype=float)) / len(z),
    ),
    Cause(
        "Every score acts on all probabilities of its row, not only on its own.",
        _own_probability_only,
    ),
    Cause(
        "The mean is over the images; this divides by the number of votes.",
        lambda z, votes: crowd(z, votes, count=lambda z: np.sum(votes)),
    ),
    Cause(
        "Every image counts once, however many people voted on it.",
        lambda z, votes: _by_vote(z, votes, np.sum(votes)),
    ),
    Cause(
        "An image with more votes weighs more here: make shares of the votes, and leave k as it is.",
        lambda z, votes: _by_vote(z, votes, len(z)),
    ),
)


def _walked(w, curvature, lr, momentum, steps, slope=lambda c, w, v, start: c * w, kept=lambda v, w: w):
    """The path with another slope, or with something else kept of each step."""
    start = w = np.asarray(w, dtype=float)
    v, path = np.zeros(len(w)), [w]
    for _ in range(steps):
        v = momentum * v - lr * slope(curvature, w, v, start)
        w = w + v
        path.append(kept(v, w))
    return np.array(path)


def _in_whole_numbers(w, curvature, lr, momentum, steps):
    """The path, kept in an array of the start's dtype: whole numbers lose their fractions at every step."""
    path, v = np.zeros((steps + 1, len(w)), dtype=np.asarray(w).dtype), np.zeros(len(w))
    path[0] = w
    for t in range(steps):
        v = momentum * v - lr * curvature * path[t]
        path[t + 1] = path[t] + v
    return path.astype(float)


VALLEY = (
    Cause(
        "The weight has to move by the new velocity; it moved by the one of the step before.",
        lambda *args: valley(*args, late=True),
    ),
    Cause(
        "The gradient enters with lr alone, not with lr (1 - momentum).",
        lambda w, c, lr, momentum, steps: valley(w, c, lr * (1 - momentum), momentum, steps),
    ),
    Cause(
        "Nothing is left of the last step: is the velocity kept from step to step?",
        lambda w, c, lr, momentum, steps: valley(w, c, lr, 0.0, steps),
    ),
    Cause(
        "This climbs: the velocity follows the gradient instead of going against it.",
        lambda w, c, lr, momentum, steps: valley(w, c, -lr, momentum, steps),
    ),
    Cause(
        "lr and momentum are exchanged.",
        lambda w, c, lr, momentum, steps: valley(w, c, momentum, lr, steps),
    ),
    Cause(
        "The gradient belongs to the weights of the moment; this is always that of the start.",
        lambda *args: _walked(*args, slope=lambda c, w, v, start: c * start),
    ),
    Cause(
        "The gradient of 1/2 c w^2 is c w; the 2 of the square cancels the half.",
        lambda *args: _walked(*args, slope=lambda c, w, v, start: 2 * c * w),
    ),
    Cause(
        "This goes along the loss, 1/2 c w^2, and not along its gradient.",
        lambda *args: _walked(*args, slope=lambda c, w, v, start: c * w**2 / 2),
    ),
    Cause(
        "The curvature is left out: the gradient is c w.",
        lambda *args: _walked(*args, slope=lambda c, w, v, start: w),
    ),
    Cause(
        "The gradient was taken where the velocity would lead; the lesson's rule takes it where w is.",
        lambda w, c, lr, momentum, steps: _walked(
            w, c, lr, momentum, steps, slope=lambda c, w, v, start: c * (w + momentum * v)
        ),
    ),
    Cause(
        "These are the velocities; the path is made of the weights.",
        lambda *args: _walked(*args, kept=lambda v, w: v),
    ),
    Cause(
        "All rows are the last weights: the same array was stored again and again, and changed in place.",
        lambda *args: np.tile(valley(*args)[-1], (args[-1] + 1, 1)),
    ),
    Cause(
        "An array of whole numbers keeps no fractions; let the path hold floats.",
        _in_whole_numbers,
    ),
    Cause("The start is missing: it is the first row.", lambda *args: valley(*args)[1:]),
    Cause("This is the end of the path; return all of it.", lambda *args: valley(*args)[-1]),
    Cause("Each row is one moment, each column one weight; here they are exchanged.", lambda *a: valley(*a).T),
)

BATCHES = (
    Cause(
        "The last samples are left out; the last batch may be smaller.",
        lambda n, size, rng: batches(n, size, rng)[: n // size],
    ),
    Cause(
        "The samples stand in their old order.",
        lambda n, size, rng: np.split(np.arange(n), range(size, n, size)),
    ),
    Cause(
        "All batches but the last have exactly batch_size samples; these were made equally long.",
        lambda n, size, rng: np.array_split(rng.permutation(n), -(-n // size)),
    ),
    Cause(
        "Draw one order for the epoch and cut it; with a draw for each batch, samples come twice or never.",
        lambda n, size, rng: [rng.permutation(n)[: min(size, n - at)] for at in range(0, n, size)],
    ),
    Cause(
        "batch_size is how many samples a batch has, not how many batches there are.",
        lambda n, size, rng: np.array_split(rng.permutation(n), size),
    ),
    Cause(
        "A slice ends where the next batch begins, at start + batch_size.",
        lambda n, size, rng: [order[at:size] for order in [rng.permutation(n)] for at in range(0, n, size)],
    ),
    Cause(
        "The last batch is filled up with samples that had their turn; it may be smaller.",
        lambda n, size, rng: [
            order[min(at, max(n - size, 0)) :][:size] for order in [rng.permutation(n)] for at in range(0, n, size)
        ],
    ),
    Cause(
        "The batches overlap: the next one begins batch_size places further on.",
        lambda n, size, rng: [order[at : at + size] for order in [rng.permutation(n)] for at in range(n)],
    ),
)


def _latest_best(losses, patience):
    run, _ = stop(losses, patience)
    return run, max(i for i in range(run) if losses[i] == min(losses[:run]))


def _since_a_fall(losses, i):
    falls = [j for j in range(1, i + 1) if losses[j] < losses[j - 1]]
    return i - max(falls, default=0)


def _failures(losses, i):
    return sum(losses[j] >= min(losses[:j]) for j in range(1, i + 1))


def _last_lowest(losses, i):
    return i - max(j for j in range(i + 1) if losses[j] == min(losses[: i + 1]))


STOP = (
    Cause(
        "Compare with the lowest loss so far, not with the epoch before.",
        lambda losses, patience: stop(losses, patience, _since_a_fall),
    ),
    Cause(
        "Failures count only in a row: after a new lowest loss the count begins again.",
        lambda losses, patience: stop(losses, patience, _failures),
    ),
    Cause(
        "A loss that is only as low as the lowest is not better.",
        lambda losses, patience: stop(losses, patience, _last_lowest),
    ),
    Cause(
        "That is one epoch more than there is patience for.",
        lambda losses, patience: stop(losses, patience + 1),
    ),
    Cause(
        "The best epoch is looked for among those that were run.",
        lambda losses, patience: (stop(losses, patience)[0], int(np.argmin(losses))),
    ),
    Cause(
        "The first number is how many epochs were run; the position of the last one is one less.",
        lambda losses, patience: (stop(losses, patience)[0] - 1, stop(losses, patience)[1]),
    ),
    Cause(
        "The two numbers are exchanged: first how many epochs are run, then the best of them.",
        lambda losses, patience: stop(losses, patience)[::-1],
    ),
    Cause(
        "The best epoch is counted from 0, so that the first is epoch 0.",
        lambda losses, patience: (stop(losses, patience)[0], stop(losses, patience)[1] + 1),
    ),
    Cause(
        "The second number is the place of the lowest loss, not that loss.",
        lambda losses, patience: (stop(losses, patience)[0], min(losses[: stop(losses, patience)[0]])),
    ),
    Cause("Of equally low losses, the earliest is the best.", _latest_best),
    Cause(
        "That is one epoch less than there is patience for.",
        lambda losses, patience: stop(losses, max(patience - 1, 1)),
    ),
    Cause(
        "That is the end of the list; a training that stops early does not see all of it.",
        lambda losses, patience: (len(losses), int(np.argmin(losses))),
    ),
)

PER_CLASS = (
    Cause(
        "Rows are the labels and columns the answers; these are the other way round.",
        lambda labels, answers, names: per_class(labels, answers, names, turn=True),
    ),
    Cause(
        "A share is of the images that have this label, not of those that were read as it.",
        lambda labels, answers, names: per_class(labels, answers, names, lambda counts: counts.sum(axis=0)),
    ),
    Cause(
        "A share is of the images of one class, not of all images.",
        lambda labels, answers, names: per_class(labels, answers, names, np.sum),
    ),
    Cause(
        "Rows and columns stand in the order of names.",
        lambda labels, answers, names: per_class(labels, answers, sorted(names)),
    ),
    Cause(
        "The two are exchanged: first the counts, then the shares.",
        lambda labels, answers, names: per_class(labels, answers, names)[::-1],
    ),
    Cause(
        "A class without images divides 0 by 0 here; its share is to be 0.",
        lambda labels, answers, names: (
            table(labels, answers, names),
            np.diag(table(labels, answers, names)) / table(labels, answers, names).sum(axis=1),
        ),
    ),
    Cause(
        "These are the shares of wrong answers.",
        lambda labels, answers, names: (
            table(labels, answers, names),
            1 - per_class(labels, answers, names)[1],
        ),
    ),
    Cause(
        "Shares lie between 0 and 1; these are percentages.",
        lambda labels, answers, names: (
            table(labels, answers, names),
            100 * per_class(labels, answers, names)[1],
        ),
    ),
    Cause(
        "Each pair of label and answer is counted once: `counts[rows, columns] += 1` adds only once to a place "
        "that comes several times.",
        lambda labels, answers, names: (
            counts := np.minimum(table(labels, answers, names), 1),
            np.diag(counts) / np.maximum(counts.sum(axis=1), 1),
        ),
    ),
)


class _Orders(np.random.Generator):
    """A generator whose permutations are chosen by choose(the usual one, n)."""

    def __init__(self, rng, choose):
        super().__init__(rng.bit_generator)
        self._choose = choose

    def permutation(self, n):
        return self._choose(super().permutation, n)


def _trained_through(layer, *args):
    """`trained` with another layer in the place of ReLU."""
    x, y, x_new, y_new, params, lr, momentum, batch_size, epochs, rng = args
    nn, net = network(params)
    odd = nn.Sequential(net[0], layer(nn), net[2], ops=ops)
    nn.train(odd, (x, y), epochs=epochs, batch_size=batch_size, lr=lr, momentum=momentum, rng=rng, progress=False)
    return weights_and_accuracy(odd, x_new, y_new)


def _without_slope(nn):
    class WithoutSlope(nn.ReLU):
        def backward(self, dout, *args, **options):
            return dout

    return WithoutSlope()


def _stepped(*args, change):
    """Training whose gradient of the scores is change(scores, labels)."""
    x, y, x_new, y_new, params, lr, momentum, batch_size, epochs, rng = args
    net = network(params)[1]
    own = list(net.parameters().values())
    velocities = [np.zeros_like(p) for p in own]
    for batch in [part for _ in range(epochs) for part in batches(len(x), batch_size, rng)]:
        net.zero_grad()
        scores = net.forward(x[batch])
        net.backward(change(scores, y[batch]))
        ops.sgd_step(own, list(net.gradients().values()), lr, momentum, velocities)
    return weights_and_accuracy(net, x_new, y_new)


def _back_through_new_weights(*args):
    """The last layer steps before the gradients go back through it."""
    x, y, x_new, y_new, params, lr, momentum, batch_size, epochs, rng = args
    net = network(params)[1]
    velocities = {layer: [np.zeros_like(p) for p in layer.params.values()] for layer in net if layer.params}
    for batch in [part for _ in range(epochs) for part in batches(len(x), batch_size, rng)]:
        net.zero_grad()
        cache = ops.softmax_cross_entropy_forward(net.forward(x[batch]), y[batch])[1]
        dout = ops.softmax_cross_entropy_backward(cache)
        net[2].backward(dout)
        for layer, hidden in ((net[2], None), (net[0], net[1])):
            if hidden is not None:
                layer.backward(hidden.backward(dout @ net[2].params["w"].T))
            ops.sgd_step(list(layer.params.values()), list(layer.grads.values()), lr, momentum, velocities[layer])
    return weights_and_accuracy(net, x_new, y_new)


def _mean_of_bias_gradients(*args):
    """The biases' gradients are divided by the batch once more."""
    x, y, x_new, y_new, params, lr, momentum, batch_size, epochs, rng = args
    net = network(params)[1]
    own = list(net.parameters().values())
    velocities = [np.zeros_like(p) for p in own]
    for batch in [part for _ in range(epochs) for part in batches(len(x), batch_size, rng)]:
        net.zero_grad()
        cache = ops.softmax_cross_entropy_forward(net.forward(x[batch]), y[batch])[1]
        net.backward(ops.softmax_cross_entropy_backward(cache))
        gradients = [g / len(batch) if g.ndim == 1 else g for g in net.gradients().values()]
        ops.sgd_step(own, gradients, lr, momentum, velocities)
    return weights_and_accuracy(net, x_new, y_new)


def _with_a_wrong_rest(x, y, x_new, y_new, params, lr, momentum, batch_size, epochs, rng, factor):
    """Training whose last, smaller batch is divided by batch_size (factor 1), or left out (factor 0)."""
    net = network(params)[1]
    own = list(net.parameters().values())
    velocities = [np.zeros_like(p) for p in own]
    for batch in [part for _ in range(epochs) for part in batches(len(x), batch_size, rng)]:
        weight = 1 if len(batch) == batch_size else factor * len(batch) / batch_size
        if weight:
            net.zero_grad()
            scores = ops.softmax_cross_entropy_forward(net.forward(x[batch]), y[batch])[1]
            net.backward(weight * ops.softmax_cross_entropy_backward(scores))
            ops.sgd_step(own, list(net.gradients().values()), lr, momentum, velocities)
    return weights_and_accuracy(net, x_new, y_new)


def _trained_in(choose):
    """`trained` with other permutations: choose() -> what `_Orders` is given."""
    return lambda *args: trained(*args[:-1], _Orders(args[-1], choose()))


def _always_the_first():
    kept = {}
    return lambda usual, n: kept.setdefault(n, usual(n))


TRAINING = (
    Cause(
        "Velocities begin at 0 once, before the first epoch; here they begin again in each.",
        lambda *args: trained(*args, restarts=True),
    ),
    Cause(
        "Each epoch needs a new order of the samples, drawn with rng.permutation; here they keep theirs.",
        _trained_in(lambda: lambda usual, n: np.arange(n)),
    ),
    Cause(
        "Each epoch needs a new order of the samples; the first one was used again.",
        _trained_in(_always_the_first),
    ),
    Cause(
        "The last, smaller batch was left out.",
        lambda *args: _with_a_wrong_rest(*args, factor=0),
    ),
    Cause(
        "A mean divides by the number of samples; the last batch may have fewer than batch_size.",
        lambda *args: _with_a_wrong_rest(*args, factor=1),
    ),
    Cause(
        "The steps are batch_size times too long: the loss is a mean over the batch.",
        lambda *a: trained(*a[:5], a[5] * a[7], *a[6:]),
    ),
    Cause("That is training without momentum.", lambda *a: trained(*a[:6], 0.0, *a[7:])),
    Cause("The accuracy is that on the training samples.", lambda *a: trained(*a, judged=a[:2])),
    Cause("The two are exchanged: first the list of arrays, then the accuracy.", lambda *a: trained(*a)[::-1]),
    Cause(
        "The accuracy is a share, between 0 and 1; this is the number of right answers.",
        lambda *a: (trained(*a)[0], trained(*a)[1] * len(a[3])),
    ),
    Cause(
        "The accuracy is a share, between 0 and 1; this is a percentage.",
        lambda *a: (trained(*a)[0], 100 * trained(*a)[1]),
    ),
    Cause(
        "w2 has made its step before the gradients went back through it: first all four gradients, then all "
        "four steps.",
        _back_through_new_weights,
    ),
    Cause("The slope of ReLU is missing on the way back.", lambda *a: _trained_through(_without_slope, *a)),
    Cause(
        "The gradient of the scores is that of softmax and cross-entropy, (k - onehot) / B; here the scores "
        "themselves stand in the place of k.",
        lambda *a: _stepped(*a, change=lambda g, y: (g - np.eye(g.shape[1])[y]) / len(y)),
    ),
    Cause(
        "This climbs: the step goes along the gradient instead of against it.",
        lambda *a: _stepped(*a, change=lambda g, y: (np.eye(g.shape[1])[y] - ops.softmax(g)) / len(y)),
    ),
    Cause(
        "The gradient of a bias is the sum over the batch; it has been divided already, with the scores'.",
        _mean_of_bias_gradients,
    ),
    Cause(
        "The gradient enters with lr alone, not with lr (1 - momentum).",
        lambda *a: trained(*a[:5], a[5] * (1 - a[6]), *a[6:]),
    ),
    Cause(
        "The slope of ReLU at 0 exactly counts as 0; here it was 1.",
        lambda *a: trained(*a[:4], (a[4][0], a[4][1] + 1e-300, *a[4][2:]), *a[5:]),  # just above 0
    ),
)
