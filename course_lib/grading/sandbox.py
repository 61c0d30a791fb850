"""A box: one process that runs a student's code at a level of isolation, and the host's end of its pipes.

What comes from a box is read strictly: one line of JSON for each request, with the request's own number, of limited
size and in limited time. Anything else ends the box.

Source: the course's own.
"""

import contextlib
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import threading
import time

from course_lib.box.worker import LATE
from course_lib.grading.cgroup import Cgroup, NoCgroup
from course_lib.grading.ending import end_container, end_marked, end_namespace
from course_lib.grading.launch import engine, launch
from course_lib.grading.replies import BROKEN, BoxEnded, read_reply

CHUNK = 1 << 16
ENDED_LATE = (LATE, -signal.SIGXCPU, 128 + signal.SIGXCPU)
"""Statuses of a worker whose cell went on after its time; the last one is what a shell and bubblewrap make of it."""

START = 60.0
"""Seconds for a worker to start: it imports NumPy, on a machine that may be busy."""


class NoBox(Exception):
    """A box cannot be started at this level; the message says why. Source: the course's own."""


class Box:
    """A worker at a level, "A", "B", "C" or "D"; it does not see the folders in `hidden`, wherever they are.

    Attributes
    ----------
    output : bytes
        The beginning of what was printed, as much as `limits.output`.
    output_bytes : int
        How much was printed in all.

    NoBox if it cannot be started. Source: the course's own.
    """

    def __init__(self, level, limits, hidden=()):
        self.level, self.limits, self.name = level, limits, f"course-box-{secrets.token_hex(6)}"
        self.output, self.output_bytes = b"", 0
        self._buffer, self._gone, self._cgroup, self._oom_kills = b"", None, None, 0
        self._closing = threading.Lock()
        try:
            self._cgroup = Cgroup(limits) if level == "A" else None
            launched = launch(level, limits, self.name, self._cgroup.doors if self._cgroup else (), hidden)
        except (OSError, LookupError, NoCgroup) as error:
            if self._cgroup:
                self._cgroup.close()
            raise NoBox(f"{error}") from error
        self.process, self._first, self._folder = launched.process, launched.first, launched.folder
        os.set_blocking(self.process.stdin.fileno(), False)
        self._drain = threading.Thread(target=self._keep_output, daemon=True)
        self._drain.start()
        try:
            self.ask({"do": "start"}, START)
        except BoxEnded as error:
            self.close()
            lines = self.output.decode("utf-8", "replace").strip().splitlines() or [str(error)]
            said = lines[-1 if lines[0].startswith("Traceback") else 0]  # a traceback ends with the reason
            raise NoBox(f"its process did not start: {said[:200]}") from error

    def ask(self, request, seconds):
        """Return the reply to a request, a dict with the fields of `replies.FIELDS`.

        Parameters
        ----------
        request : dict
            "do", and what `worker` needs for it.
        seconds : float
            The soft limit.

        BoxEnded if none came as it should. Source: the course's own.
        """
        nonce, wall = secrets.token_hex(8), seconds * self.limits.patience
        hard = wall + 2 * self.limits.grace  # the box itself ends a call `grace` seconds after `wall`
        end = time.monotonic() + hard
        if self._gone is not None:
            raise BoxEnded("ProcessEnded: it is closed")
        if not self.is_quiet():
            raise BoxEnded(self._why() if not self._buffer and not self._read() else BROKEN)
        text = json.dumps({**request, "nonce": nonce, "soft": seconds, "wall": wall}).encode() + b"\n"
        while text or b"\n" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0:
                raise BoxEnded(f"TimeoutError: it went on after its {seconds:g} s and was ended")
            wanted = [self.process.stdin] if text else []
            readable, writable, _ = select.select([self.process.stdout], wanted, [], left)
            if writable:
                text = text[self._wrote(text) :]
            if readable and not self._read():
                raise BoxEnded(self._why(seconds))
            if len(self._buffer) > self.limits.reply + 1024:
                raise BoxEnded(f"ValueError: its reply has more than {self.limits.reply} bytes")
        line, _, self._buffer = self._buffer.partition(b"\n")
        reply = read_reply(line, nonce)
        if reply["error"].startswith("ProcessEnded") and self._out_of_memory():
            reply["error"] = self._memory_error()
        return reply

    def is_quiet(self):
        """Return whether nothing came that was not asked for, not even an end. No errors. Source: the course's own."""
        return self._gone is None and not self._buffer and not select.select([self.process.stdout], [], [], 0)[0]

    def in_cgroup(self):
        """Return whether the box's first process is in its control group. No errors. Source: the course's own."""
        return self._cgroup is not None and self.process.pid in self._cgroup.processes()

    def _read(self):
        """Take in what the worker wrote; return whether its end of the pipe is still open."""
        data = os.read(self.process.stdout.fileno(), CHUNK)
        self._buffer += data
        return bool(data)

    def _wrote(self, text):
        try:
            return os.write(self.process.stdin.fileno(), text[:CHUNK])
        except BlockingIOError:
            return 0
        except OSError:
            raise BoxEnded(self._why()) from None

    def _out_of_memory(self):
        """Return whether a process of the box was killed for memory since this was last asked."""
        before, self._oom_kills = self._oom_kills, self._cgroup.oom_kills() if self._cgroup else 0
        return self._oom_kills > before

    def _memory_error(self):
        return f"MemoryError: it used more than {self.limits.memory >> 20} MiB of memory"

    def _why(self, seconds=0):
        """Return why the worker's end of the pipe is closed."""
        if self._out_of_memory():
            return self._memory_error()
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self.process.wait(1.0)
            if seconds and code in ENDED_LATE:
                return f"TimeoutError: it went on after its {seconds:g} s and was ended"
            return f"ProcessEnded: its process ended with status {code}"
        return "ProcessEnded: its process closed the pipe"

    def _keep_output(self):
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self.process.stderr.fileno(), CHUNK):
                self.output_bytes += len(data)
                self.output += data[: max(0, self.limits.output - len(self.output))]

    def close(self, seconds=10.0):
        """End all processes of the box; return whether all of them are gone. No errors.

        Source: the course's own.
        """
        with self._closing:
            if self._gone is None:
                self._gone = self._ended(seconds)
            return self._gone

    def _ended(self, seconds):
        gone = end_namespace(self._first, seconds) if self._first is not None else True
        if self.level == "C":
            gone = end_container(engine(), self.name, seconds)
        elif self.level == "D":
            gone = end_marked(self.process.pid, f"COURSE_BOX={self.name}", seconds)
        try:
            self.process.wait(1.0 if self._first is not None else 0)
        except subprocess.TimeoutExpired:
            self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        if self._cgroup:
            gone = self._cgroup.close(seconds) and gone
        self._drain.join(2.0)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                pipe.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        return gone and self.process.returncode is not None
