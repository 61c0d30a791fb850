"""The new form of a lesson: its notes, its links, its folds, and each of its rules."""

import re

import nbformat
import nbformat.v4 as v4
import pytest
from build_notebooks import app
from notebook_lib import guards, lint, lint_form, lint_predictions
from notebook_lib.clean import write
from notebook_lib.footnotes import NoteError, Notes
from notebook_lib.lint import lint as lint_lesson
from notebook_lib.onward import onward
from notebook_lib.scripts import FORM, first_difference, lesson_scripts, read_script
from notebook_samples import GOOD_LESSON, NEW_FORM, broken
from typer.testing import CliRunner


def cell_with(notebook, text):
    return next(cell for cell in notebook.cells if text in cell.source)


def replaced(old, new):
    """Damage: put `new` for `old` in the first cell that has it."""

    def damage(notebook):
        cell = cell_with(notebook, old)
        cell.source = cell.source.replace(old, new)

    return damage


def tagless(text):
    return lambda notebook: cell_with(notebook, text).update(metadata=v4.new_code_cell().metadata)


def moved(text, to):
    def damage(notebook):
        cell = cell_with(notebook, text)
        notebook.cells.remove(cell)
        notebook.cells.insert(to, cell)

    return damage


def added(source, at=-1, kind=v4.new_markdown_cell):
    return lambda notebook: notebook.cells.insert(at, kind(source))


def without_notes(notebook):
    for cell in notebook.cells:
        cell.source = re.sub(r"<sup>.*?</sup>", "", cell.source)


CODE = v4.new_code_cell
OBJECTIVES, ASKED, MEASURED = "You will be able to", "weights = predict", "weights.confirm"
BOX = "<details><summary>For those who know the lectures</summary>\n\n.\n\n</details>"
TRY = "<details><summary>Answer</summary>\n\nNine"
LOOP = 'for n in (1, 2):\n    print(f"{n:>5}")'
DAMAGE = [
    (lint_form.picture_first, moved("figures.Svg", -1), "cells 1 to 3 show no figure"),
    (lint_form.picture_first, moved(OBJECTIVES, 1), "cell 2: the objectives come before the first figure, in cell 3"),
    (lint_form.about_this_page, replaced("About this page", "About"), "0 boxes <details><summary>About this page"),
    (lint_form.about_this_page, replaced("It takes 5 minutes.", "It is short."), "does not say how many minutes"),
    (lint_form.facts_have_notes, without_notes, "no source is named"),
    (lint_form.lectures_in_notes_only, replaced("people believe", "Dey believes"), "cell 1: names a lecture"),
    (lint_form.lectures_in_notes_only, replaced("people believe", 'people (K, "Neurons") believe'), "names a lecture"),
    (lint_form.lectures_in_notes_only, replaced("one image", "Hwu's image"), "names a lecture, 'Hwu'"),
    (lint_form.errata_at_the_end, moved("For those who know", 3), "before the section 'As many weights as pixels'"),
    (lint_form.errata_at_the_end, added(BOX), "is there 2 times"),
    (lint_form.few_optional_parts, added("## Optional: a\n\n## Optional: b\n\n## Optional: c"), "3 optional sections"),
    (lint_form.tries_have_answers, replaced(TRY, "Nine"), "has no folded answer"),
    (lint_form.folds_begin_lines, added("How many? <details><summary>Answer</summary>\n\nNine"), "lets its answer out"),
    (lint_form.asserts_are_hidden, tagless("assert 0 < left"), "cell 11: asserts in sight"),
    (lint_form.tables_are_tables, added(LOOP, kind=CODE), "prints a table"),
    (lint_form.tables_are_tables, added('print(f"{1:9}")\nprint(f"{22:9,}")', kind=CODE), "prints a table"),
    (lint_form.formulas_are_drawn, added("| a | b |\n|---|---|\n| $Y$ where $Y > 0$, else 0 | $x$ |"),
     "'$Y$ where $Y > 0$, else 0' begins with $ and ends in a digit"),
    (lint_form.formulas_are_drawn, added("- $x$ is 1\n- one"), "'$x$ is 1' begins with $"),
    (lint_predictions.predictions_are_confirmed, replaced("weights.confirm(pixels**2)\n", ""),
     "cell 5: no later cell calls weights.confirm(...)"),
    (lint_predictions.predictions_are_confirmed, moved(MEASURED, 3), "cell 6: no later cell calls weights.confirm"),
    (lint_predictions.predictions_are_confirmed, replaced("weights = predict", "predict"),
     "cell 5: the prediction has no name"),
    (lint_predictions.predictions_are_confirmed, replaced("share = predict", "weights = predict"),
     "cell 9: no later cell calls weights.confirm"),
    (lint_predictions.predictions_open_folds, tagless(MEASURED), "cell 6: shows what the prediction of cell 5"),
    (lint_predictions.predictions_open_folds, replaced("reveals=2", "reveals=3"), "opens 3 folds, only 2 follow"),
    (lint_predictions.predictions_open_folds, replaced(", reveals=2", ""), "cell 7: no prediction opens this fold"),
]  # fmt: skip


