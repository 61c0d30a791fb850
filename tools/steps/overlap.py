"""A job in pieces, read, computed and written back: in one stream, in three, and in three from usual memory.

Source: H, "Mini-Batching May be Needed to Fill GPU" (read next, compute present, write previous).
"""

import numpy as np
from numba import cuda

from course_lib import gpu
from tools.steps.clock import row, timed

PIECES, SLOTS = 8, 3
STAGES = "read", "compute", "write"


@gpu.jit(cache=True)
def iterate(a, out, turns):
    """out = a after `turns` steps of x -> x / 2 + a, which end near 2 a."""
    i = cuda.grid(1)
    if i < out.size:
        x = a[i]
        for _ in range(turns):
            x = x * np.float32(0.5) + a[i]
        out[i] = x


def rows(tiny):
    """Yield one row: seconds of the whole job, and for two ways when each part of it ran ("spans")."""
    pieces, size = (4, 32) if tiny else (PIECES, 2**22)
    job = Job(pieces, size, gpu.pinned)
    usual = Job(pieces, size, np.empty)
    if not tiny:
        job.turns = usual.turns = balanced(job)
    rounds = 3 if tiny else 9
    timings = {"one stream": timed(job.in_one_stream, rounds=rounds)}
    job.check()
    timings["three streams"] = timed(job.in_three_streams, rounds=rounds)
    job.check()
    timings["three streams, pageable"] = timed(usual.in_three_streams, rounds=rounds)
    for stage in STAGES:
        timings[f"only {stage}"] = timed(lambda stage=stage: job.only(stage), rounds=rounds)
    spans = {}
    for way, run in (("one stream", job.in_one_stream), ("three streams", job.in_three_streams),
                     ("three streams, pageable", usual.in_three_streams)):  # fmt: skip
        run()
        spans[way] = (usual if "pageable" in way else job).spans(run)
    words = f"{pieces} pieces of {4 * size:,} bytes"
    yield row("read, compute, write", words, timings, spans=spans, turns=job.turns)


def balanced(job):
    """Return for how many turns a piece computes about as long as it is read."""
    job.turns = 256
    reading, computing = (timed(lambda stage=s: job.only(stage), rounds=5)["median"] for s in ("read", "compute"))
    return max(1, round(job.turns * reading / computing))


class Job:
    """Pieces of a host array that are read, computed on and written to another, with SLOTS buffers on the device."""

    def __init__(self, pieces, size, make):
        self.source, self.target = make((pieces, size), np.float32), make((pieces, size), np.float32)
        self.source[...] = np.arange(pieces, dtype=np.float32)[:, None] + 1
        self.inputs = [gpu.to_device(np.zeros(size, np.float32)) for _ in range(SLOTS)]
        self.outputs = [gpu.to_device(np.zeros(size, np.float32)) for _ in range(SLOTS)]
        self.pieces, self.size, self.turns, self.marks = pieces, size, 40, None
        self.streams = {stage: gpu.stream() for stage in STAGES}
        self.done = {stage: [gpu.event() for _ in range(pieces)] for stage in STAGES}

    def do(self, stage, piece, stream):
        """Enqueue one stage of one piece."""
        slot = piece % SLOTS
        begin = self._mark(stream)
        if stage == "read":
            gpu.overwrite(self.inputs[slot], self.source[piece], stream)
        elif stage == "compute":
            iterate[-(-self.size // 256), 256, stream](self.inputs[slot], self.outputs[slot], self.turns)
        else:
            gpu.to_host(self.outputs[slot], stream, out=self.target[piece])
        if begin:
            self.marks.append((stage, piece, begin, self._mark(stream)))

    def in_one_stream(self):
        """All in one stream: each stage behind the one before."""
        stream = self.streams["compute"]
        for piece in range(self.pieces):
            for stage in self.streams:
                self.do(stage, piece, stream)
        stream.synchronize()

    def in_three_streams(self):
        """A stream for each stage; events say what waits for what."""
        read, compute, write = self.streams.values()
        done = self.done
        for piece in range(self.pieces):
            if piece >= SLOTS:
                done["compute"][piece - SLOTS].wait(read)  # before its input is overwritten
            self.do("read", piece, read)
            done["read"][piece].record(read)
            done["read"][piece].wait(compute)
            if piece >= SLOTS:
                done["write"][piece - SLOTS].wait(compute)  # before its output is
            self.do("compute", piece, compute)
            done["compute"][piece].record(compute)
            done["compute"][piece].wait(write)
            self.do("write", piece, write)
            done["write"][piece].record(write)
        write.synchronize()

    def only(self, stage):
        """One stage of every piece."""
        for piece in range(self.pieces):
            self.do(stage, piece, self.streams[stage])
        self.streams[stage].synchronize()

    def spans(self, run):
        """Return [(stage, piece, begin, end)] in seconds of one run, by the device's clock."""
        gpu.synchronize()
        self.marks = []
        start = gpu.event()
        start.record(self.streams["read"])
        run()
        gpu.synchronize()
        marks, self.marks = self.marks, None
        return [(s, p, *(start.elapsed_time(e) / 1000 for e in both)) for s, p, *both in marks]

    def check(self):
        """Raise unless the last run left the right numbers."""
        first = self.source[:, :1].copy()  # the numbers of a piece are equal
        x = first
        for _ in range(self.turns):
            x = x * np.float32(0.5) + first
        np.testing.assert_allclose(self.target, np.broadcast_to(x, self.target.shape), rtol=1e-5)
        self.target[...] = -1

    def _mark(self, stream):
        if self.marks is None:
            return None
        event = gpu.event()
        event.record(stream)
        return event
