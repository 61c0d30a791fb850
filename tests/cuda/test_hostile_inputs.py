"""What no kernel can take is refused with its name, what was found and what to do, or comes out right: no garbage."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

from course_lib import cuda, gpu, reference
from course_lib.cuda import ladders
from course_lib.cuda.array_checks import OTHERS as DEVICE_CLASSES
from course_lib.cuda.device import executor
from tests.cases import all_of
from tests.cuda.op_cases import CASES, OTHERS, labels, names, put, whole
from tests.cuda.unfit import KINDS, unfit

SPOILED = (*KINDS, "no width", "another device", "None", "a record")
"""Ways to spoil one argument of a call."""

SAYS = {
    "host": "host array",
    "list": "a list",
    "float64": "float64",
    "int32": "int32",
    "Fortran": "contiguous",
    "sliced": "contiguous",
    "another device": "another device",
    "None": "NoneType",
    "a record": "dtype",
}
"""What a message must say about it."""

ALIASES = {"o": "prediction", "y": "target", "a": "prediction", "x": "W is 0", "w": "W is "}
"""What else a message may call it: the losses' two arrays, as in the reference; the width of an image or a mask."""


def spoil(kind, host):
    """Return `host` (...), whole numbers or not, as something that a launcher must look at twice."""
    if kind == "another device":
        name = next(n for n in DEVICE_CLASSES if not executor().owns(type(n, (), {})()) and n != _own_class())
        return type(name, (), {"shape": host.shape, "dtype": host.dtype, "ndim": host.ndim, "size": host.size})()
    if kind == "None":
        return None
    if kind == "a record":
        return gpu.to_device(np.ones(host.shape, np.uint8))
    if kind == "no width":
        return gpu.empty((*host.shape[:-1], 0), host.dtype)
    if host.dtype.kind == "f":
        return unfit(kind, host)[0]
    if kind in ("host", "list"):
        return host if kind == "host" else host.tolist()
    if kind in ("float64", "int32"):
        return gpu.to_device(host.astype("float64" if kind == "float64" else "int16"))
    return gpu.to_device(np.repeat(host, 2))[::2] if kind != "empty" else gpu.empty(0, host.dtype)


def _own_class():
    return type(gpu.empty(1, np.float32)).__name__


def on_host(value):
    if executor().owns(value):
        return gpu.to_host(value)
    return value


def wide_enough(case):
    return all(min(a.shape[0], a.shape[-1]) > 1 for a in case.arguments if isinstance(a, np.ndarray))


FIRST = {}
"""Operation -> its first case whose arrays have two entries on their first and last axis."""
for one in filter(wide_enough, CASES):
    FIRST.setdefault((one.op, one.pair), one)


def calls():
    """Yield (name in the backend, function of `ops`, arguments, name of the array, its place) for every array."""
    for case in FIRST.values():
        forward, *backward = names(case)
        parameters = list(inspect.signature(getattr(reference, forward)).parameters)
        for i, argument in enumerate(case.arguments):
            if isinstance(argument, np.ndarray):
                yield forward, lambda ops, f=forward: getattr(ops, f), case.arguments, parameters[i], i
        if backward and case.op not in reference.LOSSES:

            def back(ops, case=case, names=(forward, *backward)):
                forward, backward = (getattr(ops, n) for n in names)
                _, cache = forward(*put(ops, case.arguments))
                return lambda dout: backward(dout, cache)

            out = getattr(reference, forward)(*case.arguments)[0]
            name = next(iter(inspect.signature(getattr(reference, backward[0])).parameters))
            yield backward[0], back, (whole(9, *out.shape),), name, 0
    in_place = {"accumulate": "total", "assign": "array", "fill_zero": "array"}
    for op, arguments in OTHERS.items():
        for i, argument in enumerate(arguments or ()):
            if isinstance(argument, np.ndarray):
                name = list(inspect.signature(getattr(reference, op)).parameters)[i]

                def changed(ops, op=op):
                    def call(first, *rest):
                        out = getattr(ops, op)(first, *rest)
                        return first if op in in_place else out

                    return call

                yield op, changed, arguments, name, i


CALLS = list(calls())


@all_of("kind", SPOILED)
@all_of("call", CALLS, ids=[f"{op}-{name}" for op, _, _, name, _ in CALLS])
def test_every_operation_refuses_it_or_is_right(call, kind):
    _, function, arguments, name, place = call
    given = list(put(cuda, arguments))
    given[place] = spoil(kind, arguments[place])
    f = function(cuda)
    try:
        found = f(*given)
    except (TypeError, ValueError) as error:
        message = str(error)
        assert name in message or ALIASES.get(name, "device") in message
        assert SAYS.get(kind, "") in message or kind in ("float64", "int32", "None", "a record")
        assert len(message) > 20, message
        return
    if name == "b" and kind == "None":
        return  # a layer without a bias
    host = [on_host(a) for a in given]
    expected = function(reference)(*(np.array(a) if isinstance(a, np.ndarray) else a for a in host))
    for got, want in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
        np.testing.assert_array_equal(on_host(got), want)


