"""Lesson 06: what must come out, measured with the library, and printed by the lesson."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib import checks, data
from course_lib import reference as ops

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "06_training_an_mlp.ipynb"

# In a process of its own with one BLAS thread: seconds then do not depend on what else the machine does with its cores.
TRAINING = """
import json
import numpy as np
from course_lib import data, nn
from course_lib import reference as ops

out = {"train": [], "test": []}
for seed in (0, 1, 2):
    digits, rng = data.load_digits(seed), np.random.default_rng(seed)
    net = nn.models.mlp((784, 128, 10), rng=rng)
    nn.train(net, digits, epochs=20, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
    out["train"].append(nn.evaluate(net, digits.x_train, digits.y_train).accuracy)
    out["test"].append(nn.evaluate(net, digits.x_test, digits.y_test).accuracy)
    if seed == 0:
        out["worst"] = nn.worst_mistakes(net, digits.x_test, digits.y_test, 20).confidence.tolist()
        out["white on black"] = nn.evaluate(net, 1 - digits.x_test, digits.y_test).accuracy
        out["disputed"] = net.predict(digits.x_train[[747, 2464, 2367]]).tolist()

digits, rng = data.load_digits(0), np.random.default_rng(0)
shuffled, net = rng.permutation(digits.y_train), nn.models.mlp((784, 128, 10), rng=rng)
nn.train(net, (digits.x_train, shuffled), epochs=100, batch_size=400, lr=0.3, momentum=0.9, rng=rng)
out["shuffled train"] = nn.evaluate(net, digits.x_train, shuffled).accuracy
out["shuffled test"] = nn.evaluate(net, digits.x_test, digits.y_test).accuracy

rng = np.random.default_rng(0)
net, mistakes = nn.models.mlp((784, 128, 10), rng=rng), []
x_val, y_val = digits.x_train[3200:], digits.y_train[3200:]
history = nn.train(net, (digits.x_train[:3200], digits.y_train[:3200]), epochs=20, batch_size=64, lr=0.1, momentum=0.9,
                   rng=rng, validation=(x_val, y_val), on_epoch=lambda *_: mistakes.append(net.predict(x_val) != y_val))
out["history"] = [history.loss, history.accuracy, history.val_loss, history.val_accuracy]
out["still wrong"] = mistakes[history.best_epoch][mistakes[-1]].mean()
out["3,200 on test"] = nn.evaluate(net, digits.x_test, digits.y_test).accuracy

for lr, momentum in [(0.1, 0.9), (0.01, 0.0)]:
    for loss, last in [("softmax_cross_entropy", []), ("expected_squared_distance", [nn.Softmax()])]:
        rng = np.random.default_rng(0)
        net = nn.Sequential(*nn.models.mlp((784, 128, 10), rng=rng), *last)
        nn.train(net, digits, epochs=10, batch_size=64, lr=lr, momentum=momentum, rng=rng, loss=loss)
        out.setdefault(loss, []).append(nn.accuracy(net.predict(digits.x_test), digits.y_test))
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def trained():
    env = os.environ | {"COURSE_PROGRESS": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run([sys.executable, "-c", TRAINING], env=env, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def printed():
    """Everything the committed lesson prints, as one text."""
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    return "\n".join(o.text for c in cells for o in c.get("outputs", []) if o.output_type == "stream")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_mlp_reaches_93_percent_on_test_digits(trained, seed):
    assert trained["test"][seed] >= 0.93


def test_training_accuracy_is_full_although_test_accuracy_is_not(trained):
    assert min(trained["train"]) >= 0.999
    assert max(trained["test"]) < 0.97


def test_shuffled_labels_are_learned_by_heart_and_worth_nothing(trained):
    assert trained["shuffled train"] >= 0.99
    assert trained["shuffled test"] < 0.16


def test_overfitting_is_seen_in_the_validation_loss_and_not_in_its_accuracy(trained):
    loss, accuracy, val_loss, val_accuracy = trained["history"]
    assert loss[-1] < 0.01
    assert accuracy[-1] >= 0.999
    assert val_loss[-1] > 1.05 * min(val_loss)
    assert val_accuracy[-1] > max(val_accuracy) - 0.02
    assert trained["still wrong"] > 0.5


def test_20_epochs_have_more_right_answers_than_the_epoch_of_the_lowest_loss(trained):
    _, _, val_loss, val_accuracy = trained["history"]
    assert val_accuracy[-1] > val_accuracy[int(np.argmin(val_loss))]


def test_the_lower_validation_score_is_mostly_luck_of_the_split(trained):
    """One and the same network differs by more between the two sets than 800 more training digits change it."""
    same_network = trained["3,200 on test"] - trained["history"][3][-1]
    assert same_network > abs(trained["test"][0] - trained["3,200 on test"])


def test_worst_mistakes_are_made_with_near_certainty(trained):
    assert len(trained["worst"]) == 20
    assert trained["worst"][4] > 0.95


def test_disputed_labels_are_in_the_training_set_and_learned_as_they_are(trained):
    digits = data.load_digits(0)
    assert digits.y_train[[747, 2464, 2367]].tolist() == [7, 4, 2]
    assert digits.y_test[269] == 1
    assert trained["disputed"] == [7, 4, 2]


def test_white_on_black_is_worse_than_guessing(trained):
    assert trained["white on black"] < 0.10


def test_expected_squared_distance_gets_stuck_where_cross_entropy_with_the_same_steps_does_not(trained):
    assert max(trained["expected_squared_distance"]) < 0.5
    assert min(trained["softmax_cross_entropy"]) > 0.8


def test_softmax_jacobian_is_k_times_delta_minus_k():
    z = np.random.default_rng(0).normal(size=6)
    k = ops.softmax(z)
    expected = np.array([[k[i] * ((i == m) - k[m]) for m in range(6)] for i in range(6)])
    np.testing.assert_allclose(ops.softmax_jacobian(k), expected, rtol=1e-12)
    measured = [checks.numerical_gradient(lambda z, i=i: ops.softmax(z)[i], z) for i in range(6)]
    np.testing.assert_allclose(expected, measured, rtol=1e-6)


def test_fused_gradient_is_k_minus_onehot():
    rng = np.random.default_rng(1)
    z, labels = rng.normal(size=(5, 10)), rng.integers(10, size=5)
    _, cache = ops.softmax_cross_entropy_forward(z, labels)
    expected = (ops.softmax(z) - np.eye(10)[labels]) / 5
    np.testing.assert_allclose(ops.softmax_cross_entropy_backward(cache), expected, rtol=1e-12)
    checks.check_op_gradients(
        ops.softmax_cross_entropy_forward, ops.softmax_cross_entropy_backward, [z, labels], rng=rng
    )


@pytest.mark.parametrize(("kind", "limit", "first"), [(np.float32, 88.7228, 89), (np.float64, 709.7827, 710)])
def test_where_the_power_of_e_overflows(kind, limit, first):
    with np.errstate(over="ignore"):
        powers = np.exp(np.arange(1000, dtype=kind))
    assert np.flatnonzero(np.isinf(powers))[0] == first
    assert np.log(float(np.finfo(kind).max)) == pytest.approx(limit, abs=1e-3)


def test_sum_of_powers_overflows_before_any_power_and_gives_zeros_without_nan():
    with np.errstate(over="ignore"):
        powers = np.exp(np.array([88.5, 88.5, 0], dtype=np.float32))
        k = powers / powers.sum()
    assert np.isfinite(powers).all()
    np.testing.assert_array_equal(k, 0)


def test_library_is_right_at_scores_of_10_000():
    z = np.array([[1e4, 1e4, 0]], dtype=np.float32)
    np.testing.assert_array_equal(ops.softmax(z), [[0.5, 0.5, 0]])
    loss, _ = ops.softmax_cross_entropy_forward(z, np.array([2]))
    assert loss == pytest.approx(1e4 + np.log(2), rel=1e-6)


def test_erratum_2_relu_derivative_is_one_and_dg_dw_is_x():
    """And a third slip in the same formula: dE/dk is (j - T)^2 / B, since E is linear in k."""
    rng = np.random.default_rng(2)
    x, w, labels = rng.normal(size=(4, 3)), rng.normal(size=(3, 5)), np.array([0, 3, 1, 4])
    difference = np.arange(5) - labels[:, None]

    def forward(w):
        g = ops.dense_forward(x, w)[0]
        k = ops.softmax(ops.relu(g))
        return ops.expected_squared_distance_forward(k, labels)[0], (g, k)

    def backward(cache, dk=difference**2 / 4, relu_prime=ops.relu_prime, times=lambda dg: x.T @ dg):
        g, k = cache
        return times(ops.softmax_backward(dk, k) * relu_prime(g))

    checks.check_op_gradients(forward, backward, [w], rng=rng)
    slide = (
        {"relu_prime": ops.relu},
        {"times": lambda dg: np.tile(dg.sum(axis=0) * w.sum(), (3, 1))},
        {"dk": 2 * difference / 4},
    )
    for slip in slide:
        with pytest.raises(checks.GradientMismatch):
            checks.check_op_gradients(forward, lambda cache, s=slip: backward(cache, **s), [w], rng=rng)


def test_momentum_lengthens_a_steady_step_tenfold():
    w, v = np.array([0.0]), np.array([0.0])
    for _ in range(200):
        before = w.copy()
        ops.sgd_step([w], [np.array([1.0])], 0.1, 0.9, [v])
    assert (w - before).item() == pytest.approx(-1.0)


@pytest.mark.parametrize(
    "text",
    [
        "691,200 labels in an internship",
        "[0.665 0.245 0.09 ]",
        "float32: e^89 is the first inf; the limit is 88.72",
        "float64: e^710 is the first inf; the limit is 709.78",
        "scores [89, 0, 0]: k = [nan  0.  0.], sum of k = nan",
        "scores [88.5, 88.5, 0]: k = [0. 0. 0.], sum of k = 0.0",
        "scores (10000, 10000, 0): k = [0.5 0.5 0. ], loss for label 2: 10000.69",
        "['label 7', 'label 4', 'label 2'] - the network answers [7 4 2]",
        "dY/dG = Y: rejected",
        "dG/dW = sum of W: rejected",
        "dE/dk = 2(j - T)/B: rejected",
    ],
)
def test_lesson_prints(printed, text):
    assert text in printed


def test_lesson_prints_the_accuracies_that_it_asserts(printed):
    seeds = re.findall(r"seed (\d), 4,000 digits: training 100.0%   test ([\d.]+)%", printed)
    assert [seed for seed, _ in seeds] == ["0", "1", "2"]
    assert all(float(tested) >= 93 for _, tested in seeds)
    fitted, tested = re.search(r"shuffled labels: training ([\d.]+)%, test ([\d.]+)%", printed).groups()
    assert float(fitted) >= 99
    assert float(tested) < 16


def test_lesson_prints_numbers_and_not_whether_they_are_right(printed):
    assert not re.search(r"\bTrue$", printed, re.MULTILINE)