def test_the_sample_follows_all_rules_built_or_not(new_lesson):
    assert lint_lesson(new_lesson, "11_two_rules") == []
    assert lint_lesson(read_script(NEW_FORM), "11_two_rules") == []
    assert guards.guard(new_lesson) == []


@pytest.mark.parametrize(("rule", "damage", "message"), DAMAGE, ids=[f"{r.__name__}-{m}" for r, _, m in DAMAGE])
def test_rule_catches(new_lesson, rule, damage, message):
    lesson = lint.written(new_lesson)
    assert rule(lesson) == []
    findings = rule(broken(lesson, damage))
    assert any(message in finding for finding in findings), findings


def test_every_rule_is_tested():
    assert {rule for rule, _, _ in DAMAGE} == set(lint.NEW_RULES)


@pytest.mark.parametrize(
    "damage",
    [
        added("net.predict(x)", kind=CODE),
        added('print(f"{1:>9}")', kind=CODE),
        added('for n in (1, 2):\n    print(f"{n:.3f}")', kind=CODE),
        moved("For those who know", 99),  # after "Check yourself"
        added("## Optional: a\n\n## Optional: b", at=7),
        replaced("people believe", "people believe of a shape (K, N), of (O, 3) and of H"),
    ],
)
def test_what_is_allowed(new_lesson, damage):
    fine = broken(lint.written(new_lesson), damage)
    assert [finding for rule in lint.NEW_RULES for finding in rule(fine)] == []


def test_the_box_for_lectures_is_not_counted_as_an_answer(new_lesson):
    assert lint_lesson(broken(new_lesson, moved("For those who know", 99))) == []


def test_old_lessons_keep_their_form_and_new_ones_must_not_have_it(good_lesson, new_lesson):
    assert lint_lesson(good_lesson, "10_what") == []
    assert "lessons from 11 on have the new form" in lint_lesson(good_lesson, "11_what")[0]
    old = broken(new_lesson, lambda notebook: notebook.metadata.pop(FORM))
    assert any("(K ...)" in finding for finding in lint_lesson(old))


def test_a_note_becomes_a_number_and_the_same_note_the_same():
    notes = Notes()
    text = notes.raised('One.[^Hwu "Tiles\nand more"] Two [^Dey "A < B"]. Three.[^Hwu "Tiles and more"]')
    numbers = re.findall(r'<sup><a id="([^"]+)" href="([^"]+)" title="([^"]+)">(\d)</a></sup>', text)
    assert numbers == [
        ("cited-1", "#source-1", "Hwu: Tiles and more", "1"),
        ("cited-2", "#source-2", "Dey: A &lt; B", "2"),
        ("cited-1-2", "#source-1", "Hwu: Tiles and more", "1"),
    ]
    assert re.sub(r"<sup>.*?</sup>", "", text) == "One. Two. Three."
    listed = re.findall(r'<li id="(source-\d)">(.*?) <a href="#cited-\d"', notes.sources())
    assert listed == [("source-1", "Hwu: Tiles and more"), ("source-2", "Dey: A &lt; B")]
    assert set(re.findall(r'href="#(cited[^"]*)"', notes.sources())) == {place for place, *_ in numbers}


def test_a_source_with_an_address_is_linked_and_has_only_one():
    notes = Notes()
    text = notes.raised('One.[^Kung 1982 "Why?"\nhttps://doi.org/x?a=1&b=2]  Two.[^Kung 1982 "Why?"] [^Hwu "Tiles"]')
    assert re.sub(r"<sup>.*?</sup>", "", text) == "One.  Two."
    assert 'title="Kung 1982: Why?">1</a>' in text
    assert 'Kung 1982: <a href="https://doi.org/x?a=1&amp;b=2">Why?</a> ' in notes.sources()
    assert "Hwu: Tiles <a" in notes.sources()
    with pytest.raises(NoteError, match=r"Why\? has two addresses, https://doi.org/x.* and https://else.where"):
        notes.raised('Three.[^Kung 1982 "Why?" https://else.where]')


