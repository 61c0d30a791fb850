"""Images lie side by side in memory, from one layer to the next, and begin on a cache line."""

import numpy as np
import pytest

from course_lib import fast
from course_lib.fast.layout import CACHE_LINE, empty, images_first, images_last, lies_images_last
from tests.cases import all_of

from ..reference.strategies import LAYOUTS, lay_out


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_arrays_begin_on_a_cache_line(dtype):
    kept = [empty(shape, dtype) for shape in (1, 3, 1000, (7, 5), (2, 3, 4, 5), 0, (0, 3), ()) for _ in range(5)]
    for array in kept:
        assert array.size == 0 or array.ctypes.data % CACHE_LINE == 0
        assert array.dtype == dtype
        assert array.flags.writeable
        array[...] = 1  # all of it is there
    assert [a.shape for a in kept[::5]] == [(1,), (3,), (1000,), (7, 5), (2, 3, 4, 5), (0,), (0, 3), ()]


@all_of("layout", LAYOUTS)
@all_of(
    "shape", [(1, 1, 1, 1), (1, 3, 5, 4), (17, 1, 4, 4), (16, 2, 3, 3), (33, 3, 7, 5), (2, 3, 0, 4)]
)
def test_turning_a_batch_moves_every_number_to_its_place_and_back(layout, shape):
    x = lay_out(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), layout)
    turned = images_last(x)
    assert turned.flags.c_contiguous
    np.testing.assert_array_equal(turned, x.transpose(1, 2, 3, 0))
    np.testing.assert_array_equal(images_first(turned), x)
    assert np.may_share_memory(turned, x) == (lies_images_last(x) and x.size > 0)
    assert np.shares_memory(images_first(turned), turned) == (x.size > 0)


def test_layers_hand_on_images_without_moving_them():
    x = np.random.default_rng(0).standard_normal((6, 2, 9, 9)).astype(np.float32)
    assert not lies_images_last(x)
    w = x[:3, :, :3, :3]
    y, conv = fast.conv2d_forward(x, w)
    a, relu = fast.relu_forward(y)
    s, subsample = fast.subsample_forward(a, x[0, 0, :3, 0], x[0, 0, :3, 1])
    p, pool = fast.max_pool_forward(s)
    m, average = fast.average_pool_forward(p, 1)
    outputs = [y, a, s, p, m]
    dp = fast.average_pool_backward(m, average)
    ds = fast.max_pool_backward(dp, pool)
    da = fast.subsample_backward(ds, subsample)[0]
    dz = fast.relu_backward(da, relu)
    dx = fast.conv2d_backward(dz, conv)[0]
    for array in (*outputs, dp, ds, da, dz, dx):
        assert lies_images_last(array)
    assert dx.shape == x.shape
