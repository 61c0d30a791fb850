"""Answers in words are read beside what they should say; nothing in them does anything."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from course_lib.checks import registry
from course_lib.grading.adjust import Manual
from course_lib.grading.by_hand_page import by_hand_page, write_by_hand_page
from course_lib.grading.final import empty_questions, finish, missing
from course_lib.grading.gradebook import model_answers
from course_lib.grading.roster import Student
from tests.grading.fakes import question, result
from tests.grading.test_report import HOSTILE, read

ROOT = Path(__file__).parents[2]
SHEET = "06_training_an_mlp"
WORDS = [question("06.1"), question("06.8", "0", 5, kind="text", title="Project")]


class One:
    id, title, kind, points = "06.8", "T", "text", 5


def finals(**texts):
    manual = {("bob", "06.8"): Manual(Fraction(4), "see me")}
    return [finish(result(id, SHEET, WORDS, answers={"06.8": text}), manual) for id, text in texts.items()]


def test_each_answer_stands_below_what_it_should_say_with_its_points():
    nothing = finish(missing("eve", SHEET, empty_questions([One])))
    made = [*finals(ann="I trained\nten epochs.", bob="Fewer."), nothing]
    text = read(
        by_hand_page(made, {"ann": Student("ann", "Ann Ng")}, {"06.8": "<!-- BEGIN SOLUTION -->\nIt says."})
    ).text
    assert "2 students, 2 with a text, 1 without points yet" in text
    order = [
        "06.8 Project",
        "What an answer should say It says.",
        "Ann Ng (ann)",
        "ten epochs.",
        "No points yet",
        "bob",
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "4 of 5 points. Graded by hand: see me" in text
    assert "eve" not in text
    assert "BEGIN" not in text


def test_a_paragraph_of_what_it_should_say_is_one_line_and_a_list_stays_one():
    model = "It was\nwrapped (here).\n\n- one\n- two\n1. first\n2. second\n* star"
    page = by_hand_page(finals(ann="kept\nas typed"), {}, {"06.8": model})
    assert "It was wrapped (here).\n\n- one\n- two\n1. first\n2. second\n* star" in page
    assert "kept\nas typed" in page


def test_who_wrote_nothing_is_counted_apart():
    assert "3 students, 1 with a text, 2 without points yet" in read(
        by_hand_page(finals(ann="text", bob="", eve=""), {}, {})
    ).text


def test_a_class_without_answers_in_words_has_no_page(tmp_path):
    assert write_by_hand_page(tmp_path, finals(ann="x"), {}, {}).exists()
    assert write_by_hand_page(tmp_path, [finish(result("ann"))], {}, {}) is None
    assert not list(tmp_path.iterdir())


def test_hostile_answers_stay_text():
    page = by_hand_page(finals(**{HOSTILE: HOSTILE * 2000}), {HOSTILE: Student(HOSTILE, HOSTILE)}, {"06.8": HOSTILE})
    assert not {"script", "img"} & {tag for tag, _ in read(page).tags}
    assert "more letters" in page


def test_each_question_in_words_has_a_model_answer():
    for name in registry.SHEETS:
        sheet = registry.sheet(name)
        found = model_answers(ROOT / "solutions" / f"{name}.ipynb", sheet)
        assert [one.id for one in sheet.exercises if one.kind == "text"] == [id for id, text in found.items() if text]
    assert model_answers(ROOT / "solutions" / "none.ipynb", registry.sheet(SHEET)) == {}
