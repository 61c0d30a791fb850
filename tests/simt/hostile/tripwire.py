"""Objects that notice when anybody asks them something: whatever they notice is in `executed`.

Armed only while a try runs; a try that leaves a trace has executed something.
"""

executed = []
armed = False


def arm():
    """From now on, notice."""
    global armed
    executed.clear()
    armed = True


def tripped(what):
    """Enter that something was executed."""
    if armed:
        executed.append(what)


SPECIAL = (
    "__getattr__", "__getattribute__", "__repr__", "__str__", "__eq__", "__ne__", "__hash__", "__len__", "__index__",
    "__int__", "__float__", "__bool__", "__array__", "__array_interface__", "__array_struct__", "__array_ufunc__",
    "__array_function__", "__array_finalize__", "__array_wrap__", "__iter__", "__next__", "__getitem__", "__setitem__",
    "__contains__", "__call__", "__add__", "__radd__", "__mul__", "__rmul__", "__lt__", "__le__", "__gt__", "__ge__",
    "__neg__", "__format__", "__reduce__", "__reduce_ex__", "__dir__", "__instancecheck__", "__subclasscheck__",
    "__cuda_array_interface__", "__dlpack__", "__complex__", "__round__", "__trunc__", "__buffer__", "__enter__",
)  # fmt: skip


def methods(base=object, skip=()):
    """Return methods for a class with the base `base`: each notices, and does what the base does where it can."""

    def make(name):
        def method(self, *arguments, **options):
            tripped(f"{base.__name__}.{name}")
            inherited = getattr(base, name, None)
            if inherited is None:
                raise AttributeError(name)
            return inherited(self, *arguments, **options)

        return method

    names = {name: make(name) for name in SPECIAL if name not in skip}
    names["__class__"] = property(lambda self: tripped(f"{base.__name__}.__class__") or base)
    return names


def hostile(base=object, skip=(), metaclass=type, **more):
    """Return a class that notices everything; an instance of it stands for `base`."""
    return metaclass(f"Hostile{base.__name__.capitalize()}", (base,), {**methods(base, skip), **more})


def _notices(name):
    def method(cls, *arguments):
        tripped(f"metaclass {name}")
        return getattr(type, name)(cls, *arguments)

    return method


ASKED = ("__eq__", "__hash__", "__repr__", "__instancecheck__", "__subclasscheck__", "__getattribute__", "__call__")
META = type("Meta", (type,), {name: _notices(name) for name in ASKED})
"""A metaclass: its classes notice, too."""
