"""Numbers may differ where machines do, and nowhere else."""

import pytest
from notebook_lib.tolerance import TolerantText, same_output


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("loss 0.123456789", "loss 0.123456189"),
        ("1.5e-05, done.", "1.50000001e-05, done."),
        ("[ 0.12345678 -1.        ]", "[ 0.123456781 -1.         ]"),
        ("[ 1e-17 0.5]", "[-3e-17 0.5]"),
        ("0.0", "-0.0"),
        ("a\n0.3000000 b", "a\n0.3000001 b"),
        ("12.34567890%", "12.34567891%"),
    ],
)
def test_equal_up_to_round_off(a, b):
    assert same_output(a, b)
    assert same_output(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("0.123", "0.124"),
        ("loss 0.1234", "cost 0.1234"),
        ("loss 0.12345678", "cost 0.12345679"),
        ("1000000", "1000001"),
        ("1", "1.0"),
        ("-1", "1"),
        ("a b", "a  b"),
        ("a b", "a\nb"),
        ("0.5 0.5", "0.5"),
        ("nan", "0.5"),
        ("1.2.3", "1.2.4"),
        ("#1e5000", "#1e5001"),
        ("x=%22100.00001%22", "x=%22100.00002%22"),
        ("12.000001ms", "12.000002ms"),
        ("M10.000001,2", "M10.000002,2"),
        ("(4, 3)", "(3, 4)"),
        ("9999.99999", "-9999.99999"),
    ],
)
def test_different(a, b):
    assert not same_output(a, b)
    assert not same_output(b, a)


def test_the_string_compares_by_tolerance_in_both_directions():
    near, far = TolerantText("0.5000001"), TolerantText("0.501")
    assert near == TolerantText("0.5")
    assert (near != TolerantText("0.5")) is False
    assert far != TolerantText("0.5")
    assert near != 0.5
