"""The rules of a lesson, one function each. A rule takes a notebook and returns findings that name the cell.

Cells are counted from 1, prose included. Rules about a lesson's shape are here, rules about its Python in
``lint_code``, about the lines of its prose in ``lint_lines``, about its pictures in ``lint_pictures``, about the new
form in ``lint_form`` and ``lint_predictions``.
`RULES`, `OLD_RULES` and `NEW_RULES` are the only index: a lesson follows the first, and those of its form. A script
whose header has ``course_form: 2`` has the new form; from lesson 11 on all must.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Callable

from nbformat import NotebookNode

from notebook_lib import lint_code, lint_form, lint_lines, lint_pictures, lint_predictions
from notebook_lib.guards import code_cells, tagged
from notebook_lib.prose import ABOUT, ERRATA, headings, prose_cells, spoken, without_boxes
from notebook_lib.scripts import ADDED, FORM

CODE_LINES, CODE_LINES_MEDIAN, PROSE_WORDS = 25, 8, 200
KNOWN_TAGS = {"nbval-ignore-output", "raises-exception", "continued", "hide-input", "hide-output"}
NEW_FROM = 11  # lessons below may have the old form until they are written anew

_PRAISE = re.compile(
    r"\b(simply|congratulations|well done|(?:great|good|nice|excellent) (?:job|work)|awesome|amazing|brilliant)\b", re.I
)


def one_title(notebook: NotebookNode) -> list[str]:
    """Exactly one h1, and it opens the first cell."""
    titles = [(n, text) for n, level, text in headings(notebook) if level == 1]
    first = notebook.cells[0] if notebook.cells else {}
    found = [] if first.get("source", "").startswith("# ") else ["cell 1: must begin with the title, '# ...'"]
    if first.get("cell_type") == "code":
        found = ["cell 1: is code, must be prose that begins with the title"]
    return found + [f"cell {n}: a second title, '# {text}'; use ## and below" for n, text in titles[1:]]


def headings_in_steps(notebook: NotebookNode) -> list[str]:
    """A heading is at most one level below the one before it: a screen reader's table of contents has no holes."""
    levels = headings(notebook)
    return [
        f"cell {n}: heading '{text}' is level {level} right after level {before}"
        for (_, before, _), (n, level, text) in itertools.pairwise(levels)
        if level > before + 1
    ]


def objectives(notebook: NotebookNode) -> list[str]:
    """ "You will be able to", followed by 2 to 4 bullets."""
    for n, text in prose_cells(notebook):
        _, phrase, after = text.partition("You will be able to")
        if phrase:
            part = re.split(r"^#", after, maxsplit=1, flags=re.MULTILINE)[0]
            bullets = len(re.findall(r"^(?:[-*+]|\d+\.) ", part, re.MULTILINE))
            return [] if 2 <= bullets <= 4 else [f"cell {n}: 'You will be able to' has {bullets} bullets, not 2 to 4"]
    return ["no cell says 'You will be able to' with 2 to 4 bullets"]


def self_check(notebook: NotebookNode) -> list[str]:
    """The last section is "Check yourself", with three questions whose answers are folded."""
    sections = [(n, text) for n, level, text in headings(notebook) if level <= 2]
    if not sections or sections[-1][1].lower() != "check yourself":
        return ["the last section must be '## Check yourself'"]
    begin = sections[-1][0]
    text = "\n".join(without_boxes(t, ABOUT, ERRATA) for n, t in prose_cells(notebook) if n >= begin)
    text = text[text.lower().index("check yourself") :]
    tags = {tag: text.count(tag) for tag in ("<details>", "<summary>", "</summary>", "</details>")}
    found = [
        f"cell {begin}: 'Check yourself' has {count} {tag}, must be 3" for tag, count in tags.items() if count != 3
    ]
    # Without an empty line after the summary, markdown and formulas inside stay unrendered.
    tight = len(re.findall(r"</summary>(?!\s*\n\s*\n)", text))
    return found + ([f"cell {begin}: {tight} answers lack an empty line after </summary>"] if tight else [])


def names_sources(notebook: NotebookNode) -> list[str]:
    """At least one fact carries its source: (K ...), (O ...) or (H ...)."""
    named = any(re.search(r"\((?:[KOH]\b)[^)]*", text) for _, text in prose_cells(notebook))
    return [] if named else ["no source is named; write (K ...), (O ...) or (H ...) at the facts taken from a lecture"]


def prose_before_code(notebook: NotebookNode) -> list[str]:
    """Every code cell that is seen follows a prose cell, except with the tag ``continued``."""
    seen = [(n, cell) for n, cell in enumerate(notebook.cells, start=1) if not tagged(cell, "hide-input")]
    return [
        f"cell {n}: code without a prose cell before it (or the tag 'continued')"
        for (_, before), (n, cell) in itertools.pairwise([(0, None), *seen])
        if cell.cell_type == "code" and not tagged(cell, "continued")
        if before is None or before.cell_type != "markdown"
    ]


