"""Run one lesson top to bottom in a fresh kernel, and say where it stopped if it did."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

__all__ = ["Failure", "Outcome", "execute", "failing_line"]

# On a busy machine a kernel now and then dies before its first answer; once more, it starts.
STARTS = 3
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Failure:
    """Where and why a lesson stopped.

    Attributes
    ----------
    cell : int
        The failing cell, counted from 1 over all cells of the notebook; 0 if no cell was reached.
    count : int or None
        The execution count, as in ``In [5]``.
    line : str
        The source line that failed, with its number in the cell; empty if unknown.
    error, message : str
        The error's name and text.
    """

    cell: int
    count: int | None
    line: str
    error: str
    message: str

    def __str__(self) -> str:
        """Say it in up to three lines."""
        where = f"cell {self.cell}" if self.cell else "before the first cell"
        where += f" (In [{self.count}])" if self.count else ""
        return "\n".join(filter(None, [where, self.line, f"{self.error}: {self.message}"]))


@dataclass(frozen=True)
class Outcome:
    """How the run of one lesson ended: its seconds, and the failure if there was one."""

    seconds: float
    failure: Failure | None = None


def failing_line(source: str, traceback: str, count: int | None) -> str:
    """Find the line of a cell that an error came from.

    Parameters
    ----------
    source : str
        The cell's text.
    traceback : str
        IPython's traceback, with or without colours.
    count : int or None
        The cell's execution count, which the traceback names.

    Returns
    -------
    str
        ``line 3: y = x / 0``, or an empty text where the traceback does not tell.
    """
    match = re.search(rf"Cell In\s?\[{count}\], line (\d+)", _ANSI.sub("", traceback))
    lines = source.splitlines()
    if not match or int(match[1]) > len(lines):
        return ""
    return f"line {match[1]}: {lines[int(match[1]) - 1].strip()}"


def execute(
    notebook: NotebookNode, folder: Path, *, timeout: int, on_cell: Callable[[], None] = lambda: None
) -> Outcome:
    """Run a notebook in place: its old outputs are dropped, then filled as far as it runs.

    Parameters
    ----------
    notebook : NotebookNode
        Is changed. Cells tagged ``raises-exception`` may fail.
    folder : Path
        Where the cells run.
    timeout : int
        Seconds that one cell may take.
    on_cell : callable
        Is called after each code cell.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.metadata.pop("execution", None)
    at = -1

    def started(cell: NotebookNode, cell_index: int) -> None:
        nonlocal at
        at = cell_index

    begin = time.perf_counter()
    failure = None
    for start in range(STARTS):
        client = NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,  # one print may arrive in two parts
            extra_arguments=["--log-level=ERROR"],  # no remark on stderr that the local link is not encrypted
            resources={"metadata": {"path": str(folder)}},
            on_cell_start=started,
            on_cell_executed=lambda **_: on_cell(),
        )
        try:
            client.execute(env={**os.environ, "COURSE_PROGRESS": "0"})
        except CellExecutionError as error:
            cell = notebook.cells[at]
            line = failing_line(cell.source, error.traceback, cell.execution_count)
            message = (_ANSI.sub("", error.evalue).strip() or "no message").splitlines()[0]
            failure = Failure(at + 1, cell.execution_count, line, error.ename, message)
        except CellTimeoutError:
            message = f"the cell took longer than {timeout} s (--timeout)"
            failure = Failure(at + 1, None, "", "Timeout", message)
        except (DeadKernelError, RuntimeError, OSError, asyncio.CancelledError) as error:
            if at < 0 and start + 1 < STARTS:
                continue
            message = str(error).strip() or "the kernel stopped"
            failure = Failure(at + 1, None, "", type(error).__name__, message.splitlines()[0])
        break
    return Outcome(time.perf_counter() - begin, failure)
