"""Pictures of lesson 01: why a perceptron must stop, and how far the margin of a line tells how it will do."""

import numpy as np

from course_lib.validate import require_some

from . import style


@style.styled
def squeeze(along, lengths, longest, margin):
    """Return a figure: the length of the weights between a floor and a ceiling that meet, correction by correction.

    Parameters
    ----------
    along, lengths : (k + 1,) arrays
        u . w and |w| after 0 .. k corrections, as `lesson.corrections.progress` returns them.
    longest, margin : float
        R and the margin of u: the floor is margin times k, the ceiling R times the square root of k.

    Source: the course's own.
    """
    require_some("along", along)
    fig, ax = style.new_figure(3.85, 3.5)
    end = (longest / margin) ** 2
    k = np.linspace(0, end, 200)
    ax.fill_between(k, margin * k, longest * np.sqrt(k), color=style.tint("idle", 0.25), linewidth=0)
    ax.plot(k, longest * np.sqrt(k), color=style.COLOURS["gradient"], linestyle="-.", label="at most: R \u221ak")
    counted = np.arange(len(along))
    ax.plot(counted, lengths, "o-", color=style.COLOURS["weight"], markersize=4, label="|w| of the run")
    ax.plot(counted, along, "s-", color=style.COLOURS["data"], markersize=3.5, label="u \u00b7 w of the run")
    ax.plot(k, margin * k, color=style.COLOURS["output"], linestyle="--", label="at least: k \u03b3")
    ax.axvline(end, color=style.MUTED, linewidth=1, linestyle=":")
    ax.annotate(f"no room after {end:.0f}", (end, 0), (-6, 8), textcoords="offset points", ha="right",
                fontsize=style.SIZE_SMALL)  # fmt: skip
    ax.set(xlabel="corrections k", ylabel="|w| and u \u00b7 w", xlim=(0, end * 1.03), ylim=(0, None))
    ax.legend(loc="upper left")
    return fig


@style.styled
def margins(margins, right, widest, fresh="fresh points", widest_is="the widest margin"):
    """Return a figure with a point for each line: its margin to the right, its share of right answers on fresh data.

    Parameters
    ----------
    margins, right : (n,) arrays
        Shares between 0 and 1.
    widest : (float, float)
        Margin and share of the line with the widest margin, drawn as a ring.
    fresh, widest_is : str
        What the lines were tried on, and what the ring is called: by looking one finds a wide margin, not the widest.

    Source: the course's own.
    """
    require_some("margins", margins)
    fig, ax = style.new_figure(3.85, 3.1)
    ax.scatter(margins, 100 * np.asarray(right), s=28, color=style.COLOURS["weight"], label=f"{len(margins)} orders")
    ax.scatter([widest[0]], [100 * widest[1]], s=110, facecolor="none", edgecolor=style.INK, linewidth=1.8,
               label=widest_is)  # fmt: skip
    ax.set(xlabel="margin of the line", ylabel=f"right on {fresh}, %")
    ax.legend(loc="lower right")
    return fig
