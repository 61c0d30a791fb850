"""What the gate must reject and what it must let pass: one code cell each, one corruption of its output each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import nbformat.v4 as v4
from nbformat import NotebookNode


@dataclass(frozen=True)
class Case:
    """A cell, what is done to it in the corrupted copy, and whether the gate must then reject it."""

    name: str
    source: str
    corrupt: Callable[[NotebookNode], object]
    rejected: bool = True
    tags: tuple[str, ...] = ()


def _replace(old: str, new: str) -> Callable[[NotebookNode], None]:
    """Replace text in the first output, whatever its kind."""

    def corrupt(cell: NotebookNode) -> None:
        output = cell.outputs[0]
        home, key = (output, "text") if output.output_type == "stream" else (output, "evalue")
        if "data" in output:
            home, key = output.data, "text/html" if "text/html" in output.data else "text/plain"
        assert old in home[key], home[key]  # else the corruption corrupts nothing
        home[key] = home[key].replace(old, new, 1)

    return corrupt


def _remove(cell: NotebookNode) -> None:
    assert cell.outputs
    cell.outputs = []


def _add(kind: str, **content: object) -> Callable[[NotebookNode], None]:
    return lambda cell: cell.outputs.append(v4.new_output(kind, **content))


_ERROR = _add("error", ename="ValueError", evalue="bad", traceback=["ValueError: bad"])
_TABLE = r'print("   loss  right\n0  0.1234567  12\n1  0.7654321  13")'
_ARRAY = "np.array([0.1234567, 25.5, -3.0])"
_SVG = """HTML('<figure><img alt="one circle" src="data:image/svg+xml,%3Ccircle r=%2212.5%22/%3E"></figure>')"""
# Other bytes in every run, as another matplotlib would draw them.
_PNG_BYTES = 'b"\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR" + os.urandom(90)'
_PNG = (
    f"png = base64.b64encode({_PNG_BYTES}).decode()\n"
    """HTML(f'<figure><img alt="a line" src="data:image/png;base64,{png}"></figure>')"""
)
_BARE_PNG = f'display({{"image/png": base64.b64encode({_PNG_BYTES}).decode()}}, raw=True)'

CASES = (
    Case("stream-word", 'print("three apples")', _replace("apples", "pears")),
    Case("stream-blank", 'print("three apples")', _replace("three ", "three  ")),
    Case("stream-line-added", 'print("three apples")', _replace("apples\n", "apples\nand pears\n")),
    Case("stream-third-digit", "print(0.123456789)", _replace("0.123", "0.124")),
    Case("stream-seventh-digit", "print(0.123456789)", _replace("0.1234567", "0.1234561"), rejected=False),
    Case("stream-integer-by-one", "print(1000000)", _replace("1000000", "1000001")),
    Case("result-third-digit", "0.123456789", _replace("0.123", "0.124")),
    Case("result-seventh-digit", "0.123456789", _replace("0.1234567", "0.1234561"), rejected=False),
    Case("result-sign", "0.123456789", _replace("0.123", "-0.123")),
    Case("result-repr", "slice(1, 2)", _replace("slice", "range")),
    Case("result-integer-becomes-float", "1", _replace("1", "1.0")),
    Case("array-third-digit", _ARRAY, _replace("25.5", "25.4")),
    Case("array-seventh-digit", _ARRAY, _replace("0.1234567", "0.12345671"), rejected=False),
    Case("array-shape", "np.zeros((2, 3)).shape", _replace("(2, 3)", "(3, 2)")),
    Case("table-third-digit", _TABLE, _replace("0.765", "0.766")),
    Case("table-integer", _TABLE, _replace("12\n", "11\n")),
    Case("table-heading", _TABLE, _replace("right", "wrong")),
    Case("html-text", 'HTML("<p>three apples</p>")', _replace("apples", "pears")),
    Case("svg-coordinate", _SVG, _replace("12.5", "12.6")),
    Case("svg-alt", _SVG, _replace("one circle", "two circles")),
    Case("png-bytes", _PNG, lambda cell: None, rejected=False),
    Case("png-alt", _PNG, _replace("a line", "a curve")),
    Case("png-figure-removed", _PNG, _remove),
    Case("bare-png-bytes", _BARE_PNG, lambda cell: None, rejected=False),
    Case("bare-png-removed", _BARE_PNG, _remove),
    Case("output-removed", 'print("three apples")', _remove),
    Case("result-removed", "0.5", _remove),
    Case("output-added", "x = 1", _add("stream", name="stdout", text="three apples\n")),
    Case("stderr-added", "x = 1", _add("stream", name="stderr", text="warning\n")),
    Case("error-added", "x = 1", _ERROR),
    Case("error-added-to-tagged", "x = 1", _ERROR, tags=("raises-exception",)),
    Case("error-message", "int('three')", _replace("three", "four"), tags=("raises-exception",)),
    Case("error-removed", "int('three')", _remove, tags=("raises-exception",)),
    Case(
        "error-traceback",  # names lines of libraries, which move
        "int('three')",
        lambda cell: cell.outputs[0].update(traceback=["other"]),
        rejected=False,
        tags=("raises-exception",),
    ),
    Case("new-error", "x = 1", lambda cell: cell.update(source="1 / 0")),
    Case(
        "new-error-in-ignored-output",
        "x = 1",
        lambda cell: cell.update(source="1 / 0"),
        tags=("nbval-ignore-output",),
    ),
    Case("ignored-output", "time.time()", lambda cell: None, rejected=False, tags=("nbval-ignore-output",)),
    Case("folded-word", 'print("three apples")', _replace("apples", "pears"), tags=("hide-output",)),
    Case("folded-code-word", 'print("three apples")', _replace("apples", "pears"), tags=("hide-input",)),
    Case("no-execution-count", "x = 1", lambda cell: cell.update(execution_count=None)),
    Case("skipped", "print(1)", lambda cell: cell.metadata.update(tags=["nbval-skip"])),
    Case("hidden-value-shown", "2 + 3;", _add("execute_result", data={"text/plain": "5"}, execution_count=1)),
    # What a program writes comes by a pipe that a thread of the kernel reads: on a busy machine, behind the cell's end.
    Case("shell-output", 'os.system("echo from the shell")\ntime.sleep(0.5)', _replace("shell", "sea")),
    Case("history", "2 + 5\n_ is not None", _replace("True", "False")),
    Case("cleared", 'print("old"); clear_output(); print("new")', _replace("new", "old\nnew")),
    Case("cleared-later", 'print("old"); clear_output(wait=True); print("new")', _replace("new", "old\nnew")),
    Case("updated", 'd = display(1, display_id=True); d.update("one")', _replace("one", "1")),
    Case(
        "captured",
        'with W.Output():\n    print("inside")\nprint("outside")',
        _replace("outside", "inside\noutside"),
    ),
    Case(
        "new-error-in-captured",  # nbclient hides it: only the gate sees it
        "x = 1",
        lambda cell: cell.update(source="with W.Output():\n    1 / 0"),
    ),
    Case("progress-bar-stays-silent", 'print(os.environ["COURSE_PROGRESS"])', _replace("0", "1")),
)

SET_UP = """import base64, os, time
import ipywidgets as W
import numpy as np
from IPython.display import HTML, clear_output, display"""
