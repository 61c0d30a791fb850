"""A report in a notebook and in a terminal: findings on top, every line with its cost, safe, small, stable."""

import copy
import re

import numpy as np
import pytest

from course_lib.book.outside import outside_requests
from course_lib.simt import Hazard
from course_lib.simt.show import wording
from course_lib.simt.show.compare import compare
from course_lib.simt.show.display import BAR, bar, html
from course_lib.simt.show.measures import MEASURES, folded, shown
from course_lib.simt.show.text import text
from tests.figures.pages import HOSTILE, read_html
from tests.simt import kernels, reports
from tests.simt.text import function


@pytest.fixture(scope="module")
def naive():
    return reports.product(kernels.product_naive, 64)


@pytest.fixture(scope="module")
def racy():
    return reports.product(kernels.product_no_second_barrier, 64)


@pytest.fixture(scope="module")
def transpose():
    return reports.transpose()


def said(page):
    return " ".join("".join(read_html(page)[2]).split())


# ------------------------------------------------------------------------------------------------ words


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0 %"), (0.125, "12.5 %"), (0.5625, "56.2 %"), (1, "100 %"), (0.9999, "99.9 %"), (0.0001, "<0.1 %")],
)
def test_percent_keeps_nothing_and_all_for_themselves(share, words):
    assert wording.percent(share) == words


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1.0 KiB"),
        (2**20, "1.0 MiB"),
        (3 * 2**40, "3.0 TiB"),
    ],
)
def test_sizes_are_said_with_their_unit(n, words):
    assert wording.size(n) == words


@pytest.mark.parametrize(
    ("n", "words"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (9_949, "9.9k"), (9_960, "10k"), (999_600, "1.0M"), (10**10, "10G")],
)
def test_short_numbers_take_five_characters_at_most(n, words):
    assert wording.short(n) == words


def test_counts_agree_with_their_noun():
    assert wording.count(1, "branch") == "1 branch"
    assert wording.count(2_000, "branch") == "2,000 branches"


def test_totals_are_sentences_with_the_anchor_numbers():
    totals = wording.totals(reports.product(kernels.product_tiled, 128))
    assert "Global loads: 8,192 requests, 32,768 sectors = 1.0 MiB moved, 100 % used." in totals
    assert "Global stores: 512 requests, 2,048 sectors = 64.0 KiB moved, 100 % used." in totals
    assert any(line.startswith("Floating-point operations: 4,194,304") for line in totals)
    assert not any(line.startswith(("Atomics", "Local", "Constant", "Shuffles")) for line in totals)


# ------------------------------------------------------------------------------------------------ in a notebook


def test_hazards_come_first_with_their_line_who_did_it_and_what_to_do(racy):
    page = said(html(racy))
    first, table = page.index("Hazard: race"), page.index("What each line cost")
    assert first < table
    hazard = racy.hazards[0]
    for words in (
        f"line {hazard.line}",
        "As[ty, tx] = A[row, m * T + tx]",
        hazard.message[1:],
        "barriers passed before: 1",
        hazard.fix,
    ):
        assert first < page.index(words) < table, words


def test_a_clean_kernel_says_that_it_is_clean(naive):
    assert "No hazards" in said(html(naive))


def test_many_findings_are_cut(racy):
    many = reports.with_hazards(racy, racy.hazards * 8)
    assert said(html(many)).count("Hazard: race") == 6
    assert "10 more; all are in the report's lists." in said(html(many))
    assert text(many).count("HAZARD race") == 6


def rows(page):
    """Return the rows of the first table as lists of the texts of their cells."""
    body = page[page.index("<tbody>") : page.index("</tbody>")]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]


def cell_text(cell):
    return " ".join("".join(read_html(cell)[2]).split())


