"""Where in the student's own text an error came from: line, code, and what it computed with.

Frames of the course and of installed libraries are left out: the student wrote none of them.

Source: the course's own.
"""

import ast
import linecache
import os
import sysconfig
import traceback
from dataclasses import dataclass
from pathlib import Path

MOST_CODE = 100
"""Characters of a line of code."""

MOST_FRAMES = 8
"""Lines of a traceback; of an endless recursion the last ones."""

_INSTALLED = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
_OURS = tuple({str(Path(folder).resolve()) + os.sep for folder in (Path(__file__).parents[1], *_INSTALLED)})


@dataclass(frozen=True)
class Origin:
    """The last of the student's own lines that an error passed through.

    Attributes
    ----------
    line : int
        Counted from the beginning of its cell.
    code : str
        The line, without its indentation; "" if its text is not known.
    trace : str
        The student's lines on the way to the error, one below the other.
    expression : ast.AST or None
        What was computed when it happened, such as `x @ w`.
    names : dict
        What the variables held then.

    Source: the course's own.
    """

    line: int
    code: str
    trace: str
    expression: ast.AST | None
    names: dict

    @property
    def place(self):
        """Return "line 4: `z = x @ w`"."""
        return f"line {self.line}: `{self.code}`" if self.code else f"line {self.line}"


def origin_of(error):
    """Return the `Origin` of an exception that was caught, None if no line of the student's is in its traceback.

    No errors. Source: the course's own.
    """
    own, step = [], error.__traceback__
    while step is not None:
        if not _is_ours(step.tb_frame.f_code.co_filename):
            own.append(step)
        step = step.tb_next
    if not own:
        return None
    last = own[-1]
    names = {**last.tb_frame.f_globals, **last.tb_frame.f_locals}
    lines = [_told(step) for step in own]
    if len(lines) > MOST_FRAMES:
        lines = [f"({len(lines) - MOST_FRAMES} more)", *lines[-MOST_FRAMES:]]
    return Origin(last.tb_lineno, _code(last), "\n".join(lines), _expression(last), names)


def own_calls():
    """Return the student's lines that led here, one below the other, such as "line 1, in <module>: check(...)".

    No errors. Source: the course's own.
    """
    own = [f for f in traceback.extract_stack() if not _is_ours(f.filename)]
    return "\n".join(f"line {f.lineno}, in {f.name}" + (f": {f.line}" if f.line else "") for f in own[-MOST_FRAMES:])


def _is_ours(file):
    return file.startswith("<frozen ") or os.path.realpath(file).startswith(_OURS)


def _code(step, number=None):
    text = linecache.getline(step.tb_frame.f_code.co_filename, number or step.tb_lineno).strip()
    return text if len(text) <= MOST_CODE else f"{text[: MOST_CODE - 3]}..."


def _told(step):
    code = _code(step)
    return f"line {step.tb_lineno}, in {step.tb_frame.f_code.co_name}" + (f": {code}" if code else "")


def _expression(step):
    """Return the syntax tree of what the frame was computing, None where its text is not known."""
    code = step.tb_frame.f_code
    places = list(code.co_positions())
    if not 0 <= step.tb_lasti // 2 < len(places):
        return None
    first, last, begin, end = places[step.tb_lasti // 2]
    if None in (first, last, begin, end):
        return None
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]  # columns count bytes
    lines[0] = lines[0][begin:]
    try:
        tree = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except SyntaxError:
        try:
            tree = ast.parse(b"".join(lines).strip()).body[0]  # a statement, such as x -= y
        except (SyntaxError, IndexError, ValueError):
            return None
    except ValueError:
        return None
    return tree
