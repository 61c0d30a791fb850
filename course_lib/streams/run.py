"""Play a host's requests on a card: when each stage of each piece runs, which order is certain, and who reads what.

Time: an engine does one thing at a time, what is ready first comes first, and nothing is interrupted. Order: a request
comes after all that was in its stream before, after what that stream was told to wait for, and after what the host
itself has waited for. Two stages that touch the same memory, one of them writing, need such an order: without one they
are a race, even where the times of this run keep them apart.

Source: NVIDIA, "CUDA C++ Programming Guide", "Streams", "Events" and "Implicit Synchronization"; Lamport (1978) for the
order.
"""

from dataclasses import dataclass
from functools import cached_property

from .requests import RequestError, checked


@dataclass(frozen=True)
class Span:
    """One stage of one piece: who did it, in which stream, from when to when, in microseconds.

    `asked` is when the host had asked for it; `stream` is None for the host's own work.
    """

    stage: str
    piece: int
    engine: str
    stream: object
    asked: float
    begin: float
    end: float

    @property
    def name(self):
        """Such as "read 3"."""
        return f"{self.stage} {self.piece}"


@dataclass(frozen=True)
class Race:
    """Two stages that touch one place, at least one of them writing, and nothing keeps them in order.

    `str` says it in a sentence.
    """

    first: Span
    second: Span
    place: str
    writes: tuple

    def __str__(self):
        does = ["writes" if writes else "reads" for writes in self.writes]
        return (
            f"{self.second.name} {does[1]} {self.place}, which {self.first.name} {does[0]}, and nothing says which of "
            "the two comes first"
        )


@dataclass(frozen=True)
class Run:
    """What became of the requests.

    Attributes
    ----------
    job : Job
    spans : tuple of Span
        In the order in which they were asked for.
    races : tuple of Race
    read : dict of (str, int) to frozenset
        (stage, piece) -> the pieces whose numbers it has read: frozenset({3}) for piece 3 if all is well; None is in it
        where nothing had been there yet.
    host : float
        When the host is through; `end`: when everything is.
    idle_waits : tuple of str
        Events that were waited for before anybody recorded them: such a wait waits for nothing.
    """

    job: object
    spans: tuple
    races: tuple
    read: dict
    host: float
    idle_waits: tuple

    @property
    def end(self):
        """When the last thing is done, in microseconds."""
        return max([self.host, *(span.end for span in self.spans)])

    @cached_property
    def busy(self):
        """{engine: share of the whole time that it works}."""
        names = dict.fromkeys(stage.engine for stage in self.job.stages)
        total = {name: sum(s.end - s.begin for s in self.spans if s.engine == name) for name in names}
        return {name: seconds / self.end if self.end else 0.0 for name, seconds in total.items()}

    @property
    def wrong(self):
        """The spans that read something else than their own piece, in the order of the requests."""
        return tuple(s for s in self.spans if self.read[s.stage, s.piece] != {s.piece})

    def _repr_mimebundle_(self, include=None, exclude=None):
        from course_lib.figures.engine_rows import stream_rows

        return stream_rows(self)._repr_mimebundle_()


def simulate(job, requests, *, asking=0.0):
    """Return the `Run` of a host's requests.

    Parameters
    ----------
    job : Job
    requests : list of tuple
        See `streams.requests`.
    asking : float
        Microseconds that the host needs for each request of a stage in a stream.

    Raises
    ------
    RequestError
        A request that no host can make, or a stage of a piece that is asked for twice.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Streams" and "Events".
    """
    host = _Host(job, asking)
    for number, request in enumerate(checked(requests, job)):
        host.ask(number, *request)
    host.play()
    spans = tuple(host.span(i) for i in range(len(host.asked)))
    return Run(job, spans, _races(job, host, spans), _read(job, host, spans), host.now, tuple(host.idle_waits))


