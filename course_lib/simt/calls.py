"""Calls: words of the vocabulary, casts, and functions that a kernel calls, with what each parameter is given.

Source: Numba's documentation, "Device functions" and "Supported Python features in CUDA Python"; Python's
documentation, "Calls" (which argument goes to which parameter).
"""

import ast
import inspect
from dataclasses import dataclass

import numpy as np

from course_lib.simt import types
from course_lib.simt.declared import at_call, result_of
from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.literals import is_literal
from course_lib.simt.memory import View
from course_lib.simt.signature_text import NotDeclared
from course_lib.simt.source import KernelError, Source
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.vocabulary import Cast, DeviceFunction, Unusable, Word, from_outside

MOST_CALLS = 16
"""How deep device functions may call each other."""


@dataclass(frozen=True)
class InnerFunction:
    """A def or a lambda inside of a function: it reads that function's variables when it is called.

    Source: Numba's documentation, "Inner functions and closures".
    """

    source: Source
    around: object

    @property
    def path(self):
        """How a message calls it."""
        return f"the function {self.source.name}"


@dataclass(frozen=True, eq=False)
class Method:
    """A function of an array or of a number, such as a.sum, before it is called.

    Source: Numba's documentation, "Array types".
    """

    owner: object
    path: str
    kind: str = "array"


class Calls:
    """The part of an `Evaluator` that calls. Source: the course's own."""

    def _of_Call(self, node, mask):
        function = self._value(node.func, mask)
        if any(k.arg is None for k in node.keywords):
            raise self._error(node, "** is not possible in a kernel's calls.")
        arguments, nodes = [], []
        for given in node.args:
            value = self._value(given.value if isinstance(given, ast.Starred) else given, mask)
            if isinstance(given, ast.Starred):
                if not isinstance(value, tuple):
                    raise self._error(node, f"* takes a tuple apart, and {describe(value)} is none.")
                arguments += value
                nodes += [given.value] * len(value)
            else:
                arguments.append(value)
                nodes.append(given)
        options = {k.arg: self._value(k.value, mask) for k in node.keywords}
        if isinstance(function, Cast) and len(arguments) == 1 and not options:
            return self._cast(function, arguments[0], node)
        if isinstance(function, DeviceFunction | InnerFunction):
            fixed = [is_literal(n, self.source, self.fixed) for n in nodes]
            named = {k.arg: is_literal(k.value, self.source, self.fixed) for k in node.keywords}
            return self._call(function, arguments, options, mask, node, fixed, named)
        if isinstance(function, Method):
            path = f"{function.kind}.{function.path}"
            return self._function(FUNCTIONS[path], path, [function.owner, *arguments], options, mask, node)
        if isinstance(function, Word) and FUNCTIONS.get(function.path):
            return self._function(FUNCTIONS[function.path], function.path, arguments, options, mask, node)
        raise self._error(node, f"{ast.unparse(node.func)} cannot be called in a kernel.")

    def _cast(self, function, value, node):
        if function.of_array:
            name = ast.unparse(node.func)
            raise self._error(node, f"{name}, an array's dtype, is no function in a kernel; write {name}.type(...).")
        if not is_number(value):
            raise self._error(node, f"{describe(value)} cannot become a {function.dtype}.")
        return cast(value, function.dtype)

    def _function(self, act, path, arguments, options, mask, node):
        if self.machine.undefined:
            self.machine.use_all(path, [*arguments, *options.values()], mask)
        try:
            return act(self, mask, node, *arguments, **options)
        except types.NoSuchOperation:
            raise
        except TypeError as error:
            message = str(error)
            try:
                inspect.signature(act).bind(self, mask, node, *arguments, **options)
            except TypeError as wrong:  # too few arguments, or too many
                message = str(wrong)
            raise self._error(node, f"{path}: {message}.") from None
        except (ValueError, ArithmeticError) as error:
            raise self._error(node, f"{path}: {error}.") from None

    def _call(self, function, arguments, options, mask, node, fixed=(), named=None):
        if self.depth >= MOST_CALLS:
            raise self._error(node, f"device functions call each other more than {MOST_CALLS} deep; use a loop.")
        source = function.source
        values = self._bind(source, arguments, options, node)
        for name in source.captured:
            values[name] = function.around.captured(name, mask, node)
        literal = dict(zip(source.parameters, fixed, strict=False)) | (named or {})
        values, returns = self._declared(source, [values[n] for n in source.parameters], node)
        callee = type(self)(source, values, self.lanes, self.machine, self.depth + 1)
        callee.fixed = {n for n in source.parameters if literal.get(n) or (n not in literal and n in source.defaults)}
        callee.called_by(self, node)
        return result_of(callee.run(mask), returns)

    def _declared(self, source, values, node):
        """Return (the values as the function's signature declares them, what it declares to return)."""
        if not source.signatures:
            return values, None
        try:
            return at_call(source.name, source.parameters, source.signatures, values)
        except NotDeclared as error:
            raise self._error(node, str(error)) from None

    def _bind(self, source, arguments, options, node):
        """Return {parameter: value} of a call, as Python binds them."""
        names = [n for n in source.parameters if n != source.rest and n not in source.captured]
        values = dict(zip(names, arguments, strict=False))
        rest = tuple(arguments[len(names) :])
        twice = [n for n in options if n in values]
        unknown = [n for n in options if n not in names]
        for name in names:
            if name not in values and name in options:
                values[name] = options[name]
            elif name not in values and name in source.defaults:
                values[name] = default_of(source, name, node)
        missing = [n for n in names if n not in values]
        if missing or unknown or twice or (rest and not source.rest):
            takes = f"{source.name} takes {_count(len(names), 'value')} ({', '.join(names)})"
            why = (
                f"it lacks {', '.join(missing)}" if missing else
                f"it has no {', '.join(unknown)}" if unknown else
                f"{', '.join(twice)} is given twice" if twice else f"it got {len(arguments)}"
            )  # fmt: skip
            raise self._error(node, f"{takes}, and {why}." if names else f"{source.name} takes no values, and {why}.")
        if source.rest:
            values[source.rest] = self._short(rest, node)
        return values

    def inner_function(self, node, mask):
        """Return the function that a def or a lambda inside of this one makes; its defaults are numbers."""
        source = self.source.of_inner(node)
        for name, default in list(source.defaults.items()):
            if isinstance(default, ast.expr):
                value = self._value(default, mask)
                if not is_number(value) or np.ndim(value):
                    raise self._error(default, f"the default of {name} is a number, the same in all threads.")
                source.defaults[name] = value
        return InnerFunction(source, self)

    def captured(self, name, mask, node):
        """Return a variable's value for a function inside of this one."""
        made = self.source.captures
        if (name, node) not in made:  # kept: types are known by the id of a node, and ids are used again
            made[name, node] = ast.copy_location(ast.Name(name, ast.Load()), node)
        return self._variable(made[name, node], mask)

    def called_by(self, caller, node):
        """Remember where this function was called."""
        self.caller, self.call = caller, node


def default_of(source, name, node):
    """Return what a parameter is if a call does not say: an object from outside, or in a text a constant."""
    value = from_outside(source.defaults[name], f"the default of {name}", source.family)
    if type(value) is Unusable or isinstance(value, View):
        raise KernelError(getattr(value, "why", f"{name} has an array as its default."), getattr(node, "lineno", None))
    return value


def _count(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"
