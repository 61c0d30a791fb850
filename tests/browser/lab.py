"""Run a real JupyterLab and a real browser for tests: isolated, on this machine only, nothing downloaded."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

from jupyter_server.serverapp import list_running_servers
from nbformat.sign import NotebookNotary

from course_lib.cli.kernel import START_ATTEMPTS

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--force-color-profile=srgb",
]  # fmt: skip
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    # By default Lab removes cells that are out of view from the page; the test wants all of them.
    "notebook-extension/tracker": {"windowingMode": "none"},
}
# Neither is part of a lesson: one asks the kernel things at the moment the test closes it, one asks the web for news.
PAGE = {
    "disabledExtensions": {f"@jupyterlab/{n}": True for n in ("debugger-extension", "apputils-extension:announcements")}
}


def chromium_path():
    """Return the path of an installed chromium, or None."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


class LabServer:
    """`jupyter lab` in a subprocess, serving `root`; a context manager. Settings, data and logs lie under `home`."""

    def __init__(self, home, start_timeout=60):
        self.home, self.root = home, home / "work"
        self.start_timeout = start_timeout
        self.token = secrets.token_hex(16)

    def __enter__(self):
        self.root.mkdir(parents=True)
        for name, values in SETTINGS.items():
            path = self.home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))
        page_config = self.home / "config" / "labconfig" / "page_config.json"
        page_config.parent.mkdir(parents=True)
        page_config.write_text(json.dumps(PAGE))
        folders = {
            "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "IPYTHONDIR": "ipython",
        }  # fmt: skip
        env = dict(os.environ, COURSE_PROGRESS="0", **{k: str(self.home / v) for k, v in folders.items()})
        command = [
            # Port 0: it takes a free one when it is about to listen, and says which. One that we choose here, seconds
            # before, may be another process's by then.
            sys.executable, "-m", "jupyter", "lab", "--no-browser", "--ip=127.0.0.1", "--port=0",
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}", "--allow-root", "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--expose-app-in-browser",
        ]  # fmt: skip
        self.log = (self.home / "lab.log").open("w")
        for left in reversed(range(START_ATTEMPTS)):
            self.process = subprocess.Popen(command, env=env, stdout=self.log, stderr=subprocess.STDOUT)
            try:
                self._wait_until_up()
                return self
            except BaseException:
                if left and self.process.poll() is not None:
                    continue  # another process took the port between JupyterLab's look at it and its own taking
                self.__exit__()
                raise

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def trust(self, notebook):
        """Sign a notebook: its outputs count as those of this user, and their scripts run."""
        notary = NotebookNotary(data_dir=str(self.home / "data"))
        notary.sign(notebook)
        notary.store.close()

    def _wait_until_up(self):
        end = time.monotonic() + self.start_timeout
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            server = next(list_running_servers(str(self.home / "runtime")), None)
            if server is None:
                time.sleep(0.2)
                continue
            self.url = f"http://127.0.0.1:{server['port']}"
            try:
                urllib.request.urlopen(f"{self.url}/api?token={self.token}", timeout=2).close()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        tail = (self.home / "lab.log").read_text()[-2000:]
        raise RuntimeError(f"JupyterLab did not answer within {self.start_timeout} s; the end of its log:\n{tail}")


class Watched:
    """A browser page that remembers console errors, page errors and requests to other hosts."""

    def __init__(self, browser, own_host, **options):
        self.page = browser.new_page(viewport={"width": 1200, "height": 900}, **options)
        self.errors, self.foreign = [], []
        local = (own_host, own_host.replace("http", "ws", 1), "data:", "blob:", "about:")
        self.page.on("pageerror", lambda e: self.errors.append(f"page error: {e}"))
        self.page.on("console", self._console)
        self.page.on("request", lambda r: None if r.url.startswith(local) else self.foreign.append(r.url))
        self.page.on("websocket", lambda w: None if w.url.startswith(local) else self.foreign.append(w.url))

    def _console(self, message):
        if message.type == "error":
            self.errors.append(f"console: {message.text} ({message.location.get('url', '')})")

    def assert_quiet(self):
        """Raise AssertionError with what was complained about or asked from another host; forget it then."""
        errors, foreign = self.errors[:], self.foreign[:]
        self.errors.clear()
        self.foreign.clear()
        assert not errors, "the browser reports errors:\n" + "\n".join(errors)
        assert not foreign, "requests left this machine:\n" + "\n".join(foreign)


