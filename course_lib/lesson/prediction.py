"""Ask before the result shows: a question, its choices, and what stays folded until the reader has chosen."""

import hashlib
import json
import math
import re
from dataclasses import dataclass
from html import escape
from numbers import Integral, Real

from course_lib.checks.close import Mismatch
from course_lib.figures import style
from course_lib.figures.scripts import script
from course_lib.figures.stepper import TITLE_STYLE, in_script

FEWEST, MOST = 2, 5
REL = 1e-9
NOTE = "Decide first. Then open what is folded below."


@dataclass(frozen=True)
class Prediction:
    """A question with its choices; displays itself. Made by `predict`.

    Source: the course's own.
    """

    question: str
    choices: tuple
    answer: object
    reveals: int

    @property
    def html(self):
        """The whole element: question and choices as text, and the script that makes buttons of them."""
        look = {"accent": style.COLOURS["data"], "hover": style.COLOURS["thread"], "edge": style.COLOURS["idle"],
                "right": style.COLOURS["output"], "wrong": style.COLOURS["hazard"]}  # fmt: skip
        right = [_same(choice, self.answer) for choice in self.choices].index(True)
        given = (self.key, [_marked_up(text) for text in self._said], right, self.reveals, look)
        items = "".join(f"<li>{_marked_up(text)}</li>" for text in self._said)
        return (
            f'<div class="course-predict" data-predict="{self.key}" role="group" aria-label="A prediction">\n'
            f'<p style="{TITLE_STYLE}">Predict. <span style="font-weight:normal">{_marked_up(self.question)}</span></p>'
            f'<div class="course-predict-static"><ul style="list-style:none;padding-left:1em">{items}</ul>'
            f"<p>{NOTE}</p></div>"
            f"<script>({script('predict')})({','.join(map(in_script, given))});</script></div>"
        )

    @property
    def key(self):
        """A name made from the content."""
        parts = [self.question, self._said, self.reveals]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]

    def confirm(self, value, *, rel=None):
        """Say that `value`, measured in the cell that the reader opens, is the answer. Returns None, prints nothing.

        Parameters
        ----------
        value : str, int or float
            Equal to the answer: exactly for text and whole numbers, within `rel` of it for others.
        rel : float, optional
            Relative difference that is allowed; 1e-9 for an answer that is a float, none for an int.

        Raises
        ------
        Mismatch
            The value is not the answer: the question would teach something untrue.

        Source: the course's own.
        """
        value = value.item() if hasattr(value, "item") else value
        if not _same(value, self.answer, rel):
            within = f" (within {rel:g} of it)" if rel is not None else ""
            raise Mismatch(
                f"the prediction {self.question!r} says that the answer is {self.answer!r}{within}, the cell measured "
                f"{value!r}. One of them is wrong: mend answer= or the code that measures."
            )

    @property
    def _said(self):
        return [f"({letter}) {_words(choice)}" for letter, choice in zip("abcde", self.choices, strict=False)]

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": f"Predict. {self.question} {'; '.join(self._said)}"}

    def __repr__(self):
        return self._repr_mimebundle_()["text/plain"]


def predict(question, choices, answer, *, reveals=1):
    """Ask the reader to decide before the result shows.

    What follows is folded: the output of a code cell tagged ``hide-output``, and ``<details class="reveal">`` in prose.
    Choosing, or "Show me", opens the next `reveals` of them and marks the right choice. Where no script runs, question
    and choices are text, and the reader opens the folds by hand.

    Parameters
    ----------
    question : str
        One question. `Text between backticks` is set as code.
    choices : list of str or number
        Two to five, all different; named (a), (b), ... on the page.
    answer : str or number
        The right one of them. The cell that measures it calls `Prediction.confirm`.
    reveals : int >= 1
        How many folded things this question opens, in reading order.

    Returns
    -------
    Prediction
        Displays itself as the last value of a cell.

    Raises
    ------
    TypeError, ValueError
        A choice that is neither text nor a number, too few or too many, two alike, an answer that is none of them.

    Source: the course's own.
    """
    question, choices = " ".join(str(question).split()), tuple(choices)
    if not question:
        raise ValueError("the question is empty; ask something that a number or a word answers")
    for choice in (*choices, answer):
        if isinstance(choice, bool) or not isinstance(choice, str | Real):
            raise TypeError(f"{choice!r} is a {type(choice).__name__}; choices and answer are text or numbers")
        if not isinstance(choice, str) and not math.isfinite(choice):
            raise ValueError(f"{choice!r} is no number to choose; write it as text")
    if not FEWEST <= len(choices) <= MOST:
        raise ValueError(f"{len(choices)} choices; a prediction has {FEWEST} to {MOST}")
    for i, choice in enumerate(choices):
        if any(_same(choice, other) or _words(choice) == _words(other) for other in choices[:i]):
            raise ValueError(f"the choice {choice!r} is there twice; readers cannot tell them apart")
    if not any(_same(choice, answer) for choice in choices):
        raise ValueError(f"the answer {answer!r} is none of the choices {list(choices)}; add it or mend it")
    if not isinstance(reveals, Integral) or reveals < 1:
        raise ValueError(f"reveals is {reveals!r}; it counts the folded things that open, 1 or more")
    return Prediction(question, choices, answer, int(reveals))


def _same(value, answer, rel=None):
    """Whether `value` is the answer: of the same kind, and equal or as near as `rel` allows."""
    if isinstance(answer, str) or isinstance(value, str):
        return isinstance(answer, str) and isinstance(value, str) and value == answer
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    if rel is None and isinstance(answer, Integral):
        return value == answer
    return math.isclose(value, answer, rel_tol=REL if rel is None else rel)


def _words(choice):
    """A choice as readers see it: numbers with their digits in groups of three."""
    return " ".join(choice.split()) if isinstance(choice, str) else f"{choice:,}"


def _marked_up(text):
    """Text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
