"""Copies are found whatever they are renamed to; short answers, given cells and common ways are no hint."""

from __future__ import annotations

import random

import pytest

from course_lib.grading.similarity import (
    FEWEST_TOKENS,
    NOTE,
    RENAMED,
    SAME,
    SIMILAR,
    alike,
    fingerprints,
    similar_pairs,
    together,
)
from course_lib.grading.tokens import tokens_of

ANSWER = '''
def backward(delta, w, z, lr):
    """The gradient."""
    # first the slope
    slope = 1.0 / (1.0 + np.exp(-z)) * (1 - 1 / (1 + np.exp(-z)))
    total = np.zeros_like(w)
    for row in range(len(delta)):
        if delta[row].any():
            total += np.outer(delta[row] * slope[row], w[row % 3]).T @ w
    result = w - lr * total / max(1, len(delta))
    return result, slope
'''
COPY = """
def backward(d, weights, pre, step):

    s = 2.0 / (2.0 + np.exp(-pre)) * (3 - 3 / (3 + np.exp(-pre)))  # my own
    acc = np.zeros_like(weights)
    for i in range(len(d)):
        if d[i].any():
                acc += np.outer(d[i] * s[i], weights[i % 4]).T @ weights
    out = weights - step * acc / max(9, len(d))
    return out, s
"""
OTHER = """
def backward(delta, w, z, lr):
    slope = np.where(z > 0, 1, 0)
    grads = [a[:, None] @ b[None, :] for a, b in zip(delta * slope, w, strict=False)]
    while len(grads) > 1 and not np.isnan(grads[-1]).any():
        last = grads.pop()
        grads[0] = grads[0] - last.mean(axis=0) ** 2
    assert grads, "no gradient at all"
    return {"w": w, "grad": grads[0], "norm": np.linalg.norm(grads[0])}
"""


def pairs(texts, **options):
    return similar_pairs({"04.2": texts}, **options)


def test_a_copy_with_other_names_numbers_comments_and_layout_is_found():
    (pair,) = pairs({"ann": ANSWER, "bob": COPY, "eve": OTHER})
    assert (pair.question, pair.one, pair.other, pair.share) == ("04.2", "ann", "bob", 1.0)
    assert "no proof" in NOTE


def test_a_copy_of_the_larger_part_is_found_at_a_lower_share():
    mixed = COPY.replace("    return out, s\n", OTHER.split(":\n", 1)[1])
    (pair,) = pairs({"ann": ANSWER, "bob": mixed})
    assert 0.8 <= pair.share <= 1


def test_different_answers_are_no_pair():
    assert pairs({"ann": ANSWER, "eve": OTHER}) == []


def test_short_answers_are_left_out():
    short = "def f(x, w):\n    return np.maximum(0, x @ w)\n"
    assert len(tokens_of(short)) < FEWEST_TOKENS
    assert pairs({"ann": short, "bob": short}) == []


def test_what_the_sheet_gives_is_no_hint():
    assert pairs({"ann": ANSWER, "bob": COPY}, given=[ANSWER]) == []
    stub = ANSWER.split("    for row")[0]
    (pair,) = pairs({"ann": ANSWER, "bob": COPY}, given=[stub])
    assert pair.shared < pairs({"ann": ANSWER, "bob": COPY})[0].shared


@pytest.mark.parametrize("count", [2, 12, 13, 20, 300])
def test_the_same_text_is_one_group_however_many_have_it(count):
    (group,) = alike({"04.2": {f"s{n:03}": ANSWER for n in range(count)}})
    assert (group.students, group.how, group.share) == (tuple(f"s{n:03}" for n in range(count)), SAME, 1.0)
    assert len(pairs({f"s{n}": ANSWER for n in range(count)})) == count * (count - 1) // 2


def test_copies_with_other_names_are_one_group_however_many_there_are():
    copies = {f"s{n:02}": ANSWER.replace("slope", f"slope_{n}") for n in range(30)}
    (group,) = alike({"04.2": copies})
    assert (len(group.students), group.how) == (30, RENAMED)


def test_a_text_with_other_spaces_at_its_ends_is_the_same_text():
    (group,) = alike({"04.2": {"ann": ANSWER, "bob": ANSWER.replace("\n", "  \r\n") + "\n\n"}})
    assert group.how == SAME


def test_what_many_different_answers_share_is_no_hint():
    answers = {f"s{n}": ANSWER.replace("    total", f"    more = {'-' * (n + 1)}lr\n    total", 1) for n in range(40)}
    few = alike({"04.2": dict(list(answers.items())[:3])})
    assert {one.students for one in few if one.how == SIMILAR} == {("s0", "s1"), ("s0", "s2"), ("s1", "s2")}
    assert alike({"04.2": answers}) == []


