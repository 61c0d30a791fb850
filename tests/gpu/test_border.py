"""Arrays cross the border between host and device only when asked, with dtype, shape and layout as they are."""

import numpy as np
import pytest

from course_lib import gpu
from tests.cases import all_of
from tests.gpu.devices import needs_simt, ramp

DTYPES = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]


@all_of("dtype", DTYPES)
@all_of("shape", [(), (0,), (5,), (2, 3), (3, 0, 2), (2, 3, 4)])
def test_there_and_back(dtype, shape):
    host = ramp(*shape, dtype=dtype)
    device = gpu.to_device(host)
    back = gpu.to_host(device)
    np.testing.assert_array_equal(back, host)
    assert back.dtype == host.dtype
    assert (tuple(device.shape), device.dtype, device.ndim) == (host.shape, host.dtype, host.ndim)
    assert (device.size, device.nbytes) == (host.size, host.nbytes)


def test_a_copy_is_a_copy_both_ways():
    host = ramp(4)
    device = gpu.to_device(host)
    host[0] = 9
    back = gpu.to_host(device)
    back[1] = 9
    np.testing.assert_array_equal(gpu.to_host(device), ramp(4))


@pytest.mark.parametrize(
    "host",
    [
        ramp(3, 5),
        np.asfortranarray(ramp(3, 5)),
        ramp(3, 5).T,
        ramp(2, 3, 4).T,
        ramp(1, 5)[:, :],
        ramp(6, 1),
        np.broadcast_to(np.float32(3), (4, 2)),
        np.broadcast_to(ramp(4), (3, 4)),
        np.broadcast_to(ramp(3, 1), (3, 4)),
        ramp(4, 3)[1:3],
    ],
    ids=lambda host: f"{host.shape}{host.strides}",
)
def test_the_layout_stays(host):
    device = gpu.to_device(host)
    assert tuple(device.strides) == host.strides
    np.testing.assert_array_equal(gpu.to_host(device), host)


def test_a_read_only_array_is_copied_and_the_copy_is_writable():
    host = ramp(3)
    host.flags.writeable = False
    np.testing.assert_array_equal(gpu.to_host(gpu.to_device(host)), host)


@pytest.mark.parametrize("host", [ramp(8)[::2], ramp(8)[::-1], ramp(4, 4)[:, 1:3], ramp(2, 3, 4).transpose(1, 0, 2)])
def test_a_view_with_gaps_is_refused(host):
    with pytest.raises(ValueError, match=r"view with gaps.*np.ascontiguousarray"):
        gpu.to_device(host)


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ([1.0, 2.0], "got a list; it must be a host array"),
        (3.0, "got a float; it must be a host array"),
        (np.float32(3), "got a float32; it must be a host array"),
        (None, "got a NoneType"),
        (np.array(["a", "b"]), "dtype <U1; kernels compute with numbers"),
        (np.array([b"a"]), "dtype .S1"),
        (np.array([None]), "dtype object"),
        (np.array(["2026-01-01"], "datetime64[D]"), "dtype datetime64"),
        (np.zeros(2, [("a", np.int32)]), "dtype .*numbers and booleans"),
        (np.zeros(2, ">f4"), r"foreign order. Convert: .astype\('float32'\)"),
    ],
)
def test_what_is_not_copied_to_the_device(host, words):
    with pytest.raises(TypeError, match=words):
        gpu.to_device(host)


def test_an_array_that_is_there_already():
    device = gpu.to_device(ramp(3))
    with pytest.raises(TypeError, match=r"gpu.to_device got a device array: it is there already"):
        gpu.to_device(device)
    with pytest.raises(TypeError, match=r"gpu.to_host got a host array: it is here already"):
        gpu.to_host(ramp(3))
    with pytest.raises(TypeError, match=r"gpu.to_host got a list; it must be a device array"):
        gpu.to_host([1, 2])


def test_a_wrong_stream_is_refused():
    with pytest.raises(gpu.LaunchError, match="stream is 7"):
        gpu.to_device(ramp(3), 7)
    with pytest.raises(gpu.LaunchError, match="stream is 7"):
        gpu.to_host(gpu.to_device(ramp(3)), 7)


@pytest.mark.parametrize("shape", [5, (5,), [2, 3], (2, 0), np.int64(4), ()])
@pytest.mark.parametrize("dtype", [np.float32, "int32", np.dtype(np.float64)])
def test_empty_has_shape_and_dtype(shape, dtype):
    device = gpu.empty(shape, dtype)
    host = np.empty(shape, dtype)
    assert (tuple(device.shape), device.dtype) == (host.shape, host.dtype)
    assert host.size == 0 or tuple(device.strides) == host.strides
    assert gpu.to_host(device).shape == host.shape


def test_empty_needs_a_dtype_of_numbers():
    with pytest.raises(TypeError, match="dtype"):
        gpu.empty(3)
    with pytest.raises(TypeError, match="numbers and booleans"):
        gpu.empty(3, object)
    with pytest.raises(TypeError, match="foreign order"):
        gpu.empty(3, ">i4")


def test_empty_needs_whole_sizes():
    for shape in (2.5, (2, 4 / 2), "3", (2, True)):
        with pytest.raises(TypeError, match=r"must be whole numbers.*//"):
            gpu.empty(shape, np.float32)
    with pytest.raises(ValueError, match=r"\(2, -1\).*>= 0"):
        gpu.empty((2, -1), np.float32)


@needs_simt
def test_complex_arrays_are_for_gpus():
    with pytest.raises(TypeError, match="complex64"):
        gpu.to_device(np.zeros(2, np.complex64))
    with pytest.raises(TypeError, match="complex128"):
        gpu.empty(2, complex)


def test_slices_are_views():
    device = gpu.to_device(ramp(4, 6))
    part = device[1:3, 1::2]
    assert (tuple(part.shape), tuple(part.strides)) == ((2, 3), (24, 8))
    np.testing.assert_array_equal(gpu.to_host(part), ramp(4, 6)[1:3, 1::2])
    np.testing.assert_array_equal(gpu.to_host(device[2]), ramp(4, 6)[2])
    np.testing.assert_array_equal(gpu.to_host(device[-1]), ramp(4, 6)[-1])
    np.testing.assert_array_equal(gpu.to_host(device[0:3:1]), ramp(4, 6)[:3])


def test_reshape_is_a_view_of_as_many_elements():
    device = gpu.to_device(ramp(4, 6))
    for shape in ((2, 12), (24,), (3, -1)):
        np.testing.assert_array_equal(gpu.to_host(device.reshape(*shape)), ramp(4, 6).reshape(shape))
    assert tuple(device.reshape((8, 3)).shape) == (8, 3)
    assert len(device) == 4


def test_numbas_own_name_of_the_copy_back():
    device = gpu.to_device(ramp(5))
    np.testing.assert_array_equal(device.copy_to_host(), ramp(5))
    host = np.zeros(5, np.float32)
    device.copy_to_host(host)
    np.testing.assert_array_equal(host, ramp(5))
