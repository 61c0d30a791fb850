"""The page of similar answers shows both texts with their matching lines, and nothing in them does anything."""

from __future__ import annotations

from course_lib.grading.roster import Student
from course_lib.grading.similarity import alike
from course_lib.grading.similarity_page import MOST_LINES, similarity_page, write_similarity
from tests.grading.test_report import HOSTILE, read
from tests.grading.test_similarity import ANSWER, COPY, OTHER


def page_of(answers, given=(), **students):
    people = {id: Student(id, name) for id, name in students.items()}
    return similarity_page(alike(answers, given), answers, people, given)


def marks(page, line):
    """Return the mark before each row of the page whose first text is `line`."""
    cells = [part.split("</td>")[0] for part in page.split("<td")]
    left = [at for at in range(1, len(cells)) if cells[at - 1].startswith(' class="m"')]
    return [cells[at - 1].split(">")[-1] for at in left if f"<pre>{line}</pre>" in cells[at]]


def test_both_answers_stand_side_by_side_with_the_same_lines_marked():
    other = ANSWER.replace("slope", "pente").replace(
        "    return result, pente", "    print(w)\n    return result, pente"
    )
    page = page_of({"04.2": {"ann": ANSWER, "bob": other}}, ann="Ann Ng")
    assert marks(page, "    total = np.zeros_like(w)") == ["="]
    assert marks(page, "    return result, slope") == ["~"]
    assert marks(page, "") == [""]
    assert "Ann Ng (ann), and bob" in read(page).text
    assert "<pre>    print(w)</pre>" in page


def test_lines_of_the_sheet_are_marked_as_such():
    given = "def backward(delta, w, z, lr):\n    raise NotImplementedError\n"
    page = page_of({"04.2": {"ann": ANSWER, "bob": COPY.replace("d, weights, pre, step", "delta, w, z, lr")}}, [given])
    assert marks(page, "def backward(delta, w, z, lr):") == ["."]


def test_a_group_with_one_text_shows_it_once_and_all_names():
    page = page_of({"04.2": {f"s{n}": ANSWER for n in range(60)}})
    assert page.count("result = w - lr * total") == 1
    assert "60 students, 1 question" in read(page).text
    assert "The answer of all 60" in page
    assert "s0 and the others" in page
    two = page_of({"04.2": {"s1": ANSWER, "s2": ANSWER}})
    assert "The answer of both" in two
    assert "s1 and the other<" in two
    assert "s39, and 20 more" in read(page).text


def test_a_smaller_group_shows_its_own_answer_where_more_have_it():
    answers = {"04.1": {f"s{n}": OTHER for n in range(5)}, "04.2": {"s1": ANSWER, "s2": ANSWER}}
    text = read(page_of(answers)).text
    assert text.index("2 students, 2 questions") < text.index("5 students, 1 question")
    assert "04.1: the same text, which 3 more have" in text


def test_hostile_texts_names_and_questions_stay_text():
    text = f"{ANSWER}# {HOSTILE}\n" + "x" * 5000
    answers = {HOSTILE: {HOSTILE: text, f"2{HOSTILE}": text, "eve": COPY}}
    page = similarity_page(alike(answers), answers, {HOSTILE: Student(HOSTILE, HOSTILE)})
    assert not {"script", "img", "a b"} & {tag for tag, _ in read(page).tags}
    assert not set(page) & set(map(chr, (*range(9), *range(14, 32), 0x202E)))
    assert "default-src 'none'" in page


def test_long_answers_and_many_groups_are_cut_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr("course_lib.grading.similarity_page.MOST_GROUPS", 4)
    long = ANSWER + "".join(f"    x = x + {n}\n" for n in range(MOST_LINES + 9))
    answers = {f"04.{n}": {f"a{n}": long, f"b{n}": long} for n in range(9)}
    path = write_similarity(tmp_path, alike(answers), answers, {})
    text = read(path.read_text(encoding="utf-8")).text
    assert "5 more groups are in similarity.csv" in text
    assert "more lines." in text
    assert path.stat().st_size < 200_000


def test_no_similar_answers_are_a_page_too():
    assert "No answers are alike enough" in read(page_of({"04.2": {"ann": ANSWER}})).text
