"""The device table equals what NVIDIA's data sheets and its programming guide say."""

import dataclasses

import pytest

from course_lib.simt.estimate.devices import DEVICES, KIB, find_device

# name: TFLOPS in float32, float64, float16 (without tensor cores) as the data sheet or architecture paper rounds them
TFLOPS = {
    "T4": (8.1, 0.25, 16.3),  # float64: 1/32 of float32; float16: twice
    "V100": (15.7, 7.8, 31.3),
    "A100": (19.5, 9.7, 78.0),
    "H100": (66.9, 33.5, 133.8),
    "H200": (66.9, 33.5, 133.8),
    "RTX 4090": (82.6, 1.29, 82.6),
}

# Compute capability: threads, warps, blocks of an SM; KiB of shared memory of an SM and of a block at most.
GUIDE = {
    (7, 0): (2048, 64, 32, 96, 96),
    (7, 5): (1024, 32, 16, 64, 64),
    (8, 0): (2048, 64, 32, 164, 163),
    (8, 9): (1536, 48, 24, 100, 99),
    (9, 0): (2048, 64, 32, 228, 227),
}


def test_the_table_has_the_six_devices():
    assert list(DEVICES) == ["T4", "V100", "A100", "H100", "H200", "RTX 4090"]
    assert all(d.name == name for name, d in DEVICES.items())


@pytest.mark.parametrize("name", DEVICES)
def test_peaks_that_follow_from_sms_and_clock_are_those_of_the_data_sheet(name):
    d = DEVICES[name]
    found = [peak / 1e12 for peak in (d.float32_peak, d.float64_peak, d.float16_peak)]
    assert found == pytest.approx(TFLOPS[name], rel=0.02)
    assert found[0] == pytest.approx(TFLOPS[name][0], abs=0.05)


@pytest.mark.parametrize("name", DEVICES)
def test_limits_of_an_sm_are_those_of_its_compute_capability(name):
    d = DEVICES[name]
    found = (d.threads_per_sm, d.warps_per_sm, d.blocks_per_sm, d.shared_per_sm / KIB, d.shared_per_block / KIB)
    assert found == GUIDE[d.compute_capability]


def test_h100_and_h200_differ_in_their_memory_only():
    h100, h200 = DEVICES["H100"], DEVICES["H200"]
    names = ("name", "model", "memory_bytes", "bandwidth", "l2_bytes")
    assert dataclasses.replace(h100, **{n: getattr(h200, n) for n in names}) == h200
    assert h200.bandwidth / h100.bandwidth == pytest.approx(1.43, abs=0.01)  # "1.4X more bandwidth", its data sheet


def test_the_l2_cache_of_the_a100_is_2_3_times_as_fast_as_that_of_the_v100():
    ratio = DEVICES["A100"].l2_bandwidth / DEVICES["V100"].l2_bandwidth
    assert ratio == pytest.approx(2.3, abs=0.01)  # NVIDIA's A100 paper says 2.3x
    assert DEVICES["T4"].l2_bandwidth is None


def test_a_device_is_found_by_its_name_and_an_unknown_one_lists_the_known():
    assert find_device("H200") is DEVICES["H200"]
    assert find_device(DEVICES["T4"]) is DEVICES["T4"]
    with pytest.raises(ValueError, match=r"'K80' is not .*T4, V100, A100, H100, H200, RTX 4090"):
        find_device("K80")


def test_a_device_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEVICES["T4"].sms = 41
