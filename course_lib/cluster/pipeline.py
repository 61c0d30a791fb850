"""A network cut into stages on several devices: micro-batches follow each other through them, and some devices wait.

With p stages and m micro-batches, each stage works m times forward and m times backward. While the first micro-batch
goes to the last stage, and the last gradient comes back, stages stand still: with equal stages and no time for messages
(p - 1) / (m + p - 1) of all time, the bubble. Two orders have the same bubble:

    gpipe   all forward, then all backward: a stage keeps the activations of m micro-batches
    1f1b    one forward, one backward, as soon as the first gradient is there: it keeps those of p at most

`play` plays it event by event. `ends` goes through the same tasks with NumPy, for thousands of pipelines at once, and
gives the same times where messages do not queue on a link.

Source: Y. Huang et al. (2019), "GPipe"; D. Narayanan et al. (2019), "PipeDream" (one forward, one backward).
"""

from dataclasses import dataclass

import numpy as np
import simpy

from course_lib.cluster.events import Network, Span
from course_lib.validate import require_choice, require_count, require_positive

ORDERS = ("gpipe", "1f1b")


@dataclass(frozen=True)
class Timeline:
    """A step of a pipeline.

    Attributes
    ----------
    seconds : float
    spans : tuple of Span
        What each stage did: "F0" is the forward pass of micro-batch 0, "B0" its backward pass.
    bubble : float
        The share of the stages' time in which they wait, 0 to 1.
    kept : tuple of int
        Of how many micro-batches each stage keeps the activations, at most.

    Source: the course's own.
    """

    seconds: float
    spans: tuple
    bubble: float
    kept: tuple


def order(stage, stages, micro_batches, schedule="gpipe"):
    """Return what a stage does, in turn: a list of ("F" or "B", micro-batch).

    Parameters
    ----------
    stage, stages, micro_batches : int
        Stages are counted from 0.
    schedule : "gpipe" or "1f1b"

    Raises
    ------
    TypeError, ValueError
        If there is no such schedule or stage.

    Source: Huang et al. (2019); Narayanan et al. (2019).
    """
    require_choice("schedule", schedule, ORDERS)
    stages, m = require_count("stages", stages), require_count("micro_batches", micro_batches)
    if not 0 <= require_count("stage", stage, minimum=0) < stages:
        raise ValueError(f"stage is {stage}; the {stages} stages are 0 .. {stages - 1}.")
    ahead = m if schedule == "gpipe" else min(m, stages - stage)
    tasks = [("F", k) for k in range(ahead)]
    for k in range(m):
        tasks.append(("B", k))
        if ahead + k < m:
            tasks.append(("F", ahead + k))
    return tasks


def play(cluster, micro_batches, forward, backward, *, nbytes=0, schedule="gpipe", slowness=None):
    """Return a step of a pipeline with one stage a device, played event by event, as `Timeline`.

    Parameters
    ----------
    cluster : Cluster
        Device s is stage s.
    micro_batches : int
    forward, backward : float > 0
        Seconds of one micro-batch in one stage.
    nbytes : int
        Of the activations between two stages, and of their gradients, for one micro-batch; 0: messages take no time.
    schedule : "gpipe" or "1f1b"
    slowness : (stages,) array, optional
        How many times as long each stage takes.

    Raises
    ------
    TypeError, ValueError
        As `order`; if a time is none, or slowness has another length.

    Source: Huang et al. (2019).
    """
    stages = cluster.devices
    slow = _factors(slowness, stages)[0]
    takes = {"F": require_positive("forward", forward), "B": require_positive("backward", backward)}
    require_count("nbytes", nbytes, minimum=0)
    env = simpy.Environment()
    network, kept = Network(env, cluster), [0] * stages

    def neighbour(stage, kind):
        other = stage + (1 if kind == "F" else -1)
        return other if 0 <= other < stages else None

    def run(stage):
        held = 0
        for kind, k in order(stage, stages, micro_batches, schedule):
            source = neighbour(stage, "B" if kind == "F" else "F")
            if source is not None:
                yield network.box(source, stage, kind).get()
            begin = env.now
            yield env.timeout(takes[kind] * slow[stage])
            network.played.spans.append(Span(stage, f"{kind}{k}", begin, env.now))
            held += 1 if kind == "F" else -1
            kept[stage] = max(kept[stage], held)
            if (to := neighbour(stage, kind)) is not None:
                if nbytes:
                    network.send(stage, to, nbytes, channel=kind)  # and goes on: it leaves by itself
                else:
                    network.box(stage, to, kind).put(0)

    for stage in range(stages):
        env.process(run(stage))
    env.run()
    spans = tuple(sorted(network.played.spans, key=lambda s: (s.device, s.begin)))
    busy, seconds = sum(s.end - s.begin for s in spans), max(s.end for s in spans)
    return Timeline(seconds, spans, 1 - busy / (stages * seconds), tuple(kept))


def ends(stages, micro_batches, forward, backward, *, hop=0.0, schedule="gpipe", slowness=None):
    """Return when each of many pipelines is done, (pipelines,), without playing it.

    Parameters
    ----------
    stages, micro_batches : int
    forward, backward : float > 0
        Seconds of one micro-batch in one stage.
    hop : float >= 0
        Seconds from one stage to the next.
    schedule : "gpipe" or "1f1b"
    slowness : (pipelines, stages) array, optional
        How many times as long each stage of each pipeline takes; one pipeline of 1s unless given.

    Raises
    ------
    TypeError, ValueError
        As `play`.

    Source: Huang et al. (2019).
    """
    slow = _factors(slowness, stages)
    takes = {"F": require_positive("forward", forward), "B": require_positive("backward", backward)}
    require_positive("hop", hop, zero=True)
    lists = [order(s, stages, micro_batches, schedule) for s in range(stages)]
    at, free, place = {}, [np.zeros(len(slow)) for _ in range(stages)], [0] * stages
    while any(place[s] < len(lists[s]) for s in range(stages)):
        for s in range(stages):
            while place[s] < len(lists[s]):
                kind, k = lists[s][place[s]]
                source = s - 1 if kind == "F" else s + 1
                if 0 <= source < stages and (kind, k, source) not in at:
                    break  # its input is not known yet: other stages first
                ready = at[kind, k, source] + hop if 0 <= source < stages else 0.0
                free[s] = at[kind, k, s] = np.maximum(free[s], ready) + takes[kind] * slow[:, s]
                place[s] += 1
    return np.maximum.reduce(free)


def bubble(stages, micro_batches):
    """Return (p - 1) / (m + p - 1), the share of waiting with equal stages. TypeError or ValueError for sizes < 1.

    Source: Huang et al. (2019), 2.3.
    """
    p, m = require_count("stages", stages), require_count("micro_batches", micro_batches)
    return (p - 1) / (m + p - 1)


def _factors(slowness, stages):
    """Return (pipelines, stages) factors."""
    slow = np.atleast_2d(np.ones(stages) if slowness is None else np.asarray(slowness, float))
    if slow.ndim != 2 or slow.shape[1] != stages:
        raise ValueError(
            f"slowness is {slow.shape}; with {stages} stages its last axis must have {stages}, one for each."
        )
    return slow
