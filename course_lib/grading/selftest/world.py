"""What hostile submissions are after: secrets, folders, a process, listeners. All is made for one run, and then gone.

Source: the course's own.
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from course_lib.checks import registry
from course_lib.grading.selftest import memory
from course_lib.grading.selftest.sheet import SHEET

ENVIRONMENT = "COURSE_SELFTEST_SECRET"
"""The variable of the grader's environment that holds the secret."""


class World:
    """A context: what is laid out for one run.

    Attributes
    ----------
    token : str
        Part of every name that the run makes; submissions know it.
    secret : str
        What lies in files, in the environment and in memory; submissions do not know it.
    outside, closed : Path
        A folder that everybody may write to, and one with secrets that everybody may read.
    heard : list
        What came in at the listeners.

    OSError if a folder cannot be made. Source: the course's own.
    """

    def __init__(self):
        self.token, self.secret = secrets.token_hex(6), f"secret-{secrets.token_hex(12)}"
        self.key = 0x5E000000 + int(self.token[:4], 16) * 256
        self.heard, self.folders, self._sockets, self._open = [], [], [], []
        self.victim = None

    def __enter__(self):
        try:
            return self._laid_out()
        except BaseException:
            self.__exit__()
            raise

    def _laid_out(self):
        root = self._folder(None)
        self.outside, self.closed = root / "outside", root / "closed"
        for folder, mode in ((self.outside, 0o777), (self.closed, 0o755), (self.keys, 0o755), (self.classmate, 0o755)):
            folder.mkdir()
            folder.chmod(mode)
        self._write(self.closed / "secret.txt", self.secret)
        self._write(self.classmate / f"{SHEET}.ipynb", self.secret)
        for name, module in registry.TRIALS.items():
            self._write(self.keys / f"{name}.py", f'"""{self.secret}"""\nfrom {module} import KEYS as KEYS\n')
        with contextlib.suppress(OSError, RuntimeError):  # a user may have no home
            self._write(self._folder(Path.home()) / "secret.txt", self.secret)
        os.environ[ENVIRONMENT] = self.secret
        for path in (self.closed, self.closed / "secret.txt"):
            self._open.append(os.open(path, os.O_RDONLY))
            os.set_inheritable(self._open[-1], True)
        self._listen()
        memory.leave(self.key + memory.SECRET, self.secret)
        memory.add_key(f"secret-of-{self.token}", self.secret)
        sleeper = "import time; time.sleep(1800)"
        self.victim = subprocess.Popen(
            [sys.executable, "-c", sleeper, f"victim-{self.token}"], stdin=subprocess.DEVNULL
        )
        self.before = self.snapshot()
        return self

    def __exit__(self, *_):
        if self.victim:
            self.victim.kill()
            self.victim.wait()
        os.environ.pop(ENVIRONMENT, None)
        for one in self._sockets:
            one.close()
        for descriptor in self._open:
            os.close(descriptor)
        memory.remove(self.key, memory.SECRET)
        memory.remove_key(f"secret-of-{self.token}")
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def keys(self):
        """The folder of the key."""
        return self.closed / "keys"

    @property
    def classmate(self):
        """The folder of another student."""
        return self.closed / "classmate"

    def mark(self, number):
        """Return what the processes of submission `number` call themselves. No errors. Source: the course's own."""
        return f"cst-{self.token[:5]}{number:03d}"

    def filled(self, content, number):
        """Return a file's content, or its name, with what stands between @ filled in. No errors.

        Source: the course's own.
        """
        names = {
            "OUTSIDE": self.outside, "SECRETS": self.closed, "TOKEN": self.token, "PORT": self.port, "KEY": self.key,
            "HOME": Path.home(), "VICTIM": self.victim.pid, "MARK": self.mark(number), "NUMBER": number,
        }  # fmt: skip
        for name, value in names.items():
            old, new = f"@{name}@", str(value)
            content = (
                content.replace(old.encode(), new.encode()) if type(content) is bytes else content.replace(old, new)
            )
        return content

    def snapshot(self):
        """Return {path: (mode, content)} of the folders that were laid out. No errors. Source: the course's own."""
        found = {}
        for path in (p for folder in self.folders for p in folder.rglob("*") if "__pycache__" not in p.parts):
            with contextlib.suppress(OSError):
                found[path] = (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        return found

    def _folder(self, where):
        folder = Path(tempfile.mkdtemp(prefix=f"course-selftest-{self.token}-", dir=where))
        folder.chmod(0o755)
        self.folders.append(folder)
        return folder

    def _write(self, path, text):
        path.write_text(text)
        path.chmod(0o644)

    def _listen(self):
        tcp = self._bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.port = tcp.getsockname()[1]
        self._bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", self.port))
        if hasattr(socket, "AF_UNIX"):
            self._bound(socket.AF_UNIX, socket.SOCK_STREAM, str(self.outside / "socket"))
            (self.outside / "socket").chmod(0o777)
            if sys.platform == "linux":
                self._bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.token}")

    def _bound(self, family, kind, address):
        one = socket.socket(family, kind)
        self._sockets.append(one)
        one.bind(address)
        if kind == socket.SOCK_STREAM:
            one.listen()
        threading.Thread(target=self._hear, args=(one, kind), daemon=True).start()
        return one

    def _hear(self, one, kind):
        with contextlib.suppress(OSError):  # it is closed at the end
            while True:
                if kind == socket.SOCK_STREAM:
                    connection, _ = one.accept()
                    connection.close()
                else:
                    one.recv(100)
                self.heard.append("a connection" if kind == socket.SOCK_STREAM else "a datagram")
