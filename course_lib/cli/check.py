"""What one check of `course doctor` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Check"]


@dataclass(frozen=True)
class Check:
    """What one check found.

    Attributes
    ----------
    name : str
        What was looked at.
    state : {"ok", "note", "broken"}
        A note is worth knowing and stops nothing; something broken makes `course doctor` exit with 1.
    found : str
        What is there, in a line.
    fix : str
        What to do about it; empty where nothing needs to be done.
    """

    name: str
    state: Literal["ok", "note", "broken"]
    found: str
    fix: str = ""
