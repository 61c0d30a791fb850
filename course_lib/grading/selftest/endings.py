"""Answers that end their process, or never end: the other questions must still count.

Source: the course's own.
"""

from course_lib.grading.selftest.submission import RIGHT, answered, in_a_call, in_a_cell

SWALLOW = """\
import time

def _never():
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            pass
"""

STUBBORN = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
BLOCKED = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True:\n    pass"
SEGFAULT = "import ctypes\nctypes.string_at(0)"
STACK = "import sys\nsys.setrecursionlimit(10**9)\ndef deeper(n):\n    return deeper(n + 1) + 1\ndeeper(0)"
LATE = """\
import threading, time
def last():
    time.sleep(%s)
    %s
threading.Thread(target=last, daemon=True).start()
return x"""
WAITING = "a call that never returns is no answer; the others are right"
LATER = "one answer is wrong; what it does to its process later is no fault of the others"
DEAD = "a call that ends its process is no answer; the others are right"

SUBMISSIONS = (
    in_a_cell("sys.exit", "sys.exit(0) in a cell", "import sys\nsys.exit(0)"),
    in_a_cell("quit", "quit() in a cell", "quit()"),
    in_a_cell("interrupt", "raise KeyboardInterrupt in a cell", "raise KeyboardInterrupt"),
    in_a_cell("os._exit", "os._exit(0) in a cell", "import os\nos._exit(0)"),
    in_a_cell("abort", "os.abort() in a cell", "import os\nos.abort()"),
    in_a_cell("kill itself", "SIGKILL to its own process", "import os\nos.kill(os.getpid(), 9)"),
    in_a_cell("stop itself", "SIGSTOP to its own process", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    in_a_cell("segmentation fault", "reads address 0 through ctypes", SEGFAULT),
    in_a_cell("another program", "replaces itself by another program", "import os\nos.execv('/bin/true', ['true'])"),
    in_a_cell("closed pipes", "closes every file descriptor", "import os\nos.closerange(0, 65536)"),
    answered("ends twenty times", "ends its process in twenty cells", 0, "six such cells are the most, and the report "
             "says so", RIGHT | {f"cell {i}": f"import os\nos._exit({i})" for i in range(20)}),
    in_a_cell("endless cell", "while True in a cell", "while True:\n    pass"),
    in_a_cell("stubborn cell", "an endless loop that catches everything", STUBBORN),
    in_a_cell("sleeper", "time.sleep(1000) in a cell", "import time\ntime.sleep(1000)"),
    in_a_cell("input", "input() in a cell", "name = input('Your name? ')"),
    in_a_cell("threads", "ten threads that never end", SWALLOW + "import threading\nfor _ in range(10):\n"
              "    threading.Thread(target=_never).start()"),
    in_a_cell("at exit", "work that never ends when Python ends", SWALLOW + "import atexit\natexit.register(_never)"),
    in_a_cell("last words", "an object whose end never ends", SWALLOW + "class Last:\n    def __del__(self):\n"
              "        _never()\nlast = Last()"),
    in_a_cell("exception hook", "replaces what Python does with errors", SWALLOW + "import sys, signal\n"
              "sys.excepthook = sys.unraisablehook = lambda *a: _never()\n"
              "signal.signal(signal.SIGALRM, signal.SIG_IGN)\nraise ValueError"),
    in_a_call("sys.exit in a call", "sys.exit(0) in a call", "import sys\nsys.exit(0)", DEAD),
    in_a_call("os._exit in a call", "os._exit(0) in a call", "import os\nos._exit(0)", DEAD),
    in_a_call("segmentation fault in a call", "reads address 0 in a call", SEGFAULT, DEAD),
    in_a_call("endless call", "while True in a call", "while True:\n    pass", WAITING),
    in_a_call("stubborn call", "an endless loop that catches everything, in a call", STUBBORN, WAITING),
    in_a_call("blocked signals", "blocks all signals, then loops", BLOCKED, WAITING),
    in_a_call("long number", "a power that takes hours and hears no signal", "return 7 ** (10 ** 10)", WAITING),
    in_a_call("late end", "returns, and ends the process a little later", LATE % (0.02, "__import__('os')._exit(0)"),
              LATER),
    in_a_call("late grip", "returns, and holds the interpreter a little later", LATE % (0.02, "7 ** (10 ** 10)"),
              LATER),
    in_a_call("recursion", "calls itself without end", "return line(x)", "it never returns a value"),
    in_a_call("no stack left", "recursion without Python's limit", STACK, "it never returns a value"),
)  # fmt: skip
"""The submissions of this family."""
