"""Training: reproducible, stops when told, and the digits are learned as well as promised."""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from course_lib import data, nn
from tests.backends import on_each_backend


def rng(seed=0):
    return np.random.default_rng(seed)


def blobs(n=120):
    y = np.arange(n) % 3
    x = rng(5).standard_normal((n, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    return x.astype(np.float32), y


def train(x, y, seed=0, **options):
    net = nn.models.mlp((2, 8, 3), rng=rng(seed))
    settings = {"epochs": 5, "batch_size": 16, "lr": 0.1, **options}
    return net, nn.train(net, (x, y), rng=rng(seed), **settings)


def test_it_learns_and_reports():
    net, history = train(*blobs(), epochs=20)
    assert history.epochs == len(history.accuracy) == 20
    assert history.loss[-1] < history.loss[0] / 2
    assert history.accuracy[-1] > 0.9
    assert history.val_loss == []
    result = nn.evaluate(net, *blobs())
    assert result.count == 120
    assert result.accuracy > 0.9
    assert repr(history).startswith("History(20 epochs, loss 0.")
    assert repr(nn.History()) == "History(0 epochs)"


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_equal_seeds_give_equal_bits(momentum):
    (a, ha), (b, hb) = (train(*blobs(), momentum=momentum, validation=0.25) for _ in range(2))
    for p, q in zip(a.parameters().values(), b.parameters().values(), strict=True):
        np.testing.assert_array_equal(p, q)
    assert (ha.loss, ha.val_accuracy) == (hb.loss, hb.val_accuracy)


@on_each_backend
@pytest.mark.parametrize("validation", [None, 0.2])
def test_the_number_of_blas_threads_changes_no_bit(ops, validation):
    """Alone, NumPy's matrix products give other bits with two threads than with one: here large enough for both."""
    x, y = rng(1).random((300, 784), dtype=np.float32), np.arange(300) % 10
    results = []
    for count in (1, 2, 4):
        net = nn.models.mlp((784, 128, 10), rng=rng(), ops=ops)
        with threadpool_limits(count, user_api="blas"):
            settings = {"epochs": 2, "batch_size": 50, "lr": 0.1, "momentum": 0.9, "validation": validation}
            history = nn.train(net, (x, y), rng=rng(), progress=False, **settings)
        results.append((history.loss, history.val_loss, [p.tobytes() for p in net.parameters().values()]))
    assert results[0] == results[1] == results[2]


def test_the_last_batch_may_be_smaller_and_counts_by_its_rows():
    x, y = blobs(10)
    net, history = train(x, y, batch_size=7, epochs=1, lr=1e-12)
    assert history.loss[0] == pytest.approx(nn.evaluate(net, x, y, batch_size=3).loss, rel=1e-5)
    assert history.accuracy[0] == nn.evaluate(net, x, y, batch_size=4).accuracy


def test_one_epoch_of_one_batch_is_one_step_of_descent():
    x, y = blobs(12)
    net = nn.models.mlp((2, 3), rng=rng())
    start = {k: p.copy() for k, p in net.parameters().items()}
    value, cache = net.ops.softmax_cross_entropy_forward(net.forward(x), y)
    net.zero_grad()
    net.backward(net.ops.softmax_cross_entropy_backward(cache))
    expected = {k: start[k] - 0.5 * g for k, g in net.gradients().items()}
    history = nn.train(net, (x, y), epochs=1, batch_size=12, lr=0.5, rng=rng(1))
    assert history.loss[0] == pytest.approx(value, rel=1e-6)
    for k, p in net.parameters().items():
        np.testing.assert_allclose(p, expected[k], rtol=1e-5, atol=1e-7)


def test_early_stop_returns_to_the_best_weights():
    x, y = blobs(60)
    noise = rng(9).integers(0, 3, 60)  # nothing to learn: the validation loss must rise
    net, history = train(x, noise, epochs=200, lr=0.5, validation=(x[:20], y[:20]), early_stop=3)
    assert history.stopped_early
    assert history.epochs == history.best_epoch + 4 < 200
    assert history.best_epoch == int(np.argmin(history.val_loss))
    assert nn.evaluate(net, x[:20], y[:20]).loss == pytest.approx(min(history.val_loss), rel=1e-6)


def test_a_callback_sees_every_epoch_and_can_stop():
    seen = []
    _, history = train(*blobs(), on_epoch=lambda epoch, h: seen.append((epoch, h.epochs)) or epoch == 2)
    assert seen == [(0, 1), (1, 2), (2, 3)]
    assert history.stopped_early


def test_a_share_for_validation_is_set_aside():
    _, history = train(*blobs(), validation=0.2)
    assert len(history.val_accuracy) == 5
    assert "val_accuracy" in repr(history)


@pytest.mark.parametrize("loss", ["half_squared_sum", "quadratic_cost"])
def test_losses_with_targets(loss):
    x, y = data.truth_table("xor")
    net = nn.Sequential(
        nn.Dense(2, 8, rng=rng(1), dtype=np.float64),
        nn.Tanh(),
        nn.Dense(8, 1, rng=rng(2), dtype=np.float64),
        nn.Sigmoid(),
    )
    history = nn.train(net, (x, y[:, None].astype(float)), epochs=2000, batch_size=4, lr=2.0, rng=rng(), loss=loss)
    assert history.accuracy[-1] == 1
    result = nn.evaluate(net, x, y[:, None].astype(float), loss=loss, batch_size=3)
    assert result.loss == pytest.approx(nn.evaluate(net, x, y[:, None].astype(float), loss=loss).loss, rel=1e-12)


def test_one_hot_targets_count_as_classes():
    x, y = blobs(30)
    net, _ = train(x, y)
    targets = np.eye(3)[y]
    assert nn.evaluate(net, x, targets, loss="quadratic_cost").accuracy == nn.evaluate(net, x, y).accuracy


def test_divergence_is_an_error_with_a_fix():
    x, y = blobs()
    with (
        pytest.raises(FloatingPointError, match=r"lr=1e\+30.*Try a learning rate ten times smaller"),
        np.errstate(all="ignore"),
    ):
        train(x * 1e3, y, lr=1e30)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"epochs": 0}, ValueError, "epochs is 0"),
        ({"batch_size": 1.5}, TypeError, "batch_size is 1.5"),
        ({"lr": 0}, ValueError, "lr is 0"),
        ({"momentum": 1.0}, ValueError, "must be below 1"),
        ({"loss": "hinge"}, ValueError, "loss is 'hinge'; it must be one of half_squared_sum"),
        ({"validation": 0.001}, ValueError, "must leave rows on both sides"),
        ({"validation": 1.5}, ValueError, "must leave rows on both sides"),
        ({"validation": float("nan")}, ValueError, "must leave rows on both sides"),
        ({"validation": float("inf")}, ValueError, "must leave rows on both sides"),
        ({"lr": 10**400}, ValueError, "lr is inf; it must be a finite number"),
        ({"augment": 3}, TypeError, "augment is 3; it must be a function"),
        ({"on_epoch": "print"}, TypeError, "on_epoch is 'print'; it must be a function"),
        ({"augment": lambda x, rng: None}, ValueError, "augment was given 16 rows.*it gave None; does it lack"),
        ({"augment": lambda x, rng: x[:1]}, ValueError, r"must return as many; it gave shape \(1, 2\)"),
        ({"augment": lambda x, rng: x * np.nan}, nn.NotFiniteError, "row 0 of what augment returned holds NaN"),
        ({"early_stop": 0}, ValueError, "early_stop is 0"),
    ],
)
def test_refused_settings(options, error, message):
    with pytest.raises(error, match=message):
        train(*blobs(), **options)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((np.ones((3, 2)), np.zeros(2, int)), "x has 3 rows and y has 2"),
        ((np.ones((0, 2)), np.zeros(0, int)), "the batch is empty"),
        ((np.ones((3, 2)), np.array([0, 1, 3])), "labels"),
        ((np.ones((3, 2)), np.full(3, 2**63, np.uint64)), "y holds 9223372036854775808; labels count the classes"),
        ((np.ones((3, 2)), [[0], [1, 2], [0]]), "y is not a rectangular array"),
        ((np.float32(3), [0]), "x is one number, 3.0; it must have rows"),
        ((np.ma.array(np.ones((3, 2)), mask=np.eye(3, 2)), [0, 1, 2]), r"row 0 of x holds masked entries.*x\.filled"),
        ((np.ones((3, 2)), np.ma.array([0, 1, 2], mask=[0, 1, 0])), r"row 1 of y holds masked entries.*y\.filled"),
    ],
)
def test_refused_data(pair, message):
    with pytest.raises(ValueError, match=message):
        train(*pair)


