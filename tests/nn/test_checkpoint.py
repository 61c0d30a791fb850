"""Checkpoints: training that was stopped goes on to the same bits, and nothing but its own checkpoint is taken."""

import json

import numpy as np
import pytest

from course_lib import nn

GENERATORS = (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM)
X, Y = np.random.default_rng(1).random((90, 6)), np.random.default_rng(2).integers(0, 3, 90)


class Stopped(Exception):
    """What a test raises where a machine would be switched off."""


def train(path=None, *, stop=None, kind=np.random.PCG64, make=None, optimiser=nn.Adam, data=(X, Y), **options):
    """Train; with `stop`, end by an error in that epoch, before its checkpoint. Return what is comparable of it."""
    rng = np.random.Generator(kind(5))
    drop = nn.Dropout(0.4, rng=np.random.Generator(kind(6)))
    layers = nn.Dense(6, 8, rng=rng), nn.ReLU(), drop, nn.Dense(8, 3, rng=rng)
    net = nn.Sequential(*layers) if make is None else make(rng)

    def on_epoch(epoch, history):
        if epoch == stop:
            raise Stopped

    settings = {"epochs": 6, "batch_size": 16, "lr": nn.schedules.cosine(0.01, 30), "validation": 0.2, **options}
    settings |= {"optimiser": optimiser(net), "progress": False, "on_epoch": on_epoch, "checkpoint": path}
    history = nn.train(net, data, rng=rng, **settings)
    state = [a.tobytes() for arrays in settings["optimiser"].state.values() for a in arrays]
    return history, [p.tobytes() for p in net.parameters().values()], state, rng.bit_generator.random_raw(3).tolist()


def momentum(net):
    return nn.SGD(net, momentum=0.9)


def stopped_and_resumed(path, stop, **options):
    with pytest.raises(Stopped):
        train(path, stop=stop, **options)
    return train(path, resume=True, **options)


@pytest.mark.parametrize("optimiser", [nn.SGD, momentum, nn.Adam])
@pytest.mark.parametrize("stop", [1, 5])
def test_it_goes_on_to_the_same_bits(tmp_path, stop, optimiser):
    assert stopped_and_resumed(tmp_path / "c.npz", stop, optimiser=optimiser) == train(optimiser=optimiser)


@pytest.mark.parametrize("kind", GENERATORS)
def test_every_kind_of_generator_goes_on(tmp_path, kind):
    assert stopped_and_resumed(tmp_path / "c.npz", 3, kind=kind) == train(kind=kind)


def test_the_best_weights_and_an_early_stop_are_kept(tmp_path):
    options = {"epochs": 60, "early_stop": 4, "lr": 0.05}
    whole = train(**options)
    assert whole[0].stopped_early
    last = whole[0].epochs - 1
    assert whole[0].best_epoch < last
    assert stopped_and_resumed(tmp_path / "c.npz", last, **options) == whole
    again = train(tmp_path / "c.npz", resume=True, **options)  # it had ended: nothing is trained any more
    assert again[:3] == whole[:3]


def test_the_loss_scale_is_kept(tmp_path):
    def options():
        return {"precision": "fp16", "loss_scale": nn.LossScale(start=2.0**24, grow_after=7), "epochs": 5}

    whole = train(**options())
    assert whole[0].skipped > 0
    path = tmp_path / "c.npz"
    with pytest.raises(Stopped):
        train(path, stop=2, **options())
    assert train(path, resume=True, **options()) == whole


def test_without_resume_it_begins_anew_and_with_it_but_no_file_too(tmp_path):
    path = tmp_path / "c.npz"
    first = train(path, resume=True)
    assert path.is_file()
    assert train(path) == first == train()


def test_more_epochs_may_follow(tmp_path):
    train(tmp_path / "c.npz", epochs=4)
    assert train(tmp_path / "c.npz", resume=True) == train()


def test_an_interrupted_write_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    path = tmp_path / "c.npz"
    train(path, epochs=2)
    before = path.read_bytes()

    def full(file, **arrays):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        with pytest.raises(OSError, match=r"No space left.*c\.npz is as it was before"):
            train(path, resume=True)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["c.npz"]
    assert train(path, resume=True) == train()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": (X + 1e-6, Y)}, r"its x is float64 \[72, 6\] \w+, and here it is float64 \[72, 6\]"),
        ({"data": (X, 2 - Y)}, "its y is"),
        ({"batch_size": 15}, "its batch_size is 16, and here it is 15"),
        ({"optimiser": nn.SGD}, "its optimiser is Adam, and here it is SGD"),
        ({"loss": "one_minus_probability", "make": lambda rng: nn.models.mlp((6, 3), rng=rng)}, "its layers is"),
        ({"precision": "bf16"}, "its precision is float32"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(tmp_path, change, message):
    path = tmp_path / "c.npz"
    train(path, epochs=1)
    with pytest.raises(nn.CheckpointError, match=message):
        train(path, resume=True, **change)


@pytest.mark.parametrize("damage", ["cut", "text", "weights", "about", "empty"])
def test_what_is_no_checkpoint_is_refused(tmp_path, damage):
    path = tmp_path / "c.npz"
    train(path, epochs=1)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-200])
    elif damage == "text":
        path.write_text("no archive")
    elif damage == "weights":
        nn.save_weights(nn.models.mlp((6, 3), rng=np.random.default_rng(0)), path)
    elif damage == "empty":
        np.savez(path)
    else:
        arrays = dict(np.load(path))
        np.savez(path, **{**arrays, "about": np.frombuffer(json.dumps({"fits": {}}).encode(), np.uint8)})
    with pytest.raises(nn.CheckpointError, match=r"c\.npz is no checkpoint: .*without resume=True it begins anew"):
        train(path, resume=True)


def test_other_sizes_under_equal_names_are_refused(tmp_path):
    path = tmp_path / "c.npz"
    train(path, epochs=1)
    arrays = dict(np.load(path))
    np.savez(path, **{**arrays, "0.w": np.zeros((6, 9), np.float32)})
    with pytest.raises(nn.CheckpointError, match=r"0\.w is float32 \(6, 9\), and here float32 \(6, 8\)"):
        train(path, resume=True)


def test_resume_needs_a_place():
    with pytest.raises(ValueError, match="resume is True, but there is no checkpoint"):
        train(resume=True)