def test_what_the_sheet_gives_is_no_group_either():
    short = "def f(x):\n    # your answer comes here, in 3 lines\n    raise NotImplementedError\n"
    assert alike({"04.2": {f"s{n}": ANSWER for n in range(40)}}, given=[f"import numpy\n\n{ANSWER}"]) == []
    assert alike({"04.2": {f"s{n}": short for n in range(40)}}, given=[short]) == []


SHORT = "def relu(z):\n    return np.maximum(0, z)\n"


@pytest.mark.parametrize(
    ("text", "notable"),
    [
        (SHORT, False),
        ("def relu(z):\n    result = np.maximum(0, z)\n    return result\n", False),
        ("def relu(z):\n    # it took me all night to see this\n    return np.maximum(0, z)\n", True),
        ("def relu(z):\n    pinguin = 0\n    walrus = np.maximum(pinguin, z)\n    return walrus\n", True),
        ("def relu(z):\n    return np.maximum(0, z)  # ok\n", False),
    ],
)
def test_a_short_answer_is_a_hint_only_with_something_of_ones_own(text, notable):
    found = alike({"04.2": {"ann": text, "bob": text, "eve": SHORT, "kim": "def relu(z):\n    return z * (z > 0)\n"}})
    mine = [one for one in found if one.students == ("ann", "bob")]
    assert bool(mine) == notable
    assert [one for one in found if one not in mine] == []


def test_the_same_students_are_there_once_with_all_their_questions():
    answers = {"04.2": {"a": ANSWER, "b": COPY, "c": OTHER}, "04.3": {"a": OTHER, "b": OTHER, "c": ANSWER}}
    ((who, ones),) = together(alike(answers))
    assert (who, [(one.question, one.how) for one in ones]) == (("a", "b"), [("04.2", RENAMED), ("04.3", SAME)])


def test_two_questions_are_two_hints():
    assert len(similar_pairs({"04.2": {"a": ANSWER, "b": COPY}, "04.3": {"a": OTHER, "b": OTHER}})) == 2
    assert similar_pairs({"04.2": {"a": ANSWER}, "04.3": {"b": ANSWER}}) == []


def test_names_numbers_texts_comments_and_docstrings_do_not_count_and_methods_do():
    assert tokens_of('def f(a):\n    """Doc."""\n    return a.sum() + 1  # c\n') == tokens_of(
        "def g(bee):\n        return  (\n bee.sum()+2.5e3)\n".replace("(\n bee", "bee").replace("3)", "3")
    )
    assert tokens_of("a.sum()") != tokens_of("a.max()")
    assert tokens_of("f('x')") == tokens_of('g("""y\nz""")') == ["N", "(", "S", ")"]


@pytest.mark.parametrize(
    "text", ["", "\0", "def f(:\n", "'''", "  x\n y\n", "\ud800", "é = 1", "((((" * 500, "x" * 300_000]
)
def test_no_text_is_an_error(text):
    pairs({"ann": text, "bob": text, "eve": ANSWER + text})


def test_a_shared_run_of_eleven_tokens_is_always_found():
    rng = random.Random(0)
    for _ in range(50):
        shared = [f"s{rng.random()}" for _ in range(11)]
        one, other = (
            [f"{rng.random()}" for _ in range(rng.randrange(20))] + shared + [f"{rng.random()}"] for _ in "12"
        )
        assert fingerprints(one) & fingerprints(other)


def test_one_copied_pair_is_found_among_10_000():
    rng = random.Random(1)
    lines = [
        f"    {'v' * 3} = np.{f}({a}, vvv[{b}:]) {o} vvv.{m}()\n"
        for f in ("exp", "log", "dot", "outer", "sum")
        for a in ("vvv", "1", "-vvv", "(1, vvv)")
        for b in ("", "1", "-vvv")
        for o in "+-*/"
        for m in ("max", "min")
    ]
    texts = {f"s{n}": "def f(vvv):\n" + "".join(rng.sample(lines, 8)) for n in range(10_000)}
    texts["s9999"] = ANSWER
    texts["s17"] = COPY
    assert [(pair.one, pair.other) for pair in pairs(texts)] == [("s17", "s9999")]


def test_who_shares_the_hard_questions_is_there_with_the_easy_ones_too():
    easy = {f"s{n}": OTHER for n in range(6)}
    answers = {"04.1": easy, "04.2": {"s1": ANSWER, "s2": ANSWER, "s3": "x = 1\n"}}
    found = together(alike(answers))
    assert [(who, [(one.question, len(one.students)) for one in ones]) for who, ones in found] == [
        *((("s1", "s2"), [("04.1", 6), ("04.2", 2)]), (tuple(easy), [("04.1", 6)]))
    ]


def test_10_000_with_the_same_answer_are_one_group():
    texts = {f"s{n}": ANSWER for n in range(10_000)}
    (group,) = alike({"04.2": texts})
    assert len(group.students) == 10_000
