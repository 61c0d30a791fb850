"""The experiments of lesson 06: judges never judge what they have learned from, and pushes are gradients' lengths."""

import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops
from course_lib.lesson import judged_by_others, pushes


def corners(n, seed=0):
    """n samples of three classes that are easy to tell apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return (3 * np.eye(3)[y] + 0.3 * rng.normal(size=(n, 3))).astype(np.float32), y


def judged(x, y, **more):
    options = {"parts": 4, "sizes": (3, 8, 3), "epochs": 15, "batch_size": 8, "lr": 0.1, "momentum": 0.9} | more
    return judged_by_others(x, y, rng=np.random.default_rng(1), **options)


def test_a_wrong_label_gets_the_lowest_probability_though_a_network_that_learned_it_would_not_say_so():
    x, y = corners(80)
    y[17] = (y[17] + 1) % 3
    own = judged(x, y)
    assert own.argmin() == 17
    assert own[17] < 0.1
    assert np.delete(own, 17).min() > 0.5


def test_no_judge_has_learned_from_what_it_judges(monkeypatch):
    x, y = corners(24)
    x[:, 0] += np.arange(24)  # every row is another one
    learned, train = [], nn.train
    monkeypatch.setattr(nn, "train", lambda net, data, **o: (learned.append((net, data[0])), train(net, data, **o)))
    judged_rows, forward = [], nn.Sequential.forward

    def watched(net, rows):
        judged_rows.append((net, rows))
        return forward(net, rows)

    monkeypatch.setattr(nn.Sequential, "forward", watched)
    judged(x, y, epochs=1)
    for net, rows in learned:
        assert len(rows) == 18
        asked = judged_rows[max(k for k, (other, _) in enumerate(judged_rows) if other is net)][1]
        assert len(asked) == 6
        assert not set(asked[:, 0].tolist()) & set(rows[:, 0].tolist())


def test_parts_that_do_not_divide_the_samples_are_refused():
    x, y = corners(10)
    with pytest.raises(ValueError, match="10 samples cannot be cut into 4 equal parts"):
        judged(x, y)
    with pytest.raises(ValueError, match="parts"):
        judged(x, y, parts=1)


def test_the_push_of_the_cross_entropy_is_the_length_of_k_minus_y():
    k = ops.softmax(np.array([3.0, 0, 0]))
    assert pushes([3.0])["cross-entropy"][0] == pytest.approx(np.linalg.norm(k - [0, 0, 1]), rel=1e-12)
    assert {len(lengths) for lengths in pushes(np.arange(5)).values()} == {5}
