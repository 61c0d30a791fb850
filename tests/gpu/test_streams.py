"""Streams, events, pinned memory: what is enqueued in order is done in order, and copies may run beside kernels."""

import numpy as np
import pytest
from numba import cuda

from course_lib import gpu
from tests.gpu.devices import DEVICE, needs_gpu, ramp


@gpu.jit
def add_slowly(a, out, turns):
    """Each thread takes `turns` turns of a chain that no compiler shortens; the result is a."""
    i = cuda.grid(1)
    if i < out.size:
        x = a[i]
        for _ in range(turns):
            x = x * np.float32(0.5) + a[i]
        out[i] = a[i] + x * np.float32(0)


def test_pinned_memory_is_an_array_like_any_other():
    host = gpu.pinned((3, 4), np.float32)
    assert (host.shape, host.dtype, host.flags.c_contiguous) == ((3, 4), np.float32, True)
    host[...] = ramp(3, 4)
    there = gpu.to_device(host)
    back = gpu.pinned((3, 4), np.float32)
    assert gpu.to_host(there, out=back) is back
    np.testing.assert_array_equal(back, ramp(3, 4))
    assert gpu.pinned((0, 3), np.int64).size == 0


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.zeros((4, 3), np.float32), ValueError, r"array is \(3, 4\) of float32 and out is \(4, 3\) of float32"),
        (np.zeros((3, 4)), ValueError, "float64"),
        (np.asfortranarray(np.zeros((3, 4), np.float32)), ValueError, "row-major"),
        ([0.0], TypeError, "list"),
    ],
)
def test_where_a_copy_does_not_fit_it_is_refused(out, error, words):
    there = gpu.to_device(ramp(3, 4))
    with pytest.raises(error, match=words):
        gpu.to_host(there, out=out)


def test_nothing_is_written_into_what_is_read_only():
    out = np.zeros(4, np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        gpu.to_host(gpu.to_device(ramp(4)), out=out)
    assert not out.any()


@pytest.mark.parametrize("priority", [0, -1, -5, -100, 3, np.int32(-1)])
def test_a_stream_of_any_priority_does_its_work_in_order(priority):
    stream = gpu.stream(priority)
    host, back = gpu.pinned(64, np.float32), gpu.pinned(64, np.float32)
    host[...] = ramp(64)
    a, out = gpu.to_device(host, stream), gpu.to_device(np.zeros(64, np.float32))
    add_slowly[2, 32, stream](a, out, 10)
    gpu.to_host(out, stream, out=back)
    stream.synchronize()
    np.testing.assert_array_equal(back, ramp(64))


@pytest.mark.parametrize("priority", [0.0, "high", None, True])
def test_a_priority_is_a_whole_number(priority):
    with pytest.raises(TypeError, match=r"priority is .*whole number"):
        gpu.stream(priority)


def test_a_stream_waits_for_an_event_of_another():
    first, second, done = gpu.stream(), gpu.stream(), gpu.event()
    a, b, out = (gpu.to_device(x) for x in (ramp(64), np.zeros(64, np.float32), np.zeros(64, np.float32)))
    add_slowly[2, 32, first](a, b, 100_000 if DEVICE == "gpu" else 10)
    done.record(first)
    done.wait(second)
    add_slowly[2, 32, second](b, out, 10)
    second.synchronize()
    np.testing.assert_array_equal(gpu.to_host(out), ramp(64))


def test_events_tell_the_time_between_them():
    start, end = gpu.event(), gpu.event()
    a, out = gpu.to_device(ramp(64)), gpu.to_device(np.zeros(64, np.float32))
    start.record()
    add_slowly[2, 32](a, out, 100)
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) > 0


def test_memory_given_back_in_one_stream_and_used_in_another_is_not_overwritten_too_early():
    """The kernel that reads `a` runs on while `a` is gone; whoever gets its memory next must wait for it."""
    reads, writes = gpu.stream(), gpu.stream()
    turns = 2_000_000 if DEVICE == "gpu" else 10
    out = gpu.to_device(np.zeros(4096, np.float32))
    for _ in range(3):
        a = gpu.to_device(ramp(4096))
        add_slowly[16, 256, reads](a, out, turns)
        del a
        b = gpu.empty(4096, np.float32)
        add_slowly[16, 256, writes](gpu.to_device(np.full(4096, -1, np.float32), writes), b, 1)
        reads.synchronize()
        np.testing.assert_array_equal(gpu.to_host(out), ramp(4096))
        writes.synchronize()
        np.testing.assert_array_equal(gpu.to_host(b), np.full(4096, -1, np.float32))


LONG = 20_000_000
"""Turns that take a card's threads most of a second."""


def marked(stream):
    """Return an event behind all that was enqueued in a stream."""
    done = gpu.event()
    done.record(stream)
    return done


@needs_gpu
def test_memory_is_handed_out_again_without_waiting_for_the_device():
    stream = gpu.stream()
    a, out = gpu.to_device(ramp(4096)), gpu.to_device(np.zeros(4096, np.float32))
    add_slowly[16, 256, stream](a, out, 10)
    gpu.synchronize()
    add_slowly[16, 256, stream](a, out, LONG)
    done = marked(stream)
    del a
    gpu.empty(4096, np.float32)
    assert not done.query(), "the host has waited for the kernel"
    gpu.synchronize()
    assert done.query()


@needs_gpu
def test_a_copy_from_pinned_memory_does_not_hold_the_host_and_runs_beside_a_kernel():
    copies, computes = gpu.stream(), gpu.stream()
    host = gpu.pinned(1 << 26, np.float32)
    host[...] = 1
    target, a, out = gpu.empty(host.shape, np.float32), gpu.to_device(ramp(32)), gpu.to_device(ramp(32))
    add_slowly[1, 32, computes](a, out, 10)
    gpu.synchronize()
    add_slowly[1, 32, computes](a, out, LONG)
    computed = marked(computes)
    gpu.overwrite(target, host, copies)
    copied = marked(copies)
    assert not copied.query(), "the host has waited for the copy"
    copied.synchronize()
    assert not computed.query(), "the copy has waited for the kernel"
    computed.synchronize()
    np.testing.assert_array_equal(gpu.to_host(target)[:: 1 << 20], 1)
