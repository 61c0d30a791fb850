"""Each level says whether it works here and why; none is taken instead of another without a word."""

import os
import stat
import sys
import tempfile
import time
from pathlib import Path

import pytest

from course_lib.checks.values import encode
from course_lib.grading import cgroup, levels
from course_lib.grading.box_command import WORKER
from course_lib.grading.box_folders import open_to_all, spare_folder
from course_lib.grading.cgroup import Cgroup, NoCgroup
from course_lib.grading.limits import Limits
from course_lib.grading.sandbox import Box, NoBox
from course_lib.grading.seccomp import program
from tests.grading.toy_sheet import SHORT, needs


@pytest.fixture(autouse=True)
def _tried_anew():
    levels.level.cache_clear()
    yield
    levels.level.cache_clear()


def test_each_level_has_a_reason():
    found = levels.levels()
    assert [each.letter for each in found] == ["A", "B", "C", "D"]
    assert all(each.says and each.title for each in found)


def test_the_plain_process_is_never_the_best_level(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoBox, match=r"A: bwrap is not installed.*C: neither docker nor podman is installed"):
        levels.best_level()
    assert levels.level("D").works


def test_a_level_that_starts_and_does_not_isolate_does_not_work(monkeypatch):
    class Open:
        def __init__(self, *_):
            pass

        def ask(self, request, seconds):
            return {"error": "", "value": claimed}

        def in_cgroup(self):
            return True

        def close(self):
            return True

    monkeypatch.setattr(levels, "_missing", lambda letter: "")
    monkeypatch.setattr(levels, "Box", Open)
    claimed = encode((65534, 4))
    assert levels.level("A").works
    levels.level.cache_clear()
    claimed = encode((65534, 3))
    assert "does not isolate" in levels.level("A").says
    claimed = encode((0, 4))
    assert not levels.level("B").works


def test_a_container_gets_its_limits_and_speaks_over_its_own_pipes(tmp_path, monkeypatch):
    docker, said = tmp_path / "docker", tmp_path / "said"
    docker.write_text(
        f'#!/bin/sh\necho "$@" >> {said}\n[ "$1" = rm ] && exit 0\nfor last; do :; done\n'
        f'exec {sys.executable} -I -B {WORKER} "$last"\n'.replace("\\\n", "\n")
    )
    docker.chmod(docker.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    box = Box("C", SHORT)
    reply = box.ask({"do": "cell", "name": "cell 1", "source": "print(1)", "limit": 1}, 1)
    assert reply["error"] == ""
    assert box.close()
    run, remove = said.read_text().splitlines()
    for words in ("--network none", "--read-only", "--cap-drop ALL", "--pids-limit 68", f"--memory {512 << 20}"):
        assert words in run
    assert f"--name {box.name}" in run
    assert remove == f"rm --force {box.name}"


@needs("A")
def test_groups_of_graders_that_were_killed_are_removed(monkeypatch):
    left = Cgroup(SHORT)
    Cgroup(SHORT).close()
    assert all(folder.exists() for folder in left.folders)
    monkeypatch.setattr(cgroup.time, "time", lambda now=time.time: now() + 2 * cgroup.OLD)
    folders = list(left.folders)
    Cgroup(SHORT).close()
    assert not any(folder.exists() for folder in folders)


def test_without_control_groups_the_reason_is_said(monkeypatch):
    monkeypatch.setattr(cgroup, "_lines", lambda file: [])
    with pytest.raises(NoCgroup, match="memory is not there"):
        cgroup.find_places()


def test_a_folder_below_a_closed_one_is_not_open_to_all():
    if not open_to_all(Path(tempfile.gettempdir())):
        pytest.skip("the folder for temporary files is closed itself")
    with tempfile.TemporaryDirectory() as closed:
        inner = Path(closed) / "inner"
        inner.mkdir(mode=0o755)
        inner.chmod(0o755)
        inner.parent.chmod(0o755)
        assert open_to_all(inner)
        inner.parent.chmod(0o700)
        assert not open_to_all(inner)


def test_a_box_does_not_cover_what_it_needs():
    assert spare_folder(["/usr"]) == "/mnt"
    assert spare_folder(["/mnt/python"]) != "/mnt"


def test_limits_are_positive():
    with pytest.raises(ValueError, match="the limit memory is 0"):
        Limits(memory=0)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_jumps_to_its_last_line_only(machine):
    lines = [program(machine)[i : i + 8] for i in range(0, len(program(machine)), 8)]
    for place, line in enumerate(lines):
        if line[0] in (0x15, 0x35):
            jumps = {line[2], line[3]} - {0}
            assert {place + 1 + jump for jump in jumps} == {len(lines) - 1}
    assert program("other") == b""
