"""Convolutions by transforms are players of `course bench gpu` in all three directions."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.bench.gpu import fft, with_numpy
from course_lib.bench.gpu.cases import CASES
from course_lib.bench.gpu.fft import CUFFT
from course_lib.cuda.choice import SIMT
from course_lib.cuda.device import choice

pytestmark = pytest.mark.skipif(choice().device != SIMT, reason="tiny sizes, for the SIMT executor")


@pytest.mark.parametrize("direction", ["forward", "dX", "dW"])
def test_cufft_plays_only_where_it_is_and_does_all_of_it_again(direction, monkeypatch):
    case, done = CASES[f"conv 1->6 k5 {direction}"], []
    assert CUFFT not in case.work(with_numpy, small=True).ours
    monkeypatch.setattr(fft.cufft, "available", lambda: True)
    monkeypatch.setitem(fft.WAYS, direction, lambda s, *arrays: done.append([tuple(a.shape) for a in arrays]))
    player = case.work(with_numpy, small=True).ours[CUFFT]()
    assert (player.kind, player.calls[0].launches, done) == ("FFT", (), [])
    outputs = player.calls[0]()
    player.calls[0]()
    assert len(done) == 2
    assert done[0][2:] == [tuple(out.shape) for out in outputs]
    assert all(np.isnan(gpu.to_host(out)).all() for out in outputs)
