"""Read a CIFAR-10 batch, which is a Python 2 pickle, without ever running what a pickle can ask for.

A pickle is a small program: it may name any function of any module and have it called. This reader obeys only the
instructions that build numbers, strings and containers, and knows three names only, those with which NumPy's arrays
were written. Even these stand for inert objects defined here, which note what they are given: NumPy's own
constructors are never reached, so that a forged array cannot confuse them.
"""

import io
import pickle
from itertools import chain

import numpy as np

# The names in a real batch: an array is _reconstruct(ndarray, (0,), "b"), then filled with its state.
_KNOWN_NAMES = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}
# What Python 2 wrote (protocol 2). Left out: every instruction that makes an object of a class in its own way, refers
# outside the file, or reserves memory by a number in the file.
_KNOWN_INSTRUCTIONS = (
    (pickle.PROTO, pickle.STOP, pickle.MARK, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE),
    (pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG1),
    (pickle.BINSTRING, pickle.SHORT_BINSTRING, pickle.BINUNICODE),
    (pickle.EMPTY_DICT, pickle.EMPTY_LIST, pickle.APPEND, pickle.APPENDS, pickle.SETITEM, pickle.SETITEMS),
    (pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3),
    (pickle.BINPUT, pickle.LONG_BINPUT, pickle.BINGET, pickle.LONG_BINGET),
    (pickle.GLOBAL, pickle.REDUCE, pickle.BUILD),
)


class BatchError(ValueError):
    """The bytes are no CIFAR-10 batch; the message says what they are instead."""


def read_batch(content):
    """Read the images and labels out of the bytes of one batch.

    Parameters
    ----------
    content : bytes
        A pickle of a dict with the keys "data" and "labels", written by Python 2.

    Returns
    -------
    data : (n, k) uint8, read-only
    labels : list of n int

    Raises
    ------
    BatchError
        If the pickle is damaged, asks for anything but plain data and byte arrays, or holds other things. Nothing
        that it names has been imported or called.
    """
    try:
        batch = _BatchUnpickler(io.BytesIO(content), encoding="bytes").load()
    except BatchError:
        raise
    except Exception as cause:  # a damaged pickle can fail in any way; none of them is of interest
        raise BatchError(f"the pickle is truncated or damaged ({type(cause).__name__})") from cause
    if not isinstance(batch, dict):
        raise BatchError(f"the pickle holds a {type(batch).__name__}; it must hold a dict")
    data, labels = batch.get(b"data"), batch.get(b"labels")
    if not isinstance(data, _Array) or data.array is None:
        raise BatchError('the pickle has no array of bytes under "data"')
    if type(labels) is not list or not all(type(label) is int for label in labels):
        raise BatchError('the pickle has no list of whole numbers under "labels"')
    return data.array, labels


# The pure-Python unpickler: its table of instructions can be cut down, and it does not, like the C one, reserve as
# much memory as a forged index asks for.
class _BatchUnpickler(pickle._Unpickler):
    dispatch = {  # noqa: RUF012 (the name is pickle's)
        code: pickle._Unpickler.dispatch[code] for code in map(ord, chain(*_KNOWN_INSTRUCTIONS))
    }

    def load(self):
        try:
            return super().load()
        except KeyError as cause:  # an instruction, or an object, that is not in its table
            raise BatchError(f"the pickle uses instruction {cause}, which no image file needs") from cause

    def find_class(self, module, name):
        if (module, name) not in _KNOWN_NAMES:
            raise BatchError(
                f"the pickle asks for {module[:40]}.{name[:40]}, which no image file needs: do not trust it"
            )
        return _Name(name)


class _Name:
    """What stands for a known name. Called, it answers with an inert object."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __call__(self, *args):
        if self._name == "_reconstruct":
            return _Array()
        if self._name == "dtype":
            return _Type(args[0])
        raise BatchError("the pickle calls ndarray, which a real batch does not")

    def __setstate__(self, state):
        raise BatchError("the pickle changes a name, which a real batch does not")


class _Type:
    """What stands for a NumPy dtype: the code that it was made from."""

    __slots__ = ("code",)

    def __init__(self, code):
        self.code = code

    def __setstate__(self, state):
        pass  # byte order and the like: without meaning for single bytes


class _Array:
    """What stands for a NumPy array: after its state is set, `array` holds a plain uint8 array."""

    __slots__ = ("array",)

    def __init__(self):
        self.array = None

    def __setstate__(self, state):
        _, shape, dtype, fortran_order, content = state
        if not isinstance(dtype, _Type) or dtype.code not in (b"u1", b"|u1"):
            raise BatchError("the pickle holds an array of something else than unsigned bytes")
        sizes_fit = type(shape) is tuple and len(shape) == 2 and all(type(n) is int and n >= 0 for n in shape)
        if not sizes_fit or fortran_order or type(content) is not bytes or len(content) != shape[0] * shape[1]:
            raise BatchError("the pickle holds an array whose sizes and content do not fit together")
        self.array = np.frombuffer(content, dtype=np.uint8).reshape(shape)
