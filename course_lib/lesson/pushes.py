"""How hard three losses push a network that is sure of a wrong class: lesson 06's comparison.

Source: Hwu, "Choosing an Error Function", offers two of them; the comparison is the course's own.
"""

import numpy as np

from course_lib import reference as ops

LOSSES = ("cross-entropy", "1 - k[T]", "expected squared distance")


def pushes(sure):
    """Return {loss: lengths (n,) of dE/dz} for the scores (s, 0, 0) and the label 2, for each s of `sure` (n,).

    The larger s, the surer the network is of class 0, which is wrong. No errors. Source: the course's own.
    """
    sure = np.asarray(sure, float)
    lengths = {name: [] for name in LOSSES}
    for s in sure:
        z, label = np.array([[s, 0.0, 0.0]]), np.array([2])
        k = ops.softmax(z)
        gradients = [ops.softmax_cross_entropy_backward(ops.softmax_cross_entropy_forward(z, label)[1])]
        for forward, backward in (
            (ops.one_minus_probability_forward, ops.one_minus_probability_backward),
            (ops.expected_squared_distance_forward, ops.expected_squared_distance_backward),
        ):
            gradients.append(ops.softmax_backward(backward(forward(k, label)[1]), k))
        for found, dz in zip(lengths.values(), gradients, strict=True):
            found.append(np.linalg.norm(dz))
    return {name: np.array(found) for name, found in lengths.items()}