class LabPage(Watched):
    """JupyterLab in the browser, one for all tests; notebooks are opened and closed in it."""

    def __init__(self, browser, server, **options):
        super().__init__(browser, server.url, **options)
        self.server = server
        self.page.goto(f"{server.url}/lab?token={server.token}&reset")
        self.page.wait_for_function("() => window.jupyterapp && window.jupyterapp.restored", timeout=60_000)
        self._call(
            "async () => { await jupyterapp.restored; jupyterapp.commands.execute('application:toggle-left-area'); }"
        )

    def open(self, name):
        """Open `name` (relative to the server's root), wait for its kernel; return a locator of the notebook."""
        self._call(
            """async name => {
                const widget = await jupyterapp.commands.execute('docmanager:open', {path: name, factory: 'Notebook'});
                await widget.context.ready;
                await widget.revealed;
                await widget.sessionContext.ready;
                const session = widget.sessionContext.session;
                if (!session || !session.kernel) throw new Error('no kernel');
                await session.kernel.info;
                return null;
            }""",
            name,
        )
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)").first

    def run_all(self, timeout=240):
        """Run every cell. AssertionError: a cell failed that is not tagged raises-exception, or did not run."""
        self._call("async () => { await jupyterapp.commands.execute('notebook:run-all-cells'); }", timeout=timeout)
        # The command returns at the first exception, even an expected one, while later cells still run.
        problems = self._call(
            """async () => {
                const notebook = jupyterapp.shell.currentWidget;
                const read = () => notebook.content.widgets.flatMap((cell, i) => {
                    const {type, executionCount, outputs, sharedModel} = cell.model;
                    if (type !== 'code' || !sharedModel.source.trim()) return [];
                    if (executionCount === null) return [`cell ${i + 1} did not run`];
                    if ((cell.model.getMetadata('tags') || []).includes('raises-exception')) return [];
                    const errors = outputs.toJSON().filter(output => output.output_type === 'error');
                    return errors.map(error => `cell ${i + 1} raised ${error.ename}: ${error.evalue}`);
                });
                let problems = read();
                for (let idle = 0; problems.length && idle < 10; problems = read()) {
                    await new Promise(done => setTimeout(done, 100));
                    idle = notebook.sessionContext.session.kernel.status === 'idle' ? idle + 1 : 0;
                }
                return problems;
            }""",
            timeout=timeout,
        )
        assert not problems, "Run All Cells:\n" + "\n".join(problems)

    def close(self):
        """Shut the kernel down and close the notebook without saving."""
        self._call(
            """async () => {
                const widget = jupyterapp.shell.currentWidget;
                await widget.sessionContext.shutdown();
                widget.context.model.dirty = false;
                widget.close();
            }"""
        )

    def theme(self, name):
        """Switch to a theme, such as "JupyterLab Dark"."""
        self._call("async name => { await jupyterapp.commands.execute('apputils:change-theme', {theme: name}); }", name)

    def _call(self, script, argument=None, timeout=60):
        """Evaluate an async function, bounded in time: Lab's promises may never settle."""
        bounded = (
            "([argument, seconds]) => Promise.race([(" + script + ")(argument).then(result => [true, result]),"
            " new Promise(done => setTimeout(done, 1000 * seconds, [false, null]))])"
        )
        finished, result = self.page.evaluate(bounded, [argument, timeout])
        assert finished, f"JupyterLab did not finish within {timeout} s: {' '.join(script.split())[:160]}"
        return result
