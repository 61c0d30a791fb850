"""A notebook that shows every kind of figure and control the framework has: what the browser test drives first."""

import nbformat
from nbformat import v4

SETUP = """
import numpy as np
from course_lib import figures
from course_lib.figures import plots, style
"""

STEPPER = """
x = np.array([[1.0, 2.0], [0.5, -1.0]])
w = np.array([[0.25, -1.5, 1.0], [2.0, 0.75, -0.5]])
z = np.full((2, 3), np.nan)

def frame(done):
    part = z.copy()
    part.ravel()[:done] = (x @ w).ravel()[:done]
    i, j = divmod(done - 1, 3)
    s = figures.Svg(620, 110, title="Matrix product", desc="Cells of Z fill one after the other")
    marks = dict(row=[(i, k) for k in range(2)], column=[(k, j) for k in range(2)], cell=[(i, j)]) if done else {}
    a = s.matrix(x, 20, 20, name="X", role="data", highlight=marks.get("row", ()))
    b = s.matrix(w, a.right + 50, 20, name="W", role="weight", highlight=marks.get("column", ()))
    s.arrow(b.right + 14, b.cy, b.right + 58, b.cy)
    s.matrix(part, b.right + 72, 20, name="Z", role="output", highlight=marks.get("cell", ()))
    text = f"Cell ({i}, {j}) is row {i} of X times column {j} of W: {part[i, j]:.2f}."
    text = text if done else "Nothing is computed yet."
    return figures.picture(s, alt=f"The product of X (2, 2) and W (2, 3) with {done} of 6 cells filled", caption=text)

walk = figures.stepper([frame(done) for done in range(7)], title="A matrix product, one cell at a time")
walk
"""

EXPLORE = """
@style.styled
def plot(rate, steps, start, momentum):
    path, v = [2.0 if start == "right" else -1.5], 0.0
    for _ in range(steps):
        v = (0.5 if momentum else 0.0) * v - rate * path[-1]
        path.append(path[-1] + v)
    path = np.array(path)
    fig, ax = figures.new_figure(6.5, 3.6)
    t = np.linspace(-2.5, 2.5, 101)
    ax.plot(t, t * t / 2, color=style.colour("idle"), label="loss")
    c = style.cue("gradient")
    ax.plot(path, path * path / 2, color=c.colour, marker=c.marker, linestyle=c.linestyle, linewidth=1.2, label="steps")
    ax.set(title="Descent on a parabola", xlabel="w", ylabel="loss", xlim=(-2.6, 2.6), ylim=(-0.2, 3.4))
    ax.legend(loc="upper center")
    return fig, path

def draw(rate, steps, start, momentum):
    fig, path = plot(rate, steps, start, momentum)
    return figures.picture(fig, alt=f"Descent with rate {rate:.2f}: w goes from {path[0]:.1f} to {path[-1]:.2f}",
                           caption=f"After {steps} steps w is {path[-1]:.3f}.")

figures.explore(draw, title="How large may a step be?", rate=(0.1, 2.0, 0.1, 0.3), steps=(1, 12, 1, 6),
                start=["right", "left"], momentum=False, labels={"rate": "learning rate"})
"""

SHOW = """
rng = np.random.default_rng(0)
p = np.vstack([rng.normal((-1, 0), 0.6, (40, 2)), rng.normal((1, 1), 0.6, (40, 2))])
y = np.repeat([0, 1], 40)
figures.show(plots.decision_plane(p, y, lambda q: (q.sum(1) > 0.4).astype(int), title="Two classes and a line"),
             alt="Two clouds of 40 points, parted by a straight line with few errors",
             caption="A line parts most of them.")
losses = {"training": np.exp(-np.arange(20) / 5), "validation": 0.2 + np.exp(-np.arange(20) / 4)}
figures.show(plots.curves(losses, xlabel="epoch", ylabel="loss", title="Learning curves"),
             alt="Training and validation loss fall over 20 epochs; validation stays 0.2 higher")
titles = [f"{k} not {k + 1}" for k in range(14)]
figures.show(plots.image_grid(rng.random((14, 28, 28)), titles, cols=7, wrong=np.arange(14) % 3 == 0),
             alt="Fourteen grey noise images, five of them framed as wrong")
counts = rng.integers(0, 100, (10, 10)) + 300 * np.eye(10, dtype=int)
figures.show(plots.matrix(counts, labels=range(10), title="Confusion", xlabel="predicted", ylabel="label"),
             alt="A ten by ten confusion matrix with large numbers on the diagonal only")
"""

BROKEN = """
def fails_from_three(n):
    if n >= 3:
        raise ValueError("n may not be 3 <here>")
    return figures.picture(figures.Svg(200, 40 + n), alt=f"An empty white rectangle, variant {n}")

figures.explore(fails_from_three, title="An error stays visible", n=(1, 4, 1, 1))
"""


def demo_notebook():
    """Return the notebook, not run: the same stepper twice, an explorer with each kind of control, plain plots."""
    cells = [v4.new_markdown_cell("# Figures and widgets")]
    cells += [v4.new_code_cell(text.strip()) for text in (SETUP, STEPPER, "walk", EXPLORE, SHOW)]
    return _notebook(cells)


def broken_notebook():
    """Return a notebook whose explorer fails for large values of its control."""
    return _notebook([v4.new_code_cell(text.strip()) for text in (SETUP, BROKEN)])


def _notebook(cells):
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i}"
    nb = v4.new_notebook(cells=cells)
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.validate(nb)
    return nb
