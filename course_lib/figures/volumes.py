"""A network as boxes to scale, one for each layer's output, computed from the network itself, for lesson 09.

A box is as high and wide as a map, and as deep as there are maps; a dense layer's numbers are maps of one pixel. The
reader chooses a layer and sees its shape, its costs, what one of its numbers depends on, and an image's maps there.

Source: the kind of drawing is that of LeCun et al. (1998), figure 2; the sizes are counted by `course_lib.nn`.
"""

import base64
import math
from dataclasses import asdict

import numpy as np

from course_lib.simt.show.panel import EDGE, WIDTH, wrapped

from . import style
from .live import live
from .network_layers import PASSIVE, network_layers
from .picture import picture
from .svg import Svg

MOST_VALUES = 70_000
"""Numbers of all maps together: a byte each, as text 100 KB."""

DEPTH, SLANT, THIN = 0.35, 0.5, 3.0
"""A map is as deep as 0.35 pixels of its image; depth goes up and to the right, half of it each; no face is thinner
than 3 px."""

COSTS = (("parameters", "parameters"), ("multiply_adds", "multiply-adds"))

GAP, LETTER, SIGN, LABELS, SMALLEST = 6, 7.1, 5, 36, 0.5
"""Between boxes; a letter's width at 12 px, and how much wider an @ is; height of the labels below; pixels of the page
for one of an image."""


def network_volumes(net, shape, *, names=None, image=None, costs=True, chosen=None, title=None):
    """Return a figure of a network as boxes to scale, in which the reader chooses a layer.

    Parameters
    ----------
    net, shape, names
        As `network_layers`.
    image : array (C, H, W), optional
        Its maps at the chosen layer are drawn below the boxes.
    costs : bool
        Whether parameters and multiply-adds are told.
    chosen : str, optional
        The name of the layer that is chosen first; the one with the most multiply-adds unless given.
    title : str, optional

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        As `network_layers`; an image of another shape, with numbers that are not finite, or with too many maps for a
        page; a chosen layer that there is not; more layers than find place in 400 pixels.

    Source: the course's own.
    """
    layers = network_layers(net, shape, names)
    known = [v.name for v in layers]
    if chosen is None:
        chosen = max(layers, key=lambda v: v.multiply_adds).name
    if chosen not in known:
        raise ValueError(f"chosen is {chosen!r}; the layers are {', '.join(known)}.")
    at = known.index(chosen)
    data = {
        "layers": [
            asdict(v) | {"text": v.shape_text, "words": v.words, "facts": facts(layers, i, costs),
                         "says": said(layers, i, costs)} for i, v in enumerate(layers)
        ],
        "at": at, "maps": None if image is None else _maps(net, layers, image),
        "geometry": {
            "depth": DEPTH, "slant": SLANT, "thin": THIN, "gap": GAP, "letter": LETTER, "sign": SIGN, "labels": LABELS,
        },
    }  # fmt: skip
    title = title or "Choose a layer, by mouse or with the arrow keys"
    return live("volumes", data, title=title, static=_static(layers, at, costs))


def layout(layers, width):
    """Return (pixels of the page for one of an image, height, [(x, y) of each front face]). `volumes.js` does alike.

    Raises
    ------
    ValueError
        If the boxes do not fit into `width`, however small.

    Source: the course's own.
    """
    for tenths in range(160, int(20 * SMALLEST) - 1, -1):
        scale = tenths / 20
        slots = [max(footprint(v, scale), _label(v)) for v in layers]
        if sum(slots) + GAP * (len(slots) - 1) <= width:
            break
    else:
        raise ValueError(
            f"{len(layers)} boxes with images of up to {max(v.columns for v in layers)} columns do not fit into "
            f"{width} pixels; draw a part of the network."
        )
    up = max(_face(v.rows, scale) / 2 + _deep(v, scale) for v in layers)
    down = max(_face(v.rows, scale) / 2 for v in layers)
    spare = (width - sum(slots) - GAP * (len(slots) - 1)) / len(slots)
    places, x = [], 0.0
    for v, slot in zip(layers, slots, strict=True):
        places.append((x + (spare + slot - footprint(v, scale)) / 2, 6 + up - _face(v.rows, scale) / 2))
        x += slot + spare + GAP
    return scale, 6 + up + down + 8 + LABELS, places


