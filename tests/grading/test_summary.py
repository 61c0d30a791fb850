"""The class page: counts, means and mistakes are right, names stay text, and it is there for 10,000 too."""

from __future__ import annotations

from course_lib.figures import style
from course_lib.grading.charts import histogram, meter
from course_lib.grading.final import empty_questions, finish, missing
from course_lib.grading.roster import Student
from course_lib.grading.similarity import NOTE, SIMILAR, Alike
from course_lib.grading.summary import mistake_of, summary, write_summary
from tests.grading.fakes import part, question, result
from tests.grading.test_report import HOSTILE, read

SHEET = "04_backpropagation"


class One:
    id, title, kind, points = "04.1", "T", "function", 2


def graded(id, points, seconds=1.0, **failed):
    parts = [part("public", not failed, **failed)]
    return finish(result(id, questions=[question("04.1", points, 2, parts=parts, title="T")], seconds=seconds))


def page_of(results, **more):
    return summary(results, {r["student"]: Student(r["student"]) for r in results}, [SHEET], **more)


def test_means_and_shares_are_of_those_graded():
    nothing = finish(missing("eve", SHEET, empty_questions([One])))
    text = read(page_of([graded("a", "2"), graded("b", "1"), graded("c", "0"), nothing])).text
    assert "3 with a result. Mean 1 of 2 points, median 1, lowest 0, highest 2." in text
    assert "04.1 T 1 2 33%" in text
    assert "nothing handed in 1 eve" in text
    assert "4 students, 3 submissions" in text


def test_the_histogram_counts_each_share_in_its_tenth():
    page = page_of([graded(f"s{n}", points) for n, points in enumerate(["0", "1/5", "1/5", "19/10", "2", "3/5"])])
    assert "0-9: 1; 10-19: 2; 20-29: 0; 30-39: 1; 40-49: 0;" in page
    assert "90-100: 2" in page


def test_the_most_frequent_mistakes_come_first_and_a_student_counts_once():
    results = [graded(f"s{n}", "0", says=f"element {n} is {n}.5e-3", cause="") for n in range(3)]
    results += [graded(f"t{n}", "0", says="x", cause="The slope is at a.") for n in range(4)]
    twice = question("04.1", "0", 2, parts=[part(passed=False, cause="shape"), part(passed=False, cause="shape")])
    results.append(finish(result("u", questions=[twice])))
    text = read(page_of(results)).text
    assert "04.1 4 The slope is at a. 04.1 3 element # is # 04.1 1 shape" in text


def test_one_reason_for_all_questions_is_one_mistake():
    why = "hw.ipynb is cut off in line 7: it cannot be read."
    lost = [question(f"04.{n}", "0", 2, parts=[part("public", False, why, cause="not run")]) for n in range(5)]
    unread = finish(result("eve", questions=lost, status="unreadable", says=why))
    text = read(page_of([unread, graded("bob", "0", says="wrong shape")])).text
    assert "04.1 1 wrong shape all 1 hw.ipynb is cut off in line #: it cannot be read. Slowest" in text
    ended = [question(f"04.{n}", "0", 2, parts=[part("public", False, "6 cells did so")]) for n in range(5)]
    text = read(page_of([finish(result("kim", questions=ended))])).text
    assert "all 1 # cells did so Slowest" in text


def test_what_only_one_question_lost_stays_with_it():
    made = [
        question("04.1", "0", 2, parts=[part("public", False, "uses polyfit", cause="not run")]),
        question("04.2", "2", 2, parts=[part()]),
    ]
    text = read(page_of([finish(result("ann", questions=made))])).text
    assert "04.1 1 uses polyfit" in text
    alone = read(page_of([finish(result("ann", questions=made[:1]))])).text
    assert "04.1 1 uses polyfit" in alone


def test_a_mistake_is_its_cause_or_its_message_without_numbers():
    assert mistake_of(part(cause="shape", says="y")) == "shape"
    assert mistake_of(part(says="[0, 1]: -0.25 instead of 1e-3")) == "[#, #]: # instead of #"


