"""What a card needed for a case of the benchmark, from `results/`: measured there and then, never typed by hand."""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "results"


@dataclass(frozen=True)
class Measured:
    """One case on one card.

    Attributes
    ----------
    card : str
        The card's name as its driver gives it, such as "NVIDIA H200".
    date : str
        When it was measured, such as "2026-11-28".
    case, size : str
        What was run, and on how much: "transpose", "8,192 x 8,192".
    seconds : dict of str to float
        The median of each kernel and of each rival, in the order of the benchmark.
    bytes : float
        What the case has to move at least; flops: how many operations it has to do.
    flops : float

    Source: the course's own.
    """

    card: str
    date: str
    case: str
    size: str
    seconds: dict
    bytes: float
    flops: float


def measured(case, *, card, folder=FOLDER):
    """Return the `Measured` of a case of `course bench gpu` on a card.

    Parameters
    ----------
    case : str
        As the benchmark calls it: "ReLU", "transpose", "reduce", ...
    card : str
        Of the file `results/gpu.<card>.json`, such as "h200".
    folder : Path, optional
        Where the measurements lie.

    Raises
    ------
    FileNotFoundError
        There are no measurements of this card; the message names those that there are.
    LookupError
        The file has no such case; the message names its cases.

    Source: the course's own.
    """
    file = Path(folder) / f"gpu.{card}.json"
    if not file.is_file():
        there = ", ".join(sorted(f.name.split(".")[1] for f in Path(folder).glob("gpu.*.json"))) or "none"
        raise FileNotFoundError(
            f"there is no results/gpu.{card}.json; cards with measurements: {there}. `course bench gpu` measures "
            "this machine's card and writes such a file."
        )
    bench = json.loads(file.read_text(encoding="utf-8"))
    for row in bench["rows"]:
        if row["case"] == case:
            seconds = {name: timing["median"] for name, timing in row["timings"].items()}
            card, date = bench["machine"]["gpu"], bench["date"]
            return Measured(card, date, case, row["size"], seconds, row["bytes"], row["flops"])
    raise LookupError(f"{file.name} has no case {case!r}; it has {', '.join(row['case'] for row in bench['rows'])}.")
