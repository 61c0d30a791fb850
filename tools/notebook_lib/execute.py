"""Run a notebook top to bottom in a fresh kernel of this very Python."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

CELL_TIMEOUT = 120  # seconds, the same as the gate's --nbval-cell-timeout

# What a shell may set and an output may show. The build and the gate both drop it, else a notebook built in a wide
# terminal differs from the same notebook tested in a narrow one. PYTEST_CURRENT_TEST: see nbval_gate.CourseKernel.
_DROPPED = ("PYTEST_CURRENT_TEST", "MPLBACKEND", "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE")


class LessonError(Exception):
    """A lesson that does not run: which cell, which error, where in the cell's code."""


def kernel_environment() -> dict[str, str]:
    """The environment of every kernel that builds or checks a lesson: this process's, made silent and neutral."""
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    return kept | {"COURSE_PROGRESS": "0"}


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
        If a cell raises without the tag ``raises-exception``, takes too long, or kills its kernel.
    """
    current = 0

    def begin(cell: NotebookNode, cell_index: int) -> None:
        nonlocal current
        current = cell_index
        on_cell(cell_index)

    # An empty kernel_dirs leaves only the native kernel: a "python3" that the user once registered from another
    # environment must not run the lessons.
    specs = KernelSpecManager(kernel_dirs=[])
    client = NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs),
        timeout=cell_timeout,
        record_timing=False,
        # The state goes when `clean` writes the metadata. With False, nbclient fails on an Output widget (KeyError).
        store_widget_state=True,
        on_cell_start=begin,
        resources={"metadata": {"path": str(cwd)}},
    )
    with tempfile.TemporaryFile() as log:  # the kernel's own words: of interest only when it dies
        try:
            await client.async_execute(env=kernel_environment(), stdout=log, stderr=log, cleanup_kc=True)
        except CellExecutionError as error:
            where = _failing_line(notebook.cells[current])
            raise LessonError(f"cell {current + 1}{where} raised {error.ename}: {error.evalue}") from error
        except CellTimeoutError as error:
            raise LessonError(f"cell {current + 1} took longer than {cell_timeout:g} s") from error
        except DeadKernelError as error:
            log.seek(0)
            last = log.read().decode(errors="replace").strip()[-500:]
            raise LessonError(f"cell {current + 1} killed its kernel (out of memory?). It left: {last!r}") from error


def _failing_line(cell: NotebookNode) -> str:
    """``, line 3: the text`` of the innermost line of the cell in its traceback."""
    for output in cell.outputs:
        if output.output_type == "error":
            plain = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.traceback))
            lines = re.findall(r"Cell In\[\d+\], line (\d+)", plain)
            source = cell.source.splitlines()
            if lines and int(lines[-1]) <= len(source):
                return f", line {lines[-1]} ({source[int(lines[-1]) - 1].strip()})"
    return ""
