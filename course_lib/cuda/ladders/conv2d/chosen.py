"""Which rungs above v06 a convolution layer takes: the one place to change when a card has timed them.

v06 is what a layer takes: it computes in float32 throughout, and was timed. The rungs here are made to be faster for
some layers, and nobody has timed them yet, so that all are off. On a card,

    python tools/measure_convolutions.py --out results/convolutions.<device>.json

compares each with float64, v06 and cuDNN. One that is faster, and whose error is at most 1.5 times cuDNN's in float32,
may be switched on by its name in SWITCHED_ON. The 3xTF32 rungs round as well as float32 does, but make NaN of an
infinity. Whether on or off, each can be launched by its own name. Source: the course's own.
"""

import importlib

from course_lib.cuda.capability import compute_capability

SWITCHED_ON = frozenset()
"""Names of `ABOVE`, such as "forward/v09_3xtf32"."""

ABOVE = (
    "forward/v11_streamed",
    "forward/v12_3xtf32_wgmma",
    "forward/v10_3xtf32_rows",
    "forward/v09_3xtf32",
    "backward_data/v11_3xtf32_wgmma",
    "backward_data/v10_3xtf32_rows",
    "backward_weights/v10_3xtf32_rows",
)
"""Those that can be switched on. Where several suit a layer, the first one is taken."""


def chosen(direction, s):
    """Return the launcher of the rung that is on and suits a layer of Sizes, or None: then it is v06's.

    direction : str
        "forward", "backward_data" or "backward_weights".

    No errors: a card before compute capability 9.0, for which they are cut, has none. Source: the course's own.
    """
    for name in ABOVE:
        if name in SWITCHED_ON and name.startswith(f"{direction}/") and compute_capability() >= (9, 0):
            rung = importlib.import_module(f"course_lib.cuda.ladders.conv2d.{name.replace('/', '.')}")
            if rung.suits(s):
                return getattr(rung, f"conv2d_{name.replace('/', '_')}")
    return None
