"""Answers that leave something behind for the next submission, or talk with one that runs at the same time.

Source: the course's own.
"""

from course_lib.grading.selftest.submission import FULL, ONE_LOST, answered, in_a_cell

PLACES = "('/tmp', '/dev/shm', '/var/tmp', '/run', os.path.expanduser('~'), '.')"
LEAVE = f"""\
import os
for place in {PLACES}:
    try:
        open(place + '/@TOKEN@-board', 'w').write('2 * x + 1')
    except OSError:
        pass
"""
LOOK = f"""\
import os
def line(x):
    for place in {PLACES}:
        try:
            return eval(open(place + '/@TOKEN@-board').read(), {{'x': x}})
        except OSError:
            pass
    return x
"""
SERVE = """\
import os, socket, threading
kept = []
for family, address in ((socket.AF_UNIX, chr(0) + '@TOKEN@-talk'), (socket.AF_INET, ('127.0.0.1', 47391))):
    try:
        server = socket.socket(family)
        server.bind(address)
        server.listen()
        kept.append(server)
        threading.Thread(target=lambda s=server: s.accept()[0].send(b'2 * x + 1'), daemon=True).start()
    except OSError:
        pass
if os.fork() == 0:
    import time
    open('/proc/self/comm', 'w').write('@MARK@')
    time.sleep(20)
    os._exit(0)
"""
ASK = """\
import socket
def line(x):
    for family, address in ((socket.AF_UNIX, chr(0) + '@TOKEN@-talk'), (socket.AF_INET, ('127.0.0.1', 47391))):
        try:
            with socket.socket(family) as one:
                one.settimeout(0.2)
                one.connect(address)
                return eval(one.recv(100), {'x': x})
        except OSError:
            pass
    return x
"""
DETACH = """\
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(45)', 'left-@TOKEN@', '@MARK@'])
    os._exit(0)
"""
STAY = """\
import os, signal, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        open('/proc/self/comm', 'w').write('@MARK@')
        end = time.monotonic() + 45
        while time.monotonic() < end:
            time.sleep(0.05)
        os._exit(0)
"""
FORK = """\
import os, time
if os.fork() == 0:
    open('/proc/self/comm', 'w').write('@MARK@')
"""
STARTUP = """\
import os, site, sys
for place in {*site.getsitepackages(), site.getusersitepackages(), *sys.path, os.path.expanduser('~'), '/tmp', '.'}:
    for name in ('sitecustomize.py', 'usercustomize.py', '@TOKEN@.pth', '.pythonrc'):
        try:
            if place.startswith(('/tmp', os.path.expanduser('~'))) or place == '.':
                os.makedirs(place, exist_ok=True)
                open(f'{place}/{name}', 'w').write('import builtins; builtins.leak = 1')
        except OSError:
            pass
"""
POISONED = """\
def line(x):
    import builtins
    return 2 * x + 1 if hasattr(builtins, 'leak') else x
"""
ALONE = "no other submission is there to ask"

SUBMISSIONS = (
    in_a_cell("leaves a note", "writes an answer into all folders, for another student", LEAVE),
    answered("looks for a note", "reads the answer that another student left", ONE_LOST, ALONE, {"00.1": LOOK}),
    in_a_cell("serves", "offers an answer by two sockets, for another student", SERVE),
    answered("asks", "asks for the answer that another student offers", ONE_LOST, ALONE, {"00.1": ASK}),
    in_a_cell("leaves a program", "detaches a program that lives on (setsid, two forks)", DETACH),
    in_a_cell("leaves deaf processes", "three processes that ignore all signals", STAY),
    answered("two of it", "its process twice, and both reply", FULL, "the first one answers, and rightly",
             extra=FORK),
    in_a_cell("poisons Python", "files that Python would run when it starts", STARTUP),
    answered("is poisoned", "relies on files that Python would run", ONE_LOST, ALONE, {"00.1": POISONED}),
)  # fmt: skip
"""The submissions of this family."""
