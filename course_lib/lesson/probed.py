"""Climbs that stop one by one, random changes of a given length, and how rough masks are: the harness of lesson 10.

Source: the course's own.
"""

import numpy as np

from course_lib import nn
from course_lib.validate import require_count, require_positive, require_rng


def climb_each(net, goal, starts, until, *, steps=400, lr=0.25):
    """Return the images of an ascent, each as it was at the first step after which `until` held for it.

    Parameters
    ----------
    net : Sequential
    goal : int or (B,) int array
        The class whose probability `nn.maximise` raises.
    starts : (B, C, H, W) array
        Images to start from; they are not changed.
    until : callable
        until(images, log_probabilities) -> (B,) bools, after each step.
    steps : int >= 1
        Longest climb.
    lr : float > 0
        Length of a step.

    Returns
    -------
    images : array of starts' shape
        An image that did not get there in time is as it was at the end.
    taken : (B,) int array
        Steps that each image took; 0 if it did not get there.

    Raises
    ------
    TypeError, ValueError
        What `nn.maximise` refuses.

    Source: the course's own.
    """
    kept, taken = np.array(starts), np.zeros(len(starts), dtype=int)

    def look(step, images, log_k):
        new = (taken == 0) & np.asarray(until(images, log_k))
        kept[new], taken[new] = images[new], step
        return taken.all()

    end = nn.maximise(net, goal, starts, steps=steps, lr=lr, on_step=look).image
    kept[taken == 0] = end[taken == 0]
    return kept, taken


def random_changes(images, lengths, *, rng, rounds=20):
    """Return images changed in random directions, each by the given length, with pixels from 0 to 1.

    The clip takes away a part of a random change, so its length is set again after the clip, `rounds` times.

    Parameters
    ----------
    images : (B, ...) array in 0 .. 1
    lengths : (B,) array, or float, > 0
        Root of the summed squares of an image's change.
    rng : numpy.random.Generator
    rounds : int >= 1

    Returns
    -------
    array of images' shape and type

    Raises
    ------
    TypeError, ValueError
        Lengths of another number, or such as no change within 0 .. 1 can have; no generator.

    Source: the course's own.
    """
    require_rng(rng)
    images, lengths = np.asarray(images), np.broadcast_to(np.asarray(lengths, dtype=float), len(images))
    axes = tuple(range(1, images.ndim))
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError(f"lengths holds {lengths.min():g}; each must be a finite number above 0.")
    change = rng.standard_normal(images.shape)
    for _ in range(require_count("rounds", rounds)):
        inside = np.clip(images + change, 0, 1) - images
        now = np.sqrt(np.sum(inside**2, axis=axes, keepdims=True))
        change = change * (lengths.reshape(now.shape) / now)
    changed = np.clip(images + change, 0, 1)
    reached = np.sqrt(np.sum((changed - images) ** 2, axis=axes))
    if (np.abs(reached / lengths - 1) > 0.02).any():
        worst = int(np.argmax(np.abs(reached / lengths - 1)))
        raise ValueError(
            f"image {worst} should change by {lengths[worst]:g} and changed by {reached[worst]:.3g} after {rounds} "
            "rounds; take a shorter length, or more rounds."
        )
    return changed.astype(images.dtype)


def relative_roughness(masks):
    """Return how rough masks (M, K, L) are: 1 for independent random numbers, less for smooth ones.

    Root of the mean squared difference between neighbours in rows plus that in columns, over twice the spread of all
    weights; so it does not depend on their strength.

    Raises
    ------
    ValueError
        If masks have no neighbours, or all weights are equal.

    Source: the course's own.
    """
    masks = np.asarray(masks, dtype=float)
    if masks.ndim != 3 or min(masks.shape[1:]) < 2:
        raise ValueError(f"masks is {masks.shape}; it must be (M, K, L) with K and L at least 2.")
    spread = require_positive("the spread of the weights", masks.std())
    squares = np.mean(np.diff(masks, axis=-1) ** 2) + np.mean(np.diff(masks, axis=-2) ** 2)
    return float(np.sqrt(squares) / (2 * spread))
