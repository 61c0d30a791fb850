"""pytest plugin: nbval made strict where it is lax, and right where it is wrong. Loaded by the root ``conftest.py``.

nbval 0.11 is frozen (2024). It compares every output of a notebook with a fresh run; what it gets wrong is mended
here, by subclasses of its three classes. `CourseNotebook` and `CourseCell` take the place of nbval's through pytest's
own hook; `CourseKernel` through one assignment, in `pytest_configure`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import nbval
import nbval.kernel
import nbval.plugin
import pytest
from jupyter_client import KernelClient, KernelManager
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from course_lib.cli.kernel import START_ATTEMPTS, kernel_environment
from notebook_lib.live_outputs import LiveOutputs
from notebook_lib.tolerance import TolerantText

SANITIZE = Path(__file__).with_name("nbval_sanitize.cfg")
# Names of nbval that the subclasses override, call or rely on. None of them is public.
USED = {
    nbval.plugin: ("RunningKernel", "IPyNbFile", "IPyNbCell", "coalesce_streams"),
    nbval.kernel: ("start_new_kernel", "RunningKernel"),
    IPyNbFile: ("setup", "collect", "get_sanitize_files", "get_kernel_message"),
    IPyNbCell: ("runtest", "sanitize", "raise_cell_error", "compare_outputs"),
    RunningKernel: ("execute_cell_input", "_ensure_iopub_up"),
}


def pin_problem() -> str | None:
    """Why this gate does not fit the installed nbval; None if it does."""
    missing = [
        f"{getattr(home, '__name__', home)}.{name}"
        for home, names in USED.items()
        for name in names
        if not hasattr(home, name)
    ]
    if nbval.__version__.startswith("0.11.") and not missing:
        return None
    return (
        f"tools/notebook_lib/nbval_gate.py is written for nbval 0.11.x; installed is {nbval.__version__}"
        + (f", without {', '.join(missing)}" if missing else "")
        + ". Install nbval==0.11.0, or read nbval/plugin.py anew and adapt the gate."
    )


class CourseKernel(RunningKernel):
    """A kernel that behaves as in JupyterLab."""

    def __init__(self, kernel_name: str, cwd: str | None = None, startup_timeout: float = 60) -> None:
        self.km, self.kc = _start_kernel(startup_timeout=startup_timeout, kernel_name=kernel_name, cwd=cwd)
        self._ensure_iopub_up()
        self.current_request = ""

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        # nbval executes without history. IPython then ignores a ";" that ends a cell (the value is shown although
        # the lesson hides it), and has no Out[] and no _.
        self.current_request = self.kc.execute(
            cell_input, store_history=True, allow_stdin=allow_stdin, stop_on_error=False
        )
        return self.current_request


def _start_kernel(**options: Any) -> tuple[KernelManager, KernelClient]:
    # nbval passes its own environment on. In it is PYTEST_CURRENT_TEST, which tells ipykernel not to watch file
    # descriptors 1 and 2: what C code and subprocesses print would be missing.
    with open(os.devnull, "w") as devnull:
        start = partial(nbval.kernel.start_new_kernel, **options, stderr=devnull, env=kernel_environment())
        for _ in range(START_ATTEMPTS - 1):
            try:
                return start()
            except RuntimeError:  # it chose the port of a kernel that started at the same moment, and died
                continue
        return start()


class CourseCell(IPyNbCell):
    """A code cell whose comparison means something."""

    def runtest(self) -> None:
        # nbval passes a cell without execution count and outputs without comparing anything.
        if self.cell.source.strip() and self.cell.execution_count is None:
            self.raise_cell_error("The cell has no execution count: the notebook was not built")
        # A skipped cell proves nothing; a lesson's cells all run.
        if self.options["skip"]:
            self.raise_cell_error("The cell skips nbval; lessons skip nothing")
        # nbval runs on after a timeout, expecting failures: a stuck lesson of 40 cells would wait for each of them.
        if self.parent.timed_out:
            pytest.xfail("an earlier cell took too long")
        self.parent.live = LiveOutputs(self)
        super().runtest()

    def sanitize(self, s: Any) -> Any:
        clean = super().sanitize(s)
        return TolerantText(clean) if isinstance(clean, str) else clean


class CourseNotebook(IPyNbFile):
    """A notebook whose live displays end as they do in a front end."""

    live: LiveOutputs | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # nbval does not even notice a picture that is gone. Compare that there is one; the sanitize file takes its
        # bytes out, since another matplotlib or FreeType draws the same plot with other bytes.
        self.skip_compare = tuple(k for k in self.skip_compare if k not in ("image/png", "image/jpeg"))

    def get_sanitize_files(self) -> list[str]:
        # nbval opens the file relative to the current folder; pytest runs from anywhere.
        return super().get_sanitize_files() or [str(SANITIZE)]

    def collect(self) -> Iterator[CourseCell]:
        for item in super().collect():
            yield CourseCell.from_parent(
                self, name=item.name, cell_num=item.cell_num, cell=item.cell, options=item.options
            )

    def get_kernel_message(self, timeout: float | None = None, stream: str = "iopub") -> dict[str, Any]:
        while True:
            message = super().get_kernel_message(timeout=timeout, stream=stream)
            if self.live is None or self.live.wants(message, self.kernel.current_request):
                return message


def pytest_configure(config: pytest.Config) -> None:
    if problem := pin_problem():
        raise pytest.UsageError(problem)
    nbval.plugin.RunningKernel = CourseKernel  # IPyNbFile.setup looks the name up there


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Iterator[None]:
    """Put a `CourseNotebook` where nbval's plugin made its own collector."""
    found = yield
    return [CourseNotebook.from_parent(parent, path=file_path) if type(node) is IPyNbFile else node for node in found]
