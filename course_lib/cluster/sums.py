"""How long an all-reduce takes, by formula: devices that do the same need not be simulated one by one.

n devices on one switch, S bytes, latency a, a link busy for b(S) with S bytes; +(S) is the time to add S bytes:

    ring             2 (n - 1) (a + b(S / n)) + (n - 1) +(S / n)
    tree             2 log2(n) (a + b(S)) + log2(n) +(S)
    all to one       2 a + 2 (n - 1) b(S) + +(S), if adding is quicker than receiving
    hierarchical     in the host: the ring of its h devices; between H hosts: each step lasts until all h parts of a
                     host are through its link, or until the next one has come, whichever is later

Ring and hierarchical sums go over any number of full hosts, the tree over 2, 4, 8, ... devices of one host, all to one
over those of one host. With equal parts these are the times of `events` exactly; over several leaf switches each hop is
taken as long as the slowest, which is up to some percent too much. Trees over many hosts have few messages: play them.

Devices that begin at different times: a ring's sum ends as if all had begun with the last one, for in n - 1 steps what
the last one had is everywhere. One in two levels ends then at the latest. So a step of training waits for its slowest
device.

Source: R. Thakur, R. Rabenseifner and W. Gropp (2005), "Optimization of Collective Communication Operations in MPICH".
"""

from functools import lru_cache

from course_lib.cluster.hierarchical import group
from course_lib.cluster.links import FREE
from course_lib.validate import require_choice, require_positive

WAYS = ("ring", "tree", "all_to_one", "hierarchical")


@lru_cache(4096)
def all_reduce_seconds(cluster, nbytes, by="hierarchical", costs=FREE):
    """Return the seconds of an all-reduce over all devices of a cluster.

    Parameters
    ----------
    cluster : Cluster
    nbytes : float > 0
    by : "ring", "tree", "all_to_one" or "hierarchical"
    costs : Costs

    Raises
    ------
    ValueError, TypeError
        If there is no such way; if a host of several is not full, or there are several (tree, all to one).

    Source: Thakur, Rabenseifner and Gropp (2005).
    """
    require_choice("by", by, WAYS)
    nbytes, n = require_positive("nbytes", nbytes), cluster.devices
    if n == 1:
        return 0.0
    if by == "hierarchical":
        h = group(n, cluster.per_host)
        return levels_seconds(cluster, nbytes, h, n // h, costs=costs)
    return {"ring": _ring, "tree": _tree, "all_to_one": _all_to_one}[by](cluster, nbytes, n, costs)


def levels_seconds(cluster, nbytes, h, hosts, *, rings=1, costs=FREE):
    """Return the seconds of the hierarchical all-reduce: h devices in each of `hosts` hosts.

    Parameters
    ----------
    cluster : Cluster
        Its links.
    nbytes : float > 0
    h, hosts : int
    rings : int
        How many such all-reduces go on in each host at once, as with a pipeline's stages, and share its link.
    costs : Costs

    Returns
    -------
    float
        No errors. Source: Mikami et al. (2018).
    """
    total = _circle(cluster.inside, nbytes / h, h, costs)
    if hosts == 1:
        return total
    part, several, (latency, busy_with) = nbytes / (h * hosts), rings * h, _between(cluster, hosts)
    busy = busy_with(part)
    # A part goes on when it has come and is added; the host's link takes the parts one after another.
    add = costs.adding(part, both=True)
    for times, adding in ((1, costs.fresh(part) + add), (hosts - 2, add), (hosts - 1, 0.0)):
        total += times * max(latency + busy + adding, several * busy)
    # A step lasts as long as the longer of the two; the last one ends when both are over.
    return total + min(latency, (several - 1) * busy)


def _between(cluster, hosts):
    """Return of the slowest hop between neighbouring hosts its latency, and its busy seconds by bytes."""
    link, spine = cluster.between, cluster.spine
    if hosts <= cluster.hosts_per_leaf:
        return link.latency, lambda part: link.busy(part, both=True)
    return link.latency + spine.latency, lambda part: max(link.busy(part, both=True), spine.busy(part))


def _circle(link, part, n, costs):
    """Twice round a ring on one switch, adding the first time."""
    if n == 1:
        return 0.0
    hop = link.seconds(part, both=True)
    return costs.fresh(part) + (n - 1) * (2 * hop + costs.adding(part, both=True))


def _ring(cluster, nbytes, n, costs):
    if cluster.hosts == 1:
        return _circle(cluster.inside, nbytes / n, n, costs)
    # Hosts are alike, so it is enough to follow the ranks of one, and the rank before its first is its own last.
    part, h = nbytes / n, group(n, cluster.per_host)
    inside, (latency, between) = cluster.inside, _between(cluster, cluster.hosts)
    out = [inside.busy(part, True)] * (h - 1) + [between(part)]
    hop = [b + inside.latency for b in out[:-1]] + [out[-1] + latency]
    at = [costs.fresh(part)] * h
    for adding in (costs.adding(part, both=True), 0.0):
        for _ in range(n - 1):
            at = [max(at[r] + out[r], at[r - 1] + hop[r - 1]) + adding for r in range(h)]
    return max(at)


def _tree(cluster, nbytes, n, costs):
    if cluster.hosts > 1 or n & (n - 1):
        raise ValueError(
            f"{n} devices on {cluster.hosts} hosts; the tree's formula is for one host and 2, 4, 8, ... devices. "
            'events.play_all_reduce(cluster, nbytes, "tree") has few messages to play.'
        )
    levels = n.bit_length() - 1
    # Half of the ranks wait once for the pages of a new array; those on the longest way are among them.
    return costs.fresh(nbytes) + levels * (2 * cluster.inside.seconds(nbytes) + costs.adding(nbytes))


def _all_to_one(cluster, nbytes, n, costs):
    if cluster.hosts > 1:
        raise ValueError(
            f"{n} devices on {cluster.hosts} hosts; the formula of all to one is for one host. "
            'events.play_all_reduce(cluster, nbytes, "all_to_one") has few messages to play.'
        )
    latency, busy, add = cluster.inside.latency, cluster.inside.busy(nbytes), costs.adding(nbytes)
    # The last addition is done when the last array has come, or when rank 0 has added without a rest.
    first = latency + busy + costs.fresh(nbytes)
    return max(first + (n - 1) * add, latency + (n - 1) * busy + add) + (n - 1) * busy + latency
