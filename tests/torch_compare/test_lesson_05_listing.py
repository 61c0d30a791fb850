"""What lesson 05 shows of PyTorch: its text trains as the own engine does, and its recorded gradients come anew."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from course_lib.lesson import recorded_gradients

torch = pytest.importorskip("torch", reason="PyTorch, an optional extra (pip install .[torch]), is not here")

SCRIPT = Path(__file__).resolve().parents[2] / "notebooks" / "05_computation_graph.py"


def listing():
    """Return the text between the fences of the fold, as Python."""
    texts = re.findall(r"^# ```python\n(.*?)^# ```$", SCRIPT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return next(t for text in texts if "optimizer" in (t := textwrap.dedent(re.sub("(?m)^# ?", "", text))))


def by_hand(points, answers, w, b, w2, b2, lr, steps):
    for _ in range(steps):
        a = np.tanh(points @ w + b)
        o = 1 / (1 + np.exp(-(a @ w2 + b2)))
        delta = (o - answers[:, None]) * o * (1 - o)
        back = (delta @ w2.T) * (1 - a**2)
        w, b = w - lr * points.T @ back, b - lr * back.sum(axis=0)
        w2, b2 = w2 - lr * a.T @ delta, b2 - lr * delta.sum(axis=0)
    return w, b, w2, b2


@pytest.mark.parametrize("kind", [bool, int, float])
def test_the_listing_trains_as_the_engine_does(kind):
    """The answers are those of `train`: one axis, and of any kind, such as the digits' True and False."""
    rng = np.random.default_rng(0)
    starts = [rng.standard_normal(shape) for shape in ((3, 5), 5, (5, 1), 1)]
    given = {
        "points": rng.standard_normal((30, 3)), "answers": rng.integers(0, 2, 30).astype(kind),
        "starts": [start.copy() for start in starts], "lr": 0.05, "steps": 40,
    }  # fmt: skip
    left = dict(given)
    exec(listing(), left)
    wanted = by_hand(given["points"], given["answers"], *starts, 0.05, 40)
    for name, value in zip(("w", "b", "w2", "b2"), wanted, strict=True):
        np.testing.assert_allclose(left[name].detach().numpy(), value, rtol=1e-9)


def test_the_recorded_gradients_are_found_anew():
    from tools.record_torch import gradients

    before = torch.get_default_dtype()
    kept = recorded_gradients().gradients
    found = gradients()
    assert found.keys() == kept.keys()
    for name, value in found.items():
        np.testing.assert_allclose(value, kept[name], rtol=1e-13, atol=1e-15)
    assert torch.get_default_dtype() == before
