"""One try after the other, each in a process of its own with limits: `python -m tests.simt.hostile.sandbox`.

Reads a JSON line {"module", "name"} per try, and answers with a JSON line: what came out, which audit events were
seen, what the tripwires saw, and how the process ended. The process that reads has imported and compiled everything
and forks for each try, so that a try costs no second start of Numba.
"""

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import unicodedata  # noqa: F401  Python's parser loads it at the first name beyond ASCII
from pathlib import Path

import numba
import numpy as np

from course_lib import simt
from tests.simt.hostile import objects, texts, tripwire

BYTES, CPU_SECONDS = 4 * 1024**3, 240
GUARD_SECONDS = int(os.environ.get("GUARD", 300))
"""Of each try: its memory, its processor time, and the time after which nobody waits for it any longer."""

NUMBA = str(Path(numba.__file__).parent)
WATCHED = (
    "open", "exec", "import", "compile", "subprocess.Popen", "os.", "socket.", "shutil.", "ctypes.", "code.__new__",
    "builtins.input", "pty.", "webbrowser.", "urllib.", "sys.settrace", "sys.setprofile", "pickle.", "marshal.",
)  # fmt: skip
events = []


def _watch(event, arguments):
    if event in ("compile", "open") and "<unknown>" in arguments[:2]:
        return  # a text is read as a tree (to be run, exec must get it); for an error's line Python looks for a file
    if tripwire.armed and event.startswith(WATCHED) and not _numbas_own(arguments):
        events.append(f"{event} {arguments!r:.300}" if event != "exec" else f"exec {arguments[0].co_filename}")


def _numbas_own(arguments):
    """Whether Numba is compiling or looking for what it compiled before, for the executor."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith(NUMBA):
            return "canary" not in repr(arguments)
        frame = frame.f_back
    return False


def warm():
    """Run a kernel with all kinds of accesses, so that what the executor loads and compiles is there."""
    text = """
import math
from numba import cuda, float32, int32
@cuda.jit(device=True)
def f(x):
    return x + 1
@cuda.jit
def k(a, out, n):
    i = cuda.grid(1)
    s = cuda.shared.array(64, float32)
    m = cuda.local.array(4, float32)
    c = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    m[t % 4] = a[i]
    s[t] = m[t % 4]
    if t == 0:
        c[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(c, 0, 1)
    cuda.atomic.and_(n, 0, 1)
    cuda.syncthreads()
    x = cuda.shfl_sync(0xffffffff, a[i], 0)
    if cuda.any_sync(0xffffffff, x > 0):
        x += 1
    x += cuda.match_any_sync(0xffffffff, x)
    out[i] = s[63 - t] + math.sqrt(f(x)) + min(x, 1) ** 2
    a[i] = a[i] + out[(i + 1) % 64]
"""
    a, out, n = np.ones(64, np.float32), np.zeros(64, np.float32), np.zeros(4, np.uint32)
    simt.run(simt.read(text), 1, 64, (a, out, n), on_error="collect")


def _try(request, answer):
    action = {"texts": texts, "objects": objects}[request["module"]].TRIES[request["name"]]
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(_watch)
    result, begun = {"kinds": [], "message": "", "line": None}, time.process_time()
    tripwire.arm()
    try:
        action.act()
    except BaseException as error:
        tripwire.armed = False
        result |= {
            "kinds": [kind.__name__ for kind in type(error).__mro__],
            "message": str(error),
            "line": getattr(error, "line", None),
            "trace": [f"{Path(f.filename).name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)],
        }
    tripwire.armed = False
    result |= {"seconds": round(time.process_time() - begun, 3), "events": events, "executed": tripwire.executed}
    result["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    os.write(answer, json.dumps(result, default=str).encode())


def attempt(request):
    """Fork, let the child try, and return what is known about it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        status = 1
        try:
            _try(request, write)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    parts, until = [], time.monotonic() + GUARD_SECONDS
    while True:
        ready, _, _ = select.select([read], [], [], max(0.0, until - time.monotonic()))
        part = os.read(read, 65536) if ready else b""
        if not ready:
            os.kill(child, signal.SIGKILL)
        if not part:
            break
        parts.append(part)
    os.close(read)
    _, status = os.waitpid(child, 0)
    result = json.loads(b"".join(parts)) if parts else {}
    return {**result, "status": status}


def main():
    """Answer requests until there are no more."""
    warm()
    for line in sys.stdin:
        print(json.dumps(attempt(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
