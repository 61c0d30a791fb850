"""What a lesson's tests look at: the names its script leaves behind, and what the committed notebook prints."""

from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def lesson_name(request):
    """``test_04_backpropagation`` tests ``04_backpropagation``."""
    return request.module.__name__.rpartition(".")[2].removeprefix("test_")


@pytest.fixture(scope="module")
def lesson(request):
    """The names that the lesson's script leaves behind; it runs once, as a plain script."""
    script = NOTEBOOKS / f"{lesson_name(request)}.py"
    namespace = {"__name__": "lesson"}
    exec(compile(script.read_text(encoding="utf-8"), script, "exec"), namespace)  # kernels read their text from there
    return namespace


@pytest.fixture(scope="module")
def printed(request):
    """Everything that the committed notebook prints, as one text."""
    notebook = nbformat.read(NOTEBOOKS / f"{lesson_name(request)}.ipynb", as_version=4)
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", []) if o.output_type == "stream"]
    return "".join(output.text for output in outputs)


@pytest.fixture(scope="module")
def shown(request):
    """Everything that the committed notebook shows, as one text: prints, and the plain text of tables and figures."""
    notebook = nbformat.read(NOTEBOOKS / f"{lesson_name(request)}.ipynb", as_version=4)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(o.text if o.output_type == "stream" else o.get("data", {}).get("text/plain", "") for o in outputs)


@pytest.fixture(scope="module")
def prose(request):
    """The prose of the lesson's script, and its comments, as one line."""
    lines = (NOTEBOOKS / f"{lesson_name(request)}.py").read_text(encoding="utf-8").splitlines()
    return " ".join(" ".join(line.removeprefix("#") for line in lines if line.startswith("#")).split())
