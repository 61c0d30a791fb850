"""A long line of code goes on below where it began, and nothing of its text or colours is lost."""

import re

import pytest

from course_lib.book.code_lines import code_that_wraps

PAGE = '<p>a</p><div class="highlight"><pre>{}\n</pre></div><pre>plain\ntext</pre>'
CODE = {
    "two lines": '<span></span><span class="n">x</span> <span class="o">=</span> 1\n    y &lt; 2',
    "an empty line": "a\n\nb",
    "a colour over three lines": 'f(<span class="sd">&quot;one\n  two\nthree&quot;</span>)\n    g',
    "no end": "a",
    "nothing": "",
}


def shown(html):
    """The text of code lines, one below the other."""
    return re.sub("<[^>]*>", "", html)


@pytest.mark.parametrize("code", CODE.values(), ids=CODE)
def test_text_stays_and_each_line_closes_what_it_opens(code):
    made = code_that_wraps(PAGE.format(code))
    inner = made[made.index("<pre>") + 5 : made.index("</pre>")]
    assert shown(inner) == shown(code)
    for line in inner.split("\n"):
        assert line.count("<span") == line.count("</span>")
    assert made.endswith("<pre>plain\ntext</pre>"), "text that is no code"


def test_a_line_says_how_far_it_is_indented():
    made = code_that_wraps(PAGE.format(CODE["two lines"]))
    assert re.findall(r"--in:(\d+)ch", made) == ["0", "4"]


def test_a_colour_is_opened_again_on_the_next_line():
    made = code_that_wraps(PAGE.format(CODE["a colour over three lines"]))
    assert made.count('<span class="sd">') == 3
