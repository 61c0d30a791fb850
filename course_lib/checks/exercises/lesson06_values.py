"""Right values of the exercises of lesson 06, by the library, and by powers of a matrix.

Options are what the usual mistakes in `lesson06_mistakes` do otherwise.
"""

import numpy as np

from course_lib import reference as ops


def crowd(z, votes, count=len, shares=lambda votes: votes / votes.sum(axis=1, keepdims=True)):
    """Return the gradient of the scores where many have voted; `count` divides it."""
    k = ops.softmax(np.asarray(z, dtype=float))
    return ops.softmax_backward(-shares(np.asarray(votes)) / k / count(z), k)


def valley(w, curvature, lr, momentum, steps, late=False):
    """Return (steps + 1, n). One matrix takes (w, v) of a coordinate on; `late`: w moves by the velocity of before."""
    path = np.empty((steps + 1, len(w)))
    for i, c in enumerate(curvature):
        first = [1, 1] if late else [1 - lr * c, momentum]
        once = np.array([first, [-lr * c, momentum]])
        path[:, i] = [np.linalg.matrix_power(once, t)[0, 0] * w[i] for t in range(steps + 1)]
    return path


def batches(n, batch_size, rng):
    """Return the positions of the samples of each batch."""
    return np.split(rng.permutation(n), range(batch_size, n, batch_size))


def stop(losses, patience, since=lambda losses, i: i - int(np.argmin(losses[: i + 1]))):
    """Return how many epochs are run, and the best of them; `since` counts those without a new lowest loss."""
    over = (i + 1 for i in range(len(losses)) if since(losses, i) >= patience)
    run = next(over, len(losses))
    return run, int(np.argmin(losses[:run]))


def table(labels, answers, names):
    """Return (n, n), how often each label got each answer."""
    names = np.asarray(names)
    rows, columns = (np.equal.outer(names, of).astype(int) for of in (labels, answers))
    return rows @ columns.T


def per_class(labels, answers, names, of=lambda counts: counts.sum(axis=1), turn=False):
    """Return the table, and the share of right answers of each class."""
    counts = table(labels, answers, names)
    counts = counts.T if turn else counts
    return counts, np.diag(counts) / np.maximum(of(counts), 1)


def network(params):
    """Return (nn, net), the library's network with these weights."""
    from course_lib import nn  # it loads Numba, which the other exercises need not wait for

    sizes = [len(params[0]), len(params[1]), len(params[3])]
    net = nn.models.mlp(sizes, rng=np.random.default_rng(0), ops=ops, dtype=np.float64)
    for parameter, given in zip(net.parameters().values(), params, strict=True):
        parameter[...] = given
    return nn, net


def weights_and_accuracy(net, x_new, y_new):
    """Return a network's arrays and its share of right answers."""
    return list(net.parameters().values()), float((net.predict(x_new) == y_new).mean())


def trained(x, y, x_new, y_new, params, lr, momentum, batch_size, epochs, rng, restarts=False, judged=None):
    """Return what the library's training makes of the weights; `restarts`: velocities begin at 0 in each epoch."""
    nn, net = network(params)
    options = {"batch_size": batch_size, "lr": lr, "momentum": momentum, "rng": rng, "progress": False}
    for _ in range(epochs if restarts else 1):
        nn.train(net, (x, y), epochs=1 if restarts else epochs, **options)
    return weights_and_accuracy(net, *(judged or (x_new, y_new)))
