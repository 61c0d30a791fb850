"""How far apart rows lie in shared memory whose lanes read together: eight neighbours of each of four rows.

Shared memory has 32 banks of one float. If rows begin in banks 0, 8, 16 and 24, in any order, the eight lanes of a row
have eight banks for themselves. Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory", "Memory Banks".
"""


def far(least):
    """Return the least number of floats, a multiple of 8 from `least` on, that is 8 or 24 beyond a multiple of 32.

    No errors. Source: the course's own.
    """
    return next(n for n in range(-(-least // 8) * 8, least + 40, 8) if n % 32 in (8, 24))
