"""Which rungs above v06 a convolution layer takes: the one place to change when a card has timed them.

v06 is what a layer takes: it computes in float32 throughout. The rungs here are faster for some layers. On an H200,

    python tools/measure_convolutions.py --out results/convolutions.<device>.json

compared each with float64, v06 and cuDNN. Those in SWITCHED_ON were faster than v06 and fast enough beside cuDNN, with
errors of at most 1.5 times cuDNN's in float32. They are taken on cards of compute capability 9.0 alone, which they are
cut for and were timed on, and only for as many images as keep all of its multiprocessors busy. What is lost: the 3xTF32
rungs make NaN of an infinity, and those by wgmma may do so in a neighbouring column, too. Elsewhere, and on the SIMT
executor, layers take v06. Whether on or off, each can be launched by its own name. Source: the course's own.
"""

import functools
import importlib
from dataclasses import replace

from course_lib.cuda.capability import has_hopper, multiprocessors

ABOVE = (
    "forward/v11_streamed",
    "forward/v12_3xtf32_wgmma",
    "forward/v10_3xtf32_rows",
    "forward/v09_3xtf32",
    "backward_data/v11_3xtf32_wgmma",
)
"""Those that were timed. Where several that are on suit a layer, the first one is taken."""

SWITCHED_ON = frozenset(ABOVE) - {"forward/v10_3xtf32_rows"}
"""v10 was faster than v06 for the layer that it was timed on, and v12 faster still: v10 is v12 without wgmma."""


def chosen(direction, s):
    """Return the launcher of the rung that is on and suits a layer of Sizes, or None: then it is v06's.

    direction : str
        "forward" or "backward_data".

    DeviceError as `has_hopper`. Source: the course's own.
    """
    return _first(direction, s, SWITCHED_ON) if has_hopper() else None


@functools.lru_cache(maxsize=256)
def _first(direction, s, on):
    """Return the launcher of the first rung of `on` that is made for the layer and fills the card, or None.

    Kept, since a training asks at every step.
    """
    for name in ABOVE:
        if name in on and name.startswith(f"{direction}/"):
            rung = importlib.import_module(f"course_lib.cuda.ladders.conv2d.{name.replace('/', '.')}")
            plan = rung.made_for(replace(s, B=0))
            if plan is not None and plan.grid(s.B) >= multiprocessors():
                return getattr(rung, f"conv2d_{name.replace('/', '_')}")
    return None
