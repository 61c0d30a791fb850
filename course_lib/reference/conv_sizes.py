"""Sizes of a sliding window: how many places a mask fits, and what it never sees.

Source: K, "Convolution Layer: Spatial Transformations", H' = 1 + (H - F + 2P) / S, and "Pooling Layer:
Spatial Transformations", H' = 1 + (H - F) / S. The division is rounded down, as frameworks do (the
slides leave that out): a rest means that the last rows or columns are never looked at.
"""

from course_lib.validate import require_count


def output_size(size, mask, stride=1, pad=0, *, name="H"):
    """Return 1 + floor((size - mask + 2 pad) / stride), the number of places along one axis of an image (H, W).

    Parameters
    ----------
    size, mask, stride : int >= 1
    pad : int >= 0
        Zeros added on each of the two sides.
    name : str
        What an error calls the axis.

    Raises
    ------
    TypeError
        If one of them is not a whole number.
    ValueError
        If the mask is larger than the padded input, so that it fits nowhere.

    Source: K, "Convolution Layer: Spatial Transformations".
    """
    mask, stride = require_count(f"mask along {name}", mask), require_count(f"stride along {name}", stride)
    pad = require_count(f"pad along {name}", pad, minimum=0)
    size = require_count(name, size)
    if mask > size + 2 * pad:
        need = -(-(mask - size) // 2)
        raise ValueError(
            f"{name} is {size} with pad {pad}, {size + 2 * pad} in all, and the mask is {mask}: it fits nowhere, "
            f"1 + ({size} - {mask} + 2*{pad}) // {stride} = {1 + (size - mask + 2 * pad) // stride}. "
            f"Use pad >= {need}, a mask of at most {size + 2 * pad}, or fewer layers that shrink the image before."
        )
    return 1 + (size - mask + 2 * pad) // stride


def unseen(size, mask, stride=1, pad=0):
    """Return how many rows (or columns) at the end of the padded input no window ever covers.

    Of an image (H, W), one axis at a time. TypeError and ValueError as `output_size`. With
    stride > mask there are gaps between windows too; they are not counted here. Source: K, "Stride".
    """
    places = output_size(size, mask, stride, pad)
    return size + 2 * pad - ((places - 1) * stride + mask)


def pair(value, name, *, minimum=1):
    """Return (rows, columns) from one number for both axes or a pair.

    Raises
    ------
    TypeError, ValueError
        If it is neither, or a number is below `minimum`.
    """
    values = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(values) != 2:
        raise ValueError(f"{name} is {value}; it must be one number, or a pair (rows, columns).")
    return tuple(require_count(name, v, minimum=minimum) for v in values)
