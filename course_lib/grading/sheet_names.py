"""Which sheet a file is: by its name, or by the exercises that its cells speak of.

Source: the course's own.
"""

from __future__ import annotations

import re
from collections import defaultdict


class Names:
    """The sheets' names, found in files' names and cells however they are written. Source: the course's own."""

    def __init__(self, known):
        self.known = known
        self._plain = {re.sub(r"[^a-z0-9]", "", name): name for name in known}
        topics = {name.split("_", 1)[1].replace("_", ""): name for name in known if name[:1].isdigit()}
        self._in_any_order = {n: re.findall(r"[a-z]+", n) for n in known if not n[:1].isdigit()}
        self._all = sorted({**self._plain, **topics}.items(), key=lambda item: -len(item[0]))
        self.words = {word for name in known for word in re.findall(r"[a-z]{2,}", name)}  # the b of 06b is no word
        joined = (r"[\W_]*".join(re.escape(part) for part in name.split("_")) for name in known)
        self._patterns = [re.compile(rf"(?:^|[\W_]+){name}(?=$|[\W_])", re.IGNORECASE) for name in joined]
        self._numbers = {name.split("_")[0].encode(): name for name in known}

    def in_text(self, text: str) -> str:
        """Return the sheet that a file's or folder's name names, or "". No errors.

        A sheet without a number is named by its words in any order too: "convolution project" is no file of lesson 07.
        """
        plain = re.sub(r"[^a-z0-9]", "", text.lower())
        found = next((name for name, _ in self._all if name in plain), "")
        if found in self._plain:
            return self._plain[found]
        turned = (name for name, words in self._in_any_order.items() if all(word in plain for word in words))
        return next(turned, dict(self._all).get(found, ""))

    def in_cells(self, content: bytes) -> str:
        """Return the sheet whose exercises a notebook speaks of most often, or "". No errors."""
        counts = defaultdict(int)
        # Not "cited-10-2", the second time that a lesson names its tenth source.
        for number in re.findall(rb"""["'](?!cited-)(?:[a-z]+-)?(\d\d[a-z]?|project)[.\-]\d+\\?["']""", content):
            if number in self._numbers:
                counts[self._numbers[number]] += 1
        return max(counts, key=counts.get, default="")

    def without(self, stem: str) -> str:
        """Return a file's stem without the sheet's name in it: "ann_04_backpropagation" is "ann". No errors."""
        for pattern in self._patterns:
            stem, cut = pattern.subn("", stem, count=1)
            if cut:
                return stem.strip(" _-.")
        return stem
