"""Colours, sizes and non-colour cues of every figure in the course (palette: Okabe and Ito, 2008).

One colour means one thing everywhere, and no meaning is carried by colour alone: use `cue` to get a marker,
a line style and a hatch that differ from each other even in grey.
"""

import functools
from dataclasses import dataclass

import matplotlib
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure

from course_lib.palette import (
    COLOURS,
    DIVERGING,
    FONTS,
    GRID,
    INK,
    MUTED,
    PAPER,
    SCREEN_DPI,
    SEQUENTIAL,
    SERIES,
    SIZE_SMALL,
    SIZE_TEXT,
    SIZE_TITLE,
    TEXT_PX,
    colour,
    tint,
)

__all__ = [
    "COLOURS",
    "DIVERGING",
    "FONTS",
    "GRID",
    "INK",
    "MUTED",
    "PAPER",
    "SCREEN_DPI",
    "SEQUENTIAL",
    "SERIES",
    "SIZE_SMALL",
    "SIZE_TEXT",
    "SIZE_TITLE",
    "TEXT_PX",
    "ClassCue",
    "Cue",
    "class_cue",
    "colour",
    "context",
    "contrast",
    "cue",
    "ink_on",
    "new_figure",
    "shades",
    "styled",
    "tint",
    "use",
]

MARKERS = dict(data="o", weight="s", output="^", gradient="D", hazard="X", thread="P", idle="v")
LINESTYLES = dict(
    data="-", weight="--", output=(0, (5, 1.5)), gradient="-.", hazard=":", thread=(0, (3, 1, 1, 1)), idle=(0, (1, 1))
)
HATCHES = dict(data="", weight="///", output="...", gradient="xxx", hazard="\\\\\\", thread="++", idle="oo")

RC = {
    "font.family": "sans-serif",
    "font.sans-serif": [FONTS[0]],  # comes with matplotlib: no search, no warning
    "font.size": SIZE_TEXT,
    "text.color": INK,
    "figure.facecolor": PAPER,
    "figure.dpi": SCREEN_DPI,
    "figure.titlesize": SIZE_TITLE,
    "figure.titleweight": "bold",
    "figure.constrained_layout.w_pad": 0.09,
    "figure.constrained_layout.h_pad": 0.09,
    "savefig.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": SIZE_TEXT,
    "axes.titlesize": SIZE_TITLE,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": matplotlib.cycler(color=[COLOURS[role] for role in SERIES]),
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SIZE_SMALL,
    "ytick.labelsize": SIZE_SMALL,
    "legend.fontsize": SIZE_SMALL,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.5,
    "image.cmap": SEQUENTIAL,
    "svg.hashsalt": "course",
}


@dataclass(frozen=True)
class Cue:
    """How one series differs from the others: by colour, and by marker, line style and hatch too."""

    colour: str
    marker: str
    linestyle: object
    hatch: str


@dataclass(frozen=True)
class ClassCue:
    """How the points of one class look, and the colour of the region where it is predicted."""

    marker: str
    face: str
    edge: str
    region: str

    @property
    def plot(self):
        """Keywords for `ax.plot` and `ax.scatter`-like calls that take marker face and edge colours."""
        return dict(
            linestyle="none",
            marker=self.marker,
            markerfacecolor=self.face,
            markeredgecolor=self.edge,
            markeredgewidth=1.4,
        )


def cue(which):
    """Return the `Cue` of a role name ("data", "weight", ...) or of plain series number `which` (0, 1, ...).

    Series numbers follow `SERIES` and wrap around after seven. Raises KeyError for an unknown role.
    """
    role = which if isinstance(which, str) else SERIES[which % len(SERIES)]
    return Cue(colour(role), MARKERS[role], LINESTYLES[role], HATCHES[role])


def class_cue(k):
    """Return the `ClassCue` of class k (0, 1, ...): points of every class are data, hence blue, hollow (0) or full (1).

    Wraps around after six classes.
    """
    looks = (
        ("s", PAPER, COLOURS["data"], PAPER),
        ("o", COLOURS["data"], COLOURS["data"], tint("data", 0.25)),
        ("^", COLOURS["thread"], INK, tint("thread", 0.5)),
        ("D", PAPER, INK, tint("idle", 0.25)),
        ("v", COLOURS["idle"], INK, tint("idle", 0.55)),
        ("P", PAPER, COLOURS["thread"], tint("thread", 0.12)),
    )
    return ClassCue(*looks[int(k) % len(looks)])


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2 defines it, 1 (none) to 21; small text wants 4.5."""
    light = []
    for colour_ in (one, other):
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(colour_)]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(light) + 0.05) / (min(light) + 0.05)


def ink_on(ground):
    """Return the colour of text, dark or white, that reads better on a ground of colour `ground`."""
    return max((INK, PAPER), key=lambda ink: contrast(ink, ground))


def shades(role):
    """Return a matplotlib colour map from white to the dark end of a role's colour, for counts and amounts."""
    full = colour(role)
    dark = "#" + "".join(f"{round(int(full[i : i + 2], 16) * 0.55):02X}" for i in (1, 3, 5))
    return LinearSegmentedColormap.from_list(role, [PAPER, full, dark])


def use():
    """Make the course's look matplotlib's default until the kernel ends (changes the global rcParams)."""
    matplotlib.rcParams.update(RC)


def context():
    """Return a context manager: matplotlib draws in the course's look inside it, as before after it."""
    return matplotlib.rc_context(RC)


def styled(function):
    """Decorate a function that draws, so that it runs inside `context`. Use it on every plotting function."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with context():
            return function(*args, **kwargs)

    return wrapper


@styled
def new_figure(width=6.5, height=3.5, rows=1, cols=1, **subplots):
    """Return `(fig, ax)` like `plt.subplots`, in the course's look and outside pyplot, so nothing leaks.

    Parameters
    ----------
    width, height : float
        Inches; shown at 96 pixels an inch, so 6.5 is 624 pixels. Keep width <= 8.5.
    rows, cols : int
        Grid of axes; `ax` is one Axes for 1 by 1, else an array of them.
    **subplots
        Passed to `Figure.subplots` (`sharex`, `width_ratios`, ...).
    """
    fig = Figure(figsize=(width, height), layout="constrained")
    return fig, fig.subplots(rows, cols, **subplots)
