"""Digits that move to the right: the experiment of lesson 07."""

import numpy as np


def with_room(images, columns):
    """Return a bool array (B,): True for images (B, H, W) whose last `columns` columns are empty.

    No errors. Source: the course's own.
    """
    return ~images[:, :, images.shape[2] - columns :].any(axis=(1, 2))


def moved(images, shift):
    """Return images (..., H, W) moved to the right by `shift` columns, without losing any ink.

    Raises
    ------
    ValueError
        A shift below 0, or ink in the columns that would leave the picture.

    Source: the course's own.
    """
    if shift < 0:
        raise ValueError(f"shift is {shift}; digits move to the right, so it must be 0 or more.")
    leaving = images[..., images.shape[-1] - shift :]
    if leaving.any():
        raise ValueError(
            f"a shift of {shift} columns pushes ink out of the picture; keep the images that have room: "
            f"images[with_room(images, {shift})]."
        )
    return np.roll(images, shift, axis=-1)
