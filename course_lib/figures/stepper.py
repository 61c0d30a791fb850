"""Step through frames with buttons, a slider or keys; where no script runs, one frame stays and is readable."""

import hashlib
import json
from dataclasses import dataclass
from html import escape

from . import style
from .picture import Picture
from .scripts import script

MAX_HTML = 400_000
TITLE_STYLE = "font-weight:bold;font-size:14px;line-height:1.4;margin:8px 0 6px 0"


def ended(title):
    """Return a title as a sentence: with a dot, unless it ends with a mark of its own. No errors."""
    return title if title.endswith((".", "?", "!")) else f"{title}."


@dataclass(frozen=True)
class Stepper:
    """A title and frames of one size; displays itself. `static` is the frame shown where no script runs."""

    frames: tuple
    title: str
    static: int

    @property
    def html(self):
        """The whole element: static figure, frames and script. The same text for the same frames."""
        frame, title = self.frames[self.static], escape(self.title)
        data = [{"src": f.src, "alt": f.alt, "caption": f.caption} for f in self.frames]
        look = {"accent": style.COLOURS["data"], "hover": style.COLOURS["thread"], "edge": style.COLOURS["idle"]}
        return (
            f'<div class="course-stepper" data-stepper="{self.key}" role="group" aria-label="{title}">'
            f'<p style="{TITLE_STYLE}">{title}</p>{frame.figure_html(self._static_caption)}'
            f"<script>({script('stepper')})({in_script(self.key)},{in_script(data)},{in_script(look)});</script></div>"
        )

    @property
    def key(self):
        """A name made from the content: title, texts and SVG, not PNG, whose bytes depend on versions."""
        parts = [self.title]
        for f in self.frames:
            parts += [f.alt, f.caption, "" if f.src.startswith("data:image/png") else f.src]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]

    @property
    def _static_caption(self):
        return f"Step {self.static + 1} of {len(self.frames)}. {self.frames[self.static].caption}".strip()

    def _repr_mimebundle_(self, include=None, exclude=None):
        plain = f"{ended(self.title)} {self._static_caption} {self.frames[self.static].alt}"
        return {"text/html": self.html, "text/plain": plain}


def stepper(frames, *, title, static=-1):
    """Return a figure that steps through `frames`.

    Parameters
    ----------
    frames : list of Picture
        At least two, all of one width and height, so that nothing jumps. Their captions say what happens.
    title : str
        What the steps show.
    static : int
        The frame to show on paper, on GitHub and before the notebook runs; usually the last.

    Raises
    ------
    TypeError, ValueError, IndexError
        Frames that are no pictures, too few, of different sizes, over 400 KB together; no such static frame.
    """
    frames = tuple(frames)
    for i, frame in enumerate(frames):
        if not isinstance(frame, Picture):
            raise TypeError(f"frame {i} is a {type(frame).__name__}; make it with figures.picture(..., alt=...)")
    if len(frames) < 2:
        raise ValueError(f"a stepper needs two frames or more, got {len(frames)}; use figures.show for one")
    sizes = sorted({f.drawn for f in frames})
    if len(sizes) > 1:
        raise ValueError(f"frames have sizes {sizes}; give all one width and height, so that nothing jumps")
    if not -len(frames) <= static < len(frames):
        raise IndexError(f"static is {static}, there are {len(frames)} frames")
    result = Stepper(frames, str(title), static % len(frames))
    size = len(result.html.encode())
    if size > MAX_HTML:
        raise ValueError(f"the stepper takes {size:,} bytes, the limit is {MAX_HTML:,}: use fewer or smaller frames")
    return result


def in_script(value):
    """Return JSON that may stand inside `<script>`: no tag can begin or end in it."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