def test_labels_on_the_host_are_refused_with_what_to_write():
    z = cuda.to_backend(whole(1, 4, 3))
    with pytest.raises(TypeError, match=r"labels is a host array. Copy it to the device first, labels = gpu.to_device"):
        cuda.softmax_cross_entropy_forward(z, labels(2, 4, 3))


def test_a_batch_of_labels_of_another_length_is_refused():
    z = cuda.to_backend(whole(1, 4, 3))
    for y in (labels(2, 5, 3), labels(2, 4, 3)[:, None]):
        with pytest.raises(ValueError, match=r"labels is .*its shape must be \(4,\)"):
            cuda.softmax_cross_entropy_forward(z, cuda.to_backend(y))


@all_of(
    ("op", "shapes", "words"),
    [
        ("dense_forward", [(4, 3), (5, 2)], r"x.shape\[1\] must equal w.shape\[0\]"),
        ("dense_forward", [(4, 3), (2, 3)], r"Did you mean w.T\?"),
        ("dense_forward", [(4, 3), (3, 2), (3,)], "one number for each column of w"),
        ("half_squared_sum_forward", [(4, 3), (3, 4)], "the shapes must be equal.*reshape target"),
        ("rbf_forward", [(4, 3), (2, 5)], "a prototype must be as long as a row of x"),
        ("conv2d_forward_loops", [(1, 2, 5, 5), (3, 4, 3, 3)], r"x.shape\[1\] must equal w.shape\[1\]"),
        ("conv2d_forward_loops", [(1, 2, 5, 5), (3, 2, 7, 7)], "it fits nowhere"),
        ("conv1d_forward", [(1, 2, 5), (3, 2, 2), (2,)], "one number for each output map"),
        ("add_bias_input", [(4,)], "it must have 2"),
        ("keep_where", [(4, 3), (3,)], "the shapes must be equal"),
        ("accumulate", [(4, 3), (4, 1)], "the shapes must be equal"),
        ("assign", [(4, 3), (4, 1)], "the shapes must be equal"),
        ("perceptron_predict", [(4, 3), (3,)], "then the bias"),
        ("linear_regression_predict", [(4, 3), (2,), None], "one weight for each column of x"),
    ],
)
def test_shapes_that_do_not_fit_are_named(op, shapes, words):
    arguments = [0.0 if s is None else gpu.to_device(whole(1, *s)) for s in shapes]
    with pytest.raises(ValueError, match=words):
        getattr(cuda, op)(*arguments)


# ------------------------------------------------------------------------------------------------------------- ladders

M, N, K = 4, 6, 5
OPERANDS = {
    "gemm": {"A": (M, K), "B": (K, N), "C": (M, N)},
    "transpose": {"x": (M, N), "y": (N, M)},
    "reduce": {"x": (20,), "out": (1,)},
    "conv2d.forward": {"x": (2, 3, 6, 7), "w": (4, 3, 3, 2), "b": (4,), "y": (2, 4, 4, 6)},
    "conv2d.backward_data": {"dy": (2, 4, 4, 6), "w": (4, 3, 3, 2), "dx": (2, 3, 6, 7)},
    "conv2d.backward_weights": {"dy": (2, 4, 4, 6), "x": (2, 3, 6, 7), "dw": (4, 3, 3, 2)},
}
"""Ladder -> the arrays that its rungs take, in their order."""


def rungs():
    """Yield (ladder, rung) of every package below `course_lib.cuda.ladders` that has a LADDER."""
    for info in pkgutil.walk_packages(ladders.__path__, f"{ladders.__name__}."):
        module = importlib.import_module(info.name) if info.ispkg else None
        for rung in getattr(module, "LADDER", ()):
            yield info.name.removeprefix(f"{ladders.__name__}."), rung


RUNGS = list(rungs())


def test_every_ladder_is_known_here():
    assert {ladder for ladder, _ in RUNGS} <= set(OPERANDS)


@all_of("kind", SPOILED)
@all_of(("ladder", "rung"), RUNGS, ids=[f"{ladder}-{rung.name}" for ladder, rung in RUNGS])
def test_every_rung_refuses_it(ladder, rung, kind):
    for spoiled, shape in OPERANDS[ladder].items():
        if kind == "None" and spoiled == "b":
            continue  # a layer without a bias
        if min(shape[0], shape[-1]) < 2 and kind in ("Fortran", "sliced"):
            continue  # of one number there are no gaps
        given = {name: gpu.to_device(whole(1, *s)) for name, s in OPERANDS[ladder].items()}
        given[spoiled] = spoil(kind, whole(1, *shape))
        with pytest.raises((TypeError, ValueError)) as info:
            rung.launch(*given.values())
        assert spoiled in str(info.value) or ALIASES.get(spoiled, spoiled) in str(info.value)
        assert len(str(info.value)) > 20


def test_masked_entries_do_not_reach_the_device():
    """A device has no masks: a kernel would compute with what lies behind them."""
    with pytest.raises(ValueError, match=r"row 1 of array holds masked entries"):
        gpu.to_device(np.ma.array([1.0, 2.0], mask=[False, True]))
    np.testing.assert_array_equal(gpu.to_host(gpu.to_device(np.ma.array([1.0, 2.0]))), [1.0, 2.0])
