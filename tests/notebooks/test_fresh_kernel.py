"""A kernel that dies at its start is started again, wherever a test or a tool starts one."""

import ast

import pytest
from jupyter_client.asynchronous.client import AsyncKernelClient
from nbformat import v4
from notebook_lib.fresh_kernel import run_in_fresh_kernel

from tests.setup.project import ROOT

STARTERS = {"NotebookClient", "KernelManager", "AsyncKernelManager", "ExecutePreprocessor", "start_new_kernel"}
KNOWN = {
    "course_lib/cli/kernel.py",  # starts it, and again where it dies
    "course_lib/cli/execute.py",  # these three are given one of those
    "tools/notebook_lib/fresh_kernel.py",
    "tools/notebook_lib/nbval_gate.py",  # nbval's own, which it starts again too
}


def book():
    return v4.new_notebook(cells=[v4.new_code_cell("6 * 7"), v4.new_code_cell("1 / 0")])


def test_outputs_land_in_the_notebook():
    notebook = book()
    run_in_fresh_kernel(notebook, ROOT, allow_errors=True)
    assert notebook.cells[0].outputs[0].data["text/plain"] == "42"
    assert notebook.cells[1].outputs[0].ename == "ZeroDivisionError"


@pytest.mark.parametrize("dying", [2, 3])
def test_a_kernel_that_dies_at_its_start_is_started_again(monkeypatch, dying):
    ready, starts = AsyncKernelClient.wait_for_ready, []

    async def dies(self, timeout=None):
        await ready(self, timeout)
        starts.append(self)
        if len(starts) <= dying:
            raise RuntimeError("Kernel died before replying to kernel_info")

    monkeypatch.setattr(AsyncKernelClient, "wait_for_ready", dies)
    notebook = book()
    if dying < 3:
        run_in_fresh_kernel(notebook, ROOT, allow_errors=True)
        assert notebook.cells[0].outputs[0].data["text/plain"] == "42"
    else:
        with pytest.raises(RuntimeError, match="the kernel does not start: Kernel died before replying"):
            run_in_fresh_kernel(notebook, ROOT)
    assert len(starts) == 3


def test_nobody_else_starts_kernels():
    found = set()
    for folder in ("course_lib", "tools", "tests", "solutions"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if STARTERS & {word for word in STARTERS if word in text} and _calls(text) & STARTERS:
                found.add(path.relative_to(ROOT).as_posix())
    assert found == KNOWN


def _calls(text):
    called = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    called += [a for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) for a in node.args]  # partial(f)
    return {getattr(f, "attr", getattr(f, "id", None)) for f in called}
