"""Make a picture again while the student moves controls; where no kernel runs, the first picture stays."""

import math
import traceback
from decimal import Decimal
from html import escape

from .picture import Picture
from .scripts import script
from .stepper import TITLE_STYLE, ended

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDTH = "min(460px, 100%)"
LAYOUT = ".course-explore .widget-label{text-align:left}.course-explore .widget-html{margin:0 2px}"


class Explore:
    """Controls above a picture; displays itself. Made by `explore`.

    `controls` maps names to ipywidgets controls, `view` holds the picture's HTML, `box` contains all of them.
    """

    def __init__(self, draw, title, controls):
        import ipywidgets as widgets

        self.draw, self.title, self.controls = draw, title, controls
        self.first = self._picture()
        self.view = widgets.HTML(value=self.first.html)
        heading = widgets.HTML(value=_heading(title))
        self.box = widgets.VBox([heading, *controls.values(), self.view])
        self.box.add_class("course-explore")
        for control in controls.values():
            control.observe(self._redraw, names="value")

    @property
    def values(self):
        """What the controls say now, by name."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def html(self):
        """The static form: title, first picture, and which controls there are once the notebook runs."""
        listed = "; ".join(_describe(control) for control in self.controls.values())
        return (
            f'<div class="course-explore-static"><p style="{TITLE_STYLE}">{escape(self.title)}</p>'
            f"{self.first.html}"
            f'<p style="font-size:14px">Run this cell to change: {escape(listed)}.</p></div>'
        )

    def _picture(self):
        result = self.draw(**self.values)
        if not isinstance(result, Picture):
            raise TypeError(f"draw returned a {type(result).__name__}; return figures.picture(..., alt=...)")
        return result

    def _redraw(self, change):
        try:
            self.view.value = self._picture().html
        except Exception as error:  # shown where the student looks; otherwise it would vanish in a log
            text = "".join(traceback.format_exception_only(error)).strip()
            values = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
            self.view.value = f'<pre role="alert">draw({escape(values)}) failed:\n{escape(text)}</pre>'

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {
            "text/html": self.html,
            "text/plain": " ".join(
                [
                    ended(self.title),
                    self.first.caption,
                    self.first.alt,
                ]
            ),
        }
        view = self.box._repr_mimebundle_() or {}
        return bundle | {key: view[key] for key in [WIDGET_VIEW] if key in view}


def explore(draw, *, title, quick=True, labels=None, **controls):
    """Return controls above a picture that `draw` makes again whenever one of them changes.

    An exception in a later `draw` is shown in place of the picture; in the first one it is raised.

    Parameters
    ----------
    draw : callable
        `draw(**values) -> Picture`, with the names of the controls as keywords.
    title : str
        What there is to find out.
    quick : bool
        True: redraw while a slider is dragged; False: when it is let go (for draws over about 0.2 s).
    labels : dict
        name -> text beside the control; by default the name with spaces.
    **controls
        (min, max, step) or (min, max, step, value): slider; list: dropdown (values, or (label, value) pairs);
        bool: checkbox; or any ipywidgets control with a value.

    Raises
    ------
    TypeError, ValueError
        No control; a shorthand that is none of these; a label without a control; no `Picture` from `draw`.
    """
    if not controls:
        raise ValueError("explore needs one control at least, for example lr=(0.1, 2.0, 0.1)")
    labels = labels or {}
    if unknown := sorted(set(labels) - set(controls)):
        raise ValueError(f"labels names {unknown}, the controls are {sorted(controls)}")
    made = {name: _control(name, labels.get(name), given) for name, given in controls.items()}
    longest = max(len(control.description) for control in made.values())
    for control in made.values():
        control.style.description_width = f"{longest + 1}ch"
        control.layout.width = control.layout.width or WIDTH
        control.tooltip = control.tooltip or _describe(control)
        if hasattr(control, "continuous_update"):
            control.continuous_update = quick
    return Explore(draw, str(title), made)


def _control(name, label, given):
    import ipywidgets as widgets

    description = label or name.replace("_", " ")
    if isinstance(given, bool):
        return widgets.Checkbox(value=given, description=description)
    if isinstance(given, tuple) and len(given) in (3, 4) and all(_is_number(v) for v in given):
        return _slider(description, *given)
    if isinstance(given, list) and given:
        return widgets.Dropdown(options=given, description=description)
    if isinstance(given, widgets.ValueWidget):
        given.description = label or given.description or description
        return given
    raise TypeError(
        f"control {name!r} is {given!r}; use (min, max, step[, value]), a list, a bool, or an ipywidgets control"
    )


def _slider(description, low, high, step, value=None):
    import ipywidgets as widgets

    if not (low < high and 0 < step <= high - low) or (value is not None and not low <= value <= high):
        raise ValueError(
            f"slider {description!r} has min {low}, max {high}, step {step}, value {value}; "
            "min < max, 0 < step <= max - min and min <= value <= max must hold"
        )
    whole = all(isinstance(v, int) for v in (low, high, step, value) if v is not None)
    if value is None:  # the step next to the middle; 0.3 / 0.1 is a hair below 3
        value = low + math.floor((high - low) / 2 / step * (1 + 1e-9)) * step
    options = dict(min=low, max=high, step=step, description=description)
    if whole:
        return widgets.IntSlider(value=int(value), **options)
    value = float(f"{value:.12g}")  # the sum of low and steps without its rounding, at any size
    decimals = max(_decimals(v) for v in (low, step, value))
    return widgets.FloatSlider(value=value, readout_format=f".{decimals}f", **options)


def _decimals(value):
    """How many digits after the point a number is written with."""
    return max(0, -Decimal(repr(float(value))).normalize().as_tuple().exponent)


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _heading(title):
    # A script element in a widget's HTML does not run; a style element tells when it is on the page, and it has work
    # to do here anyway.
    on_page = escape(f"({script('explore')})(this)")
    return f'<style onload="{on_page}">{LAYOUT}</style><p style="{TITLE_STYLE}">{escape(title)}</p>'


def _describe(control):
    """What a control offers, in words: for the tooltip and for readers without a kernel."""
    if hasattr(control, "options"):
        names = [str(o[0] if isinstance(o, tuple) else o) for o in control.options]
        offer = ", ".join(names) if len(names) <= 8 else f"{names[0]} to {names[-1]}"
    elif hasattr(control, "base"):  # a logarithmic slider holds exponents
        offer = f"{control.base**control.min:g} to {control.base**control.max:g}"
    elif hasattr(control, "min") and hasattr(control, "max"):
        offer = f"{control.min:g} to {control.max:g}"
    else:
        offer = "on or off" if isinstance(control.value, bool) else ""
    return f"{control.description} ({offer})" if offer else control.description