def test_every_source_line_has_a_row_and_only_lines_with_work_have_numbers(naive):
    found = rows(html(naive))
    assert [cell_text(row[0]) for row in found] == [str(line.number) for line in naive.lines]
    filled = [i for i, row in enumerate(found) if any(map(cell_text, row[2:]))]
    assert filled == [i for i, line in enumerate(naive.lines) if line.counters.instructions]
    costly = next(row for row in found if "acc +=" in row[1])
    assert cell_text(costly[2]) == "32,768 (98.5 %)"
    assert cell_text(costly[3]) == "56.2 %"
    assert "<strong>" in costly[2]


def test_columns_without_work_are_left_out(naive, transpose):
    assert "bank conflicts" not in [m.title for m in shown(naive.total)]
    assert "bank conflicts" in [m.title for m in shown(transpose.total)]
    costly = next(row for row in rows(html(transpose)) if "C[y, x]" in row[1])
    assert "15,872" in map(cell_text, costly)


def test_no_bar_stands_without_a_number_and_what_is_all_of_use_needs_none(naive):
    for row in rows(html(naive)):
        for cell in row[2:]:
            assert not ("<span" in cell and not cell_text(cell))
            assert not ("<span" in cell and cell_text(cell) == "100 %")


def test_a_bar_is_as_long_as_its_part_and_has_one_pixel_at_least():
    for part, wide in ((1.0, BAR), (0.5, BAR // 2), (0.0001, 1), (0, 0)):
        assert f"width:{wide}px" in bar(part, "data")
        assert f"margin-right:{BAR - wide}px" in bar(part, "data")
        assert f"border-right:{BAR - wide}px" in bar(part, "data", rest=True)


def test_lines_with_a_hazard_are_marked_beside_their_number(racy):
    marked = [cell_text(row[0]) for row in rows(html(racy)) if "✖" in row[0]]
    assert marked == [f"✖ {h.line}" for h in sorted(racy.hazards, key=lambda h: h.line)]


def test_headers_have_a_scope_and_styles_are_those_that_jupyterlab_keeps(racy):
    page = html(racy)
    tags, attributes, _ = read_html(page)
    assert all(a.get("scope") in ("col", "row", "rowgroup") for t, a in zip(tags, attributes, strict=True) if t == "th")
    kept = {
        "line-height", "margin", "padding", "padding-left", "margin-right", "border-left", "border-right",
        "font-weight", "font-family", "text-align",
        "white-space", "border-collapse", "width", "height", "display", "background-color", "overflow-x",
        "caption-side", "min-width", "text-indent",
    }  # fmt: skip
    used = {part.split(":")[0].strip() for a in attributes for part in a.get("style", "").split(";") if part}
    assert used <= kept
    assert not {"script", "style", "link"} & set(tags)
    assert outside_requests(page) == []


def test_text_takes_the_colour_of_the_theme(racy):
    assert not re.search(r"[;\"]color:", html(racy))


def test_the_same_report_gives_the_same_bytes(racy):
    assert html(racy) == html(reports.product(kernels.product_no_second_barrier, 64))
    assert text(racy) == text(reports.product(kernels.product_no_second_barrier, 64))


def test_a_kernel_of_sixty_lines_stays_small():
    body = "\n".join(f"    s += a[i] * {k}.5 + a[(i + {k}) % 64]" for k in range(57))
    long = function(f"def kernel(a, out):\n    i = cuda.grid(1)\n    s = float32(0)\n{body}\n    out[i] = s")
    report = reports.run(long, 2, 32, reports.vectors(64))
    assert len(report.lines) == 61
    assert len(html(report).encode()) <= 60_000


def test_a_hostile_kernel_stays_text():
    hostile = function(
        """
        def kernel(a, out):
            i = cuda.grid(1)  # </code><script>alert(1)</script><img src=x onerror=alert(2)>
            out[i] = a[i + 1]  # "'><b>&amp;
        """
    )
    report = reports.run(hostile, 1, 64, reports.vectors(64))
    report.hazards[0].message += HOSTILE
    report.hazards[0].details["note"] = HOSTILE
    assert not {"script", "img", "b"} & set(read_html(html(report))[0])
    assert "i = cuda.grid(1) # </code><script>alert(1)</script><img src=x onerror=alert(2)>" in said(html(report))


def test_a_launch_without_counters_says_so():
    bare = reports.run(reports.reverse_64, 1, 64, reports.vectors(64), counters=False)
    for words in (said(html(bare)), text(bare)):
        assert "Nothing was counted: no thread did anything, or counters=False." in words
        assert "occupancy 100%" in words
    assert "out[t] = s[63 - t]" in text(bare)


def test_a_device_that_cannot_hold_the_block_says_why(racy):
    big = copy.copy(racy)
    big.shared_bytes, big.device = 80_000, "T4"
    assert "T4 gives a block at most" in said(html(big))


def test_occupancy_and_predicted_time_stand_at_the_end_the_details_folded(naive):
    page = html(naive)
    assert said(page).index("In all") < said(page).index("On a GPU (H200), estimated")
    assert "product_naive on H200: no time is predicted." in said(page)
    assert page.index("<details>") < page.index("floating-point operations, ")
    assert "bytes that must move" not in text(naive)


def test_long_runs_of_lines_without_work_are_folded_in_long_kernels_only():
    lines = reports.lines_with_work([0, 0, 1, 0, 0, 0, 0, 0, 1])
    assert list(folded(lines, False)) == lines
    assert list(folded(lines, True)) == [*lines[:3], None, lines[8]]


# ------------------------------------------------------------------------------------------------ in a terminal


@pytest.mark.parametrize("width", [72, 80, 120])
def test_the_text_fits_the_terminal_and_is_ascii(width, naive, racy, transpose):
    for report in (naive, racy, transpose):
        written = text(report, width)
        assert max(map(len, written.splitlines())) <= width
        assert written.isascii()


def test_a_terminal_that_is_too_narrow_is_an_error(naive):
    with pytest.raises(ValueError, match="width is 40; a report needs 72 columns"):
        text(naive, 40)


def test_the_text_says_what_the_notebook_says(racy, transpose):
    written = text(racy)
    assert written.index("HAZARD race") < written.index("What each line cost") < written.index("In all")
    assert f"HAZARD race, line {racy.hazards[0].line}, 184,320 times" in written
    assert f"! {racy.hazards[0].line} 2.0k" in written
    flat = " ".join(text(transpose, 120).split())
    for sentence in wording.totals(transpose):
        assert sentence in flat
    assert "16k #####" in text(transpose)


def test_a_narrow_terminal_leaves_columns_out_before_the_source(transpose):
    narrow, wide = text(transpose, 80), text(transpose, 130)
    assert "a wider terminal shows more columns" in narrow
    assert "instr." not in narrow
    assert "instr." in wide
    assert "    C[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]" in wide
    assert "    C[y, x] = tile[cuda.thread" in narrow


def test_every_measure_has_a_meaning_and_a_title_for_a_terminal():
    for m in MEASURES:
        assert len(m.meaning) > 15
        assert len(m.brief) <= 9


def test_details_are_shown_where_the_message_does_not_say_them():
    details = {"phase": 2, "index": np.int64(7), "thread": (3, 0, 0), "note": "x", "odd": object()}
    said = Hazard("race", 3, "thread 3 writes a[7]", "fix", details=details)
    unsaid = Hazard("race", 3, "message", "fix", details=details)
    assert wording.who(said) == "note x, barriers passed before: 2"
    assert wording.who(unsaid) == "index 7, thread (3, 0, 0), note x, barriers passed before: 2"


# ------------------------------------------------------------------------------------------------ printed, a sample


def with_facts(report, **facts):
    other = copy.copy(report)
    vars(other).update(facts)
    return other


def test_what_threads_printed_is_shown_the_rest_folded(naive):
    assert naive.printed == []
    assert "Printed" not in text(naive) + html(naive)
    some = with_facts(naive, printed=[f"thread {k} says {k * k}" for k in range(14)])
    page, written = html(some), text(some)
    for words in (said(page), written):
        assert words.index("Printed") < words.index("thread 0 says 0") < words.index("What each line cost")
        assert "thread 9 says 81" in words
    assert "thread 10 says" not in written
    assert "... and 4 more lines (report.printed)" in written
    assert page.index("<summary>4 more lines</summary>") < page.index("thread 10 says") < page.index("</details>")
    assert "thread 13 says 169" in said(page)
    assert with_facts(naive, printed=["x"]).to_dict()["printed"] == ["x"]


def test_a_kernel_that_prints_shows_it():
    kernel = function("def kernel(a, out):\n    i = cuda.grid(1)\n    print('lane', i)\n    out[i] = a[i]")
    report = reports.run(kernel, 1, 32, reports.vectors(32))
    assert report.printed[:2] == ["lane 0", "lane 1"]
    assert "Printed\n  lane 0\n  lane 1\n" in text(report)
    assert "22 more lines" in html(report)


def test_very_much_that_was_printed_stays_small_and_says_how_much_there_is(naive):
    most = with_facts(naive, printed=["x" * 5_000] * 1_000, not_printed=24)
    page = html(most)
    assert len(page.encode()) < len(html(naive).encode()) + 80_000
    assert "1,014 more lines" in page
    assert "814 more lines: report.printed has 1,000." in page
    assert "... and 1,014 more lines (report.printed has 1,000)" in text(most)
    assert max(map(len, text(most).splitlines())) <= 80


def test_what_was_printed_is_text_in_a_page_and_does_nothing_to_a_terminal(naive):
    bad = with_facts(naive, printed=[f"<b>{HOSTILE}</b>", "\x1b[2J\x07up\rto", "two\nlines\there"])
    assert not {"script", "img", "b"} & set(read_html(html(bad))[0])
    assert "\x1b" not in text(bad) + html(bad)
    assert "\x07" not in text(bad) + html(bad)
    assert "  ?[2J?up?to\n  two\n  lines    here\n" in text(bad)


def test_counters_of_a_sample_say_so_wherever_they_stand(naive):
    part = with_facts(naive, sampled=(64, 4_096))
    sentence = "The counters come from a sample: 64 of 4,096 blocks were counted."
    for words in (text(part), said(html(part)), str(compare(part, naive, ("a", "b")))):
        assert sentence in words
    assert part.to_dict()["sampled"] == [64, 4_096]
    for words in (text(naive), html(naive)):
        assert "sample" not in words
    assert naive.to_dict()["sampled"] is None


# ------------------------------------------------------------------------------------------------ narrow pages


def test_a_line_without_numbers_has_the_room_of_all_columns_and_may_break_after_a_point(naive):
    page = html(naive)
    assert f'colspan="{len(shown(naive.total)) + 1}"' in page
    assert "A.<wbr>shape[1]" in page
    assert "0.<wbr>" not in page
    assert "nowrap" not in page


def test_advice_that_does_no_harm_is_said_as_advice_and_not_as_a_hazard(naive):
    kinds = ("same value", "early return", "race", "unwritten memory")
    notes = [
        Hazard(kind, naive.lines[k + 1].number, f"m {k}.", f"f {k}.", 2, severity="advice", function=naive.kernel)
        for k, kind in enumerate(kinds)
    ]
    noted = with_facts(naive, advice=notes)
    for k, kind in enumerate(kinds):
        assert f"ADVICE {kind}, line {notes[k].line}, 2 times" in text(noted)
        assert f"Advice: {kind}, line {notes[k].line}, 2 times" in said(html(noted))
        assert f"M {k}." in text(noted)
    assert "No hazards, 4 pieces of advice." in text(noted)
    assert "HAZARD" not in text(noted)
