"""The text in PyTorch that lesson 05 shows: it runs, and its weights go where the lesson's own engine takes them."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch, an optional extra (pip install .[torch]), is not here")

SCRIPT = Path(__file__).resolve().parents[2] / "notebooks" / "05_computation_graph.py"


def listing():
    """Return the text between the fences of the fold, as Python."""
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    first, last = (lines.index(fence) for fence in ("# ```python", "# ```"))
    return textwrap.dedent("\n".join(re.sub("^# ?", "", line) for line in lines[first + 1 : last]))


def by_hand(points, answers, w1, w2, lr, steps):
    for _ in range(steps):
        a = np.tanh(points @ w1)
        o = 1 / (1 + np.exp(-a @ w2))
        delta = (o - answers) * o * (1 - o)
        w1, w2 = w1 - lr * points.T @ ((delta @ w2.T) * (1 - a**2)), w2 - lr * a.T @ delta
    return w1, w2


def test_the_listing_trains_as_the_engine_does():
    rng = np.random.default_rng(0)
    given = {
        "points": rng.standard_normal((30, 3)), "answers": rng.integers(0, 2, (30, 1)).astype(float),
        "start1": rng.standard_normal((3, 5)), "start2": rng.standard_normal((5, 1)), "lr": 0.05, "steps": 40,
    }  # fmt: skip
    left = dict(given)
    exec(listing(), left)
    w1, w2 = by_hand(given["points"], given["answers"], given["start1"], given["start2"], 0.05, 40)
    np.testing.assert_allclose(left["w1"].detach().numpy(), w1, rtol=1e-9)
    np.testing.assert_allclose(left["w2"].detach().numpy(), w2, rtol=1e-9)
