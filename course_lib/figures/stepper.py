"""Step through frames with buttons, a slider or the keyboard; without scripts one frame stays, fully readable."""

import hashlib
import json
from dataclasses import dataclass
from html import escape
from importlib import resources

from .picture import CAPTION_STYLE, Picture

MAX_HTML = 400_000
TITLE_STYLE = "font-weight:bold;margin:8px 0 4px 0"


@dataclass(frozen=True)
class Stepper:
    """A title and frames of one size; displays itself. `static` is the frame shown where no script runs."""

    frames: tuple
    title: str
    static: int

    @property
    def html(self):
        """The whole element: static figure, frames and script. The same text for the same frames."""
        frame = self.frames[self.static]
        caption = _caption(self.static, len(self.frames), frame.caption)
        data = [{"src": f.src, "alt": f.alt, "caption": f.caption} for f in self.frames]
        return (
            f'<div class="course-stepper" data-stepper="{self.key}" role="group" aria-label="{escape(self.title)}">'
            f'<p style="{TITLE_STYLE}">{escape(self.title)}</p>'
            f'<figure class="course-figure" style="margin:8px 0">{frame.img}'
            f'<figcaption style="{CAPTION_STYLE}">{escape(caption)}</figcaption></figure>'
            f"<script>({_script()})({_json(self.key)},{_json(data)})</script></div>"
        )

    @property
    def key(self):
        """A name from the content: title, texts and SVG; not PNG bytes, which differ between matplotlib versions."""
        parts = [self.title] + [
            t for f in self.frames for t in (f.alt, f.caption, "" if f.src.startswith("data:image/png") else f.src)
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]

    def _repr_mimebundle_(self, include=None, exclude=None):
        frame = self.frames[self.static]
        plain = f"{self.title}. {_caption(self.static, len(self.frames), frame.caption)} {frame.alt}"
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
        Frames that are no pictures, too few, of different sizes, more than 400 KB in all; no such static frame.
    """
    frames = tuple(frames)
    wrong = [i for i, f in enumerate(frames) if not isinstance(f, Picture)]
    if wrong:
        raise TypeError(f"frame {wrong[0]} is a {type(frames[wrong[0]]).__name__}; make it with figures.picture(..., alt=...)")
    if len(frames) < 2:
        raise ValueError(f"a stepper needs two frames or more, got {len(frames)}; use figures.show for one")
    sizes = sorted({(f.width, f.height) for f in frames})
    if len(sizes) > 1:
        raise ValueError(f"frames have sizes {sizes}; give all frames one width and height, so that nothing jumps")
    if not -len(frames) <= static < len(frames):
        raise IndexError(f"static is {static}, there are {len(frames)} frames")
    result = Stepper(frames, str(title), static % len(frames))
    size = len(result.html.encode())
    if size > MAX_HTML:
        raise ValueError(f"the stepper takes {size:,} bytes, the limit is {MAX_HTML:,}: use fewer or smaller frames")
    return result


def _caption(index, count, text):
    return f"Step {index + 1} of {count}. {text}".strip()


def _json(value):
    """JSON that may stand inside <script>: no tag can begin or end in it."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _script():
    return resources.files(__package__).joinpath("stepper.js").read_text(encoding="utf-8").strip()
