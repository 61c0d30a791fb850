"""Weights survive a round trip and never run code; metrics agree with counting by hand."""

import os
import pickle

import numpy as np
import pytest

from course_lib import nn


def net(sizes=(3, 4, 2), seed=0, **options):
    return nn.models.mlp(sizes, rng=np.random.default_rng(seed), **options)


def test_a_round_trip_is_exact(tmp_path):
    a, b = net(), net(seed=1)
    nn.save_weights(a, tmp_path / "w.npz")
    nn.load_weights(b, tmp_path / "w.npz")
    for name, p in a.parameters().items():
        np.testing.assert_array_equal(b.parameters()[name], p)
    assert [f.name for f in tmp_path.iterdir()] == ["w.npz"]


class Evil:
    def __reduce__(self):
        return os.system, ("echo pwned > evil.txt",)


@pytest.mark.parametrize("kind", ["pickle", "object array", "object in npz", "text", "cut off", "empty", "one array"])
def test_a_file_that_is_not_weights_is_refused_and_runs_nothing(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    path, target = tmp_path / "w.npz", net()
    before = {k: p.copy() for k, p in target.parameters().items()}
    evil = np.array([Evil()], dtype=object)
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Evil()))
    elif kind == "object array":
        with path.open("wb") as f:
            np.save(f, evil, allow_pickle=True)
    elif kind == "object in npz":
        np.savez(path, **{**target.parameters(), "0.w": evil})
    elif kind == "text":
        path.write_text("not weights")
    elif kind == "cut off":
        nn.save_weights(target, path)
        path.write_bytes(path.read_bytes()[:200])
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        with path.open("wb") as f:
            np.save(f, np.ones(3))
    with pytest.raises(nn.WeightsError, match=r"is not a weights file.*pickled objects are refused"):
        nn.load_weights(target, path)
    assert not (tmp_path / "evil.txt").exists()
    for name, p in target.parameters().items():
        np.testing.assert_array_equal(p, before[name])


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        (net((3, 4)), r"lacks \['2.b', '2.w'\] and has nothing"),
        (net((3, 4, 2, 2)), r"lacks nothing and has \['4.b', '4.w'\]"),
        (net((3, 5, 2)), r"0.w is \(3, 5\), the network's is \(3, 4\)"),
        (net(dtype=np.float64), "0.w is float64, the network's is float32"),
    ],
)
def test_a_file_that_does_not_fit_names_the_reason_and_changes_nothing(tmp_path, saved, message):
    nn.save_weights(saved, tmp_path / "w.npz")
    target = net()
    before = {k: p.copy() for k, p in target.parameters().items()}
    with pytest.raises(nn.WeightsError, match=message):
        nn.load_weights(target, tmp_path / "w.npz")
    for name, p in target.parameters().items():
        np.testing.assert_array_equal(p, before[name])


def test_diverged_weights_are_refused(tmp_path):
    broken = net()
    broken.parameters()["2.b"][0] = np.nan
    nn.save_weights(broken, tmp_path / "w.npz")
    with pytest.raises(nn.WeightsError, match=r"2.b holds NaN or infinity"):
        nn.load_weights(net(), tmp_path / "w.npz")


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no weights file"):
        nn.load_weights(net(), tmp_path / "none.npz")
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        nn.save_weights(net(), tmp_path / "none" / "w.npz")


def test_an_interrupted_save_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "w.npz"
    nn.save_weights(net(), path)
    kept = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        nn.save_weights(net(seed=1), path)
    assert path.read_bytes() == kept
    assert len(list(tmp_path.iterdir())) == 1


def test_metrics_by_hand():
    predicted, labels = np.array([0, 2, 1, 1]), np.array([0, 2, 2, 1])
    assert nn.accuracy(predicted, labels) == 0.75
    np.testing.assert_array_equal(nn.confusion_matrix(predicted, labels, 3), [[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    with pytest.raises(ValueError, match="no samples"):
        nn.accuracy(np.array([], int), np.array([], int))
    with pytest.raises(ValueError, match=r"labels has shape \(3,\)"):
        nn.accuracy(predicted, labels[:3])
    with pytest.raises(ValueError, match=r"predicted\[1\] is 2; with 2 classes"):
        nn.confusion_matrix(predicted, labels, 2)


def test_the_nearest_other_row_answers_for_each():
    line = np.array([[0.0], [1.0], [3.0], [3.5], [9.0]])
    assert nn.neighbour_accuracy(line, [0, 0, 1, 1, 0]) == 0.8  # 9.0 is next to 3.5
    assert nn.neighbour_accuracy(line + 1e7, [0, 0, 1, 1, 0]) == 0.8
    images = np.random.default_rng(0).random((30, 2, 3, 4))
    apart = [np.argsort(((images - one) ** 2).sum(axis=(1, 2, 3)))[1] for one in images]
    labels = np.arange(30) % 3
    assert nn.neighbour_accuracy(images, labels) == nn.accuracy(labels[apart], labels)
    with pytest.raises(ValueError, match="features"):
        nn.neighbour_accuracy(line[:1], [0])
    with pytest.raises(ValueError, match="NaN"):
        nn.neighbour_accuracy([[0.0], [np.nan]], [0, 1])


def test_worst_mistakes_come_first():
    n = nn.Sequential(nn.Dense(2, 2, rng=np.random.default_rng(0)))
    n[0].params["w"][...] = np.eye(2)
    x = np.array([[1, 0], [5, 0], [0, 3], [2, 0]], np.float32)
    labels = np.array([1, 1, 1, 0])  # rows 0 and 1 are wrong, row 1 with more confidence
    worst = nn.worst_mistakes(n, x, labels, k=5)
    np.testing.assert_array_equal(worst.index, [1, 0])
    np.testing.assert_array_equal(worst.predicted, [0, 0])
    np.testing.assert_array_equal(worst.label, [1, 1])
    assert worst.confidence[0] > worst.confidence[1] > 0.5
    assert len(nn.worst_mistakes(n, x, labels, k=1).index) == 1


def test_of_distances_the_nearest_is_the_answer():
    n = nn.Sequential(nn.RadialBasis(np.eye(3) * 4 - 1))
    assert len(nn.worst_mistakes(n, np.eye(3) * 4 - 1, np.arange(3)).index) == 0
