"""Play what all ranks do, event by event: messages on their way, links that are busy, ranks that wait.

SimPy keeps the clock: a rank is one of its processes, a box of messages one of its stores. A message takes its links
one after another; on each it waits until those before it are through, and keeps it busy. Its head is on the next link
while its tail is on this one. Whoever sends goes on when the last byte has left, whoever receives when it has come. Two
messages on one link go one after the other; real switches let them share, and then the last one ends at the same time.

Nothing here is random: equal calls give equal times.

Source: SimPy's documentation, "Basic concepts", "Shared resources"; A. Alexandrov et al. (1995), "LogGP".
"""

from collections import defaultdict
from dataclasses import dataclass, field

import simpy

from course_lib.cluster.links import FREE
from course_lib.cluster.rehearsal import rehearse


@dataclass(frozen=True)
class Span:
    """What a device did from when to when, in seconds. Source: the course's own."""

    device: int
    what: str
    begin: float
    end: float


@dataclass
class Played:
    """What a simulation found.

    Attributes
    ----------
    ends : dict of int to float
        When each rank was done, in seconds; a rank that never was is not in it.
    waiting : dict of int to int
        For whom each of the others waits for ever.
    busy : dict of key to float
        For how many seconds each link was.
    messages : int
    spans : list of Span

    Source: the course's own.
    """

    ends: dict = field(default_factory=dict)
    waiting: dict = field(default_factory=dict)
    busy: dict = field(default_factory=lambda: defaultdict(float))
    messages: int = 0
    spans: list = field(default_factory=list)

    @property
    def seconds(self):
        """When the last rank was done; infinity if one never is."""
        return float("inf") if self.waiting else max(self.ends.values())


class Network:
    """The links of a cluster while a simulation runs.

    Parameters
    ----------
    env : simpy.Environment
    cluster : Cluster
    costs : Costs

    Source: Alexandrov et al. (1995).
    """

    def __init__(self, env, cluster, costs=FREE):
        self.env, self.cluster, self.costs = env, cluster, costs
        self.free, self.boxes = defaultdict(float), {}
        self.played = Played()

    def box(self, source, to, channel=0):
        """Return the store of what is on its way between two ranks, in order. No errors."""
        key = source, to, channel
        if key not in self.boxes:
            self.boxes[key] = simpy.Store(self.env)
        return self.boxes[key]

    def send(self, source, to, nbytes, both=False, channel=0):
        """Send a message; return the event at which its last byte has left. ValueError as `Cluster.path`.

        Source: Alexandrov et al. (1995).
        """
        path, env = self.cluster.path(source, to), self.env
        (begin, end) = self._take(path[0], nbytes, both)
        self.played.messages += 1
        env.process(self._carry(path, nbytes, both, begin, end, self.box(source, to, channel)))
        return env.timeout(end - env.now)

    def _take(self, hop, nbytes, both):
        """Book a link for a message whose head is there now; return from when to when."""
        key, link = hop
        begin, busy = max(self.env.now, self.free[key]), link.busy(nbytes, both)
        self.free[key] = begin + busy
        self.played.busy[key] += busy
        return begin, begin + busy

    def _carry(self, path, nbytes, both, begin, end, box):
        env, tail = self.env, end + path[0][1].latency
        yield env.timeout(begin + path[0][1].latency - env.now)
        for hop in path[1:]:
            begin, end = self._take(hop, nbytes, both)
            tail = max(tail, end) + hop[1].latency
            yield env.timeout(begin + hop[1].latency - env.now)
        yield env.timeout(tail - env.now)
        yield box.put(nbytes)

    def perform(self, rank, ops, channel=0):
        """Do what a rank has on its list: a SimPy process, to be waited for. No errors.

        Source: the course's own.
        """
        env, before = self.env, None
        for op in ops:
            if op.kind == "add":  # after an exchange all have something to add
                yield env.timeout(self.costs.adding(op.bytes, both=before == "exchange"))
                continue
            before = op.kind
            events = []
            if op.to is not None:
                events.append(self.send(rank, op.to, op.bytes, op.kind == "exchange", channel))
            if op.source is not None:
                self.played.waiting[rank] = op.source
                events.append(self.box(op.source, rank, channel).get())
            yield env.all_of(events) if len(events) > 1 else events[0]
            self.played.waiting.pop(rank, None)
            if op.fresh:
                yield env.timeout(self.costs.fresh(op.fresh))


def play(cluster, scripts, *, starts=None, costs=FREE, lost=()):
    """Return what happens if every rank does what is on its list, as `Played`.

    Parameters
    ----------
    cluster : Cluster
    scripts : list of list of Op
        One for each device.
    starts : sequence of float, optional
        When each rank begins, in seconds: 0 unless given.
    costs : Costs
    lost : collection of int
        Ranks that are gone from the beginning.

    Raises
    ------
    ValueError
        If there are not as many lists as devices.

    Source: the course's own.
    """
    if len(scripts) != cluster.devices:
        raise ValueError(f"there are {len(scripts)} lists for {cluster.devices} devices; each device needs one.")
    env = simpy.Environment()
    network = Network(env, cluster, costs)

    def rank(number, ops):
        yield env.timeout(0.0 if starts is None else float(starts[number]))
        yield env.process(network.perform(number, ops))
        network.played.ends[number] = env.now

    for number, ops in enumerate(scripts):
        if number not in lost:
            env.process(rank(number, ops))
    env.run()
    return network.played


def play_all_reduce(cluster, nbytes, by="ring", *, starts=None, costs=FREE, lost=()):
    """Return how an all-reduce of `nbytes` over all devices goes, message by message, as `Played`.

    n devices send up to 2 n (n - 1) messages: some hundred devices are a matter of seconds, more are for `sums`.
    Errors as `rehearse` and `play`. Source: the course's own.
    """
    scripts = [rehearse(by, rank, cluster.devices, nbytes) for rank in range(cluster.devices)]
    return play(cluster, scripts, starts=starts, costs=costs, lost=lost)