@pytest.mark.parametrize("labels", [None, {0, 1, 2}, {0: 1}, (i for i in range(3))])
def test_what_is_no_list_of_labels_is_named(labels):
    with pytest.raises(TypeError, match=f"y is {type(labels).__name__}; labels are a list or an array of integers"):
        train(np.ones((3, 2)), labels)


def test_a_mask_that_hides_nothing_changes_nothing():
    x, y = blobs(30)
    plain, _ = train(x, y)
    masked, _ = train(np.ma.array(x), np.ma.array(y))
    np.testing.assert_array_equal(plain.layers[0].params["w"], masked.layers[0].params["w"])


def test_data_of_another_kind_is_refused():
    with pytest.raises(TypeError, match=r"must have x_train and y_train"):
        nn.train(nn.models.mlp((2, 3), rng=rng()), np.ones(3), epochs=1, batch_size=1, lr=1, rng=rng())
    with pytest.raises(TypeError, match=r"numpy\.random\.Generator"):
        nn.train(nn.models.mlp((2, 3), rng=rng()), blobs(), epochs=1, batch_size=1, lr=1, rng=0)


def test_the_progress_bar_is_silent_when_told(monkeypatch, capsys):
    monkeypatch.setenv("COURSE_PROGRESS", "0")
    train(*blobs(), epochs=2)
    assert capsys.readouterr().err == ""
    train(*blobs(), epochs=2, progress=True)
    assert "epoch" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_digits_are_learned(seed):
    digits = data.load_digits(seed=seed)
    net, start = nn.models.mlp((784, 128, 10), rng=rng(seed)), time.perf_counter()
    nn.train(net, digits, epochs=20, batch_size=64, lr=0.1, momentum=0.9, rng=rng(seed), progress=False)
    print(f"seed {seed}: trained in {time.perf_counter() - start:.2f} s")  # shown by pytest -s, never judged
    result = nn.evaluate(net, digits.x_test, digits.y_test)
    assert result.accuracy >= 0.93
    assert result.count == 1000


