"""Universal functions, numba.vectorize and numba.guvectorize with target="cuda": a kernel calls the user's function.

Numba makes that kernel's text and executes it; here it is a syntax tree of our own, in which the function is a device
function. Broadcasting, `out` and device arrays are left to Numba. Source: Numba's documentation, "CUDA Ufuncs and
Generalized Ufuncs".
"""

import warnings

from numba import cuda
from numba.cuda import vectorizers as numbas
from numba.np.ufunc.decorators import GUVectorize, Vectorize
from numpy import broadcast_to
from numpy.lib.stride_tricks import as_strided

from course_lib import simt
from course_lib.cuda.collect import on_error
from course_lib.cuda.host.launch import arguments
from course_lib.cuda.kernel import DeviceFunction
from course_lib.cuda.tracebacks import OneLine, shortened
from course_lib.simt.inference import Inference, Tables
from course_lib.simt.masks import Mask
from course_lib.simt.signature_text import Signature, Type
from course_lib.simt.signatures import checked, signature
from course_lib.simt.source import Source, source_of
from course_lib.simt.texts import Text, parse
from course_lib.simt.values import is_number

THREADS = 256

FIRST_ONLY = (
    "an array with {few} axes meets one with {many}: on a GPU too, Numba's ufunc takes only its first elements there. "
    "Give both as many axes, for example b[None, :]."
)

ELEMENTWISE = """def {name}({names}, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = function({elements})
"""

GENERALIZED = """def {name}({names}):
    i = cuda.grid(1)
    if i < {count}:
        function({elements})
"""


