"""How long each launch of a step would take on a card, predicted from what the executor counts; no card is needed.

Source: the course's own; `simt.estimate` has the model.
"""

from course_lib.cuda.recording import record_launches
from course_lib.cuda.simulate import twins_of
from course_lib.simt.estimate.by_classes import time_by_classes
from course_lib.simt.estimate.rates import rates_of
from course_lib.simt.run import run
from course_lib.simt.source import source_of

STEPS = 10_000_000
"""Statements that the walk of a launch may take."""


def predicted_launches(step, card):
    """Return [(kernel's name, predicted seconds)] of what a function launches, in order.

    The function runs once. Each launch is then walked by the executor with what the arrays hold afterwards, and its
    counts go into the model of the card. A launch takes at least as long as an empty one does.

    Parameters
    ----------
    step : function
        Without arguments.
    card : str
        A card that was measured, such as "H200".

    ValueError for another card; errors as the launches. Source: the course's own.
    """
    with record_launches() as noted:
        step()
    return [(launch.kernel.__name__, _seconds(launch, card)) for launch in noted]


def _seconds(launch, card):
    source = source_of(launch.kernel)
    arguments = twins_of(launch.arguments, "predicted_launches")
    options = {"shared": launch.shared, "on_error": "collect", "races": False}
    report = run(source, launch.grid, launch.block, arguments, **options)
    found = time_by_classes(source, report, arguments, card, times=1, grow=(), seed=0, steps=STEPS)
    return max(found.seconds, rates_of(card).launch)
