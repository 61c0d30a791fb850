"""The device is a GPU if there is one, else SIMT; COURSE_DEVICE decides otherwise, or says why it cannot be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.cuda.choice import Choice, DeviceError, ask_numba, choose

ROOT = Path(__file__).parents[2]
SAYS = {"gpu": "Numba finds a CUDA GPU", "simt": "Numba finds no CUDA GPU", "numba-simulator": "the simulator is on"}


@pytest.mark.parametrize(
    ("wanted", "found", "device"),
    [
        ("", "gpu", "gpu"),
        ("", "simt", "simt"),
        ("", "numba-simulator", "numba-simulator"),
        ("gpu", "gpu", "gpu"),
        ("simt", "simt", "simt"),
        ("simt", "gpu", "simt"),
        ("numba-simulator", "numba-simulator", "numba-simulator"),
    ],
)
def test_what_is_chosen_and_why(wanted, found, device):
    choice = choose({"COURSE_DEVICE": wanted}, lambda: (found, SAYS[found]))
    assert choice.device == device
    assert SAYS[found] in choice.reason
    assert (f"COURSE_DEVICE={wanted}" in choice.reason) == bool(wanted)


@pytest.mark.parametrize(
    ("wanted", "found", "words"),
    [
        ("gpu", "simt", ["COURSE_DEVICE=gpu, but Numba finds no CUDA GPU.", "Unset COURSE_DEVICE", "driver"]),
        ("gpu", "numba-simulator", ["the simulator is on", "Unset NUMBA_ENABLE_CUDASIM"]),
        ("simt", "numba-simulator", ["COURSE_DEVICE=simt, but the simulator is on", "Unset NUMBA_ENABLE_CUDASIM"]),
        ("numba-simulator", "simt", ["imported before", "NUMBA_ENABLE_CUDASIM=1", "import course_lib.gpu first"]),
        ("numba-simulator", "gpu", ["imported before"]),
        ("GPU", "gpu", ["COURSE_DEVICE=GPU is none of gpu, simt, numba-simulator."]),
        ("cpu", "simt", ["COURSE_DEVICE=cpu is none of", "Unset it"]),
    ],
)
def test_what_cannot_be_had(wanted, found, words):
    with pytest.raises(DeviceError) as info:
        choose({"COURSE_DEVICE": wanted}, lambda: (found, SAYS[found]))
    assert all(word in str(info.value) for word in words), str(info.value)
    assert str(info.value) == f"{info.value.problem}. {info.value.fix}"


def test_without_a_variable_the_machine_decides():
    assert choose({}, lambda: ("gpu", "so it is")) == Choice("gpu", "so it is")


def test_a_broken_driver_leaves_the_lesson_running(monkeypatch):
    from numba import cuda

    def broken():
        raise OSError("libcuda.so.1 is damaged")

    broken.__module__ = "numba.cuda"
    monkeypatch.setattr(cuda, "is_available", broken)
    assert ask_numba() == ("simt", "asking Numba for CUDA failed: OSError: libcuda.so.1 is damaged")


def test_a_driver_without_a_compiler_is_told_from_no_driver(monkeypatch):
    from numba import cuda

    def no():
        return False

    no.__module__ = "numba.cuda"
    monkeypatch.setattr(cuda, "is_available", no)
    monkeypatch.setattr(cuda, "cuda_error", lambda: None)
    assert "numba-cuda[cu13]" in ask_numba()[1]
    monkeypatch.setattr(cuda, "cuda_error", lambda: "\nCUDA driver library cannot be found.\nIf you are sure ...")
    assert ask_numba() == ("simt", "Numba finds no CUDA GPU (CUDA driver library cannot be found)")
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    cuda.is_available.__module__ = "numba.cuda"
    assert ask_numba()[0] == "gpu"


def python(program, **environment):
    """Run a program in a process of its own; return what it prints, or the last line of its error."""
    clean = {k: v for k, v in os.environ.items() if k not in ("COURSE_DEVICE", "NUMBA_ENABLE_CUDASIM")}
    clean["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", program], env=clean | environment, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


NAME = "from course_lib import gpu; print(gpu.device_name(), '|', gpu.why())"


def test_simt_in_a_process_of_its_own():
    assert python(NAME, COURSE_DEVICE="simt").startswith("SIMT executor (no GPU) | Numba finds ")


def test_the_simulator_is_switched_on_by_one_variable():
    expected = "Numba's simulator (no GPU) | Numba's simulator is switched on (NUMBA_ENABLE_CUDASIM)"
    assert python(NAME, COURSE_DEVICE="numba-simulator") == f"{expected}; COURSE_DEVICE=numba-simulator"
    assert python(NAME, NUMBA_ENABLE_CUDASIM="1") == expected


def test_the_simulator_comes_too_late_after_numba_cuda():
    program = "from numba import cuda\n" + NAME
    assert "import course_lib.gpu first" in python(program, COURSE_DEVICE="numba-simulator")
    assert "Numba's simulator" in python(program, COURSE_DEVICE="numba-simulator", NUMBA_ENABLE_CUDASIM="1")


def test_a_wrong_name_is_told_at_the_first_use_not_at_import():
    assert "none of gpu, simt, numba-simulator" in python(NAME, COURSE_DEVICE="tpu")
    program = "from course_lib import gpu\n@gpu.jit\ndef k(x):\n    pass\nprint(k)"
    assert python(program, COURSE_DEVICE="tpu") == "<kernel k(x)>"


def test_decorating_asks_nothing_of_numba():
    program = (
        "import sys\nfrom course_lib import gpu\n@gpu.jit\ndef k(x):\n    pass\n"
        "print([m for m in ('numba.cuda', 'course_lib.simt') if m in sys.modules])"
    )
    assert python(program) == "[]"


def test_the_device_stays_for_the_process():
    program = "import os\n" + NAME + "\nos.environ['COURSE_DEVICE'] = 'tpu'\nprint(gpu.device_name())"
    assert python(program, COURSE_DEVICE="simt").splitlines()[-1] == "SIMT executor (no GPU)"
