"""Rounding compiled is the reference's, bit for bit, in any order of memory."""

import numpy as np
import pytest

from course_lib import fast
from course_lib.reference.formats import FORMATS, round_to
from tests.cuda.test_precision import awkward_numbers


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_it_rounds_as_the_reference_bit_for_bit(name, saturate):
    x = awkward_numbers(name)
    found, expected = (f(x, name, saturate=saturate) for f in (fast.round_to, round_to))
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(found[numbers].view(np.uint32), expected[numbers].view(np.uint32))


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_any_order_of_memory_and_any_shape_will_do(name):
    x = np.random.default_rng(0).standard_normal((6, 5, 4)).astype(np.float32)
    for view in (
        x,
        x.T,
        x.transpose(1, 2, 0),
        x[::2, 1:, ::-1],
        x[:, :0],
        np.broadcast_to(x[0], (3, 5, 4)),
        x[0, 0, 0],
    ):
        found = fast.round_to(view, name)
        np.testing.assert_array_equal(found, round_to(view, name))
        assert not np.shares_memory(found, x)
    turned = fast.round_to(x.transpose(1, 2, 0), name)
    assert turned.strides == x.transpose(1, 2, 0).strides
    assert fast.round_to(x.astype(np.float64), name).dtype == np.float32
