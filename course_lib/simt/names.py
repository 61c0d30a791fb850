"""What a name means: a variable of each lane, something from outside of the kernel, or a word with dots.

Source: Numba's documentation, "Supported Python features in CUDA Python" and "CUDA Kernel API".
"""

import numpy as np

from course_lib.simt.array_words import attribute_of_array
from course_lib.simt.bundles import Bundle, EnumClass
from course_lib.simt.complexes import attribute_of_number
from course_lib.simt.functions import known
from course_lib.simt.limits import Limits, limit
from course_lib.simt.memory import View
from course_lib.simt.records import is_record
from course_lib.simt.reductions import attribute
from course_lib.simt.refusals import nearest, no_attribute, suggestion, undefined
from course_lib.simt.values import Conflict, cast, describe, is_number
from course_lib.simt.vocabulary import NAMES, Cast, ConstantArray, Module, Unusable, Word, from_outside, leading


class Names:
    """The part of an `Evaluator` that knows names. Source: the course's own."""

    def _of_Name(self, node, mask):
        if node.id in self.source.assigned:
            return self._variable(node, mask)
        if node.id not in self.source.outside:
            hint = undefined(node.id, {*self.source.assigned, *self.source.outside})
            raise self._error(node, f"{node.id} is not defined, neither in the kernel nor outside of it.{hint}")
        return self._meaning(node)

    def _variable(self, node, mask):
        """Return a variable's value; a lane that reads it and has not set it is a finding."""
        if node.id not in self.variables:
            raise self._error(node, f"{node.id} has no value here.")
        value, defined = self.variables[node.id], self.defined[node.id]
        if type(value) is Conflict:
            raise self._error(node, f"{node.id}: {value.why}")
        if defined.bits is not None and defined is not mask:
            self._check_defined(node, defined, mask)
        dtype = self.static.get(id(node))
        if dtype is None or value.dtype is dtype or value.dtype == dtype:
            return value
        own = cast(value, dtype)
        if self.machine.undefined:
            self.machine.follow(own, [(value, None)])
        return own

    def _check_defined(self, node, defined, mask):
        missing = ~defined.bits[mask.index]
        if missing.any():
            lane = self.machine.lane_of(mask, missing.argmax())
            self.machine.found(
                "unset variable", node.lineno,
                f"{self.lanes.name(lane)} reads {node.id}, which only other threads have set.",
                f"Set {node.id} before the branch or loop, so that every thread has a value; a GPU takes whatever was "
                "in the register.", array=node.id, lane=lane, count=np.count_nonzero(missing),
            )  # fmt: skip

    def _meaning(self, node):
        """Return what a name from outside means, looked up once."""
        name, meanings = node.id, self.source.meanings
        if name not in meanings:
            meanings[name] = from_outside(self.source.outside[name], name, self.source.family)
        return self._usable(meanings[name], node)

    def _usable(self, value, node):
        if type(value) is Unusable:
            raise self._error(node, value.why)
        if type(value) is ConstantArray:
            return self.machine.constant(value, node.lineno)
        return NAMES[value.path](self.lanes) if type(value) is Word and value.path in NAMES else value

    def _of_Attribute(self, node, mask):
        owner = self._value(node.value, mask)
        if is_record(owner):
            found = self.field(owner, node.attr, node)
            return found if found.ndim else self.load(found, [], mask, node)
        if isinstance(owner, View):
            simple = {"ndim": np.int64(owner.ndim), "size": _whole(owner.size), "dtype": Cast(owner.dtype, True)}
            if node.attr == "shape":
                return tuple(_whole(s) for s in owner.shape)
            if node.attr in simple:
                return simple[node.attr]
            if (found := attribute(owner, node.attr)) is not None:
                return found
            if (found := attribute_of_array(owner, node.attr)) is not None:
                return found
            if owner.dtype.names:
                return self.field(owner, node.attr, node)
        if is_number(owner) and (found := attribute_of_number(owner, node.attr)) is not None:
            return found
        if isinstance(owner, Bundle | EnumClass) and (found := owner.attribute(node.attr)) is not None:
            return found
        if type(owner) is Cast and owner.of_array and node.attr == "type":
            return Cast(owner.dtype)
        if type(owner) is Limits and (found := limit(owner, node.attr)) is not None:
            return found
        if type(owner) is Module:
            return self._of_module(owner, node)
        if isinstance(owner, Word):
            path = f"{owner.path}.{node.attr}"
            if path in NAMES:
                return NAMES[path](self.lanes)
            if known(path) or path in leading(NAMES):
                return Word(path)
            raise self._error(node, f"{path} is not among the words of a kernel here.{suggestion(path)}")
        hint = no_attribute(node.attr) if isinstance(owner, View) else ""
        raise self._error(node, f"{describe(owner)} has no {node.attr} in a kernel.{hint}")

    def _of_module(self, module, node):
        """Return what a name of another module means, looked up once."""
        path = f"{module.path}.{node.attr}"
        meanings = self.source.meanings
        if path not in meanings:
            if node.attr not in module.names:
                hint = nearest(node.attr, {n for n in module.names if type(n) is str})
                raise self._error(node, f"{module.path} has no {node.attr}.{hint}")
            meanings[path] = from_outside(dict.__getitem__(module.names, node.attr), path, self.source.family)
        return self._usable(meanings[path], node)


def _whole(size):
    return np.asarray(size).astype(np.int64)[()]
