"""What a box keeps away, what it limits, and that nothing of it is alive afterwards, at each level that works here."""

import errno
import os
import platform
import socket
import sys
from pathlib import Path

import pytest

import course_lib
from course_lib.checks.values import decode
from course_lib.grading import box_command, box_folders
from course_lib.grading.bytecode import bytecode_folder
from course_lib.grading.limits import Limits
from course_lib.grading.replies import BoxEnded
from course_lib.grading.sandbox import Box
from course_lib.grading.seccomp import EVERYWHERE, NUMBERS, program
from tests.grading.toy_sheet import SHORT, needs

CALLS = NUMBERS.get(platform.machine(), (0, False, {}))[2]
BOXES = [pytest.param(letter, marks=needs(letter)) for letter in "AB"]


@pytest.fixture
def start():
    boxes = []

    def started(letter, limits=SHORT):
        boxes.append(Box(letter, limits))
        return boxes[-1]

    yield started
    assert all([box.close() for box in boxes])


def run(box, source, seconds=1.0):
    return box.ask({"do": "cell", "name": "cell 1", "source": source, "limit": seconds}, seconds)


def value(box, body, seconds=1.0):
    """Return what a function with this body returns in the box, or its error."""
    run(box, "import os, socket\ndef f():\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    reply = box.ask({"do": "call", "function": "f", "args": [], "limit": seconds}, seconds)
    return reply["error"] or decode(reply["value"])


@pytest.mark.parametrize("letter", BOXES)
def test_an_answer_runs_as_nobody_without_capabilities(letter, start):
    body = (
        "lines = open('/proc/self/status').read().split('\\n')\nreturn os.getuid(), [l for l in lines if 'CapEff' in l]"
    )
    user, capabilities = value(start(letter), body)
    assert user == (65534 if os.geteuid() == 0 else os.geteuid())
    assert capabilities == ["CapEff:\t0000000000000000"]


@pytest.mark.parametrize("letter", BOXES)
def test_files_outside_of_the_box_are_not_there(letter, start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")
    for folder in (secret, *tmp_path.parents[:-2], tmp_path):
        folder.chmod(0o755)
    repository = Path(course_lib.__file__).parents[1]
    hidden = [secret, "/etc/shadow", "/etc/passwd", *Path("/root").glob(".[bs]*rc"), "/sys", "/var", "/home"]
    hidden += [repository / name for name in ("solutions", "tests", ".git", "course_lib", "pyproject.toml")]
    paths = [str(path) for path in hidden]
    assert secret.exists()
    assert value(start(letter), f"return [p for p in {paths} if os.path.exists(p)]") == []


@pytest.mark.parametrize("letter", BOXES)
def test_course_lib_is_there_without_the_grader(letter, start):
    body = "import course_lib.reference\nreturn course_lib.__file__, os.listdir('/course/course_lib/grading')"
    assert value(start(letter), body) == ("/course/course_lib/__init__.py", [])


@pytest.mark.parametrize("letter", BOXES)
def test_the_functions_that_compute_right_values_are_not_there(letter, start):
    body = "from course_lib.checks import check, registry\nreturn registry.find('04.1').expect"
    assert value(start(letter), body).startswith("ModuleNotFoundError: No module named 'course_lib.checks.exercises")


@pytest.mark.parametrize("letter", BOXES)
def test_keys_are_covered_where_they_lie_in_a_folder_that_a_box_sees(letter, monkeypatch, tmp_path):
    keys = tmp_path / "solutions" / "keys"
    keys.mkdir(parents=True)
    (keys / "lesson01.py").write_text("KEYS = ()")
    (tmp_path / "beside").write_text("x")
    for folder in (tmp_path, *tmp_path.parents[:-2], keys.parent, keys):
        folder.chmod(0o755)
    folders = (*box_command.python_folders(), str(tmp_path))
    monkeypatch.setattr(box_command, "python_folders", lambda: folders)
    seen = []
    for hidden in ((), (str(keys),)):
        box = Box(letter, SHORT, hidden)
        seen.append(value(box, f"return os.listdir({str(tmp_path)!r}), os.listdir({str(keys)!r})"))
        assert box.close()
    assert sorted(seen[0][0]) == sorted(seen[1][0]) == ["beside", "solutions"]
    assert [listed for _, listed in seen] == [["lesson01.py"], []]


@pytest.mark.parametrize("letter", BOXES)
def test_a_course_folder_that_is_pythons_own_folder_too_shows_no_solution(letter, monkeypatch):
    repository = Path(course_lib.__file__).parents[1]
    monkeypatch.setattr(box_command, "python_folders", lambda: (str(repository), *box_folders.python_folders()))
    box = Box(letter, SHORT, (str(repository / "solutions" / "keys"),))
    named = ("solutions", "tests", ".git", "course_lib/grading", "course_lib/checks/exercises")
    hidden = [name for name in named if (repository / name).is_dir()]  # an export has no .git
    body = f"return [os.listdir(os.path.join({str(repository)!r}, p)) for p in {hidden}]"
    assert value(box, body) == [[]] * len(hidden)
    assert box.close()


@pytest.mark.parametrize("letter", BOXES)
def test_only_its_own_empty_folders_can_be_written_to(letter, start):
    body = (
        "tried = ['/', '/course', '/course/course_lib', '/usr', '/dev', '/proc', '/etc', '/dev/shm', '.']\n"
        "done = []\nfor folder in tried:\n    try:\n        open(folder + '/x', 'w').close()\n"
        "        done.append(folder)\n    except OSError:\n        pass\nreturn os.listdir(os.environ['HOME']), done"
    )
    assert value(start(letter), body) == (["x"], ["/dev/shm", "."])


@pytest.mark.parametrize("letter", BOXES)
def test_there_is_no_network_and_nothing_of_the_hosts_environment(letter, start, monkeypatch):
    monkeypatch.setenv("COURSE_SECRET", "x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        body = (
            f"try:\n    socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 1)\n    return 'connected'\n"
            "except OSError:\n    return [p for p in ('1', 'self') if 'SECRET' in open(f'/proc/{p}/environ').read()]"
        )
        assert value(start(letter), body) == []


@pytest.mark.parametrize("letter", BOXES)
def test_there_are_no_namespaces_in_it_to_be_root_in(letter, start):
    assert value(start(letter), "import ctypes\nreturn ctypes.CDLL(None).unshare(0x10000000)") == -1


@pytest.mark.skipif(not program(), reason="no filter of system calls is written for this machine")
@pytest.mark.parametrize("letter", BOXES)
def test_system_calls_that_reach_past_the_box_are_refused(letter, start):
    body = (
        f"import ctypes\nlibc, open_ones = ctypes.CDLL(None, use_errno=True), []\n"
        f"for name, number in {CALLS | EVERYWHERE}.items():\n    ctypes.set_errno(0)\n"
        f"    libc.syscall(number, 0, 0, 0, 0, 0)\n"
        f"    open_ones += [name] if ctypes.get_errno() != {errno.EPERM} else []\nreturn open_ones"
    )
    assert value(start(letter), body) == []


@pytest.mark.parametrize("letter", BOXES)
def test_files_take_no_more_than_the_disk_limit(letter, start):
    body = (
        "done = 0\nfor folder in ('/tmp', '/dev/shm'):\n    try:\n        for i in range(100):\n"
        "            with open(f'{folder}/{i}', 'wb') as file:\n                done += file.write(bytes(1 << 20))\n"
        "    except OSError:\n        pass\nreturn done >> 20"
    )
    assert 8 <= value(start(letter), body) <= 10


@pytest.mark.parametrize("letter", BOXES)
def test_processes_are_limited(letter, start):
    body = (
        "import time\nfor n in range(200):\n    try:\n        if os.fork() == 0:\n            time.sleep(60)\n"
        "    except OSError:\n        return n\nreturn n"
    )
    assert 10 <= value(start(letter, Limits(processes=20)), body, 5.0) <= 25


@pytest.mark.parametrize("letter", BOXES)
def test_memory_is_limited(letter, start):
    box = start(letter)
    try:
        error = value(box, "return len(bytes([1]) * (600 << 20))", 5.0)
    except BoxEnded as ended:
        error = str(ended)
    assert str(error).startswith("MemoryError")


@needs("A")
def test_memory_is_limited_for_all_processes_together(start):
    body = (
        "import time\nfor _ in range(6):\n    if os.fork() == 0:\n        kept = bytes([1]) * (150 << 20)\n"
        "        time.sleep(1)\n        os._exit(0)\nreturn sum(os.wait()[1] == 9 for _ in range(6))"
    )
    assert 3 <= value(start("A"), body, 9.0) <= 5  # six times 150 MiB, and 512 MiB are allowed


@pytest.mark.parametrize("letter", [*BOXES, "D"])
def test_children_that_went_away_are_ended_with_the_box(letter):
    box, name = Box(letter, SHORT), f"left{os.getpid() % 10**6}{letter}"
    body = (
        f"import signal, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
        f"        open('/proc/self/comm', 'w').write('{name}')\n        time.sleep(60)\n    os._exit(0)\nos.wait()\n"
        f"time.sleep(0.2)\nreturn 1"
    )
    assert value(box, body) == 1
    assert alive(name)
    assert box.close()
    assert not alive(name)


def alive(name):
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            status = (process / "status").read_text()
        except OSError:
            continue
        if f"Name:\t{name}\n" in status and "State:\tZ" not in status:
            found.append(process)
    return found


@pytest.mark.parametrize("letter", BOXES)
def test_a_box_that_is_busy_can_be_closed(letter):
    box = Box(letter, SHORT)
    run(box, "import threading, time\nthreading.Thread(target=time.sleep, args=(3600,)).start()")
    assert box.close()
    assert box.close()


@pytest.mark.parametrize("letter", BOXES)
def test_what_is_printed_is_counted_and_only_its_beginning_kept(letter, start):
    box = start(letter, Limits(output=1000))
    run(box, "import sys\nprint('begin')\nprint('x' * (20 << 20))\nprint('y' * 99, file=sys.stderr)", 9.0)
    box.close()
    assert box.output_bytes > 20 << 20
    assert len(box.output) == 1000
    assert box.output.startswith(b"begin\n")


@needs("A")
def test_a_control_group_is_gone_after_its_box():
    box = Box("A", SHORT)
    doors = [Path(door) for door in box._cgroup.doors]
    assert all(door.exists() for door in doors)
    assert box.in_cgroup()
    box.close()
    assert not any(door.parent.exists() for door in doors)


@pytest.mark.skipif(not bytecode_folder(), reason="the packages have bytecode of their own")
@pytest.mark.parametrize("letter", BOXES)
def test_bytecode_is_read_and_cannot_be_written(letter, start):
    body = "import numpy, sys\nopen(numpy.__cached__)\nopen(sys.pycache_prefix + '/x', 'w')"
    assert "Read-only file system: '/course/bytecode/x'" in value(start(letter), body)


def test_packages_that_course_lib_is_installed_beside_stay_in_reach(monkeypatch):
    packages = next(p for p in sys.path if Path(p).name == "site-packages")
    monkeypatch.setattr(box_folders, "PACKAGE", Path(packages) / "course_lib")
    assert packages in box_folders.search_path("/course")
    monkeypatch.setattr(box_folders, "PACKAGE", Path(sys.path[0] or ".") / "course_lib")
    assert box_folders.search_path("/course")[0] == "/course"
