"""Several numbers under one name: cuda.float32x4(1, 2, 3, 4), and members of an enumeration.

Source: Numba's documentation, "CUDA Kernel API" (vector types) and "Enum". Both can be variables, differ from thread to
thread, and be given to functions; arithmetic has neither.
"""

import enum
import types as python_types

import numpy as np

from course_lib.simt.types import literal

AXES = "xyzw"


class Bundle:
    """Numbers, each one for all lanes or one per lane, with a `tag` that says which type they are.

    Source: the course's own.
    """

    def __init__(self, tag, parts):
        self.tag, self.parts = tag, tuple(parts)

    @property
    def path(self):
        """How a message calls it."""
        return f"{'an' if self.tag[0][:1] in 'aeioAEIO' else 'a'} {self.tag[0]}"

    def replaced(self, parts):
        """Return a bundle of the same type with other numbers."""
        return type(self)(self.tag, parts)


class Vector(Bundle):
    """One of CUDA's vector types; its tag has the name and the dtype. Source: Numba's documentation, "Vector types"."""

    def attribute(self, name):
        """Return the number that x, y, z or w means, None if there is none of that name."""
        axes = AXES[: len(self.parts)]
        return self.parts[axes.index(name)] if len(name) == 1 and name in axes else None


class Member(Bundle):
    """A member of an Enum; its tag has the name and the id of the class. Source: Numba's documentation, "Enum"."""

    def attribute(self, name):
        """Return the member's value, None for any other name."""
        return self.parts[0] if name == "value" else None


class WholeMember(np.int64):
    """A member of an IntEnum: an int64 that has a `value` as well. Source: Numba's documentation, "Enum"."""


class EnumClass:
    """An enumeration from outside of a kernel: {name: number or Member}. Source: Numba's documentation, "Enum"."""

    def __init__(self, name, members):
        self.path, self.members = f"the enumeration {name}", members

    def attribute(self, name):
        """Return a member, None if there is none of that name."""
        return self.members.get(name)


DICTIONARY, NAME, ORDER = (type.__dict__[n].__get__ for n in ("__dict__", "__name__", "__mro__"))
META = type(enum.Enum)


def is_enum(kind):
    """Return whether a class is an enumeration, made by nothing but the module `enum`."""
    return type(kind) is META


def enum_of(kind):
    """Return the EnumClass of an enumeration of numbers, None if it is another; nothing of it is called."""
    members = DICTIONARY(kind).get("_member_map_")
    if type(members) is not dict:
        return None
    found = {}
    for name, member in dict.items(members):
        value = member_of(member) if type(member) is kind else None
        if type(name) is not str or value is None:
            return None
        found[name] = value
    return EnumClass(NAME(kind), found)


def member_of(member):
    """Return what a member of an enumeration is: a number of an IntEnum, else a Member; None if neither."""
    kind = type(member)
    own = [DICTIONARY(c).get("__dict__") for c in ORDER(kind)]
    if any(d is not None and type(d) is not python_types.GetSetDescriptorType for d in own):
        return None  # a class of which its own dictionary is something else
    value = object.__getattribute__(member, "__dict__").get("_value_")
    if not any(type(value) is kind for kind in (bool, int, float)):
        return None
    try:
        number = literal(value)
    except TypeError:
        return None
    whole = any(c is int for c in ORDER(kind))
    return WholeMember(number) if whole else Member((NAME(kind), id(kind)), [number])
