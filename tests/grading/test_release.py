"""The archive for students: whole, the same each time, and with nothing in it that they must not get."""

import json
import subprocess
import sys
import zipfile

import pytest
from typer.testing import CliRunner

from course_lib.checks.registry import SHEETS
from course_lib.cli import app
from course_lib.grading.leaks import leaks
from course_lib.grading.release import ReleaseError, contents, release
from tests.setup.project import ROOT

SOLUTIONS = ROOT / "solutions"


@pytest.fixture(scope="module")
def files():
    return contents(ROOT)


def test_nothing_leaks(files):
    assert leaks(files, SOLUTIONS) == []


def test_all_that_students_need_is_there(files):
    assert {f"exercises/{name}.ipynb" for name in SHEETS} <= files.keys()
    assert {"pyproject.toml", "requirements.lock", "README.md", "course_lib/__init__.py"} <= files.keys()
    assert any(name.startswith("notebooks/") for name in files)
    assert not any("solutions" in name or "__pycache__" in name or name.startswith("tests") for name in files)


def test_lessons_come_without_outputs_and_otherwise_as_they_are(files):
    lessons = {name: json.loads(content) for name, content in files.items() if name.startswith("notebooks/")}
    for name, lesson in lessons.items():
        whole = json.loads((ROOT / name).read_text(encoding="utf-8"))
        assert any(cell.get("outputs") for cell in whole["cells"]), "nothing was taken out"
        for cell in whole["cells"]:
            if cell["cell_type"] == "code":
                cell["outputs"], cell["execution_count"] = [], None
        assert lesson == whole


def _first_solution():
    text = (SOLUTIONS / "01_perceptron.py").read_text(encoding="utf-8")
    return text.split("### BEGIN SOLUTION\n")[1].split("### END SOLUTION")[0]


def _first_mutant():
    from course_lib.grading.keys import load_keys

    keys = load_keys(SOLUTIONS / "keys", "04_backpropagation")
    return next(iter(keys.values())).parts, (SOLUTIONS / "keys" / "lesson04.py").read_text(encoding="utf-8")


PLANTED = {
    "a marker": lambda files: {"exercises/01_perceptron.ipynb": _with_cell(files, "### BEGIN SOLUTION")},
    "a solution in a sheet": lambda files: {"exercises/01_perceptron.ipynb": _with_cell(files, _first_solution())},
    "a solution in a check": lambda files: {"course_lib/checks/exercises/more.py": _first_solution().encode()},
    "a solution, indented otherwise": lambda files: {
        "course_lib/checks/more.py": _first_solution().replace("    ", "  ").encode()
    },
    "a key under another name": lambda files: {"course_lib/data/readme.md": _first_mutant()[1].encode()},
    "a key's file": lambda files: {"solutions/keys/lesson04.py": _first_mutant()[1].encode()},
    "bytecode": lambda files: {"course_lib/__pycache__/gpu.cpython-312.pyc": b"\0\1\2"},
    "an output of a sheet": lambda files: _with_output(files, "exercises/01_perceptron.ipynb"),
    "an output of a lesson": lambda files: _with_output(files, "notebooks/01_perceptron.ipynb"),
}


def _with_cell(files, source):
    book = json.loads(files["exercises/01_perceptron.ipynb"])
    book["cells"].append(
        {"cell_type": "code", "source": source, "outputs": [], "metadata": {}, "execution_count": None}
    )
    return json.dumps(book).encode()


def _with_output(files, name):
    book = json.loads(files[name])
    cell = next(c for c in book["cells"] if c["cell_type"] == "code")
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "3.14"}]
    return {name: json.dumps(book).encode()}


@pytest.mark.parametrize("what", PLANTED)
def test_what_is_planted_is_found(what, files):
    assert leaks(files | PLANTED[what](files), SOLUTIONS)


def test_an_archive_that_would_leak_is_not_written(files, tmp_path, monkeypatch):
    planted = files | PLANTED["a marker"](files)
    monkeypatch.setattr("course_lib.grading.release.contents", lambda course: planted)
    with pytest.raises(ReleaseError, match="BEGIN SOLUTION"):
        release(ROOT, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_the_same_bytes_twice(tmp_path):
    for folder in "ab":
        done = CliRunner().invoke(app, ["release", str(tmp_path / folder), "--folder", str(ROOT)])
        assert done.exit_code == 0, done.output
        assert "No solution, marker, key or output is in it." in done.output
    one, two = ((tmp_path / folder / "course.zip").read_bytes() for folder in "ab")
    assert one == two


def test_a_sheet_from_the_archive_can_be_checked_with_the_library_from_the_archive(tmp_path):
    with zipfile.ZipFile(release(ROOT, tmp_path)) as archive:
        archive.extractall(tmp_path)
    course = tmp_path / "course"
    command = [sys.executable, "-m", "course_lib.checks.sheet_run", "exercises/01_perceptron.ipynb"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert "0 of 5 are right in the public check." in done.stdout
    where = subprocess.run(
        [sys.executable, "-c", "import course_lib; print(course_lib.__file__)"],
        cwd=course, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert where.stdout.startswith(str(course))


def test_where_there_are_no_solutions_nothing_is_written(tmp_path):
    course = tmp_path / "students"
    course.mkdir()
    done = CliRunner().invoke(app, ["release", str(tmp_path / "out"), "--folder", str(course)])
    assert done.exit_code != 0
    with pytest.raises(ReleaseError, match="students has no solutions"):
        release(course, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_archive_says_how_to_install_it_where_only_python3_is_there(files):
    text = files["README.md"].decode()
    assert "    python3 -m venv .venv\n" in text
    assert "no-deps ." not in text  # without build isolation, as the packages are all there
