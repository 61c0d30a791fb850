"""Ranks as threads of one process: the same messages, without MPI, and without a cluster.

A message is a copy in a box from one rank to another. Whoever waits says for whom, so that nobody waits in vain: that
a rank has ended is seen at once, and so is a circle of ranks that wait for each other.

Source: the course's own; E. Coffman, M. Elphick and A. Shoshani (1971), "System Deadlocks" (a circle of waiting).
"""

import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass

from course_lib.parallel.errors import AGAIN, RankError
from course_lib.parallel.world import PATIENCE, World

UNTIL_NEXT_LOOK = 0.5
"""Seconds after which a waiting rank wakes up though nobody called it."""


@dataclass(eq=False)
class _Waiting:
    """A rank that waits: for whom, for what, and a function that says whether it can go on."""

    peer: int
    words: str
    ready: object


class Hall:
    """What the ranks of one process share: boxes of messages, who waits, who has ended, what went wrong first.

    Source: the course's own.
    """

    def __init__(self, size):
        self.size, self.condition = size, threading.Condition()
        self.boxes = defaultdict(deque)
        self.waiting, self.ended, self.failure = {}, {}, None

    def end(self, rank, how):
        """Take note that a rank has ended, and how, in words; who waits for it is told. No errors."""
        with self.condition:
            self.ended[rank] = how
            self.condition.notify_all()

    def fail(self, rank, words):
        """Let the first failure be what all ranks are told; return it as (rank or None, words). No errors."""
        with self.condition:
            if self.failure is None:
                self.failure = rank, words
                self.condition.notify_all()
            return self.failure


class ThreadWorld(World):
    """A rank that is a thread.

    Parameters
    ----------
    hall : Hall
    rank : int
    patience : float
        As `World`.
    buffer : int >= 0, optional
        Bytes up to which a send returns at once; with a larger array it returns when the message is taken. MPI does
        so, too, and a program may work that would wait for ever with larger arrays. None: all sends return at once.

    Source: MPI Forum, "MPI", 3.4 (synchronous and buffered mode).
    """

    engine = "threads"

    def __init__(self, hall, rank, patience=PATIENCE, buffer=None, channel="main"):
        super().__init__(rank, hall.size, patience)
        self.hall, self.buffer, self.name, self._channels = hall, buffer, channel, 0

    def channel(self):
        """As `World.channel`."""
        self._channels += 1
        name = f"{self.name}.{self._channels}"
        return ThreadWorld(self.hall, self.rank, self.patience, self.buffer, name)

    def _transfer(self, outgoing, to, incoming, source):
        hall, message = self.hall, None
        with hall.condition:
            self._fail_if_known(None, "")
        if outgoing is not None:
            message = outgoing.copy()
            with hall.condition:
                hall.boxes[self.name, self.rank, to].append(message)
                hall.condition.notify_all()
        if incoming is not None:
            self._take(incoming, source)
        if outgoing is not None and self.buffer is not None and outgoing.nbytes > self.buffer:
            box = hall.boxes[self.name, self.rank, to]
            with hall.condition:
                self._wait(to, self._wanted("send", outgoing, to), lambda: all(m is not message for m in box))

    def _take(self, incoming, source):
        hall, words = self.hall, self._wanted("receive", incoming, source)
        with hall.condition:
            box = hall.boxes[self.name, source, self.rank]
            self._wait(source, words, lambda: len(box) > 0)
            message = box.popleft()
            hall.condition.notify_all()
        if message.shape != incoming.shape or message.dtype != incoming.dtype:
            hall.fail(
                source,
                f"rank {self.rank} waited ({words}), and was sent {message.dtype} {message.shape}. All ranks must "
                "agree on shapes and dtypes: do they have equal networks and batches?",
            )
            self._fail_if_known(None, "")
        incoming[...] = message

    def _wait(self, peer, words, ready):
        """Return when ready() is true; raise RankError if it will never be. The hall's condition is held."""
        hall, key = self.hall, (self.name, self.rank)
        give_up = time.monotonic() + self.patience
        hall.waiting[key] = _Waiting(peer, words, ready)
        try:
            while not ready():
                self._fail_if_known(peer, words)
                self._fail_in_circle()
                left = give_up - time.monotonic()
                if left <= 0:
                    self._fail_after_patience(peer)
                hall.condition.wait(min(left, UNTIL_NEXT_LOOK))
        finally:
            del hall.waiting[key]

    def _fail_if_known(self, peer, words):
        hall = self.hall
        if peer is not None and peer in hall.ended and hall.failure is None:
            hall.fail(peer, f"rank {peer} {hall.ended[peer]}, and rank {self.rank} waited ({words}). {AGAIN}")
        if hall.failure is not None:
            rank, text = hall.failure
            raise RankError(f"rank {self.rank}: {text}", rank)

    def _fail_in_circle(self):
        """All ranks wait in this channel, and none can go on: find the circle, and say it."""
        hall = self.hall
        waits = {rank: hall.waiting.get((self.name, rank)) for rank in range(hall.size) if rank not in hall.ended}
        if any(w is None or w.ready() for w in waits.values()) or any(w.peer in hall.ended for w in waits.values()):
            return
        rank, seen = self.rank, []
        while rank not in seen:
            seen.append(rank)
            rank = waits[rank].peer
        circle = "; ".join(f"rank {r} waits ({waits[r].words})" for r in sorted(seen[seen.index(rank) :]))
        hall.fail(
            None,
            f"deadlock, the ranks wait for each other: {circle}. Let all ranks call the same operations in the same "
            "order, and exchange(...) where two send to each other.",
        )
        self._fail_if_known(None, "")

    def _fail_after_patience(self, peer):
        hall, seen = self.hall, []
        while peer not in seen and (wait := self._wait_of(peer)) is not None:
            seen.append(peer)
            peer = wait.peer
        mine = hall.waiting[self.name, self.rank].words
        hall.fail(
            peer,
            f"rank {peer} sent nothing for {self.patience:g} s, and waits for nobody: it computes or hangs. Rank "
            f"{self.rank} waited ({mine}). If its steps take so long, raise patience. {AGAIN}",
        )
        self._fail_if_known(None, "")

    def _wait_of(self, rank):
        """Return what a rank waits for, in this channel or another; None if it does not wait."""
        waits = self.hall.waiting
        return waits.get((self.name, rank)) or next((w for (_, r), w in waits.items() if r == rank), None)
