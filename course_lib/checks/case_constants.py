"""Arrays from outside of a kernel, such as masks in constant memory, that are others in each case of an exercise.

Numba freezes such an array into the machine code, so a notebook's kernel belongs to the notebook's masks. A check needs
other ones too: it exchanges the array in what the kernel's text means, and never in the notebook.

Source: the course's own.
"""

import ast
import contextlib

import numpy as np

from course_lib.simt.source import is_kernel, source_of
from course_lib.simt.texts import KernelError
from course_lib.simt.vocabulary import DeviceFunction, Unusable


def exchanged(source, constants, names):
    """Return the Source of a notebook's kernel, in which constants are the arrays of a case, and so in its functions.

    Parameters
    ----------
    source : simt.Source
        New for this case: it is changed.
    constants : mapping of str to array
    names : dict
        The notebook's. The array that it holds under the name of a constant is exchanged under whatever name it is
        read, as in make(MASKS) or masks = MASKS.

    KernelError if a kernel reads an array that was made of a constant: it would be frozen. Source: the course's own.
    """
    old = {name: dict.get(names, name) for name in constants}
    for each in _reached(source):
        for held in (each.outside, each.defaults):
            held |= {name: _new(name, value, constants, old) for name, value in held.items()}
        missing = _read_outside(each) & constants.keys() - each.outside.keys()
        each.outside |= {name: constants[name] for name in missing}  # the grader has them where the notebook has not
    return source


def _new(name, value, constants, old):
    """Return what stands for a value from outside in this case."""
    if type(value) is not np.ndarray:
        return constants.get(name, value)
    for constant, was in old.items():
        if value is was:
            return constants[constant]
        if type(was) is np.ndarray and (value.size == was.size > 1 or np.may_share_memory(value, was)):
            raise KernelError(made_outside(name, constant))
    return value


def made_outside(name, constant):
    """Return what to say of an array that was made of a constant. No errors. Source: the course's own."""
    return (
        f"{name} is made of {constant} outside of the kernel, and would stay as it is where {constant} is another one. "
        f"{_instead(constant)}"
    )


def _instead(constant):
    return f"Read {constant} itself in the kernel, such as {constant.lower()} = cuda.const.array_like({constant})."


def advised(message, source, constants):
    """Return what a kernel was refused for, and what to read where it is a name that was made outside. No errors.

    Source: the course's own.
    """
    held = [value for each in _reached(source) for value in each.outside.values()] if constants else []
    if any(type(value) is Unusable and value.why in message for value in held):
        return f"{message.rstrip('.')}. {_instead(next(iter(constants)))}"
    return message


def check_read(function, source, constants):
    """Raise KernelError unless a kernel, or a function that it calls, reads each of the constants.

    Source: the course's own.
    """
    reached = _reached(source) if constants else []
    found = [each.outside.get(name) for each in reached for name in sorted(_read_outside(each))]
    unusable = next((value for value in found if type(value) is Unusable), None)
    for name, array in constants.items():
        if not any(value is array for value in found):
            if unusable is not None:  # in a text, what was made of the constant
                raise KernelError(f"{unusable.why.rstrip('.')}. {_instead(name)}")
            raise KernelError(
                f"{function} reads no {name}. The check launches it with several arrays of this name, so write none of "
                f"their numbers down: {name.lower()} = cuda.const.array_like({name}) gives it the one that counts."
            )


def _read_outside(source):
    """Return the names that a function's text reads and does not give a value itself."""
    return {node.id for node in ast.walk(source.tree) if type(node) is ast.Name} - source.assigned


def _reached(source):
    """Return the Sources of a kernel and of all functions that it may call."""
    found, waiting = {}, [source]
    while waiting:
        each = waiting.pop()
        if id(each) in found:
            continue
        found[id(each)] = each
        for value in (each.outside[name] for name in _read_outside(each) & each.outside.keys()):
            if type(value) is DeviceFunction:  # of a text
                waiting.append(value.source)
            elif is_kernel(value):
                with contextlib.suppress(KernelError):  # the launch says it, with its line
                    waiting.append(source_of(value, each.family))
    return list(found.values())
