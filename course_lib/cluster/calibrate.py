"""The simulator held against measurements: links made of some measured times, other times predicted by them.

What `tools/measure_parallel.py` wrote is read here. On processors, links are made of single messages, exchanges,
additions and new arrays between two ranks, of bytes that are powers of two; predicted are whole sums in each way, most
of them of other sizes: the rehearsed code of `parallel.ring`, `tree` and `all_to_one`, played event by event. What
Python needs for a sum beside its messages is one number a way, from the smallest sum. A step is what was measured
without any exchange, and the sums of its buckets. Steps with overlap are shown, not judged: two ranks on two processors
have none that is free for it.

On cards, NCCL's sums of every second size make the link, as if it went in a ring; the sizes between are predicted. A
step of n cards is made of steps of one card, by a line through its batches, and the sums of its buckets.

A model of a machine knows nothing of what else runs on it: of the times of a call the least is taken. But a machine may
change meanwhile: two cores of a rented one share a cache now, and a minute later they do not, and then messages take
half as long again. So messages and sums are measured in rounds of a few seconds; the messages of a round predict the
sums of the same round, and of all rounds the one in the middle counts, by how far the prediction is off.

Source: the course's own; R. Hockney (1994) for the line.
"""

import json
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np

from course_lib.cluster.events import play_all_reduce
from course_lib.cluster.links import FREE, Costs, Curve, Link
from course_lib.cluster.sums import all_reduce_seconds
from course_lib.cluster.topology import Cluster
from course_lib.cluster.training import step
from course_lib.cluster.workloads import Workload, layers_of
from course_lib.lesson.measurements import by_round, results_folder
from course_lib.parallel.buckets import BUCKET_BYTES, buckets_of

SUMS_WITHIN, STEPS_WITHIN = 0.25, 0.20
"""How far a prediction may be off, as a share of what was measured."""


USED, OUTSIDE = "*", "~"


@dataclass(frozen=True)
class Compared:
    """One measured time and its prediction.

    Attributes
    ----------
    what : str
        "sum by ring", "LeNet-5, batch 512, after".
    ranks, bytes : int
        Bytes of the array, or of all gradients.
    measured, predicted : float
        Seconds.
    within : float
        How far it may be off.
    note : "", `USED` or `OUTSIDE`
        Why it proves nothing: the link was made of it, or it is beyond what the model knows.

    Source: the course's own.
    """

    what: str
    ranks: int
    bytes: int
    measured: float
    predicted: float
    within: float
    note: str = ""

    @property
    def off(self):
        """(predicted - measured) / measured."""
        return self.predicted / self.measured - 1

    @property
    def judged(self):
        """Whether the prediction has to be good."""
        return not self.note

    @property
    def good(self):
        """Whether it is off by no more than it may be."""
        return abs(self.off) <= self.within


def least(rows, *names):
    """Return {values of names: least seconds} over rows, those of rank 0 only. KeyError if a row has not these names.

    Source: the course's own.
    """
    found = {}
    for row in rows:
        if row.get("rank", 0) == 0:
            key = tuple(row[name] for name in names)
            seconds = row.get("enqueued", row.get("least", row["seconds"]))
            found[key] = min(seconds, found.get(key, seconds))
    return found


def machine(messages):
    """Return (Link, Costs) of rows of single messages.

    Parameters
    ----------
    messages : list of dict
        Of `tools/measure_parallel.py`, part "messages".

    Raises
    ------
    ValueError
        If there is no row of a kind.

    Source: Hockney (1994).
    """
    times = least(messages, "kind", "bytes")
    points = {kind: sorted((b, s) for (k, b), s in times.items() if k == kind) for kind in KINDS}
    for kind, some in points.items():
        if not some:
            raise ValueError(
                f"there is no row of kind {kind!r}; measure the part messages again: tools/measure_parallel.py."
            )
    latency, (most, longest) = points["message"][0][1], points["message"][-1]
    busy = {kind: Curve(tuple((b, max(0.0, s - latency)) for b, s in points[kind])) for kind in ("message", "exchange")}
    link = Link("between processes", latency, most / longest, busy["message"], busy["exchange"])
    return link, Costs(*(Curve(tuple(points[kind])) for kind in ("add", "fresh", "both add")))


KINDS = ("message", "exchange", "add", "both add", "fresh")


def ring_link(sums, ranks):
    """Return the Link with which a ring of `ranks` takes the times of sums, (bytes, seconds): of NCCL's own.

    A message is S / n, and there are 2 (n - 1) steps. The latency is that of the smallest sum.
    ValueError as `Curve`. Source: Hockney (1994).
    """
    hops = [(nbytes / ranks, seconds / (2 * (ranks - 1))) for nbytes, seconds in sorted(sums)]
    latency = hops[0][1]
    curve = Curve(tuple((b, max(0.0, s - latency)) for b, s in hops))
    return Link("measured", latency, hops[-1][0] / hops[-1][1], curve)


def compare(content):
    """Return what was measured beside what is predicted, a list of Compared.

    Parameters
    ----------
    content : dict
        A file results/parallel.<device>.json.

    Raises
    ------
    ValueError
        If it has neither single messages nor sums of cards.

    Source: the course's own.
    """
    parts = content["parts"]
    if parts.get("card_sums"):
        return list(_cards(parts))
    if parts.get("messages"):
        return list(_processors(parts))
    raise ValueError(
        f"the file has the parts {', '.join(parts) or 'none'}; a link needs single messages, or sums of cards. Measure "
        "with tools/measure_parallel.py, without --only or with --only messages."
    )