class _Host:
    """The host's requests so far. Sets of stages are whole numbers: bit i stands for the stage asked for as i-th."""

    def __init__(self, job, asking):
        self.job, self.asking, self.now = job, asking, 0.0
        self.asked, self.before, self.times = (
            [],
            [],
            {},
        )  # (stage, piece, stream, when); what comes before; (begin, end)
        self.ready, self.done, self.waiting = [], 0, []  # when what comes before is done, as far as it is known
        self.streams, self.events, self.known = {}, {}, 0  # what each stream, each event and the host come after
        self.free, self.idle_waits = {}, []

    def ask(self, number, word, *rest):
        if word == "record":
            self.events[rest[0]] = self._after(rest[1])
        elif word == "wait":
            self._wait(*rest)
        elif word == "synchronize":
            self._meet(self._after(*rest) if rest else self._everything())
        else:
            self._stage(number, self.job.stage(word), *rest)

    def _stage(self, number, stage, piece, stream=None):
        if any((stage, piece) == (s, p) for s, p, *_ in self.asked):
            raise RequestError(f"request {number} asks for {stage.name} {piece} once more; once is enough.")
        i = len(self.asked)
        own = stage.engine == "host"
        self.now += 0 if own else self.asking
        self.asked.append((stage, piece, stream, self.now))
        self.before.append(self.known if own else self._after(stream))
        earlier = [self.times[j][1] for j in _members(self.before[i] & self.done)]
        self.ready.append(max([self.now, *earlier]))
        if own:
            self._set(i, self.now)
            self.now += stage.takes
            self.known |= 1 << i
            return
        self.waiting.append(i)
        if stream == 0:
            self.streams.setdefault(0, 0)
        self.streams[stream] = self.before[i] | 1 << i
        if stage.holds:
            self._meet(self.streams[stream])

    def _after(self, stream):
        """What comes before the next request in a stream; the default one is tied to all."""
        tied = self._everything() if stream == 0 else self.streams.get(0, 0)
        return self.streams.get(stream, 0) | tied | self.known

    def _everything(self):
        found = self.known
        for stages in self.streams.values():
            found |= stages
        return found

    def _wait(self, event, stream=None):
        if event not in self.events:
            self.idle_waits.append(str(event))
        found = self.events.get(event, 0)
        if stream is None:
            self._meet(found)
        else:
            self.streams[stream] = self.streams.get(stream, 0) | found

    def _meet(self, stages):
        """The host waits for some stages."""
        for i in _members(stages):
            while i not in self.times:
                self._next()
            self.now = max(self.now, self.times[i][1])
        self.known |= stages

    def play(self):
        """Let everything run that was asked for."""
        while len(self.times) < len(self.asked):
            self._next()

    def _next(self):
        """Begin the stage that can begin first; of several, the one that has been ready the longest."""
        can = [i for i in self.waiting if not self.before[i] & ~self.done]
        begin, _, i = min((max(self.ready[i], self.free.get(self._engine(i), 0.0)), self.ready[i], i) for i in can)
        self.waiting.remove(i)
        self._set(i, begin)
        self.free[self._engine(i)] = self.times[i][1]

    def _set(self, i, begin):
        self.times[i] = begin, begin + self.asked[i][0].takes
        self.done |= 1 << i
        for j in self.waiting:
            if self.before[j] >> i & 1:
                self.ready[j] = max(self.ready[j], self.times[i][1])

    def _engine(self, i):
        return self.asked[i][0].engine

    def span(self, i):
        stage, piece, stream, when = self.asked[i]
        return Span(stage.name, piece, stage.engine, stream, when, *self.times[i])


def _members(stages):
    """The numbers of a set of stages, the highest first."""
    found = []
    while stages:
        found.append(stages.bit_length() - 1)
        stages ^= 1 << found[-1]
    return found


def _races(job, host, spans):
    found, users = [], {}  # place -> [(number of a stage, whether it writes)]
    for i, (stage, piece, *_) in enumerate(host.asked):
        for place, writes in sorted(_places(job, stage, piece).items()):
            earlier = users.setdefault(place, [])
            for j, wrote in earlier:
                if (writes or wrote) and not host.before[i] >> j & 1:
                    found.append(Race(spans[j], spans[i], place, (wrote, writes)))
            earlier.append((i, writes))
    return tuple(found)


def _places(job, stage, piece):
    """{place: whether it is written} of a stage of a piece."""
    return {job.place(b, piece): False for b in stage.reads} | {job.place(b, piece): True for b in stage.writes}


def _read(job, host, spans):
    """{(stage, piece): the pieces whose numbers it has read}: what lies in a place, and what comes there meanwhile."""
    writers = {}
    for i, (stage, piece, *_) in enumerate(host.asked):
        for buffer in stage.writes:
            writers.setdefault(job.place(buffer, piece), []).append(i)
    made = {}

    def pieces(i):
        """The pieces that a stage's numbers come from."""
        if i in made:
            return made[i] or frozenset()
        made[i] = None
        stage, piece = host.asked[i][:2]
        found, own = frozenset(), spans[i]
        for buffer in stage.reads:
            at = job.place(buffer, piece)
            done = [w for w in writers.get(at, []) if spans[w].end <= own.begin and w != i]
            meanwhile = [
                w for w in writers.get(at, []) if w != i and spans[w].begin < own.end and spans[w].end > own.begin
            ]
            last = [max(done, key=lambda w: spans[w].end)] if done else []
            if buffer in job.slots and not done:
                found |= {None}  # nothing was there yet
            if buffer not in job.slots:
                found |= {piece}  # what lay there from the beginning
            for w in [*last, *meanwhile]:
                found |= pieces(w)
        made[i] = found
        return found

    return {(s.stage, s.piece): pieces(i) for i, s in enumerate(spans)}
