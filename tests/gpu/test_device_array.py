"""The SIMT executor's device array hides its numbers from the host, and knows what was written."""

import numpy as np
import pytest

from course_lib.simt.arrays import DeviceArray
from tests.gpu.devices import needs_simt, ramp

pytestmark = needs_simt


def test_the_host_gets_no_numbers_by_accident():
    device = DeviceArray.copy_of(ramp(2, 3))
    for use in (
        np.asarray, np.array, np.sum, np.sqrt, lambda d: np.add(d, 1), lambda d: np.ones(3) + d,
        lambda d: d + np.ones(3), lambda d: np.testing.assert_array_equal(d, ramp(2, 3)), lambda d: np.array([d, d]),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"no numbers on the host.*gpu.to_host"):
            use(device)
    with pytest.raises(TypeError):
        float(device)


def test_single_elements_are_refused():
    device = DeviceArray.copy_of(ramp(2, 3))
    for index in ((0, 1), (np.int64(1), -1)):
        with pytest.raises(TypeError, match=r"cannot read single elements.*gpu.to_host"):
            device[index]
    with pytest.raises(TypeError, match="single elements"):
        device[0][1]
    with pytest.raises(TypeError, match=r"cannot write into a device array.*kernel"):
        device[0, 1] = 3
    with pytest.raises(TypeError, match="single elements"):
        list(device[0])


@pytest.mark.parametrize("index", [..., None, (0, ...), [0, 1], np.array([True, False]), "a", 1.0, True])
def test_an_index_is_of_whole_numbers_and_slices(index):
    with pytest.raises(TypeError, match="whole numbers and slices"):
        DeviceArray.copy_of(ramp(2, 3))[index]


def test_no_reversed_view():
    with pytest.raises(ValueError, match="cannot be reversed"):
        DeviceArray.copy_of(ramp(4))[::-1]


def test_an_index_out_of_range():
    with pytest.raises(IndexError):
        DeviceArray.copy_of(ramp(2, 3))[2]


def test_reshape_of_an_array_that_is_not_contiguous():
    device = DeviceArray.copy_of(ramp(4, 6))
    for part in (device[:, ::2], DeviceArray.copy_of(np.asfortranarray(ramp(4, 6)))):
        with pytest.raises(NotImplementedError, match=r"never a copy.*before gpu.to_device"):
            part.reshape(-1)
    with pytest.raises(ValueError, match="reshape"):
        device.reshape(5, 5)


def test_no_length_without_axes():
    with pytest.raises(TypeError, match="no length"):
        len(DeviceArray.copy_of(np.array(3.0)))


def test_its_picture_names_shape_and_dtype():
    assert repr(DeviceArray.copy_of(ramp(2, 3))) == "<device array (2, 3) of float32, on the SIMT executor>"


def test_empty_is_garbage_that_nobody_wrote():
    floats = DeviceArray.empty((2, 3), np.float16)
    assert np.isnan(floats.numbers).all()
    assert DeviceArray.empty((3,), np.int32).numbers.tolist() == [-0x5A5A5A5B] * 3
    assert DeviceArray.empty((3,), np.uint8).numbers.tolist() == [0xA5] * 3
    assert DeviceArray.empty((3,), np.bool_).numbers.view(np.uint8).tolist() == [1] * 3  # no other byte is a boolean
    assert floats.written.shape == (2, 3)
    assert not floats.written.any()
    assert DeviceArray.copy_of(ramp(3)).written is None


def test_views_share_numbers_written_and_allocation():
    whole = DeviceArray.empty((4, 6), np.float32)
    for part, index in ((whole[1:3, ::2], np.s_[1:3, ::2]), (whole.reshape(2, 12).reshape(4, 6)[3], 3)):
        part.numbers[...] = 7
        part.written[...] = True
        assert (whole.numbers[index] == 7).all()
        assert whole.written[index].all()
        assert part.allocation is whole.allocation
        steps = [s // part.dtype.itemsize for s in part.strides]
        assert list(part.written.strides) == steps  # the same pattern, of elements of one byte
    assert whole.written.sum() == 12
    assert np.shares_memory(whole.allocation, whole.numbers)


def test_a_copy_to_a_host_array_of_another_dtype_is_refused():
    with pytest.raises(TypeError):
        DeviceArray.copy_of(ramp(3)).copy_to_host(np.zeros(3, np.float64))
