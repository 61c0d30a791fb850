"""How good is a network: the measures that people read, as against the loss that training needs.

Source: H, "Why Not Use the Intuitive Measure?" (argmax, and why it cannot be trained on).
"""

from dataclasses import dataclass

import numpy as np

from course_lib.nn.finite import require_finite_outputs
from course_lib.reference.probabilities import softmax
from course_lib.validate import as_float, as_labels, require_count, require_finite


@dataclass(frozen=True)
class Evaluation:
    """Result of `evaluate`: loss, accuracy in [0, 1], number of samples.

    The loss is that of all samples at once: their mean, or, for "half_squared_sum", their sum.

    Source: K, "Supervised Learning Workflow".
    """

    loss: float
    accuracy: float
    count: int


@dataclass(frozen=True, eq=False)
class Mistakes:
    """Result of `worst_mistakes`, the most confident mistake first.

    Attributes
    ----------
    index : (k,) int64 array
        Rows of x.
    predicted, label : (k,) int64 arrays
    confidence : (k,) array
        Probability that the network gave to its wrong answer.

    Source: the course's own.
    """

    index: np.ndarray
    predicted: np.ndarray
    label: np.ndarray
    confidence: np.ndarray


def accuracy(predicted, labels):
    """Return the share of equal entries, in [0, 1]; both (B,) int, B >= 1, else ValueError.

    Source: H, "Why Not Use the Intuitive Measure?".
    """
    predicted = as_labels("predicted", predicted)
    labels = as_labels("labels", labels, rows=len(predicted))
    if not len(labels):
        raise ValueError("labels is empty; the accuracy of no samples is not defined.")
    return float(np.mean(predicted == labels))


def neighbour_accuracy(features, labels):
    """Return the share of rows whose nearest other row has the same label, in [0, 1].

    Parameters
    ----------
    features : (B, ...) array, B >= 2
        Distance is the root of the summed squares of the differences. Of equally near rows the first counts.
    labels : (B,) int array

    Raises
    ------
    TypeError, ValueError
        If the arrays differ in length, hold NaN or infinity, or have fewer than two rows.

    Source: the course's own; Fix and Hodges, 1951, for the neighbour's label as an answer.
    """
    features = as_float("features", features, min_rows=2)
    labels = as_labels("labels", labels, rows=len(features))
    require_finite("features", features)
    rows = features.reshape(len(features), -1).astype(np.float64)
    rows = rows - rows.mean(axis=0)  # of points far from 0 the differences below would lose digits
    length = np.sum(rows**2, axis=1)
    distance = length[:, None] + length - 2 * rows @ rows.T
    np.fill_diagonal(distance, np.inf)
    return accuracy(labels[distance.argmin(axis=1)], labels)


def confusion_matrix(predicted, labels, n_classes):
    """Return an (n_classes, n_classes) int64 array: row = right class, column = predicted class.

    Raises
    ------
    TypeError, ValueError
        If the arrays differ in length or a class lies outside 0 .. n_classes - 1.

    Source: the course's own.
    """
    n_classes = require_count("n_classes", n_classes)
    predicted = as_labels("predicted", predicted, classes=n_classes)
    labels = as_labels("labels", labels, rows=len(predicted), classes=n_classes)
    counts = np.bincount(labels * n_classes + predicted, minlength=n_classes * n_classes)
    return counts.reshape(n_classes, n_classes)


def worst_mistakes(net, x, labels, k=20):
    """Return the k samples (fewer if there are fewer) that the network got wrong with most confidence.

    Parameters
    ----------
    net : Sequential whose output are scores (before a softmax)
    x : (B, D) array
    labels : (B,) int array
    k : int >= 1

    Returns
    -------
    Mistakes

    Raises
    ------
    TypeError, ValueError
        If shapes or k do not fit; NotFiniteError, which is one, if x, the weights or the outputs hold NaN or infinity.

    Source: the course's own.
    """
    k = require_count("k", k)
    out = net.ops.to_host(net.forward(net.ops.to_backend(x)))
    require_finite_outputs(net, x, out)
    probabilities = softmax(-out if net.layers[-1].smaller_is_better else out)  # distances: the near is likely
    labels = as_labels("labels", labels, rows=len(probabilities), classes=probabilities.shape[1])
    predicted = np.argmax(probabilities, axis=1)
    confidence = probabilities.max(axis=1)
    wrong = np.flatnonzero(predicted != labels)
    worst = wrong[np.argsort(-confidence[wrong], kind="stable")[:k]]
    return Mistakes(worst, predicted[worst], labels[worst], confidence[worst])
