"""One JupyterLab and one browser for all browser tests; without a chromium they are skipped, and say so."""

import pytest

from .lab import CHROMIUM_ARGS, LabPage, LabServer, chromium_path
from .pages import opened

HOW = "Debian: apt-get install chromium"


@pytest.fixture(scope="package")
def browser():
    """A headless chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install .[test])")
    path = chromium_path()
    if path is None:
        pytest.skip(f"no chromium on this machine; the widgets are not driven ({HOW})")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, headless=True, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def server(browser, tmp_path_factory):
    """A running JupyterLab; notebooks are put into `server.root`."""
    with LabServer(tmp_path_factory.mktemp("lab") / "home") as server:
        yield server


@pytest.fixture(scope="package")
def lab(browser, server):
    """JupyterLab in the browser."""
    return LabPage(browser, server)


@pytest.fixture
def page(browser, built):
    """The page whose address the test's own fixture `built` gives, open in the browser."""
    with opened(browser, built) as page:
        yield page
