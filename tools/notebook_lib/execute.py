"""Run a notebook top to bottom in a fresh kernel of this very Python."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

CELL_TIMEOUT = 120  # seconds, the same as the gate's --nbval-cell-timeout
START_TIMEOUT, START_ATTEMPTS = 60, 3

# What a shell may set and an output may show. The build and the gate both drop it, else a notebook built in a wide
# terminal differs from the same notebook tested in a narrow one. PYTEST_CURRENT_TEST: see nbval_gate.
_DROPPED = ("PYTEST_CURRENT_TEST", "MPLBACKEND", "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE")
# One BLAS thread a kernel. The number of cores then does not decide in which order a sum is added, and kernels side by
# side do not wait for each other's threads: training on digits on two busy cores took 0.7 s with this, 9.3 s without.
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_ONE_THREAD = dict.fromkeys(_THREADS, "1")


class LessonError(Exception):
    """A lesson that does not run: which cell, which error, where in the cell's code."""


def kernel_environment() -> dict[str, str]:
    """The environment of every kernel that builds or checks a lesson: ours, made silent and the same everywhere."""
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    return kept | _ONE_THREAD | {"COURSE_PROGRESS": "0"}


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
    current = 0

    def begin(cell: NotebookNode, cell_index: int) -> None:
        nonlocal current
        current = cell_index
        on_cell(cell_index)

    with tempfile.TemporaryFile() as log:  # the kernel's own words: of interest only when it dies
        manager, kernel = await _start_kernel(cwd, log)
        client = NotebookClient(
            notebook,
            km=manager,
            timeout=cell_timeout,
            record_timing=False,
            # With False, nbclient fails on an Output widget (KeyError). `clean` drops the state with the metadata.
            store_widget_state=True,
            on_cell_start=begin,
        )
        client.kc = kernel
        try:
            await client.async_execute(cleanup_kc=True)
        except CellExecutionError as error:
            where = _failing_line(notebook.cells[current])
            raise LessonError(f"cell {current + 1}{where} raised {error.ename}: {error.evalue}") from error
        except CellTimeoutError as error:
            raise LessonError(f"cell {current + 1} took longer than {cell_timeout:g} s") from error
        except DeadKernelError as error:
            raise LessonError(f"cell {current + 1} killed its kernel (out of memory?){_last_words(log)}") from error


async def _start_kernel(cwd: Path, log: IO[bytes]) -> tuple[AsyncKernelManager, AsyncKernelClient]:
    # Kernels that start at the same moment sometimes choose the same port, and one of them dies of it: try again.
    problem = None
    for _ in range(START_ATTEMPTS):
        try:
            return await _start_once(cwd, log)
        except RuntimeError as error:
            problem = error
    raise LessonError(f"the kernel does not start: {problem}{_last_words(log)}") from problem


async def _start_once(cwd: Path, log: IO[bytes]) -> tuple[AsyncKernelManager, AsyncKernelClient]:
    # An empty kernel_dirs leaves only the native kernel: a "python3" that the user once registered from another
    # environment must not run the lessons.
    specs = KernelSpecManager(kernel_dirs=[])
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs)
    no_history = ["--HistoryManager.hist_file=:memory:"]
    await manager.start_kernel(
        extra_arguments=no_history, cwd=str(cwd), env=kernel_environment(), stdout=log, stderr=log
    )
    kernel = manager.client()
    kernel.start_channels()
    kernel.allow_stdin = False
    try:
        await kernel.wait_for_ready(timeout=START_TIMEOUT)
    except BaseException:  # a cancelled build too must leave no kernel behind
        kernel.stop_channels()
        await manager.shutdown_kernel(now=True)
        raise
    return manager, kernel


def _last_words(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    said = "\n".join(line for line in lines if "[IPKernelApp] WARNING" not in line).strip()
    return f"; it left: {said[-500:]}" if said else ""


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