def short_cells(notebook: NotebookNode) -> list[str]:
    """Code cells in sight of at most 25 lines (median at most 8), prose cells of at most 200 words, none empty."""
    seen = ((n, cell) for n, cell in code_cells(notebook) if not tagged(cell, "hide-input"))
    lines = {n: len(cell.source.strip().splitlines()) for n, cell in seen}
    found = [f"cell {n}: {k} lines of code, at most {CODE_LINES}" for n, k in lines.items() if k > CODE_LINES]
    median = statistics.median(lines.values()) if lines else 0
    if median > CODE_LINES_MEDIAN:
        found.append(f"the median code cell has {median:g} lines, at most {CODE_LINES_MEDIAN}")
    texts = {n: spoken(without_boxes(text, ABOUT, ERRATA)) for n, text in prose_cells(notebook)}
    words = {n: len(re.findall(r"\w[\w'-]*", text)) for n, text in texts.items()}
    found += [f"cell {n}: {k} words of prose, at most {PROSE_WORDS}" for n, k in words.items() if k > PROSE_WORDS]
    return found + [f"cell {n}: is empty" for n, cell in enumerate(notebook.cells, start=1) if not cell.source.strip()]


def plain_tone(notebook: NotebookNode) -> list[str]:
    """No exclamation marks, no "simply", no praise."""
    found = []
    for n, text in prose_cells(notebook):
        said = spoken(text)
        if "!" in said:
            around = said[max(0, said.index("!") - 25) : said.index("!") + 1].strip().replace("\n", " ")
            found.append(f"cell {n}: exclamation mark in '...{around}'")
        found += [f"cell {n}: says '{m[0]}'" for m in _PRAISE.finditer(said)]
    return found


def tags_are_known(notebook: NotebookNode) -> list[str]:
    """A misspelled tag does nothing and says nothing. Tags steer nbval, never comments, and nothing is skipped."""
    found = [
        f"cell {n}: unknown tag {tag!r}; known are {sorted(KNOWN_TAGS)}"
        for n, cell in enumerate(notebook.cells, start=1)
        for tag in cell.metadata.get("tags", [])
        if tag not in KNOWN_TAGS
    ]
    marker = re.compile(r"^\s*#+\s*(?:PYTEST_VALIDATE|NBVAL)_\w+", re.MULTILINE)
    return found + [
        f"cell {n}: steers nbval by the comment {m[0].strip()!r}; use a tag"
        for n, cell in code_cells(notebook)
        for m in marker.finditer(cell.source)
    ]


Rule = Callable[[NotebookNode], list[str]]
RULES: tuple[Rule, ...] = (
    one_title,
    headings_in_steps,
    objectives,
    self_check,
    prose_before_code,
    short_cells,
    plain_tone,
    tags_are_known,
    lint_lines.no_lists_by_accident,
    lint_code.no_unseeded_randomness,
    lint_code.no_untagged_timing,
    lint_code.figures_through_show,
    lint_pictures.no_bare_images,
    lint_pictures.alt_texts,
)
OLD_RULES: tuple[Rule, ...] = (names_sources,)
NEW_RULES: tuple[Rule, ...] = (
    lint_form.picture_first,
    lint_form.about_this_page,
    lint_form.facts_have_notes,
    lint_form.lectures_in_notes_only,
    lint_form.errata_at_the_end,
    lint_form.few_optional_parts,
    lint_form.tries_have_answers,
    lint_form.folds_begin_lines,
    lint_form.asserts_are_hidden,
    lint_form.tables_are_tables,
    lint_form.formulas_are_drawn,
    lint_predictions.predictions_are_confirmed,
    lint_predictions.predictions_open_folds,
)


def written(notebook: NotebookNode) -> NotebookNode:
    """The cells that the script has, without those that the build adds."""
    return NotebookNode(notebook, cells=[cell for cell in notebook.cells if cell.get("id") not in ADDED])


def lint(notebook: NotebookNode, name: str = "") -> list[str]:
    """Findings of all rules for a lesson of this form. With its name (``11_topic``), whether it may have that form."""
    new = notebook.metadata.get(FORM) == 2
    found = [finding for rule in RULES + (NEW_RULES if new else OLD_RULES) for finding in rule(written(notebook))]
    if not new and name[:2].isdigit() and int(name[:2]) >= NEW_FROM:
        found.append(f"lessons from {NEW_FROM} on have the new form; write '{FORM}: 2' below 'jupyter:' in the header")
    return found
