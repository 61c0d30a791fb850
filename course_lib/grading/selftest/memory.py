"""Shared memory and keys of the kernel, by the C library: Python has no words for them.

Source: shmget(2), shmat(2), shmctl(2), add_key(2), keyctl(2), request_key(2).
"""

import contextlib
import ctypes
import platform
from pathlib import Path

SECRET = 100
"""The secret's segment has the run's key plus this; what submissions make has a smaller number."""

_CREATE, _REMOVE, _SESSION, _INVALIDATE = 0o1000, 0, -3, 21
_CALLS = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}


def _c():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    libc.shmdt.argtypes = [ctypes.c_void_p]
    return libc


def leave(key, text):
    """Make a shared segment that everybody may read, with a text; do nothing where there are none. No errors.

    Source: shmget(2).
    """
    with contextlib.suppress(OSError, AttributeError):
        libc, data = _c(), text.encode()
        segment = libc.shmget(key, 4096, _CREATE | 0o666)
        at = libc.shmat(segment, None, 0) if segment >= 0 else None
        if at not in (None, ctypes.c_void_p(-1).value):
            ctypes.memmove(at, data, len(data))
            libc.shmdt(at)


def segments(key, most):
    """Return the keys from `key` to below `key + most` that have a segment. No errors. Source: proc(5)."""
    with contextlib.suppress(OSError):
        lines = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
        return [k for k in (int(line[0]) & 0xFFFFFFFF for line in lines) if key <= k < key + most]
    return []


def remove(key, most):
    """Remove the segments of a run. No errors. Source: shmctl(2)."""
    with contextlib.suppress(OSError, AttributeError):
        libc = _c()
        for one in segments(key, most + 1):
            libc.shmctl(libc.shmget(one, 0, 0), _REMOVE, None)


def add_key(name, text):
    """Add a key to the session's keyring; do nothing where there is none. No errors. Source: add_key(2)."""
    _keys(0, b"user", name.encode(), text.encode(), len(text), _SESSION)


def remove_key(name):
    """Make a key invalid that this run added. No errors. Source: keyctl(2)."""
    number = _keys(1, b"user", name.encode(), None, 0)
    if number > 0:
        _keys(2, _INVALIDATE, number)


def valid_keys():
    """Return the lines of /proc/keys on valid keys that this process may see. No errors. Source: proc(5)."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/keys").read_text().splitlines()
        return [line for line in lines if "i" not in line.split()[1]]  # the kernel drops invalid ones a little later
    return []


def _keys(which, *arguments):
    calls = _CALLS.get(platform.machine())
    with contextlib.suppress(OSError, AttributeError):
        return _c().syscall(calls[which], *arguments) if calls else -1
    return -1
