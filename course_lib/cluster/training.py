"""A step of data-parallel training on many devices: who waits for whom, and what is left of their speed.

Each device computes its rows. A bucket of gradients is summed as soon as it is ready on the slowest device and the
bucket before it is summed; then all update. What of the sums is not hidden behind the backward pass is waited for.

`step` is a formula, exact where that of the sums is (see `sums`), for 100,000 devices as for two; `play_step` plays the
same step event by event.

Source: S. Li et al. (2020), "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", section 3.2.
"""

from dataclasses import dataclass

import numpy as np
import simpy

from course_lib.cluster.events import Network, Span
from course_lib.cluster.links import FREE
from course_lib.cluster.rehearsal import rehearse
from course_lib.cluster.sums import all_reduce_seconds
from course_lib.cluster.workloads import BUCKET_BYTES
from course_lib.validate import require_count


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes
    ----------
    seconds : float
    compute : float
        What one device alone needs for its rows, update included.
    waits : float
        Seconds beyond those of the slowest device alone: sums that nothing hides.
    sums : tuple of (begin, end)
        When each bucket was summed.

    Source: the course's own.
    """

    seconds: float
    compute: float
    waits: float
    sums: tuple

    @property
    def efficiency(self):
        """What share of the step a device of usual speed works for its rows: 1 if it waits for nobody."""
        return self.compute / self.seconds


def step(cluster, workload, rows, *, by=None, overlap=True, bucket_bytes=BUCKET_BYTES, slowness=None, costs=FREE):
    """Return a step in which each device has `rows` rows, as `Step`.

    Parameters
    ----------
    cluster : Cluster
    workload : Workload
    rows : float > 0
        Of the device with the most.
    by : str, optional
        As `sums.all_reduce_seconds`; hierarchical unless given.
    overlap : bool
        False: sums begin when the backward pass is done.
    bucket_bytes : int
    slowness : (devices,) array, optional
        How many times as long as usual each device computes: see `stragglers`.
    costs : Costs

    Raises
    ------
    ValueError
        If slowness has another length; others as `sums.all_reduce_seconds`.

    Source: Li et al. (2020), 3.2.
    """
    worst = _worst(slowness, cluster.devices)
    passes = workload.compute(rows)
    now, spans = 0.0, []
    for nbytes, share in workload.buckets(bucket_bytes) if cluster.devices > 1 else ():
        begin = max(now, worst * passes * (share if overlap else 1.0))
        now = begin + all_reduce_seconds(cluster, nbytes, by or "hierarchical", costs)
        spans.append((begin, now))
    alone = worst * passes
    end = max(now, alone) + workload.update
    return Step(end, passes + workload.update, max(now, alone) - alone, tuple(spans))


def _worst(slowness, devices):
    if slowness is None:
        return 1.0
    slowness = np.asarray(slowness, float)
    if slowness.shape != (devices,):
        raise ValueError(f"slowness is {slowness.shape}; with {devices} devices it must be ({devices},), one for each.")
    return float(slowness.max())


def scaling(clusters, workload, batch, *, grow=False, **options):
    """Return (devices, Step, efficiency) for each of several clusters.

    Efficiency is the speed, in rows a second, over that of one device with the whole batch, and over the devices.

    Parameters
    ----------
    clusters : sequence of Cluster
    workload : Workload
    batch : int
        Rows of a step: of all devices together, or of each one with `grow`.
    grow : bool
        True: every device more brings its rows (weak scaling). False: a batch is shared (strong scaling); devices
        beyond its rows have nothing to do.
    options
        As `step`.

    Raises
    ------
    TypeError, ValueError
        If the batch is no whole number >= 1; others as `step`.

    Source: J. Gustafson (1988), "Reevaluating Amdahl's Law".
    """
    require_count("batch", batch)
    found, alone = [], workload.seconds(batch)
    for cluster in clusters:
        n = cluster.devices
        one = step(cluster, workload, batch if grow else -(-batch // n), **options)
        found.append((n, one, alone / one.seconds / (1 if grow else n)))
    return found


def knee(points, least=0.5):
    """Return the most devices up to which all efficiencies are at least `least`: further on, more is waited than done.

    Parameters
    ----------
    points : sequence of (devices, efficiency)
        By rising devices.
    least : float

    Returns
    -------
    int or None
        None if already the first is below. No errors. Source: the course's own.
    """
    found = None
    for devices, efficiency in points:
        if efficiency < least:
            break
        found = devices
    return found


def play_step(
    cluster, workload, rows, *, by="ring", overlap=True, bucket_bytes=BUCKET_BYTES, slowness=None, costs=FREE
):
    """Return what `step` computes, played event by event: (seconds, spans of all devices).

    Parameters and errors as `step`, but `by` as `rehearsal.rehearse`. Source: Li et al. (2020), 3.2.
    """
    _worst(slowness, cluster.devices)
    env, n = simpy.Environment(), cluster.devices
    network, passes = Network(env, cluster, costs), workload.compute(rows)
    buckets = workload.buckets(bucket_bytes) if n > 1 else ()
    spans = network.played.spans

    def device(rank):
        own = passes * (1.0 if slowness is None else float(slowness[rank]))
        ready = [env.timeout(own * (share if overlap else 1.0)) for _, share in buckets]
        sums, back = env.process(exchange(rank, ready)), env.timeout(own)
        spans.append(Span(rank, "compute", 0.0, own))
        yield env.all_of([sums, back])
        spans.append(Span(rank, "update", env.now, env.now + workload.update))
        yield env.timeout(workload.update)

    def exchange(rank, ready):
        for (nbytes, _), event in zip(buckets, ready, strict=True):
            yield event
            begin = env.now
            yield env.process(network.perform(rank, rehearse(by, rank, n, nbytes)))
            spans.append(Span(rank, "sum", begin, env.now))

    for rank in range(n):
        env.process(device(rank))
    env.run()
    return env.now, spans
