"""A report gives a reason for every lost point, loads nothing, and what a student wrote stays text."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser

import pytest

from course_lib.grading.adjust import Manual, read_rule
from course_lib.grading.final import empty_questions, finish, missing
from course_lib.grading.pages import LONGEST, clean, one_line
from course_lib.grading.report import report, report_path, write_report
from course_lib.grading.roster import Student
from tests.grading.fakes import part, question, result

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'{{ 7 * 7 }}</style></title>&lt;"


class Reader(HTMLParser):
    """Collect tags with attributes, and the text outside of style."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "rect", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def read(page):
    reader = Reader(page)
    assert reader.open == []  # every tag is closed, by its own end
    return reader


def hostile_result():
    parts = [part("public", False, HOSTILE), part(HOSTILE, True, hidden=True)]
    questions = [question(HOSTILE, "0", 2, parts=parts, lost=[HOSTILE], title=HOSTILE)]
    made = result(HOSTILE, questions=questions, notes=[HOSTILE], files=[HOSTILE], versions={HOSTILE: HOSTILE})
    return finish(
        {**made, "level": HOSTILE, "key": HOSTILE}, {(HOSTILE, HOSTILE): Manual(1, HOSTILE)}, 1, read_rule("5%/day")
    )


def test_nothing_that_a_student_wrote_becomes_a_tag():
    reader = read(report(Student(HOSTILE, HOSTILE), [hostile_result()]))
    assert {tag for tag, _ in reader.tags} <= {
        *("html", "head", "meta", "title", "style", "body", "main", "section", "article", "header", "h1", "h2", "h3"),
        *("h4", "p", "div", "svg", "rect", "table", "caption", "thead", "tbody", "tr", "th", "td", "a", "ul", "li"),
        *("span", "strong", "dl", "dt", "dd"),
    }
    assert not [attrs for _, attrs in reader.tags if any(name.startswith("on") for name in attrs)]
    assert reader.text.count("<script>alert(1)</script>") >= 8
    assert "49" not in reader.text


def test_it_loads_nothing_and_may_not():
    page = report(Student("ann"), [finish(result())])
    reader = read(page)
    assert not [attrs for _, attrs in reader.tags if "src" in attrs]
    assert all(attrs["href"].startswith("#") for tag, attrs in reader.tags if tag == "a")
    assert not re.search(r"url\(|@import|https?://", page)
    policy = next(
        attrs["content"] for tag, attrs in reader.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'")


def test_every_link_leads_to_a_question():
    questions = [question("04.1"), question("04.2"), question("../x")]
    reader = read(report(Student("ann"), [finish(result(questions=questions))]))
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for tag, attrs in reader.tags if tag == "a"} <= set(ids)


def test_it_can_be_read_aloud():
    reader = read(report(Student("ann"), [finish(result(questions=[question(parts=[part()])]))]))
    assert ("html", {"lang": "en"}) in reader.tags
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in reader.tags if tag == "th")
    assert [tag for tag, _ in reader.tags].count("caption") == [tag for tag, _ in reader.tags].count("table")
    assert all(attrs.get("aria-label") for tag, attrs in reader.tags if tag == "svg")
    heads = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert heads[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(heads))


def test_points_parts_reasons_level_and_versions_are_there():
    parts = [part("public", True), part("other shapes", False, "The shape is wrong.", hidden=True, weight=2)]
    lost = ["other shapes (hidden): The shape is wrong."]
    made = result(questions=[question("04.1", "2/3", 2, parts=parts, lost=lost)])
    text = read(report(Student("ann", "Ann Ng"), [finish(made)])).text
    assert "0.67 of 2 points" in text
    assert "other shapes (not in the sheet) 2 ✗ failed" in text
    assert "public 1 ✓ passed" in text
    assert "Why did I lose 1.33 points? other shapes (hidden): The shape is wrong. How" in text
    assert "Sandbox B: " in text
    assert "numpy 2.0" in text


def test_a_lost_point_without_a_reason_gets_one_of_its_parts_or_its_status():
    failed = question(points="0", parts=[part("public", False, "It raises NameError.")])
    assert "It raises NameError." in read(report(Student("ann"), [finish(result(questions=[failed]))])).text
    bare = finish(result(questions=[question(points="0")]))
    assert "Why did I lose 2 points? No reason is recorded (graded)." in read(report(Student("ann"), [bare])).text


