"""The course's own all-reduces, played message by message: against their counts, against formulas, with lost ranks."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from course_lib import parallel
from course_lib.cluster import (
    ETHERNET_10,
    INFINIBAND,
    NVLINK,
    Cluster,
    Link,
    all_reduce_seconds,
    hierarchical,
    play_all_reduce,
)
from course_lib.cluster.events import play
from course_lib.cluster.links import Costs, Curve
from course_lib.cluster.rehearsal import Op, rehearse
from course_lib.cluster.sums import levels_seconds
from course_lib.parallel.traffic import Traffic
from course_lib.parallel.world import WAYS

ADDS = Costs(Curve(((0, 1e-6), (1 << 20, 9e-6))), Curve(((0, 5e-7), (1 << 20, 7e-5))))
CLUSTERS = {
    "one host": {"per_host": 64},
    "hosts of 4": {"per_host": 4, "between": INFINIBAND.times(4)},
    "a slow link": {"per_host": 4, "between": ETHERNET_10},
}


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8])
@pytest.mark.parametrize("count", [1, 5, 1003])
def test_a_rehearsal_sends_what_the_formula_says(by, size, count):
    for rank in range(size):
        sent = [op.bytes for op in rehearse(by, rank, size, 4 * count) if op.to is not None]
        assert Traffic(len(sent), sum(sent)) == WAYS[by].traffic(rank, size, count, 4)


def test_a_rehearsal_takes_no_memory_and_says_what_is_done():
    ops = rehearse("ring", 0, 2, 1 << 40)  # a terabyte
    half = 1 << 39
    assert ops == [Op("exchange", half, 1, 1, fresh=half), Op("add", half), Op("exchange", half, 1, 1)]
    assert [op.kind for op in rehearse("all_to_one", 1, 3, 400)] == ["send", "receive"]


def test_an_unknown_way_is_refused():
    with pytest.raises(ValueError, match="by is 'star'; it must be one of ring, tree, all_to_one, or a function"):
        rehearse("star", 0, 2, 4)


@pytest.mark.parametrize(("size", "per_host"), [(1, 8), (2, 8), (4, 2), (6, 3), (8, 4), (8, 8), (8, 1)])
@pytest.mark.parametrize("count", [1, 48, 1003])
def test_a_sum_in_two_levels_is_the_sum_with_its_traffic(size, per_host, count):
    def work(world):
        array = np.arange(count, dtype=np.float32) % 97 + world.rank
        hierarchical.all_reduce(world, array, per_host)
        return array, world.traffic

    for array, traffic in parallel.run(work, size):
        np.testing.assert_array_equal(array, size * (np.arange(count) % 97) + sum(range(size)))
        if count == 48:
            assert traffic == hierarchical.traffic(size, count, 4, per_host)
            assert traffic.messages == hierarchical.steps(size, per_host)


def test_hosts_must_be_full():
    with pytest.raises(ValueError, match="6 ranks on hosts of 4 leave a host with 2"):
        all_reduce_seconds(Cluster(6, per_host=4), 1000)


@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.parametrize("costs", [Costs(), ADDS], ids=["free", "adding"])
@pytest.mark.parametrize("devices", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("size", [1 << 12, 1 << 20])
def test_formulas_are_exact(name, costs, devices, size):
    cluster, nbytes = Cluster(devices, **CLUSTERS[name]), size // (4 * devices) * 4 * devices
    ways = {"ring": "ring", "hierarchical": functools.partial(hierarchical.all_reduce, per_host=cluster.per_host)}
    if cluster.hosts == 1:
        ways |= {"tree": "tree", "all_to_one": "all_to_one"}
    for by, played in ways.items():
        expected = play_all_reduce(cluster, nbytes, played, costs=costs).seconds
        assert all_reduce_seconds(cluster, nbytes, by, costs) == pytest.approx(expected, rel=1e-9), by


@pytest.mark.parametrize("by", ["ring", "hierarchical"])
@pytest.mark.parametrize("devices", [16, 32])
@pytest.mark.parametrize("size", [1 << 12, 1 << 20])
def test_over_leaf_switches_a_formula_is_a_little_too_long(by, devices, size):
    cluster = Cluster(devices, per_host=4, between=ETHERNET_10, hosts_per_leaf=2, oversubscription=4)
    way = functools.partial(hierarchical.all_reduce, per_host=4) if by == "hierarchical" else by
    found, expected = all_reduce_seconds(cluster, size, by), play_all_reduce(cluster, size, way).seconds
    assert expected * (1 - 1e-9) <= found <= 1.02 * expected


@pytest.mark.parametrize(("by", "devices", "per_host"), [("tree", 3, 8), ("tree", 16, 8), ("all_to_one", 16, 8)])
def test_where_there_is_no_formula_it_says_what_to_play(by, devices, per_host):
    with pytest.raises(ValueError, match="has few messages to play"):
        all_reduce_seconds(Cluster(devices, per_host), 4096, by)


@pytest.mark.parametrize("between", [ETHERNET_10, INFINIBAND.times(8)], ids=lambda link: link.name)
@pytest.mark.parametrize(("h", "stages", "hosts"), [(4, 2, 3), (4, 4, 2), (8, 2, 4), (8, 8, 5)])
@pytest.mark.parametrize("each", [64, 6400])
def test_sums_of_several_stages_share_a_hosts_link_as_the_formula_says(between, h, stages, hosts, each):
    cluster, together = Cluster(h * hosts, h, between=between), h // stages
    nbytes, scripts = 4 * each * together * hosts, [None] * (h * hosts)
    for stage in range(stages):
        members = [host * h + k * stages + stage for host in range(hosts) for k in range(together)]
        way = functools.partial(hierarchical.all_reduce, per_host=together)
        for rank, device in enumerate(members):
            scripts[device] = [
                op if op.to is None else replace(op, to=members[op.to], source=members[op.source])
                for op in rehearse(way, rank, len(members), nbytes)
            ]
    expected = play(cluster, scripts).seconds
    assert levels_seconds(cluster, nbytes, together, hosts, rings=stages) == pytest.approx(expected, rel=1e-9)


def test_equal_calls_give_equal_times():
    one, other = (play_all_reduce(Cluster(24), 1 << 16, "ring") for _ in range(2))
    assert one.ends == other.ends
    assert one.busy == other.busy
    assert one.messages == 24 * 2 * 23


@pytest.mark.parametrize("late", [0, 3, 7])
def test_a_ring_ends_as_if_all_had_begun_with_the_last(late):
    starts = np.random.default_rng(late).random(8) * 1e-4
    starts[late] = 2e-4
    cluster = Cluster(8)
    ends = play_all_reduce(cluster, 1 << 20, "ring", starts=starts).ends
    assert max(ends.values()) == pytest.approx(2e-4 + all_reduce_seconds(cluster, 1 << 20, "ring"), rel=1e-9)


@pytest.mark.parametrize("late", [0, 5, 11])
@pytest.mark.parametrize("name", ["hosts of 4", "a slow link"])
def test_a_sum_in_two_levels_ends_at_the_latest_as_if_all_had_begun_with_the_last(late, name):
    starts = np.random.default_rng(late).random(12) * 1e-4
    starts[late] = 2e-4
    cluster, nbytes = Cluster(12, **CLUSTERS[name]), 4 * 12 * 2000
    way = functools.partial(hierarchical.all_reduce, per_host=4)
    end = play_all_reduce(cluster, nbytes, way, starts=starts).seconds
    latest = 2e-4 + all_reduce_seconds(cluster, nbytes)
    assert 2e-4 < end <= latest * (1 + 1e-9)


def test_a_ring_over_hosts_needs_them_full():
    with pytest.raises(ValueError, match="per_host must divide the ranks"):
        all_reduce_seconds(Cluster(10, per_host=4), 4000, "ring")


def test_a_lost_rank_leaves_all_others_of_a_ring_waiting_in_a_chain():
    played = play_all_reduce(Cluster(5), 4096, "ring", lost=[2])
    assert played.waiting == {3: 2, 4: 3, 0: 4, 1: 0}
    assert played.seconds == float("inf")
    assert played.ends == {}


def test_messages_on_one_link_go_one_after_the_other():
    wire = Link("wire", 0.5, 1.0)
    cluster = Cluster(3, per_host=1, between=wire)  # each host has one link in
    scripts = [[Op("receive", 4, source=1), Op("receive", 4, source=2)], [Op("send", 4, to=0)], [Op("send", 4, to=0)]]
    played = play(cluster, scripts)
    assert played.ends == {0: 0.5 + 8.0, 1: 4.0, 2: 4.0}
    assert played.busy["host in", 0] == 8.0


def test_a_message_flows_on_while_its_tail_is_behind():
    """Over a narrow spine it takes the spine's time and the latencies, not the sum of all links' times."""
    wire = Link("wire", 0.25, 4.0)
    cluster = Cluster(2, per_host=1, between=wire, hosts_per_leaf=1, oversubscription=4)
    played = play(cluster, [[Op("send", 8, to=1)], [Op("receive", 8, source=0)]])
    assert played.ends[0] == 2.0
    assert played.ends[1] == pytest.approx(0.25 + cluster.spine.latency + 8.0)


def test_every_device_needs_a_list():
    with pytest.raises(ValueError, match="there are 2 lists for 3 devices"):
        play(Cluster(3), [[], []])


def test_a_hundred_thousand_devices_are_a_formula():
    seconds = all_reduce_seconds(Cluster(100_000), 10**9)
    h, hosts, nvlink, wire = 8, 12_500, NVLINK, INFINIBAND.times(8)
    part = 10**9 / 100_000
    inside = 2 * (h - 1) * nvlink.seconds(10**9 / h)
    step = max(wire.latency + 0.5e-6 + part / wire.bandwidth, h * part / wire.bandwidth)
    assert seconds == pytest.approx(inside + 2 * (hosts - 1) * step, rel=1e-4)
