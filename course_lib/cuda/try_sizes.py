"""Run a kernel at many sizes, and find the smallest at which it is wrong: gpu.try_sizes.

Source: the course's own. Out of bounds, a missing guard and a grid that is too small stay silent at most sizes; around
the multiples of the block they do not.
"""

import inspect

import numpy as np

from course_lib.cuda.choice import GPU
from course_lib.cuda.device import choice, device_name, empty, executor, to_device, to_host
from course_lib.cuda.kernel import Kernel
from course_lib.cuda.launch_checks import is_whole
from course_lib.cuda.size_table import SizeResult, SizeTable
from course_lib.cuda.sizes import MOST_AXES, sizes_to_try
from course_lib.cuda.tracebacks import OneLine

FORMS = (
    "gpu.try_sizes(run) with run(n) -> (output, expected), or gpu.try_sizes(kernel, make=..., expected=..., launch=...)"
)


def try_sizes(
    run, sizes=None, *, tile=32, make=None, expected=None, launch=None, out=-1, fill=None, rtol=1e-4, atol=1e-5
):
    """Run a kernel at sizes around the multiples of its tile, and return what came out: the smallest wrong one first.

    Two ways to say what to run. Either `run(n)` does everything and returns (output, expected), two host arrays. Or
    `run` is a kernel, and `make`, `expected` and `launch` say the rest; then the output array is filled with NaN before
    each run, so that an element that nobody writes is seen. Functions of two or three sizes, such as run(rows, cols),
    are tried at pairs or triples, most of them with sides that differ.

    Without a GPU the executor looks for hazards as well: out of bounds, races. On a GPU only values are compared.

    Parameters
    ----------
    run : function of one to three sizes, or kernel, or function of device arrays that launches kernels
    sizes : sequence of int or of tuples, optional
        Default: 1, 2, 3, k T - 1, k T and k T + 1 for a tile T, a prime; for several axes sides that differ.
    tile : int or tuple
        Threads of a block or elements of a tile along each axis.
    make : function of the sizes
        Returns the arguments as host arrays (...) and numbers.
    expected : function of the inputs
        All arguments but the output, in their order: the specification, in NumPy.
    launch : function of the sizes, or tuple
        (grid, block), or what else stands in kernel[...]. Only for kernels.
    out : int or str
        Which argument is the output: its place or, for kernels, its name.
    fill : number, optional
        What the output holds before: for kernels that add to it. Default: NaN, and for whole numbers odd bytes.
    rtol, atol : float >= 0
        Right is a float within atol + rtol * |expected|; whole numbers must be equal.

    Raises
    ------
    TypeError, ValueError
        If it is not clear what to run.

    Source: the course's own.
    """
    given = [name for name, value in (("make", make), ("expected", expected)) if value is not None]
    if len(given) == 1 or (launch is not None and not given):
        raise TypeError(f"gpu.try_sizes got {given[0] if given else 'launch'} alone. Write {FORMS}.")
    if isinstance(run, Kernel) and (not given or launch is None):
        raise TypeError(f"{run.__name__} is a kernel: say which arguments, and how many threads. Write {FORMS}.")
    if not callable(run):
        raise TypeError(f"gpu.try_sizes got a {type(run).__name__}. Write {FORMS}.")
    if launch is not None and not isinstance(run, Kernel):
        raise TypeError(f"{_name(run)} launches its kernels itself: leave launch out.")
    by_size = make if given else run
    axes = _axes(by_size, sizes)
    sizes = sizes_to_try(axes, tile) if sizes is None else _checked(sizes, axes)
    one = _Case(run, make, expected, launch, out, fill) if given else run
    results, gone = [], ""
    for size in sizes:
        if gone:
            results.append(SizeResult(size, "not tried", gone))
            continue
        result = _tried(one, size, rtol, atol)
        results.append(result)
        if result.verdict == "stopped" and choice().device == GPU:
            gone = "an error on the card ends this process's work on it"
    return SizeTable(_name(run), device_name(), executor().reports, results)


def _tried(one, size, rtol, atol):
    """Return the SizeResult of one size."""
    try:
        answer = one(*(size if type(size) is tuple else (size,)))
    except OneLine as error:  # of a launch, or of what goes wrong inside of a kernel
        hazard = getattr(error, "hazard", None)
        if hazard is not None:
            return SizeResult(size, "finding", f"{hazard.kind}: {error}", finding=hazard.kind)
        return SizeResult(size, "refused", str(error))
    except (TypeError, ValueError) as error:
        return SizeResult(size, "refused", f"{type(error).__name__}: {error}")
    except Exception as error:
        if not type(error).__module__.startswith("numba.cuda"):
            error.add_note(f"This happened at size {size}.")
            raise
        return SizeResult(size, "stopped", f"{type(error).__name__}: {error}")
    if type(answer) not in (tuple, list) or len(answer) != 2:
        raise TypeError(f"at size {size} run returned a {type(answer).__name__}; it must return (output, expected).")
    got, want = answer
    got = to_host(got) if executor().owns(got) else np.asarray(got)
    return _compared(size, got, np.asarray(want), rtol, atol)