def test_what_cannot_be_read_has_one_reason_for_all_points():
    questions = [question("04.1", "0", 2, parts=[part("public", False, "It is no JSON.")]), question("04.2", "0", 3)]
    made = finish(result(questions=questions, status="unreadable", says="It is no JSON."))
    text = read(report(Student("ann"), [made])).text
    assert "Why did I lose 5 points? It is no JSON." in text
    assert text.count("It is no JSON.") == 1
    given = finish(result(questions=questions, status="unreadable"), {("ann", "04.1"): Manual(1, "shown in class")})
    assert "shown in class" in read(report(Student("ann"), [given])).text


@pytest.mark.parametrize(
    ("status", "says", "hint"),
    [
        ("unreadable", "Handed in hw.7z, which is a 7z archive, and those are not opened.", True),
        ("no notebook", "No notebook was handed in; there is hw.docx.", True),
        ("no notebook", "Only hw.docx is there.", True),
        ("unreadable", "hw.ipynb is no notebook: its JSON ends or breaks at line 1. Save it again in Jupyter.", False),
        ("graded", "", False),
    ],
)
def test_what_cannot_be_read_says_what_to_do_and_counts_no_points_that_wait(status, says, hint):
    words = question("04.2", "0", 3, kind="text")
    made = finish(result(questions=[question("04.1", "0", 2), words], status=status, says=says))
    text = read(report(Student("ann"), [made])).text
    assert ("Hand in the notebook itself, the .ipynb." in text) == hint
    assert "Why did I lose 2 points?" in text
    assert "lose 5" not in text


def test_full_marks_need_no_reason():
    assert "Why did I lose" not in report(Student("ann"), [finish(result(questions=[question(lost=["old"])]))])


def test_points_by_hand_lateness_and_waiting_answers_are_seen():
    made = result(
        questions=[question("04.1", "0", 2), question("04.6", "0", 5, "text"), question("04.7", "0", 1, "text")]
    )
    manual = {("ann", "04.1"): Manual(1, "see me"), ("ann", "04.6"): Manual(4, "")}
    text = read(report(Student("ann"), [finish(made, manual, 30, read_rule("10%/day"))])).text
    assert "Corrected by hand, from 0: see me" in text
    assert "30 hours late, 2 days begun: 20% of 5 points are taken off, 1." in text
    assert "4 of 8 points" in text
    assert "Not final. 1 question in words waits for points by hand." in text
    assert "04.7 Title of 04.7 1 waits for points by hand" in text


def test_nothing_handed_in_and_a_grader_that_failed_are_said_plainly():
    class One:
        id, title, kind, points = "04.1", "T", "function", 2

    nothing = finish(missing("ann", "04_backpropagation", empty_questions([One])))
    assert (
        "Why did I lose 2 points? Nothing was handed in for this sheet." in read(report(Student("ann"), [nothing])).text
    )
    broken = finish(result(status="broken", questions=[], says="secret traceback"), questions=empty_questions([One]))
    text = read(report(Student("ann"), [broken])).text
    assert "The grader failed; there are no points yet." in text
    assert "secret traceback" not in text


def test_two_sheets_are_two_sections_and_a_sum():
    other = result(sheet="05_computation_graph", questions=[question("05.1", "1", 3)])
    text = read(report(Student("ann"), [finish(result()), finish(other)])).text
    assert "3 of 5 points in all" in text
    assert "05 computation graph" in text


def test_text_that_hides_or_turns_is_shown_and_long_text_is_cut():
    assert clean("a\u202eb\x1b[31m\x00\u200b") == "a\\u202eb\\u001b[31m\\u0000\\u200b"
    assert clean("a\r\nb\tc\nd") == "a\nb\tc\nd"
    assert len(clean("x" * 10**6)) < LONGEST + 50
    assert one_line("a\nb\r\nc  d") == "a b c d"


@pytest.mark.parametrize("id", ["../../x", "a/b", "con", "Ann", "é\ud800", "", "x" * 500])
def test_files_of_hostile_ids_stay_in_the_folder(tmp_path, id):
    path = write_report(tmp_path, Student(id), [finish(result(id))])
    assert path == report_path(tmp_path, id)
    assert [child.name for child in tmp_path.iterdir()] == [path.name]
