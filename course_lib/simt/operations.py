"""The numbers of atomic operations, for the loops that do them.

Source: Numba's documentation, "Supported Atomic Operations".
"""

ADD, SUB, MAX, MIN, NANMAX, NANMIN, EXCH, CAS, AND, OR, XOR, INC, DEC = range(13)
