"""What one submission may use: seconds, memory, processes, disk, output.

Source: the course's own.
"""

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of one submission.

    Seconds are the processor's, so that a busy machine costs nobody a point; `submission` alone is on the clock.

    Attributes
    ----------
    call, question : float
        Seconds of one call, and of all calls of a question: each question has its own, whatever the others use.
    cell, cells : float
        Seconds of one cell, and of all cells of the notebook together.
    grace : float
        Seconds after which an answer that goes on is killed: at first it gets a signal, which Python turns into an
        exception.
    patience : float
        Seconds on the clock for each second of the processor, for answers that sleep, and for machines that are busy.
    submission : float
        Seconds on the clock after which nothing more is started.
    memory, disk, output, reply : int
        Bytes: of all processes together, of all files together, of what is printed and kept, and of one reply.
    processes : int
        Processes and threads together.

    ValueError unless all of them are positive. Source: the course's own.
    """

    call: float = 10.0
    question: float = 30.0
    cell: float = 60.0
    cells: float = 240.0
    grace: float = 3.0
    patience: float = 4.0
    submission: float = 1800.0
    memory: int = 1024 * MEBIBYTE
    disk: int = 64 * MEBIBYTE
    output: int = MEBIBYTE
    reply: int = 8 * MEBIBYTE
    processes: int = 64

    def __post_init__(self):
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"the limit {name} is {value}; it must be positive.")
