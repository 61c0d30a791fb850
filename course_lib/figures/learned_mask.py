"""A mask that learns: noise at first, after some steps of gradient descent what a given mask does, for lesson 08.

Source: the course's own; the mask to be found may be any, such as Sobel and Feldman's, which finds vertical edges.
"""

import numpy as np

from course_lib import reference as ops

from . import style
from .picture import picture
from .signed import signed
from .stepper import stepper

SHOWN = (0, 1, 5, 20, 100, 400)
"""After how many steps there is a picture."""


def learned_masks(images, wanted, start, *, lr=2.0, steps=SHOWN):
    """Return [(step, mask, error)]: gradient descent on half the mean squared difference from another mask's outputs.

    Parameters
    ----------
    images : array (B, H, W)
    wanted, start : array (K_h, K_w)
        The mask whose outputs are the targets, and the one that learns.
    lr : float > 0
    steps : increasing ints >= 0
        Which steps to return.

    Raises
    ------
    ValueError
        Masks of two shapes, or larger than the images.

    Source: lesson 03's descent with lesson 08's gradient.
    """
    if wanted.shape != start.shape:
        raise ValueError(f"wanted is {wanted.shape} and start is {start.shape}; both masks must have one shape.")
    x, w = images[:, None], start[None, None]
    target = ops.conv2d_forward(x, wanted[None, None])[0]
    found = []
    for step in range(max(steps) + 1):
        y, cache = ops.conv2d_forward(x, w)
        if step in steps:
            found.append((step, w[0, 0], float(np.mean((y - target) ** 2) / 2)))
        w = w - lr * ops.conv2d_backward((y - target) / y.size, cache)[1]
    return found


def mask_learning(images, wanted, start, *, example=0, lr=2.0, steps=SHOWN):
    """Return a stepper: one image, the mask after some steps, what it makes of the image, and what was wanted.

    Parameters
    ----------
    images, wanted, start, lr, steps
        As `learned_masks`.
    example : int
        Which image is drawn.

    Raises
    ------
    ValueError
        As `learned_masks`.

    Source: the course's own.
    """
    states, image = learned_masks(images, wanted, start, lr=lr, steps=steps), images[example]
    return stepper(
        [_frame(image, wanted, *state) for state in states],
        title="A mask learns to find vertical edges",
        static=len(states) - 1,
    )


def _frame(image, wanted, step, mask, error):
    fig = _draw(image, wanted, mask)
    told = f"{error:.2g}"
    when = "Before the first step" if step == 0 else f"After {step} step{'s' if step > 1 else ''}"
    return picture(
        fig,
        alt=f"{when}, the middle row of the mask is {', '.join(f'{v:.1f}' for v in mask[len(mask) // 2])}; "
        f"its output differs from the wanted one by an error of {told}.",
        caption=f"{when}: half the mean squared difference of the outputs is {told}.",
    )


@style.styled
def _draw(image, wanted, mask):
    """Draw image and mask above, the mask's output and the wanted one below."""
    fig = style.new_figure(4.1, 4.3)[0]
    fig.clear()
    axes = fig.subplots(2, 2)
    outputs = [ops.conv2d_forward(image[None, None], m[None, None])[0][0, 0] for m in (mask, wanted)]
    high = float(np.abs(outputs[1]).max())
    axes[0, 0].imshow(image, cmap=style.shades("data"), vmin=0, vmax=1)
    signed(axes[0, 1], mask, 3)
    for (i, j), value in np.ndenumerate(mask):
        axes[0, 1].text(
            j, i, f"{value:.1f}", ha="center", va="center", bbox=dict(facecolor=style.PAPER, edgecolor="none", pad=2)
        )
    for ax, output in zip(axes[1], outputs, strict=True):
        signed(ax, output, high)
    for ax, title in zip(axes.flat, ("input", "mask", "its output", "wanted"), strict=True):
        ax.set_title(title)
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
    return fig
