"""The compiler of the gates: one process, asked in the order of the tests."""

import os

import pytest

from tests.gates.compiler import Compiler, missing

COMPILER = pytest.StashKey()


def pytest_collection_finish(session):
    """Where one process runs all tests, let another one compile while it does; several have enough to do."""
    if "PYTEST_XDIST_WORKER" not in os.environ and not session.config.option.collectonly:
        _start(session)


def pytest_unconfigure(config):
    if COMPILER in config.stash:
        config.stash[COMPILER].close()


@pytest.fixture(scope="session")
def compiler(request):
    if reason := missing():
        pytest.skip(reason)
    _start(request.session)
    return request.config.stash[COMPILER]


def _start(session):
    asked = [item for item in session.items if _asks(item)]
    if asked and not missing() and COMPILER not in session.config.stash:
        names = list(dict.fromkeys(item.callspec.params["entry"].name for item in asked))
        session.config.stash[COMPILER] = Compiler(names)


def _asks(item):
    return "gates" in item.path.parts and "entry" in getattr(getattr(item, "callspec", None), "params", {})
