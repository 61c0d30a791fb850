"""What a rank is told when another one is gone, hangs, or does something else.

Source: the course's own.
"""

AGAIN = "Start the ranks again: nn.train(..., checkpoint=path, resume=True) goes on after the last whole epoch."
"""What helps where a rank is lost."""


def told(error):
    """Return an error in a clause: "ValueError: no such file", without a full stop. No errors.

    Source: the course's own.
    """
    words = str(error).rstrip(".")
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


class RankError(RuntimeError):
    """Ranks cannot go on together: one ended, sends nothing, or differs from the others.

    Parameters
    ----------
    message : str
        Which rank it is, what was waited for, what to do.
    rank : int or None
        The rank to look at; None where no single one is to blame, as in a deadlock.

    Source: the course's own.
    """

    def __init__(self, message, rank=None):
        super().__init__(message)
        self.rank = rank

    def __reduce__(self):
        return type(self), (self.args[0], self.rank)
