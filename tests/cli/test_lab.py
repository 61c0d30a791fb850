"""`course lab` gives JupyterLab the folder, the first lesson, this machine's address only, and no news."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from jupyterlab.labapp import LabApp
from typer.testing import CliRunner

from course_lib.cli import app
from course_lib.cli.lab import UnfitPage, lab_arguments, lab_environment, page_in, start_page
from tests.cli.course import make_course


@pytest.fixture
def started(monkeypatch):
    """Catch the start of JupyterLab: the list gets its arguments."""
    calls = []
    monkeypatch.setattr(LabApp, "launch_instance", lambda argv: calls.append(argv))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    return calls


def test_it_starts_on_this_machine_only_in_the_folder_on_lesson_01(tmp_path, started):
    root = make_course(tmp_path / "c", l01_a=[], l02_b=[])
    result = CliRunner().invoke(app, ["lab", "--folder", str(root)])
    assert result.exit_code == 0, result.output
    (arguments,) = started
    assert f"--ServerApp.root_dir={root}" in arguments
    assert "--ServerApp.ip=127.0.0.1" in arguments
    assert "--LabApp.default_url=/lab/tree/notebooks/01_a.ipynb" in arguments
    assert not any("token" in argument or "password" in argument for argument in arguments)
    assert str(root) in result.output


def test_other_arguments_go_to_jupyterlab(tmp_path, started):
    root = make_course(tmp_path / "c", l01_a=[])
    extra = ["--no-browser", "--port", "9999"]
    CliRunner().invoke(app, ["lab", "--folder", str(root), *extra])
    assert started[0][-3:] == extra


def test_another_page_can_be_opened_and_a_missing_one_is_an_error(tmp_path, started):
    root = make_course(tmp_path / "c", l01_a=[], l02_b=[])
    CliRunner().invoke(app, ["lab", "--folder", str(root), "--open", "notebooks/02_b.ipynb"])
    assert "--LabApp.default_url=/lab/tree/notebooks/02_b.ipynb" in started[0]
    result = CliRunner().invoke(app, ["lab", "--folder", str(root), "--open", "none.ipynb"])
    assert (result.exit_code, "holds no none.ipynb" in result.output) == (1, True)
    assert len(started) == 1


NAMES = ["a #2 50%25 ?.ipynb", "ä 'q\" & +;=.ipynb", "[x] {y} ^`.ipynb", "日本語 %2F.ipynb", "~a$b!.ipynb"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_opened_its_address_is_quoted(tmp_path, started, name):
    root = make_course(tmp_path / "c d", l01_a=[])
    (root / "ü #").mkdir()
    shutil.copy(root / "notebooks" / "01_a.ipynb", root / "ü #" / name)
    result = CliRunner().invoke(app, ["lab", "--folder", str(root), "--open", f"ü #/{name}"])
    assert result.exit_code == 0, result.output
    (address,) = (a.removeprefix("--LabApp.default_url=") for a in started[0] if "default_url" in a)
    assert re.fullmatch(r"[\w/.%~-]+", address, re.ASCII)  # nothing that a browser or a server could take for a sign
    assert unquote(address) == f"/lab/tree/ü #/{name}"


def test_a_file_can_be_named_from_the_current_folder_or_by_its_whole_path(tmp_path, monkeypatch):
    root = make_course(tmp_path / "c", l01_a=[], l02_b=[])
    monkeypatch.chdir(root / "notebooks")
    for given in ("02_b.ipynb", "notebooks/02_b.ipynb", str(root / "notebooks" / "02_b.ipynb"), "./02_b.ipynb"):
        assert page_in(root, given) == "notebooks/02_b.ipynb"
    assert page_in(root, "notebooks") == "notebooks"
    assert page_in(root, str(root)) == ""


@pytest.mark.parametrize(
    ("given", "words"),
    [("../x.ipynb", "lies outside of"), ("none.ipynb", "holds no none.ipynb"), (".git/x.ipynb", "is hidden")],
)
def test_what_jupyterlab_cannot_show_is_refused(tmp_path, given, words):
    root = make_course(tmp_path / "c", l01_a=[])
    (root / ".git").mkdir()
    for place in (root / ".git", tmp_path):
        shutil.copy(root / "notebooks" / "01_a.ipynb", place / "x.ipynb")
    with pytest.raises(UnfitPage, match=words):
        page_in(root, given)


def test_no_course_folder_is_a_clear_error(tmp_path, started, monkeypatch):
    module = sys.modules[lab_arguments.__module__]

    def nowhere(folder):
        raise module.CourseFolderNotFound("no course folder here")

    monkeypatch.setattr(module, "find_course_folder", nowhere)
    result = CliRunner().invoke(app, ["lab"])
    assert (result.exit_code, result.output) == (1, "course lab: no course folder here\n")
    assert not started


def test_without_lessons_the_readme_opens(tmp_path):
    assert start_page(make_course(tmp_path / "c")) == "README.md"


def test_an_address_that_the_user_names_is_kept(tmp_path):
    arguments = lab_arguments(tmp_path, "README.md", ["--ip=127.0.0.2"])
    assert [argument for argument in arguments if "ip" in argument] == ["--ip=127.0.0.2"]


def test_root_is_told_to_jupyter_which_refuses_otherwise(tmp_path):
    assert "--allow-root" in lab_arguments(tmp_path, "README.md", [], as_root=True)
    assert "--allow-root" not in lab_arguments(tmp_path, "README.md", [])


def test_the_environment_adds_settings_and_commands_in_front_of_what_is_there():
    added = lab_environment({"PATH": "/usr/bin", "JUPYTER_CONFIG_PATH": "/etc/x"})
    commands, rest = added["PATH"].split(os.pathsep, 1)
    assert (Path(commands), rest) == (Path(sys.executable).parent, "/usr/bin")
    settings, rest = added["JUPYTER_CONFIG_PATH"].split(os.pathsep, 1)
    assert rest == "/etc/x"
    page = json.loads((Path(settings) / "labconfig" / "page_config.json").read_text())
    assert page["disabledExtensions"] == {"@jupyterlab/apputils-extension:announcements": True}
    assert os.pathsep not in lab_environment({})["JUPYTER_CONFIG_PATH"]


def test_kernels_compute_with_one_thread_unless_the_user_says_otherwise():
    assert lab_environment({})["OPENBLAS_NUM_THREADS"] == "1"
    assert "OPENBLAS_NUM_THREADS" not in lab_environment({"OPENBLAS_NUM_THREADS": "8"})


def test_jupyterlab_reads_the_settings(monkeypatch):
    from jupyterlab_server.config import get_page_config

    monkeypatch.setenv("JUPYTER_CONFIG_PATH", lab_environment({})["JUPYTER_CONFIG_PATH"])
    disabled = get_page_config([])["disabledExtensions"]
    assert "@jupyterlab/apputils-extension:announcements" in disabled