def test_an_infinite_loss_is_an_error_too():
    net = nn.Sequential(nn.Dense(1, 1, rng=rng(), dtype=np.float64))
    with pytest.raises(FloatingPointError, match="the loss became inf"), np.errstate(over="ignore"):
        nn.train(
            net,
            (np.array([[1e200]]), np.array([[0.0]])),
            epochs=1,
            batch_size=1,
            lr=1,
            rng=rng(),
            loss="quadratic_cost",
        )


def test_of_equal_losses_the_first_epoch_is_the_best():
    net = nn.models.mlp((2, 3), rng=rng())
    x, y = blobs(12)
    history = nn.train(net, (x, y), epochs=4, batch_size=12, lr=1e-30, rng=rng(), validation=(x, y))
    assert len(set(history.val_loss)) == 1
    assert history.best_epoch == 0


def recording(net):
    """Return a list that receives the rows of every batch that `net` is shown while it trains."""
    seen, forward = [], net.forward

    def record(x):
        seen.append(x[:, 0].tolist())
        return forward(x)

    net.forward = record
    return seen


def test_what_is_set_aside_for_validation_is_never_trained_on():
    net, x, y = nn.models.mlp((1, 2), rng=rng()), np.arange(20.0, dtype=np.float32)[:, None] / 20, np.arange(20) % 2
    seen = recording(net)
    nn.train(net, (x, y), epochs=1, batch_size=4, lr=0.1, rng=rng(), validation=0.25)
    trained, validated = [v for batch in seen[:-1] for v in batch], seen[-1]
    assert (len(trained), len(validated)) == (15, 5)
    assert sorted(trained + validated) == x[:, 0].tolist()


def test_every_epoch_draws_a_new_order_of_all_samples():
    net, x, y = nn.models.mlp((1, 2), rng=rng()), np.arange(12.0, dtype=np.float32)[:, None], np.arange(12) % 2
    seen = recording(net)
    nn.train(net, (x, y), epochs=3, batch_size=12, lr=1e-6, rng=rng())
    assert all(sorted(order) == x[:, 0].tolist() for order in seen)
    assert len({tuple(order) for order in seen} | {tuple(x[:, 0].tolist())}) == 4


