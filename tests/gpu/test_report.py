"""On the SIMT executor a launch leaves a report; elsewhere `simulate` makes one and changes nothing."""

import numpy as np
import pytest
from numba import cuda

from course_lib import gpu
from course_lib.cuda import simulate as simulate_module
from tests.gpu import kernels
from tests.gpu.devices import DEVICE, nans, needs_numba, needs_simt, ramp


@gpu.jit
def no_guard(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


@gpu.jit
def reads_out(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += x[i]


@needs_simt
def test_a_launch_leaves_its_report():
    kernel = kernels.times(2)
    assert kernel.report is None
    kernel[2, 32](gpu.to_device(ramp(64)), nans(64))
    first = kernel.report
    assert (first.kernel, first.grid, first.block) == ("kernel", (2, 1, 1), (32, 1, 1))
    assert first.total.global_load_requests == 2
    kernel[1, 32](gpu.to_device(ramp(32)), nans(32))
    assert kernel.report is not first
    assert kernel.report.total.global_load_requests == 1


@needs_simt
def test_a_launch_stops_at_a_hazard_and_leaves_no_old_report():
    from course_lib.simt import HazardFound

    no_guard[1, 32](gpu.to_device(ramp(32)), nans(32))
    assert no_guard.report is not None
    with pytest.raises(HazardFound, match="index 5"):
        no_guard[1, 32](gpu.to_device(ramp(5)), nans(5))
    assert no_guard.report is None


@needs_simt
def test_hazards_are_collected_on_request_and_only_then():
    from course_lib.simt import HazardFound

    with gpu.collect_hazards():
        with gpu.collect_hazards():
            pass
        no_guard[1, 32](gpu.to_device(ramp(5)), nans(5))
    assert [h.kind for h in no_guard.report.hazards] == ["out of bounds", "out of bounds"]
    with pytest.raises(HazardFound):
        no_guard[1, 32](gpu.to_device(ramp(5)), nans(5))
    with pytest.raises(ZeroDivisionError), gpu.collect_hazards():
        raise ZeroDivisionError
    with pytest.raises(HazardFound):
        no_guard[1, 32](gpu.to_device(ramp(5)), nans(5))


@needs_simt
def test_reading_what_nobody_wrote_is_found_and_what_a_kernel_wrote_is_not():
    from course_lib.simt import HazardFound

    x, out = gpu.to_device(ramp(8)), gpu.empty(8, np.float32)
    with pytest.raises(HazardFound) as info:
        reads_out[1, 8](x, out)
    assert info.value.hazard.kind == "unwritten memory"
    kernels.add[1, 8](x, x, out)
    reads_out[1, 8](x, out)
    np.testing.assert_array_equal(gpu.to_host(out), 3 * ramp(8))
    half = gpu.empty(8, np.float32)
    no_guard[1, 4](x, half)
    assert half.written.tolist() == [True] * 4 + [False] * 4


@needs_simt
def test_dynamic_shared_memory_is_in_the_report():
    kernels.reverse_dynamic[1, 8, 0, 8 * 4](gpu.to_device(ramp(8)), nans(8))
    assert kernels.reverse_dynamic.report.shared_bytes == 32


@needs_simt
def test_elements_that_a_launch_leaves_unwritten_are_advice():
    out = gpu.empty(8, np.float32)
    no_guard[1, 4](gpu.to_device(ramp(8)), out)
    assert any(h.kind == "never written" for h in no_guard.report.advice)


@pytest.mark.skipif(DEVICE == "simt", reason="the SIMT executor has reports")
def test_elsewhere_there_is_no_report_and_a_hint():
    with pytest.raises(gpu.DeviceError, match=r"keeps no report.*gpu.simulate\(add.*COURSE_DEVICE=simt"):
        _ = kernels.add.report
    with gpu.collect_hazards():  # does nothing
        kernels.add[1, 8](gpu.to_device(ramp(4)), gpu.to_device(ramp(4)), nans(4))


@needs_numba
def test_simulate_reports_and_leaves_every_array_alone():
    a, out = gpu.to_device(ramp(32)), nans(32)
    kernels.add[1, 32](a, a, out)
    report = gpu.simulate(kernels.add, 1, 32, a, a, out)
    assert report.kernel == "add"
    assert report.total.global_store_requests == 1
    gpu.simulate(kernels.in_place, 1, 32, a)
    np.testing.assert_array_equal(gpu.to_host(a), ramp(32))
    np.testing.assert_array_equal(gpu.to_host(out), 2 * ramp(32))


@needs_simt
def test_simulate_does_not_count_as_a_launch():
    kernels.in_place[1, 32](gpu.to_device(ramp(4)))
    report = kernels.in_place.report
    gpu.simulate(kernels.in_place, 1, 32, gpu.to_device(ramp(4)))
    assert kernels.in_place.report is report


@needs_numba
def test_simulate_takes_host_arrays_numbers_and_dynamic_shared_memory():
    host, out = ramp(8), np.zeros(8, np.float32)
    report = gpu.simulate(kernels.reverse_dynamic, 1, 8, host, out, shared=8 * 4)
    assert report.hazards == []
    assert not out.any()
    gpu.simulate(kernels.scaled, 1, 8, host, 2.0, 8, True, out)
    with pytest.raises(ValueError, match="view with gaps"):
        gpu.simulate(kernels.in_place, 1, 8, ramp(8)[::2])


@pytest.fixture
def simulated(monkeypatch):
    """The arrays that the executor would get from gpu.simulate, which runs nothing."""
    import course_lib.simt

    seen = []
    monkeypatch.setattr(course_lib.simt, "run", lambda kernel, grid, block, given, **options: seen.extend(given))
    return seen


@needs_numba
def test_an_array_that_is_given_twice_is_one_array_in_a_simulation(simulated):
    host, device = ramp(4), gpu.to_device(ramp(4))
    gpu.simulate(kernels.add, 1, 4, host, device, host)
    gpu.simulate(kernels.add, 1, 4, device, device, host)
    assert simulated[0] is simulated[2]
    assert simulated[3] is simulated[4]
    assert simulated[0] is not simulated[1]


@needs_simt
def test_arrays_on_a_gpu_are_copied_for_a_simulation(simulated, monkeypatch):
    class OnCard:
        __cuda_ndarray__ = True

    class Card:
        kinds = "biuf"

        def owns(self, value):
            return isinstance(value, OnCard)

        def copy_out(self, array, stream):
            return ramp(8)[::2]

    monkeypatch.setattr(simulate_module, "executor", Card)
    gpu.simulate(kernels.in_place, 1, 4, OnCard())
    np.testing.assert_array_equal(simulated[0].numbers, [0, 2, 4, 6])
    assert simulated[0].strides == (8,)


@needs_simt
def test_arrays_of_a_simulation_share_what_their_originals_share(simulated):
    whole = gpu.empty((4, 6), np.float32)
    whole.numbers[...] = ramp(4, 6)
    parts = [whole[1:], whole[:3, ::2], gpu.to_device(np.asfortranarray(ramp(3, 2)))]
    gpu.simulate(kernels.add, 1, 32, *parts)
    for part, twin in zip(parts, simulated, strict=True):
        np.testing.assert_array_equal(twin.numbers, part.numbers)
        assert twin.strides == part.strides
        assert not np.shares_memory(twin.numbers, part.numbers)
        assert np.shares_memory(twin.numbers, twin.allocation)
    assert simulated[2].written is None
    simulated[0].numbers[...] = -1
    simulated[0].written[...] = True
    assert (simulated[1].numbers[1:] == -1).all()
    assert simulated[1].written.tolist() == [[False] * 3, [True] * 3, [True] * 3]
    assert not whole.written.any()
    np.testing.assert_array_equal(whole.numbers, ramp(4, 6))


@needs_simt
def test_arrays_of_no_elements_can_be_simulated(simulated):
    gpu.simulate(kernels.add, 1, 32, gpu.empty((0, 3), np.float32), gpu.to_device(ramp(0)), gpu.empty(4, np.int8)[4:])
    assert [twin.shape for twin in simulated] == [(0, 3), (0,), (0,)]


@needs_numba
def test_simulate_lists_hazards_on_request():
    a, out = gpu.to_device(ramp(5)), gpu.to_device(ramp(5))
    report = gpu.simulate(no_guard, 1, 32, a, out, on_error="collect")
    assert {h.kind for h in report.hazards} == {"out of bounds"}
    with pytest.raises(Exception, match="index 5"):
        gpu.simulate(no_guard, 1, 32, a, out)


@needs_numba
def test_simulate_refuses_what_a_launch_refuses():
    a = gpu.to_device(ramp(5))
    with pytest.raises(gpu.LaunchError, match="2,048 threads"):
        gpu.simulate(kernels.in_place, 1, 2048, a)
    with pytest.raises(gpu.LaunchError, match="takes 1"):
        gpu.simulate(kernels.in_place, 1, 32, a, a)
    with pytest.raises(gpu.LaunchError, match="shared_bytes is -1"):
        gpu.simulate(kernels.in_place, 1, 32, a, shared=-1)
    with pytest.raises(TypeError, match="x is None"):
        gpu.simulate(kernels.in_place, 1, 32, None)


def test_simulate_needs_numba_without_its_simulator(monkeypatch):
    monkeypatch.setattr(simulate_module, "choice", lambda: type("Choice", (), {"device": "numba-simulator"}))
    with pytest.raises(gpu.DeviceError, match="COURSE_DEVICE=simt"):
        gpu.simulate(kernels.in_place, 1, 32, gpu.to_device(ramp(5)))
