"""Training shared among ranks is training by one: the same gradients, weights, losses and samples."""

import threading

import numpy as np
import pytest

from course_lib import fast, nn, parallel, reference
from course_lib.parallel.buckets import Exchange, buckets_of
from course_lib.parallel.errors import RankError
from course_lib.parallel.parts import part

OPTIMISERS = {
    "sgd": lambda net: nn.SGD(net),
    "momentum": lambda net: nn.SGD(net, momentum=0.9, weight_decay=0.01),
    "adam": lambda net: nn.Adam(net, weight_decay=0.01),
}
SAME = {"rtol": 1e-11, "atol": 1e-13}
"""Float64 rounds by 1.1e-16. A gradient's entry is a sum of at most 25 products, in another order with other ranks: off
by 25 * 1.1e-16 = 3e-15 of its largest terms. 28 steps with small rates add such errors and hardly amplify them: 1e-13.
A hundred times that is allowed; a row that is left out or counted twice would be seen in the second digit."""


def rng(seed=0):
    return np.random.default_rng(seed)


X, Y = rng(1).standard_normal((203, 20)), rng(2).integers(0, 5, 203)


def network(ops=fast, dtype=np.float64, dropout=0.3, seed=3):
    r = rng(seed)
    return nn.Sequential(
        nn.Dense(20, 16, rng=r, dtype=dtype), nn.Tanh(), nn.Dropout(dropout, rng=rng(9)),
        nn.Dense(16, 12, rng=r, dtype=dtype), nn.ReLU(), nn.Dense(12, 5, rng=r, dtype=dtype),
        ops=ops,
    )  # fmt: skip


def trained(world=None, make=network, optimiser="sgd", data=(X, Y), **options):
    net = make()
    settings = {"epochs": 4, "batch_size": 25, "lr": 0.01, "validation": 0.2, "progress": False, **options}
    settings.setdefault("optimiser", OPTIMISERS[optimiser](net))
    history = nn.train(net, data, rng=rng(4), world=world, **settings)
    return history, {name: np.array(p) for name, p in net.parameters().items()}


def require_same(together, alone):
    history, weights = together
    for name in weights:
        np.testing.assert_allclose(weights[name], alone[1][name], **SAME, err_msg=name)
    for name in ("loss", "val_loss"):
        np.testing.assert_allclose(getattr(history, name), getattr(alone[0], name), **SAME, err_msg=name)
    assert (history.accuracy, history.val_accuracy) == (alone[0].accuracy, alone[0].val_accuracy)
    assert (history.best_epoch, history.stopped_early) == (alone[0].best_epoch, alone[0].stopped_early)


def bits(result):
    history, weights = result
    return repr(vars(history)), [w.tobytes() for w in weights.values()]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_weights_and_histories_are_those_of_one_rank_and_equal_on_all(optimiser, size):
    """162 rows in batches of 25: three ranks and four have unequal parts, and the last batch has 12 rows."""
    alone = trained(optimiser=optimiser)
    results = parallel.run(lambda world: trained(world, optimiser=optimiser), size)
    require_same(results[0], alone)
    assert all(bits(result) == bits(results[0]) for result in results)
    if size == 1:
        assert bits(results[0]) == bits(alone)


@pytest.mark.parametrize("size", [2, 4])
def test_every_run_gives_the_same_bits(size):
    first, again = (parallel.run(lambda world: trained(world, optimiser="adam"), size)[0] for _ in "12")
    assert bits(first) == bits(again)


@pytest.mark.parametrize("ops", [reference, fast])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_gradients_of_whole_numbers_are_exactly_those_of_one_rank(ops, size):
    """Small whole numbers, a loss that is a sum, rates of powers of two: nothing is rounded, in any order."""
    x, y = rng(5).integers(-3, 4, (21, 4)).astype(float), rng(6).integers(-3, 4, (21, 2)).astype(float)

    def work(world):
        net = nn.Sequential(nn.Dense(4, 2, rng=rng(), dtype=np.float64), ops=ops)
        net[0].params["w"][...] = [[1, -1], [0, 2], [1, 0], [-2, 1]]
        settings = {"epochs": 1, "batch_size": 8, "lr": 2**-6, "loss": "half_squared_sum", "progress": False}
        history = nn.train(net, (x, y), rng=rng(7), world=world, **settings)
        return history.loss, [p.tobytes() for p in net.parameters().values()]

    alone = work(None)
    assert parallel.run(work, size) == [alone] * size


