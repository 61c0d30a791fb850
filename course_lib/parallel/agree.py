"""Do all ranks have the same? Weights, data, settings: asked once, before they are relied on.

A digest of each thing goes to rank 0, which compares, and tells all ranks what it found: all raise the same error.

Source: the course's own; R. Rivest (1992), "The MD5 Message-Digest Algorithm" (what a digest is).
"""

import hashlib
import json

import numpy as np

from course_lib.parallel.errors import RankError


def agree(world, things, advice=""):
    """Raise `RankError` on all ranks unless all have equal things. All ranks must call it.

    Parameters
    ----------
    world : World
    things : dict of str to array (...), str or number
        By name; the first that differs is told.
    advice : str
        What to do about it, a sentence.

    Raises
    ------
    RankError
        Names the first rank that differs from rank 0, and in what.

    Source: the course's own.
    """
    mine = [[name, *_digest(thing)] for name, thing in things.items()]
    verdict = None
    if world.rank:
        send_text(world, json.dumps(mine), 0)
    else:
        for rank in range(1, world.size):
            theirs = json.loads(receive_text(world, rank))
            if verdict is None and (difference := _difference(mine, theirs)):
                verdict = rank, f"rank {rank} differs from rank 0 in {difference}"
    if world.size > 1:
        verdict = json.loads(broadcast_text(world, json.dumps(verdict)))
    if verdict is not None:
        raise RankError(f"rank {world.rank}: {verdict[1]}. {advice}".rstrip(), verdict[0])


def _digest(thing):
    """Return (digest, what it is, in words)."""
    if isinstance(thing, np.ndarray):
        words, content = f"{thing.dtype} {thing.shape}", np.ascontiguousarray(thing).tobytes()
    else:
        words = f"{thing}"[:60]
        content = f"{thing}".encode()
    return hashlib.blake2b(content, digest_size=12).hexdigest(), words


def _difference(mine, theirs):
    others = {name: (digest, words) for name, digest, words in theirs}
    for name, digest, words in mine:
        if name not in others:
            return f"what it has: it lacks {name} ({words})"
        other, their_words = others.pop(name)
        if other != digest:
            return f"{name} ({words})" if words == their_words else f"{name}: {their_words}, and rank 0 has {words}"
    return "".join(f"what it has besides: {name} ({words})" for name, (_, words) in list(others.items())[:1])


# -------------------------------------------------------------------------------------------- texts as messages


def send_text(world, text, to):
    """Send a text to a rank: its length, then its bytes. Errors as `world.send`. Source: the course's own."""
    content = np.frombuffer(text.encode(), np.uint8)
    world.send(np.array([len(content)], np.int64), to)
    world.send(content, to)


def receive_text(world, source):
    """Return a text that a rank sends by `send_text`. Errors as `world.receive`. Source: the course's own."""
    length = np.empty(1, np.int64)
    world.receive(length, source)
    content = np.empty(int(length[0]), np.uint8)
    world.receive(content, source)
    return content.tobytes().decode()


def broadcast_text(world, text, root=0):
    """Return rank `root`'s text on all ranks. Errors as `world.receive`. Source: the course's own."""
    return broadcast_bytes(world, text.encode() if world.rank == root else b"", root).decode()


def broadcast_bytes(world, content, root=0):
    """Return rank `root`'s bytes on all ranks. Errors as `world.receive`. Source: the course's own."""
    length = np.array([len(content)], np.int64)
    world.broadcast(length, root)
    array = np.frombuffer(content, np.uint8) if world.rank == root else np.empty(int(length[0]), np.uint8)
    if world.rank == root:
        array = array.copy()  # a receiver's array can be written, and all take the same way
    world.broadcast(array, root)
    return array.tobytes()
