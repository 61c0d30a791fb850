"""A filter of system calls for a box: those that reach past it, or get memory that no limit of a process counts.

Kernel keyrings have no namespace that a box would get, and io_uring, bpf and perf are where kernels had most holes.

Source: seccomp(2), the kernel's filter machine in linux/filter.h and linux/bpf_common.h, syscalls(2).
"""

import errno
import platform
import struct

NUMBERS = {  # machine -> (its audit number, whether high numbers are another ABI, calls)
    "x86_64": (0xC000003E, True, {
        "shmget": 29, "ptrace": 101, "add_key": 248, "request_key": 249, "keyctl": 250, "perf_event_open": 298,
        "process_vm_readv": 310, "process_vm_writev": 311, "memfd_create": 319, "bpf": 321, "userfaultfd": 323,
    }),
    "aarch64": (0xC00000B7, False, {
        "ptrace": 117, "shmget": 194, "add_key": 217, "request_key": 218, "keyctl": 219, "perf_event_open": 241,
        "process_vm_readv": 270, "process_vm_writev": 271, "memfd_create": 279, "bpf": 280, "userfaultfd": 282,
    }),
}  # fmt: skip
EVERYWHERE = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "memfd_secret": 447}

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
CALL, MACHINE = 0, 4
"""Where the number of the call and of the machine are in what the filter sees."""


def program(machine=""):
    """Return the filter as bubblewrap's --seccomp reads it, b"" for a machine that it is not written for.

    Parameters
    ----------
    machine : str
        As `platform.machine` says it; "" for this one.

    No errors. Source: seccomp(2).
    """
    machine = machine or platform.machine()
    if machine not in NUMBERS:
        return b""
    audit, other_abi, calls = NUMBERS[machine]
    tests = [(JUMP_EQUAL, number) for number in sorted({*calls.values(), *EVERYWHERE.values()})]
    if other_abi:
        tests.append((JUMP_AT_LEAST, 0x40000000))
    lines = [_line(LOAD, MACHINE), _line(JUMP_EQUAL, audit, 0, len(tests) + 2), _line(LOAD, CALL)]
    for place, (kind, number) in enumerate(tests):
        lines.append(_line(kind, number, len(tests) - place, 0))  # to the last line, or on
    return b"".join([*lines, _line(RETURN, ALLOW), _line(RETURN, REFUSE)])


def _line(code, value, if_true=0, if_false=0):
    return struct.pack("=HBBI", code, if_true, if_false, value)
