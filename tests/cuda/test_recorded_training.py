"""`nn.train` with recorded steps gives the weights, the history and the errors of steps that are not recorded."""

import numpy as np
import pytest
from numba import cuda as cuda_words

from course_lib import cuda, fast, gpu, nn
from course_lib.validate import NotFiniteError
from tests.gpu.devices import DEVICE, GPU


def mlp(rng, ops=cuda, last=3):
    return nn.Sequential(nn.Dense(6, 8, rng=rng), nn.Tanh(), nn.Dense(8, last, rng=rng), ops=ops)


def cnn(rng, ops=cuda):
    table = np.array([[True, False], [True, True], [False, True]])
    return nn.Sequential(
        nn.Conv2d(1, 2, 3, rng=rng), nn.ReLU(), nn.MaxPool(2), nn.Conv2d(2, 3, 3, rng=rng, connections=table),
        nn.ScaledTanh(), nn.Subsample(3), nn.Flatten(), nn.Dense(12, 3, rng=rng),
        ops=ops,
    )  # fmt: skip


def distances(rng, ops=cuda):
    prototypes = np.where(rng.random((3, 5)) < 0.5, -1, 1)
    return nn.Sequential(nn.Dense(6, 5, rng=rng), nn.Tanh(), nn.RadialBasis(prototypes), ops=ops)


def examples(n, shape=(6,), classes=3):
    rng = np.random.default_rng(5)
    return rng.random((n, *shape), np.float32), rng.integers(0, classes, n)


def shifted(x, rng):
    return x + rng.normal(scale=0.1, size=x.shape).astype(np.float32)


def arrays(net):
    return [gpu.to_host(p).tobytes() for p in net.parameters().values()]


MAKERS = {"momentum": lambda net: nn.SGD(net, 0.9), "decay": lambda net: nn.SGD(net, weight_decay=0.1), "adam": nn.Adam,
          "adamw": lambda net: nn.Adam(net, weight_decay=0.1)}  # fmt: skip


def both(make, data, optimiser="momentum", **options):
    """Train twice; return (networks, histories, optimisers), not recorded and recorded."""
    nets, histories, optimisers = [], [], []
    for record in (False, True):
        net = make(np.random.default_rng(0))
        optimisers.append(MAKERS[optimiser](net))
        given = {"epochs": 3, "batch_size": 4, "lr": 0.1, "optimiser": optimisers[-1], "progress": False, **options}
        histories.append(nn.train(net, data, rng=np.random.default_rng(1), record=record, **given))
        nets.append(net)
    return nets, histories, optimisers


CASES = {
    "mlp": (mlp, (18, (6,)), {}),
    "one size of batch": (mlp, (8, (6,)), {}),
    "one batch": (mlp, (5, (6,)), {"batch_size": 100}),
    "adam": (mlp, (18, (6,)), {"optimiser": "adam", "lr": 0.01}),
    "adamw": (mlp, (18, (6,)), {"optimiser": "adamw", "lr": lambda step: 0.01 / (1 + step)}),
    "decay and a schedule": (mlp, (10, (6,)), {"optimiser": "decay", "lr": lambda step: 0.1 * 0.5**step}),
    "cnn": (cnn, (10, (1, 14, 14)), {"epochs": 2}),
    "augmented": (mlp, (18, (6,)), {"augment": shifted}),
    "distances": (distances, (10, (6,)), {}),
    "validation": (mlp, (18, (6,)), {"validation": 0.25, "early_stop": 1}),
}


@pytest.mark.parametrize("case", CASES)
def test_recorded_steps_give_equal_bits(case):
    make, size, options = CASES[case]
    nets, histories, optimisers = both(make, examples(*size), **options)
    assert arrays(nets[0]) == arrays(nets[1])
    assert histories[0] == histories[1]
    assert optimisers[0].steps == optimisers[1].steps > 0
    for a, b in zip(optimisers[0].state.values(), optimisers[1].state.values(), strict=True):
        assert [gpu.to_host(x).tobytes() for x in a] == [gpu.to_host(x).tobytes() for x in b]


def test_one_output_is_right_on_its_side_of_a_half():
    x, _ = examples(12)
    nets, histories, _ = both(lambda rng: mlp(rng, last=1), (x, np.zeros(12, int)), epochs=1)
    assert arrays(nets[0]) == arrays(nets[1])
    assert histories[0] == histories[1]


@pytest.mark.parametrize(("at_once", "in_order"), [(1, False), (2, False), (3, False), (64, False), (None, True)])
def test_however_many_batches_travel_together_each_step_gets_its_own(at_once, in_order):
    x, y = np.arange(46, dtype=np.float32).reshape(23, 2), np.arange(23)
    seen = gpu.to_device(np.zeros(23 + 4, np.float32))

    def step(batch, labels, turn):
        _keep[1, 32](batch, labels, turn, seen)

    steps = cuda.RecordedSteps(step, (2,), at_once, in_order)

    def fill(first, inputs, labels):
        inputs[...], labels[...] = x[first : first + len(labels)], y[first : first + len(labels)]

    for _ in range(3):
        gpu.overwrite(seen, np.full(27, -1, np.float32))
        steps.run(23, 4, fill)
        np.testing.assert_array_equal(gpu.to_host(seen)[:23], x.sum(axis=1))