class Elementwise:
    """A kernel that calls a device function, with a thread for each element. Source: Numba's "forall"."""

    def __init__(self, text, function, races=True):
        text = Text(parse(text)[0], dict(enumerate(text.splitlines(), 1)))
        self.source = Source(text, {"cuda": cuda, "function": function, "min": min})
        self.last_report, self.races = None, races

    def forall(self, count, stream=0, **options):
        """Return what launches `count` threads with the arguments it is called with. Errors as a launch."""

        def launch(*args):
            after = []
            try:
                self.last_report = simt.run(
                    self.source, -(-count // THREADS), THREADS, arguments(args, after), on_error=on_error(),
                    races=self.races, show=print,
                )  # fmt: skip
            except OneLine as error:
                raise shortened(error) from None

        return launch


def _device_function(function, declared):
    made = DeviceFunction(getattr(function, "py_func", function), {"device": True})
    made.signatures = (declared,)
    return made


def _returned(function, declared):
    """Return the dtype that a function gives for numbers of the declared types."""
    tables = Tables((1, 1, 1), (1, 1, 1), 0)
    source, values = source_of(_device_function(function, declared)), [p.dtype.type(0) for p in declared.parameters]
    found = Inference(source, values, tables.lanes, tables.machine, depth=1).run(Mask(tables.lanes))
    if not is_number(found):
        raise TypeError(f"{function.__name__} returns no number for {declared}.")
    return found.dtype


# ------------------------------------------------------------------------------------------- vectorize


class _Mechanism(numbas.CUDAUFuncMechanism):
    """Numba's way with the arguments of a ufunc, for our device arrays."""

    def broadcast_device(self, ary, shape):
        """Return a device array with axes that stay one element: those that differ, counted from the first as Numba."""
        here = (*ary.shape, *(0,) * len(shape))
        steps = [*(0,) * (len(shape) - ary.ndim), *ary.strides]
        steps = [0 if n != size else step for n, size, step in zip(here, shape, steps, strict=False)]
        return ary.viewed(lambda a: as_strided(a, shape, [s // ary.dtype.itemsize * a.itemsize for s in steps]))

    def _broadcast(self, arys):
        most = max(a.ndim for a in arys)
        short = [a for a in arys if a.ndim < most and a.size > 1]
        if short:
            warnings.warn(FIRST_ONLY.format(few=short[0].ndim, many=most), stacklevel=4)
        return super()._broadcast(arys)


class Ufunc(numbas.CUDAUFuncDispatcher):
    """What `vectorize` makes of a function, as Numba's class. Source: Numba's documentation, "CUDA Ufuncs"."""

    def __call__(self, *args, **kws):
        return _Mechanism.call(self.functions, args, kws)

    @property
    def report(self):
        """The simt.Report of the last launch of any of its kernels, None before one."""
        reports = [kernel.last_report for _, kernel in self.functions.values() if kernel.last_report is not None]
        return reports[-1] if reports else None


class CUDAVectorize(numbas.CUDAVectorize):
    """What `vectorize` asks for target="cuda". Source: Numba's class of this name."""

    def add(self, sig=None):
        """Take in a signature of the function; TypeError for one that does not fit."""
        (declared,) = checked((signature(sig),), self.pyfunc.__code__.co_argcount, self.pyfunc.__name__, device=True)
        returns = declared.returns
        dtype = returns.dtype if type(returns) is Type else _returned(self.pyfunc, declared)
        declared = Signature(declared.parameters, Type(dtype))
        names = [f"a{i}" for i in range(len(declared.parameters))]
        text = ELEMENTWISE.format(
            name=_name(self.pyfunc), names=", ".join(names), elements=", ".join(f"{n}[i]" for n in names)
        )
        kernel = Elementwise(text, _device_function(self.pyfunc, declared), races=False)  # an element for each thread
        self.kernelmap[tuple(p.dtype for p in declared.parameters)] = dtype, kernel

    def build_ufunc(self):
        """Return the Ufunc. No errors."""
        return Ufunc(self.kernelmap, self.pyfunc)


def _name(function):
    return function.__name__ if function.__name__.isidentifier() else "function_of_elements"


# ------------------------------------------------------------------------------------------- guvectorize


class GeneralizedUfunc(numbas.CUDAGeneralizedUFunc):
    """What `guvectorize` makes of a function, as Numba's class. Source: Numba's "Generalized CUDA ufuncs"."""

    def _broadcast_scalar_input(self, ary, shape):
        return ary.viewed(lambda a: broadcast_to(a.reshape(-1), (shape,)))

    def _broadcast_add_axis(self, ary, newshape):
        return ary.viewed(lambda a: broadcast_to(a, newshape))


class CUDAGUFuncVectorize(numbas.CUDAGUFuncVectorize):
    """What `guvectorize` asks for target="cuda". Source: Numba's class of this name."""

    def add(self, sig=None):
        """Take in a signature of the function; TypeError, ValueError for one that does not fit."""
        (declared,) = checked((signature(sig),), self.pyfunc.__code__.co_argcount, self.pyfunc.__name__, device=True)
        if declared.returns not in (None, "void"):
            raise TypeError(
                f"guvectorized functions cannot return values: signature {sig} specifies {declared.returns} return type"
            )
        axes = [len(names) for names in (*self.inputsig, *self.outputsig)]
        if len(axes) != len(declared.parameters):
            raise TypeError(
                f"{declared} declares {len(declared.parameters)} types, and {self.signature} has {len(axes)}."
            )
        names = [f"arg{i}" for i in range(len(axes))]
        parts = [_part(n, a, p) for n, a, p in zip(names, axes, declared.parameters, strict=True)]
        text = GENERALIZED.format(
            name=_name(self.pyfunc), names=", ".join(names), elements=", ".join(parts),
            count=f"min({', '.join(f'{n}.shape[0]' for n in names)})",
        )  # fmt: skip
        dtypes = [p.dtype for p in declared.parameters]
        inputs = len(self.inputsig)
        loose = Signature(tuple(Type(p.dtype, p.ndim, p.layout and "A") for p in declared.parameters), "void")
        self.kernelmap[tuple(dtypes[:inputs])] = (
            tuple(dtypes[inputs:]), Elementwise(text, _device_function(self.pyfunc, loose)),
        )  # fmt: skip

    def build_ufunc(self):
        """Return the GeneralizedUfunc. No errors."""
        engine = numbas.deviceufunc.GUFuncEngine(self.inputsig, self.outputsig)
        return GeneralizedUfunc(kernelmap=self.kernelmap, engine=engine, pyfunc=self.pyfunc)


def _part(name, axes, declared):
    """Return the text of what the function gets of an array whose first axis is gone through."""
    if axes:
        if declared.ndim != axes:
            raise ValueError(f"gufunc signature mismatch: {axes} axes and the type {declared}")
        return f"{name}[i{', :' * axes}]"
    return f"{name}[i : i + 1]" if declared.ndim == 1 else f"{name}[i]"


def register(undo):
    """Let `vectorize` and `guvectorize` find these classes, also by names that were imported before; `undo` takes back.

    No errors. Source: the course's own.
    """
    for made, ours in ((Vectorize, CUDAVectorize), (GUVectorize, CUDAGUFuncVectorize)):
        registry = made.target_registry
        before, later = registry.pop("cuda", None), registry.ondemand.pop("cuda", None)
        registry["cuda"] = ours
        undo.callback(_give_back, registry, before, later)


def _give_back(registry, before, later):
    registry.pop("cuda")
    if before is not None:
        registry["cuda"] = before
    elif later is not None:
        registry.ondemand["cuda"] = later
