"""The archive for students: whole, the same each time, and with nothing in it that they must not get."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import PurePosixPath

import pytest
from typer.testing import CliRunner

from course_lib.checks.registry import MODULES, SHEETS, sheet
from course_lib.cli import app
from course_lib.grading.leaks import leaks
from course_lib.grading.public_checks import RecordError, public_checks, record, stays_here
from course_lib.grading.release import ReleaseError, contents, release
from course_lib.grading.right_values import instructors_code
from tests.setup.project import ROOT

SOLUTIONS = ROOT / "solutions"
EXERCISES = "course_lib/checks/exercises/"


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
    "the checks in their old form": lambda files: _instructors("lesson01.py"),
    "the checks under another name": lambda files: {
        "course_lib/checks/more.py": _instructors("lesson04.py").popitem()[1]
    },
    "the mistakes of a lesson": lambda files: {
        "course_lib/data/more.py": _instructors("lesson13_mistakes.py").popitem()[1]
    },
    "the right values of a lesson": lambda files: {
        "course_lib/data/more.py": _instructors("lesson01_values.py").popitem()[1]
    },
    "a computation in a record's place": lambda files: {
        "course_lib/checks/exercises/lesson01.json": _instructors("lesson01.py").popitem()[1]
    },
    "the grader's own sheets": lambda files: {"course_lib/grading/selftest/sheet.py": b"EXERCISES = ()"},
    "an output of a sheet": lambda files: _with_output(files, "exercises/01_perceptron.ipynb"),
    "an output of a lesson": lambda files: _with_output(files, "notebooks/01_perceptron.ipynb"),
}


def _instructors(module):
    name = f"{EXERCISES}{module}"
    return {name: (ROOT / name).read_bytes()}


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
    assert leaks(PLANTED[what](files), SOLUTIONS)  # in the files as they are nothing is found


def test_every_module_that_computes_right_values_is_found_whatever_it_is_called():
    modules = [file for file, _, _ in instructors_code(ROOT)]
    assert {f"{module}.py" for module in MODULES.values()} <= set(modules)
    code = {f"course_lib/checks/other_{file}": text for file, text, functions in instructors_code(ROOT) if functions}
    found = {line.split(":")[0] for line in leaks({name: text.encode() for name, text in code.items()}, SOLUTIONS)}
    assert found == code.keys()


def test_each_function_that_computes_right_values_is_found_alone():
    code = [(f"{file} {name}", text) for file, _, functions in instructors_code(ROOT) for name, text in functions]
    whole = "\n\n\n".join(text for _, text in code)
    lines = {line for line in leaks({"course_lib/checks/other.py": whole.encode()}, SOLUTIONS) if "runs of" in line}
    (found,) = {line for line in lines if "lines of a key" not in line}  # keys and checks have some lines in common
    assert len(code) > 250
    named = leaks({"course_lib/grading/other.py": whole.encode()}, SOLUTIONS)
    assert {name for name, _ in code} <= {re.sub(r".*function (\w+) of (.*)", r"\2 \1", line) for line in named}
    assert "of a check that computes right values" in found


def test_of_the_exercises_the_archive_has_records_and_launches(files):
    there = {name.removeprefix(EXERCISES) for name in files if name.startswith(EXERCISES)}
    launches = {path.name for path in (ROOT / EXERCISES).glob("*_launches.py")}
    records = {f"{module}.json" for module in MODULES.values()}
    assert there == records | launches | {"__init__.py", "kernel_inputs.py", "launches.py"}
    assert not any(map(stays_here, files))


def test_an_archive_that_would_leak_is_not_written(files, tmp_path, monkeypatch):
    planted = files | PLANTED["a marker"](files)
    monkeypatch.setattr("course_lib.grading.release.contents", lambda course: planted)
    with pytest.raises(ReleaseError, match="BEGIN SOLUTION"):
        release(ROOT, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_the_same_bytes_again(course, tmp_path):
    done = CliRunner().invoke(app, ["release", str(tmp_path / "a"), "--folder", str(ROOT)])
    assert done.exit_code == 0, done.output
    assert "No solution, marker, key or output is in it." in done.output
    assert "know the right results of the public cases, and compute no others" in done.output
    assert (tmp_path / "a" / "course.zip").read_bytes() == (course.parent / "course.zip").read_bytes()


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """An unpacked archive."""
    folder = tmp_path_factory.mktemp("release")
    with zipfile.ZipFile(release(ROOT, folder)) as archive:
        archive.extractall(folder)
    return folder / "course"


def test_a_sheet_from_the_archive_can_be_checked_with_the_library_from_the_archive(course):
    command = [sys.executable, "-m", "course_lib.checks.sheet_run", "exercises/01_perceptron.ipynb"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert "0 of 5 are right in the public check." in done.stdout
    where = subprocess.run(
        [sys.executable, "-c", "import course_lib; print(course_lib.__file__)"],
        cwd=course, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert where.stdout.startswith(str(course))


CHECKED = [
    *(("02_neurons_and_layers", kind) for kind in ("solved", "stubs", "wrong")),
    ("06_training_an_mlp", "wrong"),
    ("11_gpu_programming_model", "wrong"),
]


@pytest.mark.parametrize(("name", "kind"), CHECKED)
def test_course_check_says_the_same_in_the_archive_and_in_the_course_folder(name, kind, course, tmp_path):
    folder = course / "exercises" if kind == "stubs" else SOLUTIONS
    notebook = json.loads((folder / f"{name}.ipynb").read_text(encoding="utf-8"))
    path = tmp_path / f"{name}.ipynb"
    path.write_text(json.dumps(_with_signs_turned(notebook) if kind == "wrong" else notebook), encoding="utf-8")
    here, there = (_checked(path, folder) for folder in (ROOT, course))
    assert there == here
    assert here[0] == (0 if kind == "solved" else 1), here
    assert (kind == "wrong") == ("not yet" in here[1] and "Likely cause" in here[1]), here


def _with_signs_turned(notebook):
    """Return a notebook in which every sum is a difference: wrong in many ways, and some ends in an error."""
    changed = json.loads(json.dumps(notebook))
    for cell in changed["cells"]:
        if cell["cell_type"] == "code" and "check(" not in "".join(cell["source"]):
            cell["source"] = "".join(cell["source"]).replace(" + ", " - ").replace(" += ", " -= ")
    return changed


def _checked(path, folder):
    command = [sys.executable, "-m", "course_lib.checks.sheet_run", str(path)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def test_in_the_archive_the_checks_know_the_public_cases_only(course):
    script = (
        "from course_lib.checks.registry import find\n"
        "fit = find('01.1')\n"
        "print(fit.expect(*fit.cases[0].args))\n"
        "import numpy as np\n"
        "fit.expect(np.array([1.0, 2.0]), np.array([1.0, 2.0]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=course, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith("(-0.99999")
    assert "LookupError: 01.1: only the results of its 2 public cases are known here" in done.stderr


def test_in_the_archive_the_graders_self_test_is_missed_in_words(course):
    command = [sys.executable, "-c", "from course_lib.cli import app; app(['grade', '--self-test'])"]
    done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "not in the students' archive" in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_python_is_installed_with_the_package(files):
    patterns = tomllib.loads(files["pyproject.toml"].decode())["tool"]["setuptools"]["package-data"]
    known = [f"{package.replace('.', '/')}/{p}" for package, inside in patterns.items() for p in inside]
    data = [name for name in files if name.startswith("course_lib/") and not name.endswith(".py")]
    assert len(data) > len(MODULES)
    assert [name for name in data if not any(PurePosixPath(name).match(pattern) for pattern in known)] == []


def test_a_public_case_that_cannot_be_written_down_is_said_and_nothing_is_written(tmp_path, monkeypatch):
    def refused(course):
        raise RecordError("98.1 (one): a set cannot be recorded")

    monkeypatch.setattr("course_lib.grading.release.public_checks", refused)
    done = CliRunner().invoke(app, ["release", str(tmp_path / "out"), "--folder", str(ROOT)])
    assert (done.exit_code, "course release: 98.1 (one): a set cannot be recorded" in done.output) == (1, True)
    assert not (tmp_path / "out").exists()


def test_exercises_that_cannot_be_computed_are_said_in_one_line(tmp_path):
    folder = tmp_path / "course"
    shutil.copytree(ROOT / "course_lib", folder / "course_lib", ignore=shutil.ignore_patterns("__pycache__"))
    lesson = folder / EXERCISES / "lesson01.py"
    lesson.write_text(lesson.read_text(encoding="utf-8").replace("expect=pocket", "expect=print"), encoding="utf-8")
    records = public_checks(folder)  # by that folder's exercises, not by those of this process
    assert records[f"{EXERCISES}lesson01.json"] != record(sheet("01_perceptron").exercises).encode()
    assert records[f"{EXERCISES}lesson02.json"] == record(sheet("02_neurons_and_layers").exercises).encode()
    lesson.write_text(lesson.read_text(encoding="utf-8").replace("expect=print", "expect=set"), encoding="utf-8")
    with pytest.raises(RecordError, match=r"could not be computed: 01\.4 \(NAND\): set expected"):
        public_checks(folder)


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
