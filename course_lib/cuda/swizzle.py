"""Where a tile lies in shared memory, and how a descriptor says so: the picture behind Hopper's tensor cores.

A tile's row is 128 bytes, eight *chunks* of 16; rows follow each other. If chunk c of every row lay at c, eight rows'
chunks c would lie in the same four banks, and whoever reads a column of chunks would wait eight times. So chunk c of
row r lies at

    c ^ (r % 8)                      in address bits: bits 4 to 6 are turned over by bits 7 to 9

the *128-byte swizzle*: each row is a permutation of its chunks, each column meets all 32 banks, and the same rule
undoes it. A copy by TMA lays a tile down so; the tensor cores read it so; `places` draws it.

A *descriptor* tells the tensor cores where an operand lies, in a number of 64 bits, addresses in units of 16 bytes:

    bits  0-13   where it starts            bits 32-45   stride: from eight rows to the next eight
    bits 16-29   leading: from one slice of 128 bytes to the next (where the sum does not run along the bytes)
    bits 62-63   the swizzle; 1 is that of 128 bytes

`walk` says which bytes the tensor cores read for it. *K-major*: the sum runs along the bytes of a row; a step of k (32
bytes: 8 TF32 or 16 BF16 numbers) is two chunks further, and adds 2 to the start. The swizzle works on whole addresses,
so a start inside of a row is no trouble. *Transposed* (16-bit numbers only): a row is one k, 64 columns long; a step
of 16 k is 16 rows further, and adds 128 to the start. Source: NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix
Shared Memory Layout", "Matrix Descriptor Format"; NVIDIA, "CUDA Driver API", "cuTensorMapEncodeTiled".
"""

import numpy as np

ROW, CHUNK, ROWS = 128, 16, 8
"""Bytes of a row and of a chunk; rows after which the swizzle repeats."""

BANKS, WORD = 32, 4
STEP = 32
"""Bytes of a row that one product takes: 8 numbers of TF32, 16 of BF16 or FP16."""

_LEADING, _STRIDE, _SWIZZLE = 16, 32, 62
_FIELD = (1 << 14) - 1


def swizzled(address):
    """Return where a byte of a tile lies: bits 4 to 6 of its plain address turned over by bits 7 to 9.

    Parameters
    ----------
    address : int or array of int (...)
        In bytes, as if rows of 128 bytes followed each other; the tile begins at a multiple of 1024.

    No errors. The rule undoes itself. Source: NVIDIA, "PTX ISA", "Swizzling Modes".
    """
    return address ^ ((address >> 7 & 7) << 4)


