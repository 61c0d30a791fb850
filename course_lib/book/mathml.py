"""Formulas for pages that load nothing: LaTeX becomes MathML, which browsers draw themselves."""

from __future__ import annotations

import re
from html import escape, unescape
from xml.etree import ElementTree

__all__ = ["FormulaError", "formula", "formulas_to_mathml", "to_mathml"]

# $$...$$ or $...$ in raw HTML; a backslash before a dollar makes it a plain dollar.
_FORMULA = re.compile(r"(?<!\\)\$\$(.+?)(?<!\\)\$\$|(?<![\\$])\$(?!\s)([^$\n]+?)(?<![\\\s])\$(?![$\d])", re.DOTALL)
# Environments that the converter does not know, or numbers, by one that draws the same.
_SAME = {"aligned": "split", "align": "align*", "equation": "equation*", "gathered": "matrix"}
_MATRIX = re.compile(r"<mo>(?P<left>[\[(])</mo><mtable>(?P<rows>(?:(?!<mtable).)*?)</mtable><mo>[\])]</mo>", re.DOTALL)
_NAMES = ("ln", "log", "exp", "sin", "cos", "tanh")
_PRIMES = "\u2032\u2033\u2034"
_CODE = re.compile(r"(<(pre|code|script|style)\b.*?</\2>)", re.DOTALL)


class FormulaError(ValueError):
    """A formula holds a command that MathML conversion does not know."""


def to_mathml(latex: str, *, display: str = "inline") -> str:
    r"""Convert one formula.

    Parameters
    ----------
    latex : str
        The formula without its dollars.
    display : {"inline", "block"}

    Returns
    -------
    str
        A ``<math>`` element.

    Raises
    ------
    FormulaError
        The formula cannot be converted, or a command would be left as text; both are named.
    """
    from latex2mathml.converter import convert

    latex = latex.strip()
    try:
        mathml = convert(_with_known_environments(latex), display=display)
    except Exception as error:  # the converter has a dozen error types, one for each way to be malformed
        raise FormulaError(f"cannot convert ${latex}$: {type(error).__name__} {error}".rstrip()) from error
    left = re.findall(r"\\[A-Za-z]+", unescape(re.sub(r"<[^>]+>", " ", mathml)))
    if "<mi>&</mi>" in mathml:
        left.append("environment, or & outside of one")
    if 'linebreak="newline"' in mathml:  # no browser breaks a line there: both lines would read as a product
        left.append("environment of several lines, or \\\\ outside of one")
    if left:
        raise FormulaError(f"cannot convert ${latex}$: unknown {', '.join(sorted(set(left)))}")
    tree = ElementTree.fromstring(mathml.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
    if r"\begin{gathered}" in latex:  # a matrix, but for its size
        for table in tree.iter("mtable"):
            table.set("displaystyle", "true")
    for element in list(tree.iter()):
        _pull_primes_down(element)
        _close_up_signs(element)
        _part_names_from_numbers(element)
    return _MATRIX.sub(_fenced, ElementTree.tostring(tree, encoding="unicode"))


def _with_known_environments(latex: str) -> str:
    """Write aligned as split, and numbered environments as those without numbers."""
    for name, same in _SAME.items():
        for word in ("begin", "end"):
            latex = latex.replace(f"\\{word}{{{name}}}", f"\\{word}{{{same}}}")
    return latex


def _fenced(match: re.Match[str]) -> str:
    """Draw a matrix's brackets as its borders: without a mathematics font, browsers do not stretch them."""
    fence = "brackets" if match["left"] == "[" else "parentheses"
    return f'<mtable class="{fence}">{match["rows"]}</mtable>'


def _pull_primes_down(element: ElementTree.Element) -> None:
    """Write W' as W and a prime: the sign is raised already, and as an exponent it is too small to be read."""
    if element.tag not in ("msup", "msubsup"):
        return
    upper = element[-1]
    signs = list(upper) if upper.tag == "mrow" else [upper]
    primes = [sign for sign in signs if sign.tag == "mi" and sign.text and set(sign.text) <= set(_PRIMES)]
    if not primes or signs[: len(primes)] != primes:
        return
    base = ElementTree.Element("mrow")
    base.append(element[0])
    for prime in primes:
        mark = ElementTree.SubElement(base, "mo", lspace="0em", rspace="0em")
        mark.text = prime.text
    element[0] = base
    if len(signs) > len(primes):
        for prime in primes:
            upper.remove(prime)
        return
    element.remove(upper)
    element.tag = "msub" if element.tag == "msubsup" else "mrow"


def _close_up_signs(element: ElementTree.Element) -> None:
    """Set a sign close to its number, (-1, -2): a browser takes a minus in the middle of a row for a difference."""
    before = None
    for child in element:
        is_sign = child.tag == "mo" and child.text in ("-", "\u2212", "+", "\u00b1")
        opens = before is None or (before.tag == "mo" and (before.text or "").strip() not in (")", "]", "}", "|", "!"))
        if is_sign and opens:
            child.attrib.update(form="prefix", lspace="0em", rspace="0em")
        before = child


def _part_names_from_numbers(element: ElementTree.Element) -> None:
    """Write ln 10 with a thin space: a browser sets the name of a function and its number or letter close together."""
    children = list(element)
    for at in range(len(children) - 1, 0, -1):
        name, argument = children[at - 1], children[at]
        is_name = name.tag in ("mi", "mo") and (name.text or "") in _NAMES
        if is_name and argument.tag not in ("mo", "mspace"):  # ln(x) is close enough
            element.insert(at, ElementTree.Element("mspace", width="0.17em"))


def formulas_to_mathml(html: str, problems: list[str]) -> str:
    """Convert the formulas in raw HTML, outside code; those that cannot be are shown as code and noted.

    Parameters
    ----------
    html : str
        HTML with ``$...$`` and ``$$...$$``.
    problems : list of str
        Gets one line for each formula that could not be converted.
    """

    def convert(match: re.Match[str]) -> str:
        latex, display = (match[1], "block") if match[1] is not None else (match[2], "inline")
        return formula(unescape(latex), display, problems)

    parts = _CODE.split(html)
    # split() gives text, code, tag name, text, ...: only every third part is text.
    return "".join(_FORMULA.sub(convert, part) if at % 3 == 0 else part for at, part in enumerate(parts) if at % 3 != 2)


def formula(latex: str, display: str, problems: list[str]) -> str:
    """Convert one formula as `to_mathml` does, but show it as code and note the problem where that fails."""
    try:
        return to_mathml(latex, display=display)
    except FormulaError as error:
        problems.append(str(error))
        return f"<code>{escape(latex)}</code>"
