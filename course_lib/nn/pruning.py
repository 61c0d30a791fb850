"""Pruning: weights that matter least become zero, and stay zero.

Unstructured: the smallest weights, wherever they lie. Structured 2:4: of every four neighbours along the axis of the
sum, two. Only the second has a rhythm that hardware can skip by: a sparse tensor core keeps two values of four with two
bits each that say which, and leaves out half of the products.

Source: S. Han et al., "Learning both Weights and Connections for Efficient Neural Networks" (2015); A. Mishra et al.,
"Accelerating Sparse Deep Neural Networks" (2021).
"""

import numpy as np

from course_lib.nn.optimisers import Followed
from course_lib.validate import as_float, require_number

GROUP, KEPT = 4, 2


def magnitude_mask(w, share):
    """Return a mask (...) of 0 and 1 that drops this share of the weights, the smallest by size; of equals, the first.

    Parameters
    ----------
    w : (...) array on the host
    share : float in [0, 1)

    Raises
    ------
    TypeError, ValueError
        If w holds no numbers, or share is not in that range.

    Source: Han et al. (2015).
    """
    w = as_float("w", w)
    share = require_number("share", share)
    if not 0 <= share < 1:
        raise ValueError(f"share is {share:g}; it must be at least 0 and below 1, or nothing is left.")
    mask = np.ones(w.size, w.dtype)
    mask[np.argsort(np.abs(w), axis=None, kind="stable")[: round(share * w.size)]] = 0
    return mask.reshape(w.shape)


def two_of_four_mask(w, axis=0):
    """Return a mask of 0 and 1 that keeps the two largest by size of each four along an axis; of equals, the first.

    Parameters
    ----------
    w : (...) array on the host
        Of x @ w the axis of the sum is 0.
    axis : int

    Raises
    ------
    TypeError, ValueError
        If w holds no numbers, or the axis is no multiple of 4 long.

    Source: Mishra et al. (2021), section 3.
    """
    groups = _in_fours(w, axis)
    smallest = np.argsort(-np.abs(groups), axis=-1, kind="stable")[..., KEPT:]
    mask = np.ones_like(groups)
    np.put_along_axis(mask, smallest, 0, axis=-1)
    return _back(mask, w, axis)


def compress(w, axis=0):
    """Return (values, places) of a 2:4 array: the numbers that stay, and which of their four each is, 0 to 3.

    Both have `w`'s shape with half the length along the axis; places are uint8 and need two bits each.

    Raises ValueError if one of the fours has more than two numbers that are not 0, and as `two_of_four_mask`.
    Source: PTX ISA, "mma.sp" (sparsity metadata).
    """
    groups = _in_fours(w, axis)
    full = np.count_nonzero(groups, axis=-1)
    if full.max() > KEPT:
        raise ValueError(f"{full.max()} numbers of four are not 0; at most 2 may be. Apply two_of_four_mask first.")
    # Places of the numbers that stay, in order; a four with fewer keeps zeros, the last ones.
    zero = groups == 0
    order = np.argsort(zero, axis=-1, kind="stable")[..., :KEPT]
    places = np.sort(order, axis=-1)
    values = np.take_along_axis(groups, places, axis=-1)
    return _back(values, w, axis), _back(places.astype(np.uint8), w, axis)


def expand(values, places, axis=0):
    """Return the array of which `compress` made values and places. No errors. Source: PTX ISA, "mma.sp"."""
    moved, where = (np.moveaxis(a, axis, -1) for a in (values, places))
    pairs, where = (a.reshape(*a.shape[:-1], -1, KEPT) for a in (moved, where))
    groups = np.zeros((*pairs.shape[:-1], GROUP), values.dtype)
    np.put_along_axis(groups, where.astype(np.int64), pairs, axis=-1)
    return np.moveaxis(groups.reshape(*moved.shape[:-1], -1), -1, axis)


def prune(net, make_mask):
    """Set weights of a network to zero, in place, and return {name: mask} for `Pruned`.

    Parameters
    ----------
    net : Sequential
    make_mask : function
        w (on the host) -> mask of its shape, such as `two_of_four_mask`; called for each parameter named "w".

    Returns
    -------
    dict of str to array
        Masks where the network computes.

    Errors as make_mask's. Source: Han et al. (2015).
    """
    masks = {}
    for name, w in net.parameters().items():
        if name.split(".")[-1] == "w":
            host = net.ops.to_host(w)
            masks[name] = net.ops.to_backend(np.asarray(make_mask(host), host.dtype))
    _apply(net, masks)
    return masks


class Pruned(Followed):
    """An optimiser whose steps leave pruned weights at zero: another's step, then the masks.

    Parameters
    ----------
    optimiser : Optimiser
        What makes the steps, such as nn.SGD(net, momentum=0.9).
    masks : dict
        As `prune` returns it.

    Raises
    ------
    TypeError
        If optimiser is none.

    Source: Han et al. (2015), section 3.
    """

    def __init__(self, optimiser, masks):
        super().__init__(optimiser)
        self.masks = masks

    def follow(self):
        """Set what is masked to zero."""
        _apply(self.net, self.masks)


def _apply(net, masks):
    parameters = net.parameters()
    for name, mask in masks.items():
        net.ops.assign(parameters[name], net.ops.keep_where(mask, parameters[name]))


def _in_fours(w, axis):
    """Return (..., length / 4, 4): the axis last, cut into fours."""
    w = as_float("w", w)
    if w.shape[axis] % GROUP:
        raise ValueError(f"axis {axis} of w has {w.shape[axis]} numbers; it must be a multiple of {GROUP}.")
    moved = np.moveaxis(w, axis, -1)
    return moved.reshape(*moved.shape[:-1], -1, GROUP)


def _back(groups, w, axis):
    """Undo `_in_fours`."""
    return np.ascontiguousarray(np.moveaxis(groups.reshape(*groups.shape[:-2], -1), -1, axis))
