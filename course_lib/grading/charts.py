"""Small charts as SVG inside a page; they take the page's text colour, so they work in light and dark.

Source: the course's own.
"""

from __future__ import annotations

from html import escape

from markupsafe import Markup

from course_lib import palette


def meter(share: float, says: str, role: str = "output") -> Markup:
    """Return a bar that is full to `share` (0 to 1) and reads as `says` to who does not see it. No errors.

    Source: the course's own.
    """
    full = round(320 * min(1.0, max(0.0, share)), 1)
    return Markup(
        f'<svg role="img" aria-label="{escape(says)}" viewBox="0 0 320 10" width="320" height="10">'
        f'<rect width="320" height="10" rx="2" fill="{palette.colour("idle")}" fill-opacity="0.3"/>'
        f'<rect width="{full}" height="10" rx="2" fill="{palette.colour(role)}"/></svg>'
    )


def histogram(counts: list[int], labels: list[str], title: str, axis: str) -> Markup:
    """Return a histogram of counts with a label under each bar and the count above it. No errors.

    Source: the course's own.
    """
    width, height, left, top, bottom = 640, 220, 16, 24, 46
    most, step = max([*counts, 1]), (width - 2 * left) / max(1, len(counts))
    floor = height - bottom
    parts = []
    for at, (count, label) in enumerate(zip(counts, labels, strict=True)):
        tall = (floor - top) * count / most
        x, middle = left + at * step, left + (at + 0.5) * step
        if count:
            parts.append(
                f'<rect x="{x + 2:.1f}" y="{floor - tall:.1f}" width="{step - 4:.1f}" height="{tall:.1f}" '
                f'fill="{palette.colour("data")}" stroke="{palette.colour("thread")}"/>'
                f'<text x="{middle:.1f}" y="{floor - tall - 5:.1f}" text-anchor="middle">{count}</text>'
            )
        parts.append(f'<text x="{middle:.1f}" y="{floor + 16}" text-anchor="middle">{escape(label)}</text>')
    says = "; ".join(f"{label}: {count}" for count, label in zip(counts, labels, strict=True))
    return Markup(
        f'<svg role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{",".join(palette.FONTS)}" font-size="{palette.TEXT_PX}">'
        f"<title>{escape(title)}</title><desc>{escape(says)}</desc>{''.join(parts)}"
        f'<line x1="{left}" y1="{floor}" x2="{width - left}" y2="{floor}" stroke="{palette.colour("idle")}"/>'
        f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">{escape(axis)}</text></svg>'
    )