def test_one_output_is_right_on_its_side_of_one_half():
    net = nn.Sequential(nn.Dense(1, 1, rng=rng(), dtype=np.float64))
    net[0].params["w"][...] = 1
    x = np.array([[0.4], [0.6], [0.5], [0.1]])
    result = nn.evaluate(net, x, np.array([[0.0], [1.0], [1.0], [1.0]]), loss="quadratic_cost")
    assert result.accuracy == 0.75


@pytest.mark.parametrize("where", ["x", "y"])
def test_bad_data_is_found_before_a_weight_changes(where):
    x, y = blobs(40)
    if where == "x":
        x[39, 0] = np.nan
    else:
        y[39] = 12
    net = nn.models.mlp((2, 3), rng=rng())
    before = net[0].params["w"].copy()
    with pytest.raises(ValueError, match="row 39 of x" if where == "x" else r"labels\[39\] is 12"):
        nn.train(net, (x, y), epochs=1, batch_size=4, lr=0.1, rng=rng())
    np.testing.assert_array_equal(net[0].params["w"], before)


@pytest.mark.parametrize("loss", nn.Sequential(nn.Softmax()).ops.LOSSES)
def test_the_loss_of_an_epoch_is_the_loss_of_all_its_samples_whatever_the_batches(loss):
    """Training, validation and evaluation speak of one number: the loss of all rows at once."""
    x, y = blobs(10)
    if loss in ("half_squared_sum", "quadratic_cost"):
        y = np.eye(3)[y]
    net = nn.Sequential(nn.Dense(2, 3, rng=rng(), dtype=np.float64), nn.Softmax())
    expected = getattr(net.ops, f"{loss}_forward")(net.forward(x), y)[0]
    settings = {"epochs": 1, "lr": 1e-15, "rng": rng(), "loss": loss, "validation": (x, y)}
    for batch_size in (3, 10):
        history = nn.train(net, (x, y), batch_size=batch_size, **settings)
        assert history.loss[0] == pytest.approx(expected, rel=1e-9)
        assert history.val_loss[0] == pytest.approx(expected, rel=1e-9)
        assert nn.evaluate(net, x, y, loss=loss, batch_size=batch_size).loss == pytest.approx(expected, rel=1e-9)


def test_validation_takes_the_test_part_of_a_data_set():
    x, y = blobs(30)
    parts = data.Digits(x[:20], y[:20], x[20:], y[20:])
    net = nn.models.mlp((2, 3), rng=rng())
    history = nn.train(net, parts, epochs=1, batch_size=5, lr=0.1, rng=rng(), validation=parts)
    assert history.val_loss[0] == pytest.approx(nn.evaluate(net, x[20:], y[20:]).loss, rel=1e-6)


def test_a_share_may_be_any_kind_of_number():
    for share in (np.float32(0.25), np.float64(0.25)):
        _, history = train(*blobs(), validation=share)
        assert len(history.val_loss) == 5


@pytest.mark.parametrize(
    ("validation", "error", "message"),
    [
        (1, ValueError, "validation is 1 of 120 rows; it must leave rows on both sides"),
        (0, ValueError, "validation is 0 of 120 rows"),
        (True, TypeError, "validation is bool; it must have x_test and y_test, or be a pair"),
        ("0.2", TypeError, "validation is str; .* or a share of the training data such as 0.2"),
        ([np.ones((2, 2)), np.zeros(2, int)], TypeError, "validation is list; .* be a pair"),
        (np.ones((3, 2)), TypeError, "validation is ndarray"),
    ],
)
def test_validation_of_another_kind_is_named_as_validation(validation, error, message):
    with pytest.raises(error, match=message):
        train(*blobs(), validation=validation)


def test_training_data_alone_are_no_validation():
    class TrainOnly:
        x_train, y_train = blobs(30)

    with pytest.raises(TypeError, match="validation is TrainOnly; it must have x_test and y_test"):
        train(*blobs(), validation=TrainOnly())


@pytest.mark.parametrize("loss", ["one_minus_probability", "expected_squared_distance"])
def test_a_network_that_diverges_says_so_with_a_loss_of_probabilities_too(loss):
    x, y = blobs(30)
    net = nn.Sequential(nn.Dense(2, 3, rng=rng(), dtype=np.float64), nn.Softmax())
    net[0].params["w"][...] = 1e308
    with pytest.raises(FloatingPointError, match="the loss became nan"), np.errstate(all="ignore"):
        nn.train(net, (1e3 * x, y), epochs=1, batch_size=30, lr=1, rng=rng(), loss=loss)
