"""Each rule passes the good lesson and catches a broken one."""

import nbformat.v4 as v4
import pytest
from notebook_lib import lint, lint_code, lint_lines, lint_pictures
from notebook_samples import broken

TITLE, WHY, CODE, CONTINUED, PICTURE, TIMED, LAST = 0, 1, 2, 3, 5, 7, -1


def _replace(cell, old, new):
    def damage(nb):
        assert old in nb.cells[cell].source
        nb.cells[cell].source = nb.cells[cell].source.replace(old, new, 1)

    return damage


def _source(cell, source):
    return lambda nb: nb.cells[cell].update(source=source)


def _html(html):
    return lambda nb: nb.cells[PICTURE].outputs[0].data.update({"text/html": html})


def _bare_png(nb):
    nb.cells[CODE].outputs.append(v4.new_output("display_data", {"image/png": "", "text/plain": "<Figure>"}))


def _long_median(nb):
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.source = "\n".join(["x = 1"] * 9)


DAMAGE = [
    (lint.one_title, _replace(TITLE, "# A lesson", "## A lesson"), "cell 1: must begin with the title"),
    (lint.one_title, _replace(WHY, "## Why", "# Why"), "cell 2: a second title, '# Why'"),
    (lint.one_title, lambda nb: nb.cells.insert(0, v4.new_code_cell("1")), "cell 1: is code"),
    (
        lint.headings_in_steps,
        _replace(WHY, "## Why", "### Why"),
        "cell 2: heading 'Why' is level 3 right after level 1",
    ),
    (lint.objectives, _replace(TITLE, "You will be able to", "You learn"), "no cell says"),
    (lint.objectives, _replace(TITLE, "- say what their sum is.", ""), "cell 1: 'You will be able to' has 1 bullets"),
    (lint.self_check, _source(LAST, "## Check yourself\n"), "has 0 <details>, must be 3"),
    (lint.self_check, _replace(LAST, "</details>", ""), "has 2 </details>, must be 3"),
    (lint.self_check, _replace(LAST, "</summary>\n\n", "</summary>\n"), "1 answers lack an empty line"),
    (lint.self_check, lambda nb: nb.cells.append(v4.new_markdown_cell("## More")), "the last section must be"),
    (lint.names_sources, _replace(WHY, "(K lecture 1)", ""), "no source is named"),
    (lint.prose_before_code, lambda nb: nb.cells[CONTINUED].metadata.clear(), "cell 4: code without a prose cell"),
    (lint.short_cells, _source(CODE, "x = 1\n" * 26), "cell 3: 26 lines of code, at most 25"),
    (lint.short_cells, _long_median, "the median code cell has 9 lines"),
    (lint.short_cells, _source(WHY, "word " * 201), "cell 2: 201 words of prose, at most 200"),
    (lint.short_cells, _source(CODE, " "), "cell 3: is empty"),
    (
        lint.plain_tone,
        _replace(WHY, "everywhere,", "everywhere!"),
        "Sums are everywhere!'",
    ),
    (lint.plain_tone, _replace(WHY, "Sums are", "Sums are simply"), "cell 2: says 'simply'"),
    (lint.plain_tone, _replace(WHY, "Sums", "Well done. Sums"), "cell 2: says 'Well done'"),
    (lint.tags_are_known, lambda nb: nb.cells[CODE].metadata.update(tags=["raise-exception"]), "unknown tag"),
    (lint.tags_are_known, lambda nb: nb.cells[CODE].metadata.update(tags=["nbval-skip"]), "unknown tag 'nbval-skip'"),
    (lint.tags_are_known, _source(CODE, "# NBVAL_IGNORE_OUTPUT\n1"), "by the comment '# NBVAL_IGNORE_OUTPUT'"),
    (lint_lines.no_lists_by_accident, _source(WHY, "The 9s go to\n1. That is the way."), "cell 2: a line inside a"),
    (lint_lines.no_lists_by_accident, _source(WHY, "It copies only\n6. It also does."), "begins with '6.'"),
    (lint_lines.no_lists_by_accident, _source(WHY, "- They come in blocks of\n  32.\n- So."), "begins with '32.'"),
    (lint_lines.no_lists_by_accident, _source(WHY, "1. The 9s go to\n1. That is the way."), "begins with '1.'"),
    (lint_lines.no_lists_by_accident, _source(WHY, "From nine\n- or ten - to one."), "begins with '-'"),
    (lint_lines.no_lists_by_accident, _source(WHY, "Nine\n+ one."), "begins with '+'"),
    (lint_lines.no_lists_by_accident, _source(WHY, "The sign\n# is called hash."), "begins with '#'"),
    (lint_lines.no_lists_by_accident, _source(WHY, "- a\n\n  <b>x</b>\n\nSee\n- b"), "begins with '-'"),
    (lint_code.no_unseeded_randomness, _source(CODE, "np.random.rand(3)"), "np.random.rand draws from the global"),
    (lint_code.no_unseeded_randomness, _source(CODE, "np.random.seed(0)"), "np.random.seed draws"),
    (lint_code.no_unseeded_randomness, _replace(CODE, "default_rng(0)", "default_rng()"), "without a seed"),
    (lint_code.no_unseeded_randomness, _replace(CODE, "default_rng(0)", "default_rng(None)"), "without a seed"),
    (lint_code.no_unseeded_randomness, _source(CODE, "import random"), "imports random"),
    (lint_code.no_unseeded_randomness, _source(CODE, "from random import choice"), "imports random.choice"),
    (lint_code.no_unseeded_randomness, _source(CODE, "from numpy.random import rand"), "imports numpy.random.rand"),
    (
        lint_code.no_untagged_timing,
        lambda nb: nb.cells[TIMED].metadata.clear(),
        "cell 8: reads a clock (time.perf_counter)",
    ),
    (lint_code.no_untagged_timing, _source(CODE, "from time import time as t\nt()"), "reads a clock (t)"),
    (lint_code.no_untagged_timing, _source(CODE, "%timeit 1 + 1"), "reads a clock (%timeit)"),
    (lint_code.no_untagged_timing, _source(CODE, "%%time\n1 + 1"), "reads a clock (%time)"),
    (lint_code.no_untagged_timing, _source(CODE, "import datetime\ndatetime.datetime.now()"), "datetime.now"),
    (lint_code.figures_through_show, _source(CODE, "plt.show()"), "plt.show() shows a figure without alt text"),
    (lint_pictures.no_bare_images, _bare_png, "cell 3: a bare image/png output"),
    (lint_pictures.alt_texts, _html("<img src='a.png'>"), "cell 6: alt text ''"),
    (lint_pictures.alt_texts, _html("<figure><img alt='a plot' src='a.png'></figure>"), "cell 6: alt text 'a plot'"),
    (lint_pictures.alt_texts, _html("<svg><circle/></svg>"), "cell 6: alt text ''"),
    (lint_pictures.alt_texts, _source(WHY, "![](a.png)"), "cell 2: alt text ''"),
]


