"""An environment that was made movable works in a folder renamed, moved or copied: scripts, imports, activate."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.setup.project import ROOT
from tools.movable import HEADER, free_scripts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the Makefile is not for Windows")

SCRIPT = "import sys\nfrom course_lib import where\nprint(where, sys.prefix, *sys.argv[1:])\n"
BY_SHELL = "#!/bin/sh\n'''exec' \"{}/python\" \"$0\" \"$@\"\n' '''\n"  # as pip writes it where a path has spaces


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A course folder with an environment and two scripts, as pip leaves them; it is copied for each test."""
    course = tmp_path_factory.mktemp("made") / "kurs"
    (course / "course_lib").mkdir(parents=True)
    (course / "course_lib" / "__init__.py").write_text("from pathlib import Path\nwhere = Path(__file__).parents[1]\n")
    venv.create(course / ".venv", symlinks=True)
    scripts = course / ".venv" / "bin"
    for name, header in (("plain", f"#!{scripts}/python3\n"), ("long", BY_SHELL.format(scripts))):
        (scripts / name).write_text(header + SCRIPT)
        (scripts / name).chmod(0o755)
    set_right(course)
    return course


def set_right(course):
    done = subprocess.run(
        [course / ".venv" / "bin" / "python", ROOT / "tools" / "movable.py", ".venv"],
        cwd=course, env=clean(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def clean():
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


def said(*command, cwd, **more):
    return subprocess.run(command, cwd=cwd, env=clean(), capture_output=True, text=True, check=True, **more).stdout


NAMES = ["kurs2", "with spaces", "größe 日本", "a'b\"c", "$HOME `x` #%&", "x" * 150, "deeper/and deeper/kurs"]


@pytest.mark.parametrize("name", NAMES)
def test_scripts_and_imports_work_at_once_wherever_the_folder_is_now(made, tmp_path, name):
    new = tmp_path / name
    shutil.copytree(made, new, symlinks=True)
    for script in ("plain", "long"):
        for command in (new / ".venv" / "bin" / script, f".venv/bin/{script}"):
            assert said(command, "a b", "*", cwd=new) == f"{new} {new}/.venv a b *\n"
    python = new / ".venv" / "bin" / "python"
    assert said(python, "-c", SCRIPT, cwd=tmp_path) == f"{new} {new}/.venv\n"  # from any folder, as a kernel does
    link = tmp_path / "link"
    link.symlink_to(new / ".venv" / "bin" / "plain")
    assert said(link, cwd=tmp_path) == f"{new} {new}/.venv\n"


@pytest.mark.parametrize("name", NAMES[:3])
def test_activate_works_after_the_environment_was_set_right(made, tmp_path, name):
    new = tmp_path / name
    shutil.copytree(made, new, symlinks=True)
    assert str(made) in set_right(new)
    found = said("bash", "-c", ". .venv/bin/activate && plain && command -v python", cwd=new)
    assert found == f"{new} {new}/.venv\n{new}/.venv/bin/python\n"
    assert (new / ".venv" / ".place").read_text() == f"{new}\n"
    assert said(new / ".venv" / "bin" / "plain", cwd=new) == f"{new} {new}/.venv\n"


def test_only_scripts_of_python_are_changed_and_only_once(tmp_path):
    rest = "import sys\n#!/not/a/first/line/python\n"
    texts = {
        "plain": "#!/old/.venv/bin/python\n" + rest,
        "version": "#!/old/.venv/bin/python3.12\n" + rest,
        "long": BY_SHELL.format("/old/.venv/bin") + rest,
        "shell": "#!/bin/sh\necho python\n",
        "binary": "\x7fELF #!/old/bin/python\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o750)
    (tmp_path / "python").symlink_to(sys.executable)
    assert free_scripts(tmp_path) == ["long", "plain", "version"]
    for name in ("long", "plain", "version"):
        assert (tmp_path / name).read_text() == HEADER.decode() + rest
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o750
    for name in ("shell", "binary"):
        assert (tmp_path / name).read_text() == texts[name]
    assert Path(tmp_path / "python").is_symlink()
    assert free_scripts(tmp_path) == []
