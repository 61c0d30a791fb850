"""The OpenCL devices of this machine, one after the other; where there is none, the tests that need one are skipped."""

import pytest

from course_lib.opencl.devices import find_devices, why_none

USABLE = [device for device in find_devices({}) if not device.trouble]


@pytest.fixture(params=USABLE or [None], ids=lambda d: f"{d.kind} ({d.platform})" if d else "no device", scope="module")
def device(request):
    """A device that computes; skipped, with the reason, where there is none."""
    if request.param is None:
        pytest.skip(f"no OpenCL device: {why_none({})}")
    return request.param


@pytest.fixture(scope="module")
def session(device):
    """A session on that device, through pyopencl itself whatever COURSE_OPENCL says."""
    from course_lib.opencl.session import Session

    return Session(device.handle)
