"""Each check of the doctor tells good from bad, and something broken gives exit status 1 and its fix."""

from __future__ import annotations

import importlib
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from course_lib.cli import app, doctor, machine, material, packages
from course_lib.cli.check import Check
from tools.movable import HEADER

LOCK = """numpy==2.4.6 \\
    --hash=sha256:aa
appnope==1.0 ; sys_platform == 'no-such-system' \\
    --hash=sha256:bb
Rich_Text==15.0 ; python_full_version >= '3.11' \\
    --hash=sha256:cc
"""


def test_python_is_fit_from_3_11_on():
    assert machine.check_python().state == "ok"
    assert machine.check_python((3, 11, 0)).state == "ok"
    old = machine.check_python((3, 10, 9))
    assert (old.state, "3.10.9" in old.found, "PYTHON=" in old.fix) == ("broken", True, True)


def test_the_folder_is_named_or_noted(tmp_path):
    assert machine.check_folder(tmp_path).found == str(tmp_path)
    assert machine.check_folder(None).state == "note"


def test_packages_must_be_there_in_an_allowed_version():
    needs = [Requirement("numpy>=2,<2.5"), Requirement("rich")]
    assert packages.check_versions(needs, {"numpy": "2.4.6", "rich": "15.0"}.get).state == "ok"
    bad = packages.check_versions(needs, {"numpy": "2.5.0"}.get)
    assert bad.state == "broken"
    assert "numpy 2.5.0 is not <2.5,>=2" in bad.found
    assert "rich is missing" in bad.found
    assert "requirements.lock" in bad.fix


def test_the_ranges_come_from_the_package_itself_without_its_extras():
    names = {need.name for need in packages.direct_requirements()}
    assert {"numpy", "nbval", "typer"} <= names
    assert not names & {"playwright", "numba-cuda", "dask"}


def test_a_package_that_is_not_installed_is_no_crash(monkeypatch):
    def missing(name):
        raise packages.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(packages.importlib.metadata, "requires", missing)
    assert packages.check_versions().state == "broken"
    assert packages.installed_version("no-such-package-here") is None


def test_a_lock_is_read_for_this_machine_only():
    assert packages.read_lock(LOCK) == {"numpy": "2.4.6", "rich-text": "15.0"}


def test_differences_from_the_lock_are_a_note(tmp_path):
    lock = tmp_path / "requirements.lock"
    lock.write_text(LOCK)
    assert packages.check_lock(lock, {"numpy": "2.4.6", "rich-text": "15.0"}.get).state == "ok"
    other = packages.check_lock(lock, {"numpy": "2.3.0"}.get)
    assert other.state == "note"
    assert "numpy 2.3.0 (locked 2.4.6)" in other.found
    assert "rich-text missing (locked 15.0)" in other.found
    assert packages.check_lock(tmp_path / "none.lock").state == "note"
    assert packages.check_lock(None).state == "note"


def test_only_the_first_five_differences_are_listed(tmp_path):
    lock = tmp_path / "requirements.lock"
    lock.write_text("".join(f"p{at}==1 \\\n    --hash=sha256:aa\n" for at in range(8)))
    assert "and 3 more" in packages.check_lock(lock, lambda name: None).found


def test_an_environment_that_was_moved_or_copied_is_noted(tmp_path):
    root = tmp_path / "c"
    scripts, package = root / ".venv" / "bin", root / "course_lib"
    scripts.mkdir(parents=True)
    package.mkdir()

    def state(header, package=package):
        (scripts / "course").write_text(header + "import sys\n'/a/bin/python'\n")
        check = packages.check_environment(root, root / ".venv", package)
        return check.state, "make lab" in check.fix

    assert state(f"#!{scripts}/python\n") == ("ok", False)
    assert state(HEADER.decode()) == ("ok", False)
    assert state("#!/old/c/.venv/bin/python3\n") == ("note", True)
    assert state("#!/bin/sh\n'''exec' \"/old c/.venv/bin/python\" \"$0\" \"$@\"\n' '''\n") == ("note", True)
    assert state(HEADER.decode(), tmp_path / "old" / "course_lib") == ("note", True)
    (scripts / "course").unlink()
    assert packages.check_environment(root, root / ".venv", package).state == "ok"


def test_nbval_must_be_the_pinned_one():
    assert packages.check_nbval(lambda name: "0.11.0").state == "ok"
    assert packages.check_nbval(lambda name: "0.12.0").fix == "pip install nbval==0.11.0"
    assert packages.check_nbval(lambda name: None).found == "missing"