def _compared(size, got, want, rtol, atol):
    if got.shape != want.shape:
        return SizeResult(size, "wrong value", f"the output has shape {got.shape}, expected {want.shape}")
    with np.errstate(all="ignore"):
        if got.dtype.kind in "fc" or want.dtype.kind in "fc":
            good = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=bool(np.isnan(want).any()))
        else:
            good = got == want
    if good.all():
        return SizeResult(size, "right", "")
    at = tuple(map(int, np.argwhere(~good)[0]))
    name = f"[{', '.join(map(str, at))}]" if at else ""
    value, wanted, count = got[at], want[at], int((~good).sum())
    unwritten = got.dtype.kind in "fc" and np.isnan(value) and not np.isnan(wanted)
    why = ", as if nobody wrote it" if unwritten else ""
    words = f"output{name} is {_short(value)}, expected {_short(wanted)}{why}; {count:,} of {got.size:,} wrong"
    return SizeResult(size, "wrong value", words, index=at, got=value.item(), expected=wanted.item())


def _short(number):
    """Return a number in six digits, or in all of a whole one's."""
    return f"{number:.6g}" if number.dtype.kind == "f" else str(number)


class _Case:
    """A kernel, or a function that launches some, with its arguments at each size."""

    def __init__(self, kernel, make, expected, launch, out, fill):
        self.kernel, self.make, self.expected, self.launch, self.fill = kernel, make, expected, launch, fill
        self.out = out
        if isinstance(out, str):
            names = getattr(kernel, "parameters", ())
            if out not in names:
                raise ValueError(f"out is {out!r}; {_name(kernel)} has the parameters {', '.join(names) or '?'}.")
            self.out = names.index(out)
        elif not is_whole(out):
            raise TypeError(f"out is {out!r}; it must be the place of an argument, or its name.")

    def __call__(self, *size):
        arguments = self.make(*size)
        if type(arguments) not in (tuple, list):
            raise TypeError(f"make returned a {type(arguments).__name__}; it must return a tuple of arguments.")
        arguments = list(arguments)
        if not -len(arguments) <= self.out < len(arguments):
            raise ValueError(f"out is {self.out}; make returned {len(arguments)} arguments.")
        place = self.out % len(arguments)
        if not isinstance(arguments[place], np.ndarray):
            kind = type(arguments[place]).__name__
            raise TypeError(f"argument {place}, the output, is a {kind}; it must be an array.")
        inputs = [a.copy() if isinstance(a, np.ndarray) else a for k, a in enumerate(arguments) if k != place]
        want = self.expected(*inputs)
        there = [to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
        there[place] = self._empty(arguments[place])
        kernel = self.kernel
        if isinstance(kernel, Kernel):
            kernel = kernel[self.launch(*size) if callable(self.launch) else self.launch]
        kernel(*there)
        return to_host(there[place]), want

    def _empty(self, array):
        """Return the output on the device, as it is before the run."""
        if self.fill is not None:
            return to_device(np.full(array.shape, self.fill, array.dtype))
        if executor().reports:
            return empty(array.shape, array.dtype)  # of NaN, and the executor knows that nobody has written it
        host = np.empty(array.shape, array.dtype)
        if host.dtype.kind in "fc":
            host.fill(np.nan)
        else:
            host.view(np.uint8).fill(0xA5 if host.dtype.kind != "b" else 1)
        return to_device(host)


def _name(function):
    name = getattr(function, "__name__", type(function).__name__)
    return "run" if name == "<lambda>" else name


def _axes(function, sizes):
    """Return how many sizes a function takes."""
    if sizes is not None and len(sizes := list(sizes)) and type(sizes[0]) in (tuple, list):
        return len(sizes[0])
    parameters = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters) or not 1 <= len(parameters) <= MOST_AXES:
        raise TypeError(f"{_name(function)} takes {len(parameters)} sizes; it must be one, two or three.")
    return len(parameters)


def _checked(sizes, axes):
    found = []
    for size in sizes:
        parts = tuple(size) if type(size) in (tuple, list) else (size,)
        if len(parts) != axes or not all(is_whole(p) and p >= 0 for p in parts):
            raise ValueError(f"{size!r} is no size of {axes} {'axis' if axes == 1 else 'axes'}: whole numbers >= 0.")
        found.append(tuple(map(int, parts)) if axes > 1 else int(parts[0]))
    if not found:
        raise ValueError("sizes is empty; there is nothing to try.")
    return found
