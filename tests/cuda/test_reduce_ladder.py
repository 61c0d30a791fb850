"""The ladder of sums: exact on whole numbers of any count, the same bits each time, and the traffic of its formulas."""

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda.ladders.reduce import LADDER, v05_grid_stride, v06_one_pass
from tests.cases import all_of
from tests.cuda.counted import counted
from tests.cuda.unfit import KINDS, unfit
from tests.gpu.devices import each_rung, nans, needs_numba, needs_simt, needs_warps

SIZES = (1, 2, 31, 33, 256, 257, 777, 1024, 5000, 66_001)
every_rung = each_rung(LADDER, warps=(4, 5, 6))
every_launcher = each_rung(LADDER)


def whole(n):
    return np.random.default_rng(n).integers(-4, 5, n).astype(np.float32)


def sum_of(rung, x):
    out = nans(1)
    rung.launch(gpu.to_device(x) if isinstance(x, np.ndarray) else x, out)
    return gpu.to_host(out)[0]


def test_rungs_are_in_order_and_named_after_their_files():
    assert [r.number for r in LADDER] == [1, 2, 3, 4, 5, 6]
    assert [r.launch.__module__.rpartition(".")[2] for r in LADDER] == [r.name for r in LADDER]


@every_rung
@pytest.mark.parametrize("n", SIZES)
def test_sum_of_whole_numbers_is_exact_for_any_count(rung, n):
    assert sum_of(rung, whole(n)) == whole(n).sum()


@every_rung
def test_array_of_any_shape_is_summed_whole(rung):
    x = whole(7 * 13 * 5)
    assert sum_of(rung, x.reshape(7, 13, 5)) == x.sum()


@every_rung
def test_array_that_begins_anywhere_is_summed(rung):
    x = whole(3001)
    assert sum_of(rung, gpu.to_device(x)[1:]) == x[1:].sum()


@every_rung
@pytest.mark.parametrize("n", [100, 5000])
def test_sum_has_the_error_of_a_tree_and_the_same_bits_each_time(rung, n):
    x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    first = sum_of(rung, x)
    np.testing.assert_allclose(first, x.sum(dtype=np.float64), atol=2**-24 * 40 * np.abs(x).sum())
    assert {sum_of(rung, x) for _ in range(3)} == {first}


@every_rung
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_number_that_is_not_finite_reaches_the_sum(rung, special):
    x = whole(700)
    x[333] = special
    np.testing.assert_equal(sum_of(rung, x), np.float32(special))


@needs_numba
@every_launcher
@all_of("n", [1, 33, 256, 300, 777, 5000, 66_001])
def test_traffic_is_what_the_formula_says(rung, n):
    counts, hazards = counted(rung.launch, gpu.to_device(whole(n)), nans(1))
    promised = rung.traffic(n)
    assert {name: counts[name] for name in promised} == promised
    assert hazards == []


def test_counters_move_as_the_ladder_says():
    a_block = [rung.traffic(256) for rung in LADDER[:2]]
    assert [c["divergent_branches"] for c in a_block] == [48, 6]
    assert [c["shared_load_requests"] for c in a_block] == [95, 25]
    assert (
        LADDER[2].traffic(512)["barriers"] == LADDER[1].traffic(512)["barriers"] // 3
    )  # 1 block for 2, and 1 for those
    assert LADDER[3].traffic(512)["shared_load_requests"] == 1
    big = [LADDER[4].traffic(n)["barriers"] for n in (2**20, 2**22)]
    assert big[0] == big[1]
    assert LADDER[5].traffic(2**20)["global_load_requests"] == 2**20 // 128 + 32


@needs_simt  # a small grid needs other constants, and a compiled kernel keeps those that it has
def test_few_blocks_walk_over_many_numbers(monkeypatch):
    monkeypatch.setattr(v05_grid_stride, "BLOCKS", 2)
    monkeypatch.setattr(v06_one_pass, "BLOCKS", 3)
    for rung in LADDER[4:]:
        assert sum_of(rung, whole(9001)) == whole(9001).sum()


@gpu.jit
def draw_a_ticket(tickets):
    tickets[0] = 1


class Stopped:
    """A kernel that is interrupted when one block has drawn its ticket."""

    def __getitem__(self, configuration):
        def launch(x, whole, sums, tickets, out):
            draw_a_ticket[1, 1](tickets)
            raise KeyboardInterrupt

        return launch


@needs_warps
def test_sum_after_a_launch_that_was_stopped_is_right(monkeypatch):
    one_pass = LADDER[-1]
    with monkeypatch.context() as patch:
        patch.setattr(v06_one_pass, "_reduce_v06", Stopped())
        with pytest.raises(KeyboardInterrupt):
            sum_of(one_pass, whole(5000))
    assert sum_of(one_pass, whole(5000)) == whole(5000).sum()


@every_launcher
@all_of("kind", KINDS)
def test_array_that_does_not_fit_is_refused(rung, kind):
    x, error = unfit(kind, whole(12).reshape(3, 4))
    with pytest.raises(error, match=r"^x "):
        rung.launch(x, nans(1))


@every_launcher
@pytest.mark.parametrize(("out", "error"), [
    (np.zeros(1, np.float32), TypeError), (gpu.empty(2, np.float32), ValueError), (gpu.empty(1, np.float64), TypeError),
    (gpu.empty((), np.float32), ValueError),
])  # fmt: skip
def test_result_that_does_not_fit_is_refused(rung, out, error):
    with pytest.raises(error, match=r"^out "):
        rung.launch(gpu.to_device(whole(5)), out)
