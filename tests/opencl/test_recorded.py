"""The recording answers the launches that a device made and no others, and has pyopencl's names."""

import inspect

import numpy as np
import pytest

from course_lib.opencl import recorded
from course_lib.opencl.answers import Kept, NotRecorded, answered_by, answers
from course_lib.opencl.devices import BuildError, NoDevice
from course_lib.opencl.launches import Launch, Recording, build_key, load_recording, pack, unpack, value_argument

TEXT = (
    "__kernel void twice(__global const float *x, __global float *y) { y[get_global_id(0)] = 2 * x[get_global_id(0)]; }"
)


class Twice:
    """A stand-in for a device that is being recorded: it doubles."""

    def __init__(self):
        self.launches = []

    def build(self, text, options):
        return "" if "twice" in text else "line 1, column 1: what is this"

    def launch(self, launch):
        self.launches.append(launch)
        x = np.frombuffer(launch.arguments[0][2], np.float32)
        return {"writes": {"1": pack((2 * x).tobytes())}, "times": [1, 2, 30]}

    def findings(self, launch):
        raise NotImplementedError


def launched(x, **sizes):
    cl = recorded
    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    kernel = cl.Kernel(cl.Program(context, TEXT).build(["-DA=1"]), "twice")
    flags = cl.mem_flags
    given = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
    made = cl.Buffer(context, flags.WRITE_ONLY, x.nbytes)
    event = kernel(queue, sizes.get("global_size", x.shape), None, given, made)
    event.wait()
    y = np.empty_like(x)
    cl.enqueue_copy(queue, y, made, wait_for=[event])
    return y, event


def test_a_launch_goes_through_pyopencls_names_to_who_answers():
    twice = Twice()
    with answered_by(twice):
        y, event = launched(np.arange(5, dtype=np.float32))
        with pytest.raises(BuildError, match="what is this"):
            recorded.Program(recorded.Context([None]), "nonsense").build()
    np.testing.assert_array_equal(y, [0, 2, 4, 6, 8])
    assert event.profile.end - event.profile.queued == 30
    (one,) = twice.launches
    assert (one.kernel, one.options, one.sizes) == ("twice", ("-DA=1",), ((5,), None, None))
    assert one.arguments[1] == ("buffer", 1, b"\xff" * 20), "what nobody wrote is NaN"


def test_a_launch_says_which_of_the_two_recorded_devices_makes_it():
    twice = Twice()
    for platform in recorded.get_platforms():
        (device,) = platform.get_devices()
        context = recorded.Context([device])
        kernel = recorded.Kernel(recorded.Program(context, TEXT), "twice")
        x = np.arange(3, dtype=np.float32)
        given, made = (recorded.Buffer(context, 32, hostbuf=x) for _ in "xy")
        with answered_by(twice):
            kernel(recorded.CommandQueue(context), (3,), None, given, made)
    assert [launch.device for launch in twice.launches] == [0, 1]
    assert twice.launches[0].key != twice.launches[1].key


def test_what_was_recorded_is_answered_and_anything_else_is_not(tmp_path):
    x, twice = np.arange(5, dtype=np.float32), Twice()
    with answered_by(twice):
        launched(x)
    (one,) = twice.launches
    kept = Recording({"name": "a device"}, {}, {one.key: twice.launch(one)}, {one.key: pack(b"two\nlines")})
    kept.builds[build_key(TEXT, ["-DA=1"])] = ""
    kept.save(tmp_path / "kept.json")
    with answered_by(Kept(load_recording(tmp_path / "kept.json"))):
        np.testing.assert_array_equal(launched(x)[0], 2 * x)
        assert answers().findings(one) == ["two", "lines"]
        for other in (x + 1, x[:4]):
            with pytest.raises(NotRecorded, match="the launch of twice with these numbers needs an OpenCL"):
                launched(other)
        with pytest.raises(NotRecorded, match="pip install"):
            launched(x, global_size=(4,))
        with pytest.raises(NoDevice, match="to compile a program of your own"):
            recorded.Program(None, TEXT).build()


def test_a_key_tells_every_part_of_a_launch_apart():
    given = ("text", ("-DA=1",), "k", ((4,), (2,), None), (("buffer", 0, b"ab"), ("value", "<i4", b"\1\0\0\0")))
    one = Launch(*given)
    assert one.key == Launch(*given).key
    changed = [
        ("text ", *given[1:]), ("text", (), *given[2:]), ("text", ("-DA=1",), "l", *given[3:]),
        (*given[:3], ((4,), None, None), given[4]), (*given[:4], given[4][:1]),
        (*given[:4], (("buffer", 0, b"ac"), given[4][1])),
        (*given[:4], (("buffer", 0, b"ab"), ("value", "<i8", b"\1"))),
        (*given[:4], (("buffer", 1, b"ab"), given[4][1])), (*given, 1),
    ]  # fmt: skip
    assert len({one.key, *(Launch(*other).key for other in changed)}) == len(changed) + 1


def test_a_buffer_that_is_given_twice_is_one_memory():
    context = recorded.Context([None])
    program = recorded.Program(context, "")
    one, other = (recorded.Buffer(context, 1, 4) for _ in range(2))
    twice = recorded.described(program, "k", (1,), None, (one, other, one))
    assert [told[1] for told in twice.arguments] == [0, 1, 0]
    assert recorded.described(program, "k", (1,), None, (one, recorded.LocalMemory(64))).arguments[1] == ("local", 64)


def test_numbers_of_python_are_refused_because_their_width_is_unknown():
    assert value_argument(np.int32(7)) == ("value", "<i4", b"\7\0\0\0")
    for value, fix in ((7, r"np.int32\(7\)"), (0.5, r"np.float32\(0.5\)"), (True, "np.int32")):
        with pytest.raises(TypeError, match=fix):
            value_argument(value)
    with pytest.raises(TypeError, match="a list"):
        value_argument([1])


def test_copies_into_buffers_that_are_too_small_are_refused_and_bytes_come_back():
    context = recorded.Context([None])
    queue = recorded.CommandQueue(context)
    buffer = recorded.Buffer(context, 1, 8)
    with pytest.raises(ValueError, match="8 bytes, and 12 are copied"):
        recorded.enqueue_copy(queue, buffer, np.ones(3, np.float32))
    recorded.enqueue_copy(queue, buffer, np.float32([1, 2]))
    other, out = recorded.Buffer(context, 1, 8), np.zeros((2, 1), np.float32)
    recorded.enqueue_copy(queue, other, buffer)
    recorded.enqueue_copy(queue, out, other)
    assert out.tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="COPY_HOST_PTR"):
        recorded.Buffer(context, 1, hostbuf=out)
    with pytest.raises(ValueError, match="no bytes"):
        recorded.Buffer(context, 1, 0)
    assert unpack(pack(b"abc")) == b"abc"


def test_the_recording_has_pyopencls_names_and_flags():
    cl = pytest.importorskip("pyopencl")
    for name in ("Buffer", "CommandQueue", "Context", "Kernel", "LocalMemory", "Program", "enqueue_copy",
                 "get_platforms", "wait_for_events"):  # fmt: skip
        assert hasattr(cl, name), name
    for kept in ("mem_flags", "command_queue_properties", "device_type"):
        for name, value in vars(getattr(recorded, kept)).items():
            assert int(getattr(getattr(cl, kept), name)) == value, name
    ours = inspect.signature(recorded.Kernel.__call__).parameters
    assert {"global_size", "local_size", "global_offset", "wait_for"} <= set(ours)
