"""Steps on many devices: formula and events agree; stragglers, knees, pipelines, hybrids and failures."""

from itertools import pairwise

import numpy as np
import pytest

from course_lib.cluster import ETHERNET_10, Cluster, all_reduce_seconds, hybrid_step, knee, play_step, scaling, step
from course_lib.cluster.links import Curve
from course_lib.cluster.pipeline import ORDERS, bubble, ends, order, play
from course_lib.cluster.stragglers import best_interval, slowness, train_with_failures
from course_lib.cluster.sums import levels_seconds
from course_lib.cluster.workloads import Layer, Workload, alexnet, lenet5, rates, transformer

WORK = Workload(
    "three layers",
    (Layer("a", 1000, 5e6), Layer("b", 200_000, 2e6), Layer("c", 300_000, 1e6)),
    Curve(((0, 1e-4), (64, 5e-4))),
    update=2e-5,
)


def rng(seed=0):
    return np.random.default_rng(seed)


# ----------------------------------------------------------------------------------------------- what to compute


def test_buckets_are_ready_in_backward_order():
    nbytes, shares = zip(*WORK.buckets(1 << 20), strict=True)
    assert nbytes == (1_200_000, 804_000)
    np.testing.assert_allclose(shares, [1 / 3 + 2 / 3 / 8, 1.0])
    assert WORK.buckets(1 << 30) == ((2_004_000, 1.0),)


def test_networks_have_the_parameters_of_their_papers():
    assert lenet5().parameters == 61_706
    assert alexnet().parameters == 60_965_224
    assert round(transformer().parameters / 1e9, 2) == 1.55
    assert [round(layer.macs) for layer in lenet5().layers] == [117_600, 240_000, 48_000, 10_080, 840]


def test_lenets_times_are_the_measured_ones_and_others_follow_the_rates():
    work, (speed, each) = lenet5(), rates()
    assert work.seconds(64) < work.seconds(256) < work.seconds(4096)
    assert 1e-5 < work.seconds(1) < 1e-3
    layers = alexnet().layers
    expected = 3 * 100 * sum(layer.macs for layer in layers) / speed + each * 60_965_224
    assert alexnet().seconds(100) == pytest.approx(expected)


# ----------------------------------------------------------------------------------------------- data parallel


@pytest.mark.parametrize("devices", [1, 2, 5, 8])
@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("spread", [None, 0.3])
@pytest.mark.parametrize("bucket_bytes", [1, 1 << 20, 1 << 30])
def test_a_step_by_formula_is_the_step_that_is_played(devices, overlap, spread, bucket_bytes):
    slow = None if spread is None else slowness(devices, spread, rng(devices))
    options = {"overlap": overlap, "bucket_bytes": bucket_bytes, "slowness": slow}
    cluster = Cluster(devices)
    found = step(cluster, WORK, 64, by="ring", **options)
    played, spans = play_step(cluster, WORK, 64, **options)
    # A ring of three floats' parts is uneven by up to four bytes a message.
    assert found.seconds == pytest.approx(played, rel=1e-6)
    assert max(s.end for s in spans) == played


def test_what_is_hidden_is_not_waited_for():
    cluster, sums = Cluster(8, between=ETHERNET_10), (1_200_000, 804_000)
    hidden, after = (step(cluster, WORK, 64, bucket_bytes=1 << 20, overlap=o) for o in (True, False))
    assert after.waits == pytest.approx(sum(all_reduce_seconds(cluster, b) for b in sums))
    assert hidden.waits == pytest.approx(all_reduce_seconds(cluster, 804_000))
    assert hidden.sums[0][1] < WORK.compute(64)
    assert step(Cluster(1), WORK, 64).efficiency == 1


def test_all_wait_for_the_slowest():
    slow = np.ones(1000)
    slow[77] = 3.0
    even, uneven = (step(Cluster(1000), WORK, 64, slowness=s) for s in (None, slow))
    assert uneven.seconds - even.seconds == pytest.approx(2 * WORK.compute(64), rel=1e-6)
    with pytest.raises(ValueError, match=r"slowness is \(3,\); with 4 devices it must be \(4,\)"):
        step(Cluster(4), WORK, 64, slowness=np.ones(3))