def compared(device):
    """Return what results/parallel.<device>.json has, beside what is predicted, as `compare`.

    Errors as `read` and `compare`: OSError where there is no such file. Source: the course's own.
    """
    return compare(read(results_folder() / f"parallel.{device}.json"))


def _processors(parts):
    messages = by_round(parts["messages"])
    sums = by_round(parts.get("sums", ())) or [[]] * len(messages)
    rounds = [_round(*both) for both in zip(messages, sums, strict=False)]  # as many as both have
    by_call = {}
    for found, _ in rounds:
        for c in found:
            by_call.setdefault((c.what, c.bytes), []).append(c)
    for same in by_call.values():
        yield sorted(same, key=lambda c: c.off)[len(same) // 2]
    times = {}
    for some in by_round(parts.get("steps", ())):
        for key, seconds in least(some, "net", "batch", "exchange", "ranks", "bytes").items():
            times.setdefault(key, []).append(seconds)
    for (net, batch, way, ranks, nbytes), several in times.items():
        if ranks == 2 and way != "alone":
            # Where each rank's one processor computes, the thread that sums takes turns with it: nothing is hidden, and
            # how the system lets the two alternate is beyond the model.
            sums = [median(ring(bucket.nbytes) for _, ring in rounds) for bucket in _buckets(net)]
            found = median(times[net, batch, "alone", ranks, nbytes]) + sum(sums)
            note = OUTSIDE if way == "overlap" else ""
            yield Compared(f"{net}, batch {batch}, {way}", ranks, nbytes, median(several), found, STEPS_WITHIN, note)


def _round(messages, sums):
    """Return what the messages of a round predict of its sums, and a function: bytes -> seconds of a ring."""
    link, costs = machine(messages)
    cluster = Cluster(2, 2, inside=link)
    calls, found = {}, []
    for (by, ranks, nbytes), seconds in sorted(least(sums, "by", "ranks", "bytes").items()):
        if ranks == 2 and by != "engine":
            predicted = play_all_reduce(cluster, nbytes, by, costs=costs).seconds
            note = "" if by in calls else USED
            predicted += calls.setdefault(by, max(0.0, seconds - predicted))
            found.append(Compared(f"sum by {by}", ranks, nbytes, seconds, predicted, SUMS_WITHIN, note))
    return found, lambda nbytes: calls.get("ring", 0.0) + play_all_reduce(cluster, nbytes, "ring", costs=costs).seconds


def _cards(parts):
    own = {key[1:]: s for key, s in least(parts["card_sums"], "by", "ranks", "bytes").items() if key[0] == "engine"}
    for ranks in sorted({r for r, _ in own}):
        sums = sorted((b, s) for (r, b), s in own.items() if r == ranks)
        used = sums[::2] if len(sums) % 2 else [*sums[::2], sums[-1]]  # both ends: a link is nothing beyond them
        link = ring_link(used, ranks)
        cluster = Cluster(ranks, ranks, inside=link)
        for nbytes, seconds in sums:
            found = all_reduce_seconds(cluster, nbytes, "ring", FREE)
            yield Compared(
                "NCCL's sum", ranks, nbytes, seconds, found, SUMS_WITHIN, USED if (nbytes, seconds) in used else ""
            )
        yield from _card_steps(parts.get("card_training", ()), ranks, cluster)


def _card_steps(rows, ranks, cluster):
    recorded = [row for row in rows if row["record"]]
    times = least(recorded, "net", "batch", "ranks", "bytes")
    for net in dict.fromkeys(key[0] for key in times):
        alone = sorted((batch, s) for (name, batch, r, _), s in times.items() if name == net and r == 1)
        for (name, batch, r, nbytes), seconds in times.items():
            if name == net and r == ranks and alone:
                work = Workload(net, _layers(net), _by_rows(alone))
                found = step(cluster, work, batch / ranks, by="ring", bucket_bytes=BUCKET_BYTES).seconds
                yield Compared(f"{net}, batch {batch}", ranks, nbytes, seconds, found, STEPS_WITHIN)


def _by_rows(points):
    """Return a Curve through steps by rows; below the smallest batch its line goes on down to no row."""
    if len(points) == 1:
        return Curve(tuple(points))
    (a, s), (b, t) = next(pairwise(points))
    return Curve(((0, max(0.0, s - a * (t - s) / (b - a))), *points))


def _net(name):
    """Return (network, shape of a row) by the name in a file: "LeNet-5", "MLP 784-128-10"."""
    from course_lib import nn

    rng = np.random.default_rng(0)
    if name == "LeNet-5":
        return nn.models.lenet5(rng=rng), (1, 32, 32)
    sizes = tuple(int(size) for size in name.removeprefix("MLP ").split("-"))
    return nn.models.mlp(sizes, rng=rng), sizes[:1]


def _buckets(name):
    return buckets_of(_net(name)[0])


def _layers(name):
    return layers_of(*_net(name))


def read(path):
    """Return the content of a file of results; OSError or ValueError if it cannot be read. Source: the course's own."""
    return json.loads(path.read_text(encoding="utf-8"))
