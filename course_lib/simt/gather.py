"""Findings of one cause as one: which lines they lie in, in words, and several entries made one.

Source: the course's own.
"""

from dataclasses import replace


def where(finding):
    """Return where a finding lies: "line 12", or "lines 12, 14 and 15 (most in line 14: 2,048)".

    Source: the course's own.
    """
    lines, counts = (finding.details.get(name) or () for name in ("lines", "counts"))
    if len(lines) < 2:
        return f"line {finding.line}"
    most = [line for line, count in zip(lines, counts, strict=True) if count == counts[0]]
    if len(most) == len(lines):
        return lines_in_words(lines)
    each = " each" if len(most) > 1 else ""
    return f"{lines_in_words(lines)} (most in {lines_in_words(most)}: {counts[0]:,}{each})"


def lines_in_words(numbers):
    """Return "line 3", "lines 3 and 5" or "lines 3 to 6, 8 and 11" for line numbers in any order.

    Source: the course's own.
    """
    runs = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    words = []
    for first, last in runs:
        words += [f"{first} to {last}"] if last > first + 1 else map(str, sorted({first, last}))
    return f"line{'s' * (len(words) > 1 or ' ' in words[0])} {listed(words)}"


def listed(words):
    """Return "a", "a and b" or "a, b and c". Source: the course's own."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def in_lines(counts):
    """Return the details of a finding for {line: count}: `lines`, the largest count first, and their `counts`.

    Source: the course's own.
    """
    lines = sorted(counts, key=lambda line: (-counts[line], line))
    return {"lines": lines, "counts": [int(counts[line]) for line in lines]}


def gathered(found):
    """Return a list of findings with one entry for each kind, function, array and way of access.

    An entry has the words of the line that counts most; its `count` is the sum, and `details["lines"]` has all lines.

    Source: the course's own.
    """
    groups = {}
    for h in found:
        groups.setdefault((h.kind, h.function, h.array, h.details.get("way")), []).append(h)
    return [_one(group) for group in groups.values()]


def _one(group):
    if len(group) == 1:
        return group[0]
    counts = {}
    for h in group:
        for line, count in zip(h.details.get("lines", [h.line]), h.details.get("counts", [h.count]), strict=True):
            counts[line] = counts.get(line, 0) + count
    lines = in_lines(counts)
    first = next((h for h in group if h.line == lines["lines"][0]), group[0])
    return replace(first, count=sum(counts.values()), details=first.details | lines)
