"""Signatures: the types that a decorator declares, as in @cuda.jit("void(float32[:], int32)").

A number is converted to the declared type before a kernel begins, and around a device function; an array must have it
(`declared`). Numba's types are known by their exact class. Source: Numba's documentation, "Signatures".
"""

import numba.cuda
import numpy as np
from numba.core import types
from numba.core.registry import CPUDispatcher
from numba.core.typing import Signature as _NumbaSignature

from course_lib.simt.signature_text import RULE, NotDeclared, Signature, Type, parsed

MOST_SIGNATURES = 64

_MODULES = [m for m in (types, getattr(numba.cuda, "types", None)) if hasattr(m, "Array")]
_SIGNATURES = [_NumbaSignature]
if hasattr(getattr(numba.cuda, "typing", None), "Signature"):  # NVIDIA's package has a copy of its own
    _SIGNATURES.append(numba.cuda.typing.Signature)


def is_signature(value):
    """Return whether a decorator's first argument declares types: a text, a tuple, a Numba signature, or a list."""
    return type(value) in (str, tuple, list) or any(type(value) is kind for kind in _SIGNATURES)


def signatures(value, count=None, where="the function", device=False):
    """Return the Signatures that a decorator's first argument declares, of `count` parameters each; see `is_signature`.

    Raises
    ------
    NotDeclared
        If it declares something else, another number of parameters, or for a kernel something that is returned.

    Source: Numba's documentation, "CUDA Kernel API".
    """
    found = tuple(signature(each) for each in (value if type(value) is list else [value]))
    return checked(found, count, where, device)


def checked(found, count, where, device):
    """Return Signatures that fit to a function of `count` parameters; else NotDeclared."""
    if not 1 <= len(found) <= MOST_SIGNATURES:
        raise NotDeclared(f"{where} declares {len(found)} signatures; 1 to {MOST_SIGNATURES} are possible.")
    for each in found:
        if "void" in each.parameters:
            raise NotDeclared(f"{where} declares a parameter of type void in {each}. {RULE}")
        if count is not None and len(each.parameters) != count:
            raise NotDeclared(f"{where} has {count} parameters, and {each} declares {len(each.parameters)} types.")
        if not device and each.returns not in (None, "void"):
            void = str(each).removeprefix(str(each.returns))
            raise NotDeclared(f"{where} is a kernel, which returns nothing: write void{void}.")
    return found


def signature(value):
    """Return the Signature of a text, a tuple of Numba types or a Numba signature; else NotDeclared."""
    if type(value) is str:
        return parsed(value)
    if type(value) is tuple:
        return Signature(tuple(map(declared, value)))
    if any(type(value) is kind for kind in _SIGNATURES):
        returns = declared(value.return_type) if value.return_type is not None else None
        return Signature(tuple(map(declared, value.args)), returns)
    raise NotDeclared(f"{_class(value)} is no signature. {RULE}")


def declared(value):
    """Return the Type of one of Numba's types, known by its exact class; else NotDeclared."""
    for module in _MODULES:
        kinds = {name: getattr(module, name, None) for name in ("Array", "Integer", "Float", "Complex", "Boolean")}
        if type(value) is kinds["Array"]:
            return Type(declared(value.dtype).dtype, value.ndim, value.layout)
        if type(value) is getattr(module, "Record", None):
            return Type(value.dtype)
        if any(type(value) is kind for kind in kinds.values()):
            return Type(np.dtype(value.name))
        if value is getattr(module, "none", None):
            return "void"
        if type(value) in (getattr(module, "UniTuple", None), getattr(module, "Tuple", None)):
            return tuple(map(declared, value))
    raise NotDeclared(f"{_class(value)} is no type that a signature can declare. {RULE}")


def declared_of(kernel):
    """Return the Signatures of a kernel or device function, of the course's or Numba's; () if types are found later."""
    dispatcher = getattr(numba.cuda, "dispatcher", None)
    if type(kernel) is CPUDispatcher:  # compiled anew for a device, whatever it declares for the host
        return ()
    if type(kernel) is not getattr(dispatcher, "CUDADispatcher", None):
        return vars(kernel)["signatures"]
    if kernel._can_compile:
        return ()
    return tuple(signature(each.signature) for each in vars(kernel)["overloads"].values())


def _class(value):
    return f"a {type.__dict__['__name__'].__get__(type(value))}"
