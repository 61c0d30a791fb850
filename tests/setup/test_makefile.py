"""`make lab` and `make test` install once, never leave a stamp of half an install, and explain what is missing.

A small shell script stands in for Python, venv, pip and course, and writes down how it was called.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.setup.project import CUDA_LOCK, LOCKS, ROOT

pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="no make here (Windows): the Makefile is not for it")

COMPILER = [CUDA_LOCK] if (platform.system(), platform.machine()) == ("Linux", "x86_64") else []
"""The compiler of tests/gates is installed where there is one."""

LAB = ["-m course_lib lab"]

STAND_IN = """#!/bin/sh
case "$*" in *find_spec*) exit "${UNSOUND:-0}" ;; esac
echo "$*" >> "$CALLS"
case "$*" in
  -V) echo "Python 3.9.1" ;;
  *ensurepip*) exit "${NO_VENV:-0}" ;;
  *version_info*) exit "${TOO_OLD:-0}" ;;
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  *"install --require-hashes"*) exit "${PIP_FAILS:-0}" ;;
  "tools/movable.py "*) pwd -P > "$2/.place" ;;
esac
"""


class Copy:
    """A folder with the Makefile, the locks and a stand-in for Python."""

    def __init__(self, folder: Path):
        self.folder, self.calls = folder, folder / "calls.txt"
        for name in ("Makefile", "pyproject.toml", *LOCKS, CUDA_LOCK):
            shutil.copy(ROOT / name, folder / name)
        python = folder / "fake-python"
        python.write_text(STAND_IN)
        python.chmod(0o755)

    def make(self, *arguments: str, **environ: str) -> tuple[int, str, list[str]]:
        """Run make; give its exit status, its output, and the calls of the stand-in."""
        self.calls.write_text("")
        # These tests may run under make themselves, which hands its variables on.
        ours = ("MAKE", "MFLAGS", "ARGS", "VENV", "PYTHON", "PROCESSES")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        done = subprocess.run(
            ["make", "PYTHON=./fake-python", *arguments],
            cwd=self.folder,
            env={**clean, "CALLS": str(self.calls), **environ},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr, self.calls.read_text().splitlines()

    def touch(self, name: str) -> None:
        """Make a file newer than every stamp."""
        later = time.time() + 5
        os.utime(self.folder / name, (later, later))


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


def _installs(calls: list[str]) -> list[str]:
    return [call for call in calls if "install" in call]


def test_the_first_lab_installs_from_the_lock_and_the_second_only_starts(copy):
    status, output, calls = copy.make("lab", "ARGS=--no-browser")
    assert status == 0, output
    assert "MB" in output
    locked, package = _installs(calls)
    assert locked.endswith("install --require-hashes -r requirements.lock")
    assert package.endswith("install --no-deps --no-build-isolation -e .")
    assert calls[-2:] == ["tools/movable.py .venv", "-m course_lib lab --no-browser"]
    assert copy.make("lab")[2] == LAB


def test_install_sets_up_what_the_lab_needs_once_and_opens_nothing(copy):
    status, output, calls = copy.make("install")
    assert status == 0, output
    assert [call.split()[-1] for call in _installs(calls)] == ["requirements.lock", "."]
    assert "course doctor" in output
    assert not any("lab" in call.split() for call in calls)
    assert copy.make("install")[2] == []
    assert copy.make("lab")[2] == LAB


def test_test_installs_all_locks_once_and_then_only_runs_pytest(copy):
    assert [call.split()[-1] for call in _installs(copy.make("test")[2])] == [
        "requirements.lock",
        ".",
        "requirements-test.lock",
        *COMPILER,
    ]
    assert copy.make("test", "ARGS=-x tests/cli")[2] == ["-m pytest -n auto -x tests/cli"]
    assert copy.make("test", "PROCESSES=0")[2] == ["-m pytest -n 0"]
    assert copy.make("lab")[2] == LAB


def test_html_installs_what_makes_pages_once_and_then_only_runs(copy):
    assert [call.split()[-1] for call in _installs(copy.make("html")[2])] == [
        "requirements.lock",
        ".",
        "requirements-book.lock",
    ]
    assert copy.make("html", "ARGS=03")[2] == ["-m course_lib run --out build/html 03"]
    assert copy.make("lab")[2] == LAB
    copy.touch("requirements-book.lock")
    assert len(_installs(copy.make("lab")[2])) == 0
    assert copy.make("html", PIP_FAILS="1")[0] != 0
    assert len(_installs(copy.make("html")[2])) == 1


def test_check_needs_no_compiler_and_runs_ruff_and_then_the_fast_tests(copy):
    copy.make("lab")
    (copy.folder / ".venv" / "bin" / "ruff").symlink_to("python")
    status, output, calls = copy.make("check", "ARGS=-x")
    assert status == 0, output
    assert not any(CUDA_LOCK in call for call in calls)
    assert calls[-2:] == ["check .", "-m pytest -n auto -m fast -x"]


@pytest.mark.parametrize(
    ("changed", "lab_installs", "test_installs"),
    [
        ("requirements.lock", 2, 3 + len(COMPILER)),
        ("requirements-test.lock", 0, 1 + len(COMPILER)),
        ("requirements-cuda.lock", 0, len(COMPILER)),
        ("pyproject.toml", 2, 3 + len(COMPILER)),
    ],
)
def test_a_changed_lock_is_installed_again(copy, changed, lab_installs, test_installs):
    copy.make("test")
    copy.touch(changed)
    assert len(_installs(copy.make("test")[2])) == test_installs
    copy.touch(changed)
    assert len(_installs(copy.make("lab")[2])) == lab_installs


def test_a_failed_install_leaves_no_stamp_and_is_done_again(copy):
    status, _, calls = copy.make("lab", PIP_FAILS="1")
    assert status != 0
    assert LAB[0] not in calls
    assert not list((copy.folder / ".venv").glob(".ready*"))
    assert len(_installs(copy.make("lab")[2])) == 2


def test_the_compiler_goes_into_a_folder_of_its_own_and_a_failed_download_leaves_no_stamp(copy):
    if not COMPILER:
        pytest.skip("NVIDIA has no CUDA compiler for this system")
    status, output, calls = copy.make("test")
    assert "125 MB" in output
    install = next(call for call in calls if call.endswith(CUDA_LOCK))
    assert "--no-deps --target build/cuda-compiler" in install
    ready = copy.folder / "build" / "cuda-compiler" / ".ready"
    assert (status, ready.exists()) == (0, True)
    copy.touch(CUDA_LOCK)
    status, _, calls = copy.make("test", PIP_FAILS="1")
    assert status != 0
    assert not ready.exists()
    assert "-m pytest" not in calls


def test_a_failed_renewal_removes_the_old_stamp(copy):
    copy.make("lab")
    copy.touch("requirements.lock")
    assert copy.make("lab", PIP_FAILS="1")[0] != 0
    assert not list((copy.folder / ".venv").glob(".ready*"))


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"NO_VENV": "1"}, ["cannot make virtual environments", "apt-get install python3-venv"]),
        ({"TOO_OLD": "1"}, ["Python 3.9.1", "3.11 or newer", "make lab PYTHON="]),
    ],
)
def test_an_unfit_python_is_refused_with_the_way_out(copy, environ, words):
    status, output, calls = copy.make("lab", **environ)
    assert status != 0
    assert all(word in output for word in words), output
    assert not _installs(calls)
    assert not (copy.folder / ".venv").exists()


def test_a_damaged_environment_is_made_anew(copy):
    (copy.folder / ".venv" / "bin").mkdir(parents=True)
    leftover = copy.folder / ".venv" / "leftover"
    leftover.touch()
    status, output, calls = copy.make("lab")
    assert status == 0, output
    assert "-m venv .venv" in calls
    assert not leftover.exists()


@pytest.mark.parametrize("name", ["kurs 2", "größe", "a'b $HOME `c` #%", "x" * 120])
def test_a_folder_that_was_renamed_is_set_right_once_without_an_install(copy, name):
    copy.make("lab")
    new = copy.folder.with_name(name)
    copy.folder.rename(new)
    copy.folder, copy.calls = new, new / "calls.txt"
    status, output, calls = copy.make("lab")
    assert status == 0, output
    assert calls == ["tools/movable.py .venv", *LAB]
    assert copy.make("lab")[2] == LAB


@pytest.mark.parametrize("target", ["lab", "check", "test", "html", "bench", "release", "notebooks", "lint"])
def test_every_target_sets_a_renamed_folder_right_first(copy, target):
    copy.make("html")
    copy.make("test")
    (copy.folder / ".venv" / "bin" / "ruff").symlink_to("python")
    (copy.folder / ".venv" / ".place").write_text("/elsewhere/course\n")
    status, output, calls = copy.make(target)
    assert status == 0, output
    assert calls[0] == "tools/movable.py .venv"
    assert not _installs(calls)


@pytest.mark.parametrize("how", ["gone", "another version"])
def test_a_python_that_is_gone_or_another_one_means_a_new_environment(copy, how):
    copy.make("lab")
    python = copy.folder / ".venv" / "bin" / "python"
    if how == "gone":  # as after an upgrade of the system
        python.unlink()
        python.symlink_to("/no/such/python")
        status, output, calls = copy.make("lab")
    else:
        python.write_text(STAND_IN.replace("*find_spec*) exit", "*find_spec* | *version_info*) exit 1 #"))
        status, output, calls = copy.make("lab")
    assert status == 0, output
    assert "the environment is made anew" in output
    assert "-m venv .venv" in calls
    assert len(_installs(calls)) == 2
    assert copy.make("lab")[2] == LAB


def test_a_missing_python_is_named(copy):
    status, output, _ = copy.make("lab", "PYTHON=no-such-python")
    assert status != 0
    assert "no 'no-such-python' here" in output


def test_help_is_the_default_and_names_every_command(copy):
    status, output, calls = copy.make()
    assert (status, calls) == (0, [])
    for target in ("install", "lab", "check", "test", "notebooks", "html", "lint", "lock", "clean"):
        assert f"make {target} " in output


def test_the_makefile_uses_nothing_newer_than_make_3_81():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for newer in (".ONESHELL", "::=", "!=", "$(file ", "$(guile", ".RECIPEPREFIX", "&:"):
        assert newer not in text
