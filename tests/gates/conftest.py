"""The compiler starts as soon as it is known which tests will run, so that it works while others do."""

import pytest

from tests.gates.compiler import Compiler, missing

COMPILER = pytest.StashKey()


def pytest_collection_finish(session):
    asked = [item for item in session.items if _asks(item)]
    if asked and not session.config.option.collectonly and not missing():
        names = list(dict.fromkeys(item.callspec.params["entry"].name for item in asked))
        alone = all("gates" in item.path.parts for item in session.items)
        session.config.stash[COMPILER] = Compiler(names, processes=2 if alone else 1)


def pytest_unconfigure(config):
    if COMPILER in config.stash:
        config.stash[COMPILER].close()


@pytest.fixture(scope="session")
def compiler(request):
    if reason := missing():
        pytest.skip(reason)
    return request.config.stash[COMPILER]


def _asks(item):
    return "gates" in item.path.parts and "entry" in getattr(getattr(item, "callspec", None), "params", {})
