"""Training steps that one process made, or several together, as tools/measure_parallel.py timed them: for lesson 18.

Source: `results/parallel.<processor>.json`.
"""

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

from .measurements import by_round, results_folder


@dataclass(frozen=True)
class RankSteps:
    """Times of steps on one machine.

    Attributes
    ----------
    processor, date : str
    seconds : dict
        (network, batch, ranks, exchange) -> seconds of a step, as measured; `exchange` is "overlap" or
        "after", "alone" where nothing is sent, and "none" for one process that uses all cores.

    Source: the course's own.
    """

    processor: str
    date: str
    seconds: dict

    def gain(self, network, batch, ranks):
        """Return how many times as fast as one rank `ranks` are, in the better of the two ways to sum.

        KeyError if that was not measured. Source: the course's own.
        """
        return self.seconds[network, batch, 1, "alone"] / self.together(network, batch, ranks)

    def together(self, network, batch, ranks):
        """Return the seconds of a step of `ranks`, in the better of both ways. KeyError if that was not measured.

        Source: the course's own.
        """
        return min(self.seconds[network, batch, ranks, way] for way in ("overlap", "after"))


def rank_steps(processor="amd-epyc", *, folder=None):
    """Return the `RankSteps` of a processor, by the name in its file.

    A step ends when its slowest rank has. Of the steps of a run the least counts, of several runs the median.
    FileNotFoundError if there is no such file; the message says what writes it. Source: the course's own.
    """
    file = (results_folder() if folder is None else Path(folder)) / f"parallel.{processor}.json"
    if not file.is_file():
        raise FileNotFoundError(f"there is no results/{file.name}; tools/measure_parallel.py writes it.")
    found = json.loads(file.read_text(encoding="utf-8"))
    several = {}
    for rows in by_round(found["parts"]["steps"]) + by_round(found["parts"].get("cores", [])):
        slowest = {}
        for row in rows:
            key = row["net"], row["batch"], row["ranks"], row["exchange"]
            slowest[key] = max(slowest.get(key, 0.0), row["least"])
        for key, took in slowest.items():
            several.setdefault(key, []).append(took)
    seconds = {key: statistics.median(some) for key, some in several.items()}
    return RankSteps(found["machine"]["cpu"], found["date"], seconds)
