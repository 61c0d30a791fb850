"""Every public name of the library says what it takes, what can go wrong, and where it comes from."""

import importlib
import inspect
import pkgutil
import re

import pytest

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


@pytest.mark.parametrize("name", OBJECTS)
def test_every_public_name_has_a_docstring(name):
    doc = inspect.getdoc(OBJECTS[name])
    assert doc, f"{name} has no docstring"
    assert len(doc) >= 8, f"{name}: {doc!r} says nothing"


@pytest.mark.parametrize("module", [m.__name__ for m in modules()])
def test_every_module_opens_with_a_sentence(module):
    doc = importlib.import_module(module).__doc__
    assert doc, f"{module} has no docstring"
    assert doc.strip()[0].isupper() or doc.strip()[0] == "`"


OPERATIONS = {f"reference.{n}": f for n, f in vars(reference).items() if n in reference.__all__ and callable(f)}
OPERATIONS |= {f"fast.{n}": f for n, f in vars(fast).items() if n in reference.__all__ and callable(f)}
OPERATIONS |= {f"cuda.{n}": getattr(cuda, n) for n in cuda.__all__ if callable(getattr(cuda, n))}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_states_shapes_errors_and_source(name):
    doc = inspect.getdoc(OPERATIONS[name])
    assert SHAPE.search(doc), f"{name}: no shape in {doc!r}"
    if inspect.isfunction(OPERATIONS[name]):
        assert ERRORS.search(doc), f"{name}: no errors in {doc!r}"
    assert "Source:" in doc, f"{name}: no source in {doc!r}"


@pytest.mark.parametrize("module", ["fast", "nn", "nn.graph", "nn.models", "checks", "data"])
def test_every_exported_name_states_its_errors_and_source(module):
    module = importlib.import_module(f"course_lib.{module}")
    own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__ and n[0] != "_"]
    for name in getattr(module, "__all__", own):
        value = getattr(module, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            doc = inspect.getdoc(value)
            assert "Source:" in doc, f"{module.__name__}.{name} has no source"
            if inspect.isfunction(value):
                assert ERRORS.search(doc), f"{module.__name__}.{name} does not say what it raises"
