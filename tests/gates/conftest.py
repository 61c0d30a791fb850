"""The compiler starts once, with what the chosen tests ask for."""

import pytest

from tests.gates.compiler import Compiler, missing


@pytest.fixture(scope="session")
def compiler(request):
    if reason := missing():
        pytest.skip(reason)
    wanted = [item.callspec.params["entry"].name for item in request.session.items if _asks(item)]
    running = Compiler(list(dict.fromkeys(wanted)))
    yield running
    running.close()


def _asks(item):
    return "gates" in item.path.parts and "entry" in getattr(getattr(item, "callspec", None), "params", {})
