"""Truth tables and seeded points: exact where they can be exact, balanced, repeatable, with errors that name values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import data
from course_lib.data import blobs, line, plane, rings, spirals, truth_table, two_moons

SETS = {
    "line": lambda n, noise, rng: line(n, slope=2.0, intercept=-1.0, noise=noise, rng=rng),
    "plane": lambda n, noise, rng: plane(n, w=[1.0, -2.0, 0.5], b=3.0, noise=noise, rng=rng),
    "blobs": lambda n, noise, rng: blobs(n, centers=[(0, 0), (3, 3), (-3, 3)], spread=noise, rng=rng),
    "two_moons": lambda n, noise, rng: two_moons(n, noise=noise, rng=rng),
    "rings": lambda n, noise, rng: rings(n, noise=noise, rng=rng),
    "spirals": lambda n, noise, rng: spirals(n, classes=3, noise=noise, rng=rng),
}
CLASSES = {"blobs": 3, "two_moons": 2, "rings": 2, "spirals": 3}


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("and", lambda bits: all(bits)),
        ("or", lambda bits: any(bits)),
        ("nand", lambda bits: not all(bits)),
        ("xor", lambda bits: sum(bits) == 1),
        ("parity3", lambda bits: sum(bits) % 2 == 1),
    ],
)
def test_a_truth_table_lists_every_input_once_with_its_value(name, function):
    x, y = truth_table(name)
    inputs = 3 if name == "parity3" else 2
    assert x.shape == (2**inputs, inputs)
    assert x.dtype == np.float64
    assert y.dtype == np.int64
    np.testing.assert_array_equal(x @ 2 ** np.arange(inputs)[::-1], np.arange(2**inputs))
    np.testing.assert_array_equal(y, [int(function(row)) for row in x])


def test_parity_is_one_exactly_where_lecture_h_says():
    x, y = truth_table("parity3")
    ones = {"".join(str(int(bit)) for bit in row) for row in x[y == 1]}
    assert ones == {"001", "010", "100", "111"}


def test_a_truth_table_is_new_at_every_call():
    x, y = truth_table("xor")
    x[:], y[:] = 9, 9
    np.testing.assert_array_equal(truth_table("xor")[0].max(), 1)
    np.testing.assert_array_equal(truth_table("xor")[1], [0, 1, 1, 0])


@pytest.mark.parametrize("name", ["XOR", "nor", "", None, 2, ["xor"]])
def test_an_unknown_truth_table_lists_the_known_names(name):
    with pytest.raises(ValueError, match="known names are and, or, nand, xor, parity3") as caught:
        truth_table(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", SETS)
@given(n=st.integers(1, 60), seed=st.integers(0, 2**32), noise=st.floats(0, 2))
def test_any_set_has_its_shapes_and_is_repeatable(name, n, seed, noise):
    x, y = SETS[name](n, noise, generator(seed))
    assert x.shape == (n, {"line": 1, "plane": 3}.get(name, 2))
    assert y.shape == (n,)
    assert x.dtype == np.float64
    assert np.isfinite(x).all()
    again_x, again_y = SETS[name](n, noise, generator(seed))
    np.testing.assert_array_equal(x, again_x)
    np.testing.assert_array_equal(y, again_y)
    if name in CLASSES:
        assert y.dtype == np.int64
        counts = np.bincount(y, minlength=CLASSES[name])
        assert len(counts) == CLASSES[name]
        assert counts.max() - counts.min() <= 1
    else:
        assert y.dtype == np.float64


@pytest.mark.parametrize("name", SETS)
def test_another_seed_or_a_second_draw_gives_other_points(name):
    rng = generator(0)
    first, second, other = SETS[name](20, 0.1, rng), SETS[name](20, 0.1, rng), SETS[name](20, 0.1, generator(1))
    assert not np.array_equal(first[0], second[0])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("name", CLASSES)
def test_classes_come_in_shuffled_order(name):
    _, y = SETS[name](300, 0.1, generator())
    assert len(np.unique(y[:20])) == CLASSES[name]
    assert (np.diff(y) != 0).sum() > 50


def test_without_noise_the_points_lie_on_their_line_and_plane():
    x, y = line(50, slope=2.5, intercept=-1.0, noise=0, rng=generator())
    np.testing.assert_allclose(y, 2.5 * x[:, 0] - 1.0, rtol=0, atol=1e-15)
    x, y = plane(50, w=[1, -2, 3], b=0.5, noise=0.0, rng=generator())
    np.testing.assert_allclose(y, x[:, 0] - 2 * x[:, 1] + 3 * x[:, 2] + 0.5, rtol=0, atol=1e-14)
    assert x.min() >= -1
    assert x.max() < 1


def test_noise_has_the_standard_deviation_that_was_asked_for():
    x, y = line(20_000, slope=2, intercept=1, noise=0.3, rng=generator())
    np.testing.assert_allclose(np.std(y - 2 * x[:, 0] - 1), 0.3, rtol=0.03)
    x, y = blobs(20_000, centers=[(0, 0), (10, -10)], spread=0.5, rng=generator())
    for label, centre in enumerate([(0, 0), (10, -10)]):
        np.testing.assert_allclose(x[y == label].mean(axis=0), centre, atol=0.03)
        np.testing.assert_allclose(x[y == label].std(axis=0), 0.5, rtol=0.03)


def test_without_noise_rings_moons_and_spirals_lie_on_their_curves():
    x, y = rings(100, noise=0, rng=generator())
    np.testing.assert_allclose(np.hypot(*x.T), np.where(y == 0, 0.5, 1.0), rtol=1e-14)
    x, y = two_moons(100, noise=0, rng=generator())
    upper, lower = x[y == 0], x[y == 1]
    np.testing.assert_allclose(np.hypot(*upper.T), 1, rtol=1e-14)
    assert (upper[:, 1] >= 0).all()
    np.testing.assert_allclose(np.hypot(*(lower - (1, 0.5)).T), 1, rtol=1e-14)
    assert (lower[:, 1] <= 0.5).all()
    x, y = spirals(100, classes=4, noise=0, rng=generator())
    radius = np.hypot(*x.T)
    turn = np.angle(np.exp(1j * (np.arctan2(x[:, 1], x[:, 0]) - 2 * np.pi * (radius + y / 4))))
    np.testing.assert_allclose(turn, 0, atol=1e-12)
    assert radius.min() >= 0.1
    assert radius.max() <= 1


@pytest.mark.parametrize("name", ["two_moons", "rings", "spirals"])
def test_no_straight_line_separates_the_curved_sets(name):
    x, y = SETS[name](600, 0.02, generator())
    y = y == 0
    inputs = np.column_stack([x, np.ones(len(x))])
    w, *_ = np.linalg.lstsq(inputs, 2.0 * y - 1, rcond=None)
    assert np.mean((inputs @ w > 0) == y) < 0.95


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("n", "error", "message"),
    [
        (0, ValueError, "n is 0; it must be at least 1"),
        (-3, ValueError, "n is -3; it must be at least 1"),
        (2.0, TypeError, "n is float 2.0; it must be a whole number"),
        (True, TypeError, "n is bool True; it must be a whole number"),
        (None, TypeError, "n is NoneType None"),
    ],
)
def test_a_bad_count_is_named(name, n, error, message):
    with pytest.raises(error, match=message):
        SETS[name](n, 0.1, generator())


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("noise", "error", "message"),
    [
        (-0.5, ValueError, r"(noise|spread) is -0.5; it is a standard deviation, so it must be 0 or more"),
        (np.nan, ValueError, r"(noise|spread) is nan; it must be finite"),
        (np.inf, ValueError, r"(noise|spread) is inf; it must be finite"),
        ("0.1", TypeError, r"(noise|spread) is str '0.1'; it must be one real number"),
        (True, TypeError, r"(noise|spread) is bool True"),
    ],
)
def test_a_bad_noise_is_named(name, noise, error, message):
    with pytest.raises(error, match=message):
        SETS[name](10, noise, generator())


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("rng", [0, None, np.random, np.random.RandomState(0)])
def test_anything_but_a_generator_is_refused_with_the_fix(name, rng):
    with pytest.raises(TypeError, match=r"Did you mean rng=np\.random\.default_rng\(0\)\?"):
        SETS[name](10, 0.1, rng)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: line(5, slope=np.nan, intercept=0, noise=0, rng=r), ValueError, "slope is nan"),
        (lambda r: line(5, slope=[1], intercept=0, noise=0, rng=r), TypeError, r"slope is list \[1\]"),
        (lambda r: line(5, slope=1, intercept="x", noise=0, rng=r), TypeError, "intercept is str 'x'"),
        (lambda r: plane(5, w=3.0, b=0, noise=0, rng=r), ValueError, r"w has shape \(\).*\(any,\)"),
        (lambda r: plane(5, w=[], b=0, noise=0, rng=r), ValueError, r"w has shape \(0,\)"),
        (lambda r: plane(5, w=[1, np.inf], b=0, noise=0, rng=r), ValueError, "w holds inf"),
        (lambda r: plane(5, w=["a"], b=0, noise=0, rng=r), ValueError, "w is list"),
        (lambda r: plane(5, w=[1], b=None, noise=0, rng=r), TypeError, "b is NoneType None"),
        (lambda r: blobs(5, centers=(1, 2), spread=1, rng=r), ValueError, r"shape \(2,\).*\(any, 2\)"),
        (lambda r: blobs(5, centers=[(1, 2, 3)], spread=1, rng=r), ValueError, r"shape \(1, 3\).*\(any, 2\)"),
        (lambda r: blobs(5, centers=[(1, 2), (3,)], spread=1, rng=r), ValueError, "centers is list"),
        (lambda r: spirals(5, classes=1, noise=0, rng=r), ValueError, "classes is 1; it must be at least 2"),
        (lambda r: spirals(5, classes=2.5, noise=0, rng=r), TypeError, "classes is float 2.5"),
    ],
)
def test_other_bad_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call(generator())


def test_blobs_leave_the_callers_centres_alone():
    centers = np.array([[0.0, 0.0], [1.0, 1.0]])
    blobs(10, centers=centers, spread=1.0, rng=generator())
    np.testing.assert_array_equal(centers, [[0, 0], [1, 1]])


def test_every_public_name_exists_and_says_what_it_is():
    for name in data.__all__:
        if name.isupper():
            assert len(getattr(data, name)) == 10
        else:
            assert len(getattr(data, name).__doc__) > 60
    functions = [getattr(data, name) for name in data.__all__ if name.islower()]
    for function in functions:
        for section in ("Parameters", "Returns", "Raises"):
            assert section in function.__doc__, f"{function.__name__} has no {section}"
