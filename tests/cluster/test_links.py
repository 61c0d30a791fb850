"""Links and clusters: what a message costs, which links it takes, and what is refused."""

import pytest

from course_lib.cluster import ETHERNET_10, INFINIBAND, NVLINK, Cluster, Link, all_reduce_seconds
from course_lib.cluster.links import Curve, line


def test_a_message_takes_latency_and_its_bytes_over_the_bandwidth():
    link = Link("a wire", 1e-6, 1e9)
    assert link.seconds(5000) == pytest.approx(6e-6)
    assert link.busy(5000) == pytest.approx(5e-6)
    wide = link.times(4)
    assert (wide.latency, wide.bandwidth, wide.name) == (1e-6, 4e9, "4 x a wire")


def test_a_curve_goes_through_its_points_and_on_beyond_them():
    curve = Curve(((10, 1.0), (20, 3.0), (40, 4.0)))
    assert [curve(b) for b in (0, 10, 15, 20, 30, 40, 60)] == [1.0, 1.0, 2.0, 3.0, 3.5, 4.0, 5.0]
    assert Curve(((10, 2.0),))(1000) == 2.0
    assert Curve(((0, 3.0), (1, 1.0)))(9) == 0.0  # no time is below nothing


def test_a_measured_curve_takes_the_place_of_the_bandwidth():
    one, both = Curve(((0, 0.0), (100, 1.0))), Curve(((0, 0.0), (100, 3.0)))
    link = Link("measured", 0.5, 1.0, one, both)
    assert (link.seconds(100), link.seconds(100, both=True)) == (1.5, 3.5)
    assert Link("measured", 0.5, 1.0, one).seconds(100, both=True) == 1.5


def test_a_line_is_found_again_from_its_points():
    latency, bandwidth = line([(b, 3e-6 + b / 2e9) for b in (4, 1000, 10**6, 10**8)])
    assert latency == pytest.approx(3e-6)
    assert bandwidth == pytest.approx(2e9)


@pytest.mark.parametrize(("make", "says"), [
    (lambda: Link("x", -1.0, 1.0), "latency of x is -1; it must be a finite number >= 0"),
    (lambda: Link("x", 0.0, 0.0), "bandwidth of x is 0"),
    (lambda: Curve(()), "points is empty"),
    (lambda: Curve(((2, 1.0), (1, 2.0))), "points go from 2 to 1 bytes; they must rise"),
    (lambda: Curve(((1, -1.0),)), "negative seconds"),
    (lambda: line([(8, 1.0), (8, 2.0)]), "there are 1 sizes"),
    (lambda: line([(1, 2.0), (10**9, 1.0)]), "larger messages took less time"),
    (lambda: Cluster(0), "devices is 0; it must be >= 1"),
    (lambda: Cluster(8, oversubscription=0.5), "oversubscription is 0.5"),
    (lambda: Cluster(8).path(0, 8), "to is 8; the 8 devices are 0 .. 7"),
    (lambda: Cluster(8).path(3, 3), "source and to are both 3"),
])  # fmt: skip
def test_what_is_no_link_no_curve_and_no_way_is_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_devices_of_a_host_are_one_switch_apart_and_hosts_share_their_link():
    cluster = Cluster(64, per_host=8, between=ETHERNET_10, hosts_per_leaf=2, oversubscription=4)
    assert cluster.hosts == 8
    assert [key for key, _ in cluster.path(0, 7)] == [("out", 0), ("in", 7)]
    assert [key for key, _ in cluster.path(7, 8)] == [("host out", 0), ("host in", 1)]
    far = cluster.path(1, 63)
    assert [key for key, _ in far] == [("host out", 0), ("leaf up", 0), ("leaf down", 3), ("host in", 7)]
    assert cluster.path(5, 60)[0] == far[0]  # one and the same link for all devices of a host
    assert far[1][1].bandwidth == pytest.approx(2 * ETHERNET_10.bandwidth / 4)


@pytest.mark.parametrize(("source", "to", "link"), [(0, 1, NVLINK), (0, 9, INFINIBAND.times(8))])
def test_a_way_counts_its_latency_once(source, to, link):
    assert sum(hop.latency for _, hop in Cluster(16).path(source, to)) == link.latency


def test_a_cluster_with_other_links():
    cluster = Cluster(16).with_links(latency=0, rate=3)
    assert (cluster.devices, cluster.inside.latency, cluster.between.latency) == (16, 0.0, 0.0)
    assert cluster.inside.bandwidth == 3 * Cluster(16).inside.bandwidth
    assert all_reduce_seconds(cluster, 3e9) < all_reduce_seconds(Cluster(16), 3e9) / 2.9
    with pytest.raises(ValueError, match="bandwidth"):
        Cluster(16).with_links(rate=0)
