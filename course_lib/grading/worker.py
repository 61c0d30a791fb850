"""Runs inside the box: executes the cells of a notebook, calls its functions, and replies with typed JSON.

A student's code shares this process, so what comes from here are claims: the host compares the values. Requests come
on standard input and replies go to standard output, which are moved away before any cell runs; what cells print goes
to standard error.

Source: the course's own.
"""

import ast
import json
import linecache
import os
import re
import resource
import signal
import sys
import time
import types
import warnings


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
    notebook.display = print
    sys.modules["__main__"] = notebook
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _time_is_up)
    from course_lib.checks import calling, values  # before any cell: NumPy takes most of a small sheet's time

    own = os.getpid()
    for line in requests:
        request = json.loads(line)
        started = time.perf_counter()
        reply = _timed(request, vars(notebook), calling, values)
        reply |= {"nonce": request["nonce"], "seconds": time.perf_counter() - started}
        text = json.dumps(reply).encode()
        if len(text) >= settings["reply"]:
            reply |= {"value": None, "error": f"ValueError: the returned value has more than {settings['reply']} bytes"}
            text = json.dumps(reply).encode()
        if os.getpid() != own:
            os._exit(0)  # a copy of this process, made by a cell: it must not answer too
        _write(replies, text + b"\n")


def _write(file, data):
    while data:
        data = data[os.write(file, data) :]


def _time_is_up(number, frame):
    raise TimeUp


def _timed(request, names, calling, values):
    """Do what a request asks; every exception of the answer becomes an error, also one that comes late."""
    try:
        signal.setitimer(signal.ITIMER_REAL, request["soft"])
        try:
            if request["do"] == "cell":
                _cell(request, names)
            elif request["do"] == "call":
                return _call(request, names, calling, values)
            return _failed("")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TimeUp:
        return _failed(f"TimeoutError: it ran longer than {request['limit']:g} s")
    except BaseException as error:
        return _failed(calling.error_text(error))


def _failed(text):
    return {"value": None, "error": text, "changed": []}


def _cell(request, names):
    source, name = request["source"], f"<{request['name']}>"
    try:
        tree = ast.parse(source, name)
    except SyntaxError:
        source = without_magics(source)
        tree = ast.parse(source, name)
    lines = [f"{line}\n" for line in source.split("\n")]
    linecache.cache[name] = (len(source), None, lines, name)  # as kernels read their text
    exec(compile(tree, name, "exec", dont_inherit=True), names)


def _call(request, names, calling, values):
    if request["function"] not in names:
        return _failed(f"NameError: name {request['function']!r} is not defined")
    value, error, changed = calling.call_answer(names[request["function"]], [values.decode(a) for a in request["args"]])
    return {"value": value, "error": error, "changed": list(changed)}


def without_magics(source):
    """Return a cell without IPython's own lines: %magic, !command, name?; a cell of %%another language is empty.

    No errors. Source: the course's own; IPython's input transformer takes longer to import than a sheet to grade.
    """
    first, _, rest = source.lstrip("\n").partition("\n")
    if first.startswith("%%"):
        blank = "\n" * (source[: len(source) - len(rest)].count("\n"))  # so that line numbers stay
        return blank + rest if re.match(r"%%(time|timeit|capture|prun)\b", first) else ""
    return "\n".join(line if _MAGIC.isdisjoint(line) else _without_magic(line) for line in source.split("\n"))


_MAGIC = frozenset("%!?")


def _without_magic(line):
    line = re.sub(r"^(\s*)(?:[%!]|\?+\w|[\w.]+\?+\s*$).*", r"\1pass", line)
    return re.sub(r"^(\s*\w[\w, ]*=\s*)[%!].*", r"\1None", line)


if __name__ == "__main__":
    main()
