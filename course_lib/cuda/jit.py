"""`jit`: the decorator that makes a function in Numba-CUDA's language a kernel or a device function.

Source: Numba's documentation, "CUDA Kernel API". Nothing is asked of a device, and nothing compiled, before a launch.
"""

import functools
import inspect

from course_lib.cuda.kernel import DeviceFunction, Kernel

OPTIONS = (
    "cache", "cluster", "debug", "extensions", "fastmath", "forceinline", "inline", "launch_bounds", "lineinfo", "link",
    "lto", "max_registers", "opt", "shared_memory_carveout",
)  # fmt: skip
"""Options of numba.cuda.jit that `jit` passes on, and `cluster`, which the driver is told."""


def jit(function=None, *, device=False, **options):
    """Make a function in Numba-CUDA's language a kernel, or with device=True a function that kernels call.

    Names from outside of the function are constants: on a GPU they keep the value of the first launch, without one
    they are read at each launch. What changes is passed as an argument.

    Parameters
    ----------
    function : function
        With def, and parameters without defaults. As a decorator: @gpu.jit or @gpu.jit(fastmath=True). Or a signature,
        a text such as "void(float32[:], int32)", Numba types, or a list of these: @gpu.jit("void(float32[:], int32)").
        Numbers are then converted to the declared types, and arrays must have them.
    device : bool
        Whether kernels call it, instead of being launched.
    **options
        Passed to numba.cuda.jit on a GPU, without effect elsewhere: cache, debug, extensions, fastmath, forceinline,
        inline, launch_bounds, lineinfo, link, lto, max_registers, opt, shared_memory_carveout. And cluster: so many
        neighbouring blocks of a kernel with dynamic shared memory above 48 KiB work together (compute capability 9.0).

    Returns
    -------
    Kernel or DeviceFunction

    Raises
    ------
    TypeError
        If it is no such function, there is no such option, or the signature is none for this function.

    Source: Numba's documentation, "CUDA Kernel API".
    """
    for name in options:
        if name not in OPTIONS:
            raise TypeError(f"gpu.jit has no option {name!r}; it has device, {', '.join(OPTIONS)}.")
    if function is None:
        return functools.partial(jit, device=device, **options)
    if any(type(function) is kind for kind in (str, tuple, list)) or _class_name(function) == "Signature":
        return _declaring(function, device, options)
    if hasattr(function, "py_func"):
        raise TypeError(f"{function.__name__} is decorated already; one decorator is enough: @gpu.jit.")
    if not inspect.isfunction(function) or function.__name__ == "<lambda>":
        raise TypeError(
            f"gpu.jit got {function!r}; it takes a function made with def, or a signature such as "
            '"void(float32[:], int32)".'
        )
    for parameter in inspect.signature(function).parameters.values():
        plain = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if not plain or parameter.default is not parameter.empty:
            raise TypeError(
                f"{function.__name__} has the parameter {parameter}; a kernel's parameters have no defaults, no * and "
                "no **. Pass the value at every call."
            )
    return (DeviceFunction if device else Kernel)(function, {**options, "device": device})


def _class_name(value):
    """Return the name of a value's class, without asking its metaclass."""
    return type.__dict__["__name__"].__get__(type(value))


def _declaring(declared, device, options):
    """Return the decorator that makes a function what `jit` makes of it, for the types of a signature."""
    from numba.core import config

    if config.ENABLE_CUDASIM:  # it has no types
        return functools.partial(jit, device=device, **options)
    from course_lib.simt.signatures import checked, signatures

    found = signatures(declared, device=device)

    def decorate(function):
        made = jit(function, device=device, **options)
        checked(found, len(inspect.signature(function).parameters), function.__name__, device)
        made.signatures, made.declared = found, declared
        return made

    return decorate