def places(rows):
    """Return (rows, 8) int: in which of its row's eight places each chunk of 16 bytes lies: c ^ (r % 8).

    Parameters
    ----------
    rows : int
        At least 1, else ValueError.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Tensor Memory Access" (shared memory swizzling).
    """
    if rows < 1:
        raise ValueError(f"rows is {rows}; a tile has at least one row.")
    row, chunk = np.arange(rows)[:, None], np.arange(ROW // CHUNK)
    return swizzled(row * ROW + chunk * CHUNK) % ROW // CHUNK


def banks(rows, *, plain=False):
    """Return (rows, 8) int: the first of the four banks in which each chunk lies; plain: without the swizzle.

    ValueError as `places`. Source: NVIDIA, "CUDA C++ Programming Guide", "Shared Memory" (banks).
    """
    place = places(rows)
    return (np.broadcast_to(np.arange(ROW // CHUNK), place.shape) if plain else place) * (CHUNK // WORD)


def copied(tile):
    """Return what a copy by TMA makes of a tile: its bytes, (rows * 128,) uint8, with the swizzle of 128 bytes.

    Parameters
    ----------
    tile : ndarray (rows, columns)
        With rows of 128 bytes, such as 32 float32, else ValueError.

    Source: NVIDIA, "CUDA Driver API", "cuTensorMapEncodeTiled".
    """
    rows = np.ascontiguousarray(tile).view(np.uint8)
    if rows.ndim != 2 or rows.shape[1] != ROW:
        raise ValueError(f"a row of the tile has {rows.shape[-1]} bytes; the swizzle turns over rows of {ROW}.")
    memory = np.empty(rows.size, np.uint8)
    memory[swizzled(np.arange(rows.size))] = rows.reshape(-1)
    return memory


def descriptor(start, *, stride=ROWS * ROW, leading=CHUNK):
    """Return the 64-bit descriptor of an operand with the swizzle of 128 bytes.

    Parameters
    ----------
    start, stride, leading : int
        In bytes, multiples of 16 below 256 KiB, else ValueError. stride: from eight rows to the next eight; leading:
        from one slice to the next, for a transposed operand.

    Source: NVIDIA, "PTX ISA", "Matrix Descriptor Format".
    """
    number = 1 << _SWIZZLE
    for name, value, bit in (("start", start, 0), ("leading", leading, _LEADING), ("stride", stride, _STRIDE)):
        if value % CHUNK or not 0 <= value // CHUNK <= _FIELD:
            raise ValueError(
                f"{name} is {value} bytes; it must be a multiple of {CHUNK} below {CHUNK * (_FIELD + 1):,}."
            )
        number |= value // CHUNK << bit
    return number


def fields(number):
    """Return {"start", "leading", "stride": bytes, "swizzle": code} of a descriptor. No errors.

    Source: NVIDIA, "PTX ISA", "Matrix Descriptor Format".
    """
    places_ = {"start": 0, "leading": _LEADING, "stride": _STRIDE}
    return {name: (number >> bit & _FIELD) * CHUNK for name, bit in places_.items()} | {"swizzle": number >> _SWIZZLE}


def walk(number, columns, *, size=4, transposed=False):
    """Return (k, columns) int: the byte where the tensor cores find each element of a product's right operand.

    Parameters
    ----------
    number : int
        The descriptor.
    columns : int
        Of the operand, a multiple of 8.
    size : int
        Bytes of an element: 4 (TF32, k = 8) or 2 (k = 16).
    transposed : bool
        Whether a row in memory is one k; only for size 2, else ValueError.

    Source: NVIDIA, "PTX ISA", "Strides", "Shared Memory Matrix Layout".
    """
    if transposed and size != 2:
        raise ValueError(f"size is {size}; only operands of 2 bytes can be transposed, TF32 must lie K-major.")
    at = fields(number)
    k, n = np.arange(STEP // size)[:, None], np.arange(columns)
    if transposed:
        across = ROW // size
        plain = n // across * at["leading"] + k // ROWS * at["stride"] + k % ROWS * ROW + n % across * size
    else:
        plain = n // ROWS * at["stride"] + n % ROWS * ROW + k * size
    return swizzled(at["start"] + plain)


def operand(memory, number, columns, dtype, *, transposed=False):
    """Return (k, columns): a product's right operand, read from shared memory as the tensor cores do.

    Parameters
    ----------
    memory : ndarray of uint8 (bytes,)
    number, columns, transposed
        As `walk`.
    dtype : numpy dtype
        Of the elements: float32, float16, or uint16 for BF16.

    Errors as `walk`, and IndexError where the descriptor leads out of the memory. Source: as `walk`.
    """
    size = np.dtype(dtype).itemsize
    at = walk(number, columns, size=size, transposed=transposed)[..., None] + np.arange(size)
    return memory[at].view(dtype)[..., 0]


def picture(number, rows, *, size=4, transposed=False):
    """Return lines of text: a tile as it lies, each row's chunks by number, in brackets those that one product reads.

    Parameters
    ----------
    number : int
        The descriptor of an operand with a start below 1024.
    rows : int
        Of the tile, which begins at 0: for an operand with as many columns, or, transposed, 64 columns.
    size, transposed
        As `walk`.

    Errors as `walk`. Source: NVIDIA, "PTX ISA", "Shared Memory Matrix Layout".
    """
    columns = ROW // size if transposed else rows
    read = np.zeros(rows * ROW // CHUNK, np.bool_)
    read[np.unique(walk(number, columns, size=size, transposed=transposed) // CHUNK)] = True
    lies = np.argsort(places(rows), axis=1)  # which chunk is at each place
    cells = [[f"[{c}]" if r else f" {c} " for c, r in zip(*row, strict=True)]
             for row in zip(lies, read.reshape(rows, -1), strict=True)]  # fmt: skip
    return [f"row {i:2}  {''.join(row)}" for i, row in enumerate(cells)]


K_MAJOR = descriptor(0)
"""Descriptor of an operand whose rows of 128 bytes follow each other, without its start."""
