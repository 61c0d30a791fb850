"""Runs inside the box: executes the cells of a notebook, calls its functions, and replies with typed JSON.

A student's code shares this process, so what comes from here are claims: the host compares the values. Requests come
on standard input and replies go to standard output, which are moved away before any cell runs; what cells print goes
to standard error.

Source: the course's own.
"""

import base64
import json
import math
import os
import resource
import signal
import sys
import time
import types
import warnings

LATE = 124
"""The exit status of a process that went on after its time."""

LEAST_SHARE = 0.05
"""Of a processor, that an answer gets on a busy machine; one that uses less sleeps."""


class TimeUp(BaseException):
    """The soft limit: no `except Exception` catches it. Source: the course's own."""


def main():
    """Serve one notebook: a line of settings, then a line for each request. Source: the course's own."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    settings = json.loads(sys.argv[1])
    sys.argv[:] = ["notebook"]
    sys.path[:] = settings["path"] or ["/course", *sys.path]
    sys.pycache_prefix = settings["bytecode"]
    for name, most in settings["rlimits"].items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))
    notebook = types.ModuleType("__main__")
    sys.modules["__main__"] = notebook
    warnings.simplefilter("ignore")
    box = _Box(notebook, settings, (requests.fileno(), replies))
    sys.path.insert(0, "")  # as in a notebook: files beside it are found
    own = os.getpid()
    for line in requests:
        reply = box.reply(json.loads(line))
        if os.getpid() != own:
            os._exit(0)  # a copy of this process, made by a cell: it must not answer too
        _write(replies, reply)


def _write(file, data):
    while data:
        data = data[os.write(file, data) :]


class _Clock:
    """Ends what takes too long: at first by `TimeUp`, and `grace` seconds later with the process.

    The processor's time counts. On the clock an answer may take longer, while it gets its share of a busy machine; one
    that sleeps gets no more than its seconds. After `TimeUp` the same holds of the grace: where others use the
    processor, the answer may need a while on the clock until it has ended.
    """

    def __init__(self, grace):
        self.grace, self.fired = grace, None
        self.soft = self.wall = 0.0
        self.began = _times()
        signal.signal(signal.SIGALRM, self._alarm)
        signal.signal(signal.SIGPROF, self._over)

    def start(self, soft, wall):
        """Let `soft` seconds of the processor, and at most `wall` on the clock, pass from now on."""
        self.fired, self.soft, self.wall, self.began = None, soft, wall, _times()
        most = math.ceil(self.began[0] + soft + self.grace) + 1  # then the kernel ends what hears no signal
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        self._ring(soft, soft, min(soft, self.grace))

    def stop(self):
        """Let time pass."""
        self._ring(0, 0, 0)

    def _ring(self, processor, clock, again):
        signal.setitimer(signal.ITIMER_PROF, processor, self.grace)
        signal.setitimer(signal.ITIMER_REAL, clock, again)

    def _alarm(self, number, frame):
        used, passed = self._since(self.began)
        if self.fired or passed >= self.wall or used < LEAST_SHARE * passed:
            self._over(number, frame)

    def _over(self, number, frame):
        patient = self.grace * self.wall / self.soft  # the grace, on the clock
        if self.fired is None:
            self.fired = _times()
            self._ring(self.grace, patient, patient)
            raise TimeUp
        used, passed = self._since(self.fired)
        if used >= self.grace / 2 or passed >= patient / 2:  # less: a signal that was on its way beside the first one
            os._exit(LATE)

    @staticmethod
    def _since(then):
        return tuple(now - before for now, before in zip(_times(), then, strict=True))


def _times():
    """Seconds of the processor, and on the clock."""
    return time.process_time(), time.monotonic()


def _failed(text):
    return {"value": None, "error": text, "changed": []}


class _Box:
    """The notebook, and how it answers requests."""

    def __init__(self, notebook, settings, files):
        # Before any cell: NumPy takes most of a small sheet's time.
        from course_lib.box.snapshots import Snapshots
        from course_lib.checks import calling, moments, notebook_cells, values

        self.settings, self.calling, self.values, self.moments = settings, calling, values, moments
        self.clock = _Clock(settings["grace"])
        self.cells = notebook_cells.NotebookCells(notebook)
        self.snapshots, self.watch, self.answers = Snapshots(self._serve, files, LATE), None, {}

    def reply(self, request):
        """Return the line that answers a request."""
        began = time.process_time()
        try:
            reply = self._done(request)
        except TimeUp:  # it came late
            reply = _failed(_over(request))
        reply = {"seconds": time.process_time() - began, "notes": [], **reply, "nonce": request["nonce"]}
        return self._line(reply)

    def _line(self, reply):
        text = json.dumps(reply).encode()
        if len(text) >= self.settings["reply"]:
            error = f"ValueError: the returned value has more than {self.settings['reply']} bytes"
            text = json.dumps({**reply, "value": None, "error": error}).encode()
        return text + b"\n"

    def _done(self, request):
        do = request["do"]
        if do == "files":
            return self._limited(request, lambda: _put(request["files"]))
        if do == "watch":
            self.watch = self.moments.Moments(request["answers"], self.cells.names, self._take)
            self.watch.install()
        elif do == "cell":
            done = len(self.cells.notes)
            reply = self._limited(request, lambda: self._cell(request))
            return {**reply, "notes": [note[:300] for note in self.cells.notes[done:][:20]]}
        elif do == "moments":
            there = [at for at in self.moments.MOMENTS if (request["id"], at) in self.answers]
            return {**_failed(""), "changed": there}
        elif do == "call":
            return self._call(request)
        return _failed("")

    def _take(self, id, moment, answer):
        self.answers[id, moment] = answer
        self.snapshots.take((id, moment), answer)

    def _cell(self, request):
        try:
            self.cells.run(request["source"], request["name"])
        finally:
            if self.watch:
                self.watch.after_cell(request.get("later", ()))
        return _failed("")

    def _call(self, request):
        """Call an answer in its snapshot, or, where there is none or it needs threads, in this process."""
        key, function = (request.get("id"), request.get("at")), request["function"]
        if key not in self.answers:
            if function not in self.cells.names:
                return _failed(f"NameError: name {function!r} is not defined")
            answer = self.cells.names[function]
            if "id" not in request:
                return self._limited(request, lambda: self._called(answer, request["args"]))
            self._take(*key, answer)
        if key in self.snapshots:
            reply = self._asked(key, request)
            if not reply["error"] or not self.snapshots.has_threads[key]:
                return reply
        return self._limited(request, lambda: self._called(self.answers[key], request["args"]))

    def _asked(self, key, request):
        from course_lib.box.snapshots import RunnerEnded

        try:
            return self.snapshots.ask(key, request, request["wall"] + self.settings["grace"])
        except RunnerEnded as ended:
            return _failed(str(ended))

    def _called(self, answer, arguments):
        value, error, changed = self.calling.call_answer(answer, [self.values.decode(a) for a in arguments])
        return {"value": value, "error": error, "changed": list(changed)}

    def _serve(self, connection, answer):
        """Answer calls in a runner, until the other end is closed."""
        own = os.getpid()
        with connection.makefile("rb") as requests:
            for line in requests:
                request, began = json.loads(line), time.process_time()
                reply = self._limited(request, lambda: self._called(answer, request["args"]))  # noqa: B023 (called now)
                if os.getpid() != own:
                    os._exit(0)
                reply = {**reply, "seconds": time.process_time() - began, "notes": [], "nonce": request["nonce"]}
                connection.sendall(self._line(reply))

    def _limited(self, request, work):
        """Return what `work` does, or an error: every exception of an answer becomes one, also one that comes late."""
        try:
            try:
                self.clock.start(request["soft"], request["wall"])
                return work()
            finally:
                self.clock.stop()
        except TimeUp:
            return _failed(_over(request))
        except BaseException as error:
            return _failed(self.calling.error_text(error))


def _over(request):
    return f"TimeoutError: it ran longer than {request['limit']:g} s"


def _put(files):
    """Write the files that were handed in beside the notebook where it runs."""
    for name, content in files:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(base64.b64decode(content))
    return _failed("")


if __name__ == "__main__":
    main()
