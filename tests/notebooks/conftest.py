"""The sample lesson, built once a run."""

from pathlib import Path

import nbformat
import notebook_samples
import pytest
from nbformat import NotebookNode


@pytest.fixture(scope="session")
def good_lesson(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    """A built lesson that follows all rules. Break copies of it, never itself."""
    script = tmp_path_factory.mktemp("good") / "01_good.py"
    script.write_text(notebook_samples.GOOD_LESSON)
    return notebook_samples.built(script)


@pytest.fixture
def folder(tmp_path: Path, good_lesson: NotebookNode) -> Path:
    """A folder of lessons with one script and its notebook, up to date."""
    (tmp_path / "01_good.py").write_text(notebook_samples.GOOD_LESSON)
    nbformat.write(good_lesson, tmp_path / "01_good.ipynb")
    return tmp_path