def test_a_bad_note_is_named_with_its_cell(tmp_path):
    (tmp_path / "11_a.py").write_text("# %% [markdown]\n# # Title\n\n# %% [markdown]\n# A fact.[^Hwu]\n")
    with pytest.raises(NoteError, match=r"11_a\.py, cell 2: the note"):
        read_script(tmp_path / "11_a.py")


def test_code_has_no_notes_and_a_note_without_words_is_refused():
    notes = Notes()
    code = 'see `[^Hwu "x"]` and\n\n```\n[^Dey]\n```\n'
    assert notes.raised(code) == code
    assert not notes
    with pytest.raises(NoteError, match=r"the note '\[\^Hwu\]' has no words"):
        notes.raised("a fact [^Hwu]")


def test_the_last_cells_are_the_sources_and_the_links(new_lesson, new_folder):
    sources, links = new_lesson.cells[-2:]
    assert (sources.id, links.id) == ("sources", "onward")
    assert sources.source.count("<li ") == 3
    assert links.source.splitlines() == [
        "- [Exercises for this lesson](../exercises/11_sums.ipynb)",
        "- Previous: [10 · What (once) was](10_before.ipynb)",
        "- Next: [12 · What will be](12_after.ipynb)",
    ]
    scripts = lesson_scripts(new_folder)
    assert onward(scripts[0], scripts) == "- Next: [11 · Two rules for a layer](11_two_rules.ipynb)"
    assert onward(scripts[0], scripts[:1]) == ""


def test_a_lesson_between_two_others_leads_to_its_own_sheet(tmp_path):
    for folder, names in (("notebooks", ("06_one", "06b_two")), ("solutions", ("06_one", "06b_two"))):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.py").write_text(f"# %% [markdown]\n# # {name}\n")
    scripts = lesson_scripts(tmp_path / "notebooks")
    assert [script.stem for script in scripts] == ["06_one", "06b_two"]
    for script in scripts:
        assert onward(script, scripts).startswith(f"- [Exercises for this lesson](../exercises/{script.stem}.ipynb)")


def test_an_old_lesson_gets_no_links(good_lesson):
    assert {"sources", "onward"}.isdisjoint(cell.id for cell in good_lesson.cells)


def test_tags_fold_in_jupyterlab_too(new_lesson):
    folds = {cell.metadata.tags[0]: cell.metadata.jupyter for cell in new_lesson.cells if "jupyter" in cell.metadata}
    assert folds == {"hide-input": {"source_hidden": True}, "hide-output": {"outputs_hidden": True}}


def test_a_fold_that_no_tag_says_and_one_that_is_gone_are_found(new_lesson):
    script = read_script(NEW_FORM)
    script.cells[-1:] = new_lesson.cells[-2:]  # the links depend on the folder
    assert first_difference(script, new_lesson) is None
    for damage in (
        lambda notebook: cell_with(notebook, MEASURED).metadata.pop("jupyter"),
        lambda notebook: cell_with(notebook, "assert").metadata.update(jupyter={"outputs_hidden": True}),
    ):
        worse = broken(new_lesson, damage)
        assert "is folded as" in first_difference(script, worse)
        assert "is folded as" in guards.guard(worse)[0]
    plain = broken(new_lesson, lambda notebook: notebook.metadata.pop(FORM))
    assert first_difference(script, plain) == f"{FORM} is None in the notebook and 2 in the script"
    assert f"metadata.{FORM} is 3" in guards.guard(broken(new_lesson, lambda nb: nb.metadata.update({FORM: 3})))[0]


def test_the_tool_builds_checks_and_lints_the_new_form(new_folder, new_lesson, tmp_path):
    for path in new_folder.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    built = broken(new_lesson, lambda notebook: None)
    script = read_script(tmp_path / NEW_FORM.name)
    built.cells[-1].source = script.cells[-1].source  # there is no sheet beside this folder
    write(built, tmp_path / "11_two_rules.ipynb")

    def run(*arguments):
        return CliRunner().invoke(app, ["--folder", str(tmp_path), "--no-sheets", *arguments, "11"])

    assert run("--check").exit_code == 0
    assert run("--lint").exit_code == 0
    script = tmp_path / NEW_FORM.name
    script.write_text(script.read_text().replace("Thread Hierarchy", "Memory Hierarchy"))
    assert "Memory Hierarchy" in run("--check").output
    script.write_text(GOOD_LESSON)
    assert "lessons from 11 on have the new form" in run("--lint").output


def test_measured_outputs_stay_in_the_notebook_for_nbval(new_lesson):
    measured = cell_with(new_lesson, MEASURED)
    assert "3,906,250,000" in measured.outputs[0].data["text/plain"]
    assert nbformat.from_dict(measured).execution_count is not None