@pytest.mark.parametrize(
    ("choice", "numba_has", "state", "words"),
    [
        ("", ("simt", "Numba finds no CUDA GPU"), "ok", ["CPU, SIMT executor", "no CUDA GPU", "need no GPU"]),
        ("", ("gpu", "Numba finds a CUDA GPU"), "ok", ["GPU (Numba finds a CUDA GPU"]),
        ("simt", ("gpu", "Numba finds a CUDA GPU"), "ok", ["CPU, SIMT", "finds a CUDA GPU", "COURSE_DEVICE=simt"]),
        ("gpu", ("gpu", "Numba finds a CUDA GPU"), "ok", ["GPU (", "COURSE_DEVICE=gpu"]),
        ("gpu", ("simt", "Numba finds no CUDA GPU"), "broken", ["COURSE_DEVICE=gpu, but Numba finds no CUDA GPU"]),
        ("numba-simulator", ("numba-simulator", "it is on"), "ok", ["Numba's simulator", "it is on"]),
        ("tpu", ("gpu", ""), "broken", ["COURSE_DEVICE=tpu is none of gpu, simt, numba-simulator"]),
    ],
)
def test_the_device_and_why_it_was_chosen(choice, numba_has, state, words):
    check = machine.check_device({"COURSE_DEVICE": choice}, lambda: numba_has, lambda name: "0.30.4")
    assert check.state == state
    assert all(word in check.found for word in words), check.found
    assert bool(check.fix) == (state == "broken")


def test_a_gpu_without_numba_cuda_is_noted():
    check = machine.check_device({}, lambda: ("gpu", "Numba finds a CUDA GPU"), lambda name: None)
    assert (check.state, ".[gpu]" in check.fix) == ("note", True)


@pytest.mark.parametrize(
    ("wanted", "state", "words"),
    [
        ("", "ok", "kernels are compiled by numba-cuda;"),
        ("numba-cuda-mlir", "ok", "kernels are compiled by numba-cuda-mlir;"),
        ("nvcc", "broken", "COURSE_COMPILER=nvcc is none of"),
    ],
)
def test_on_a_gpu_the_compiler_is_named(wanted, state, words):
    environ, on_gpu = {"COURSE_COMPILER": wanted}, ("gpu", "Numba finds a CUDA GPU")
    check = machine.check_device(environ, lambda: on_gpu, lambda name: "0.30.4")
    assert (check.state, words in check.found) == (state, True), check.found
    assert "compiled" not in machine.check_device(environ, lambda: ("simt", "no GPU")).found


def test_numba_can_be_asked_for_a_gpu_on_this_machine():
    assert machine.check_device({}).state in ("ok", "note")


def _digits(n_train, n_test):
    return SimpleNamespace(x_train=np.zeros((n_train, 784)), x_test=np.zeros((n_test, 784)))


def test_the_digits_must_load_in_full():
    assert material.check_digits(lambda: _digits(4000, 1000)).state == "ok"
    short = material.check_digits(lambda: _digits(4000, 999))
    assert (short.state, "(999, 784)" in short.found) == ("broken", True)


def test_digits_that_do_not_load_are_reported_not_raised():
    def load():
        raise FileNotFoundError("mnist5k.npz")

    check = material.check_digits(load)
    assert (check.state, check.found) == ("broken", "FileNotFoundError: mnist5k.npz")
    assert "course_lib/data" in check.fix


def test_the_kernel_must_start_this_python():
    assert material.check_kernel(lambda: ["python", "-m", "ipykernel_launcher"]).state == "ok"
    assert material.check_kernel(lambda: [sys.executable, "-m", "ipykernel_launcher"]).state == "ok"
    other = material.check_kernel(lambda: ["/elsewhere/bin/python3", "-m", "ipykernel_launcher"])
    assert (other.state, "starts /elsewhere/bin/python3" in other.found) == ("broken", True)


def test_a_missing_kernel_is_reported_with_its_fix():
    def missing():
        raise KeyError("python3")

    check = material.check_kernel(missing)
    assert (check.state, "ipykernel install" in check.fix) == ("broken", True)


def test_compiled_kernels_are_whole_damaged_or_kept_nowhere(tmp_path):
    whole, damaged = tmp_path / "a.nbi", tmp_path / "b.nbc"
    look = material.check_compiled
    assert (look(lambda: {str(tmp_path): ([], [])}).state, look(dict).state) == ("ok", "note")
    good = look(lambda: {str(tmp_path): ([whole], [])})
    assert (good.state, "1 files, all whole" in good.found) == ("ok", True)
    bad = look(lambda: {str(tmp_path): ([whole, damaged], [damaged])})
    assert (bad.state, "1 of 2 files" in bad.found, "b.nbc" in bad.found) == ("note", True, True)
    gone = look(lambda: {str(tmp_path / "gone"): ([], [])})
    assert (gone.state, "NUMBA_CACHE_DIR" in gone.fix) == ("note", True)


