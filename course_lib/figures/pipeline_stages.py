"""A pipeline's stages over time: micro-batches go forward and back, and stages wait, for lesson 18.

Source: Y. Huang et al. (2019), "GPipe"; D. Narayanan et al. (2019), "PipeDream".
"""

from course_lib.cluster import Cluster
from course_lib.cluster.pipeline import ORDERS, Timeline, bubble, play
from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_choice, require_count

from . import style
from .live import live
from .picture import picture

MOST_STAGES, MOST_MICRO = 8, 16
FORWARD, BACKWARD = 1, 2
"""A backward pass computes two products for each one of the forward pass."""

NAMES = {"gpipe": "all forward, then all back", "1f1b": "one forward, one back"}


def timeline(stages, micro_batches, schedule="gpipe", slow=None) -> Timeline:
    """Return the `Timeline` that the figure draws, in units of one forward pass.

    Parameters
    ----------
    stages, micro_batches : int
    schedule : "gpipe" or "1f1b"
    slow : int, optional
        A stage that takes twice as long.

    Returns
    -------
    cluster.pipeline.Timeline
        Errors as `cluster.pipeline.play`.

    Source: Huang et al. (2019).
    """
    factors = [2.0 if s == slow else 1.0 for s in range(stages)]
    return play(Cluster(stages), micro_batches, FORWARD, BACKWARD, schedule=schedule, slowness=factors)


def pipeline_timeline(stages=4, micro_batches=4, schedule="gpipe", title="When does each stage work?"):
    """Return a figure of a pipeline; the reader chooses stages, micro-batches, their order, and slows a stage down.

    Parameters
    ----------
    stages : int
        1 to 8.
    micro_batches : int
        1 to 16.
    schedule : "gpipe" or "1f1b"

    Raises
    ------
    TypeError, ValueError
        If one is none of these.

    Source: Huang et al. (2019).
    """
    require_choice("schedule", schedule, ORDERS)
    for name, value, most in (("stages", stages, MOST_STAGES), ("micro_batches", micro_batches, MOST_MICRO)):
        if require_count(name, value) > most:
            raise ValueError(f"{name} is {value}; more than {most} are too small to see.")
    data = {
        "start": [stages, micro_batches, ORDERS.index(schedule)],
        "most": [MOST_STAGES, MOST_MICRO],
        "orders": list(ORDERS),
        "names": [NAMES[name] for name in ORDERS],
        "takes": [FORWARD, BACKWARD],
    }
    return live("pipeline_stages", data, title=title, static=_static(stages, micro_batches, schedule))


def _static(stages, micro_batches, schedule):
    found, high, left = timeline(stages, micro_batches, schedule), 26, 58
    s = Panel(WIDTH, 12 + high * stages + 52)
    unit = (WIDTH - left - EDGE) / found.seconds
    for stage in range(stages):
        y = 10 + high * stage
        s.text(EDGE, y + 15, f"stage {stage}")
        s.cells([(left, y, WIDTH - left - EDGE, high - 5)], fill=style.tint("idle", 0.12), hatched=True)
    for span in found.spans:
        x, y, wide = left + unit * span.begin, 10 + high * span.device, unit * (span.end - span.begin)
        s.rect(x, y, wide, high - 5, fill=style.tint("data" if span.what[0] == "F" else "gradient", 0.6))
        if wide > 11:
            s.text(x + wide / 2, y + 15, span.what[1:], anchor="middle")
    y = s.key([(style.tint("data", 0.6), False, "forward"), (style.tint("gradient", 0.6), False, "back"),
               (style.tint("idle", 0.12), True, "waits")], EDGE, 18 + high * stages)  # fmt: skip
    share = found.bubble
    says = (
        f"{stages} stages, {micro_batches} micro-batches, {NAMES[schedule]}: {found.seconds:.0f} units of time, and "
        f"stages wait for {100 * share:.0f} % of them."
    )
    s.text(EDGE, y + 10, f"waiting: {100 * share:.0f} % of all time")
    expected = bubble(stages, micro_batches)
    alt = (
        f"{says} (p - 1) / (m + p - 1) = {stages - 1} / {micro_batches + stages - 1} = {100 * expected:.0f} %. "
        f"Stage 0 keeps the activations of {found.kept[0]} micro-batches."
    )
    return picture(s, alt=alt, caption=says)
