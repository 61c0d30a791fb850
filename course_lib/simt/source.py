"""The text of a kernel: its syntax tree, its lines, and the objects its free names stand for.

Source: the course's own. A kernel's text is read, never run: `vocabulary` says which objects a name may stand for.
"""

import ast
import builtins
import types

import numba.cuda
from numba.core import utils
from numba.core.registry import CPUDispatcher

from course_lib.cuda.kernel import DeviceFunction, Kernel
from course_lib.simt.signature_text import NotDeclared
from course_lib.simt.signatures import checked, declared_by, declared_of
from course_lib.simt.texts import KernelError, text_of

KERNEL_TYPES = (Kernel, DeviceFunction)
"""The course's own objects that hold a kernel, in their attribute `py_func`."""


class Source:
    """A function's text, parameters, and the objects its free names stand for.

    Attributes
    ----------
    name : str
    text : Text
    tree : ast.FunctionDef
        With line numbers of the file.
    parameters : list of str
        With the one of *args, `rest`, at the end, and then `captured`.
    rest : str or None
    captured : tuple of str
        Variables of the function around it that it reads; a call gives it their values.
    defaults : dict of str to object
        What a parameter is without an argument: an object, or in a text an expression.
    assigned : set of str
        Names that the function itself gives a value.
    lines : dict of int to str
        The text of each line.
    outside : dict of str to object
        Globals and closure variables.
    meanings : dict of str to object
        What the names from outside mean to a kernel, as far as they were looked up.
    signatures : tuple of Signature
        The types that a decorator declares, () where they are found at the launch.
    family : dict of tuple to Source
        The functions that a kernel calls, and those that they call, by the id of the function and its signatures.

    Raises
    ------
    KernelError
        If the function is none that a kernel can be.

    Source: the course's own.
    """

    def __init__(self, text, outside, family=None, *, defaults=None, captured=(), signatures=()):
        self.text, self.tree, self.lines, self.outside, self.meanings = text, text.tree, text.lines, outside, {}
        a = self.tree.args
        if a.kwarg or a.kwonlyargs:
            raise KernelError(
                "a kernel has no **options and no parameters behind a *: Numba has neither.", self.tree.lineno
            )
        self.family, self.signatures = {} if family is None else family, signatures
        self.inner, self.asking, self.meetings = {}, {}, {}
        self.literals, self.captures = {}, {}  # {Constant: its number}, {(name, node of a call): the Name that is read}
        self.name, self.parameters = self.tree.name, [p.arg for p in (*a.posonlyargs, *a.args)]
        self.rest = a.vararg.arg if a.vararg else None
        if self.rest:
            self.parameters.append(self.rest)
        plain = self.parameters[: -1 if self.rest else None]
        optional = plain[len(plain) - len(a.defaults) :]
        self.defaults = dict(zip(optional, a.defaults if defaults is None else defaults, strict=True))
        self.captured = tuple(captured)
        self.parameters += self.captured
        self.assigned = {*self.parameters, *text.stored} - text.foreign

    def of_inner(self, node):
        """Return the Source of a function that stands in this one: a def, or a lambda; one for a node."""
        if id(node) not in self.inner:
            text, free = self.text.of_inner(node)
            self.inner[id(node)] = source = Source(
                text, self.outside, self.family, captured=sorted(free & self.assigned)
            )
            source.meanings = self.meanings
        return self.inner[id(node)]


def source_of(kernel, family=None):
    """Return the Source of a function, of an object that holds a kernel, or of a Source itself; one for a function.

    Raises
    ------
    KernelError
        If its text cannot be read, or is no function written with def.
    """
    if type(kernel) is Source:
        return kernel
    signatures, device = (), True
    if is_kernel(kernel):
        signatures, device = declared_of(kernel), is_device(kernel)
        kernel = kernel.py_func
    if type(kernel) is not types.FunctionType:
        raise KernelError(f"a kernel is a function written with def, and this is a {kind_name(kernel)}.")
    family = {} if family is None else family
    if (id(kernel), signatures) in family:
        return family[id(kernel), signatures]
    text, declared = text_of(kernel), signatures
    if signatures is None:
        declared = () if kernel.__name__ == "<lambda>" else _declared_in(text.tree, kernel, device)
    family[id(kernel), signatures] = source = Source(
        text, _names_outside(kernel), family, defaults=kernel.__defaults__ or (), signatures=declared
    )
    return source


def _declared_in(tree, function, device):
    """Return the Signatures of the decorator in a function's text."""
    found = declared_by(tree, lambda node: _object_of(node, function))
    try:
        return found and checked(found, len(tree.args.posonlyargs) + len(tree.args.args), tree.name, device)
    except NotDeclared as error:
        raise KernelError(str(error), tree.decorator_list[0].lineno) from None


MODULE_NAMES = types.ModuleType.__dict__["__dict__"].__get__
"""Returns a module's own dictionary: its __getattr__ is not asked."""


def is_module(value):
    """Return whether a value is a module; numba.types, once imported by this name, is one of a class of Numba's own."""
    return any(type(value) is kind for kind in (types.ModuleType, getattr(utils, "_RedirectSubpackage", None)))


def _object_of(node, function):
    """Return the object that a name stands for around a function, or a module's name behind a dot; else None."""
    if type(node) is ast.Attribute:
        owner = _object_of(node.value, function)
        return MODULE_NAMES(owner).get(node.attr) if is_module(owner) else None
    if type(node) is not ast.Name:
        return None
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name == node.id:
            try:
                return cell.cell_contents
            except ValueError:  # not set yet
                return None
    names = function.__globals__
    return dict.__getitem__(names, node.id) if dict.__contains__(names, node.id) else None


def _names_outside(function):
    """Return {name: object} of the builtins, globals and closure variables that a function's text may mean."""
    code = function.__code__
    names = {name for each in _codes(code) for name in each.co_names}
    outside = {name: vars(builtins)[name] for name in names if name in vars(builtins)}
    outside |= {name: dict.__getitem__(function.__globals__, name) for name in names
                if dict.__contains__(function.__globals__, name)}  # fmt: skip
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            outside[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    return outside


def _codes(code):
    found = [code]
    for each in found:
        found += [c for c in each.co_consts if type(c) is types.CodeType]
    return found


def is_kernel(value):
    """Return whether a value holds a kernel: one of the course's, or what Numba's `cuda.jit` or `njit` makes of one."""
    kind, dispatcher = type(value), getattr(numba.cuda, "dispatcher", None)
    numbas = getattr(dispatcher, "CUDADispatcher", None)
    return kind is numbas or kind is CPUDispatcher or any(kind is k for k in KERNEL_TYPES)


def is_device(kernel):
    """Return whether a value that holds a kernel, for which `is_kernel` holds, is a device function to Numba."""
    options = vars(kernel).get("targetoptions")
    return type(options) is not dict or options.get("device") is not False


def kind_name(value):
    """Return the name of a value's class, without asking the value, which may be anybody's object."""
    return type.__dict__["__name__"].__get__(type(value))
