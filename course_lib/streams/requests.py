"""What a host may ask for, one request after another, as plain tuples; and what is said of one that is none.

    ("read", 3, "reads")            piece 3, the stage "read", in the stream "reads"
    ("gather", 3)                   a stage that the host does itself has no stream
    ("record", "done 3", "reads")   an event: a mark behind all that is in that stream now
    ("wait", "done 3", "computes")  the stream goes on when the event has come
    ("wait", "done 3")              the host does
    ("synchronize", "computes")     the host waits for a stream;  ("synchronize",)  for all

The stream 0 is the default one: it waits for all others, and they for it.
Source: NVIDIA, "CUDA C++ Programming Guide", "Streams" and "Events".
"""

MOST = 2_000
"""Requests of a list."""

WORDS = ("record", "wait", "synchronize")


class RequestError(ValueError):
    """A request that no host can make; the message says which one, and why. Source: the course's own."""


def checked(requests, job):
    """Return the requests as a list of tuples.

    Raises
    ------
    RequestError
        For anything else than a list of tuples as above: another stage, a stage in no stream, the host's in one.

    Source: the course's own.
    """
    if not isinstance(requests, list | tuple):
        hint = " Is there a return?" if requests is None else ""
        raise RequestError(f"the requests are {_kind(requests)}; they must be a list of tuples.{hint}")
    if len(requests) > MOST:
        raise RequestError(f"there are {len(requests):,} requests; {MOST:,} are enough for every job here.")
    return [_one(number, request, job) for number, request in enumerate(requests)]


def _one(number, request, job):
    where = f"request {number}"
    if not isinstance(request, list | tuple) or not request or not isinstance(request[0], str):
        raise RequestError(f"{where} is {_shown(request)}; it must be a tuple such as ('record', 'done', 'copies').")
    word, *rest = request
    if word in WORDS:
        most, least = {"record": (2, 2), "wait": (2, 1), "synchronize": (1, 0)}[word]
        if not least <= len(rest) <= most:
            form = {"record": "an event and a stream", "wait": "an event, and a stream unless the host is to wait",
                    "synchronize": "a stream, or nothing for all of them"}[word]  # fmt: skip
            raise RequestError(f"{where} is {_shown(request)}; {word!r} needs {form}.")
        if any(not isinstance(name, str | int) for name in rest):
            raise RequestError(f"{where} is {_shown(request)}; events and streams are named by texts or numbers.")
        return (word, *rest)
    stage = job.stage(word)
    if stage is None:
        known = ", ".join([*(s.name for s in job.stages), *WORDS])
        raise RequestError(f"{where} is {_shown(request)}; it begins with none of {known}.")
    if not rest or isinstance(rest[0], bool) or not isinstance(rest[0], int) or rest[0] < 0:
        raise RequestError(f"{where} is {_shown(request)}; behind {word!r} comes the number of a piece, from 0 on.")
    if stage.engine == "host":
        if len(rest) != 1:
            raise RequestError(f"{where} is {_shown(request)}; {word!r} is the host's own work and has no stream.")
        return word, rest[0]
    if len(rest) != 2 or not isinstance(rest[1], str | int):
        raise RequestError(f"{where} is {_shown(request)}; {word!r} needs a stream behind the number of its piece.")
    return word, rest[0], rest[1]


def _shown(value):
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _kind(value):
    return "None" if value is None else f"a {type(value).__name__}"
