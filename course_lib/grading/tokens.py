"""An answer as a row of tokens that renaming, new numbers, comments and layout do not change.

Source: Schleimer, Wilkerson and Aiken, Winnowing, 2003, for what to leave out.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize

_KEPT = frozenset(keyword.kwlist) | {"self", "np", "cuda"}
_LEFT_OUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT),
}
_WORD = re.compile(r"[^\W\d]\w*|\d[\w.]*|\"[^\"\n]*\"|'[^'\n]*'|[^\w\s]")
_LONGEST = 200_000  # letters; an answer has hundreds


def tokens_of(source: str) -> list[str]:
    """Return a source text's tokens: any name "N", number "0", text "S"; keywords, operators and a method's name as is.

    A text that stands alone (a docstring), comments and indentation are left out. A method's name is kept, because
    `x.sum()` and `x.max()` are two ideas. No errors: what is no Python is split by a simpler rule. Source: the course's
    own.
    """
    source = source[:_LONGEST]
    try:
        found = [(token.type, token.string) for token in tokenize.generate_tokens(io.StringIO(source).readline)]
    except (tokenize.TokenError, SyntaxError, ValueError):  # IndentationError is a SyntaxError
        return [plain_word(word, "") for word in _WORD.findall(re.sub(r"#.*", "", source))]
    tokens: list[str] = []
    start = True  # of a statement
    for at, (kind, text) in enumerate(found):
        if kind in _LEFT_OUT:
            continue
        if kind == tokenize.NEWLINE:
            start = True
            continue
        alone = kind == tokenize.STRING and start and found[at + 1][0] == tokenize.NEWLINE
        if not alone:
            tokens.append("S" if kind == tokenize.STRING else plain_word(text, tokens[-1] if tokens else ""))
        start = False
    return tokens


def plain_word(word: str, before: str) -> str:
    """Return what stands for a word in a row of tokens, `before` being the one before it. No errors.

    Source: the course's own.
    """
    if word[0].isalpha() or word[0] == "_":
        return word if word in _KEPT or before == "." else "N"
    if word[0].isdigit() or (word[0] == "." and word[1:2].isdigit()):
        return "0"
    return "S" if word[0] in "\"'" else word
