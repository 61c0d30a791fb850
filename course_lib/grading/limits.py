"""What one submission may use: seconds, memory, processes, disk, output.

Source: the course's own.
"""

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of one submission.

    Attributes
    ----------
    call, cell, question, submission : float
        Seconds. At first the answer gets a signal, which Python turns into an exception.
    grace : float
        Seconds after which an answer that goes on is killed, with all of its processes.
    memory, disk, output, reply : int
        Bytes: of all processes together, of all files together, of what is printed and kept, and of one reply.
    processes : int
        Processes and threads together.

    ValueError unless all of them are positive. Source: the course's own.
    """

    call: float = 10.0
    cell: float = 10.0
    question: float = 30.0
    submission: float = 120.0
    grace: float = 3.0
    memory: int = 1024 * MEBIBYTE
    disk: int = 64 * MEBIBYTE
    output: int = MEBIBYTE
    reply: int = 8 * MEBIBYTE
    processes: int = 64

    def __post_init__(self):
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"the limit {name} is {value}; it must be positive.")
