"""Run a lesson as `course run` does, and raise where it stops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode

from course_lib.cli.execute import run_cells

CELL_TIMEOUT = 120  # seconds, the same as the gate's --nbval-cell-timeout


class LessonError(Exception):
    """A lesson that does not run: which cell, which error, where in the cell's code."""


async def execute(
    notebook: NotebookNode,
    cwd: Path,
    *,
    cell_timeout: float = CELL_TIMEOUT,
    on_cell: Callable[[int], None] = lambda index: None,
) -> None:
    """Execute all cells in place; outputs and counts land in `notebook`.

    Parameters
    ----------
    notebook : NotebookNode
        As from `scripts.read_script`.
    cwd : Path
        Working directory of the kernel.
    cell_timeout : float
        Seconds that one cell may take.
    on_cell : callable
        Called with the index of each cell when it begins.

    Raises
    ------
    LessonError
        If a cell raises without the tag ``raises-exception``, takes too long, or kills its kernel; if no kernel
        starts.
    """
    failure = await run_cells(notebook, cwd, timeout=cell_timeout, before_cell=on_cell)
    if failure is not None:
        raise LessonError(", ".join(str(failure).splitlines()))
