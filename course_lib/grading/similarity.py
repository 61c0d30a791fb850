"""Hints at answers that are alike: students who wrote the same, or who share what few others wrote. It proves nothing.

Answers that are the same text, or the same but for names, numbers, comments and layout, are one group, however many
have it. Between groups fingerprints are compared: of each answer a set (k tokens each, the smallest of each window
kept); an index leads from a fingerprint to who has it. What the sheet gives, and what many different answers have, says
nothing and is left out, which also keeps the work far below all pairs. Source: Schleimer, Wilkerson and Aiken,
Winnowing: local algorithms for document fingerprinting, 2003.
"""

from __future__ import annotations

import io
import re
import tokenize
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
MOST_SHARING = 12  # a fingerprint that more different answers have is how one writes it
MOST_NESTED = 1000  # groups; with more of them no smaller one is looked for in the larger
FEWEST_ODD_NAMES = 2  # names of one's own that make a short answer somebody's
SHORT_COMMENT = 12  # letters; a longer comment is nobody's by chance

NOTE = (
    "A hint, no proof: two students may find the same answer, work together where that is allowed, or use the same "
    "book. Read both answers before you think anything of it."
)
SAME, RENAMED, SIMILAR = "the same text", "the same but for names, numbers and comments", "similar"

_USUAL = {
    *("out", "res", "result", "results", "ret", "total", "value", "values", "val", "tmp", "temp", "index", "idx"),
    *("count", "row", "rows", "col", "cols", "loss", "grad", "grads", "output", "outputs", "inputs", "pred", "preds"),
    *("error", "diff", "delta", "mean", "std", "acc", "answer", "self", "item", "items", "dx", "dw", "db", "dz", "dy"),
}
"""Names that anybody gives; so are those of one letter."""

_GIVES = re.compile(r"\b([^\W\d]\w*)\s*(?:[-+*/@]?=(?!=)|:=)|\b(?:for|as|def)\s+([^\W\d]\w*)")


@dataclass(frozen=True)
class Alike:
    """Students whose answers to a question are alike.

    `share` is shared / the rare fingerprints of the one who has fewer, 0 to 1, `shared` how many; `how` is `SAME`,
    `RENAMED` or `SIMILAR`. Source: the course's own.
    """

    question: str
    students: tuple[str, ...]
    share: float
    shared: int
    how: str


@dataclass(frozen=True)
class Pair:
    """Two students whose answers to a question are alike, as in `Alike`. Source: the course's own."""

    question: str
    one: str
    other: str
    share: float
    shared: int


def similar_pairs(answers: dict[str, dict[str, str]], given: Iterable[str] = (), threshold: float = 0.8) -> list[Pair]:
    """Return every pair of students of `alike`, the most alike first; a group of n has n (n - 1) / 2. No errors.

    Source: Schleimer, Wilkerson and Aiken, 2003, and the course's own limits.
    """
    found: dict[tuple[str, str, str], Pair] = {}
    for group in alike(answers, given, threshold):
        for one, other in combinations(group.students, 2):
            found.setdefault((group.question, one, other), Pair(group.question, one, other, group.share, group.shared))
    return sorted(found.values(), key=lambda pair: (-pair.share, -pair.shared, pair.question, pair.one, pair.other))


def alike(answers: dict[str, dict[str, str]], given: Iterable[str] = (), threshold: float = 0.8) -> list[Alike]:
    """Return the groups of students whose answers to a question are alike, the most alike first.

    Parameters
    ----------
    answers : dict
        {question: {student: source text}}.
    given : iterable of str
        The sheet's own cells, which are everybody's.
    threshold : float
        The smallest share of answers that are similar, 0 to 1.

    An answer of fewer than `FEWEST_TOKENS` tokens is alike only where it is the same text and has a comment or names
    of its own, as three lines are soon the same. Fingerprints that more than `MOST_SHARING` different answers have
    are left out. No errors.

    Source: Schleimer, Wilkerson and Aiken, 2003, and the course's own limits.
    """
    given = list(given)
    base = set().union(*(fingerprints(tokens_of(text), every=True) for text in given))
    found = [one for question, texts in answers.items() for one in _groups(question, texts, base, given, threshold)]
    return sorted(found, key=lambda one: (-one.share, -one.shared, one.question, one.students))


