"""The predicted time of a call that is several launches, from facts that were counted before.

Source: the course's own.
"""

from course_lib.simt.estimate.facts import Facts
from course_lib.simt.estimate.predict import time_or_reason


def time_of_call(launches, device):
    """Return (seconds, what limits) of a call, or (None, why nothing is predicted).

    Parameters
    ----------
    launches : list of dict
        As in `results/counts.json`: the facts of each launch, and how many `times` the call does it; or a `failure`.
    device : str or Device
        Whose rates are taken.

    ValueError for an unknown device. Source: the course's own.
    """
    if "failure" in launches[0]:
        return None, f"not counted: {launches[0]['failure']}"
    total, longest, limit = 0.0, 0.0, ""
    for launch in launches:
        facts = Facts(**{k: v for k, v in launch.items() if k != "times"})
        found, reason = time_or_reason(facts, device, alone=len(launches) == 1)
        if found is None:
            return None, reason
        seconds = found.seconds * launch["times"]
        total += seconds
        if seconds > longest:
            longest, limit = seconds, found.limit
    return total, limit
