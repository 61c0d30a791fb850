"""Code on a page is never cut: a line that is too long goes on below, indented under where it began.

Source: the course's own.
"""

from __future__ import annotations

import re

_BLOCK = re.compile(r'(<div class="highlight"><pre>)(.*?)(</pre></div>)', re.DOTALL)
_PIECES = re.compile(r"<span[^>]*>|</span>|\n|[^<\n]+|<")


def code_that_wraps(html: str) -> str:
    """Return a page in which each line of highlighted code is an element of its own that says how far it is indented.

    Parameters
    ----------
    html : str
        What Sphinx made of a page. Colours (``<span>``) may reach over several lines; nothing but spans may be in code.

    Returns
    -------
    str
        Each line is ``<span class="course-line" style="--in:8ch">``; course.css lets it wrap. No errors.

    Source: the course's own.
    """
    return _BLOCK.sub(lambda block: block[1] + _in_lines(block[2]) + block[3], html)


def _in_lines(code: str) -> str:
    lines, line, opened = [], "", []
    for piece in _PIECES.findall(code):
        if piece == "\n":  # a colour that goes on is closed here and opened again on the next line
            lines.append(line + "</span>" * len(opened))
            line = "".join(opened)
            continue
        if piece.startswith("<span"):
            opened.append(piece)
        elif piece == "</span>":
            opened.pop()
        line += piece
    lines += [line] if re.sub("<[^>]*>", "", line) else []
    return "\n".join(f'<span class="course-line" style="--in:{_indent(line)}ch">{line}</span>' for line in lines)


def _indent(line: str) -> int:
    words = re.sub("<[^>]*>", "", line)
    return len(words) - len(words.lstrip(" "))