@pytest.mark.parametrize("size", [3, 6])
def test_a_batch_smaller_than_the_ranks(size):
    """The last batch has two rows, and so have one rank or four nothing to do."""
    data = X[:27], Y[:27]
    alone = trained(data=data, validation=None)
    require_same(parallel.run(lambda world: trained(world, data=data, validation=None), size)[0], alone)


def test_fewer_validation_rows_than_ranks():
    validation = X[:2], Y[:2]
    alone = trained(validation=validation)
    require_same(parallel.run(lambda world: trained(world, validation=validation), 4)[0], alone)


@pytest.mark.parametrize("ops", [reference, fast])
def test_images_augmented_by_chance(ops):
    x, y = rng(1).random((37, 1, 8, 8)), rng(2).integers(0, 3, 37)

    def make():
        r = rng(1)
        layers = nn.Conv2d(1, 4, 3, rng=r, dtype=np.float64), nn.ReLU(), nn.MaxPool(2), nn.Dropout(0.2, rng=rng(8))
        return nn.Sequential(*layers, nn.Flatten(), nn.Dense(36, 3, rng=r, dtype=np.float64), ops=ops)

    options = {"make": make, "data": (x, y), "augment": nn.random_shifts(2), "batch_size": 8, "epochs": 3}
    require_same(parallel.run(lambda world: trained(world, **options), 3)[0], trained(**options))


def test_early_stopping_stops_all_at_once_and_gives_back_the_best_weights():
    noise = rng(9).integers(0, 5, 203)
    options = {"data": (X, noise), "epochs": 60, "lr": 0.3, "validation": (X[:40], Y[:40]), "early_stop": 3}
    alone = trained(**options)
    assert alone[0].stopped_early
    require_same(parallel.run(lambda world: trained(world, **options), 2)[0], alone)


def test_one_rank_that_asks_to_stop_stops_all():
    def work(world):
        asks = (lambda epoch, history: epoch == 1) if world.rank == 2 else None
        return trained(world, on_epoch=asks)[0]

    histories = parallel.run(work, 3)
    assert {(h.epochs, h.stopped_early) for h in histories} == {(2, True)}


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_mixed_precision_skips_the_same_steps(precision):
    """A scale that is too large: all ranks see the overflow that one of them has, and leave the step out."""
    options = {
        "make": lambda: network(dtype=np.float32), "data": (X.astype(np.float32), Y), "precision": precision,
        "loss_scale": nn.LossScale(start=2.0**24) if precision == "fp16" else None,
    }  # fmt: skip

    def work(world=None):
        if precision == "fp16":
            options["loss_scale"] = nn.LossScale(start=2.0**24)
        return trained(world, **dict(options))[0]

    alone, histories = work(), []
    for world_size in (1, 2):
        histories.append(parallel.run(lambda world: work(world), world_size)[0])
    for history in histories:
        assert (history.skipped, history.loss_scale) == (alone.skipped, alone.loss_scale)
        # Activations of 8 or 11 bits: where a sum lands on the other side of a rounding, a loss moves by 2^-8 of it.
        np.testing.assert_allclose(history.loss, alone.loss, rtol=2.0**-8)


def test_a_part_of_a_batch_is_dropped_as_in_the_whole():
    x = rng(1).random((10, 6))
    layer = nn.Dropout(0.5, rng=rng(2))
    net = nn.Sequential(layer)
    with net.training():
        whole = net.forward(x)
    parts = []
    for rank in range(3):
        layer.rng = rng(2)
        rows = part(10, rank, 3, "softmax_cross_entropy").rows
        with net.training(rows.start):
            parts.append(net.forward(x[rows]))
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert layer.first_row == 0
    assert (whole == 0).any()


