"""A mask that the reader types, and what it makes of a digit and of a picture like a photograph, for lesson 07.

Source: the course's own. The masks are the usual ones of image processing; "vertical edges" is Sobel's.
"""

import numpy as np

from course_lib import data
from course_lib import reference as ops

from . import style
from .live import live
from .picture import picture

SIZES, STRIDES = (3, 5), (1, 2, 3)
"""Sizes of masks and strides on offer."""

DIGIT = 9
"""Which test digit is shown, a 2: its strokes run in every direction."""

INK = ("a digit",)
"""Images whose 1 is ink: drawn dark on white, as everywhere in the course; the others are light, drawn as they are."""

_NINE = {
    "vertical edges": [[1, 0, -1], [2, 0, -2], [1, 0, -1]],
    "horizontal edges": [[1, 2, 1], [0, 0, 0], [-1, -2, -1]],
    "sharpen": [[0, -1, 0], [-1, 5, -1], [0, -1, 0]],
    "emboss": [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]],
}


def preset_masks(size):
    """Return {name: (size, size) float64 mask} of the masks on offer, size 3 or 5.

    The four that are 3 x 3 by nature stand in a frame of zeros when `size` is 5.

    Raises
    ------
    ValueError
        Another size.

    Source: the course's own.
    """
    if size not in SIZES:
        raise ValueError(f"size is {size}; the masks on offer are 3 x 3 and 5 x 5: write 3 or 5.")
    framed = {name: np.pad(np.array(mask, float), (size - 3) // 2) for name, mask in _NINE.items()}
    outline = np.full((size, size), -1.0)
    outline[size // 2, size // 2] = size * size - 1
    return {"blur": np.full((size, size), 1 / size**2), **framed, "outline": outline}


def apply_mask(image, mask, stride=1, pad=0):
    """Return the output (H_out, W_out) float64 of one mask (K, K) on one image (H, W).

    Raises
    ------
    ValueError
        An image or a mask that is not two-dimensional; what `reference.conv2d_forward` refuses.

    Source: the course's own.
    """
    image, mask = np.asarray(image, float), np.asarray(mask, float)
    if image.ndim != 2 or mask.ndim != 2:
        raise ValueError(
            f"image is {image.shape} and mask {mask.shape}; both must be (rows, columns): one map, one mask."
        )
    return ops.conv2d_forward(image[None, None], mask[None, None], stride=stride, pad=pad)[0][0, 0]


def gallery_images():
    """Return {name: image (H, W) in hundredths, 0 to 1}: a digit, and a lighthouse like a photograph.

    No errors. Source: the course's own.
    """
    digit = data.load_digits().images("test")[DIGIT]
    return {"a digit": np.round(digit.astype(float), 2), "a lighthouse": data.scene()}


def mask_explorer():
    """Return a figure in which the reader types a mask and sees at once what it makes of a picture.

    Masks of 3 x 3 or 5 x 5 numbers, presets, stride and padding are chosen, and a digit or a lighthouse; the output
    that is pointed at shows its window, the products and their sum.

    Returns
    -------
    figures.Live

    No errors. Source: the course's own.
    """
    images = gallery_images()
    given = {
        "images": [{"name": name, "pixels": np.round(100 * x).astype(int).tolist(), "ink": name in INK}
                   for name, x in images.items()],
        "masks": [{name: m.tolist() for name, m in preset_masks(size).items()} for size in SIZES],
        "sizes": list(SIZES), "strides": list(STRIDES), "first": "vertical edges", "at": [12, 18],
    }  # fmt: skip
    return live("mask_explorer", given, title="Type a mask, and see what it sees", static=_static(images))


@style.styled
def _sheet(images):
    fig, axes = style.new_figure(4.1, 3.6, 2, 3)
    shown = {"a digit": ("vertical edges", "blur"), "a lighthouse": ("vertical edges", "emboss")}
    for row, (name, image) in zip(axes, images.items(), strict=True):
        dark = name in INK
        _draw(row[0], image, name, dark)
        for ax, mask in zip(row[1:], shown[name], strict=True):
            _draw(ax, apply_mask(image, preset_masks(3)[mask], pad=1), mask, dark)
    return fig


def _draw(ax, values, title, dark):
    low = -np.abs(values).max() if values.min() < 0 else 0
    ax.imshow(values, cmap="gray_r" if dark else "gray", vmin=low, vmax=np.abs(values).max(), interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, fontsize=style.SIZE_TEXT, fontweight="normal")
    ax.grid(False)


def _static(images):
    return picture(
        _sheet(images),
        alt="A handwritten digit and a small grey picture of a lighthouse, each beside what two masks make of it: "
        "vertical edges turn white on one side and black on the other, the blur smears the strokes, and the emboss "
        "looks like a relief",
        caption="Left, the images. Right, what nine numbers make of them; middle grey is 0 wherever sums are negative.",
    )
