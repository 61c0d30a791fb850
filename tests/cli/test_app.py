"""The command as a whole: help everywhere, version, one run as a real program."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import course_lib
from course_lib.cli import app


@pytest.mark.parametrize("command", [[], ["doctor"], ["lab"], ["run"]])
def test_every_command_has_help(command):
    result = CliRunner().invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.output


def test_the_bare_command_shows_the_help():
    output = CliRunner().invoke(app, []).output
    assert all(name in output for name in ("doctor", "lab", "run"))


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"course {course_lib.__version__}\n")


def test_an_unknown_command_is_refused():
    assert CliRunner().invoke(app, ["nonsense"]).exit_code == 2


def test_help_as_a_program_loads_nothing_heavy():
    script = (
        "import sys\nfrom course_lib.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as stop:\n    assert stop.code == 0\n"
        "print(sorted({'numba', 'nbconvert', 'nbclient', 'jupyterlab', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Usage" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