def together(found: Iterable[Alike]) -> list[tuple[tuple[str, ...], list[Alike]]]:
    """Return (students, what is alike between them) once for the same students: most questions first.

    What a larger group has as the same text belongs to each smaller one in it too: who copied a whole sheet shares the
    hard questions with few and the easy ones with many. No errors. Source: the course's own.
    """
    found = list(found)
    by_students: dict[tuple[str, ...], list[Alike]] = defaultdict(list)
    for one in sorted(found, key=lambda one: one.question):
        by_students[one.students].append(one)
    if len(by_students) <= MOST_NESTED:
        wide = [(set(one.students), one) for one in found if one.how != SIMILAR and len(one.students) > 2]
        for students, ones in by_students.items():
            own, theirs = {one.question for one in ones}, set(students)
            ones += [one for members, one in wide if theirs < members and one.question not in own]
            ones[:] = {one.question: one for one in reversed(ones)}.values()
            ones.sort(key=lambda one: one.question)
    return sorted(by_students.items(), key=lambda item: (-len(item[1]), -max(one.share for one in item[1]), item[0]))


def fingerprints(tokens: list[str], every: bool = False) -> set[int]:
    """Return the fingerprints of a row of tokens: of each window of `WINDOW` runs of `K` tokens the smallest hash.

    With `every`, the hashes of all runs: what is to be left out must be found whatever its window. No errors.

    Source: Schleimer, Wilkerson and Aiken, 2003.
    """
    hashes = [zlib.crc32(" ".join(tokens[at : at + K]).encode("utf-8", "replace")) for at in range(len(tokens) - K + 1)]
    if every:
        return set(hashes)
    return {min(hashes[at : at + WINDOW]) for at in range(max(1, len(hashes) - WINDOW + 1))} if hashes else set()


def _groups(question: str, texts: dict[str, str], base: set[int], given: list[str], threshold: float) -> list[Alike]:
    place = {student: at for at, student in enumerate(texts)}
    by_text: dict[str, list[str]] = defaultdict(list)  # 10,000 students write a few hundred different texts
    for student, text in texts.items():
        by_text[_trimmed(text)].append(student)
    written: dict[tuple[str, ...], list[str]] = defaultdict(list)  # tokens -> texts
    short: list[str] = []
    for text in by_text:
        tokens = tokens_of(text)
        if len(tokens) >= FEWEST_TOKENS:
            written[tuple(tokens)].append(text)
        elif len(by_text[text]) > 1:
            short.append(text)
    found, prints = [], {}
    for tokens, ones in written.items():
        own = fingerprints(list(tokens)) - base
        if len(own) < FEWEST_RARE:
            continue
        prints[tokens] = own
        found += [Alike(question, tuple(by_text[text]), 1.0, len(own), SAME) for text in ones if len(by_text[text]) > 1]
        if len(ones) > 1:
            found.append(Alike(question, _students(ones, by_text, place), 1.0, len(own), RENAMED))
    for text in short:
        if odd := _odd(text, by_text, given):
            found.append(Alike(question, tuple(by_text[text]), 1.0, odd, SAME))
    for one, other, fewer, count in _near(prints):
        if fewer >= FEWEST_RARE and count >= threshold * fewer:
            students = _students([*written[one], *written[other]], by_text, place)
            found.append(Alike(question, students, count / fewer, count, SIMILAR))
    return found


def _near(prints: dict[tuple, set[int]]):
    """Yield (one, other, the fewer of their rare fingerprints, how many they share) for answers that share any."""
    names = list(prints)
    owners: dict[int, list[int]] = defaultdict(list)
    for at, own in enumerate(prints.values()):
        for print_ in own:
            owners[print_].append(at)
    rare, shared = Counter(), Counter()
    for ones in owners.values():
        if len(ones) <= MOST_SHARING:
            rare.update(ones)
            shared.update(combinations(ones, 2))
    for (one, other), count in shared.items():
        yield names[one], names[other], min(rare[one], rare[other]), count


def _students(ones: list[str], by_text: dict[str, list[str]], place: dict[str, int]) -> tuple[str, ...]:
    return tuple(sorted({student for text in ones for student in by_text[text]}, key=place.__getitem__))


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).strip("\n")


def _odd(text: str, by_text: dict[str, list[str]], given: list[str]) -> int:
    """Return how much of a short answer is somebody's own: its comments, and names that no other answer has."""
    if any(text.strip() in _trimmed(cell) for cell in given):
        return 0
    sheet = "\n".join(given)
    comments = [one for one in _comments(text) if len(one) >= SHORT_COMMENT and one not in sheet]
    names = _own_names(text) - _USUAL - set(re.findall(r"\w+", sheet))
    for other in by_text:
        if names and other != text:
            names -= set(re.findall(r"\w+", other))
    return len(comments) + (len(names) if len(names) >= FEWEST_ODD_NAMES else 0)


def _comments(text: str) -> list[str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return re.findall(r"#\s*(.+)", text)
    return [token.string.lstrip("#! ").strip() for token in tokens if token.type == tokenize.COMMENT]


def _own_names(text: str) -> set[str]:
    """Return the names that a text gives a meaning: x = ..., for x in, def x, as x."""
    return {name for found in _GIVES.findall(text) if len(name := found[0] or found[1]) > 1}
