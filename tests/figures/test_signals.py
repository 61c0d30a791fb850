"""The signal through eight layers and the six curves: what is counted, and what the pictures say."""

import json

import numpy as np
import pytest

from course_lib import data, figures, nn
from course_lib.figures import doctor, rates, signals
from course_lib.lesson import sick_curves
from course_lib.lesson.training_health import rms


@pytest.mark.parametrize("activation", signals.AXES)
def test_a_layer_is_counted_as_a_loop_over_the_layers_counts_it(activation):
    sd, digits, rng = 0.1, data.load_digits(), np.random.default_rng(0)
    x = digits.x_train[:200].astype(float)
    low, high = signals.AXES[activation]
    for k, layer in enumerate(signals.flow(activation, sd)):
        n_in = 784 if k == 0 else 100
        z = x @ ((np.sqrt(2 / 784) if k == 0 else sd) * rng.standard_normal((n_in, 100)))
        x = np.maximum(z, 0) if activation == "ReLU" else np.tanh(z)
        assert layer["rms"] == pytest.approx(rms(x), rel=5e-3)
        shown = x[x > 0] if activation == "ReLU" else x
        assert sum(layer["counts"]) == pytest.approx(100, abs=2)
        assert layer["counts"][0] == pytest.approx(100 * np.mean(shown < low + (high - low) / signals.BINS), abs=0.06)
        stuck = np.mean(x == 0) if activation == "ReLU" else np.mean(abs(x) > 0.95)
        assert layer["stuck"] == pytest.approx(stuck, abs=6e-4)


def test_the_gradient_falls_with_the_weights_and_rises_with_them():
    first = [signals.flow("ReLU", sd)[0]["back"] for sd in signals.SCALES]
    assert (np.diff(first) > 0).all()


def test_hes_deviation_is_on_the_slider():
    assert signals.HE in signals.SCALES
    assert pytest.approx(np.sqrt(2 / 100), abs=5e-5) == signals.HE
    assert list(signals.SCALES) == sorted(signals.SCALES)


def test_the_static_picture_says_what_is_found():
    one = figures.signal_explorer(sd=0.05)
    small, fit, large = (signals.flow("ReLU", sd) for sd in (0.05, signals.HE, 0.4))
    for value in (f"{small[-1]['rms']:.1g}", f"{min(r['rms'] for r in fit):.2g}", f"{large[-1]['rms']:.3g}"):
        assert value in one.static.alt
    assert one.html == figures.signal_explorer(sd=0.05).html
    json.dumps(one.data, allow_nan=False)


@pytest.mark.parametrize("wrong", [{"sd": 0.06}, {"activation": "sigmoid"}])
def test_an_unknown_start_is_refused_with_what_there_is(wrong):
    with pytest.raises(ValueError, match=r"there are .*0\.1414.* and ReLU, tanh"):
        figures.signal_explorer(**wrong)


def test_there_is_one_patient_for_each_diagnosis_and_curves_that_are_missing_are_named():
    curves = sick_curves()
    one = figures.diagnose(curves)
    assert [patient["name"] for patient in one.data["patients"]] == list(doctor.ORDER)
    assert {ward.name for ward in doctor.WARDS} == set(doctor.ORDER)
    assert pytest.approx(np.log(10)) == doctor.GUESSING
    for k, name in enumerate(doctor.ORDER):
        assert name not in one.static.alt, "the static picture gives nothing away"
        assert f"patient {k + 1} ends at {curves[name][0][-1]:.2g} and {curves[name][1][-1]:.2g}" in one.static.alt
    del curves["sound"]
    with pytest.raises(ValueError, match="there must be one each"):
        figures.diagnose(curves)


def test_a_range_test_shows_each_batch_and_their_running_mean():
    losses = np.array([2.0, 2, 1, 1, 0, 0, 5])
    np.testing.assert_allclose(rates.running_mean(losses, 2), [2, 1.5, 1, 0.5, 0, 2.5])
    fig = rates.range_test(np.geomspace(1e-3, 1, 7), losses, guessing=2.3, smooth=2)
    each, mean, line = fig.axes[0].lines
    np.testing.assert_allclose(each.get_ydata(), losses)
    np.testing.assert_allclose(mean.get_ydata(), rates.running_mean(losses, 2))
    assert set(line.get_ydata()) == {2.3}
    with pytest.raises(ValueError, match="5 of each are the least"):
        rates.range_test([1, 2], [1, 2])
    schedule = [nn.schedules.cosine(0.1, 5)(k) for k in range(6)]
    np.testing.assert_allclose(rates.schedule(schedule).axes[0].lines[0].get_ydata(), schedule)
    with pytest.raises(ValueError, match="rates"):
        rates.schedule([])
