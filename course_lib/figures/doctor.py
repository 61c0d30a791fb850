"""Curves of six trainings, of which the reader says what ails each one."""

import math
from dataclasses import dataclass

import numpy as np

from . import style
from .live import live
from .picture import picture

GUESSING = math.log(10)
"""The loss of a network that gives each of ten classes the same probability."""

TOP = 4.0
"""The highest loss that is drawn; what lies above is written at the edge."""


@dataclass(frozen=True)
class Ward:
    """What can be said of a curve: the reason of the right diagnosis, and how a wrong one is answered.

    Source: the course's own.
    """

    name: str
    says: str
    hint: str


WARDS = (
    Ward(
        "sound",
        "Both losses fall fast at first, then slowly, and the two stay close together. Nothing to treat.",
        "A sound curve falls fast at first, levels off, and its two lines stay close together.",
    ),
    Ward(
        "rate too small",
        "Both losses fall together, at an even pace, and are nowhere near done after 20 epochs. Make the learning rate "
        "ten times larger and look again.",
        "A rate that is too small shows as a long, even slope that has not levelled off by the end.",
    ),
    Ward(
        "rate too large",
        "The training loss jumps up and down and comes to rest nowhere; that it ends near ln 10 is no clue. Lower the "
        "learning rate.",
        "With a rate that is too large the training loss itself jumps up and down.",
    ),
    Ward(
        "over-fitting",
        "The training loss goes to 0 while the validation loss has stopped falling: the network learns its few digits "
        "by heart. More data is the best cure; stopping early costs nothing.",
        "In over-fitting the training loss goes on falling to 0, and the validation loss does not follow.",
    ),
    Ward(
        "weights too small",
        "Both losses lie on the dotted line, ln 10, from the first epoch to the last: every class gets the same "
        "probability, and no gradient reaches the lower layers. Start with larger weights.",
        "Where the weights are too small for the depth, the loss does not leave ln 10 at all.",
    ),
    Ward(
        "weights too large",
        "The loss before training is far above ln 10: the network began by being very sure, and wrong. It gets the "
        "training digits right in the end, and the validation loss stays above ln 10. Start with smaller weights.",
        "Weights that are too large show before training: look for a first loss far above ln 10.",
    ),
)
"""In the order of the buttons."""

ORDER = ("weights too small", "over-fitting", "rate too large", "sound", "weights too large", "rate too small")
"""In which the patients come."""


def diagnose(curves, *, title="Six trainings: what ails them?"):
    """Return a figure that shows six trainings one by one, and asks what is wrong with each.

    Parameters
    ----------
    curves : dict
        {name of `WARDS`: (losses on training digits, losses on validation digits)}, before training and after each
        epoch; as `lesson.sick_curves` returns them.

    Returns
    -------
    figures.Live

    ValueError unless there is one training for each of `WARDS`. Source: the course's own.
    """
    if set(curves) != {ward.name for ward in WARDS}:
        raise ValueError(f"the curves are {', '.join(curves)}; there must be one each: {', '.join(ORDER)}.")
    content = {
        "wards": [{"name": w.name, "says": w.says, "hint": w.hint} for w in WARDS],
        "patients": [{"name": name, "training": curves[name][0], "validation": curves[name][1]} for name in ORDER],
        "guessing": round(GUESSING, 4), "top": TOP,
    }  # fmt: skip
    return live("doctor", content, title=title, static=_static([curves[name] for name in ORDER]))


@style.styled
def _static(curves):
    """Return the six curves side by side, without their names."""
    fig, axes = style.new_figure(6.5, 4.4, 2, 3, sharey=True)
    for i, (ax, (training, validation)) in enumerate(zip(np.ravel(axes), curves, strict=True)):
        for name, values in (("training", training), ("validation", validation)):
            cue = style.cue("data" if name == "training" else "output")
            broad = 3.6 if name == "training" else 1.8  # dashes upon a broad line, where both lie in one place
            ax.plot(np.minimum(values, TOP), color=cue.colour, linestyle=cue.linestyle, linewidth=broad, label=name)
        ax.axhline(GUESSING, color=style.INK, linestyle=":", linewidth=1, zorder=5)  # seen where the curves lie on it
        ax.set(ylim=(0, TOP), title=f"patient {i + 1}")
        if max(abs(np.array([*training, *validation]) - GUESSING)) < 0.03:
            ax.text(0.5, GUESSING + 0.15, "both on the dotted line")
        if training[0] > TOP:
            ax.text(0.5, TOP - 0.1, f"begins at {training[0]:.0f}", va="top")
    axes[0, 0].legend(loc="lower left")
    axes[1, 1].set_xlabel("epoch")
    axes[0, 0].set_ylabel("loss")
    axes[1, 0].set_ylabel("loss")
    ends = "; ".join(f"patient {i + 1} ends at {t[-1]:.2g} and {v[-1]:.2g}" for i, (t, v) in enumerate(curves))
    return picture(
        fig,
        alt=f"Loss over 20 epochs of six trainings, on training digits and on validation digits: {ends}. Guessing is "
        "2.3.",
        caption="Six trainings. The dotted line is ln 10, the loss of guessing.",
    )
