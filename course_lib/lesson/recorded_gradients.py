"""Gradients that PyTorch found for lesson 05's graphs, recorded there: nothing here imports it."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .measurements import results_folder

FILE = "gradients.torch.json"


@dataclass(frozen=True)
class RecordedGradients:
    """What `tools/record_torch.py` kept.

    Attributes
    ----------
    version, date : str
        PyTorch's, such as "2.13.0+cpu", and when it ran, such as "2026-11-30".
    inputs : dict of str to ndarray
        What the network began with: X, Y, and each weight.
    gradients : dict of str to ndarray
        {"diamond, x": ..., "network, W": ...}, float64, each with the shape of its value.

    Source: the course's own.
    """

    version: str
    date: str
    inputs: dict
    gradients: dict


def recorded_gradients(*, folder=None):
    """Return the `RecordedGradients` of `results/gradients.torch.json`.

    Parameters
    ----------
    folder : Path, optional
        Where the file lies; `results_folder` unless given.

    Raises
    ------
    FileNotFoundError
        There is no such file.

    Source: the course's own.
    """
    file = (results_folder() if folder is None else Path(folder)) / FILE
    if not file.is_file():
        raise FileNotFoundError(f"there is no results/{FILE}; tools/record_torch.py writes it where PyTorch is.")
    content = json.loads(file.read_text(encoding="utf-8"))
    inputs, gradients = ({k: np.array(v) for k, v in content[part].items()} for part in ("inputs", "gradients"))
    return RecordedGradients(content["machine"]["versions"]["torch"], content["date"], inputs, gradients)
