"""Every public name of the library says what it takes, what can go wrong, and where it comes from."""

import importlib
import inspect
import pkgutil
import re

import course_lib
from course_lib import cuda, fast, reference

SHAPE = re.compile(r"\((?:\.\.\.|\w+(?: [+-] \d)?,)[^()]*\)|equal shape")  # (...), (B, D), (d + 1,)
ERRORS = re.compile(r"Raises|\w+Error\b|No errors", re.I)


def modules():
    yield course_lib
    for info in pkgutil.walk_packages(course_lib.__path__, "course_lib."):
        if not any(part.startswith("_") for part in info.name.split(".")):
            yield importlib.import_module(info.name)


def public_objects():
    """Yield (name, object) for every public function, class and method that this package defines."""
    seen = set()
    for module in modules():
        for name, value in vars(module).items():
            own = inspect.isfunction(value) or inspect.isclass(value)
            if name.startswith("_") or not own or value.__module__ != module.__name__ or id(value) in seen:
                continue
            seen.add(id(value))
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value):
                for method, f in vars(value).items():
                    f = f.fget if isinstance(f, property) else f
                    if inspect.isfunction(f) and not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", f


OBJECTS = dict(public_objects())


def test_the_walk_finds_the_library():
    assert len(OBJECTS) > 120
    assert "course_lib.reference.dense.dense_forward" in OBJECTS
    assert "course_lib.nn.sequential.Sequential.forward" in OBJECTS


def test_every_public_name_has_a_docstring():
    says_nothing = {name: doc for name, value in OBJECTS.items() if len(doc := inspect.getdoc(value) or "") < 8}
    assert says_nothing == {}


def test_every_module_opens_with_a_sentence():
    docs = {module.__name__: (module.__doc__ or "").strip() for module in modules()}
    assert [name for name, doc in docs.items() if not (doc[:1].isupper() or doc[:1] == "`")] == []


OPERATIONS = {f"reference.{n}": f for n, f in vars(reference).items() if n in reference.__all__ and callable(f)}
OPERATIONS |= {f"fast.{n}": f for n, f in vars(fast).items() if n in reference.__all__ and callable(f)}
OPERATIONS |= {f"cuda.{n}": getattr(cuda, n) for n in cuda.__all__ if callable(getattr(cuda, n))}


def missing(objects, *, shape):
    """Return what the docstrings of operations or other exported names leave out, a line for each."""
    found = []
    for name, value in objects.items():
        doc = inspect.getdoc(value) or ""
        if shape and not SHAPE.search(doc):
            found.append(f"{name}: no shape")
        if inspect.isfunction(value) and not ERRORS.search(doc):
            found.append(f"{name}: not what it raises")
        if "Source:" not in doc:
            found.append(f"{name}: no source")
    return found


def test_every_operation_states_shapes_errors_and_source():
    assert len(OPERATIONS) > 150
    assert missing(OPERATIONS, shape=True) == []


def test_every_exported_name_states_its_errors_and_source():
    exported = {}
    for name in ("fast", "nn", "nn.graph", "nn.init", "nn.models", "nn.schedules", "checks", "data"):
        module = importlib.import_module(f"course_lib.{name}")
        own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__ and n[0] != "_"]
        values = {f"{name}.{n}": getattr(module, n) for n in getattr(module, "__all__", own)}
        exported |= {n: v for n, v in values.items() if inspect.isfunction(v) or inspect.isclass(v)}
    assert len(exported) > 100
    assert missing(exported, shape=False) == []


def test_a_docstring_that_leaves_something_out_is_found():
    def operation(x):
        """Return x."""

    assert missing({"operation": operation}, shape=True) == [
        "operation: no shape", "operation: not what it raises", "operation: no source",
    ]  # fmt: skip
    operation.__doc__ = "Return x (B, D), else ValueError. Source: K."
    assert missing({"operation": operation}, shape=True) == []
