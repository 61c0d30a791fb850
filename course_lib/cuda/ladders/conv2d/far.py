"""How far apart rows lie in shared memory: their padding between them, and whole planes in banks of their own.

Lanes read together eight neighbours of each of four rows, which lie in four planes.

Shared memory has 32 banks of one float. If rows begin in banks 0, 8, 16 and 24, in any order, the eight lanes of a row
have eight banks for themselves. Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory", "Memory Banks".
"""


def far(least):
    """Return the least number of floats, a multiple of 8 from `least` on, that is 8 or 24 beyond a multiple of 32.

    No errors. Source: the course's own.
    """
    return next(n for n in range(-(-least // 8) * 8, least + 40, 8) if n % 32 in (8, 24))


class PaddedRows:
    """Rows of x in shared memory, of a plan with Sizes `s`: the space between two of them is the padding of both.

    Source: the course's own.
    """

    @property
    def piece(self):
        """Floats of one copy: 4 where every row of x begins at a multiple of 16 bytes."""
        return 4 if self.s.W % 4 == 0 else 1

    @property
    def margin(self):
        """Zeros before a row: its padding, and that of the row before on its other side."""
        return -(-self.s.p_w // self.piece) * self.piece

    @property
    def pitch(self):
        """Floats from one row to the next."""
        return self.margin + self.s.W
