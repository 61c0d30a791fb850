"""Grade many submissions at once on this machine: each in one of a few processes, whatever becomes of the process.

A pool of the standard library gives up when one of its processes dies, and cannot say whose submission it was. Here
each process has one task at a time, so the task of a dead one is known: it is tried once more, alone.

Source: the course's own.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection, resource_tracker

PATIENCE = 3600.0  # seconds for one submission, above any limit of the sandbox: the grader itself hangs


def run(tasks: Iterable, grade: Callable, jobs: int = 0, patience: float = PATIENCE) -> Iterator[tuple[object, dict]]:
    """Grade tasks in `jobs` processes (0: one a core) and yield (task, result) in the order in which they end.

    `grade(task) -> dict` must be importable. Tasks are taken from the iterable only when a process is free. A task
    whose process dies twice, or which takes longer than `patience` seconds, or for which `grade` raises, gets a result
    with status "broken". On KeyboardInterrupt the processes are ended and it is raised on. Source: the course's own.
    """
    again: list = []
    yield from _pool(iter(tasks), grade, jobs or os.cpu_count() or 1, patience, again)
    for task, reason in again:
        second: list = []
        yield from _pool(iter([task]), grade, 1, patience, second)
        for _, why in second:
            says = f"The grader's process ended twice with this submission ({reason}; then {why})"
            yield task, broken(task, f"{says}. Look at the submission, and run the command again.")


def broken(task, says: str) -> dict:
    """Return the result of a submission for which the grader itself failed. No errors. Source: the course's own."""
    return {
        **{"student": task.student, "sheet": task.sheet, "status": "broken", "says": says, "level": "", "key": ""},
        **{"versions": {}, "seconds": 0.0, "output_bytes": 0, "boxes": 0, "notes": [], "questions": []},
        **{"points": "0", "of": 0, "files": [name for name, _ in task.files], "answers": {}},
    }


def guarded(grade: Callable, task) -> dict:
    """Return grade(task); an exception becomes a result with status "broken". Source: the course's own."""
    try:
        return grade(task)
    except Exception as error:
        return broken(task, f"The grader failed ({type(error).__name__}: {str(error)[:300]}). Please report it.")


class _Worker:
    """A process, our end of its pipe, and the task it is at."""

    def __init__(self, grade, context):
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, grade), name="course-grade")
        with _held_back():
            self.process.start()
        theirs.close()  # else the end of the process would not be seen as the end of the pipe
        self.task, self.since = None, 0.0

    def give(self, task) -> None:
        self.task, self.since = task, time.monotonic()
        with contextlib.suppress(OSError):  # it died while idle; its end is seen at once
            self.pipe.send(task)

    def end(self, wait: float = 0.0) -> str:
        """End the process and say how it ended."""
        self.pipe.close()
        self.process.join(wait)
        for stop in (self.process.terminate, self.process.kill):
            if self.process.is_alive():
                stop()
                self.process.join(2)
        code = self.process.exitcode
        return f"signal {-code}" if code and code < 0 else f"exit status {code}"


@contextlib.contextmanager
def _held_back():
    """Keep Ctrl-C waiting, here and in a process that is started meanwhile, which inherits that.

    A terminal sends it to all. One that still imports what it needs would die of it with a traceback; `_work` lets it
    through when it can be answered.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # its own start would let the signal through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe, grade) -> None:
    """Grade what comes through the pipe until it is closed; also when the other side was killed."""
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with it ignored
        threading.Thread(target=_watch, daemon=True).start()
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while True:
            task = pipe.recv()
            result = guarded(grade, task)
            try:
                pipe.send(result)
            except (TypeError, ValueError, AttributeError) as error:
                pipe.send(broken(task, f"The grader's result cannot be sent ({error}). Please report it."))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending already; a second Ctrl-C has nothing to stop


def _watch() -> None:
    """End this process when the one that started it is gone: as by Ctrl-C, so that its sandbox is ended too."""
    connection.wait([multiprocessing.parent_process().sentinel])
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
    os._exit(1)


def _pool(tasks: Iterator, grade, jobs: int, patience: float, again: list):
    context = multiprocessing.get_context("spawn")  # a fork would copy whatever threads and locks we have
    workers: list[_Worker] = []
    wait = 0.0
    try:
        more = True
        while more or any(worker.task is not None for worker in workers):
            while more and (idle := _idle(workers, grade, context, jobs)):
                task = next(tasks, None)
                if task is None:
                    more = False
                else:
                    idle.give(task)
            busy = [worker for worker in workers if worker.task is not None]
            ready = connection.wait([worker.pipe for worker in busy], timeout=1.0)
            for worker in busy:
                task = worker.task
                if worker.pipe in ready:
                    try:
                        result = worker.pipe.recv()
                    except (EOFError, OSError):
                        workers.remove(worker)
                        again.append((task, worker.end(wait=2.0)))
                        continue
                    worker.task = None
                    yield task, result
                elif time.monotonic() - worker.since > patience:
                    workers.remove(worker)
                    worker.end()
                    yield task, broken(task, f"The grader had no result after {patience:.0f} s. Please report it.")
        wait = 2.0
    except KeyboardInterrupt:
        wait = 5.0  # a terminal's Ctrl-C reached them too: let them end their sandboxes
        raise
    finally:
        for worker in workers:
            try:
                worker.end(wait)
            except KeyboardInterrupt:  # pressed again: do not wait any more
                wait = 0.0
                worker.process.kill()


def _idle(workers, grade, context, jobs):
    """Return a worker without a task, a new one if there may be more; None if all are busy."""
    for worker in workers:
        if worker.task is None and worker.process.is_alive():
            return worker
    workers[:] = [worker for worker in workers if worker.task is not None or worker.process.is_alive()]
    if len(workers) < jobs:
        workers.append(_Worker(grade, context))
        return workers[-1]
    return None
