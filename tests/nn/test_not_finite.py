"""NaN and infinity are told by one error, wherever a network is judged, whatever they come from."""

import numpy as np
import pytest

from course_lib import nn, reference
from course_lib.validate import as_float, as_labels
from tests.backends import on_each_backend

LABELS = np.arange(20) % 3
VALUES = (np.nan, np.inf, -np.inf)


def net(*, outputs=3, ops=reference, **options):
    return nn.models.mlp((4, 5, outputs), rng=np.random.default_rng(0), activation="tanh", ops=ops, **options)


def x():
    return np.random.default_rng(1).random((20, 4), dtype=np.float32)


JUDGES = {
    "evaluate": lambda n, x: nn.evaluate(n, x, LABELS, batch_size=6),
    "predict": lambda n, x: n.predict(x),
    "worst_mistakes": lambda n, x: nn.worst_mistakes(n, x, LABELS),
    "train": lambda n, x: nn.train(n, (x, LABELS), epochs=1, batch_size=6, lr=0.1, rng=np.random.default_rng(0)),
    "validation": lambda n, x: nn.train(
        n, (x, LABELS), epochs=1, batch_size=6, lr=0.1, rng=np.random.default_rng(0), validation=(x, LABELS)
    ),
}
each_judge = pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)


@on_each_backend
@each_judge
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_row_of_data_without_numbers_is_named(judge, value, ops):
    """NaN outputs counted as class 0, and the accuracy looked real."""
    data = x()
    data[13, 2] = value
    n = nn.Sequential(nn.Dense(4, 3, rng=np.random.default_rng(0)), ops=ops)
    with pytest.raises(nn.NotFiniteError, match=r"row 13 of x holds NaN or infinity \((nan|-?inf)\)"):
        judge(n, data)


@on_each_backend
@each_judge
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_weights_without_numbers_are_named(judge, value, ops):
    n = net(ops=ops)
    n.parameters()["2.w"][1, 1] = value
    with pytest.raises(
        nn.NotFiniteError, match=r"2\.w of the network holds NaN|the loss became nan in epoch 0, batch 0"
    ):
        judge(n, x())


@each_judge
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_that_have_grown_too_large_are_told(judge):
    n = net(dtype=np.float32)
    n.parameters()["2.w"][...] = 3e38
    with pytest.raises(nn.NotFiniteError, match=r"have grown beyond float32|the loss became nan in epoch 0, batch 0"):
        judge(n, x())


def test_the_error_is_a_value_error_and_a_floating_point_error():
    for kind in (ValueError, FloatingPointError):
        with pytest.raises(kind):
            net().predict(np.full((2, 4), np.nan, np.float32))


@pytest.mark.parametrize("value", VALUES)
def test_outputs_have_no_class_if_they_are_no_numbers(value):
    for out in (np.array([[1.0, 2.0], [value, 0.0]]), np.array([[0.1], [value]])):
        with pytest.raises(nn.NotFiniteError, match="row 1 of the outputs holds NaN or infinity"):
            net().classes(out)


@pytest.mark.parametrize("outputs", [1, 3])
def test_targets_without_numbers_are_named(outputs):
    y = np.zeros((20, outputs))
    y[7, -1] = np.nan
    for judge in (
        lambda: nn.evaluate(net(outputs=outputs), x(), y, loss="quadratic_cost"),
        lambda: nn.train(net(outputs=outputs), (x(), y), epochs=1, batch_size=4, lr=0.1, loss="half_squared_sum",
                         rng=np.random.default_rng(0)),
    ):  # fmt: skip
        with pytest.raises(nn.NotFiniteError, match="row 7 of y holds NaN"):
            judge()


