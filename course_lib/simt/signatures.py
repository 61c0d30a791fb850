"""Signatures: the types that a decorator declares, as in @cuda.jit("void(float32[:], int32)").

A number is converted to the declared type before a kernel begins, and around a device function; an array must have it
(`declared`). Numba's types are known by their exact class. Source: Numba's documentation, "Signatures".
"""

import ast

import numba.cuda
import numpy as np
from numba.core import types
from numba.core.registry import CPUDispatcher
from numba.core.typing import Signature as _NumbaSignature

from course_lib.simt.signature_text import (
    MOST_AXES,
    MOST_PARTS,
    RULE,
    TYPES,
    NotDeclared,
    Signature,
    Type,
    of_decorator,
    parsed,
)

MOST_SIGNATURES, MOST_DEEP = 64, 3

_NUMBERS = ("Integer", "Float", "Complex", "Boolean")
_DTYPES = {str(dtype): dtype for dtype in TYPES.values()} | {"boolean": np.dtype(np.bool_)}
_MODULES = [m for m in (types, getattr(numba.cuda, "types", None)) if hasattr(m, "Array")]
_SIGNATURES = [_NumbaSignature]
if hasattr(getattr(numba.cuda, "typing", None), "Signature"):  # NVIDIA's package has a copy of its own
    _SIGNATURES.append(numba.cuda.typing.Signature)


def is_signature(value):
    """Return whether a decorator's first argument declares types: a text, a tuple, a Numba signature, or a list."""
    return any(type(value) is kind for kind in (str, tuple, list, *_SIGNATURES))


def signatures(value, count=None, where="the function", device=False):
    """Return the Signatures that a decorator's first argument declares, of `count` parameters each; see `is_signature`.

    Raises
    ------
    NotDeclared
        If it declares something else, another number of parameters, or for a kernel something that is returned.

    Source: Numba's documentation, "CUDA Kernel API".
    """
    given = value if type(value) is list else [value]
    found = tuple(signature(each) for each in given[: MOST_SIGNATURES + 1])
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
        returns, args = value.return_type, value.args
        if type(args) is tuple:
            return Signature(tuple(map(declared, args)), None if returns is None else declared(returns))
    raise NotDeclared(f"{_class(value)} is no signature. {RULE}")


def declared(value, deep=MOST_DEEP):
    """Return the Type of one of Numba's types, known by its exact class and read from its own dictionary.

    What stands in it may be anybody's: it is looked at in the same way. Tuples may stand in tuples, `deep` times.

    Raises
    ------
    NotDeclared
        If it is none that a signature can declare.
    """
    for module in map(vars, _MODULES):
        if value is module.get("none", module):
            return "void"
        if _is_a(value, module, "Record"):
            return Type(value.dtype)
        if _is_a(value, module, *_NUMBERS) and type(vars(value)["name"]) is str and vars(value)["name"] in _DTYPES:
            return Type(_DTYPES[vars(value)["name"]])
        if _is_a(value, module, "Array"):
            dtype, axes, layout = (vars(value)[name] for name in ("dtype", "ndim", "layout"))
            plain = _is_a(dtype, module, "Record", *_NUMBERS) and type(axes) is int and type(layout) is str
            if plain and 0 <= axes <= MOST_AXES and layout in ("C", "F", "A"):
                return Type(declared(dtype).dtype, axes, layout)
        if _is_a(value, module, "UniTuple") and deep:
            dtype, count = vars(value)["dtype"], vars(value)["count"]
            if type(count) is int and 0 <= count <= MOST_PARTS:
                return (declared(dtype, deep - 1),) * count
        if _is_a(value, module, "Tuple") and deep:
            parts = vars(value)["types"]
            if type(parts) is tuple and len(parts) <= MOST_PARTS:
                return tuple(declared(part, deep - 1) for part in parts)
    raise NotDeclared(f"{_class(value)} is no type that a signature can declare. {RULE}")


def declared_of(kernel):
    """Return the Signatures of a kernel or device function, of the course's or Numba's; () if types are found later.

    None where Numba has compiled nothing, as for want of NVIDIA's compiler: then its text says it (`declared_by`).
    """
    dispatcher = getattr(numba.cuda, "dispatcher", None)
    if type(kernel) is CPUDispatcher:  # compiled anew for a device, whatever it declares for the host
        return ()
    if type(kernel) is not getattr(dispatcher, "CUDADispatcher", None):
        return vars(kernel)["signatures"]
    compiled = vars(kernel)["overloads"]
    if not compiled:
        return None
    return () if kernel._can_compile else tuple(signature(each.signature) for each in compiled.values())


def declared_by(tree, look_up):
    """Return the Signatures that @cuda.jit declares in a function's text; () where they are none, or not in the text.

    Parameters
    ----------
    tree : ast.FunctionDef
    look_up : function
        Returns the object that a Name or an Attribute stands for, or None. Nothing else of the text is looked at.

    Source: Numba's documentation, "CUDA Kernel API".
    """

    def type_of(node):
        value = look_up(node)
        name = next(
            (n for module in _MODULES for n in ("UniTuple", "Tuple") if value is vars(module).get(n, module)), None
        )
        return name or declared(value)

    for node in tree.decorator_list:
        if type(node) is ast.Call and node.args and look_up(node.func) is numba.cuda.jit:
            given = node.args[0]
            value = look_up(given) if type(given) in (ast.Name, ast.Attribute) else None
            try:
                found = signatures(value, device=True) if is_signature(value) else of_decorator(given, type_of)
            except NotDeclared:
                continue
            return found
    return ()


def _is_a(value, module, *names):
    """Return whether a value's class is exactly one of a module's, given by its dictionary."""
    return any(type(value) is module[name] for name in names if name in module)


def _class(value):
    return f"a {type.__dict__['__name__'].__get__(type(value))}"