def test_the_slowest_come_first_with_a_link_to_their_report():
    page = page_of([graded(f"s{n:02}", "1", seconds=n) for n in range(20)])
    links = [attrs["href"] for tag, attrs in read(page).tags if tag == "a"]
    assert links == [f"reports/s{n:02}.html" for n in range(19, 9, -1)]
    assert "reports/" not in page_of([graded("ann", "1", seconds=0.0)])


def test_similar_answers_are_named_with_the_note_that_they_prove_nothing():
    found = [Alike("04.1", ("a", "b"), 0.875, 9, SIMILAR), Alike("04.2", ("a", "b"), 1.0, 9, SIMILAR)]
    page = page_of([graded("a", "1"), graded("b", "1")], similar=found)
    text = read(page).text
    assert "a , b 2 04.1 (similar, 88%), 04.2 (similar, 100%) side by side" in text
    assert 'href="similarity.html#g1"' in page
    assert NOTE in text
    assert NOTE in read(page_of([graded("a", "1")])).text


def test_hostile_names_and_messages_stay_text():
    made = finish(
        result(HOSTILE, questions=[question(HOSTILE, "0", 2, parts=[part("p", False, HOSTILE)], title=HOSTILE)])
    )
    students = {HOSTILE: Student(HOSTILE, HOSTILE)}
    reader = read(
        summary([made], students, [SHEET], [Alike(HOSTILE, (HOSTILE, HOSTILE), 1.0, 9, HOSTILE)], [HOSTILE] * 200)
    )
    assert not {"script", "img"} & {tag for tag, _ in reader.tags}
    assert "100 more" in reader.text


def test_charts_are_drawn_in_the_courses_colours_with_words_for_who_does_not_see_them():
    drawn = histogram([3, 0], ["a<b", "c"], "T", "axis")
    assert "<desc>a&lt;b: 3; c: 0</desc>" in drawn
    assert style.colour("data") in drawn
    assert 'aria-label="half"' in meter(0.5, "half")
    assert 'width="320" height="10" rx="2" fill="#' in meter(7.0, "over")


def test_what_was_left_out_or_guessed_stands_before_the_numbers():
    text = read(page_of([graded("anna", "2")], problems=["Section A is taken for a section"])).text
    assert text.index("Read this first") < text.index("Section A is taken") < text.index("with a result")
    assert "Read this first" not in page_of([graded("anna", "2")])


def test_on_a_narrow_screen_the_histogram_keeps_its_size_and_titles_their_words():
    page = page_of([graded("anna", "2")])
    assert '<div class="wide" tabindex="0" role="group" aria-label="Scores of 04 backpropagation"><svg' in page
    assert ".wide > svg { max-width: none; }" in page
    assert ".t { min-width: 8rem; }" in page
    assert '<th scope="col" class="t">Title</th>' in page


def test_those_who_could_not_be_read_are_told_apart_beside_the_mean():
    unread = finish(result("bob", questions=[question("04.1", "0", 2)], status="unreadable"))
    assert "1 of them could not be read" in read(page_of([graded("anna", "2"), unread])).text
    assert "could not be read" not in read(page_of([graded("anna", "2")])).text


def test_no_result_at_all_is_a_page_too():
    assert "No submission has a result." in read(summary([], {}, [SHEET])).text


def test_a_class_of_10_000_is_summed_up(tmp_path):
    students = {f"s{n}": Student(f"s{n}") for n in range(10_000)}
    parts = [part("public", False, "wrong", cause="shape")]
    results = [
        finish(result(id, questions=[question(f"04.{q}", f"{at % 7}/3", 2, parts=parts) for q in range(6)]))
        for at, id in enumerate(students)
    ]
    path = write_summary(tmp_path, results, students, [SHEET])
    assert "10000 with a result" in path.read_text(encoding="utf-8")
    assert path.stat().st_size < 50_000