def test_opencl_is_information_only(monkeypatch):
    from course_lib.opencl import devices

    off = machine.check_opencl({"COURSE_OPENCL": "off"})
    assert (off.state, "lesson 19, which is optional" in off.found) == ("note", True)
    assert 'python -m pip install "pyopencl[pocl]"' in off.fix
    good = devices.Device("a CPU", "PoCL", "OpenCL 3.0", "CPU", 2, 4096, 2**20, 2**34, True)
    bad = devices.Device("an old one", "PoCL", "OpenCL 3.0", "CPU", 2, 4096, 2**20, 2**34, True, "unknown target CPU")
    monkeypatch.setattr(devices, "_all_devices", lambda: (good, bad))
    both = machine.check_opencl({})
    assert (both.state, both.fix) == ("ok", "")
    assert both.found.startswith("a CPU, PoCL")
    assert both.found.endswith("an old one does not compute: unknown target CPU")
    monkeypatch.setattr(devices, "_all_devices", lambda: (bad,))
    assert "an old one does not compute (unknown target CPU)" in machine.check_opencl({}).found


def test_chromium_is_information_only():
    assert machine.check_chromium({"chromium": "/bin/chromium"}.get).state == "ok"
    assert machine.check_chromium(lambda name: None).state == "note"


def test_a_sandbox_is_information_only():
    assert machine.check_sandbox(lambda: ("B", "bubblewrap")).found.startswith("level B: bubblewrap")

    def none():
        raise RuntimeError("A: bwrap is not installed")

    check = machine.check_sandbox(none)
    assert check.state == "note"
    assert "bwrap is not installed" in check.found


def test_a_gigabyte_must_be_free(tmp_path):
    assert machine.check_disk(tmp_path, 2 * 10**9).state == "ok"
    full = machine.check_disk(tmp_path, 999_999_999)
    assert (full.state, bool(full.fix)) == ("broken", True)
    assert "GB free" in machine.check_disk(tmp_path).found


def test_this_set_up_is_sound():
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0, result.output
    assert "Ready for the lessons." in result.output


def test_something_broken_gives_exit_status_1_and_the_fix_on_one_line(monkeypatch):
    fix = "do [this] " + "and that " * 20 + "now"
    checks = [Check("one", "ok", "fine"), Check("two", "broken", "bad [thing]", fix), Check("three", "note", "hm")]
    # The package's `doctor` is the command; its module is reached through sys.modules.
    monkeypatch.setattr(sys.modules[doctor.__module__], "run_checks", lambda folder: checks)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert f"fix: two: {fix}" in result.output.splitlines()
    assert "bad [thing]" in result.output
    assert "1 of 3 broken: two" in result.output


def test_outside_a_course_folder_the_doctor_still_answers(monkeypatch):
    module = sys.modules[doctor.__module__]

    def nowhere():
        raise module.CourseFolderNotFound

    monkeypatch.setattr(module, "find_course_folder", nowhere)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0, result.output
    assert "none found" in result.output


@pytest.mark.parametrize(
    "content", ["", "# a comment\n", "    --hash=sha256:aa\n", "p==1 ; sys_platform == 'no-such-system'\n"]
)
def test_a_lock_that_pins_nothing_is_never_ok(tmp_path, content):
    lock = tmp_path / "requirements.lock"
    lock.write_text(content)
    check = packages.check_lock(lock)
    assert (check.state, "pins no package" in check.found) == ("note", True)
    assert check.fix == "git checkout -- requirements.lock"


def test_a_check_that_numbas_variables_break_names_them(monkeypatch):
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "0")

    guarded = importlib.import_module("course_lib.cli.doctor")._guarded  # the package has the command by that name

    def broken():
        raise ValueError("Number of threads specified must be > 0.")

    assert guarded("device", broken).fix.startswith("unset what changes Numba (NUMBA_NUM_THREADS)")
    monkeypatch.delenv("NUMBA_NUM_THREADS")
    assert guarded("device", broken).fix.startswith("restore the file")


def test_kernels_that_are_not_compiled_at_all_are_noted(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    found = material.check_compiled(dict)
    assert (found.state, found.fix) == ("note", "unset NUMBA_DISABLE_JIT")
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "0")
    assert "NUMBA_CACHE_DIR" in material.check_compiled(dict).fix