def facts(layers, at, costs):
    """Return [(name, text)] of a layer: its output, its costs where they are told, its receptive field. No errors."""
    v, image = layers[at], layers[0]
    rows = [("output", v.words + (f" ({v.kind})" if at else ""))]
    for field, name in COSTS if costs else ():
        number, whole = getattr(v, field), sum(getattr(u, field) for u in layers)
        rows.append((name, f"{number:,}" + (f" ({share(number, whole)} of all)" if number else "")))
    return [*rows, ("one number sees", f"{v.seen[2]} x {v.seen[3]} of {image.rows} x {image.columns} pixels")]


def said(layers, at, costs):
    """Return the sentence that a reader hears when a layer is chosen. No errors."""
    v, image = layers[at], layers[0]
    if at == 0:
        return f"{v.name}: {v.words}, the image."
    if not costs:
        return (
            f"{v.name}: {v.words}. One number in it depends on {v.seen[2]} x {v.seen[3]} of the {image.rows} x "
            f"{image.columns} pixels."
        )
    parts = " and ".join(
        f"{share(getattr(v, field), sum(getattr(u, field) for u in layers))} of the {name}" for field, name in COSTS
    )
    places = v.rows * v.columns
    used = f" Each weight is used at {places:,} place{'' if places == 1 else 's'}." if v.parameters else ""
    return f"{v.name}: {v.words}, {parts}.{used}"


def share(part, whole):
    """Return a share in words, such as "58 %", with one decimal where it is below 10 %. No errors."""
    percent = 100 * part / whole if whole else 0
    if 0 < percent < 0.05:
        return "under 0.1 %"
    return f"{percent:.0f} %" if percent >= 10 or percent == 0 else f"{percent:.1f} %"


def _maps(net, layers, image):
    """Return, for each volume, its numbers of one image as bytes in base64, with what 0 and 255 stand for."""
    image, first = np.asarray(image, dtype=np.float32), layers[0]
    if image.shape != (first.maps, first.rows, first.columns):
        raise ValueError(
            f"image is {image.shape}; it must be {(first.maps, first.rows, first.columns)}, as the network takes it."
        )
    if not np.isfinite(image).all():
        raise ValueError(f"image holds {image[~np.isfinite(image)][0]}; all numbers must be finite.")
    total = sum(v.maps * v.rows * v.columns for v in layers)
    if total > MOST_VALUES:
        raise ValueError(f"the maps hold {total:,} numbers, a page takes {MOST_VALUES:,}; leave the image out.")
    values, x = [image], net.ops.to_backend(image[None])
    for layer in net:
        x = layer.forward(x)
        host = np.asarray(net.ops.to_host(x))[0]
        if isinstance(layer, PASSIVE):
            values[-1] = host.reshape(values[-1].shape)
        else:
            values.append(host)
    found = []
    for v in values:
        high = float(np.abs(v).max()) or 1.0
        low = -high if v.min() < 0 else 0.0
        parts = np.rint(255 * (v.astype(float) - low) / (high - low)).astype(np.uint8)
        text = base64.b64encode(parts.tobytes()).decode()
        found.append({"low": round(low, 2), "high": round(high, 2), "bytes": text})
    scores, best = values[-1].ravel(), np.argmin if list(net)[-1].smaller_is_better else np.argmax
    found[-1] |= {"values": [round(float(v), 1) for v in scores], "answer": int(best(scores))}
    return found


def _label(volume):
    """Room for the name and the shape below a box."""
    return max(LETTER * len(volume.name), LETTER * len(volume.shape_text) + SIGN * ("@" in volume.shape_text))


