"""Tensor maps: what the unit that copies tiles (TMA) must know of a matrix, made by the driver, kept on the device.

A map holds where a matrix begins, its sizes and the bytes from row to row, the box that one copy brings, and how the
box is laid out in shared memory. Outside of the matrix a copy brings zeros. The unit wants rows that begin at multiples
of 16 bytes. Source: NVIDIA, "CUDA Driver API", "cuTensorMapEncodeTiled".
"""

import ctypes
import functools
import itertools
import weakref

import numpy as np

from course_lib.cuda.choice import GPU, DeviceError
from course_lib.cuda.device import choice, executor

WORDS = 16
"""Numbers of 64 bits that a tensor map takes."""

KINDS = {"uint16": 1, "float32": 7, "tf32": 11}
"""Elements: two bytes as they are, float32 as it is, and float32 that the unit rounds to TF32 while it copies."""

SWIZZLE_128, PROMOTE_256 = 3, 3
_MOST = 256
_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int

ENCODE = ctypes.CFUNCTYPE(_NUMBER, _POINTER, _NUMBER, ctypes.c_uint32, *(_POINTER,) * 5, *(_NUMBER,) * 4)
"""The type of cuTensorMapEncodeTiled: map, kind, rank, address, sizes, bytes of a row, box, steps, interleaving,
swizzle, what L2 fetches at least, what lies outside."""

_made, _shown, _names = {}, {}, itertools.count(1)


def tensor_maps(*boxes):
    """Return a device array of 64-bit numbers, 16 for each map, in order.

    It depends on addresses and sizes alone, so it is kept, and made once for the same matrices; a recorded graph keeps
    those of its launches.

    Parameters
    ----------
    *boxes : (device array (rows, columns), kind, box rows, box columns)
        kind is "uint16" for elements of two bytes, "float32", or "tf32": rounded while they are copied. A box has 128
        bytes a row, and at most 256 rows.

    Raises
    ------
    DeviceError
        If the driver refuses, or there is none that knows tensor maps.

    Source: NVIDIA, "CUDA Driver API", "cuTensorMapEncodeTiled".
    """
    if choice().device != GPU:
        return _for_the_executor(boxes)
    key = tuple((executor().address(x), tuple(x.shape), kind, *box) for x, kind, *box in boxes)
    if key not in _made:
        if len(_made) >= _MOST:
            _made.clear()
        words = np.concatenate([_encoded(*one) for one in key])
        _made[key] = executor().constant(words)
    executor().keep(_made[key])
    return _made[key]


def _for_the_executor(boxes):
    """Return numbers that stand for maps; `shown` says which."""
    words = np.zeros(WORDS * len(boxes), np.uint64)
    names = [next(_names) for _ in boxes]
    words[::WORDS] = names
    _shown.update(zip(names, boxes, strict=True))
    made = executor().copy_in(words, 0)
    weakref.finalize(made, lambda: [_shown.pop(name, None) for name in names])
    return made


def shown(name):
    """Return (array, kind, box rows, box columns) of a map for the SIMT executor, by its first number.

    KeyError where there is none. Source: the course's own.
    """
    return _shown[name]


def _encoded(address, shape, kind, box_rows, box_columns):
    """Return a tensor map as 16 numbers."""
    memory = np.zeros(2 * WORDS, np.uint64)  # the driver wants an address that is a multiple of 64
    skip = -memory.ctypes.data % 64 // 8
    words = memory[skip : skip + WORDS]
    rows, columns = shape
    size = 2 if kind == "uint16" else 4
    error = _encode()(
        words.ctypes.data, KINDS[kind], 2, address, (ctypes.c_uint64 * 2)(columns, rows),
        (ctypes.c_uint64 * 1)(size * columns), (ctypes.c_uint32 * 2)(box_columns, box_rows),
        (ctypes.c_uint32 * 2)(1, 1), 0, SWIZZLE_128, PROMOTE_256, 0,
    )  # fmt: skip
    if error:
        raise DeviceError(
            f"the driver makes no tensor map of a matrix {shape} at {address:#x} with boxes of {box_rows} x "
            f"{box_columns} {kind} (error {error})",
            "Rows must begin at multiples of 16 bytes.",
        )
    return words


@functools.cache
def _encode():
    """Return the driver's function; DeviceError where it is too old to have it."""
    from cuda.bindings import driver

    error, address, *_ = driver.cuGetProcAddress(b"cuTensorMapEncodeTiled", 12000, 0)
    if error or not address:
        raise DeviceError("the driver does not know tensor maps", "They begin with CUDA 12.0: take a newer driver.")
    return ENCODE(int(address))