@gpu.jit
def _keep(batch, labels, turn, seen):
    t = cuda_words.threadIdx.x
    if t < batch.shape[0]:
        seen[labels[t]] = batch[t, 0] + batch[t, 1]
    if t == 0:
        turn[0] += 1


def test_a_loss_without_end_stops_training_at_the_same_batch_with_the_same_weights():
    told, left = [], []
    for record in (False, True):
        net = mlp(np.random.default_rng(0))
        optimiser = nn.SGD(net)
        rates = [0.1, 0.1, 3e38, 0.1, 0.1, 0.1]
        with pytest.raises(NotFiniteError, match="the loss became") as error:
            nn.train(
                net, examples(12), epochs=2, batch_size=4, lr=lambda step, r=rates: r[step], optimiser=optimiser,
                rng=np.random.default_rng(1), progress=False, record=record,
            )  # fmt: skip
        told.append(str(error.value))
        left.append((arrays(net), optimiser.steps))
    assert told[0] == told[1]
    assert "epoch 1, batch 1, with lr=0.1" in told[0]
    assert left[0] == left[1]


def test_what_cannot_be_recorded_is_named_or_trained_as_ever():
    x, y = examples(6)
    rng = np.random.default_rng(0)
    net = nn.Sequential(nn.Dense(6, 3, rng=rng), nn.Dropout(0.5, rng=rng), ops=cuda)
    options = {"epochs": 1, "batch_size": 3, "lr": 0.1, "rng": np.random.default_rng(0), "progress": False}
    with pytest.raises(ValueError, match=r"Dropout 0\.5 may do something else at each step"):
        nn.train(net, (x, y), record=True, **options)
    with pytest.raises(ValueError, match="fast does not compute on a device"):
        nn.train(mlp(rng, fast), (x, y), record=True, **options)
    with pytest.raises(ValueError, match="quadratic_cost is brought to the host at each step"):
        nn.train(mlp(rng), (x, np.eye(3)[y].astype(np.float32)), loss="quadratic_cost", record=True, **options)
    with pytest.raises(ValueError, match='record is 3; it must be "auto", True or False'):
        nn.train(mlp(rng), (x, y), record=3, **options)
    assert nn.train(net, (x, y), **options).epochs == 1

    class Plain(nn.SGD):
        pass

    class Own(nn.Optimiser):
        def step(self, lr):
            self.steps += 1

    class Halved(nn.SGD):
        def step(self, lr):
            super().step(lr / 2)

    own = mlp(rng)
    assert nn.train(own, (x, y), optimiser=Plain(own), record=True, **options).epochs == 1
    for kind in (Own, Halved):
        with pytest.raises(ValueError, match=f"{kind.__name__} does not say its numbers ahead"):
            nn.train(own, (x, y), optimiser=kind(own), record=True, **options)


def test_an_augmentation_of_another_shape_or_dtype_is_told():
    options = {"epochs": 1, "batch_size": 3, "lr": 0.1, "rng": np.random.default_rng(0), "progress": False}
    for change, error, text in (
        (lambda x, rng: x[:, :5], ValueError, r"augment made \(3, 5\) of a batch \(3, 6\).*record=False"),
        (lambda x, rng: x.astype(np.float64), TypeError, "float64"),
    ):
        with pytest.raises(error, match=text):
            nn.train(mlp(np.random.default_rng(0)), examples(6), augment=change, record=True, **options)


def test_labels_out_of_range_are_told_before_a_weight_changes():
    net = mlp(np.random.default_rng(0))
    before = arrays(net)
    with pytest.raises(ValueError, match="labels"):
        nn.train(
            net, (examples(6)[0], np.array([0, 1, 2, 0, 1, 7])), epochs=1, batch_size=3, lr=0.1, record=True,
            rng=np.random.default_rng(0), progress=False,
        )  # fmt: skip
    assert arrays(net) == before


@pytest.mark.skipif(DEVICE != GPU, reason="only a GPU records")
def test_on_a_card_training_is_recorded_by_itself(monkeypatch):
    seen = []
    monkeypatch.setattr(gpu, "record", lambda f, record=gpu.record: seen.append(1) or record(f))
    nn.train(mlp(np.random.default_rng(0)), examples(18), epochs=2, batch_size=4, lr=0.1,
             rng=np.random.default_rng(0), progress=False)  # fmt: skip
    assert len(seen) == 2, "one recording for each size of batch"
