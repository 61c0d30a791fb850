"""A result is found again by what it was made from; half a file, another key or a forged one is none."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from course_lib.grading import store as store_module
from course_lib.grading.csvfile import write_atomically
from course_lib.grading.store import Store, fault, file_name, judges_hash, key_of
from tests.grading.fakes import part, question, result

SHEET = "04_backpropagation"


def test_a_result_is_kept_and_found_under_its_key(tmp_path):
    store = Store(tmp_path / "results")
    store.put(result(), "one")
    assert store.get("ann", SHEET, "one") == {**result(), "key": "one"}
    assert store.get("ann", SHEET, "other") is None
    assert store.get("bob", SHEET, "one") is None


@pytest.mark.parametrize("keep", [0, 1, 50, -2])
def test_a_file_cut_off_is_none(tmp_path, keep):
    store = Store(tmp_path)
    store.put(result(), "one")
    path = store.path("ann", SHEET)
    path.write_bytes(path.read_bytes()[:keep])
    assert store.get("ann", SHEET, "one") is None


@pytest.mark.parametrize("content", [b"[]", b"null", b"{}", b"\xff", b"[" * 100_000, b'{"key": "one"}'])
def test_a_file_of_something_else_is_none(tmp_path, content):
    store = Store(tmp_path)
    store.path("ann", SHEET).write_bytes(content)
    assert store.get("ann", SHEET, "one") is None


def test_a_result_for_which_the_grader_failed_is_graded_again(tmp_path):
    store = Store(tmp_path)
    store.put(result(status="broken", questions=[]), "one")
    assert store.get("ann", SHEET, "one") is None


def test_a_write_that_ends_midway_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "f"
    write_atomically(path, b"old")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_store_killed_while_it_writes_keeps_every_earlier_result(tmp_path):
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom course_lib.grading.store import Store\n"
        "from tests.grading.fakes import result\n"
        "store = Store(Path(sys.argv[1]))\n"
        "for n in range(5): store.put(result(f's{n}'), 'k')\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.put(result('s5'), 'k')\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert list(tmp_path.glob(".*.tmp"))
    store = Store(tmp_path)
    assert [store.get(f"s{n}", SHEET, "k") is not None for n in range(6)] == [True] * 5 + [False]
    assert not list(tmp_path.glob(".*.tmp"))


def test_the_key_changes_with_each_thing_that_decides():
    files = (("hw.ipynb", b"{}"),)
    keys = {
        key_of("j", SHEET, "B", files),
        key_of("k", SHEET, "B", files),
        key_of("j", "05_computation_graph", "B", files),
        key_of("j", SHEET, "C", files),
        key_of("j", SHEET, "B", (("hw.ipynb", b"{ }"),)),
        key_of("j", SHEET, "B", (("hx.ipynb", b"{}"),)),
        key_of("j", SHEET, "B", (("hw.ipynb{", b"}"),)),
        key_of("j", SHEET, "B", ()),
    }
    assert len(keys) == 8
    assert key_of("j", SHEET, "B", files) in keys


def test_the_judges_change_with_keys_checks_and_versions_and_not_with_the_reports(tmp_path, monkeypatch):
    package, keys = tmp_path / "course_lib", tmp_path / "keys"
    for name in ("checks", "reference", "grading"):
        (package / name).mkdir(parents=True)
        (package / name / "a.py").write_text("1")
    keys.mkdir()
    (keys / "lesson04.py").write_text("1")
    seen = {judges_hash(keys, package)}
    for path in (keys / "lesson04.py", package / "checks" / "a.py", package / "grading" / "a.py"):
        path.write_text("2")
        seen.add(judges_hash(keys, package))
    assert len(seen) == 4
    last = judges_hash(keys, package)
    (package / "grading" / "report.py").write_text("2")
    assert judges_hash(keys, package) == last
    monkeypatch.setattr(store_module, "versions", lambda: {"numpy": "3"})
    assert judges_hash(keys, package) != last


@pytest.mark.parametrize(
    "change",
    [
        dict(student="bob"),
        dict(status="excellent"),
        dict(points="99"),
        dict(of=1),
        dict(questions=[question(points="3", of=2)], points="3", of=2),
        dict(questions=[question(points="-1", of=2)], points="-1", of=2),
        dict(questions=[question(points="nan", of=2)]),
        dict(questions=[question(points="1/0", of=2)]),
        dict(questions=[question(parts=[part(passed="yes")])]),
        dict(questions=None),
    ],
)
def test_a_result_that_is_not_sound_has_a_fault(change):
    assert fault({**result(), **change}, "ann", SHEET)


def test_a_sound_result_has_none():
    assert fault(result(questions=[question(points="4/3", of=2, parts=[part()])]), "ann", SHEET) == ""
    assert fault("text", "ann", SHEET)


def test_ids_that_are_files_names_stay():
    assert [file_name(id) for id in ("ann", "12345", "a.b-c_d")] == ["ann", "12345", "a.b-c_d"]


def test_hostile_ids_get_safe_names_and_no_two_the_same():
    ids = ["Ann", "ann", "ANN", "../../etc/passwd", "a/b", "a\\b", "a:b", "a b", "con", "nul.txt", "aux", ".hidden"]
    ids += ["", ".", "..", "x" * 300, "x" * 301, "\u00e9", "e\u0301", "\ud800", "a\0b", "a\nb", "<script>", "-rf", "a."]
    names = [file_name(id) for id in ids]
    assert len({name.lower() for name in names}) == len(ids)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,78}", name), name
        assert name.split(".")[0].lower() not in ("con", "nul", "aux")


def test_the_file_is_readable_json(tmp_path):
    store = Store(tmp_path)
    store.put(result("Müller \ud800"), "one")
    assert json.loads(store.path("Müller \ud800", SHEET).read_text())["status"] == "graded"
