"""Run a notebook in a kernel of its own, for tests and tools that want its outputs.

nbclient starts kernels too, but once only: of kernels that start at the same moment one sometimes takes another's
port, and dies of it. `course_lib.cli.kernel` starts such a kernel again.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbformat import NotebookNode

from course_lib.cli.kernel import last_words, start_kernel

__all__ = ["run_in_fresh_kernel"]


def run_in_fresh_kernel(notebook: NotebookNode, folder: Path, **options: Any) -> None:
    """Run all cells; outputs and counts land in the notebook.

    Parameters
    ----------
    notebook : NotebookNode
        Is changed.
    folder : Path
        Where the cells run.
    options
        nbclient's own: timeout, allow_errors, store_widget_state, ...

    Raises
    ------
    RuntimeError
        If no kernel answers, three times in a row; with what the last one said.
    nbclient.exceptions.CellExecutionError, CellTimeoutError, DeadKernelError
        As nbclient's `execute`.
    """
    run_sync(_run)(notebook, folder, options)  # works in a running loop too, as playwright's


async def _run(notebook: NotebookNode, folder: Path, options: dict[str, Any]) -> None:
    with tempfile.TemporaryFile() as log:
        try:
            manager, kernel = await start_kernel(folder, log)
        except RuntimeError as error:
            raise RuntimeError(f"the kernel does not start: {error}{last_words(log)}") from error
        client = NotebookClient(notebook, km=manager, **options)
        client.kc = kernel
        await client.async_execute(cleanup_kc=True)
