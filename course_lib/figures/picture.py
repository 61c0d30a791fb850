"""One way to put a figure on a page: an `<img>` with alternative text, small, and the same bytes every time."""

import base64
import io
import re
import sys
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from . import style

MAX_BYTES = 100_000
MIN_ALT = 20
PNG_SCALE = 1.75  # pixels of the file for each pixel on the page: crisp on dense screens
_PALETTES = (256, 96, 32)
# Characters that may stand in a data URI inside a double-quoted attribute.
_URI_SAFE = " /:;=,'()!*@$?+[]{}|^`~"


@dataclass(frozen=True)
class Picture:
    """A finished image: `src` (data URI), `alt`, `caption`, and its size on the page in pixels."""

    src: str
    alt: str
    caption: str
    width: int
    height: int

    @property
    def html(self):
        """The `<figure>` element, readable without scripts and in a dark theme."""
        caption = f'<figcaption style="{CAPTION_STYLE}">{escape(self.caption)}</figcaption>' if self.caption else ""
        return f'<figure class="course-figure" style="margin:8px 0">{self.img}{caption}</figure>'

    @property
    def img(self):
        """The `<img>` element alone."""
        return (
            f'<img alt="{escape(self.alt)}" src="{self.src}" width="{self.width}" height="{self.height}"'
            ' style="max-width:100%;height:auto;background-color:#FFFFFF">'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html, "text/plain": self.alt}


CAPTION_STYLE = "max-width:640px;margin-top:4px;font-size:14px"


def picture(fig_or_svg, *, alt, caption=""):
    """Turn a matplotlib figure or SVG text into a `Picture`.

    Parameters
    ----------
    fig_or_svg : matplotlib.figure.Figure, str or Svg
        A figure becomes a PNG with a small palette; SVG stays SVG.
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
            f"alt is {alt!r} ({len(alt)} characters); at least {MIN_ALT} are needed. Say what the figure shows and "
            "what follows from it, for a reader who cannot see it."
        )
    if isinstance(fig_or_svg, Figure):
        src, width, height, size = _png(fig_or_svg)
        fix = "make it smaller, plot fewer points, or show fewer images"
    elif isinstance(fig_or_svg, str) or hasattr(fig_or_svg, "to_svg"):
        src, width, height, size = _svg(fig_or_svg if isinstance(fig_or_svg, str) else fig_or_svg.to_svg())
        fix = "draw fewer elements, or use a matplotlib figure"
    else:
        raise TypeError(f"expected a matplotlib Figure, SVG text or Svg, got {type(fig_or_svg).__name__}")
    if size > MAX_BYTES:
        raise ValueError(f"the picture takes {size:,} bytes, the limit is {MAX_BYTES:,}: {fix}")
    return Picture(src, alt, caption, width, height)


def show(fig_or_svg, *, alt, caption=""):
    """Display a figure, SVG text, or anything `picture` takes. End a plotting cell with it. Errors as in `picture`."""
    from IPython.display import display

    display(picture(fig_or_svg, alt=alt, caption=caption))


def _png(fig):
    from PIL import Image

    with style.context():
        fig.set_dpi(style.SCREEN_DPI * PNG_SCALE)
        canvas = FigureCanvasAgg(fig)
        canvas.draw()
        image = _flatten(canvas)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(fig)
    for colours in _PALETTES:
        out = io.BytesIO()
        image.quantize(colours, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        if out.tell() <= MAX_BYTES:
            break
    inches = fig.get_size_inches()
    width, height = (round(v * style.SCREEN_DPI) for v in inches)
    src = "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
    return src, width, height, out.tell()


def _flatten(canvas):
    """Return what the canvas drew as an RGB image on white."""
    import numpy as np
    from PIL import Image

    drawn = Image.fromarray(np.asarray(canvas.buffer_rgba()))
    paper = Image.new("RGBA", drawn.size, style.PAPER)
    return Image.alpha_composite(paper, drawn).convert("RGB")


def _svg(text):
    text = text.strip()
    head = re.match(r"<svg\b[^>]*>", text)
    sides = {k: float(v) for k, v in re.findall(r"""\s(width|height)=["']([\d.]+)(?:px)?["']""", head[0] if head else "")}
    if len(sides) != 2:
        raise ValueError("SVG text must start with <svg ... width='W' height='H'> in pixels; use figures.Svg(width, height)")
    src = "data:image/svg+xml," + quote(text, safe=_URI_SAFE)
    return src, round(sides["width"]), round(sides["height"]), len(src)


def _one_line(text):
    return " ".join(str(text).split())
