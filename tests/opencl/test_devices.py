"""Which device is taken, what is said where there is none, and who is kept out."""

import sys
from dataclasses import replace

import pytest

from course_lib.opencl import devices
from course_lib.opencl.devices import Device, NoDevice, find_devices, pick, why_none

CPU = Device("a CPU", "PoCL", "OpenCL 3.0", "CPU", 2, 4096, 2**20, 2**34, True)
GPU = Device("a card", "the maker's", "OpenCL 3.0", "GPU", 132, 1024, 2**15, 2**37, True)
BAD = Device("an old one", "PoCL", "OpenCL 3.0", "CPU", 2, 4096, 2**20, 2**34, True, "error: unknown target CPU")


@pytest.fixture
def there(monkeypatch):
    def have(*found):
        monkeypatch.setattr(devices, "_all_devices", lambda: found)

    return have


def test_the_first_that_computes_is_taken(there):
    there(CPU, BAD)
    assert pick({}) == CPU
    assert find_devices({"COURSE_OPENCL": "off"}) == ()
    assert find_devices({"COURSE_OPENCL": "Old"}) == (BAD,)


def test_a_variable_chooses_by_a_part_of_the_name(there):
    there(GPU, CPU)
    assert pick({"COURSE_OPENCL": "pocl"}) == CPU
    with pytest.raises(
        NoDevice, match=r"COURSE_OPENCL=amd is in the name of none of a card, a CPU\. On Linux: python -m"
    ):
        pick({"COURSE_OPENCL": "amd"})


def test_where_none_computes_the_reason_is_the_devices_own(there):
    there(BAD)
    assert why_none({}) == "an old one does not compute (error: unknown target CPU)"
    with pytest.raises(NoDevice, match="unknown target CPU"):
        pick({})
    there()
    with pytest.raises(NoDevice, match="COURSE_OPENCL=off hides them"):
        pick({"COURSE_OPENCL": "off"})


class NoModule:
    """A finder that has no pyopencl."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pyopencl":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_without_pyopencl_that_is_the_reason(there, monkeypatch):
    there()
    monkeypatch.delitem(sys.modules, "pyopencl", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoModule, *sys.meta_path])
    assert why_none({}) == "pyopencl is not installed"
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    assert why_none({}).startswith("pyopencl ")


def test_the_devices_of_this_machine_are_those_of_pyopencl_or_none(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [NoModule, *sys.meta_path])
    monkeypatch.delitem(sys.modules, "pyopencl", raising=False)
    assert devices._all_devices.__wrapped__() == ()


def test_devices_of_this_machine_are_described(device):
    assert device.name
    assert device.units >= 1
    assert device.group >= 1
    assert device.kind in ("GPU", "CPU", "simulator", "other")
    assert device.handle is not None


def test_two_devices_are_the_first_two_that_compute_and_one_is_both(there, monkeypatch):
    from course_lib.opencl import api

    monkeypatch.setattr(api, "live", lambda: True)
    monkeypatch.delenv("COURSE_OPENCL", raising=False)
    cpu, gpu = (replace(d, handle=d.name) for d in (CPU, GPU))
    there(gpu, cpu, BAD)
    assert api.two_devices() == ("a card", "a CPU")
    there(cpu, BAD)
    assert api.two_devices() == ("a CPU", "a CPU")
