"""Run one lesson top to bottom in a fresh kernel, and say where it stopped if it did."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from course_lib.cli.kernel import last_words, start_kernel

__all__ = ["Failure", "Outcome", "execute", "failing_line", "run_cells"]

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
    from jupyter_core.utils import run_sync  # also works where an event loop runs already

    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            cell.metadata.pop("execution", None)
    begin = time.perf_counter()
    failure = run_sync(run_cells)(notebook, folder, timeout=timeout, after_cell=on_cell)
    return Outcome(time.perf_counter() - begin, failure)


async def run_cells(
    notebook: NotebookNode,
    folder: Path,
    *,
    timeout: float,
    before_cell: Callable[[int], None] = lambda index: None,
    after_cell: Callable[[], None] = lambda: None,
) -> Failure | None:
    """Run all cells in a fresh kernel; outputs and counts land in the notebook. Returns the failure, if any.

    Parameters
    ----------
    notebook : NotebookNode
        Is changed.
    folder : Path
        Where the cells run.
    timeout : float
        Seconds that one cell may take.
    before_cell, after_cell : callable
        Called around each cell, the first with the cell's index.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    at = -1

    def started(cell: NotebookNode, cell_index: int) -> None:
        nonlocal at
        if at < 0:
            # nbclient answers Ctrl-C by ending the kernel and then fails on an assertion of its own. Without its
            # handlers, Python's KeyboardInterrupt cancels this run, which ends the kernel too.
            for number in (signal.SIGINT, signal.SIGTERM):
                with contextlib.suppress(NotImplementedError, RuntimeError):
                    asyncio.get_running_loop().remove_signal_handler(number)
        at = cell_index
        before_cell(cell_index)

    with tempfile.TemporaryFile() as log:
        try:
            manager, kernel = await start_kernel(folder, log)
        except RuntimeError as error:
            return Failure(0, None, "", "DeadKernel", f"the kernel does not start: {error}{last_words(log)}")
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=timeout,
            record_timing=False,
            # With False, nbclient fails on an Output widget (KeyError). Whoever stores the notebook drops the state.
            store_widget_state=True,
            on_cell_start=started,
            on_cell_executed=lambda **_: after_cell(),
        )
        client.kc = kernel
        try:
            await client.async_execute(cleanup_kc=True)
        except CellExecutionError as error:
            cell = notebook.cells[at]
            line = failing_line(cell.source, error.traceback, cell.execution_count)
            message = (_ANSI.sub("", error.evalue).strip() or "no message").splitlines()[0]
            return Failure(at + 1, cell.execution_count, line, error.ename, message)
        except CellTimeoutError:
            return Failure(at + 1, None, "", "Timeout", f"the cell took longer than {timeout:g} s")
        except DeadKernelError:
            message = f"the cell killed its kernel (out of memory?){last_words(log)}"
            return Failure(at + 1, None, "", "DeadKernel", message)
    return None
