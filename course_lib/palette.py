"""Colours, sizes and fonts of all that the course shows: figures, reports, cards (palette: Okabe and Ito, 2008).

One colour means one thing everywhere. `figures.style` has the cues beside the colours, and needs matplotlib; this does
not, so that a report of the grader is written without it.

Source: Okabe and Ito, Color Universal Design, 2008.
"""

COLOURS = dict(
    data="#0072B2",  # data and activations
    weight="#E69F00",  # weights
    output="#009E73",  # outputs and right answers
    gradient="#D55E00",  # gradients
    hazard="#CC79A7",  # hazards and wrong answers
    thread="#56B4E9",  # threads, warps, tiles
    idle="#999999",  # everything idle
)
# Names of matplotlib's colour maps; both stay ordered for every kind of colour vision.
SEQUENTIAL = "cividis"
DIVERGING = "PuOr_r"  # a number with a sign: white is 0, orange above it like the weights, purple below
INK, MUTED, GRID, PAPER = "#222222", "#595959", "#E4E4E4", "#FFFFFF"

# Order in which plain series take a colour when they have no role; those with a strong meaning come last.
SERIES = ("data", "output", "idle", "thread", "gradient", "hazard", "weight")

# Points. A figure of w inches is shown w * SCREEN_DPI pixels wide: a point on paper is a point on screen.
SIZE_SMALL, SIZE_TEXT, SIZE_TITLE = 9, 10, 11
SCREEN_DPI = 96
TEXT_PX = 12  # SIZE_SMALL in pixels, the smallest text of SVG drawings
FONTS = ("DejaVu Sans", "Verdana", "Arial", "sans-serif")


def colour(role):
    """Return the colour of a role as "#RRGGBB". Raises KeyError that lists the roles."""
    if role not in COLOURS:
        raise KeyError(f"no role {role!r}; the roles are {', '.join(COLOURS)}")
    return COLOURS[role]


def tint(role, amount=0.2):
    """Return the colour of a role mixed into white: `amount` 0 is white, 1 is the full colour."""
    full = colour(role)
    mixed = (round(255 - (255 - int(full[i : i + 2], 16)) * amount) for i in (1, 3, 5))
    return "#" + "".join(f"{v:02X}" for v in mixed)
