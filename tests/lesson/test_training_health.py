"""What lesson 06b asks of a network: signals of a layer, a rate that rises, and trainings that were written down."""

import json

import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops
from course_lib.lesson import (
    Runs,
    examine,
    lead,
    rate_range,
    sick_curves,
    signals,
    strangers,
    training_runs,
    waking_epochs,
    warm_up_runs,
    xor_runs,
)
from course_lib.lesson.training_health import rms


def rng(seed=0):
    return np.random.default_rng(seed)


def net(sizes=(3, 4, 2), **options):
    return nn.models.mlp(sizes, rng=rng(), dtype=np.float64, ops=ops, **options)


X, Y = rng(5).normal(size=(6, 3)), np.array([0, 1, 1, 0, 1, 0])


def test_the_spread_is_the_root_of_the_mean_square():
    assert rms(np.array([[3.0, 4.0], [0.0, 0.0]])) == 2.5
    assert rms(np.array([200, 200], np.uint8)) == 200, "whole numbers do not overflow"


def test_signals_are_those_of_each_hidden_layer():
    one = net((3, 4, 5, 2))
    before = {name: p.copy() for name, p in one.parameters().items()}
    found = signals(one, X, Y)
    assert [s.layer for s in found] == [1, 2]
    a = np.maximum(X @ before["0.w"], 0)
    assert found[0].output == pytest.approx(rms(a))
    assert found[0].idle == pytest.approx(np.mean((a == 0).all(axis=0)))
    for name, p in one.parameters().items():
        np.testing.assert_array_equal(p, before[name])
    again = signals(one, X, Y)
    assert again == found, "gradients do not add up from call to call"


def test_units_that_are_idle_and_outputs_that_are_saturated_are_counted():
    one = net()
    one.parameters()["0.b"][:2] = -100
    assert signals(one, X, Y)[0].idle >= 0.5
    large = net(activation="tanh", init=nn.init.normal(50))
    assert signals(large, X, Y)[0].saturated > 0.8
    assert signals(net(activation="tanh", init=nn.init.normal(0.01)), X, Y)[0].saturated == 0


def test_a_step_is_a_share_of_the_weights_and_0_for_weights_of_0():
    one = net()
    before = one.parameters()["0.w"].copy()
    (found,) = signals(one, X, Y)
    nn.SGD(one).step(0.5)
    assert found.weights == pytest.approx(rms(before))
    assert found.step(0.5) == pytest.approx(rms(one.parameters()["0.w"] - before) / rms(before))
    assert signals(net(init=nn.init.zeros), X, Y)[0].step(0.5) == 0


def test_an_examination_leaves_out_no_number_and_needs_ten_samples():
    x, y = rng(5).normal(size=(12, 3)), np.arange(12) % 2
    found = examine(net, (x, y), lr=0.1)
    assert found.loss == pytest.approx(nn.evaluate(net(), x, y).loss)
    (signal,) = signals(net(), x, y)
    assert found.step == (signal.step(0.1), signal.step(0.1))
    assert (found.forward, found.stuck) == (1, signal.idle)
    assert 0 <= found.learned <= 10
    with pytest.raises(ValueError, match="there are 9 samples; ten are learned by heart"):
        examine(net, (x[:9], y[:9]), lr=0.1)


@pytest.mark.parametrize(
    "layers",
    [
        lambda: [nn.Dense(3, 4, rng=rng()), nn.Dense(4, 4, rng=rng()), nn.Dense(4, 2, rng=rng())],
        lambda: [nn.Dense(3, 4, rng=rng()), nn.ReLU()],
        lambda: [nn.Dense(3, 4, rng=rng()), nn.Dropout(0.5, rng=rng()), nn.Dense(4, 2, rng=rng())],
    ],
)
def test_another_kind_of_network_is_refused(layers):
    with pytest.raises(ValueError, match="Dense layers with an activation after each but the last"):
        signals(nn.Sequential(*layers()), X, Y)


def test_a_rate_rises_by_one_factor_and_ends_where_the_loss_breaks_out():
    rates, losses = rate_range(net(), (X, Y), rng=rng(), lowest=1e-3, highest=1e4, steps=60, batch_size=6)
    np.testing.assert_allclose(rates[1:] / rates[:-1], rates[1] / rates[0])
    assert len(rates) == len(losses) <= 60
    assert len(losses) == 60 or not losses[-1] < 4 * losses[0]
    whole = rate_range(net(), (X, Y), rng=rng(), lowest=1e-6, highest=1e-5, steps=9)
    assert len(whole[0]) == len(whole[1]) == 9
    assert whole[0][0] == pytest.approx(1e-6)
    assert whole[0][-1] == pytest.approx(1e-5)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"lowest": 1.0, "highest": 0.1}, "the rate must grow"),
        ({"steps": 0}, "steps"),
        ({"lowest": 0}, "lowest"),
        ({"batch_size": 0}, "batch_size"),
    ],
)
def test_a_range_that_is_none_is_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        rate_range(net(), (X, Y), rng=rng(), **wrong)


def test_runs_have_a_mean_and_a_range_and_come_from_the_committed_file():
    assert Runs("a", (1.0,), (90.0, 91.0, 92.0)).mean == 91
    assert Runs("a", (1.0,), (90.04, 91.0, 92.0)).range == "90.0 to 92.0"
    for part in ("scales", "inputs", "rules", "search", "few"):
        runs = training_runs(part)
        assert all(len(r.validation) == len(r.training) == 5 for r in runs.values())
        assert all(0 <= min(r.validation) <= max(r.validation) <= 100 for r in runs.values())
    assert all(of == 10 for _, of in xor_runs().values())
    assert [len(reads) for reads in warm_up_runs().values()] == [40, 40]
    assert len({s.name for s in strangers()}) == len(strangers()) == 60
    assert all(s.learns == (s.reads >= 80) and set(s.failed) <= {1, 2, 3, 4} for s in strangers())
    assert len(waking_epochs()) == 5
    assert {len(losses) for curve in sick_curves().values() for losses in curve} == {21}


def test_a_lead_is_taken_seed_by_seed_with_the_uncertainty_of_its_mean():
    better, worse = Runs("a", (), (91.0, 93.0, 90.0)), Runs("b", (), (90.0, 91.0, 90.0))
    assert lead(better, worse) == pytest.approx((1, 1 / np.sqrt(3)))
    assert lead(worse, better)[0] == pytest.approx(-1)
    with pytest.raises(ValueError, match="one seed says nothing"):
        lead(Runs("a", (), (91.0,)), Runs("b", (), (90.0,)))
    with pytest.raises(ValueError, match="shorter"):
        lead(better, Runs("b", (), (90.0, 91.0)))


def test_a_file_or_a_part_that_is_missing_is_told_with_what_makes_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"tools/measure_training\.py --out writes it"):
        training_runs("scales", folder=tmp_path)
    (tmp_path / "training.json").write_text(json.dumps({"parts": {"xor": []}}))
    with pytest.raises(LookupError, match="has no part 'scales'; there are xor"):
        training_runs("scales", folder=tmp_path)
    assert xor_runs(folder=tmp_path) == {}
