"""Answers that want all memory, processes, disk or output: bounded here by themselves, and by the box before that.

Source: the course's own.
"""

from course_lib.grading.selftest.submission import in_a_call, in_a_cell

MEMORY = "eaten = []\nfor _ in range(48):\n    eaten.append(bytes([1]) * (64 << 20))"
BOMB = """\
import os, time
parent = os.getpid()
end = time.monotonic() + 20
for _ in range(7):
    try:
        os.fork()
    except OSError:
        pass
if os.getpid() != parent:
    open('/proc/self/comm', 'w').write('@MARK@')
    while time.monotonic() < end:
        time.sleep(0.1)
    os._exit(0)
"""
DISK = """\
import os, tempfile
for folder in ('.', tempfile.gettempdir(), os.path.expanduser('~'), '/dev/shm'):
    try:
        for number in range(6):
            with open(f'{folder}/@TOKEN@-{number}', 'wb') as file:
                for _ in range(16):
                    file.write(bytes(1 << 20))
    except OSError:
        pass
"""
FILES = """\
import tempfile
folder = tempfile.mkdtemp()
for number in range(30_000):
    open(f'{folder}/@TOKEN@-{number}', 'w').close()
"""
DESCRIPTORS = "kept = []\nfor _ in range(100_000):\n    kept.append(open('/dev/null'))"
THREADS = "import threading, time\nfor _ in range(2000):\n    threading.Thread(target=time.sleep, args=(20,)).start()"
CHILDREN = """\
import os, time
for _ in range(6):
    if os.fork() == 0:
        open('/proc/self/comm', 'w').write('@MARK@')
        try:
            eaten = [bytes([1]) * (32 << 20) for _ in range(8)]
        finally:
            end = time.monotonic() + 20
            while time.monotonic() < end:
                time.sleep(0.05)
            os._exit(0)
"""
UNNAMED = """\
import os
held = []
for _ in range(16):
    fd = os.memfd_create('@TOKEN@')
    held.append(fd)
    for _ in range(16):
        os.write(fd, bytes(1 << 20))
"""
SHARED = """\
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
for number in range(8):
    segment = libc.shmget(@KEY@ + number, 16 << 20, 0o1600)
    if segment >= 0 and (at := libc.shmat(segment, None, 0)) not in (None, 2**64 - 1):
        ctypes.memset(at, 1, 16 << 20)
"""
TOO_MUCH = "it is too much for one question, and no right answer"

SUBMISSIONS = (
    in_a_cell("memory", "3 GB of memory in a cell", MEMORY),
    in_a_cell("memory of children", "1.5 GB by six processes", CHILDREN),
    in_a_cell("memory without a name", "256 MB in memfd", UNNAMED),
    in_a_cell("shared memory", "128 MB of System V shared memory, left behind", SHARED),
    in_a_cell("fork bomb", "128 processes", BOMB),
    in_a_cell("thread bomb", "2,000 threads", THREADS),
    in_a_cell("disk", "400 MB of files in all folders that it may write to", DISK),
    in_a_cell("many files", "30,000 files", FILES),
    in_a_cell("descriptors", "100,000 open files", DESCRIPTORS),
    in_a_cell("50 MB of output", "prints 50 MB", "for _ in range(50):\n    print('x' * (1 << 20))"),
    in_a_cell("50 MB of errors", "writes 50 MB to stderr", "import sys\nsys.stderr.write('x' * (50 << 20))"),
    in_a_cell("long error", "an error with 50 MB of text", "raise RuntimeError('x' * (50 << 20))"),
    in_a_call("memory in a call", "3 GB of memory in a call", MEMORY, TOO_MUCH),
    in_a_call("50 MB reply", "returns an array of 50 MB", "import numpy as np\nreturn np.zeros(50 << 17)", TOO_MUCH),
    in_a_call("50 MB text", "returns a text of 50 MB", "return 'x' * (50 << 20)", TOO_MUCH),
    in_a_call("ten million things", "returns a list of 10,000,000", "return [0] * 10_000_000", TOO_MUCH),
    in_a_call("nested list", "returns lists in lists, 100,000 deep",
              "y = []\nfor _ in range(100_000):\n    y = [y]\nreturn y", TOO_MUCH),
    in_a_call("list of itself", "returns a list that holds itself", "y = []\ny.append(y)\nreturn y", TOO_MUCH),
    in_a_call("endless printing", "prints without end", "while True:\n    print('x' * 10_000)", TOO_MUCH),
    in_a_call("million digits", "returns a whole number of a million digits", "return 1 << 3_400_000", TOO_MUCH),
)  # fmt: skip
"""The submissions of this family."""