@pytest.mark.parametrize("loss", ["softmax_cross_entropy", "half_squared_sum"])
def test_the_weights_of_the_parts_add_up_to_the_whole(loss):
    for count in (1, 2, 3, 25, 100):
        for size in (1, 2, 3, 4, 7):
            parts = [part(count, rank, size, loss) for rank in range(size)]
            rows = [p.rows.stop - p.rows.start for p in parts if p.weight]
            assert sum(rows) == count
            total = sum(p.weight for p in parts)
            assert total == (min(count, size) if loss == "half_squared_sum" else pytest.approx(1, rel=1e-15))


# ---------------------------------------------------------------------------------------------------- what differs


def refused(change, size=3, **options):
    """Train with rank 1 changed; return the text of the error, which all ranks must have."""

    def work(world):
        own = dict(options)
        if world.rank == 1:
            own.update(change)
        with pytest.raises(RankError) as told:
            trained(world, **own)
        assert told.value.rank == 1
        return str(told.value).partition(": ")[2]

    texts = parallel.run(work, size)
    assert len(set(texts)) == 1
    return texts[0]


def test_other_weights_are_named_before_the_first_step():
    def changed():
        net = network()
        net[3].params["w"][2, 2] += 1e-9
        return net

    text = refused({"make": changed})
    assert text.startswith("rank 1 differs from rank 0 in the weights, 3.w (float64 (16, 12)). Every rank must make")


def test_other_layers_are_named():
    assert "in the layers: ['Dense 20 -> 5']" in refused(
        {"make": lambda: nn.Sequential(nn.Dense(20, 5, rng=rng(), dtype=np.float64))}
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_size": 24}, "in batch_size: 24, and rank 0 has 25"),
        ({"epochs": 5}, "in epochs: 5, and rank 0 has 4"),
        ({"lr": 0.02}, r"in lr: \[0.02, 0.02\], and rank 0 has"),
        ({"data": (X + 1e-9, Y)}, r"in x \(float64 \(162, 20\)\)"),
        ({"data": (X[:200], Y[:200])}, r"in x: float64 \(160, 20\), and rank 0 has float64 \(162, 20\)"),
        ({"optimiser": "adam"}, "in the optimiser: Adam"),
        ({"make": lambda: network(dropout=0.4)}, r"in the layers: \['Dense 20 -> 16', 'Tanh', 'Dropout 0.4'"),
    ],
)
def test_other_settings_or_data_are_named(change, message):
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(refused(change))


def test_another_generator_is_named():
    def work(world):
        net = network()
        nn.train(net, (X, Y), epochs=1, batch_size=25, lr=0.01, rng=rng(world.rank), progress=False, world=world)

    with pytest.raises(RankError, match="rank 1 differs from rank 0 in the generator rng"):
        parallel.run(work, 2)


# ------------------------------------------------------------------------------------------------- what goes wrong


def test_a_loss_that_is_no_number_ends_all_ranks_with_the_weights_before():
    """Only one rank has the row that overflows; all raise the error that one rank alone would raise."""
    x, kept = X.copy(), {}
    x[7] = 1.7e308  # two of them are more than float64 can hold

    def make():
        return nn.models.mlp((20, 5), rng=rng(), dtype=np.float64)

    def work(world):
        kept[world.rank if world else "alone"] = net = make()
        options = {"epochs": 9, "batch_size": 203, "lr": 0.01, "progress": False, "world": world}
        with np.errstate(all="ignore"):
            nn.train(net, (x, Y), rng=rng(4), **options)

    for train in (lambda: work(None), lambda: parallel.run(work, 3)):
        with pytest.raises(nn.NotFiniteError, match=r"the loss became nan in epoch 0, batch 0, with lr=0\.01"):
            train()
    assert sorted(map(str, kept)) == ["0", "1", "2", "alone"]
    for net in kept.values():
        for name, parameter in make().parameters().items():
            np.testing.assert_array_equal(net.parameters()[name], parameter)


def test_an_error_in_one_ranks_batch_is_told_to_the_others():
    """The gradients of the others are under way, in threads of their own."""
    told = {}

    def augment_of(rank):
        def augment(x, generator):
            if rank == 1:
                raise OSError("no more pictures")
            return x

        return augment

    def work(world):
        try:
            trained(world, augment=augment_of(world.rank))
        except RankError as error:
            told[world.rank] = error.rank
            raise

    with pytest.raises(OSError, match="no more pictures"):
        parallel.run(work, 3)
    assert told == {0: 1, 2: 1}


