"""The last cell of a lesson: its sheet of exercises, the lesson before it and the one after it."""

from __future__ import annotations

import re
from pathlib import Path

_TITLE = re.compile(r"^# # (.+)$", re.MULTILINE)


def onward(script: Path, lessons: list[Path]) -> str:
    """The links of a lesson as the prose of a cell; "" where there is nothing to link to.

    Parameters
    ----------
    script : Path
        ``notebooks/NN_topic.py``. A sheet of the same number is looked for in ``solutions/`` beside its folder.
    lessons : list of Path
        The scripts of all lessons, in order.
    """
    sheets = sorted((script.parent.parent / "solutions").glob(f"{script.stem.partition('_')[0]}_*.py"))
    links = [f"[Exercises for this lesson](../exercises/{sheet.stem}.ipynb)" for sheet in sheets[:1]]
    place = lessons.index(script)
    for word, neighbour in (("Previous", lessons[:place][-1:]), ("Next", lessons[place + 1 : place + 2])):
        links += [f"{word}: [{title_of(path)}]({path.stem}.ipynb)" for path in neighbour]
    return "\n".join(f"- {link}" for link in links)


def title_of(script: Path) -> str:
    """The title of a lesson, read from its script; its name if it has none yet."""
    match = _TITLE.search(script.read_text(encoding="utf-8"))
    return match[1].strip().replace("[", "(").replace("]", ")") if match else script.stem
