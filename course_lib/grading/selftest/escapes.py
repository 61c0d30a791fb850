"""Ways out of the box by the kernel: other processes, namespaces, mounts, rights, keyrings, shared memory.

Source: the course's own; what namespaces(7), capabilities(7) and bwrap(1) say is closed.
"""

from course_lib.grading.selftest.submission import intrusion

VICTIM = """\
import ctypes, glob, os, signal
for name in glob.glob('/proc/*/cmdline'):
    try:
        if 'victim-@TOKEN@' in open(name, errors='replace').read():
            found += name
    except OSError:
        pass
try:
    if '@TOKEN@' in open('/proc/@VICTIM@/cmdline', errors='replace').read():
        os.kill(@VICTIM@, signal.SIGTERM)
        found += ' killed'
        if ctypes.CDLL(None).ptrace(16, @VICTIM@, None, None) == 0:
            found += ' traced'
except OSError:
    pass"""
NAMESPACES = """\
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, flag in (('user', 0x10000000), ('mount', 0x20000), ('network', 0x40000000), ('pid', 0x20000000)):
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(flag) == 0 else 1)
    if os.waitpid(child, 0)[1] == 0:
        found += name + ' '"""
MOUNT = """\
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs('here', exist_ok=True)
for kind in (b'tmpfs', b'proc'):
    if libc.mount(b'none', b'here', kind, 0, None) == 0:
        found += 'mount '
        libc.umount2(b'here', 2)
try:
    child = os.fork()
    if child == 0:
        try:
            os.chroot('here')
            os._exit(0)
        except OSError:
            os._exit(1)
    if os.waitpid(child, 0)[1] == 0:
        found += 'chroot '
except OSError:
    pass"""
RIGHTS = """\
import os
status = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)
if int(status['CapEff'], 16) or int(status['CapPrm'], 16) or int(status['CapAmb'], 16):
    found += 'capabilities ' + status['CapEff']
if status.get('NoNewPrivs', '1').strip() != '1':
    found += ' setuid programs work'
for call in (os.setuid, os.setgid):
    child = os.fork()
    if child == 0:
        try:
            call(0)
            os._exit(0)
        except OSError:
            os._exit(1)
    if os.waitpid(child, 0)[1] == 0 and os.getuid() != 0:
        found += ' root'"""
SETUID = """\
import glob, os, stat, subprocess
for name in ('su', 'mount', 'newgrp', 'passwd', 'sudo'):
    path = '/usr/bin/' + name
    try:
        if os.stat(path).st_mode & stat.S_ISUID:
            done = subprocess.run([path, '--help'], capture_output=True, timeout=0.5, stdin=subprocess.DEVNULL)
            inner = subprocess.run(['/bin/sh', '-c', 'id -u'], capture_output=True, text=True, timeout=0.5)
            if inner.stdout.strip() == '0' and os.getuid() != 0:
                found += path
    except (OSError, subprocess.SubprocessError):
        pass"""
KEYRING = """\
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
add, request, control = (248, 249, 250) if platform.machine() == 'x86_64' else (217, 218, 219)
for ring in (-3, -4, -5):
    libc.syscall(add, b'user', b'@TOKEN@', b'marker', 6, ring)
number = libc.syscall(request, b'user', b'secret-of-@TOKEN@', None, 0)
if number > 0:
    text = ctypes.create_string_buffer(200)
    size = libc.syscall(control, 11, number, text, 200)
    found = text.raw[:max(size, 0)].decode(errors='replace') or 'a key'"""
SYSV = """\
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(@KEY@ + 100, 0, 0)
if segment >= 0:
    at = libc.shmat(segment, None, 0o10000)
    found = 'a segment of the host'
    if at not in (None, 2**64 - 1):
        found += ctypes.string_at(at, 60).decode(errors='replace')"""
KERNEL = """\
import os
for name in ('/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/sysrq-trigger', '/proc/kcore',
             '/dev/mem', '/dev/kmem', '/dev/kvm', '/dev/fuse', '/dev/vda', '/dev/sda', '/proc/self/oom_score_adj_host'):
    try:
        os.close(os.open(name, os.O_WRONLY))
        found += name + ' '
    except OSError:
        pass"""
PARENT = """\
import os
for pid in {os.getppid(), 1}:
    for what in ('root', 'cwd'):
        try:
            found += ' '.join(n for n in os.listdir(f'/proc/{pid}/{what}@SECRETS@'))
        except OSError:
            pass
    try:
        os.close(os.open(f'/proc/{pid}/mem', os.O_RDWR))
        if pid != os.getpid() and os.path.exists('@SECRETS@'):
            found += ' memory of ' + str(pid)
    except OSError:
        pass"""
TIMES = """\
import os, resource
for name in ('RLIMIT_NPROC', 'RLIMIT_FSIZE', 'RLIMIT_NOFILE', 'RLIMIT_CORE'):
    kind = getattr(resource, name)
    soft, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (hard, hard + 1))
        found += name + ' '
    except (OSError, ValueError):
        pass
    if hard == resource.RLIM_INFINITY:
        found += name + ' is infinite '
try:
    os.nice(-5)
    found += 'nice '
except OSError:
    pass"""

SUBMISSIONS = (
    intrusion("kills a process", "a process of the grader's user", VICTIM),
    intrusion("parent's files", "the files and memory of its parent, by /proc", PARENT),
    intrusion("namespaces", "a user namespace of its own, in which it were root", NAMESPACES),
    intrusion("mounts", "mount and chroot", MOUNT),
    intrusion("rights", "capabilities, setuid(0)", RIGHTS),
    intrusion("setuid programs", "programs that run as root", SETUID),
    intrusion("keyring", "keys of the kernel's keyrings", KEYRING),
    intrusion("shared segment", "a segment of System V shared memory of the host", SYSV),
    intrusion("kernel files", "opens the kernel's own files and disks to write, and writes nothing", KERNEL),
    intrusion("own limits", "raises its own limits", TIMES),
)  # fmt: skip
"""The submissions of this family."""
