"""One way to put a figure on a page: an `<img>` with alternative text, small, the same bytes every time."""

import base64
import io
import re
import sys
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from . import style

MAX_BYTES = 100_000
MIN_ALT = 20
PNG_SCALE = 1.75  # pixels of the file for each pixel on the page: crisp on dense screens
WIDE, HIGH, LARGEST = 560, 720, 1.4  # pixels: what a small picture grows to on a wide page, and how many times at most
PALETTES = (256, 96, 32)  # colours of a PNG; the next smaller one is tried when the file is too large
CAPTION_STYLE = "max-width:640px;margin-top:6px;font-size:14px;line-height:1.4"
FIGURE_STYLE = "margin:8px 0;line-height:1.4"
# Characters that stay as they are in a data URI. Quotes, spaces and brackets do not: its end must be easy to find.
URI_SAFE = "/:;=,!*@$?+~"


@dataclass(frozen=True)
class Picture:
    """A finished image: `src` (data URI), `alt`, `caption`, its size on a wide page in pixels, and as it was drawn."""

    src: str
    alt: str
    caption: str
    width: int
    height: int
    drawn: tuple[int, int]

    @property
    def html(self):
        """The `<figure>` element, readable without scripts, after JupyterLab's sanitizer and in a dark theme."""
        return self.figure_html(self.caption)

    def figure_html(self, caption):
        """The `<figure>` element with another caption."""
        below = f'<figcaption style="{CAPTION_STYLE}">{escape(caption)}</figcaption>' if caption else ""
        return (
            f'<figure class="course-figure" style="{FIGURE_STYLE}">'
            f'<img alt="{escape(self.alt)}" src="{self.src}" width="{self.width}" height="{self.height}" '
            f'style="display:block;max-width:100%;height:auto;border-radius:4px;background-color:{style.PAPER}">'
            f"{below}</figure>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.alt}

    def __repr__(self):
        return self.alt


def picture(fig_or_svg, *, alt, caption=""):
    """Turn a matplotlib figure or SVG text into a `Picture`.

    Parameters
    ----------
    fig_or_svg : matplotlib.figure.Figure, str or Svg
        A figure becomes a PNG with a small palette and is closed; SVG stays SVG.
    alt : str
        What there is to see, for those who do not see it; at least 20 characters, and it states the finding.
    caption : str
        One sentence shown below the picture.

    Raises
    ------
    ValueError
        `alt` too short; SVG without width and height; more than 100 KB.
    TypeError
        Anything but a figure or SVG.
    """
    alt, caption = _one_line(alt), _one_line(caption)
    if len(alt) < MIN_ALT:
        raise ValueError(
            f"alt is {alt!r} ({len(alt)} characters); at least {MIN_ALT} are needed. Say what the figure shows "
            "and what follows from it, for a reader who cannot see it."
        )
    if isinstance(fig_or_svg, Figure):
        src, width, height, size = _from_figure(fig_or_svg)
        fix = "make it smaller, plot fewer points, or show fewer images"
    elif isinstance(fig_or_svg, str) or hasattr(fig_or_svg, "to_svg"):
        src, width, height, size = _from_svg(fig_or_svg if isinstance(fig_or_svg, str) else fig_or_svg.to_svg())
        fix = "draw fewer elements, or use a matplotlib figure"
    else:
        raise TypeError(f"expected a matplotlib Figure, SVG text or Svg, got {type(fig_or_svg).__name__}")
    if size > MAX_BYTES:
        raise ValueError(f"the picture takes {size:,} bytes, the limit is {MAX_BYTES:,}: {fix}")
    # Drawn for a phone, where it must fit with letters that can be read; in a wide column it stands larger, and on a
    # phone `max-width` gives it the page's own width back.
    larger = max(1, min(LARGEST, WIDE / width, HIGH / height))
    return Picture(src, alt, caption, round(width * larger), round(height * larger), (round(width), round(height)))


def show(fig_or_svg, *, alt, caption=""):
    """Display a figure, SVG text or Svg as a `Picture`; end a plotting cell with it. Errors: see `picture`."""
    from IPython.display import display

    display(picture(fig_or_svg, alt=alt, caption=caption))


def _from_figure(fig):
    from PIL import Image

    with style.context():  # ticks are made while drawing and read their font size then
        fig.set_dpi(style.SCREEN_DPI * PNG_SCALE)
        canvas = FigureCanvasAgg(fig)
        canvas.draw()
    drawn = Image.fromarray(np.asarray(canvas.buffer_rgba()))
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(fig)
    image = Image.alpha_composite(Image.new("RGBA", drawn.size, style.PAPER), drawn).convert("RGB")
    for colours in PALETTES:
        file = io.BytesIO()
        image.quantize(colours, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
        if file.tell() <= MAX_BYTES:
            break
    width, height = (inches * style.SCREEN_DPI for inches in fig.get_size_inches())
    src = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    return src, width, height, file.tell()


def _from_svg(text):
    text = text.strip()
    head = re.match(r"<svg\b[^>]*>", text)
    found = re.findall(r"""\s(width|height)=["']([\d.]+)(?:px)?["']""", head[0] if head else "")
    sides = {name: float(value) for name, value in found}
    if len(sides) != 2:
        raise ValueError(
            "SVG text must start with <svg ... width='W' height='H'> in pixels; draw with figures.Svg(width, height)"
        )
    src = "data:image/svg+xml," + quote(text, safe=URI_SAFE)
    return src, sides["width"], sides["height"], len(src)


def _one_line(text):
    return " ".join(str(text).split())
