"""The first page of the site: what the course is, how to start, a picture and one sentence for each lesson."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

__all__ = ["Entry", "front_door"]

_TEXT = """# From one perceptron to GPU kernels

This course starts with one artificial neuron and ends with kernels for a graphics card. Every step is a notebook that
runs on a laptop, and every formula becomes a few lines of NumPy that you can read and change.

## How to start

Read the lessons here, or run them, which is better. You need Python 3.11 or newer, `make` and the folder of the
course. There, `make lab` sets everything up and opens the lessons in JupyterLab. Without `make`, the README has the
same steps for pip and conda. Each lesson has a sheet of exercises that checks your answers as you write them.

## Lessons

````{{container}} course-lessons
{lessons}
````

```{{toctree}}
:hidden:
:caption: Lessons

{lesson_pages}
```
"""
_SHEETS = """
## More exercises

{links}
"""
_SHEET_TREE = """
```{{toctree}}
:hidden:
:caption: Exercises

{pages}
```
"""


@dataclass(frozen=True)
class Entry:
    """What the first page says of one lesson or sheet.

    Attributes
    ----------
    page : str
        The page's name in the site without an ending: ``notebooks/01_perceptron``.
    title : str
    sentence : str
        Markdown on one line; may be empty.
    sheet : str
        The page of the lesson's sheet; empty if it has none.
    stopped : bool
        The run of the lesson did not come to its end.
    picture, alt : str
        The address of a picture as the first page sees it, and what it shows; empty if there is none.
    """

    page: str
    title: str
    sentence: str = ""
    sheet: str = ""
    stopped: bool = False
    picture: str = ""
    alt: str = ""


def front_door(lessons: Iterable[Entry], sheets: Iterable[Entry]) -> str:
    """Write the first page in MyST Markdown.

    Parameters
    ----------
    lessons : iterable of Entry
    sheets : iterable of Entry
        All sheets; those that belong to no lesson get a link of their own.
    """
    lessons, sheets = list(lessons), list(sheets)
    text = _TEXT.format(lessons="\n\n".join(map(_item, lessons)), lesson_pages="\n".join(e.page for e in lessons))
    own = {entry.sheet for entry in lessons}
    alone = [f"- [{_plain(entry.title)}]({entry.page}.ipynb)" for entry in sheets if entry.page not in own]
    if alone:
        text += _SHEETS.format(links="\n".join(alone))
    if sheets:
        text += _SHEET_TREE.format(pages="\n".join(entry.page for entry in sheets))
    return text


def _item(entry: Entry) -> str:
    lines = [f"- [{_plain(entry.title)}]({entry.page}.ipynb)"]
    if entry.picture:
        # Raw, so that the browser fetches it only when it comes into view.
        img = f'<img class="course-lesson" loading="lazy" src="{entry.picture}" alt="{escape(entry.alt)}">'
        lines.append(f"  ```{{raw}} html\n  {' '.join(img.split())}\n  ```")
    if entry.stopped:
        lines.append("  **The last run of this lesson stopped before its end.**")
    if entry.sentence:
        lines.append(f"  {entry.sentence}")
    if entry.sheet:
        lines.append(f"  [Exercises]({entry.sheet}.ipynb)")
    return "\n\n".join(lines)


def _plain(title: str) -> str:
    """Write a title so that Markdown takes it as plain text."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>$&#{}" else sign for sign in title)
