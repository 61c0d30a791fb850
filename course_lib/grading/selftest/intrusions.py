"""Answers that look for what is none of theirs: files, secrets, the network. They tell when they find it.

Source: the course's own.
"""

from course_lib.grading.selftest.submission import intrusion

READ = """\
import glob, os
for pattern in (%s):
    for name in glob.glob(pattern):
        try:
            found += open(name, errors='replace').read(400)
        except OSError:
            pass"""


def _reads(*patterns):
    return READ % "".join(f"{p!r}, " for p in patterns)


SEARCH = """\
import os, time
end = time.monotonic() + 0.7
for top in ('/tmp', '/var/tmp', '/home', '/root', '/mnt', '/run', '/dev', '/etc', '/opt', '/srv', '/'):
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if f not in ('proc', 'sys', 'usr', 'lib')]
        for name in [*folders, *files]:
            if '@TOKEN@' in name:
                found += f'{folder}/{name} '
        if time.monotonic() > end:
            break"""
ENVIRONMENT = """\
import glob, os
texts = [str(dict(os.environ))]
for name in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):
    try:
        texts.append(open(name, errors='replace').read())
    except OSError:
        pass
for text in texts:
    if 'secret-' in text:
        found += text[text.index('secret-'):][:60]"""
DESCRIPTORS = """\
import os
for fd in sorted(map(int, os.listdir('/proc/self/fd'))):
    try:
        goal = os.readlink(f'/proc/self/fd/{fd}')
        if goal.startswith('/') and not goal.startswith(('/dev/null', '/proc')):
            found += goal + ' '
        if os.path.isdir(f'/proc/self/fd/{fd}') and not goal.startswith('/proc'):
            found += str(os.listdir(fd))
    except OSError:
        pass"""
WRITE = """\
import os
folders = ['@OUTSIDE@', '@SECRETS@', '@SECRETS@/keys', '@SECRETS@/classmate']
for folder in folders:
    try:
        open(folder + '/@TOKEN@-written', 'w').close()
        found += folder
    except OSError:
        pass
    try:
        os.symlink('@SECRETS@', folder + '/@TOKEN@-link')
        found += folder
    except OSError:
        pass"""
WRITABLE = """\
import os, sys, course_lib, numpy
for path in (*course_lib.__path__, course_lib.__file__, *numpy.__path__, sys.prefix, *sys.path, '/usr/lib',
             '/proc/sys/kernel', '/proc/sysrq-trigger',
             '/sys', '/sys/fs/cgroup', '/etc', '/', '/dev', '/run', '/var', '/usr/local/lib'):
    if os.access(path, os.W_OK):
        found += path + ' '"""
DEVICES = """\
import glob, os
allowed = 'null zero full random urandom tty ptmx stdin stdout stderr fd core shm pts console mqueue'.split()
found = ' '.join(sorted({os.path.basename(p) for p in glob.glob('/dev/*')} - set(allowed)))
try:
    os.close(os.open('/dev/tty', os.O_RDWR | os.O_NOCTTY))
    found += ' a terminal'
except OSError:
    pass"""
CONNECT = """\
import socket
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', @PORT@)),
    (socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', @PORT@)),
    (socket.AF_UNIX, socket.SOCK_STREAM, chr(0) + '@TOKEN@'),
    (socket.AF_UNIX, socket.SOCK_STREAM, '@OUTSIDE@/socket'),
):
    try:
        with socket.socket(family, kind) as one:
            one.settimeout(0.3)
            one.connect(address)
            one.send(b'@TOKEN@')
            if kind == socket.SOCK_STREAM:
                found += str(address)
    except OSError:
        pass"""
INTERFACES = """\
import socket
names = [name for _, name in socket.if_nameindex()]
found = ' '.join(name for name in names if name != 'lo' and not name.startswith(('tunl', 'sit', 'gre', 'ip', 'erspan')))
try:
    found += str(socket.getaddrinfo('course-selftest.invalid', 80))
except OSError:
    pass"""
GRADER = """\
import glob, importlib, os, sys
for name in ('grading.keys', 'grading.host', 'grading.selftest.sheet', 'grading.worker', 'checks.exercises.lesson01'):
    name = 'course_lib.' + name
    try:
        module = importlib.import_module(name)
        found += f'{name} {getattr(module, "__file__", "")} ' if getattr(module, '__file__', None) else ''
    except ImportError:
        pass
for folder in {os.path.dirname(p) for p in sys.path if p} | set(sys.path):
    found += ' '.join(glob.glob(folder + '/solutions/*') + glob.glob(folder + '/course_lib/grading/*')
                      + glob.glob(folder + '/tests/grading/*'))"""

SUBMISSIONS = (
    intrusion("reads a secret", "a file of which it knows the path", _reads("@SECRETS@/*", "@SECRETS@/*/*")),
    intrusion("reads the key", "the folder of the keys", _reads("@SECRETS@/keys/*")),
    intrusion("reads a classmate", "the folder of another student", _reads("@SECRETS@/classmate/*")),
    intrusion("reads passwords", "/etc/passwd, /etc/shadow and its kin",
              _reads("/etc/passwd", "/etc/shadow", "/etc/group", "/etc/ssh/*", "/etc/hosts", "/etc/machine-id")),
    intrusion("reads homes", "/root, /home and the grader's own home",
              _reads("/ro*t/.*", "/ro*t/*", "/home/*/*", "/home/*/.*", "@HOME@/.*", "@HOME@/*", "@HOME@/*/*")),
    intrusion("searches everywhere", "all folders for the names of this test's files", SEARCH),
    intrusion("environment", "a secret in the grader's environment, in all processes", ENVIRONMENT),
    intrusion("open files", "file descriptors that the grader left open", DESCRIPTORS),
    intrusion("grader's code", "keys, host, solutions, functions with right values, by import and by name", GRADER),
    intrusion("writes outside", "markers into four folders of the test", WRITE),
    intrusion("may write", "whether Python's and the course's folders may be written to", WRITABLE),
    intrusion("devices", "devices, and the terminal of the grader", DEVICES),
    intrusion("network", "a listener on 127.0.0.1, two Unix sockets", CONNECT),
    intrusion("names and networks", "network cards, and a name server", INTERFACES),
)  # fmt: skip
"""The submissions of this family."""
