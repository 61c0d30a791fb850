"""What a session refuses, and in which words. The recording's session needs no device, so these run everywhere."""

import numpy as np
import pytest

from course_lib import opencl
from course_lib.opencl import recorded
from course_lib.opencl.arguments import Built, check_launch
from course_lib.opencl.operations import round_up
from course_lib.opencl.texts import text_of


@pytest.fixture(scope="module")
def session():
    return opencl.Session(recorded.get_platforms()[0].get_devices()[0])


@pytest.fixture
def x(session):
    return session.to_device(np.ones((4, 6), np.float32))


@pytest.mark.parametrize(
    ("array", "error", "says"),
    [
        ([1.0, 2.0], TypeError, "got a list; it takes a NumPy array"),
        (np.ones((4, 6), np.float32).T, ValueError, r"strides .* Write np.ascontiguousarray\(array\)"),
        (np.ones(8, np.float32)[::2], ValueError, "a buffer is one run of memory"),
        (np.ones(0, np.float32), ValueError, "no buffer of 0 bytes"),
        (np.array(["a"]), TypeError, "dtype <U1; kernels take numbers"),
        (np.ones(3, ">f4"), TypeError, "dtype >f4"),
    ],
)  # fmt: skip
def test_a_host_array_that_is_no_run_of_numbers_is_refused(session, array, error, says):
    with pytest.raises(error, match=says):
        session.to_device(array)


def test_an_array_that_is_there_is_not_copied_again(session, x):
    with pytest.raises(TypeError, match="it is there already"):
        session.to_device(x)
    with pytest.raises(TypeError, match="to_host got a ndarray"):
        session.to_host(np.ones(3))


@pytest.mark.parametrize("shape", [(), 0, (3, -1), (2.5,), "ab"])
def test_an_empty_array_needs_sizes(session, shape):
    with pytest.raises(ValueError, match="every size must be a whole number >= 1"):
        session.empty(shape)


def test_a_device_without_queues_out_of_order_gets_one_in_order():
    one = recorded.get_platforms()[0].get_devices()[0]
    loose = recorded.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    assert opencl.Session(one, out_of_order=True).queue.properties & loose
    assert not opencl.Session(one).queue.properties & loose
    one.queue_properties = recorded.command_queue_properties.PROFILING_ENABLE
    assert not opencl.Session(one, out_of_order=True).queue.properties & loose


def test_a_copy_there_and_back_is_exact(session):
    for array in (np.arange(12).reshape(3, 4), np.array(2.5, np.float32), np.ones((1, 1, 1), np.int8)):
        np.testing.assert_array_equal(session.to_host(session.to_device(array)), array)


KERNEL = Built(None, "", (), "leaky_relu")


@pytest.mark.parametrize(
    ("sizes", "error", "says"),
    [
        (((1000,), (256,)), ValueError, r"\(1000,\) is no multiple of local_size \(256,\).* Launch \(1024,\)"),
        (((12, 10), (4, 4)), ValueError, r"Launch \(12, 12\)"),
        (((1024, 1), (256,)), ValueError, "different numbers of axes"),
        ((1024, (256,)), TypeError, r"global_size is 1024; it must be a tuple"),
        (((1024.0,), (256,)), TypeError, "tuple of whole numbers"),
        (((0,), (1,)), ValueError, "each >= 1"),
        (((4,) * 4, (1,) * 4), ValueError, "one to three sizes"),
        (((2**20, 2**20), (2**10, 2**10)), ValueError, r"1,048,576 work-items; this device has at most"),
    ],
)  # fmt: skip
def test_sizes_that_opencl_does_not_take_are_refused_with_the_fix(session, sizes, error, says):
    with pytest.raises(error, match=says):
        check_launch(session, KERNEL, *sizes, ())


def test_arguments_are_arrays_of_this_session_and_numbers_of_known_width(session, x):
    sizes = (24,), (8,)
    for argument, says in (
        (np.ones(3), "argument 1 of leaky_relu is a host array; copy it first"),
        (0.5, r"argument 1 of leaky_relu is 0.5, a number of Python's.* write np.float32\(0.5\)"),
        (3, r"write np.int32\(3\)"),
        ("text", "argument 1 of leaky_relu is a str"),
        (opencl.Session(session.device).to_device(np.ones(3)), "lies in another session's context"),
    ):
        with pytest.raises(TypeError, match=says):
            check_launch(session, KERNEL, *sizes, (x, argument))


def test_operations_name_what_does_not_fit(session, x):
    floats, wide = (session.to_device(np.ones((6, 4), t)) for t in (np.float32, np.float64))
    with pytest.raises(TypeError, match=r"z is a ndarray; .*copy it first"):
        opencl.leaky_relu(np.ones(3, np.float32))
    with pytest.raises(TypeError, match="x has dtype float64; it must be float32"):
        opencl.transpose(wide)
    with pytest.raises(ValueError, match=r"x has shape \(24,\), 1 axes; it must have 2"):
        opencl.transpose(session.to_device(np.ones(24, np.float32)))
    with pytest.raises(ValueError, match="way is 'fast'; it must be one of naive, tile, padded"):
        opencl.transpose(x, "fast")
    with pytest.raises(ValueError, match=r"A is \(4, 6\) and B is \(4, 6\); .* Did you mean B.T, \(6, 4\)"):
        opencl.product(x, x)
    with pytest.raises(TypeError, match="slope is"):
        opencl.leaky_relu(floats, "steep")
    images, masks, bias = (session.to_device(np.ones(s, np.float32)) for s in ((2, 3, 8, 8), (4, 3, 5, 5), (4,)))
    with pytest.raises(ValueError, match=r"they must be \(B, C, H, W\), \(M, C, K, K\) and \(M,\)"):
        opencl.conv2d(images, masks, session.to_device(np.ones(3, np.float32)))
    with pytest.raises(ValueError, match=r"they must be \(C, H, W, B\)"):
        opencl.conv2d_images_last(images, masks, bias)
    with pytest.raises(ValueError, match="a mask is square and fits into an image"):
        opencl.conv2d(session.to_device(np.ones((2, 3, 4, 8), np.float32)), masks, bias)


def test_texts_are_found_by_their_kernels_and_others_are_named():
    assert "barrier(CLK_LOCAL_MEM_FENCE)" in text_of("transpose_tile")
    assert text_of("transpose_naive") == text_of("transpose_tile")
    with pytest.raises(LookupError, match="no OpenCL kernel 'softmax'; it has conv2d, conv2d_images_last, copy_matrix"):
        text_of("softmax")


def test_rounding_up():
    assert [round_up(n, 256) for n in (1, 255, 256, 257)] == [256, 256, 256, 512]
