"""The build tool: what it writes, when, and what it refuses."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from build_notebooks import app
from jupyter_client.asynchronous.client import AsyncKernelClient
from notebook_lib.clean import to_text
from notebook_lib.scripts import check_pair, find_pairs, read_script
from notebook_samples import GOOD_LESSON, HEADER
from typer.testing import CliRunner

from course_lib.cli.clean import ROOT, without_machine_paths
from course_lib.cli.kernel import kernel_environment


def _run(folder, *arguments):
    return CliRunner().invoke(app, ["--folder", str(folder), *arguments])


def _edit(folder, old, new):
    script = folder / "01_good.py"
    assert old in script.read_text()
    script.write_text(script.read_text().replace(old, new, 1))


def test_ids_are_unique_and_survive_an_insertion(tmp_path):
    script = tmp_path / "01_a.py"
    script.write_text(HEADER + "\n# %%\n1\n\n# %%\n1\n\n# %%\n2\n")
    before = [cell.id for cell in read_script(script).cells]
    script.write_text(HEADER + "\n# %%\n0\n\n# %%\n1\n\n# %%\n1\n\n# %%\n2\n")
    after = [cell.id for cell in read_script(script).cells]
    assert len(set(after)) == 4
    assert after[1:] == before


def test_text_behind_a_cells_marker_is_refused_because_no_notebook_would_show_it(tmp_path):
    path = tmp_path / "90_x.py"
    path.write_text(HEADER + "# %% [markdown] A first sentence.\n# More.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"90_x\.py, cell 1: 'A first sentence\.' stands behind the cell's marker"):
        read_script(path)


def test_written_notebook_is_deterministic_json_and_reads_back_the_same(good_lesson):
    text = to_text(good_lesson)
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")
    again = nbformat.reads(text, as_version=4)
    assert to_text(again) == text
    assert set(json.loads(text)["metadata"]) == {"kernelspec", "language_info"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1 + 1", "1 + 2", "cell 4 (code): line 1 is '1 + 1' in the notebook and '1 + 2' in the script"),
        ("# Sums are", "# Two lines\n# Sums are", "cell 2 (markdown): line 3"),
        ('# %% tags=["raises-exception"]', "# %%", "cell 10 has tags ['raises-exception'] in the notebook and [] in"),
        ('# %% tags=["continued"]\n1 + 1\n', "", "cell 4 is code in the notebook and markdown in the script"),
        ("# </details>\n", "# </details>\n\n# %%\n3\n", "cell 11"),
    ],
)
def test_check_names_the_first_cell_that_differs(folder, old, new, message):
    assert _run(folder, "--check").exit_code == 0
    _edit(folder, old, new)
    result = _run(folder, "--check")
    assert result.exit_code == 1
    assert "01_good is out of date" in result.output
    assert message in result.output


def test_check_sees_a_missing_an_unreadable_and_a_never_executed_notebook(folder):
    notebook = folder / "01_good.ipynb"
    pair = find_pairs(folder, folder)[0]
    nbformat.write(read_script(folder / "01_good.py"), notebook)
    assert check_pair(pair) == "cell 3 was never executed in the notebook"
    notebook.write_text("{")
    assert "cannot be read" in check_pair(pair)
    notebook.unlink()
    assert check_pair(pair) == "there is no built notebook"


def test_build_leaves_alone_what_did_not_change(folder):
    stamp = (folder / "01_good.ipynb").stat().st_mtime_ns
    result = _run(folder)
    assert result.exit_code == 0
    assert "1 of 1 notebooks are up to date" in result.output
    assert (folder / "01_good.ipynb").stat().st_mtime_ns == stamp


def test_build_writes_the_good_and_keeps_the_old_of_the_bad(tmp_path):
    """One build of several lessons, each with another fate."""
    cell = HEADER + "\n# %%\n{}\n"
    sources = {
        "01_good": GOOD_LESSON,
        "02_raises": cell.format("x = 1\n\n1 / 0"),
        "03_warns": cell.format("import sys\n\nprint('careful', file=sys.stderr)"),
        "04_large": cell.format("print('x' * 1_100_000)"),
        "05_dies": cell.format("import os\n\nos._exit(3)"),
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source)
        (tmp_path / f"{name}.ipynb").write_text("old")
    result = _run(tmp_path, "--jobs", "3")
    assert result.exit_code == 1
    assert "1 built, 4 failed, 0 were up to date" in result.output
    for message in (
        "cell 1 (In [1]), line 3: 1 / 0, ZeroDivisionError: division by zero",
        "cell 1: writes to stderr: 'careful'",
        "cell 1: the heaviest of a notebook of",
        "cell 1, DeadKernel: the cell killed its kernel",
    ):
        assert message in result.output
    written = {p.stem for p in tmp_path.glob("*.ipynb") if p.read_text() != "old"}
    assert written == {"01_good"}
    assert _run(tmp_path, "--check", "01").exit_code == 0
    assert not list(tmp_path.glob(".*.tmp"))


def test_building_again_gives_the_same_bytes(folder):
    before = (folder / "01_good.ipynb").read_bytes()
    result = _run(folder, "--force")
    assert "1 built, 0 failed, 0 were up to date" in result.output
    assert "breaks" not in result.output
    assert (folder / "01_good.ipynb").read_bytes() == before


def test_a_kernel_that_dies_at_its_start_is_started_again(tmp_path, monkeypatch):
    ready, attempts = AsyncKernelClient.wait_for_ready, []

    async def sometimes(self, timeout=None):
        attempts.append(timeout)
        if len(attempts) % 2:
            await asyncio.sleep(0.5)  # dying takes a moment; the channels' threads need it
            raise RuntimeError("Kernel died before replying to kernel_info")
        return await ready(self, timeout=timeout)

    monkeypatch.setattr(AsyncKernelClient, "wait_for_ready", sometimes)
    (tmp_path / "01_a.py").write_text(HEADER + "\n# %%\n1\n")
    assert "1 built, 0 failed" in _run(tmp_path).output
    assert len(attempts) == 2


def test_a_kernel_that_never_starts_is_reported(tmp_path, monkeypatch):
    async def never(self, timeout=None):
        await asyncio.sleep(0.5)
        raise RuntimeError("Kernel died before replying to kernel_info")

    monkeypatch.setattr(AsyncKernelClient, "wait_for_ready", never)
    (tmp_path / "01_a.py").write_text(HEADER + "\n# %%\n1\n")
    assert "the kernel does not start: Kernel died before replying to kernel_info" in _run(tmp_path).output


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_ends_the_kernels_and_keeps_the_notebooks(tmp_path):
    source = "import os, pathlib, time\n\npathlib.Path(f'{os.getpid()}.pid').touch()\ntime.sleep(100)"
    for name in ("01_a", "02_b"):
        (tmp_path / f"{name}.py").write_text(f"{HEADER}\n# %%\n{source}\n")
    command = [sys.executable, ROOT / "tools" / "build_notebooks.py", "--folder", tmp_path, "--jobs=2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as build:
        _wait(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
        build.send_signal(signal.SIGINT)
        assert "stay as they were" in build.communicate(timeout=120)[0]
    for kernel in (int(p.stem) for p in tmp_path.glob("*.pid")):
        _wait(lambda pid=kernel: not _alive(pid))
    assert not list(tmp_path.glob("*.ipynb"))


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _wait(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_lint_reports_rules(folder):
    assert _run(folder, "--lint").exit_code == 0
    _edit(folder, "# A picture says it too.", "# Hurrah!")
    result = _run(folder, "--lint")
    assert result.exit_code == 1
    assert "cell 5: exclamation mark" in result.output


def test_lint_needs_no_built_notebook(folder):
    (folder / "01_good.ipynb").unlink()
    assert _run(folder, "--lint").exit_code == 0
    _edit(folder, "# # A lesson", "# ## A lesson")
    assert "cell 1: must begin with the title" in _run(folder, "--lint").output


def test_an_unknown_lesson_is_named_with_those_that_exist(folder):
    result = _run(folder, "07")
    assert result.exit_code == 2
    assert "begins with '07'" in result.output
    assert [p.name for p in find_pairs(folder, folder, ["01"])] == ["01_good"]


def test_a_kernel_sees_nothing_of_the_terminal_and_computes_with_one_thread(monkeypatch):
    for name in ("COLUMNS", "MPLBACKEND", "NO_COLOR", "PYTEST_CURRENT_TEST"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "8")
    monkeypatch.setenv("COURSE_PROGRESS", "1")
    environment = kernel_environment()
    assert not {"COLUMNS", "MPLBACKEND", "NO_COLOR", "PYTEST_CURRENT_TEST"} & set(environment)
    assert environment["OPENBLAS_NUM_THREADS"] == "1"
    assert environment["COURSE_PROGRESS"] == "0"


def test_tracebacks_lose_the_folders_of_the_machine():
    assert without_machine_paths(f"File {ROOT}/course_lib/nn/graph.py:3") == "File course_lib/nn/graph.py:3"
    assert "/home" not in without_machine_paths("File /home/ada/lib/python3.11/site-packages/numpy/x.py:3")
    assert without_machine_paths("File /tmp/ipykernel_12/345.py:3") == "File cell:3"
