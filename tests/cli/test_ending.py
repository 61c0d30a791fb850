"""Full disks, closed pipes, closed streams and Ctrl-C end any command with a line and a status, never a traceback."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from course_lib.cli import app
from course_lib.cli.ending import end_well
from tests.setup.project import ROOT

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
with_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
SHEET = str(ROOT / "exercises" / "01_perceptron.ipynb")
COMMANDS = [["--help"], ["--version"], ["run", "--help"], ["bench"], ["check", SHEET]]


def course(line, *arguments, **more):
    """Run the command in a shell line where $COURSE stands for it; its output and errors come back as one text."""
    environ = {**os.environ, "COURSE": f'"{sys.executable}" -m course_lib', "PYTHONPATH": str(ROOT)}
    command = ["bash", "-c", f"set -o pipefail; {line.replace('$COURSE', environ['COURSE'])}", "bash", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False, **more)


@with_full
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda words: words[0])
def test_output_on_a_full_disk_is_one_line_and_a_failure(arguments):
    done = course('$COURSE "$@" > /dev/full', *arguments)
    assert done.returncode == 1
    assert re.fullmatch(r"course.*: .*No space left on device\. Free some space.*\n", done.stderr), done.stderr


@on_posix
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda words: words[0])
def test_output_that_nobody_reads_ends_the_command_without_a_word(arguments):
    reader, writer = os.pipe()
    os.close(reader)  # gone before the first line, which `| head` may be or not
    command = [sys.executable, "-m", "course_lib", *arguments]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@on_posix
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda words: words[0])
def test_closed_output_is_told_before_any_work(arguments):
    done = course('$COURSE "$@" >&-', *arguments)
    assert done.returncode == 1
    assert re.fullmatch(r"course.*: its output is closed, so nothing was done\..*\n", done.stderr), done.stderr


@on_posix
def test_closed_input_and_errors_change_nothing():
    done = course("$COURSE --version <&- 2>&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("course ")
    assert course("$COURSE nonsense <&- 2>&-").returncode == 2


@on_posix
def test_a_file_that_is_opened_never_takes_the_place_of_a_closed_stream(tmp_path):
    script = (
        "import os, sys\nfrom course_lib.cli.ending import end_well\n"
        "def command():\n    with open(sys.argv[1], 'w') as file:\n        os.write(2, b'an error')\n"
        "        file.write('a result')\nend_well(command)"
    )
    course(f'"{sys.executable}" -c "$1" "$2" 2>&- <&-', script, str(tmp_path / "result"))
    assert (tmp_path / "result").read_text() == "a result"


def _ended(command, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["course", "doctor"])
    monkeypatch.setattr("course_lib.cli.ending._has_output", lambda: True)
    with pytest.raises(SystemExit) as end:
        end_well(command)
    return end.value.code or 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "No space left on device: results/x.json. Free some space"),
        (errno.EROFS, "Read-only file system: results/x.json. Name a folder"),
        (errno.EACCES, "Permission denied: results/x.json."),
        (errno.EFBIG, "File too large: results/x.json. Raise the limit"),
        (errno.EEXIST, "File exists: results/x.json. A file has this name: name another folder."),
        (errno.ENOTDIR, "Not a directory: results/x.json. A file has the name of a folder in it"),
        (errno.ENOENT, "No such file or directory: results/x.json. Is the name right"),
    ],
)
def test_a_file_that_cannot_be_written_is_named_with_the_reason(number, words, monkeypatch, capsys):
    def command():
        raise OSError(number, os.strerror(number), "results/x.json")

    status, said = _ended(command, monkeypatch, capsys)
    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(f"course doctor: {words}")


def test_a_full_disk_behind_another_error_is_found(monkeypatch, capsys):
    def command():
        try:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise RuntimeError("the pages cannot be built") from error

    status, said = _ended(command, monkeypatch, capsys)
    assert (status, "No space left on device" in said) == (1, True)


def test_ctrl_c_is_told_in_a_word(monkeypatch, capsys):
    def command():
        raise KeyboardInterrupt

    assert _ended(command, monkeypatch, capsys) == (130, "course doctor: stopped.\n")


def test_a_status_and_words_of_the_commands_own_are_kept(monkeypatch, capsys):
    def command():
        print("my own words", file=sys.stderr)
        raise SystemExit(2)

    assert _ended(command, monkeypatch, capsys) == (2, "my own words\n")


@pytest.mark.parametrize("error", [ValueError("a mistake of ours"), OSError("without a number")])
def test_a_mistake_of_the_course_keeps_its_traceback(error, monkeypatch):
    def command():
        raise error

    monkeypatch.setattr("course_lib.cli.ending._has_output", lambda: True)
    with pytest.raises(type(error)):
        end_well(command)


def test_the_lines_behind_a_file_error_can_be_had(monkeypatch):
    def command():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "x")

    monkeypatch.setattr("course_lib.cli.ending._has_output", lambda: True)
    monkeypatch.setenv("COURSE_TRACEBACK", "full")
    with pytest.raises(FileNotFoundError):
        end_well(command)


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (["doctor"], "course_lib.cli.doctor.run_checks"),
        (["run", "01"], "course_lib.cli.run.list_lessons"),
        (["release"], "course_lib.cli.release.find_course_folder"),
        (["lab"], "course_lib.cli.lab.find_course_folder"),
        (["grade", "x", "-o", "y"], "course_lib.cli.grade._keys_folder"),
        (["check", SHEET], "course_lib.cli.check_file.run_child"),
        (["bench", "cpu"], "course_lib.bench.bench_cpu"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_ctrl_c_within_any_command_is_one_word_and_130(command, place, monkeypatch, capsys):
    def pressed(*arguments, **named):
        raise KeyboardInterrupt

    module, name = place.rsplit(".", 1)
    __import__(module)
    monkeypatch.setattr(sys.modules[module], name, pressed)
    monkeypatch.setattr("course_lib.cli.ending._has_output", lambda: True)
    monkeypatch.setattr(sys, "argv", ["course", *command])
    with pytest.raises(SystemExit) as end:
        app(command)
    assert end.value.code == 130
    assert capsys.readouterr().err == f"course {command[0]}: stopped.\n"


@on_posix
def test_ctrl_c_at_a_terminal_ends_the_process_that_checks_a_sheet_too(tmp_path):
    """The sheet's own cell presses it, so it comes while the cell runs; the file that it writes then stays empty."""
    notebook = tmp_path / "01_perceptron.ipynb"
    late = tmp_path / "late"
    cell = (
        "import os, pathlib, signal, time\n"
        f"os.kill({'%d'}, signal.SIGINT)\ntime.sleep(30)\npathlib.Path({str(late)!r}).write_text('still here')"
    )
    program = f"""
import json, os, sys
cell = {cell!r} % os.getpid()
cells = [dict(cell_type="code", source=cell, metadata={{}}, outputs=[], execution_count=None, id="a")]
sheet = json.load(open({SHEET!r}))
sheet["cells"] = cells + sheet["cells"]
json.dump(sheet, open({str(notebook)!r}, "w"))
sys.argv = ["course", "check", {str(notebook)!r}]
from course_lib.cli import app
app()
"""
    restored = signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background has it ignored
    try:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    finally:
        signal.signal(signal.SIGINT, restored)
    assert (abs(done.returncode) in (130, signal.SIGINT), done.stderr) == (True, "course check: stopped.\n")
    assert not late.exists()


