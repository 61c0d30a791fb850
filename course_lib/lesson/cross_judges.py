"""What networks that have not seen an image think of its label: cross-validation, used to look for wrong labels.

Source: the course's own.
"""

import numpy as np

from course_lib.reference import softmax
from course_lib.validate import as_labels, require_count, require_rng


def judged_by_others(x, y, *, parts, rng, sizes=(784, 128, 10), **training):
    """Return for each image the probability (n,) that a network which has not seen it gives to its own label.

    The data are cut into parts; for each part a network is trained on all the others and then judges it.

    Parameters
    ----------
    x, y : (n, D) float32 array, (n,) int labels
    parts : int >= 2
        They divide n.
    rng : numpy.random.Generator
        Draws the parts, the weights and the order of the samples.
    sizes : sequence of int
        Of the networks, as `nn.models.mlp` takes them.
    **training
        As `nn.train` takes them: epochs, batch_size, lr, momentum.

    Raises
    ------
    ValueError, TypeError
        If `parts` does not divide n, and as `nn.models.mlp` and `nn.train`.

    Source: the course's own.
    """
    from course_lib import nn  # it loads Numba, which other lessons need not wait for

    y, parts = as_labels("y", y, rows=len(x)), require_count("parts", parts, minimum=2)
    require_rng(rng)
    if len(x) % parts:
        raise ValueError(f"{len(x)} samples cannot be cut into {parts} equal parts; take a number that divides them.")
    own = np.empty(len(x))
    for part in rng.permutation(len(x)).reshape(parts, -1):
        rest = np.setdiff1d(np.arange(len(x)), part)
        judge = nn.models.mlp(sizes, rng=rng)
        nn.train(judge, (x[rest], y[rest]), rng=rng, **training)
        own[part] = softmax(judge.forward(x[part]))[np.arange(len(part)), y[part]]
    return own
