"""Copies of the notebook's process, each as it was when an answer was taken: there the answer is called.

A copy (fork) costs a few milliseconds and has all that the answer could use: names, modules, generators, files. It
stays as it is. Who calls is a copy of it, the runner; where a call does not end, only its runner is killed, and the
next call gets a new one, so that an endless answer costs its own question and nothing else.

Source: the course's own; fork(2), unix(7), getrlimit(2).
"""

import contextlib
import gc
import json
import os
import queue
import select
import signal
import socket
import sys
import threading
import time
import warnings

PATIENCE = 5.0
"""Seconds in which a snapshot starts a runner, or says how one ended, also on a busy machine."""

GONE = "ProcessEnded: the process that kept the answer is gone"


class RunnerEnded(Exception):
    """A runner is gone; the message says how, as an error does. Source: the course's own."""


class Snapshots:
    """The snapshots of a notebook, by key.

    Parameters
    ----------
    serve : callable
        serve(connection, answer) answers requests, a line each, until there are no more; called in a runner.
    files : sequence of int
        File descriptors of this process that no snapshot may keep.
    late : int
        The exit status of a runner that went on after its time.

    Attributes
    ----------
    has_threads : dict of {key: bool}
        Whether threads were at work when a snapshot was taken, which it has not: an answer that needs them does not
        end there.

    Source: the course's own.
    """

    def __init__(self, serve, files, late):
        self._serve, self._files, self._late, self._kept, self.has_threads = serve, files, late, {}, {}

    def __contains__(self, key):
        return key in self._kept

    def take(self, key, answer):
        """Keep this process as it is now under a key, in the place of what was there.

        Nothing is kept where there may be no more processes. Threads are at work in this process only, see
        `has_threads`. No errors. Source: fork(2).
        """
        if old := self._kept.pop(key, None):
            old.end()
        threads = threading.active_count() > 1
        ours, theirs = socket.socketpair()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python 3.12 warns of threads, and a notebook may make errors of it
                number = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            return
        if number:
            self.has_threads[key] = threads
            theirs.close()
            self._kept[key] = _Kept(ours, number, self._late)
            return
        try:
            ours.close()
            for other in self._kept.values():
                other.forget()
            for file in self._files:
                os.close(file)
            if threads:
                _executors_anew()
            self._keep(theirs, answer)
        finally:
            os._exit(0)

    def ask(self, key, request, seconds):
        """Return a runner's reply, a dict; RunnerEnded if it has none within so many seconds.

        Source: the course's own.
        """
        return self._kept[key].ask(request, seconds)

    def _keep(self, control, answer):
        """Start a runner whenever one is asked for, and say how each ended; this process itself does nothing else."""
        while control.recv(1):
            ours, theirs = socket.socketpair()
            number = os.fork()
            if not number:
                control.close()
                ours.close()
                self._serve(theirs, answer)
                os._exit(0)
            theirs.close()
            socket.send_fds(control, [b"%d\n" % number], [ours.fileno()])
            ours.close()
            _, status = os.waitpid(number, 0)
            control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _executors_anew():
    """Let the executors of this copy start their threads again: they count on those of the process that was copied."""
    pools = sys.modules.get("concurrent.futures.thread")
    for pool in gc.get_objects() if pools else ():
        if type(pool) is pools.ThreadPoolExecutor and not pool._shutdown:
            pool._threads, pool._idle_semaphore, pool._work_queue = set(), threading.Semaphore(0), queue.SimpleQueue()


class _Kept:
    """Our end of a snapshot, and of its runner if there is one."""

    def __init__(self, control, number, late):
        self.control, self.number, self.late = control, number, late
        self.runner, self.pipe, self._buffer = 0, None, b""
        control.settimeout(PATIENCE)  # an answer may stop the process that keeps it

    def ask(self, request, seconds):
        self._start()
        end = time.monotonic() + seconds
        try:
            self.pipe.sendall(json.dumps(request).encode() + b"\n")
        except OSError:
            raise self._ended(request) from None
        while b"\n" not in self._buffer:
            left = end - time.monotonic()
            ready = select.select([self.pipe, self.control], [], [], max(0.0, left))[0]
            if self.pipe in ready and (data := self.pipe.recv(1 << 16)):
                self._buffer += data
            elif ready:
                raise self._ended(request)
            elif left <= 0:
                self._ended()
                raise RunnerEnded(f"TimeoutError: it went on after its {request['limit']:g} s and was ended")
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError):
            reply = None
        if type(reply) is not dict or reply.get("nonce") != request["nonce"]:
            self._ended()
            raise RunnerEnded("ProtocolError: the answer's process broke the protocol")
        return reply

    def _start(self):
        if self.pipe and (self._buffer or select.select([self.pipe, self.control], [], [], 0)[0]):
            self._ended()  # what an earlier call left behind is not this one's fault
        if self.pipe:
            return
        try:
            self.control.sendall(b"?")
            text, files, _, _ = socket.recv_fds(self.control, 32, 1)
            self.runner, self.pipe = int(text), socket.socket(fileno=files[0])
        except (OSError, ValueError, IndexError):
            raise RunnerEnded(self._gone()) from None

    def _gone(self):
        """End the snapshot, which does not answer as it should, and return the error for it."""
        self.control.close()
        with contextlib.suppress(OSError):
            os.kill(self.number, signal.SIGKILL)
        return GONE

    def _ended(self, request=None):
        """End the runner, if it is still there, and return the error that says how it ended."""
        with contextlib.suppress(OSError):
            os.kill(self.runner, signal.SIGKILL)
        self.pipe.close()
        self.pipe, self._buffer = None, b""
        text = b""
        with contextlib.suppress(OSError):
            text = self.control.recv(32)
        if not text:
            return RunnerEnded(self._gone())
        code = text.strip().decode("ascii", "replace")
        if request and code in (str(-signal.SIGXCPU), str(self.late)):
            return RunnerEnded(f"TimeoutError: it went on after its {request['limit']:g} s and was ended")
        return RunnerEnded(f"ProcessEnded: its process ended with status {code}")

    def end(self):
        """End the snapshot, and its runner with it. No errors."""
        for number in filter(None, (self.runner if self.pipe else 0, self.number)):
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.number, 0)
        self.forget()

    def forget(self):
        """Close our end without ending it. No errors."""
        for pipe in filter(None, (self.pipe, self.control)):
            with contextlib.suppress(OSError):
                pipe.close()