@pytest.mark.parametrize("rule", lint.RULES + lint.OLD_RULES, ids=lambda rule: rule.__name__)
def test_rule_passes_the_good_lesson(good_lesson, rule):
    assert rule(good_lesson) == []


@pytest.mark.parametrize(("rule", "damage", "message"), DAMAGE, ids=[f"{r.__name__}-{m}" for r, _, m in DAMAGE])
def test_rule_catches(good_lesson, rule, damage, message):
    findings = rule(broken(good_lesson, damage))
    assert any(message in finding for finding in findings), findings


def test_every_rule_is_tested():
    assert {rule for rule, _, _ in DAMAGE} == set(lint.RULES + lint.OLD_RULES)


@pytest.mark.parametrize(
    "source",
    [
        "Text.\n\n- a\n  goes on\n- b",
        "1. a\n   goes on\n2. b\n3. c",
        "- a\n  <details><summary>Answer</summary>\n\n  Nine.\n\n  </details>\n- b",
        "## A\n### B\nText of 1.5 or -1, and\n-1 again, \n1.5 too.",
        "$$a\n- b\n+ c$$\nis a sum.",
        "```\nx\n- y\n```",
    ],
)
def test_lists_that_are_meant_and_minus_signs_are_no_accidents(good_lesson, source):
    assert lint_lines.no_lists_by_accident(broken(good_lesson, _source(WHY, source))) == []


@pytest.mark.parametrize(
    "source",
    [
        "factorial $5! = 120$",
        "`a != b`",
        "![a picture of two long arrows](a.svg)",
        "```\nwow!\n```",
        "<!-- a comment -->",
    ],
)
def test_marks_that_are_not_spoken_are_no_exclamations(good_lesson, source):
    assert lint.plain_tone(broken(good_lesson, _source(WHY, source))) == []


@pytest.mark.parametrize(
    "source",
    [
        "rng = np.random.default_rng(7)",
        "rng = np.random.default_rng(seed=7)",
        "r: np.random.Generator = rng",
        "x.random(3)",
    ],
)
def test_seeded_randomness_is_allowed(good_lesson, source):
    assert lint_code.no_unseeded_randomness(broken(good_lesson, _source(CODE, source))) == []


def test_code_that_does_not_parse_is_left_to_the_build(good_lesson):
    assert lint.lint(broken(good_lesson, _source(CODE, "1 +"))) == []
