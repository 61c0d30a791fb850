"""Digits that move to the right, and masks cut out of digits: the experiment of lesson 07."""

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


def cut_masks(images, *, rng, side=9):
    """Return one mask per image, (B, 1, side, side): a piece from about its middle, less the piece's mean.

    Raises
    ------
    ValueError
        A side that does not fit.

    Source: the course's own.
    """
    high, wide = images.shape[1:]
    if not 1 <= side <= min(high, wide):
        raise ValueError(f"side is {side} and the images are {high} x {wide}; a piece must fit into its image.")
    pieces = []
    for image in images:
        r, c = (int(rng.integers((n - side) // 2 - (n - side) // 5, (n - side) // 2 + (n - side) // 5 + 1))
                for n in (high, wide))  # fmt: skip
        piece = image[r : r + side, c : c + side]
        pieces.append(piece - piece.mean())
    return np.stack(pieces)[:, None]
