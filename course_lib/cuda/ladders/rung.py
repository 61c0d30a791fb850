"""What a ladder knows about a rung: its launcher, its idea, and what must be true of it without a GPU.

Source: the course's own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rung:
    """One step of a ladder.

    Attributes
    ----------
    name : str
        Its file's name, such as "v03_smem_tiled".
    launch : function
        The public launcher; every rung of a ladder takes the same arguments.
    changed : str
        What changed since the rung below, in one sentence.
    counter : str
        Which counter of the executor's report that moves, and in which direction.
    traffic : function or None
        traffic(*sizes) -> {counter: exact value} for what the SIMT executor must count, by the names of
        `simt.Report`'s totals; None where no formula is promised.
    least_cc : tuple of int
        The oldest compute capability that has its instructions.
    ffma_share : float
        The least share of multiply-adds (FFMA, or HMMA on tensor cores) among the instructions of its main loop.
    widths : tuple of str
        Access widths that must be in the machine code, such as "LDG.128"; checked for `least_cc` and newer.
    exact : bool
        Whether small whole numbers must come out exactly.
    only : function or None
        only(*sizes) -> whether it is for work of these sizes, as `traffic` takes them; None for a rung for any.

    Source: the course's own.
    """

    name: str
    launch: Callable
    changed: str
    counter: str
    traffic: Callable | None = None
    least_cc: tuple[int, int] = (7, 5)
    ffma_share: float = 0.0
    widths: tuple[str, ...] = field(default=())
    exact: bool = True
    only: Callable | None = None

    @property
    def number(self):
        """Return 3 for "v03_smem_tiled". No errors. Source: the course's own."""
        return int(self.name[1:3])

    def takes(self, *sizes):
        """Return whether the rung is for work of these sizes, as `traffic` takes them.

        No errors. Source: the course's own.
        """
        return self.only is None or bool(self.only(*sizes))


def rungs_for(ladder, *sizes):
    """Return those rungs of a LADDER that are for work of these sizes, as `Rung.traffic` takes them.

    Without sizes, those that are for any. No errors. Source: the course's own.
    """
    return [rung for rung in ladder if (rung.takes(*sizes) if sizes else rung.only is None)]
