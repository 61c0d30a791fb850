"""A rule on the lines of prose: where a paragraph is broken, no line may become a list or a heading."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from notebook_lib.prose import prose_cells

_MARKER = re.compile(r"^(?P<indent>\s*)(?:(?P<number>\d+)[.)]|(?P<bullet>[-+*])|(?P<hashes>#{1,6}))(?=\s|$)")
_TAG = re.compile(r"^\s*(?:</?[a-z]|<!--)")
_DISPLAYED = re.compile(r"\$\$.*?\$\$", re.DOTALL)


def no_lists_by_accident(notebook: NotebookNode) -> list[str]:
    """No line inside a paragraph begins like an item of a list ("1.", "-", "+") or like a heading ("#").

    Markdown breaks the paragraph there. A list that is meant has an empty line above it; its items stand at one
    indent, and their numbers rise by one. A heading has an empty line above it too.
    """
    return [
        f"cell {n}: a line inside a paragraph begins with {line.split()[0]!r}, which makes a list or a heading of it: "
        f"break the lines elsewhere, or leave an empty line above ('{line.strip()[:40]}')"
        for n, text in prose_cells(notebook)
        for line in _accidents(_DISPLAYED.sub(lambda formula: re.sub(r".+", "$", formula[0]), text))
    ]


def _accidents(text: str) -> list[str]:
    found, items, inside = [], {}, False  # items: {(kind, indent): last number} of the list that is open
    for line in text.splitlines():
        marker = _MARKER.match(line)
        if not line.strip() or _TAG.match(line):
            items, inside = {}, False
            continue
        if marker:
            number = int(marker["number"]) if marker["number"] else None
            kind = (marker["bullet"] or ("1" if number is not None else "#"), len(marker["indent"]))
            follows = kind in items and (number is None or number == items[kind] + 1)
            if inside and not follows:
                found.append(line)
            items[kind] = number
        inside = not (marker and marker["hashes"])
    return found
