"""Start a kernel of this very Python, in an environment that is the same everywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

__all__ = ["ONE_THREAD", "START_ATTEMPTS", "kernel_environment", "last_words", "start_kernel"]

START_TIMEOUT, START_ATTEMPTS = 60, 3

# What a shell may set and an output may show. Build, gate and pages all drop it, else a notebook built in a wide
# terminal differs from the same notebook tested in a narrow one. PYTEST_CURRENT_TEST would make ipykernel deaf to
# what C code and subprocesses print.
_DROPPED = ("PYTEST_CURRENT_TEST", "MPLBACKEND", "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE")
# One BLAS thread a kernel. The number of cores then does not decide in which order a sum is added, and kernels side by
# side do not wait for each other's threads: training on digits on two busy cores took 0.7 s with this, 9.3 s without.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def kernel_environment() -> dict[str, str]:
    """Return the environment of every kernel that builds, checks or shows a lesson: ours, silent, one BLAS thread."""
    kept = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    return kept | ONE_THREAD | {"COURSE_PROGRESS": "0"}


async def start_kernel(folder: Path, log: IO[bytes]):
    """Start a kernel and return (manager, client), both of jupyter_client's asynchronous kind.

    Parameters
    ----------
    folder : Path
        Its working directory.
    log : binary file
        Receives what the kernel itself says; of interest only when it dies.

    Raises
    ------
    RuntimeError
        If no kernel answers, three times in a row.
    """
    # Kernels that start at the same moment sometimes choose the same port, and one of them dies of it: try again.
    for _ in range(START_ATTEMPTS - 1):
        try:
            return await _start_once(folder, log)
        except RuntimeError:
            continue
    return await _start_once(folder, log)


async def _start_once(folder, log):
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    # An empty kernel_dirs leaves only the native kernel: a "python3" that the user once registered from another
    # environment must not run the lessons.
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[]))
    no_history = ["--HistoryManager.hist_file=:memory:"]
    await manager.start_kernel(
        extra_arguments=no_history, cwd=str(folder), env=kernel_environment(), stdout=log, stderr=log
    )
    client = manager.client()
    client.start_channels()
    client.allow_stdin = False
    try:
        await client.wait_for_ready(timeout=START_TIMEOUT)
    except BaseException:  # a cancelled run too must leave no kernel behind
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
        raise
    return manager, client


def last_words(log: IO[bytes]) -> str:
    """Return the end of what a dead kernel left in its log, "; it left: ...", or an empty text."""
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    said = "\n".join(line for line in lines if "[IPKernelApp] WARNING" not in line).strip()
    return f"; it left: {said[-500:]}" if said else ""
