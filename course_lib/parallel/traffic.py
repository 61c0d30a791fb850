"""What was sent: messages and bytes, counted by each rank, and by formula beside each algorithm.

Source: the course's own.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Traffic:
    """Messages that a rank sent, and the bytes in them. Two can be added and subtracted.

    Source: the course's own.
    """

    messages: int = 0
    bytes: int = 0

    def __add__(self, other):
        return Traffic(self.messages + other.messages, self.bytes + other.bytes)

    def __sub__(self, other):
        return Traffic(self.messages - other.messages, self.bytes - other.bytes)


def cuts(count, size):
    """Return the places at which `count` things are cut into `size` parts, (size + 1,) ints: part r is cuts[r:r + 2].

    Parts differ by one thing at most, and are empty where there are fewer things than parts. No errors.
    Source: the course's own.
    """
    return [count * r // size for r in range(size + 1)]
