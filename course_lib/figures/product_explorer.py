"""An explorer of tiles for lesson 14: what a choice of sizes means for reuse, memory, and the place under the roofline.

The numbers are those of `figures.product_tiles`, counted once more in the page's script; a test compares the two.
Source: the course's own.
"""

import math

from course_lib.simt.estimate.devices import DEVICES
from course_lib.simt.estimate.roofline import roofline
from course_lib.simt.show.occupancy_calculator import facts
from course_lib.simt.show.panel import EDGE, WIDTH, Panel, wrapped
from course_lib.simt.show.wording import count

from . import style
from .live import live
from .picture import picture
from .product_tiles import BLOCK, DEPTH, ON_THE_WAY, OWN_REGISTERS, THREAD, ladder_tiles, product_tile

SIDE = 176
"""Pixels of each of the two drawings in the static picture."""


def tile_explorer(M=4096, N=4096, K=4096, device="H200", *, BM=32, BN=32, BK=32, TM=1, TN=1, shared=True):
    """Return a figure in which the reader chooses the tiles of C = A @ B and sees what follows.

    The page draws the strips of A and B that a block reads, the thread's tile inside the block's, how many
    multiply-adds a loaded number serves, and the place under the card's roofline. A thread's outputs are drawn side by
    side, as in v03 and v04 of the ladder; v05 gives it four groups of 4 x 4, which changes no number.

    Parameters
    ----------
    M, N, K : int
        A (M, K), B (K, N), C (M, N).
    device : str or Device
        The card that is shown first, such as "H200" or "h200".
    BM, BN, BK, TM, TN, shared
        The first choice, as `product_tile` takes it.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        As `product_tile`; a first choice that is impossible, with the reason.

    Source: H, "Strategies for Lab 7", 4 (joint register-shared tiling); Williams, Waterman, Patterson (2009).
    """
    t = product_tile(M, N, K, BM=BM, BN=BN, BK=BK, TM=TM, TN=TN, shared=shared, device=device)
    if t.refused:
        raise ValueError(f"the first choice is impossible: {t.refused[1]}")
    devices = [*DEVICES.values()] if t.device in DEVICES.values() else [t.device]
    data = {
        "M": t.M, "N": t.N, "K": t.K, "sizes": {name: getattr(t, name) for name in ("BM", "BN", "BK", "TM", "TN")},
        "shared": t.shared, "every": {"BM": BLOCK, "BN": BLOCK, "BK": DEPTH, "TM": THREAD, "TN": THREAD},
        "presets": ladder_tiles(), "devices": [_card(d) for d in devices], "device": devices.index(t.device),
        "own": OWN_REGISTERS, "onTheWay": ON_THE_WAY,
    }  # fmt: skip
    return live("tile_explorer", data, title="Which tiles would you choose?", static=_static(t))


def _card(d):
    roof = roofline(d)
    return facts(d) | {
        "sms": d.sms, "perClock": d.float32_per_clock, "peak": roof.peak, "bandwidth": roof.bandwidth,
    }  # fmt: skip


def _static(t):
    says = (
        f"C ({t.M}, {t.N}) in tiles of {t.BM} x {t.BN}, {t.TM} x {t.TN} outputs a thread: a number of A that was "
        f"loaded once serves {t.uses[0]} multiply-adds, one of B {t.uses[1]}. The threads ask for {t.global_loads:,} "
        f"numbers, {t.intensity:.3g} FLOP for each byte; the ridge of the {t.device.name} is at "
        f"{roofline(t.device).ridge:.3g}."
    )
    lines = [
        f"{count(t.threads, 'thread')} a block, {count(t.accumulators, 'sum')} a thread, about {t.registers} registers",
        f"{t.shared_bytes:,} bytes of shared memory a block",
        f"{t.loads_per_product:.3g} reads a multiply-add: {t.load_ceiling:.3g} of the peak at most",
        f"{count(t.blocks, 'block')}, {t.held.blocks} on an SM ({t.held.share:.0%}): {t.waves:.3g} rounds",
    ]
    lines = [part for line in lines for part in wrapped(line)]
    s = Panel(WIDTH, 26 + SIDE + 24 + 17 * len(lines))
    _whole(s, t, EDGE, 26)
    _block(s, t, EDGE + SIDE + 24, 26)
    for k, line in enumerate(lines):
        s.text(EDGE, 26 + SIDE + 22 + 17 * k, line)
    return picture(s, alt=f"{says} {'; '.join(lines)}.", caption=says)


def _whole(s, t, x, y):
    """Draw A, B and C as they multiply, and what one block reads of them."""
    s.text(x, y - 10, "The whole product", bold=True)
    gap = 6
    scale = (SIDE - gap) / max(t.K + t.N, t.K + t.M)
    k, n, m = t.K * scale, t.N * scale, t.M * scale
    x0, y0 = x + k + gap, y + k + gap
    for place, role in (((x, y0, k, m), "data"), ((x0, y, n, k), "weight"), ((x0, y0, n, m), "output")):
        s.rect(*place, stroke=role)
    high, wide = min(m, max(3, t.BM * scale)), min(n, max(3, t.BN * scale))
    top = y0 + min(m - high, t.M // t.BM // 3 * t.BM * scale)
    left = x0 + min(n - wide, t.N // t.BN // 2 * t.BN * scale)
    s.rect(x, top, k, high, fill=style.tint("data", 0.5), stroke="none")
    s.rect(left, y, wide, k, fill=style.tint("weight", 0.5), stroke="none")
    s.rect(left, top, wide, high, fill="output")
    s.text(x + 3, y0 + m - 5, "A")
    s.text(x0 + 3, y + 13, "B")
    s.text(x0 + 3, y0 + m - 5, "C")


def _block(s, t, x, y):
    """Draw a block's tiles, brighter where a number serves more, and the tile of its first thread."""
    s.text(x, y - 10, "One block, one step", bold=True)
    gap = 5
    scale = (SIDE - gap) / (t.BK + max(t.BM, t.BN))
    x0, y0 = x + t.BK * scale + gap, y + t.BK * scale + gap
    heat = [0.12 + 0.78 * math.log2(uses) / 8 for uses in t.uses]
    s.rect(x, y0, t.BK * scale, t.BM * scale, fill=style.tint("data", heat[0]), stroke="data")
    s.rect(x0, y, t.BN * scale, t.BK * scale, fill=style.tint("weight", heat[1]), stroke="weight")
    s.rect(x0, y0, t.BN * scale, t.BM * scale, stroke="output")
    s.rect(x0, y0, max(3, t.TN * scale), max(3, t.TM * scale), fill="output")
    s.rect(x, y0, t.BK * scale, max(3, t.TM * scale), line=2)
    s.rect(x0, y, max(3, t.TN * scale), t.BK * scale, line=2)