# -------------------------------------------------------------------------------------------------------- buckets


def test_buckets_hold_every_gradient_once_last_layer_first():
    net = nn.models.lenet5(rng=rng())
    for size in (1, 1000, 128 << 10, 1 << 30):
        buckets = buckets_of(net, size)
        layers = [layer for bucket in buckets for layer in bucket.layers]
        assert layers == [layer for layer in reversed(list(net)) if layer.grads]
        assert sum(bucket.count for bucket in buckets) == sum(p.size for p in net.parameters().values())
        assert all(bucket.nbytes >= size for bucket in buckets[:-1])
    assert len(buckets_of(net, 1)) == 5
    assert len(buckets_of(net, 1 << 30)) == 1
    assert [b.count for b in buckets_of(net)] == [850 + 10_164 + 48_120, 2_416 + 156]


def test_a_bucket_has_one_dtype():
    r = rng()
    net = nn.Sequential(nn.Dense(3, 4, rng=r), nn.Dense(4, 4, rng=r, dtype=np.float64), nn.Dense(4, 2, rng=r))
    assert [bucket.dtype for bucket in buckets_of(net)] == [np.float32, np.float64, np.float32]
    with pytest.raises(ValueError, match="no parameters"):
        buckets_of(nn.Sequential(nn.ReLU()))


def test_a_bucket_is_summed_while_the_layers_before_are_still_going_back(monkeypatch):
    """The first layer goes back only when the last one's gradients have been summed: without overlap it would wait."""
    summed = [threading.Event() for _ in range(2)]
    own = Exchange._sum

    def noting(exchange, bucket):
        own(exchange, bucket)
        summed[exchange.world.rank].set()

    class Patient(nn.Dense):
        def backward(self, dout, need_dx=True):
            assert self.summed.wait(60), "nothing was summed beside the backward pass"
            return super().backward(dout, need_dx)

    def work(world):
        r = rng()
        net = nn.Sequential(Patient(20, 16, rng=r), nn.ReLU(), nn.Dense(16, 5, rng=r))
        net[0].summed = summed[world.rank]
        exchange = Exchange(world, net, bucket_bytes=1)
        net.forward(X[:8].astype(np.float32))
        exchange.backward(np.ones((8, 5), np.float32))
        exchange.close()

    monkeypatch.setattr(Exchange, "_sum", noting)
    parallel.run(work, 2)


@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("bucket_bytes", [1, 2000, 1 << 20])
def test_buckets_of_any_size_sum_the_same_gradients(overlap, bucket_bytes):
    x = rng(1).standard_normal((8, 20))
    dout = rng(2).integers(-4, 5, (8, 5)).astype(np.float64)
    net = network(dropout=0)
    net.forward(x)
    net.renew_grad()
    net.backward_parameters(dout)
    once = {name: g.copy() for name, g in net.gradients().items()}

    def work(world):
        net = network(dropout=0)
        exchange = Exchange(world, net, bucket_bytes, overlap)
        for _ in range(3):
            net.forward(x)
            net.renew_grad()
            assert exchange.backward(dout) == 0
            for name, gradient in net.gradients().items():
                np.testing.assert_array_equal(gradient, 4 * once[name])  # four equal gradients: exact in any order
        assert exchange.backward(dout if world.rank else None) == 1
        exchange.close()

    parallel.run(work, 4)


def test_the_traffic_of_a_step_is_that_of_its_buckets():
    """One number more than the gradients, for a rank without finite outputs; nothing else in a step."""

    def work(world):
        net = nn.models.mlp((20, 16, 5), rng=rng())
        exchange = Exchange(world, net)
        before = exchange.world.traffic
        net.forward(X[:8].astype(np.float32))
        exchange.backward(np.ones((8, 5), np.float32))
        exchange.close()
        count = sum(p.size for p in net.parameters().values()) + 1
        assert exchange.world.traffic - before == parallel.ring.traffic(world.rank, world.size, count, 4)

    parallel.run(work, 3)