def test_the_slowest_of_many_is_slower():
    worst = [np.mean([slowness(n, 0.1, rng(s)).max() for s in range(20)]) for n in (1, 10, 100, 1000)]
    assert worst == sorted(worst)
    assert np.all(slowness(5, 0, rng()) == 1)
    np.testing.assert_array_equal(slowness(9, 0.1, rng(3)), slowness(9, 0.1, rng(3)))


def test_a_shared_batch_has_a_knee_and_a_larger_one_a_later_knee():
    clusters = [Cluster(n) for n in (1, 2, 4, 8, 16, 64, 256, 1024, 8192, 100_000)]
    knees = []
    for batch in (256, 4096, 65_536):
        points = [(n, e) for n, _, e in scaling(clusters, alexnet(), batch)]
        assert points[0] == (1, 1.0)
        assert points[-1][1] < 0.5
        knees.append(knee(points))
    assert knees == sorted(set(knees))


def test_with_a_batch_each_efficiency_is_that_of_the_step():
    clusters = [Cluster(8), Cluster(64)]
    for (n, one, efficiency), cluster in zip(scaling(clusters, WORK, 64, grow=True), clusters, strict=True):
        assert n == cluster.devices
        assert efficiency == pytest.approx(one.efficiency)


def test_the_device_with_the_most_rows_decides():
    ((_, one, efficiency),) = scaling([Cluster(8)], WORK, 10)
    assert one.compute == WORK.seconds(2)
    assert efficiency == pytest.approx(WORK.seconds(10) / step(Cluster(8), WORK, 2).seconds / 8)


def test_a_knee_is_the_last_before_the_fall():
    assert knee([(1, 1.0), (2, 0.8), (4, 0.5), (8, 0.4), (16, 0.6)]) == 4
    assert knee([(1, 0.4)]) is None
    assert knee([(1, 1.0), (2, 0.9)], least=0.95) == 1


# --------------------------------------------------------------------------------------------------- pipelines


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize("stages", [1, 2, 4, 7])
@pytest.mark.parametrize("micro", [1, 3, 8])
def test_equal_stages_wait_p_less_1_of_m_plus_p_less_1(schedule, stages, micro):
    found = play(Cluster(stages), micro, 1.0, 2.0, schedule=schedule)
    assert found.bubble == pytest.approx((stages - 1) / (micro + stages - 1), abs=1e-12)
    assert bubble(stages, micro) == pytest.approx(found.bubble, abs=1e-12)
    assert found.seconds == pytest.approx(3.0 * (micro + stages - 1))
    kept = [micro] * stages if schedule == "gpipe" else [min(micro, stages - s) for s in range(stages)]
    assert list(found.kept) == kept


@pytest.mark.parametrize("schedule", ORDERS)
@pytest.mark.parametrize(("stages", "micro"), [(2, 1), (4, 6), (8, 3)])
def test_many_pipelines_at_once_end_as_each_that_is_played(schedule, stages, micro):
    slow, cluster, nbytes = np.exp(0.2 * rng().standard_normal((3, stages))), Cluster(stages), 1 << 16
    options = {"hop": cluster.inside.seconds(nbytes), "schedule": schedule}
    found = ends(stages, micro, 1e-3, 2e-3, slowness=slow, **options)
    for row, end in zip(slow, found, strict=True):
        played = play(cluster, micro, 1e-3, 2e-3, nbytes=nbytes, schedule=schedule, slowness=row)
        assert end == pytest.approx(played.seconds, rel=1e-12)


def test_a_stage_does_one_thing_at_a_time_and_needs_its_input():
    spans = play(Cluster(3), 4, 1.0, 2.0, schedule="1f1b").spans
    at = {(s.device, s.what): s for s in spans}
    for stage in range(3):
        mine = [s for s in spans if s.device == stage]
        assert all(a.end <= b.begin for a, b in pairwise(mine))
    for k in range(4):
        assert at[1, f"F{k}"].begin >= at[0, f"F{k}"].end
        assert at[1, f"B{k}"].begin >= at[2, f"B{k}"].end


