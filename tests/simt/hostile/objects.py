"""Objects that notice when they are asked something: as globals of a kernel, and as arguments of a launch."""

# ruff: noqa: E501  a try is one line

import linecache
import sys
import textwrap
import types
from dataclasses import dataclass

import numpy as np
from numba import cuda, float32
from numba.core import types as numba_types
from numba.core import typing
from numpy.lib.stride_tricks import as_strided

from course_lib import simt
from course_lib.simt import signatures
from tests.simt.hostile.tripwire import META, hostile, tripped


@dataclass(frozen=True)
class Try:
    """What is done, and what must come out."""

    act: object
    says: str = ""
    errors: tuple = ("KernelError",)
    line: int | None = None
    opens: bool = False
    """Whether a file may be opened: a function's source is where its code says."""


TRIES = {}
USES = "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = a[i] + X\n"


def kernel(text=USES, file=None, names=dict, **outside):
    """Return a function from a text whose globals are hostile. It is this test that executes the def, unarmed."""
    text = textwrap.dedent(text)
    file = file or f"<hostile {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = names({"cuda": cuda, "float32": float32, "np": np, **outside})
    exec(compile(text, file, "exec"), namespace)
    return dict.__getitem__(namespace, "k")


def arrays():
    """Return two arrays for a kernel k(a, out)."""
    return np.zeros(64, np.float32), np.zeros(64, np.float32)


def _objects(n):
    """Return (n,) hostile objects."""
    out = np.empty(n, object)
    for i in range(n):
        out[i] = hostile()()
    return out


def as_global(name, value, text=USES, says="", line=3, **more):
    """Enter a kernel whose global X is hostile."""
    function = kernel(text, X=value)
    TRIES[f"global: {name}"] = Try(lambda: simt.run(function, 1, 32, arrays()), says, line=line, **more)


def as_kernel(name, value, says="", **more):
    """Enter something hostile that is launched itself."""
    TRIES[f"kernel: {name}"] = Try(lambda: simt.run(value, 1, 32, arrays()), says, **more)


def as_argument(name, value, says="", errors=("TypeError",), out=None, text=None, **more):
    """Enter something hostile as the argument a, or out."""
    function = kernel(text or "def k(a, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = 1\n")
    a, good = (value, np.zeros(64, np.float32)) if out is None else (np.zeros(64, np.float32), out)
    TRIES[f"argument: {name}"] = Try(lambda: simt.run(function, 1, 32, (a, good)), says, errors, **more)


# ------------------------------------------------------------------------------------------- globals

