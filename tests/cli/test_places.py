"""A home folder that takes no file stops no lesson: a temporary folder takes its place, and one is told."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from course_lib.cli import app, machine
from course_lib.cli.places import NoPlace, places, takes_files, unusable, use_usable
from tests.cli.course import make_course
from tests.setup.project import ROOT

VARIABLES = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "JUPYTER_CONFIG_PATH", *places())


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder below a file, where not even root can write; its name."""
    monkeypatch.setattr(os, "environ", {k: v for k, v in os.environ.items() if k not in VARIABLES})
    (tmp_path / "file").write_text("no folder")
    os.environ["HOME"] = str(tmp_path / "file" / "home")
    return tmp_path / "file" / "home"


def test_a_folder_takes_files_or_would_if_it_were_made_and_nothing_is_left_there(tmp_path):
    assert takes_files(tmp_path)
    assert takes_files(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_a_file_a_link_to_nowhere_and_what_lies_below_them_take_none(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    for name in ("file", "file/a", "link", "link/a"):
        assert not takes_files(tmp_path / name)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size here")
def test_a_full_disk_takes_none(tmp_path):
    script = (
        "import resource, sys\nfrom pathlib import Path\nfrom course_lib.cli.places import takes_files\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\nprint(takes_files(Path(sys.argv[1])))"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_every_folder_of_a_home_that_takes_no_file_is_replaced(home):
    bad = unusable()
    assert {"JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR"} <= set(bad)
    assert all(folder.is_relative_to(home) for folder in bad.values())
    said = use_usable()
    assert str(home) in said
    temporary = Path(re.search(r"lie in (\S+)", said)[1])
    for name in bad:
        assert Path(os.environ[name]).parent == temporary
        assert takes_files(Path(os.environ[name]))
    assert os.environ["JUPYTER_CONFIG_PATH"] == str(bad["JUPYTER_CONFIG_DIR"])
    assert (unusable(), use_usable()) == ({}, "")


@pytest.mark.parametrize("name", places())
def test_one_folder_that_the_user_named_and_that_takes_no_file_is_replaced_alone(name, home, tmp_path):
    os.environ["HOME"] = str(tmp_path)
    assert unusable() == {}
    os.environ[name] = str(home)
    bad = set(unusable())
    assert name in bad
    assert all(other.startswith(name[:7]) for other in bad)  # Jupyter's folders lie in each other
    use_usable()
    assert takes_files(Path(os.environ[name]))


def test_without_a_temporary_folder_it_is_said_in_words(home, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    with pytest.raises(NoPlace, match=r"nor can a temporary folder\. Set HOME"):
        use_usable()
    monkeypatch.setattr("jupyterlab.labapp.LabApp.launch_instance", lambda argv: pytest.fail("it was started"))
    result = CliRunner().invoke(app, ["lab", "--folder", str(ROOT)])
    assert (result.exit_code, result.output.count("\n")) == (1, 1)


def test_the_doctor_notes_it(home, tmp_path):
    assert machine.check_home({}).state == "ok"
    noted = machine.check_home(temporary=tmp_path)
    assert (noted.state, "temporary folder" in noted.found, "HOME" in noted.fix) == ("note", True, True)
    broken = machine.check_home(temporary=home)
    assert (broken.state, "TMPDIR" in broken.fix) == ("broken", True)


def test_the_doctor_notes_a_course_folder_that_takes_no_file(tmp_path):
    root = make_course(tmp_path / "c")
    assert machine.check_folder(root).state == "ok"
    (root / "notebooks").rmdir()
    (root / "notebooks").write_text("no folder")
    assert machine.check_folder(root).state == "note"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_jupyterlab_starts_with_such_a_home_and_leaves_nothing(home, tmp_path):
    root = make_course(tmp_path / "c", l01_a=[])
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-m", "course_lib", "lab", "--no-browser", "--port=0", "--folder", str(root)]
    environ = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as lab:
        said = []
        for line in lab.stdout:
            said.append(line)
            if "/lab/tree/notebooks/01_a.ipynb" in line:
                lab.send_signal(signal.SIGTERM)
                break
        said += lab.stdout.readlines()
    assert "http://127.0.0.1" in "".join(said)
    assert "Traceback" not in "".join(said)
    assert list((tmp_path / "tmp").glob("course-*")) == []
