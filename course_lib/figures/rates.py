"""Learning rates that change: a range test, and schedules.

Source: Smith (2017), "Cyclical Learning Rates for Training Neural Networks"; the schedules as in `nn.schedules`.
"""

import numpy as np

from course_lib.validate import require_some

from . import style


@style.styled
def range_test(rates, losses, *, guessing=None, smooth=5):
    """Return a figure of the loss while the learning rate grows, with its mean over a few batches.

    Parameters
    ----------
    rates, losses : arrays (n,)
        As `lesson.rate_range` returns them.
    guessing : float, optional
        A loss that is drawn as a dotted line.
    smooth : int >= 1
        Batches in a mean.

    ValueError if there are fewer than `smooth` of them. Source: Smith (2017).
    """
    rates, losses = np.asarray(rates, float), np.asarray(losses, float)
    if len(losses) < smooth or len(rates) != len(losses):
        raise ValueError(f"there are {len(rates)} rates and {len(losses)} losses; {smooth} of each are the least.")
    fig, ax = style.new_figure(4.6, 3.2)  # its text is readable on a phone
    ax.plot(rates, losses, color=style.tint("data", 0.5), linewidth=1, label="each batch")
    data = style.cue("data")
    ax.plot(rates[smooth - 1 :], running_mean(losses, smooth), color=data.colour, label=f"mean of {smooth}")
    if guessing is not None:
        ax.axhline(guessing, color=style.INK, linestyle=":", linewidth=1, label="guessing")
    ax.set(xscale="log", xlabel="learning rate", ylabel="loss", title="One training, faster at every step")
    ax.set_ylim(0, 1.7 * losses[0])
    ax.legend(loc="lower left")
    return fig


@style.styled
def schedule(rates):
    """Return a figure of the learning rate at each step, rates (n,). ValueError if there is none.

    Source: the course's own.
    """
    require_some("rates", rates)
    fig, ax = style.new_figure(4.6, 2.6)
    ax.plot(rates, color=style.colour("weight"))
    ax.set(xlabel="step", ylabel="learning rate", title="Warm-up, then half a cosine")
    return fig


def running_mean(values, count):
    """Return the means of `count` neighbours, (n - count + 1,), of values (n,). No errors.

    Source: the course's own.
    """
    return np.convolve(values, np.full(count, 1 / count), "valid")
