"""Recompute a picture while the student moves controls; without a kernel the first picture stays."""

import traceback
from html import escape

from .picture import Picture
from .stepper import TITLE_STYLE

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Explore:
    """Controls above a picture; displays itself. `box` is the ipywidgets container, `controls` the dict of controls."""

    def __init__(self, draw, title, controls, quick):
        import ipywidgets as widgets

        self.draw, self.title, self.controls = draw, title, controls
        self.first = self._picture()
        self.view = widgets.HTML(value=self.first.html)
        heading = widgets.HTML(value=f'<p style="{TITLE_STYLE}">{escape(title)}</p>')
        self.box = widgets.VBox([heading, *controls.values(), self.view])
        self.box.add_class("course-explore")
        for control in controls.values():
            if hasattr(control, "continuous_update"):
                control.continuous_update = quick
            control.observe(self._redraw, names="value")

    @property
    def values(self):
        """What the controls say now, by name."""
        return {name: control.value for name, control in self.controls.items()}

    def _picture(self):
        result = self.draw(**self.values)
        if not isinstance(result, Picture):
            raise TypeError(f"draw returned a {type(result).__name__}; return figures.picture(..., alt=...)")
        return result

    def _redraw(self, change):
        try:
            self.view.value = self._picture().html
        except Exception as error:  # shown where the student looks; a callback's traceback would vanish in a log
            text = "".join(traceback.format_exception_only(error)).strip()
            self.view.value = f'<pre role="alert">draw failed for {escape(repr(self.values))}\n{escape(text)}</pre>'

    @property
    def html(self):
        """The static form: title, first picture, and which controls there are when the notebook runs."""
        listed = "; ".join(_describe(control) for control in self.controls.values())
        return (
            f'<div class="course-explore-static"><p style="{TITLE_STYLE}">{escape(self.title)}</p>{self.first.html}'
            f'<p style="font-size:14px">Run the notebook to change: {escape(listed)}.</p></div>'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/html": self.html, "text/plain": f"{self.title}. {self.first.caption} {self.first.alt}"}
        view = self.box._repr_mimebundle_() or {}
        if WIDGET_VIEW in view:
            bundle[WIDGET_VIEW] = view[WIDGET_VIEW]
        return bundle


def explore(draw, *, title, quick=True, labels=None, **controls):
    """Return controls above a picture that `draw` makes again whenever one of them changes.

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
        bool: checkbox; or any ipywidgets control.

    Raises
    ------
    TypeError, ValueError
        No control; a shorthand that is none of these; `draw` does not return a `Picture`.
    """
    if not controls:
        raise ValueError("explore needs one control at least, for example lr=(0.1, 2.0, 0.1)")
    labels = labels or {}
    made = {name: _control(name, labels.get(name), short) for name, short in controls.items()}
    return Explore(draw, title, made, quick)


def _control(name, label, short):
    import ipywidgets as widgets

    options = dict(description=label or name.replace("_", " "))
    if isinstance(short, bool):
        control = widgets.Checkbox(value=short, indent=False, **options)
    elif isinstance(short, tuple) and len(short) in (3, 4):
        low, high, step, *value = short
        value = value[0] if value else low + round((high - low) / 2 / step) * step
        kind = widgets.IntSlider if all(isinstance(v, int) for v in short) else widgets.FloatSlider
        control = kind(min=low, max=high, step=step, value=value, **options)
    elif isinstance(short, list) and short:
        control = widgets.Dropdown(options=short, **options)
    elif isinstance(short, widgets.ValueWidget):
        control = short
        control.description = label or control.description or options["description"]
    else:
        raise TypeError(f"control {name!r} is {short!r}; use (min, max, step[, value]), a list, a bool, or an ipywidget")
    if hasattr(control, "tooltip"):
        control.tooltip = control.tooltip or control.description
    control.style.description_width = "initial"
    return control


def _describe(control):
    if hasattr(control, "min") and hasattr(control, "max"):
        return f"{control.description} ({control.min:g} to {control.max:g})"
    if hasattr(control, "options"):
        names = [str(o[0]) if isinstance(o, tuple) else str(o) for o in control.options]
        return f"{control.description} ({', '.join(names)})"
    return f"{control.description} (on or off)"
