"""When kernels run that a host launches one by one: each when it is enqueued and the one before is done.

Source: NVIDIA, "CUDA C++ Programming Guide", "Asynchronous Concurrent Execution".
"""

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Rows:
    """Two rows of a timeline, in seconds: when the host had enqueued each launch, and when its kernel ran.

    Attributes
    ----------
    enqueued : tuple of float
    spans : tuple of (begin, end)

    Source: the course's own.
    """

    enqueued: tuple
    spans: tuple

    @property
    def end(self):
        """When the last kernel is done."""
        return self.spans[-1][1] if self.spans else 0.0

    @property
    def busy(self):
        """The share of the time in which a kernel runs."""
        return sum(end - begin for begin, end in self.spans) / self.end if self.end else 0.0

    @property
    def waits(self):
        """How many kernels begin later than they could, since the host had not enqueued them."""
        late = [begin > before for (_, before), (begin, _) in pairwise(self.spans)]
        return sum(late) + bool(self.spans and self.spans[0][0] > 0)


def two_rows(seconds, enqueued):
    """Return the `Rows` of kernels in one stream.

    Parameters
    ----------
    seconds : sequence of float
        How long each kernel runs.
    enqueued : sequence of float, or float
        When each has been enqueued, rising; or seconds from one launch to the next, the first one included.

    Raises
    ------
    ValueError
        Another number of times; a time below 0; times that do not rise.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Asynchronous Concurrent Execution".
    """
    seconds = [float(s) for s in seconds]
    if isinstance(enqueued, int | float):
        enqueued = [enqueued * (k + 1) for k in range(len(seconds))]
    enqueued = [float(t) for t in enqueued]
    if len(seconds) != len(enqueued):
        raise ValueError(f"there are {len(seconds)} kernels and {len(enqueued)} times of enqueuing.")
    if any(t < 0 for t in [*seconds, *enqueued]) or any(b < a for a, b in pairwise(enqueued)):
        raise ValueError("times must be 0 or more, and a launch is enqueued behind the one before.")
    spans, free = [], 0.0
    for when, length in zip(enqueued, seconds, strict=True):
        begin = max(when, free)
        free = begin + length
        spans.append((begin, free))
    return Rows(tuple(enqueued), tuple(spans))