def _face(pixels, scale):
    return max(THIN, pixels * scale)


def _deep(volume, scale):
    return SLANT * DEPTH * scale * volume.maps


def footprint(volume, scale, *, rows=False):
    """Return how many pixels a box is wide, or how many it is high. No errors."""
    return _face(volume.rows if rows else volume.columns, scale) + _deep(volume, scale)


def _static(layers, at, costs):
    scale, height, places = layout(layers, WIDTH - 2 * EDGE)
    says = said(layers, at, costs)
    lines = [line for name, text in facts(layers, at, costs) for line in wrapped(f"{name}: {text}")]
    s = Svg(WIDTH, math.ceil(height + 17 * len(lines) + 10))
    for i, (v, (x, y)) in enumerate(zip(layers, places, strict=True)):
        box(s, v, x + EDGE, y, scale, i == at)
        middle = x + EDGE + footprint(v, scale) / 2
        for k, text in enumerate((v.name, v.shape_text)):
            s.text(middle, height - LABELS + 14 + 15 * k, text, anchor="middle", bold=i == at and not k)
    for i in range(1, len(layers)):
        _cone(s, layers[i - 1], layers[i], places[i - 1], places[i], scale, i == at)
    top, left, rows, columns = layers[at].seen
    x, y = places[0][0] + EDGE, places[0][1]
    s.rect(x + left * scale, y + top * scale, columns * scale, rows * scale, line=2, dashed=True)
    for k, line in enumerate(lines):
        s.text(EDGE, height + 12 + 17 * k, line)
    caption = f"{says} The dashed frame is what one number of {layers[at].name} sees of the image."
    return picture(s, alt=_alt(layers, costs), caption=caption)


def _alt(layers, costs):
    boxes = ", ".join(f"{v.name} {v.words}" for v in layers)
    image, most = layers[0], max(layers, key=lambda v: v.maps)
    text = f"A network as boxes to scale: {boxes}. "
    if not costs:
        return text + (
            f"From left to right the maps shrink from {image.rows} x {image.columns} to single numbers, and there are "
            f"more of them: {image.maps} in the image, up to {most.maps} in {most.name}."
        )
    for field, name in COSTS:
        v = max(layers, key=lambda u: getattr(u, field))
        whole = sum(getattr(u, field) for u in layers)
        text += f"Most {name}: {v.name}, {share(getattr(v, field), whole)} of all. "
    return text.strip()


def box(s, v, x, y, scale, chosen):
    """Draw a volume as a box to scale; (x, y) is the upper left corner of its front face. Source: the course's own."""
    high, wide, deep = _face(v.rows, scale), _face(v.columns, scale), _deep(v, scale)
    role = "output" if chosen else "data"
    look = dict(stroke=style.INK if chosen else style.MUTED, line=2 if chosen else 1)
    back = x + wide + deep
    top = [(x, y), (x + deep, y - deep), (back, y - deep), (x + wide, y), (x, y)]
    side = [(x + wide, y), (back, y - deep), (back, y + high - deep), (x + wide, y + high), (x + wide, y)]
    s.polyline(top, fill=style.tint(role, 0.35), **look)
    s.polyline(side, fill=style.tint(role, 0.5), **look)
    s.rect(x, y, wide, high, fill=style.tint(role, 0.2), **look)


def _cone(s, before, v, there, here, scale, chosen):
    top, left, rows, columns = v.window
    x, y = there[0] + EDGE + left * scale, there[1] + top * scale
    wide, high = max(THIN, columns * scale), max(THIN, rows * scale)
    to = here[0] + EDGE + _face(1, scale) / 2 + v.unit[1] * scale, here[1] + _face(1, scale) / 2 + v.unit[0] * scale
    look = dict(stroke=style.INK if chosen else style.MUTED, line=1.5 if chosen else 0.7)
    s.rect(x, y, wide, high, **look)
    for corner in ((x + wide, y), (x + wide, y + high)):
        s.line(*corner, *to, **look)
