"""Of the ways that are timed for a layer none computes something else, and each is named with its size."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.bench.fft_cases import Sweep
from course_lib.cuda.choice import SIMT
from course_lib.cuda.device import choice
from course_lib.cuda.ladders.conv2d.forward.checks import sizes_of
from tools import layer_cases

pytestmark = pytest.mark.skipif(choice().device != SIMT, reason="tiny sizes, for the SIMT executor")


def gives(*numbers):
    return lambda: (gpu.to_device(np.array(numbers, np.float32).reshape(-1, 1, 1, 1)),)


def test_a_way_that_computes_something_else_is_not_timed():
    s = sizes_of((3, 1, 1, 1), (1, 1, 1, 1))
    layer_cases.compare({"first": gives(1, 2, 3), "second": gives(1 + 1e-6, 9, 3)}, s)
    for wrong in (gives(1 + 1e-3, 2, 3), gives(1, 2, np.nan), gives(np.nan, 2, 3)):
        with pytest.raises(AssertionError, match="second"):
            layer_cases.compare({"first": gives(1, 2, 3), "second": wrong}, s)


def test_each_way_is_named_with_its_batch_and_a_rung_for_one_layer_plays_on_that_layer_only():
    names = layer_cases.batches(tiny=True)
    assert [name for name in names if name.endswith(", 2")] == [
        "v01_basic, 2",
        "v05b_c1_layer, 2",
        "v06_specialised, 2",
    ]
    x, w = layer_cases._normal(1, 1, 8, 8), layer_cases._normal(2, 1, 3, 3)
    assert list(layer_cases.ways(x, w, ("v05",), False, True)) == ["v05_register_tiled"]


def test_masks_larger_than_the_image_are_left_out_and_large_ones_have_no_kernel_of_their_own(monkeypatch):
    asked = []
    monkeypatch.setattr(layer_cases, "ways", lambda x, w, rungs, *_: asked.append((w.shape[2], rungs)) or {})
    layer_cases.crossing(Sweep(1, 1, 16, 1), False)
    assert [K for K, _ in asked] == [3, 5, 7, 9, 11, 15]
    assert ["v06" in rungs for _, rungs in asked] == [True] * 5 + [False]