@pytest.mark.parametrize("command", [["doctor"], ["lab"], ["run"], ["check"], ["release"], ["grade"], ["bench"]])
def test_every_command_is_started_by_the_module_too(command):
    assert CliRunner().invoke(app, [*command, "--help"]).exit_code == 0


@on_posix
@pytest.mark.parametrize("command", ["doctor", "lab", "run 01", "release", "grade x -o y", "bench cpu", "bench simt"])
def test_a_current_folder_that_is_gone_is_told(command, tmp_path):
    (tmp_path / "gone").mkdir()
    done = course(f'cd "$1" && rmdir "$1" && $COURSE {command}', str(tmp_path / "gone"))
    assert done.returncode in (1, 2), done.stderr
    assert re.fullmatch(rf"course {command.split()[0]}: the folder that this was started in is gone: .*\n", done.stderr)


@pytest.mark.parametrize("columns", ["0", "00", ""])
def test_a_terminal_without_a_width_gets_the_usual_one(columns, monkeypatch, capsys):
    """rich makes a table of COLUMNS columns: with 0 all of it is gone, without a word."""
    monkeypatch.setenv("COLUMNS", columns)

    def command():
        from rich.console import Console

        assert Console().width >= 40

    assert _ended(command, monkeypatch, capsys) == (0, "")


@on_posix
@pytest.mark.parametrize("out", ["/dev/null", "/dev/null/x"])
@pytest.mark.parametrize("command", ["run 01 --out", "release", "grade exercises -o", "bench cpu --out"])
def test_a_folder_that_takes_no_file_is_told_before_the_work(command, out):
    done = course(f"ulimit -t 5; cd {ROOT} && $COURSE {command} {out}")  # to start takes one or two seconds
    assert done.returncode in (1, 2), done.stderr
    assert re.fullmatch(rf"course {command.split()[0]}: .*{out}.*\n", done.stderr), done.stderr
    assert done.stdout == ""
    assert "Errno" not in done.stderr