as_global("object", hostile()())
as_global("class", hostile())
as_global("class with a metaclass", hostile(metaclass=META))
as_global("object of a class with a metaclass", META("Odd", (), {})())
as_global("int", hostile(int)(3))
as_global("float", hostile(float)(3))
as_global("float64", hostile(np.float64)(3))
as_global("int32", hostile(np.int32)(3))
as_global("str", hostile(str)("canary"))
as_global("tuple", hostile(tuple)((1, 2)), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n")
as_global("tuple of hostile ones", (1, hostile()()), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n")
as_global("tuple of hostile ints", (1, hostile(int)(3)), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n")
as_global("list", hostile(list)([1]), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n")
as_global("dict", hostile(dict)(x=1), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X['x']\n")
as_global(
    "array",
    np.zeros(3, np.float32).view(hostile(np.ndarray)),
    "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n",
)
as_global("array of objects", _objects(1), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n")
as_global("array of records", np.zeros(3, "i4,f4"), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n")
as_global("array, masked", np.ma.zeros(3), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n")
as_global(
    "array, byte-swapped",
    np.zeros(3, ">f4"),
    "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n",
    errors=("KernelError",),
)
as_global("array, longdouble", np.zeros(3, np.longdouble), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n")
as_global(
    "array, huge",
    np.broadcast_to(np.float32(1), (10**6, 10**6)),
    "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0, 0]\n",
)
as_global("callable", hostile()(), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")
as_global("function", lambda x: tripped("function"), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")
as_global("builtin", sys.exit, "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")
as_global("bound method", [].append, "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")
as_global("array method", np.zeros(3).tofile, "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X('canary')\n")
as_global("ufunc", np.add, "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(1, 2)\n")
as_global("structured dtype", np.dtype("i4,f4"), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")
as_global("object dtype", np.dtype(object), "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")
as_global("module", sys, "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X.exit(3)\n")
as_global(
    "module subclass",
    hostile(types.ModuleType)("numpy"),
    "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X.float32(3)\n",
)
as_global(
    "module of another name",
    types.ModuleType("numpy"),
    "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X.float32(3)\n",
)
as_global("type of numba, subclassed", hostile(numba_types.Float, metaclass=type(numba_types.Float))("float128"),
          "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")  # fmt: skip
as_global("integer of numba, subclassed", hostile(numba_types.Integer, metaclass=type(numba_types.Integer))("int128"),
          "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")  # fmt: skip
as_global("complex type of numba", numba_types.complex64, "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n")
as_global(
    "deep tuple",
    __import__("functools").reduce(lambda t, _: (t,), range(5_000), 1),
    "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0]\n",
    line=None,
)
as_global("long tuple", (1,) * 10**7, "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0].y\n")
_doubled = (1,)
for _ in range(60):
    _doubled = (_doubled, _doubled)
as_global("tuple of tuples", _doubled, "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X[0].y\n")
as_global("huge int", 10**100_000)
as_global("complex", 1j)
as_global("longdouble", np.longdouble(1))
as_global("datetime64", np.datetime64(0, "s"))
as_global("bytes", b"canary")
as_global("type itself", type)
as_global("Ellipsis", ...)


def _forged():
    @cuda.jit(device=True)
    def f(x):
        return x

    f.py_func = hostile()()
    return f


def _wrapped(value):
    def k(a, out):
        out[cuda.grid(1)] = (1.5).nothing

    k.__wrapped__ = value
    return k


class _Names(dict):
    def __getitem__(self, name):
        tripped("globals.__getitem__")
        return dict.__getitem__(self, name)

    def __contains__(self, name):
        tripped("globals.__contains__")
        return dict.__contains__(self, name)

    def get(self, *a):
        tripped("globals.get")
        return dict.get(self, *a)


class _Loader:
    def get_source(self, name):
        tripped("loader.get_source")
        return "def k(a, out):\n    pass\n"

    def __getattribute__(self, name):
        tripped(f"loader.{name}")
        return object.__getattribute__(self, name)


def _renamed(file):
    function = kernel(X=1)
    function.__code__ = function.__code__.replace(co_filename=file, co_firstlineno=1)
    function.__module__ = "canary"
    return function


as_global(
    "device function with a forged py_func",
    _forged(),
    "def k(a, out):\n    i = cuda.grid(1)\n    out[i] = X(3)\n",
    line=None,
)
as_kernel("object", hostile()())
as_kernel("class", hostile())
as_kernel("object of a class with a metaclass", META("Odd", (), {})())
as_kernel("object with py_func", types.SimpleNamespace(py_func=hostile()()))
as_kernel("object with __wrapped__", hostile(py_func=property(lambda self: tripped("py_func")))())
as_kernel("dispatcher with a forged py_func", _forged())
as_kernel("function whose __wrapped__ is hostile", _wrapped(hostile()()), opens=True)
_looped = _wrapped(None)
_looped.__wrapped__ = _looped
as_kernel("function whose __wrapped__ is itself", _looped, opens=True)
as_kernel("function whose code claims another file", _renamed("/etc/passwd"), opens=True)
as_kernel("function whose code claims no file", _renamed("<nowhere>"))
as_kernel("function whose code claims a device", _renamed("/dev/zero"))
as_kernel("lambda", lambda a, out: tripped("lambda"), opens=True)
as_kernel("builtin", print)
as_kernel("generator", kernel("def k(a, out):\n    yield 1\n"))
as_kernel("coroutine", kernel("async def k(a, out):\n    pass\n"))
as_kernel("globals that notice", kernel(USES, names=_Names, X="canary"), line=3)
as_kernel("globals with a hostile loader", kernel(USES, X="canary", __loader__=_Loader(), __name__="canary"), line=3)
as_kernel(
    "globals with hostile builtins",
    kernel("def k(a, out):\n    out[0] = never\n", __builtins__={"never": hostile()()}),
    line=2,
)


_of_a_faked_module = kernel("def k(a, out):\n    out[0] = X.float32(3)\n", X=hostile(types.ModuleType)("numpy"))
_odd = META("Odd", (), {})()


def _faked_numpy():
    function = _of_a_faked_module
    before = sys.modules["numpy"]
    sys.modules["numpy"] = function.__globals__["X"]
    try:
        simt.run(function, 1, 32, arrays())
    finally:
        sys.modules["numpy"] = before


def _hostile_module():
    sys.modules["canary"] = _of_a_faked_module.__globals__["X"]
    try:
        simt.run(_of_a_faked_module, 1, 32, arrays())
    finally:
        del sys.modules["canary"]


TRIES["kernel: module in sys.modules faked as numpy"] = Try(_faked_numpy, line=2)
TRIES["kernel: hostile module in sys.modules"] = Try(_hostile_module, line=2)
TRIES["text: str subclass"] = Try(lambda: simt.read(hostile(str)(USES)))
TRIES["text: bytes"] = Try(lambda: simt.read(USES.encode()))
TRIES["text: object"] = Try(lambda: simt.read(hostile()()))
TRIES["text: object whose class has a metaclass"] = Try(lambda: simt.read(_odd))

# ------------------------------------------------------------------------------------------- arguments

as_argument("object", hostile()())
as_argument("object of a class with a metaclass", META("Odd", (), {})())
as_argument("int", hostile(int)(3))
as_argument("float", hostile(float)(3))
as_argument("float64", hostile(np.float64)(3))
as_argument("bool_", hostile(np.int64)(3))
as_argument("str", "canary")
as_argument("str subclass", hostile(str)("canary"))
as_argument("list", [1, 2, 3])
as_argument("list subclass", hostile(list)([1]))
as_argument("tuple of hostile ones", (1, hostile()(), 3))
as_argument("tuple of hostile ints", (1, (hostile(int)(3), 2)))
as_argument("tuple of a subclass", hostile(tuple)((1, 2)))
as_argument("long tuple", (1,) * 10**6, "parts")
as_argument("bytes", b"canary")
as_argument("bytearray", bytearray(64))
as_argument("memoryview", memoryview(np.zeros(64, np.float32)))
as_argument("None", None, errors=(None,))
as_argument("function", tripped)
as_argument("huge int", 10**100_000)
as_argument("complex array in another byte order", np.zeros(3, ">c8"))
as_argument("array of long complex numbers", np.zeros(3, np.clongdouble))
as_argument("longdouble", np.longdouble(1))
as_argument("longdouble array", np.zeros(3, np.longdouble))
as_argument("datetime64", np.datetime64(0, "s"))
as_argument("timedelta64", np.timedelta64(0, "s"))
as_argument("datetime64 array", np.zeros(3, "M8[s]"))
as_argument("str_", np.str_("canary"))
as_argument("void", np.zeros(1, "V8")[0])
as_argument("record of objects", np.zeros(1, [("x", object)])[0])
as_argument("array subclass", np.zeros(64, np.float32).view(hostile(np.ndarray)))
as_argument("array subclass as output", 0, out=np.zeros(64, np.float32).view(hostile(np.ndarray)))
as_argument("matrix", np.zeros((8, 8), np.float32).view(np.matrix))
as_argument("masked array", np.ma.zeros(64))
as_argument("record array of objects", np.zeros(3, [("x", object)]).view(np.recarray))
as_argument("structured array in another byte order", np.zeros(3, ">i4,f4"))
as_argument("structured array of many fields", np.zeros(3, [(f"f{i}", "i1") for i in range(65)]))
as_argument("object array", _objects(3))
as_argument("object array without axes", _objects(1).reshape(()))
as_argument("string array", np.array(["canary"]))
as_argument("byte-swapped array", np.zeros(64, ">f4"))
as_argument("byte-swapped output", 0, out=np.zeros(64, ">f4"))
as_argument("unaligned array", np.frombuffer(b"\0" * 65, np.uint8)[1:].view(np.float32), errors=("TypeError", None))
as_argument("strides of half elements", as_strided(np.zeros(64, np.float32), (8,), (6,)), "multiples of 4")
as_argument("huge strides", as_strided(np.zeros(64, np.float32), (2,), (2**40,)), "")
as_argument("huge negative strides", as_strided(np.zeros(64, np.float32), (2,), (-(2**40),)), "")
as_argument(
    "strides that overflow",
    as_strided(np.zeros(64, np.float32), (2**30, 2**30), (4, 4)),
    "",
    text="def k(a, out):\n    out[0] = a[0, 0]\n",
)
as_argument("huge shape of stride 0", np.broadcast_to(np.float32(1), (2**40,)), errors=("HazardFound",), says="uses index",
            text="def k(a, out):\n    out[cuda.grid(1)] = a[2**40 - 1] + a[2**40]\n", line=2)  # fmt: skip
as_argument("shape beyond its memory", as_strided(np.zeros(64, np.float32), (10**6,), (4,)), "")
as_argument("overlapping windows as output", 0, out=as_strided(np.zeros(64, np.float32), (63, 2), (4, 4)), errors=("HazardFound",),
            says="no barrier", text="def k(a, out):\n    i = cuda.grid(1)\n    out[i, 0] = 1\n    out[i, 1] = 2\n", line=4)  # fmt: skip
as_argument("negative strides", np.zeros(64, np.float32)[::-1], errors=(None,))
as_argument(
    "read-only output", 0, out=np.broadcast_to(np.float32(0), (64,)), errors=("KernelError",), says="read-only", line=4
)
as_argument("size 0", 0, out=np.zeros(0, np.float32), errors=(None,))
as_argument(
    "size 0 with huge axes",
    0,
    out=np.zeros((0, 2**40), np.float32),
    errors=(None,),
    text="def k(a, out):\n    n = out.size\n",
)
as_argument("size 0 is read", np.zeros((0, 5), np.float32), errors=("HazardFound",), says="has 0 elements",
            text="def k(a, out):\n    out[0] = a[0, 0]\n", line=2)  # fmt: skip
as_argument("no axes", np.array(3, np.float32), errors=(None,), text="def k(a, out):\n    out[cuda.grid(1)] = a[()]\n")
as_argument(
    "no axes is indexed",
    np.array(3, np.float32),
    errors=("KernelError",),
    text="def k(a, out):\n    out[cuda.grid(1)] = a[0]\n",
    line=2,
)
as_argument(
    "32 axes", np.zeros((1,) * 32, np.float32), errors=(None,), text="def k(a, out):\n    out[cuda.grid(1)] = a.ndim\n"
)


def as_launch(name, says="", errors=("LaunchError",), **launch):
    """Enter a launch of a kernel that is correct, with a hostile grid, block or option."""
    function = kernel("def k(a, out):\n    out[0] = a[0]\n")
    more = {"grid": 1, "block": 1, "arguments": arrays(), **launch}
    TRIES[f"launch: {name}"] = Try(lambda: simt.run(function, **more), says, errors)


as_launch("object as grid", grid=hostile()())
as_launch("object of a class with a metaclass as grid", grid=_odd)
as_launch("object of a class with a metaclass as block", block=_odd)
as_launch("object of a class with a metaclass in a block", block=(_odd, 1))
as_launch("object of a class with a metaclass as shared", shared=_odd)
as_launch("object of a class with a metaclass as arguments", arguments=_odd, errors=("TypeError",))
as_launch("object of a class with a metaclass as an argument", arguments=(_odd, _odd), errors=("TypeError",))
as_launch("int subclass as grid", grid=hostile(int)(1))
as_launch("tuple subclass as block", block=hostile(tuple)((1, 1)))
as_launch("hostile int in a block", block=(hostile(int)(1), 1))
as_launch("huge grid", grid=10**100)
as_launch("huge int of many digits", grid=10**100_000)
as_launch("negative grid", grid=-1)
as_launch("four axes", grid=(1, 1, 1, 1))
as_launch("no axes", grid=())
as_launch("float as block", block=1.0)
as_launch("True as block", block=True)
as_launch("None as block", block=None)
as_launch("str as block", block="1")
as_launch("2,048 threads", block=2048)
as_launch("object as shared", shared=hostile()())
as_launch("int subclass as shared", shared=hostile(int)(1))
as_launch("huge shared", shared=10**100)
as_launch("negative shared", shared=-1)
as_launch("no tuple of arguments", arguments=5, errors=("TypeError",))
as_launch("object as arguments", arguments=hostile()(), errors=("TypeError",))
as_launch("too many arguments", arguments=(1,) * 1000, errors=("TypeError",))
as_launch(
    "grid of 2**31 - 1 blocks, endless",
    grid=2**31 - 1,
    block=1024,
    steps=1_000,
    errors=("KernelError", "HazardFound", "LaunchError"),
)


# ------------------------------------------------------------------------------------------- signatures of decorators


def as_signature(name, value, says="no signature|no type", errors=("NotDeclared",)):
    """Enter what a decorator gets as its first argument."""
    TRIES[f"signature: {name}"] = Try(lambda: signatures.signatures(value, device=True), says, errors)


def _made(known, **changed):
    """Return one of Numba's types of which somebody has changed what it says of itself; not the one that all share."""
    made = object.__new__(type(known))
    vars(made).update({**vars(known), **changed})
    return made


int32 = numba_types.int32
as_signature("object", hostile()())
as_signature("object of a class with a metaclass", _odd)
as_signature("str subclass", hostile(str)("void(int32)"))
as_signature("tuple subclass", hostile(tuple)((int32,)))
as_signature("list subclass", hostile(list)([int32]))
as_signature("list of an object of a class with a metaclass", [_odd])
as_signature("tuple of an object of a class with a metaclass", (_odd,))
as_signature("class with a metaclass", (META("Odd", (), {}),))
as_signature("list of a million texts", ["void(int32)"] * 10**6, "signatures; 1 to 64")
as_signature("parameters that notice", typing.Signature(numba_types.none, hostile()(), None))
as_signature("parameter that notices", typing.Signature(numba_types.none, (hostile()(),), None))
as_signature("parameter whose class has a metaclass", typing.Signature(numba_types.none, (_odd,), None))
as_signature("result that notices", typing.Signature(hostile()(), (int32,), None))
as_signature("number with a hostile name", (_made(int32, name=hostile()()),))
as_signature("number whose name is a str subclass", (_made(int32, name=hostile(str)("int32")),))
as_signature("number with the name of another type", (_made(int32, name="i4,O"),))
for part, changed in (
    ("dtype", hostile()()), ("dtype", _odd), ("ndim", hostile(int)(1)), ("ndim", 10**9), ("layout", hostile(str)("C")),
    ("layout", _odd),
):  # fmt: skip
    as_signature(f"array with {part} {type(changed).__name__}", (_made(int32[::1], **{part: changed}),))
_nested = _made(int32[::1])
vars(_nested)["dtype"] = _nested
as_signature("array of itself", (_nested,))
as_signature("tuple of 10**12 numbers", (_made(numba_types.UniTuple(int32, 2), count=10**12),))
as_signature("tuple of a hostile number", (_made(numba_types.UniTuple(int32, 2), count=hostile(int)(2)),))
as_signature(
    "tuple of hostile parts", (_made(numba_types.Tuple((int32, numba_types.int64)), types=hostile(tuple)((int32,))),)
)
_endless = _made(numba_types.UniTuple(int32, 2))
vars(_endless)["dtype"] = _endless
as_signature("tuple of itself", (_endless,))
as_signature("type of numba, subclassed", (hostile(numba_types.Float, metaclass=type(numba_types.Float))("float128"),))


def as_decorated(name, written, says="", errors=("KernelError",), **outside):
    """Enter a kernel of Numba's own that was not compiled, so that the text of its decorator is read.

    The decorator itself has done nothing: that of the text is another one, exchanged when the def is over.
    """
    text = f"@d.jit({written})\ndef k(a, out):\n    i = cuda.grid(1)\n    out[i] = never\n"
    module, real = types.ModuleType("d"), types.ModuleType("d")
    module.jit, real.jit = lambda *a, **o: lambda f: f, cuda.jit
    passing = {n: None for n in outside} | {"open": lambda *a: None, "getattr": lambda *a: None}
    function = kernel(
        text, d=module, int32=_Passing(), void=_Passing(), **{**passing, **dict.fromkeys(outside, _Passing())}
    )
    function.__globals__.update({"int32": int32, "void": numba_types.void, "d": real, **outside})
    value = cuda.jit(function)
    TRIES[f"decorator: {name}"] = Try(lambda: simt.run(value, 1, 32, arrays()), says, errors)


class _Passing:
    """What a decorator's text is about when Python makes the function: it lets everything happen."""

    def __call__(self, *arguments):
        return self

    __getitem__ = __getattr__ = __add__ = __call__


as_decorated("calls open", "open('canary', 'w')", "never is not defined")
as_decorated("calls open in a signature", "void(open('canary', 'w'), int32)", "never is not defined")
as_decorated("text that calls", "\"void(__import__('os'), int32)\"", "never is not defined")
as_decorated("object", "X", "never is not defined", X=hostile()())
as_decorated("object of a class with a metaclass", "X", "never is not defined", X=_odd)
as_decorated("object as a type", "void(X, int32)", "never is not defined", X=hostile()())
as_decorated("object whose class has a metaclass as a type", "void(X, int32)", "never is not defined", X=_odd)
as_decorated("object that is called", "X(int32, int32)", "never is not defined", X=hostile()())
as_decorated("object with an attribute", "X.y", "never is not defined", X=hostile()())
as_decorated("object with an attribute as a type", "void(X.y, int32)", "never is not defined", X=hostile()())
as_decorated("object with axes", "void(X[:], int32)", "never is not defined", X=hostile()())
as_decorated(
    "module that notices", "void(X.int32, int32)", "never is not defined", X=hostile(types.ModuleType)("numba")
)
as_decorated("sum of types", "void(int32 + X, int32)", "never is not defined", X=hostile()())
as_decorated("another number of parameters", "void(int32)", "k has 2 parameters")
as_decorated("list without an end", "[" + "'void(int32, int32)'," * 5_000 + "]", "declares 5000 signatures")
