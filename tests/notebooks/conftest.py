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


@pytest.fixture(scope="session")
def new_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder with the sample of the new form between two other lessons, not built, and its sheet."""
    course = tmp_path_factory.mktemp("new")
    (course / "notebooks").mkdir()
    (course / "solutions").mkdir()
    (course / "solutions" / "11_sums.py").touch()
    for name, title in (("10_before", "10 · What [once] was"), ("12_after", "12 · What will be")):
        (course / "notebooks" / f"{name}.py").write_text(notebook_samples.HEADER + f"\n# %% [markdown]\n# # {title}\n")
    script = course / "notebooks" / notebook_samples.NEW_FORM.name
    script.write_bytes(notebook_samples.NEW_FORM.read_bytes())
    return course / "notebooks"


@pytest.fixture(scope="session")
def new_lesson(new_folder: Path) -> NotebookNode:
    """The sample of the new form, built. Break copies of it, never itself."""
    return notebook_samples.built(new_folder / notebook_samples.NEW_FORM.name)


@pytest.fixture
def folder(tmp_path: Path, good_lesson: NotebookNode) -> Path:
    """A folder of lessons with one script and its notebook, up to date."""
    (tmp_path / "01_good.py").write_text(notebook_samples.GOOD_LESSON)
    nbformat.write(good_lesson, tmp_path / "01_good.ipynb")
    return tmp_path
