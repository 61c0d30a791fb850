"""Formulas become MathML; what cannot is an error that names it, never a wrong picture."""

from __future__ import annotations

import re

import pytest

from course_lib.book.mathml import FormulaError, formulas_to_mathml, to_mathml


def test_a_formula_becomes_one_math_element():
    mathml = to_mathml(r" \frac{\partial E}{\partial w} = \delta_j a_i ")
    assert mathml.startswith("<math")
    assert mathml.endswith("</math>")
    assert "<mfrac>" in mathml
    assert 'display="block"' in to_mathml("x", display="block")


@pytest.mark.parametrize("name", ["aligned", "align", "align*", "split", "gathered"])
def test_aligned_equations_become_a_table_without_numbers(name):
    mathml = to_mathml(rf"\begin{{{name}}} Z &= X W \\ A &= f(Z) \end{{{name}}}")
    assert mathml.count("<mtr>") == 2
    assert "(1)" not in mathml


@pytest.mark.parametrize(("name", "fence"), [("bmatrix", "brackets"), ("pmatrix", "parentheses")])
def test_a_matrix_keeps_its_fence_without_a_mathematics_font(name, fence):
    mathml = to_mathml(rf"\begin{{{name}}} 1 & 2 \\ 3 & 4 \end{{{name}}} + (x)")
    assert f'<mtable class="{fence}">' in mathml
    assert mathml.count("<mtr>") == 2
    assert "<mo>[</mo>" not in mathml


@pytest.mark.parametrize(
    ("latex", "drawn"),
    [
        ("W'", "<mrow><mrow><mi>W</mi>PRIME</mrow></mrow>"),
        ("w'_{j}", "<msub><mrow><mi>w</mi>PRIME</mrow><mrow><mi>j</mi></mrow></msub>"),
        ("W'^T", "<msup><mrow><mi>W</mi>PRIME</mrow><mrow><mi>T</mi></mrow></msup>"),
        ("x^2", "<msup><mi>x</mi><mn>2</mn></msup>"),
    ],
)
def test_a_prime_keeps_its_size(latex, drawn):
    prime = '<mo lspace="0em" rspace="0em">\u2032</mo>'
    assert drawn.replace("PRIME", prime) in to_mathml(latex)


@pytest.mark.parametrize(("latex", "apart"), [(r"\ln 10", 1), (r"-\ln k_T", 1), (r"\ln(x)", 0), (r"\ln \frac12", 1)])
def test_the_name_of_a_function_stands_apart_from_its_number_or_letter(latex, apart):
    assert to_mathml(latex).count("<mspace") == apart


@pytest.mark.parametrize(
    ("latex", "named"),
    [
        (r"\nosuch x", r"\\nosuch"),
        ("a & b", "& outside"),
        (r"\begin{nosuch} a & b \end{nosuch}", "nosuch"),
        (r"\frac{1}{", "convert"),
        (r"a = b \\ c = d", "several lines"),
        (r"\begin{multline} a \\ b \end{multline}", "convert"),
    ],
)
def test_an_unknown_command_is_an_error_that_names_it(latex, named):
    with pytest.raises(FormulaError, match=named):
        to_mathml(latex)


def test_formulas_in_html_are_converted_outside_code():
    problems: list[str] = []
    html = formulas_to_mathml(r"<p>$x^2$ costs \$5, not $ 6 <code>$y$</code> $$z &lt; 1$$</p>", problems)
    assert html.count("<math") == 2
    assert r"\$5, not $ 6" in html
    assert "<code>$y$</code>" in html
    assert not problems


def test_a_formula_that_cannot_be_converted_is_shown_as_code_and_noted():
    problems: list[str] = []
    assert formulas_to_mathml(r"$\nosuch$", problems) == r"<code>\nosuch</code>"
    assert len(problems) == 1


def test_a_sign_is_set_close_to_its_number_and_a_difference_is_not():
    signs = re.findall(r"<mo([^>]*)>\u2212</mo>", to_mathml("(-1, -2) = -a - b(c) - d"))
    assert ["prefix" in sign for sign in signs] == [True, True, True, False, False]