def test_orders_that_are_none_are_refused():
    with pytest.raises(ValueError, match="schedule is 'lifo'"):
        order(0, 2, 2, "lifo")
    with pytest.raises(ValueError, match=r"stage is 2; the 2 stages are 0 \.\. 1"):
        order(2, 2, 2)
    with pytest.raises(ValueError, match=r"slowness is \(1, 3\); with 2 stages"):
        play(Cluster(2), 1, 1.0, 1.0, slowness=np.ones(3))


# ------------------------------------------------------------------------------------------------------ hybrid


def test_one_stage_is_data_parallel_without_overlap():
    cluster = Cluster(64)
    found = hybrid_step(cluster, WORK, 1, 64, 1)
    plain = step(cluster, WORK, 64, overlap=False, bucket_bytes=1 << 30)
    assert found.seconds == pytest.approx(plain.seconds)
    assert found.efficiency == pytest.approx(plain.efficiency)


def test_stages_share_the_link_of_their_host():
    cluster = Cluster(64, between=ETHERNET_10)
    found = hybrid_step(cluster, WORK, 4, 64, 8)
    assert found.sums == levels_seconds(cluster, WORK.nbytes / 4, 2, 8, rings=4)
    assert found.sums > 3.5 * levels_seconds(cluster, WORK.nbytes / 4, 2, 8, rings=1)


def test_a_pipeline_alone_has_no_sums():
    found = hybrid_step(Cluster(4, per_host=4), WORK, 4, 64, 8, schedule="gpipe")
    assert found.sums == 0
    passes = WORK.compute(8) / 4
    assert found.pipeline == pytest.approx((8 + 3) * passes)


def test_a_hundred_thousand_devices_with_their_slowness():
    n = 100_000
    slow = slowness(n, 0.05, rng())
    even, uneven = (hybrid_step(Cluster(n), transformer(), 8, 64, 16, slowness=s) for s in (None, slow))
    assert even.pipeline < uneven.pipeline <= even.pipeline * slow.max()
    assert uneven.sums == even.sums > 0
    assert 0 < uneven.efficiency < even.efficiency < 1


@pytest.mark.parametrize(("stages", "rows", "micro", "says"), [
    (3, 64, 8, "3 stages, hosts of 8, 64 devices; stages must divide a host"),
    (4, 65, 8, "65 rows in 8 micro-batches; micro_batches must divide rows"),
])  # fmt: skip
def test_cuts_that_leave_something_over_are_refused(stages, rows, micro, says):
    with pytest.raises(ValueError, match=says):
        hybrid_step(Cluster(64), WORK, stages, rows, micro)


# ---------------------------------------------------------------------------------------------------- failures


def test_without_failures_only_checkpoints_cost():
    run = train_with_failures(100, 1.0, 1e12, 5.0, 60.0, 10, rng())
    assert run.seconds == 100 + 10 * 5
    assert (run.failures, run.again, run.useful) == (0, 0, 100)


def test_a_failure_loses_what_came_after_the_last_checkpoint():
    times = iter([25.5, 15.5, 1e12])

    class Known(np.random.Generator):
        def exponential(self, mean):
            return next(times)

    fake = Known(np.random.PCG64(0))
    run = train_with_failures(20, 1.0, 100.0, 2.0, 7.0, 10, fake)
    # 10 steps and a checkpoint until 12, 10 more and a checkpoint until 24; so nothing is left to lose at 25.5.
    assert run.seconds == 24
    run = train_with_failures(20, 1.0, 100.0, 2.0, 7.0, 10, fake)
    assert run.seconds == 15.5 + 7 + 12
    assert (run.failures, run.again) == (1, 3)


def test_youngs_interval_is_about_the_best():
    between, checkpoint = 1000.0, 5.0
    best = round(best_interval(between, checkpoint))
    assert best == 100
    took = {every: np.mean([train_with_failures(5000, 1.0, between, checkpoint, 10.0, every, rng(s)).seconds
                            for s in range(30)]) for every in (best // 8, best, 8 * best)}  # fmt: skip
    assert took[best] == min(took.values())


def test_a_training_that_does_not_get_on_says_so():
    with pytest.raises(RuntimeError, match="Write checkpoints more often"):
        train_with_failures(100, 1.0, 1.0, 1.0, 0.0, 50, rng())
