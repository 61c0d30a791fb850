"""What makes a network train: initial weights, rates that change, decay, dropout, Adam, inputs on one scale."""

import copy
import pickle

import numpy as np
import pytest

from course_lib import data, fast, nn, reference
from tests.backends import on_each_backend


def rng(seed=0):
    return np.random.default_rng(seed)


def blobs(n=120):
    y = np.arange(n) % 3
    x = rng(5).standard_normal((n, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    return x.astype(np.float32), y


def mlp(seed=0, ops=fast, **options):
    return nn.models.mlp((2, 8, 3), rng=rng(seed), ops=ops, **options)


def dropping(seed=0, rate=0.5, ops=fast):
    drop = nn.Dropout(rate, rng=rng(seed + 1))
    return nn.Sequential(nn.Dense(2, 8, rng=rng(seed)), nn.ReLU(), drop, nn.Dense(8, 3, rng=rng(seed)), ops=ops)


def train(net, **options):
    return nn.train(net, blobs(), **{"epochs": 3, "batch_size": 16, "lr": 0.05, "rng": rng(9), **options})


def same(one, other):
    for a, b in zip(one.parameters().values(), other.parameters().values(), strict=True):
        np.testing.assert_array_equal(a, b)


# ----------------------------------------------------------------------------------------------------- initial weights


@pytest.mark.parametrize(("init", "variance"), [
    (nn.init.he_normal, 2 / 300), (nn.init.glorot_normal, 2 / 500), (nn.init.glorot_uniform, 2 / 500),
    (nn.init.normal(0.05), 0.0025),
])  # fmt: skip
def test_weights_have_the_promised_variance(init, variance):
    """Of n numbers the mean square strays by sqrt(2 / n) of itself, one standard deviation of the normal's."""
    w = nn.Dense(300, 200, rng=rng(), init=init, dtype=np.float64).params["w"]
    assert abs(np.mean(w**2) / variance - 1) < 5 * np.sqrt(2 / w.size)
    assert abs(np.mean(w)) < 5 * np.sqrt(variance / w.size)


def test_even_weights_stay_within_their_bound_and_reach_it():
    w = nn.Dense(300, 200, rng=rng(), init=nn.init.glorot_uniform, dtype=np.float64).params["w"]
    assert 0.999 < np.abs(w).max() / np.sqrt(6 / 500) <= 1


def test_he_is_the_default_and_the_numbers_are_those_of_the_formula():
    plain, said = (nn.Dense(7, 5, rng=rng(3), **o).params["w"] for o in ({}, {"init": nn.init.he_normal}))
    np.testing.assert_array_equal(plain, said)
    np.testing.assert_array_equal(plain, (np.sqrt(2 / 7) * rng(3).standard_normal((7, 5))).astype(np.float32))
    conv = nn.Conv2d(3, 4, (2, 5), rng=rng(3)).params["w"]
    np.testing.assert_array_equal(conv, (rng(3).standard_normal((4, 3, 2, 5)) * np.sqrt(2 / 30)).astype(np.float32))


def test_a_convolution_counts_the_maps_that_are_connected():
    """Output map 0 sees one input map, 1 sees both; input map 1 is seen once; 9 taps each."""
    table = np.array([[True, False], [True, True]])
    w = nn.Conv2d(2, 2, 3, rng=rng(), connections=table, init=lambda rng, shape, n_in, n_out: np.ones(shape) * n_in)
    assert w.params["w"][:, :, 0, 0].tolist() == [[9, 0], [18, 18]]
    w = nn.Conv2d(2, 2, 3, rng=rng(), connections=table, init=lambda rng, shape, n_in, n_out: np.ones(shape) * n_out)
    assert w.params["w"][:, :, 0, 0].tolist() == [[18, 0], [18, 9]]
    nn.Conv2d(2, 2, 3, rng=rng(), connections=table, init=nn.init.glorot_normal)


def test_zeros_are_zeros_and_all_units_learn_the_same():
    """The biases of the last layer alone learn: through weights of 0 no gradient reaches the others."""
    for init in (nn.init.zeros, nn.init.normal(0)):
        net = mlp(init=init)
        train(net)
        assert [bool(p.any()) for p in net.parameters().values()] == [False, False, False, True]


@pytest.mark.parametrize(("init", "error", "says"), [
    ("he", TypeError, "init is 'he'; it must be a function"), (None, TypeError, "init is None"),
    (nn.init.normal, TypeError, r"say how large, as in nn.init.normal\(0.05\)"),
    (lambda *a: np.zeros(3), ValueError, r"of shape \(3,\); it must return real numbers of shape \(7, 5\)"),
    (lambda *a: np.full((7, 5), np.nan), ValueError, "NaN or infinity"),
    (lambda *a: np.zeros((7, 5), complex), ValueError, "init returned complex128"),
])  # fmt: skip
def test_what_makes_no_weights_is_refused(init, error, says):
    with pytest.raises(error, match=says):
        nn.Dense(7, 5, rng=rng(), init=init)


def test_a_negative_deviation_and_a_missing_generator_are_refused():
    with pytest.raises(ValueError, match="sd is -1"):
        nn.init.normal(-1)
    with pytest.raises(TypeError, match="rng is 0; it must be a numpy"):
        nn.Dense(7, 5, rng=0, init=nn.init.zeros)


# ----------------------------------------------------------------------------------------------------------- schedules

S = nn.schedules


def test_schedules_by_hand():
    assert [S.constant(0.1)(step) for step in (0, 7)] == [0.1, 0.1]
    np.testing.assert_allclose([S.step_decay(1, 3, 0.5)(i) for i in range(7)], [1, 1, 1, 0.5, 0.5, 0.5, 0.25])
    np.testing.assert_allclose([S.cosine(1, 4)(i) for i in (0, 2, 4, 9)], [1, 0.5, 0, 0], atol=1e-15)
    np.testing.assert_allclose(S.cosine(1, 3)(1), 0.75)
    np.testing.assert_allclose([S.cosine(1, 4, 0.2)(i) for i in (0, 2, 4)], [1, 0.6, 0.2])
    np.testing.assert_allclose([S.warm_up(4, 2.0)(i) for i in range(6)], [0.5, 1, 1.5, 2, 2, 2])
    np.testing.assert_allclose([S.warm_up(2, S.step_decay(1, 2, 0.1))(i) for i in range(6)], [0.5, 1, 1, 1, 0.1, 0.1])
    assert S.count_steps(100, 30, 5) == 20


@pytest.mark.parametrize(("call", "error", "says"), [
    (lambda: S.constant(0), ValueError, "lr is 0"),
    (lambda: S.step_decay(1, 0), ValueError, "every is 0"),
    (lambda: S.step_decay(1, 3, 2), ValueError, r"factor is 2; it must lie in \(0, 1\]"),
    (lambda: S.cosine(1, 10, 2), ValueError, "must not end above its start"),
    (lambda: S.cosine(1, 0), ValueError, "steps is 0"),
    (lambda: S.warm_up(2.5, 1), TypeError, "steps is 2.5"),
    (lambda: S.warm_up(2, "fast"), TypeError, "lr is 'fast'"),
])  # fmt: skip
def test_schedules_that_make_no_sense_are_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_training_asks_the_schedule_once_a_batch_through_all_epochs():
    asked = []
    train(mlp(), epochs=2, batch_size=50, lr=lambda step: asked.append(step) or 0.1)
    assert asked == [0, 5, 0, 1, 2, 3, 4, 5]  # first and last beforehand: a rate of 0 at the end is told at the start


def test_a_constant_schedule_trains_as_the_number_does():
    one, other = mlp(), mlp()
    train(one, momentum=0.9)
    train(other, momentum=0.9, lr=S.constant(0.05))
    same(one, other)
    assert pickle.loads(pickle.dumps(S.warm_up(3, S.cosine(1, 9))))(1) == 2 / 3


@pytest.mark.parametrize(("lr", "says"), [
    (S.cosine(0.1, 10), r"lr\(23\) is 0"), (lambda step: -1, r"lr\(0\) is -1"), (0, "lr is 0"),
    (lambda step: np.nan, r"lr\(0\) is nan"),
])  # fmt: skip
def test_a_rate_that_is_not_positive_is_refused_before_the_first_step(lr, says):
    net, start = mlp(), mlp()
    with pytest.raises(ValueError, match=says):
        train(net, lr=lr)
    same(net, start)


# ------------------------------------------------------------------------------------------------ decay and optimisers


def test_training_with_decay_is_the_operation_on_weights_alone():
    net, other = mlp(), mlp()
    train(net, epochs=1, batch_size=120, weight_decay=0.5)
    x, y = blobs()
    order = rng(9).permutation(120)
    _, cache = other.ops.softmax_cross_entropy_forward(other.forward(x[order]), y[order])
    other.backward(other.ops.softmax_cross_entropy_backward(cache))
    other.ops.sgd_step(other.parameters().values(), other.gradients().values(), 0.05, weight_decay=[0.5, 0, 0.5, 0])
    same(net, other)


def test_an_optimiser_of_sgd_is_what_momentum_says():
    one, other = mlp(), mlp()
    train(one, momentum=0.9, weight_decay=0.01)
    train(other, optimiser=nn.SGD(other, 0.9, 0.01))
    same(one, other)


@on_each_backend
def test_adam_keeps_its_state_from_one_training_to_the_next(ops):
    """Three epochs are the same as one and two, if the order of the samples is."""
    one, other = mlp(ops=ops), mlp(ops=ops)
    adam = nn.Adam(one, weight_decay=0.1)
    train(one, optimiser=adam)
    assert adam.steps == 24
    its, generator = nn.Adam(other, weight_decay=0.1), rng(9)
    train(other, epochs=1, optimiser=its, rng=generator)
    train(other, epochs=2, optimiser=its, rng=generator)
    same(one, other)
    assert nn.evaluate(one, *blobs()).loss < 1.1


@on_each_backend
@pytest.mark.parametrize("kind", [nn.Adam, lambda net: nn.SGD(net, 0.9)])
def test_a_training_that_was_saved_goes_on_as_if_it_had_not_stopped(kind, ops, tmp_path):
    net, generator = mlp(ops=ops), rng(9)
    optimiser = kind(net)
    train(net, epochs=1, optimiser=optimiser, rng=generator)
    nn.save_weights(net, tmp_path / "weights.npz")
    nn.save_optimiser(optimiser, tmp_path / "optimiser.npz")
    other = mlp(seed=1, ops=ops)
    nn.load_weights(other, tmp_path / "weights.npz")
    its = kind(other)
    nn.load_optimiser(its, tmp_path / "optimiser.npz")
    assert its.steps == optimiser.steps == 8
    train(other, optimiser=its, rng=copy.deepcopy(generator))
    train(net, optimiser=optimiser, rng=generator)
    same(net, other)


def test_what_another_optimiser_kept_is_refused(tmp_path):
    net = mlp()
    nn.save_optimiser(nn.SGD(net, 0.9), tmp_path / "sgd.npz")
    adam = nn.Adam(net)
    with pytest.raises(nn.WeightsError, match=r"it lacks \['first_moments.0.b'"):
        nn.load_optimiser(adam, tmp_path / "sgd.npz")
    assert adam.steps == 0


def test_biases_never_decay_and_weights_of_one_axis_do():
    layers = nn.Conv2d(1, 2, 3, rng=rng()), nn.Subsample(2), nn.Flatten(), nn.Dense(2, 3, rng=rng())
    for kind in (nn.SGD, nn.Adam):
        optimiser = kind(nn.Sequential(*layers), weight_decay=0.25)
        assert optimiser.decays() == [0.25, 0, 0.25, 0, 0.25, 0]


def test_a_copy_of_an_optimiser_has_its_own_network():
    net = mlp()
    adam = nn.Adam(net)
    train(net, epochs=1, optimiser=adam)
    for other in (copy.deepcopy(adam), pickle.loads(pickle.dumps(adam))):
        assert other.net is not net
        again = copy.deepcopy(adam)
        train(other.net, epochs=1, optimiser=other)
        train(again.net, epochs=1, optimiser=again)
        same(other.net, again.net)
        assert other.steps == 2 * adam.steps


@pytest.mark.parametrize(("options", "error", "says"), [
    ({"optimiser": "adam"}, TypeError, r"optimiser is 'adam'; it must be one of this network, such as nn.Adam\(net\)"),
    ({"optimiser": nn.Adam}, TypeError, "it must be one of this network"),
    ({"optimiser": nn.Adam(mlp())}, ValueError, "belongs to another network"),
    ({"weight_decay": -1}, ValueError, "weight_decay is -1"),
    ({"weight_decay": 20}, ValueError, r"lr \* weight_decay is 1; it must be below 1"),
    ({"weight_decay": 0.5, "lr": lambda step: 1 + step}, ValueError, r"lr \* weight_decay is 12"),
])  # fmt: skip
def test_optimisers_that_do_not_fit_are_refused_before_the_first_step(options, error, says):
    net, start = mlp(), mlp()
    with pytest.raises(error, match=says):
        train(net, **options)
    same(net, start)


def test_momentum_beside_an_optimiser_is_refused():
    net = mlp()
    with pytest.raises(ValueError, match=r"momentum is 0.9 and weight_decay is 0.0 beside an optimiser"):
        train(net, optimiser=nn.Adam(net), momentum=0.9)
    for wrong in ({"momentum": 1}, {"weight_decay": -1}):
        with pytest.raises(ValueError, match=r"momentum is 1|weight_decay is -1"):
            nn.SGD(net, **wrong)
    for wrong, says in (({"beta1": 1}, "beta1 is 1"), ({"eps": 0}, "eps is 0")):
        with pytest.raises(ValueError, match=says):
            nn.Adam(net, **wrong)
    with pytest.raises(TypeError, match=r"net is .*; an optimiser belongs to a network: nn.Adam\(net\)"):
        nn.Adam([1, 2])


# ------------------------------------------------------------------------------------------------------------- dropout


def test_dropout_is_off_in_use_and_on_in_training():
    layer, x = nn.Dropout(0.5, rng=rng()), np.ones((20, 30), np.float32)
    assert layer.forward(x) is x
    assert layer.backward(x) is x
    net = nn.Sequential(layer)
    with net.training():
        y, z = net.forward(x), net.forward(x)
        np.testing.assert_array_equal(net.backward(x), z)
    assert set(np.unique(y)) == {0, 2}
    assert (y != z).any()  # another seed in each pass
    assert net.forward(x) is x
    assert layer.describe() == "Dropout 0.5"


def test_training_ends_when_something_fails():
    net = dropping()
    with pytest.raises(ValueError, match="x has shape"), net.training():
        net.forward(np.ones(2))
    assert not any(layer.training for layer in net)


def test_networks_with_dropout_train_alike_on_both_backends_and_evaluate_without_chance():
    one, other = dropping(ops=fast), dropping(ops=reference)
    for net in (one, other):
        history = train(net, epochs=8)
    for a, b in zip(one.parameters().values(), other.parameters().values(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    assert nn.evaluate(one, *blobs()) == nn.evaluate(one, *blobs())
    assert nn.evaluate(other, *blobs()).loss < history.loss[-1]


def test_a_rate_of_0_trains_as_without_the_layer():
    net = dropping(rate=0)
    plain = nn.Sequential(nn.Dense(2, 8, rng=rng()), nn.ReLU(), nn.Dense(8, 3, rng=rng()))
    train(net)
    train(plain)
    same(net, plain)


def test_a_network_with_dropout_can_be_pickled_and_copied():
    net = dropping()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        x = np.ones((5, 2), np.float32)
        with net.training(), other.training():
            np.testing.assert_array_equal(copy.deepcopy(net).forward(x), other.forward(x))


@pytest.mark.parametrize(("rate", "generator", "error", "says"), [
    (1, rng(), ValueError, "rate is 1"), (-0.5, rng(), ValueError, "rate is -0.5"), (0.5, 3, TypeError, "rng is 3"),
    ("half", rng(), TypeError, "rate is 'half'"),
])  # fmt: skip
def test_layers_that_cannot_drop_are_refused(rate, generator, error, says):
    with pytest.raises(error, match=says):
        nn.Dropout(rate, rng=generator)


def test_backward_before_forward_is_an_error_here_too():
    with pytest.raises(RuntimeError, match=r"Dropout 0.5: backward before forward"):
        nn.Dropout(0.5, rng=rng()).backward(np.ones((2, 3)))


# ------------------------------------------------------------------------------------------------- inputs on one scale


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_standardised_training_data_have_mean_0_and_deviation_1(dtype):
    x = (rng().standard_normal((500, 3)) * [1, 100, 1e-3] + [5, -1000, 0]).astype(dtype)
    fitted = data.fit_standardiser(x)
    z = fitted.apply(x)
    assert z.dtype == dtype
    np.testing.assert_allclose(z.mean(axis=0, dtype=float), 0, atol=1e-6)
    np.testing.assert_allclose(z.std(axis=0, dtype=float), 1, rtol=1e-5)
    np.testing.assert_allclose(fitted.undo(z), x, rtol=1e-6, atol=1e-5)
    other = fitted.apply(x[:1] + 1)  # by what was measured on the training data
    np.testing.assert_allclose(other - z[:1], 1 / x.std(axis=0, dtype=float)[None], rtol=1e-4)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8, -1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_feature_becomes_0_and_is_not_divided(value, dtype):
    x = np.column_stack([np.full(777, value), np.arange(777)]).astype(dtype)
    z = data.fit_standardiser(x).apply(x)
    np.testing.assert_array_equal(z[:, 0], 0)
    assert z[:, 1].std() == pytest.approx(1, rel=1e-5)


def test_images_may_share_a_mean_for_each_colour():
    x = rng().random((20, 3, 4, 5)) * np.array([1, 10, 100])[:, None, None]
    fitted = data.fit_standardiser(x, axis=(0, 2, 3))
    assert fitted.mean.shape == (1, 3, 1, 1)
    np.testing.assert_allclose(fitted.apply(x).std(axis=(0, 2, 3)), 1)
    assert fitted.apply(x[:2, :, :3]).shape == (2, 3, 3, 5)  # images of another size have the same colours
    assert data.fit_standardiser(x.reshape(20, -1), axis=(0, 1)).mean.shape == (1, 1)


@pytest.mark.parametrize(("x", "axis", "error", "says"), [
    (np.zeros((0, 3)), 0, ValueError, "the batch is empty"),
    (np.zeros((3, 0)), 0, ValueError, "it holds no features"),
    (np.array([[1, np.nan]]), 0, ValueError, "row 0 of x holds NaN or infinity"),
    (np.array([["a"]]), 0, TypeError, "x has dtype"),
    (np.ones((3, 2)), 1, ValueError, "it must hold 0, the axis of the samples"),
    (np.ones((3, 2)), (0, 2), ValueError, r"axis is \(0, 2\) and x is \(3, 2\)"),
    (np.ones((3, 2)), (0, 0), ValueError, "each once"),
    (np.ones((3, 2)), None, TypeError, "axis is None"),
    (np.array([[1e300], [-1e300]]), 0, ValueError, "too large to be squared"),
    (5.0, 0, ValueError, "x is one number"),
])  # fmt: skip
def test_data_that_cannot_be_measured_are_refused(x, axis, error, says):
    with pytest.raises(error, match=says):
        data.fit_standardiser(x, axis)


@pytest.mark.parametrize(("x", "error", "says"), [
    (np.ones((2, 4)), ValueError, r"x is \(2, 4\); this standardiser was fitted to arrays \(n, 3\)"),
    (np.ones(3), ValueError, r"write x\[None\]"),
    (np.full((1, 3), np.inf), ValueError, "NaN or infinity"),
    (None, TypeError, "x has dtype object"),
])  # fmt: skip
def test_data_with_other_features_are_refused(x, error, says):
    fitted = data.fit_standardiser(rng().random((9, 3)))
    for call in (fitted.apply, fitted.undo):
        with pytest.raises(error, match=says):
            call(x)


@pytest.mark.parametrize("made", [S.constant(1), S.step_decay(1, 2), S.cosine(1, 9), S.warm_up(3, 1)])
def test_every_schedule_can_go_to_another_process(made):
    assert [pickle.loads(pickle.dumps(made))(step) for step in range(9)] == [made(step) for step in range(9)]


def test_initialisers_can_go_to_another_process():
    for init in (nn.init.he_normal, nn.init.normal(0.1), nn.init.zeros):
        other = pickle.loads(pickle.dumps(init))
        np.testing.assert_array_equal(other(rng(), (3, 4), 3, 4), init(rng(), (3, 4), 3, 4))
