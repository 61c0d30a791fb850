"""Scripts and Markdown count when a class is collected as they do when a file is read; a helper counts for nobody."""

from __future__ import annotations

import pytest
from notebook_lib.class_exports import LAYOUTS, export, write

from course_lib.checks.registry import SHEETS, sheet
from course_lib.grading.notebook import read_answers
from course_lib.grading.submissions import SubmissionsError, collect
from tests.grading.handed_in import SHEET, folder, lesson, markdown, notebook, script, tarred, zipped

OTHER = "04_backpropagation"
FORMS = {
    f"{SHEET}.py": script,
    "hw.py": script,
    "answers.txt": script,
    "homework": script,
    "hw final.PY": script,
    f"{SHEET}.md": markdown,
    "hw.qmd": markdown,
    "hw.json": lambda answers, mark: notebook(answers, mark),
}


def chosen(found):
    return {one.student: one.load()[0][0] for one in found.submissions if one.entries}


def graded(found):
    """Student -> how many functions the grader finds in what it is given."""
    read = {one.student: read_answers(one.load()[0], sheet(one.sheet)) for one in found.submissions}
    return {
        id: (answers.status, sum(c.source.count("return 1") for c in answers.cells)) for id, answers in read.items()
    }


def other_sheets_functions(count=3):
    """A module with functions of another sheet: last week's work."""
    names = [one.function for one in sheet(OTHER).exercises if one.kind != "text"][:count]
    return "\n\n".join(f"def {name}(*x):\n    return 2" for name in names).encode()


@pytest.mark.parametrize("container", ["folder", "zip"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_class_of_scripts_has_a_row_each_and_its_sheet_is_found(tmp_path, layout, container):
    names = list(FORMS)
    work = []
    for n in range(16):
        name = names[n % len(names)]
        called = (
            SHEET + name[name.find(".") :] * ("." in name) if layout == "files" else name
        )  # there it names a student
        work.append({called: FORMS[name](n % 5 + 1, f"mark {n}")})
    files, ids = export(layout, work)
    out = tmp_path / ("class.zip" if container == "zip" else "class")
    write(files, out)
    found = collect(out, SHEETS)
    assert found.sheets == (SHEET,)
    assert sorted(one.student for one in found.submissions) == sorted(ids)
    assert {id: content for id, (_, content) in chosen(found).items()} == {
        id: content for id, one in zip(ids, work, strict=True) for content in one.values()
    }
    assert graded(found) == {id: ("graded", n % 5 + 1) for n, id in enumerate(ids)}


def test_scripts_are_in_sections_and_in_archives_as_notebooks_are(tmp_path):
    files = {
        "Monday/anna.py": script(3, "anna"),
        "Monday/ben.py": script(2, "ben"),
        "Tuesday/carl.zip": zipped({"deep/hw.py": script(1, "carl"), "notes.txt": b"x"}),
        "Tuesday/dora.tar.gz": tarred({"hw.md": markdown(4, "dora")}),
    }
    found = collect(folder(tmp_path / "class", files), SHEETS)
    assert graded(found) == {"anna": ("graded", 3), "ben": ("graded", 2), "carl": ("graded", 1), "dora": ("graded", 4)}


def test_names_as_canvas_writes_them_stay_students_each_where_the_numbers_do_not_fit(tmp_path):
    files = {"hw_2026_17_anna.py": script(1), "hw_2026_18_ben.py": script(2)}
    found = collect(folder(tmp_path / "class", files), SHEETS)
    assert sorted(count for _, count in graded(found).values()) == [1, 2]


@pytest.mark.parametrize(
    "beside",
    [
        {"hw.py": script(5, "an export")},
        {"helper.py": b"def fit_line(x, y):\n    return 1, 2\n"},
        {"last_week.py": other_sheets_functions()},
        {"course/course_lib/lesson.py": other_sheets_functions()},
        {"notes.md": markdown(5)},
    ],
)
def test_what_lies_beside_a_notebook_with_answers_is_a_helper_and_opens_no_sheet(tmp_path, beside):
    files = {f"anna/{SHEET}.ipynb": notebook(2), f"ben/{SHEET}.ipynb": notebook(3)}
    files |= {f"anna/{name}": content for name, content in beside.items()}
    found = collect(folder(tmp_path / "class", files), SHEETS)
    assert found.sheets == (SHEET,)
    assert not found.problems
    assert chosen(found)["anna"] == (f"{SHEET}.ipynb", notebook(2))
    assert not any(one.others or "for this sheet" in note for one in found.submissions for note in (*one.notes, ""))


@pytest.mark.parametrize("instead", [notebook(0), notebook(0, stubs=False), lesson(), notebook()[:500], b"", b"%PDF"])
def test_a_script_counts_where_the_notebook_beside_it_holds_no_answer(tmp_path, instead):
    files = {f"anna/{SHEET}.ipynb": instead, "anna/hw.py": script(4), f"ben/{SHEET}.ipynb": notebook(3)}
    found = collect(folder(tmp_path / "class", files), SHEETS)
    assert found.sheets == (SHEET,)
    assert graded(found)["anna"] == ("graded", 4)


def test_a_script_of_another_sheet_opens_it_if_it_is_named_so(tmp_path):
    files = {f"anna/{SHEET}.ipynb": notebook(2), f"anna/{OTHER}.py": other_sheets_functions()}
    assert collect(folder(tmp_path / "class", files), SHEETS).sheets == (SHEET, OTHER)


def test_of_two_scripts_that_could_be_two_peoples_it_is_said(tmp_path):
    files = {"anna/a.py": script(2, "a"), "anna/b.py": script(4, "b"), f"ben/{SHEET}.ipynb": notebook(3)}
    found = collect(folder(tmp_path / "class", files), SHEETS)
    assert any("2 files for this sheet: b.py counts, as it holds most of the sheet's answers" in p
               for p in found.problems)  # fmt: skip
    assert graded(found)["anna"] == ("graded", 4)
    assert [other.entries[0].name for one in found.submissions for other in one.others] == ["a.py"]


def test_a_folder_of_scripts_without_a_sheets_answers_says_so(tmp_path):
    files = {"anna/hw.py": b"print('hello')\n", "ben/hw.py": b"def f(x):\n    return x\n"}
    with pytest.raises(SubmissionsError, match="none is a notebook, or a script with a sheet's answers"):
        collect(folder(tmp_path / "class", files), SHEETS)


def test_one_function_of_an_exercises_name_is_an_answer_only_where_the_sheet_is_named(tmp_path):
    one = b"def fit_line(x, y):\n    return 1\n"
    files = {"anna/hw.py": one, "ben/hw.py": one}
    with pytest.raises(SubmissionsError):
        collect(folder(tmp_path / "class", files), SHEETS)
    assert set(graded(collect(tmp_path / "class", SHEETS, (SHEET,))).values()) == {("graded", 1)}
