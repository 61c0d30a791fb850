"""One job on two devices, for lesson 19: a slider gives each its share, and the slower one decides when it is done.

Source: K, course plan, "OpenCL, heterogeneous computing"; the course's own.
"""

from dataclasses import dataclass

from course_lib.opencl.shares import best_share
from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_positive, require_some

from . import style
from .live import live
from .picture import picture


@dataclass(frozen=True)
class Pair:
    """Two devices and one job.

    Attributes
    ----------
    names : (str, str)
    seconds : (float, float)
        What each needs for the whole job, in seconds > 0.
    fixed : (float, float)
        What each needs before it begins, however small its share.
    curve : tuple of (float, float)
        What was measured: the first one's share, and the seconds until both were done.
    upto : float
        The lower picture shows the first one's shares from 0 to this, 0 < upto <= 1.

    Source: the course's own.
    """

    names: tuple
    seconds: tuple
    fixed: tuple = (0.0, 0.0)
    curve: tuple = ()
    upto: float = 1.0


def share_explorer(pairs, start=50, title="How much of the job should each device get?"):
    """Return a figure in which the reader splits a job between two devices.

    Parameters
    ----------
    pairs : dict of str to Pair
        The first one is shown first; with several, buttons choose.
    start : int
        The first device's share in percent.

    Raises
    ------
    ValueError, TypeError
        Without pairs; times that are no numbers > 0; a start outside of 0 to 100; an `upto` outside of 0 to 1.

    Source: the course's own.
    """
    require_some("the pairs of devices", pairs)
    if not 0 <= start <= 100:
        raise ValueError(f"start is {start}; a share lies between 0 and 100 percent.")
    data = {"start": int(start), "pairs": [_told(label, pair) for label, pair in pairs.items()]}
    return live("share_explorer", data, title=title, static=_static(next(iter(pairs.values())), start))


def _told(label, pair):
    alone = [1e3 * require_positive("seconds", t) for t in pair.seconds]
    fixed = [1e3 * require_positive("fixed", t, zero=True) for t in pair.fixed]
    curve = [[round(s, 6), round(1e3 * t, 6)] for s, t in pair.curve]
    if not 0 < pair.upto <= 1:
        raise ValueError(f"upto is {pair.upto}; the picture ends at a share above 0 and up to 1.")
    names = list(pair.names)
    return {"label": label, "names": names, "alone": alone, "fixed": fixed, "curve": curve, "upto": pair.upto}


def _static(pair, start):
    s = start / 100
    took = [f + part * t if part else 0.0 for f, part, t in zip(pair.fixed, (s, 1 - s), pair.seconds, strict=True)]
    most, best = (
        max(t + f for t, f in zip(pair.seconds, pair.fixed, strict=True)),
        best_share(*pair.seconds, *pair.fixed),
    )
    p = Panel(WIDTH, 150)
    right = WIDTH - EDGE
    for k, (name, t) in enumerate(zip(pair.names, took, strict=True)):
        y, wide = 20 + 50 * k, (right - EDGE) * t / most
        p.text(EDGE, y, f"{name}: {100 * (1 - s if k else s):.0f} % of the job, {1e3 * t:.3g} ms", bold=True)
        p.rect(EDGE, y + 8, max(wide, 1), 20, fill=style.tint(("data", "weight")[k], 0.75))
        if t < max(took):
            p.cells([(EDGE + wide, y + 8, (right - EDGE) * (max(took) - t) / most, 20)], hatched=True)
    p.text(EDGE, 136, f"done after {1e3 * max(took):.3g} ms; hatched: waiting")
    one, other = pair.names
    says = (
        f"With {start} % for {one} the job takes {1e3 * max(took):.3g} ms. It takes {1e3 * best.seconds:.3g} ms, the "
        f"least, with {100 * best.first:.0f} % for {one} and the rest for {other}: then both end together."
    )
    return picture(p, alt=says, caption=f"With {start} % for {one} the job takes {1e3 * max(took):.3g} ms.")
