"""Hints at answers that are alike: pairs of students who share what few others wrote. A hint proves nothing.

Each answer becomes a set of fingerprints (k tokens each, the smallest of each window kept); an index leads from a
fingerprint to who has it. What the sheet gives, and what many have, says nothing and is left out, which also keeps the
work far below all pairs. Source: Schleimer, Wilkerson and Aiken, Winnowing: local algorithms for document
fingerprinting, 2003.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

from course_lib.grading.tokens import tokens_of

K = 8  # tokens in a fingerprint: about one line of NumPy
WINDOW = 4  # a shared run of K + WINDOW - 1 = 11 tokens is always found
FEWEST_TOKENS = 40  # a shorter answer is the same for everybody who has it right
FEWEST_RARE = 5
MOST_SHARING = 12  # a fingerprint that more students have is how one writes it

NOTE = (
    "A hint, no proof: two students may find the same answer, work together where that is allowed, or use the same "
    "book. Read both answers before you think anything of it."
)


@dataclass(frozen=True)
class Pair:
    """Two students whose answers to a question are alike: the share of the rare fingerprints, and how many.

    `share` is shared / those of the one who has fewer, 0 to 1. Source: the course's own.
    """

    question: str
    one: str
    other: str
    share: float
    shared: int


def similar_pairs(answers: dict[str, dict[str, str]], given: Iterable[str] = (), threshold: float = 0.8) -> list[Pair]:
    """Return the pairs of students whose answers to a question are alike, the most alike first.

    Parameters
    ----------
    answers : dict
        {question: {student: source text}}.
    given : iterable of str
        The sheet's own cells, which are everybody's.
    threshold : float
        The smallest share, 0 to 1.

    Answers of fewer than `FEWEST_TOKENS` tokens or `FEWEST_RARE` rare fingerprints are left out, and so are
    fingerprints that more than `MOST_SHARING` students have: with 10,000 students that leaves few pairs. No errors.

    Source: Schleimer, Wilkerson and Aiken, 2003, and the course's own limits.
    """
    base = set().union(*(fingerprints(tokens_of(text), every=True) for text in given))
    pairs = [pair for question, texts in answers.items() for pair in _pairs(question, texts, base, threshold)]
    return sorted(pairs, key=lambda pair: (-pair.share, -pair.shared, pair.question, pair.one, pair.other))


def fingerprints(tokens: list[str], every: bool = False) -> set[int]:
    """Return the fingerprints of a row of tokens: of each window of `WINDOW` runs of `K` tokens the smallest hash.

    With `every`, the hashes of all runs: what is to be left out must be found whatever its window. No errors.

    Source: Schleimer, Wilkerson and Aiken, 2003.
    """
    hashes = [zlib.crc32(" ".join(tokens[at : at + K]).encode("utf-8", "replace")) for at in range(len(tokens) - K + 1)]
    if every:
        return set(hashes)
    return {min(hashes[at : at + WINDOW]) for at in range(max(1, len(hashes) - WINDOW + 1))} if hashes else set()


def _pairs(question: str, texts: dict[str, str], base: set[int], threshold: float) -> list[Pair]:
    prints: dict[str, set[int]] = {}
    made: dict[str, set[int]] = {}  # 10,000 students write a few hundred different texts
    for student, text in texts.items():
        if text not in made:
            tokens = tokens_of(text)
            made[text] = fingerprints(tokens) - base if len(tokens) >= FEWEST_TOKENS else set()
        if made[text]:
            prints[student] = made[text]
    owners: dict[int, list[str]] = defaultdict(list)
    for student, own in prints.items():
        for print_ in own:
            owners[print_].append(student)
    rare, shared = Counter(), Counter()
    for students in owners.values():
        if len(students) <= MOST_SHARING:
            rare.update(students)
            shared.update(combinations(students, 2))  # in the order of `texts`, so a pair has one form
    found = []
    for (one, other), count in shared.items():
        fewer = min(rare[one], rare[other])
        if fewer >= FEWEST_RARE and count >= threshold * fewer:
            found.append(Pair(question, one, other, count / fewer, count))
    return found
