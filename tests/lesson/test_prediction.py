"""A prediction says its question and choices, hides its answer, and cannot be a lie."""

import re

import numpy as np
import pytest

from course_lib.checks.close import Mismatch
from course_lib.lesson import predict

QUESTION = "How many weights has `W`?"


def weights(**changes):
    return predict(**dict(question=QUESTION, choices=[49, 50, 1000], answer=50, reveals=2) | changes)


def readable(html):
    """What a reader sees where no script runs."""
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)).split())


def test_question_and_choices_are_text_and_the_answer_is_not_marked():
    asked = weights()
    plain = asked._repr_mimebundle_()["text/plain"]
    assert plain == "Predict. How many weights has `W`? (a) 49; (b) 50; (c) 1,000"
    assert readable(asked.html) == (
        "Predict. How many weights has W ? (a) 49 (b) 50 (c) 1,000 Decide first. Then open what is folded below."
    )
    other = weights(answer=49)
    assert other._repr_mimebundle_()["text/plain"] == plain == repr(asked)
    assert readable(other.html) == readable(asked.html)
    assert other.html != asked.html  # else the page could not tell which is right


def test_the_same_prediction_is_the_same_bytes_and_another_one_has_another_key():
    assert weights().html == weights().html
    keys = {weights(**c).key for c in ({}, {"question": "Why?"}, {"choices": [49, 50]}, {"reveals": 1})}
    assert len(keys) == 4


def test_hostile_text_stays_text():
    html = weights(question="</script><img src=x onerror=1>", choices=["<b>", "</script>"], answer="<b>").html
    assert html.count("</script>") == html.count("<script>") == 1
    assert "<img" not in html
    assert "<b>" not in html.replace('make("b"', "")


@pytest.mark.parametrize(
    ("choices", "answer", "value", "rel"),
    [
        ([49, 50], 50, 50, None),
        ([49, 50], 50, np.int64(50), None),
        ([49, 50], 50, 50.0, None),
        ([49, 50], 50, np.array(50), None),
        ([0.5, 0.25], 0.25, 0.25 * (1 + 1e-12), None),
        ([0.5, 0.25], 0.25, 0.26, 0.05),
        ([49, 50], 50, 51, 0.05),
        (["half", "all"], "half", "half", None),
    ],
)
def test_confirm_accepts_the_answer_and_says_nothing(choices, answer, value, rel, capsys):
    assert predict("How many?", choices, answer).confirm(value, rel=rel) is None
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("choices", "answer", "value", "rel"),
    [
        ([49, 50], 50, 49, None),
        ([49, 50], 50, 50 + 1e-9, None),
        ([49, 50], 50, float("nan"), 0.5),
        ([49, 50], 50, "50", None),
        ([49, 50], 50, None, None),
        ([0, 1], 1, True, None),
        ([0.5, 0.25], 0.25, 0.25 * (1 + 1e-8), None),
        ([0.5, 0.25], 0.25, 0.27, 0.05),
        (["half", "all"], "half", "all", None),
        (["half", "all"], "half", "Half", None),
    ],
)
def test_confirm_refuses_anything_else(choices, answer, value, rel):
    with pytest.raises(Mismatch):
        predict("How many?", choices, answer).confirm(value, rel=rel)


def test_a_refusal_names_the_question_both_values_and_what_to_mend():
    with pytest.raises(Mismatch, match=r"'How many .*' says that the answer is 50, .*measured 49.*answer="):
        weights().confirm(49)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"question": " "}, ValueError, "the question is empty"),
        ({"choices": [50]}, ValueError, "1 choices; a prediction has 2 to 5"),
        ({"choices": [50, 1, 2, 3, 4, 5]}, ValueError, "6 choices"),
        ({"choices": [49, 50, 50.0]}, ValueError, "50.0 is there twice"),
        ({"choices": [1000, 50, "1,000"]}, ValueError, "'1,000' is there twice"),
        ({"answer": 51}, ValueError, r"the answer 51 is none of the choices \[49, 50, 1000\]"),
        ({"answer": "50"}, ValueError, "the answer '50' is none of"),
        ({"choices": [True, False], "answer": True}, TypeError, "True is a bool"),
        ({"choices": [None, 50]}, TypeError, "None is a NoneType"),
        ({"choices": [50, float("nan")]}, ValueError, "nan is no number to choose"),
        ({"reveals": 0}, ValueError, "reveals is 0"),
        ({"reveals": 1.5}, ValueError, "reveals is 1.5"),
    ],
)
def test_bad_input_is_named(changes, error, message):
    with pytest.raises(error, match=message):
        weights(**changes)
