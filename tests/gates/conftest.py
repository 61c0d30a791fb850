"""The compiler starts as soon as it is known which tests will run, so that it works while others do."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.gates.compiler import Compiler, missing

COMPILER = pytest.StashKey()


def pytest_collection_finish(session):
    asked = [item for item in session.items if _asks(item)]
    if asked and not session.config.option.collectonly and not missing():
        names = list(dict.fromkeys(item.callspec.params["entry"].name for item in asked))
        alone = all("gates" in item.path.parts for item in session.items)
        shares = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", f"{os.getpid()}")
        folder = Path(tempfile.gettempdir()) / f"course-gates-{run}"
        folder.mkdir(exist_ok=True)
        session.config.stash[COMPILER] = Compiler(
            names, folder, share=int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]), shares=shares,
            processes=2 if alone and shares == 1 else 1,
        )  # fmt: skip


def pytest_unconfigure(config):
    if COMPILER in config.stash:
        compiler = config.stash[COMPILER]
        compiler.close()
        for file in compiler.files:
            file.unlink(missing_ok=True)
        with suppress(OSError):  # another process of this run is still to come, or has been here
            compiler.files[0].parent.rmdir()


@pytest.fixture(scope="session")
def compiler(request):
    if reason := missing():
        pytest.skip(reason)
    return request.config.stash[COMPILER]


def _asks(item):
    return "gates" in item.path.parts and "entry" in getattr(getattr(item, "callspec", None), "params", {})
