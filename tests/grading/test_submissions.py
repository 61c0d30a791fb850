"""Who handed in what, from folders and zips as systems export them, with hostile names and archives among them."""

from __future__ import annotations

import io
import os
import random
import re
import stat
import struct
import zipfile

import pytest

from course_lib.checks.registry import SHEETS
from course_lib.grading import archive, listing
from course_lib.grading.csvfile import BadTable
from course_lib.grading.layouts import gradescope_people
from course_lib.grading.roster import Student, read_roster
from course_lib.grading.submissions import SubmissionsError, collect

SHEET = "04_backpropagation"
OTHER = "05_computation_graph"
BY_CELLS = b'{"cells": [{"source": ["check(\\"04.2\\", f)", "check(\'04.1\', g)"]}]}'


def folder(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            out.writestr(name, content)
    return path


def contents(found):
    return {(one.student, one.sheet): [content for _, content in one.load()[0]] for one in found.submissions}


def reasons(found):
    """Why there is nothing to grade, of whom something was handed in that is refused."""
    return {one.student: one.reason for one in found.submissions if one.refused}


def notes(found):
    return {one.student: one.notes for one in found.submissions}


@pytest.fixture(params=["folder", "zip", "zip with a folder around"])
def handed_in(request, tmp_path):
    """Return a function that hands files in, in each of three ways."""

    def make(files):
        if request.param == "folder":
            return folder(tmp_path / "class", files)
        around = "export/" if "around" in request.param else ""
        return zipped(tmp_path / "class.zip", {around + name: content for name, content in files.items()})

    return make


def test_student_folders(handed_in):
    found = collect(handed_in({f"ann/{SHEET}.ipynb": b"1", f"bob/{SHEET}.ipynb": b"2", "bob/notes.txt": b"3"}), SHEETS)
    assert contents(found) == {("ann", SHEET): [b"1"], ("bob", SHEET): [b"2", b"3"]}


def test_one_file_a_student(handed_in):
    found = collect(
        handed_in({"ann.ipynb": b"1", f"bob_{SHEET}.ipynb": b"2", f"{SHEET}-eve.ipynb": b"3"}), SHEETS, (SHEET,)
    )
    assert contents(found) == {("ann", SHEET): [b"1"], ("bob", SHEET): [b"2"], ("eve", SHEET): [b"3"]}


def test_folders_of_sheets_in_student_folders_as_nbgrader_has_them(handed_in):
    files = {f"{who}/{sheet}/hw.ipynb": f"{who}{sheet}".encode() for who in ("ann", "bob") for sheet in (SHEET, OTHER)}
    found = collect(handed_in(files), SHEETS)
    assert contents(found) == {(w, s): [f"{w}{s}".encode()] for w in ("ann", "bob") for s in (SHEET, OTHER)}


def test_moodles_export(handed_in):
    files = {
        "Ann Ng_123456_assignsubmission_file_/hw.ipynb": b"1",
        "Ann Ng_123457_assignsubmission_file_/hw.ipynb": b"2",
        "Bo_B_9_assignsubmission_file_hw.ipynb": b"3",
    }
    found = collect(handed_in(files), SHEETS, (SHEET,))
    assert contents(found) == {("123456", SHEET): [b"1"], ("123457", SHEET): [b"2"], ("9", SHEET): [b"3"]}
    assert [student.name for student in found.students.values()] == ["Ann Ng", "Ann Ng", "Bo_B"]


def test_canvas_names_and_the_last_turn(handed_in):
    files = {
        "ngann_12345_678910_hw-1.ipynb": b"first",
        "ngann_LATE_12345_678911_hw.ipynb": b"second",
        "leebob_12346_678912_hw.ipynb": b"bob",
        "anon_x9_678913_hw.ipynb": b"anonymous",
    }
    found = collect(handed_in(files), SHEETS, (SHEET,))
    assert contents(found) == {("12345", SHEET): [b"second"], ("12346", SHEET): [b"bob"], ("x9", SHEET): [b"anonymous"]}
    ann = next(one for one in found.submissions if one.student == "12345")
    assert ann.late
    assert "2 notebooks" in ann.notes[0]
    assert "not hw-1.ipynb" in ann.notes[0]
    assert "Canvas marks it as late." in ann.notes


GRADESCOPE = b"""---
submission_11:
  :submitters:
  - :name: Ann Ng
    :sid: '0012'
    :email: ann@example.org
  - :name: "Bob Lee"
    :sid: ''
    :email: bob@example.org
  :created_at: 2026-01-01 10:00:00
  :history:
  - :name: nobody
submission_12:
  :submitters:
  - :email: eve@example.org
    :name: O''Eve
"""


def test_gradescopes_export_counts_for_each_of_a_group(handed_in):
    files = {
        "assignment_5_export/submission_metadata.yml": GRADESCOPE,
        "assignment_5_export/submission_11/hw.ipynb": b"1",
        "assignment_5_export/submission_12/hw.ipynb": b"2",
        "assignment_5_export/submission_13/hw.ipynb": b"3",
    }
    found = collect(handed_in(files), SHEETS, (SHEET,))
    assert contents(found) == {
        ("0012", SHEET): [b"1"],
        ("bob@example.org", SHEET): [b"1"],
        ("eve@example.org", SHEET): [b"2"],
        ("submission_13", SHEET): [b"3"],
    }
    assert found.students["0012"] == Student("0012", "Ann Ng", "ann@example.org")


@pytest.mark.parametrize("text", ["", ":", "a:\n  :submitters:\n", "&a [*a, *a]", "submission_1:\n - :name: x", "\0"])
def test_metadata_of_any_kind_is_no_error(text):
    gradescope_people(text)


def test_a_file_is_sorted_by_its_cells_where_its_name_says_nothing(handed_in):
    found = collect(handed_in({"ann/hw.ipynb": BY_CELLS, "bob/hw.ipynb": b"{}"}), SHEETS)
    assert contents(found) == {("ann", SHEET): [BY_CELLS]} | {("bob", SHEET): []}
    assert found.lost == 1
    assert "bob" in found.problems[0]
    assert "--sheet" in found.problems[0]


def test_a_file_of_another_sheet_is_not_graded_as_this_one(tmp_path):
    found = collect(folder(tmp_path / "c", {f"ann/{OTHER}.ipynb": b"1"}), SHEETS, (SHEET,))
    assert contents(found) == {("ann", SHEET): []}
    assert OTHER in found.submissions[0].notes[0]
    both = collect(tmp_path / "c", SHEETS, (SHEET, OTHER))
    assert contents(both) == {("ann", SHEET): [], ("ann", OTHER): [b"1"]}
    assert not both.submissions[0].notes


def test_no_notebook_hands_on_what_there_is(tmp_path):
    found = collect(folder(tmp_path / "c", {"ann/hw.pdf": b"%PDF", "bob/hw.ipynb.txt": b"1"}), SHEETS, (SHEET,))
    assert contents(found) == {("ann", SHEET): [b"%PDF"], ("bob", SHEET): [b"1"]}


def test_the_newest_counts_then_the_last_by_name_and_it_says_so(tmp_path):
    root = folder(tmp_path / "c", {f"ann/hw{mark}.ipynb": mark.encode() for mark in ("", " (2)", " (10)")})
    for path in root.rglob("*.ipynb"):
        os.utime(path, (1e9, 1e9))
    (one,) = collect(root, SHEETS, (SHEET,)).submissions
    assert one.entries[0].name == "hw (10).ipynb"
    assert "3 notebooks" in one.notes[0]
    assert "the last by name" in one.notes[0]
    os.utime(root / "ann" / "hw.ipynb", (1e9 + 60, 1e9 + 60))
    (one,) = collect(root, SHEETS, (SHEET,)).submissions
    assert one.entries[0].name == "hw.ipynb"
    assert "the newest" in one.notes[0]


def test_students_of_the_roster_appear_and_ids_stay(tmp_path):
    csv = tmp_path / "roster.csv"
    csv.write_bytes("student;name;email\n007;Ann Ng;\n=1+1;Eve;\nmüller;Mü;\n".encode("utf-8-sig"))
    roster = read_roster(csv)
    root = folder(tmp_path / "c", {"007/hw.ipynb": b"1", "mu\u0308ller/hw.ipynb": b"2", "New One/hw.ipynb": b"3"})
    found = collect(root, SHEETS, (SHEET,), roster)
    assert list(found.students) == ["007", "=1+1", "müller", "New One"]
    assert contents(found)[("=1+1", SHEET)] == []
    assert contents(found)[("müller", SHEET)] == [b"2"]
    assert found.problems == ["New One is not in the roster, and is graded too"]


def test_an_empty_folder_is_a_student_with_nothing(tmp_path):
    root = folder(tmp_path / "c", {"ann/hw.ipynb": b"1"})
    (root / "bob").mkdir()
    assert contents(collect(root, SHEETS, (SHEET,))) == {("ann", SHEET): [b"1"], ("bob", SHEET): []}


def test_what_systems_leave_behind_is_no_submission(handed_in):
    files = {"ann/hw.ipynb": b"1", "ann/.ipynb_checkpoints/hw.ipynb": b"0", "__MACOSX/ann/._hw.ipynb": b"0"}
    for name in (".DS_Store", ".~lock.hw.ipynb#", "~$hw.docx", "desktop.ini", "Thumbs.db", ".nfs0000ipynb"):
        files |= {f"ann/{name}": b"0", name: b"0"}
    found = collect(handed_in(files), SHEETS, (SHEET,))
    assert contents(found) == {("ann", SHEET): [b"1"]}
    assert notes(found) == {"ann": ()}


def test_links_and_pipes_are_left_out_and_not_followed(tmp_path):
    (tmp_path / "secret.ipynb").write_bytes(b"secret")
    root = folder(tmp_path / "c", {"ann/hw.ipynb": b"1"})
    (root / "bob").mkdir()
    (root / "bob" / "hw.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (root / "eve").symlink_to(tmp_path)
    os.mkfifo(root / "ann" / "pipe.ipynb")
    found = collect(root, SHEETS, (SHEET,))
    assert contents(found) == {("ann", SHEET): [b"1"], ("bob", SHEET): [], ("eve", SHEET): []}
    assert reasons(found) == {"bob": "Handed in hw.ipynb, which is a link.", "eve": "Handed in eve, which is a link."}
    assert sorted(problem.split(" is ")[1] for problem in found.problems) == [
        *("a link: left out", "a link: left out", "no plain file: left out")
    ]


def test_a_file_that_becomes_a_link_after_it_was_listed_is_not_followed(tmp_path):
    (tmp_path / "secret.ipynb").write_bytes(b"secret")
    root = folder(tmp_path / "c", {"ann/hw.ipynb": b"1"})
    (one,) = collect(root, SHEETS, (SHEET,)).submissions
    (root / "ann" / "hw.ipynb").unlink()
    (root / "ann" / "hw.ipynb").symlink_to(tmp_path / "secret.ipynb")
    files, notes = one.load()
    assert files == (("hw.ipynb", b""),)
    assert "cannot be read" in notes[0]


def test_names_that_lead_out_of_a_zip_are_left_out(tmp_path):
    bad = ["../up.ipynb", "/etc/x.ipynb", "a/../../x.ipynb", "C:\\x.ipynb", "..\\x.ipynb"]
    path = zipped(tmp_path / "c.zip", {**{name: b"0" for name in bad}, "ann/hw.ipynb": b"1", "bob/hw.ipynb": b"2"})
    found = collect(path, SHEETS, (SHEET,))
    assert {id: files for (id, _), files in contents(found).items() if files} == {"ann": [b"1"], "bob": [b"2"]}
    assert len([problem for problem in found.problems if "leads out" in problem]) == len(bad)
    assert set(reasons(found)) == {"up", "etc", "a", "x"}  # nobody disappears, whatever the name is
    assert all("which leads out of the archive" in reason for reason in reasons(found).values())


def test_links_bombs_and_encrypted_files_in_a_zip_are_left_out(tmp_path):
    path = tmp_path / "c.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        link = zipfile.ZipInfo("bob/hw.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(link, "/etc/passwd")
        out.writestr("eve/hw.ipynb", b"0" * 20_000_000)
        out.writestr("ann/hw.ipynb", b"1")
        out.writestr("kim/hw.ipynb", b"2")
    raw = path.read_bytes()
    at = raw.index(b"PK\1\2", raw.index(b"PK\1\2", raw.index(b"PK\1\2", raw.index(b"PK\1\2") + 1) + 1) + 1)
    path.write_bytes(raw[: at + 8] + struct.pack("<H", 1) + raw[at + 10 :])  # kim's file says that it is encrypted
    found = collect(path, SHEETS, (SHEET,))
    assert {who: files for (who, _), files in contents(found).items() if files} == {"ann": [b"1"]}
    assert [
        any(word in problem for problem in found.problems) for word in ("is a link", "as a bomb does", "encrypted")
    ] == [*(True, True, True)]


def test_an_archive_with_too_many_or_too_large_files_is_refused(tmp_path, monkeypatch):
    path = zipped(tmp_path / "c.zip", {f"s{n}/hw.ipynb": b"1" * 100 for n in range(5)})
    monkeypatch.setattr(listing, "MOST_ENTRIES", 4)
    with pytest.raises(SubmissionsError, match="at most 4 "):
        collect(path, SHEETS, (SHEET,))
    monkeypatch.setattr(listing, "MOST_ENTRIES", 5)
    monkeypatch.setattr(listing, "MOST_BYTES", 499)
    with pytest.raises(SubmissionsError, match="of 500 bytes unpacked"):
        collect(path, SHEETS, (SHEET,))


def test_a_file_that_is_too_large_is_the_reason_and_the_student_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_FILE", 10)
    found = collect(folder(tmp_path / "c", {"ann/hw.ipynb": b"1" * 11}), SHEETS, (SHEET,))
    assert reasons(found) == {"ann": "hw.ipynb has 11 bytes; at most 10 are read."}


def test_a_file_that_grew_after_it_was_listed_is_a_note(tmp_path, monkeypatch):
    (one,) = collect(folder(tmp_path / "c", {"ann/hw.ipynb": b"1" * 11}), SHEETS, (SHEET,)).submissions
    monkeypatch.setattr(archive, "MOST_FILE", 10)
    assert one.load() == ((("hw.ipynb", b""),), ("hw.ipynb has 11 bytes; at most 10 are read.",))


def test_a_member_whose_sum_is_wrong_is_the_reason(tmp_path):
    path = tmp_path / "c.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        out.writestr("ann/hw.ipynb", b"content")
    path.write_bytes(path.read_bytes().replace(b"content", b"CONTENT"))
    found = collect(path, SHEETS, (SHEET,))
    assert contents(found) == {("ann", SHEET): []}
    assert reasons(found)["ann"].startswith("hw.ipynb cannot be read (BadZipFile: Bad CRC-32")


def test_the_last_of_two_members_of_one_name_counts_and_it_says_so(tmp_path):
    path = tmp_path / "c.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("ann/hw.ipynb", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            out.writestr("ann/hw.ipynb", b"2")
    found = collect(path, SHEETS, (SHEET,))
    assert contents(found) == {("ann", SHEET): [b"2"]}
    assert "more than once" in found.problems[0]


def test_names_in_utf8_without_the_flag_and_in_code_page_437_are_read(tmp_path):
    path = zipped(tmp_path / "c.zip", {"aaaa/hw.ipynb": b"1", "bbbb/hw.ipynb": b"2"})
    path.write_bytes(path.read_bytes().replace(b"aaaa", "Möl".encode()).replace(b"bbbb", b"M\x94ls"))
    assert contents(collect(path, SHEETS, (SHEET,))) == {("Möl", SHEET): [b"1"], ("Möls", SHEET): [b"2"]}


def test_a_folder_whose_name_is_no_utf8_can_be_written_down(tmp_path):
    name = os.path.join(os.fsencode(tmp_path), b"c", b"M\xfcller")
    os.makedirs(name)
    with open(os.path.join(name, b"hw.ipynb"), "wb") as file:
        file.write(b"1")
    assert contents(collect(tmp_path / "c", SHEETS, (SHEET,))) == {("M\\xfcller", SHEET): [b"1"]}


def test_a_zip_that_a_student_handed_in_is_looked_into_one_level_deep(handed_in):
    def packed(files):
        return zipped(io.BytesIO(), files).getvalue()

    files = {
        "ann/hw.zip": packed({"deep/hw.ipynb": b"1", "../x.ipynb": b"0", "inner.zip": packed({"x.ipynb": b"0"})}),
        "bob.zip": packed({"hw.ipynb": b"2"}),
        "eve/hw.zip": b"no zip",
    }
    found = collect(handed_in(files), SHEETS, (SHEET,))
    assert contents(found) == {("ann", SHEET): [b"1"], ("bob", SHEET): [b"2"], ("eve", SHEET): []}
    assert any("leads out" in problem for problem in found.problems)
    assert any("eve/hw.zip is no zip" in problem for problem in found.problems)
    reason = "Handed in hw.zip, which is no zip that can be opened (BadZipFile: File is not a zip file)."
    assert reasons(found) == {"eve": reason}
    assert "Handed in hw/inner.zip, which is an archive in an archive, and those are not opened." in notes(found)["ann"]


def test_an_archive_that_a_student_handed_in_through_canvas_is_looked_into(handed_in):
    files = {
        f"ng{who}_{at}1_{at}2_hw.zip": zipped(io.BytesIO(), {"hw.ipynb": b"%d" % at}).getvalue()
        for at, who in ((1, "a"), (2, "b"))
    }
    assert contents(collect(handed_in(files), SHEETS, (SHEET,))) == {("11", SHEET): [b"1"], ("21", SHEET): [b"2"]}


@pytest.mark.parametrize("what", ["nothing there", "no zip", "empty folder", "no notebook", "no sheet"])
def test_what_cannot_be_listed_is_an_error_with_a_way_out(tmp_path, what):
    path = tmp_path / "c.zip"
    if what == "no zip":
        path.write_bytes(b"PK")
    if what in ("empty folder", "no notebook", "no sheet"):
        path.mkdir()
    if what in ("no notebook", "no sheet"):
        (path / f"a.{'pdf' if what == 'no notebook' else 'ipynb'}").write_text("{}")
    ways = {"nothing there": "Name what", "no zip": "Pack it anew", "empty folder": "is empty. Name the folder"}
    ways |= {"no notebook": "such as 'a.pdf', and none is a notebook", "no sheet": "Say which sheet they are: --sheet"}
    with pytest.raises(SubmissionsError, match=re.escape(ways[what])):
        collect(path, SHEETS)


def test_a_zip_with_any_bytes_changed_is_listed_or_refused(tmp_path):
    rng = random.Random(0)
    whole = zipped(io.BytesIO(), {f"s{n}/{SHEET}.ipynb": b"1" * 50 for n in range(3)}).getvalue()
    listed = refused = 0
    for turn in range(500):
        raw = bytearray(whole)
        for _ in range(rng.randrange(1, 10)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        path = tmp_path / f"{turn}.zip"
        path.write_bytes(raw[: rng.choice([len(raw), len(raw), rng.randrange(len(raw))])])
        try:
            contents(collect(path, SHEETS, (SHEET,)))
            listed += 1
        except SubmissionsError:
            refused += 1
    assert listed > 50
    assert refused > 50


def test_a_student_who_is_in_the_roster_twice_is_named_with_the_line(tmp_path):
    table = tmp_path / "roster.csv"
    table.write_text("student\nada\nbob\nada\n", encoding="utf-8")
    with pytest.raises(BadTable, match=r"line 4: student 'ada' is there already"):
        read_roster(table)