def test_predictions_and_labels_without_numbers_are_named():
    good, bad = np.array([0, 1]), np.array([0, np.nan])
    for pair in ((good, bad), (bad, good)):
        for judge in (lambda p, t: nn.accuracy(p, t), lambda p, t: nn.confusion_matrix(p, t, 2)):
            with pytest.raises(nn.NotFiniteError, match=r"row 1 of (predicted|labels) holds NaN"):
                judge(*pair)
    with pytest.raises(nn.NotFiniteError, match="row 1 of y holds NaN"):
        nn.evaluate(net(), x()[:2], bad)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_last_batch_is_looked_at_too():
    """Its step may be too large as any other, and no later loss shows it."""
    n = nn.Sequential(nn.Dense(1, 1, rng=np.random.default_rng(0)))
    data = np.ones((1, 1), np.float32), np.array([[-3.0]], np.float32)
    with pytest.raises(nn.NotFiniteError, match=r"0\.w holds NaN or infinity after the last batch, with lr=1e\+39"):
        nn.train(n, data, epochs=1, batch_size=1, lr=1e39, rng=np.random.default_rng(0), loss="quadratic_cost")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_infinite_loss_of_finite_outputs_is_told_by_evaluate_as_by_train():
    n = nn.Sequential(nn.Dense(1, 1, rng=np.random.default_rng(0), dtype=np.float64))
    with pytest.raises(nn.NotFiniteError, match="the loss quadratic_cost of x is inf"):
        nn.evaluate(n, np.array([[1e200]]), np.array([[0.0]]), loss="quadratic_cost")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", VALUES)
def test_a_perceptron_tells_it_too(value):
    data, w = np.array([[1.0, 2.0], [value, 0.0]]), np.array([1.0, value, 0.0])
    for judge, name in (
        (lambda: reference.perceptron_predict(data, np.ones(3)), "x"),
        (lambda: reference.perceptron_fit(data, np.array([0, 1])), "x"),
        (lambda: reference.perceptron_predict(np.ones((2, 2)), w), "w"),
        (lambda: reference.perceptron_fit(np.ones((2, 2)), np.array([0, 1]), w=w), "w"),
    ):
        with pytest.raises(nn.NotFiniteError, match=f"row 1 of {name} holds NaN or infinity"):
            judge()


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32])
def test_integer_labels_of_another_shape_are_told_as_what_they_are(kind):
    """They were converted to floats first, and then refused for being floats."""
    for y, fix in (
        (LABELS.astype(kind)[:, None], r"y\[:, 0\]"),
        (np.eye(3, dtype=kind)[LABELS], r"y\.argmax\(axis=1\)"),
    ):
        for judge in (
            lambda y: nn.evaluate(net(), x(), y),
            lambda y: nn.train(net(), (x(), y), epochs=1, batch_size=4, lr=0.1, rng=np.random.default_rng(0)),
        ):
            with pytest.raises(ValueError, match=rf"y has shape \(20, [13]\).* Write {fix}") as told:
                judge(y)
            assert "float" not in str(told.value)
        nn.evaluate(net(), x(), eval(fix.replace("\\", ""), {"y": y}))


@pytest.mark.parametrize(
    ("y", "fix"),
    [
        (np.eye(3)[LABELS], "y.argmax(axis=1)"),
        (np.eye(3, dtype=bool)[LABELS], "y.argmax(axis=1)"),
        (LABELS.astype(float), "y.astype(np.int64)"),
        (LABELS.astype(float)[:, None], "y[:, 0].astype(np.int64)"),
        (LABELS.astype(object), "np.unique(y, return_inverse=True)[1]"),
        (np.array(["cat", "dog", "owl"])[LABELS], "np.unique(y, return_inverse=True)[1]"),
    ],
)
def test_the_advice_can_be_typed_and_helps(y, fix):
    with pytest.raises(TypeError) as told:
        nn.evaluate(net(), x(), y)
    assert f"y has dtype {y.dtype} and shape {y.shape}" in str(told.value)
    assert f"Write {fix} if" in str(told.value)
    np.testing.assert_array_equal(eval(fix, {"y": y, "np": np}), LABELS)


def test_data_that_are_no_numbers_are_told_as_what_they_are():
    for value, words in ((np.array(["a"]), "text"), (np.array([None]), "Python objects"), (np.array([1j]), "complex")):
        with pytest.raises(TypeError, match=f"x has dtype .* It holds {words}"):
            as_float("x", value)
    for value in (np.float16([1]), np.array([1.0], ">f4"), np.longdouble([1])):
        with pytest.raises(TypeError, match=r"Convert it first: x\.astype\(np\.float32\)"):
            as_float("x", value)
        as_float("x", value.astype(np.float32))


def test_right_labels_stay_what_they_were():
    assert as_labels("y", [2, 0]).dtype == np.int64
    targets = np.eye(3, dtype=int)[LABELS]
    assert nn.evaluate(net(), x(), targets, loss="quadratic_cost") == nn.evaluate(
        net(), x(), targets.astype(float), loss="quadratic_cost"
    )
