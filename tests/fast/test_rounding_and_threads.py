"""float32 stays within the derived bound, and neither a repetition nor the number of threads changes a bit."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from course_lib import fast
from course_lib.checks import product_tolerance
from course_lib.fast.products import one_blas_thread
from course_lib.fast.threads import share
from tests.cases import all_of

from ..backends import on_each_backend

threads_module = sys.modules[share.__module__]  # `fast.threads` is the function

LAYERS = {  # B, C, H, W, M, mask, stride, pad
    "C1": (64, 1, 32, 32, 6, (5, 5), (1, 1), (0, 0)),
    "C3": (64, 6, 14, 14, 16, (5, 5), (1, 1), (0, 0)),
    "C5": (64, 16, 5, 5, 120, (5, 5), (1, 1), (0, 0)),
    "colour": (67, 3, 16, 17, 5, (3, 3), (1, 1), (1, 1)),
    "strides": (33, 3, 19, 18, 5, (3, 2), (2, 1), (1, 0)),
    "wide": (1, 2, 9, 1500, 3, (2, 3), (1, 1), (1, 2)),
}


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def layer(name):
    B, C, H, W, M, mask, stride, pad = LAYERS[name]
    return normal(0, B, C, H, W), normal(1, M, C, *mask), normal(2, M), stride, pad


@on_each_backend
@pytest.mark.parametrize("name", LAYERS)
def test_float32_convolution_rounds_no_more_than_it_may(ops, name):
    x, w, b, (s_h, s_w), (p_h, p_w) = layer(name)
    (B, C, H, W), (M, _, K_h, K_w) = x.shape, w.shape
    y, cache = ops.conv2d_forward(x, w, b, (s_h, s_w), (p_h, p_w))
    dy = normal(3, *y.shape)
    dx, dw, db = ops.conv2d_backward(dy, cache)

    def assert_within(got, left, right):
        difference = np.abs(got - left.astype(np.float64) @ right.astype(np.float64))
        np.testing.assert_array_less(difference, product_tolerance(left, right))

    def side_by_side(array, mask, stride, pad):
        return ops.im2col(array, mask, stride, pad).transpose(1, 0, 2).reshape(array.shape[1] * mask[0] * mask[1], -1)

    def maps(array):
        return array.transpose(1, 0, 2, 3).reshape(array.shape[1], -1)

    cols = side_by_side(x, (K_h, K_w), (s_h, s_w), (p_h, p_w))
    with_bias = np.concatenate([w.reshape(M, -1), b[:, None]], axis=1)
    assert_within(maps(y), with_bias, np.concatenate([cols, np.ones_like(cols[:1])]))
    assert_within(dw.reshape(M, -1), maps(dy), cols.T)
    assert_within(db[:, None], maps(dy), np.ones_like(cols[:1]).T)
    # H: dE/dX is a convolution of dE/dY, spread by the stride, with the turned masks.
    spread = np.zeros((B, M, H + 2 * p_h + K_h - 1, W + 2 * p_w + K_w - 1), np.float32)
    spread[:, :, K_h - 1 :: s_h, K_w - 1 :: s_w][:, :, : y.shape[2], : y.shape[3]] = dy
    spread = spread[:, :, p_h : p_h + H + K_h - 1, p_w : p_w + W + K_w - 1]
    turned = w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3).reshape(C, -1)
    assert_within(maps(dx), turned, side_by_side(spread, (K_h, K_w), 1, 0))


def everything(layers):
    """Return the bytes of every output and gradient that `fast` computes of its own, in float32."""
    results = []
    for name in layers:
        x, w, b, stride, pad = layer(name)
        y, cache = fast.conv2d_forward(x, w, b, stride, pad)
        results += [y, *fast.conv2d_backward(normal(3, *y.shape), cache)]
    x = normal(4, 13, 7, 11, 10)
    for kind in ("max_pool", "average_pool"):
        for options in ((2,), (3, 2, 1), ((2, 3), 1)):
            y, cache = getattr(fast, f"{kind}_forward")(x, *options)
            results += [y, getattr(fast, f"{kind}_backward")(normal(3, *y.shape), cache)]
    y, cache = fast.subsample_forward(x, x[0, :, 0, 0], x[1, :, 0, 0])
    results += [y, *fast.subsample_backward(normal(3, *y.shape), cache)]
    for kind in ("relu", "leaky_relu"):
        y, cache = getattr(fast, f"{kind}_forward")(x)
        results += [y, getattr(fast, f"{kind}_backward")(normal(3, *y.shape), cache)]
    for B, D, M in ((64, 120, 84), (67, 784, 100), (3, 30, 9)):
        y, cache = fast.dense_forward(normal(0, B, D), normal(1, D, M), normal(2, M))
        results += [y, *fast.dense_backward(normal(3, *y.shape), cache)]
    return [r.tobytes() for r in results]


@pytest.fixture
def shared(monkeypatch):
    """Share even the smallest work, and give NumPy and `fast` their threads back afterwards."""
    monkeypatch.setattr(threads_module, "WORTH_SHARING", 0)
    before = fast.threads()
    with threadpool_limits(None):
        yield
        fast.set_threads(before)


def test_equal_input_gives_equal_bits():
    first = everything(LAYERS)
    for _ in range(3):
        assert everything(LAYERS) == first


@pytest.mark.parametrize("blocks", [False, True])
def test_the_number_of_threads_changes_no_bit(shared, monkeypatch, blocks):
    """With one BLAS thread, as in training: NumPy's own sharing of a product changes its bits."""
    if blocks:
        monkeypatch.setattr("course_lib.fast.products.LARGE", 0)  # small products are cut into blocks, too
    results = []
    for count in (1, 2, 3, 5):
        fast.set_threads(count)
        with one_blas_thread():
            results += [everything(LAYERS) for _ in range(3)]  # another thread takes another piece each time
    assert all(result == results[0] for result in results)


@all_of("count", [1, 2, 3, 5])
@all_of("units", [0, 1, 2, 3, 7, 8, 9, 100, 101])
def test_every_unit_is_done_exactly_once(shared, count, units):
    fast.set_threads(count)
    done = []

    def kernel(first, last, *arguments):
        done.extend((unit, arguments) for unit in range(first, last))

    share(kernel, units, 1, "a", 2)
    assert sorted(done) == [(unit, ("a", 2)) for unit in range(units)]


def test_two_threads_never_take_the_same_piece(shared):
    fast.set_threads(4)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # the interpreter turns to another thread after every few instructions
    try:
        for _ in range(300):
            done = []
            share(lambda first, last, done=done: done.extend(range(first, last)), 16, 1)
            assert sorted(done) == list(range(16))
    finally:
        sys.setswitchinterval(interval)


def test_nothing_to_do_is_no_error(shared):
    fast.set_threads(3)
    calls = []
    share(lambda first, last: calls.append((first, last)), 0, 10**9)
    assert all(first == last for first, last in calls)


def test_several_threads_work_at_the_same_time(shared):
    fast.set_threads(3)
    together = threading.Barrier(3, timeout=20)  # raises BrokenBarrierError unless three threads meet
    share(lambda first, last: together.wait() if first < 3 else None, 12, 1)


def test_small_work_and_one_unit_stay_in_the_calling_thread(shared, monkeypatch):
    fast.set_threads(3)
    seen = set()
    share(lambda first, last: seen.add(threading.get_ident()), 1, 10**9)
    monkeypatch.setattr(threads_module, "WORTH_SHARING", 1000)
    share(lambda first, last: seen.add(threading.get_ident()), 100, 999)
    assert seen == {threading.get_ident()}


def test_pieces_are_small_enough_to_share_out_again(shared):
    fast.set_threads(2)
    pieces = []
    share(lambda first, last: pieces.append(last - first), 800, 1)
    assert len(pieces) == 2 * threads_module.PIECES
    assert set(pieces) == {100}


def test_an_error_in_a_helper_reaches_the_caller(shared):
    fast.set_threads(2)
    caller, begun = threading.get_ident(), threading.Event()

    def kernel(first, last):
        if threading.get_ident() != caller:
            begun.set()
            raise ZeroDivisionError("in a helper")
        assert begun.wait(20)

    with pytest.raises(ZeroDivisionError, match="in a helper"):
        share(kernel, 8, 1)
    done = []
    share(lambda first, last: done.extend(range(first, last)), 8, 1)  # the threads are still there
    assert sorted(done) == list(range(8))


def test_an_error_in_the_calling_thread_reaches_the_caller(shared):
    fast.set_threads(2)

    def kernel(first, last):
        raise ZeroDivisionError("here")

    with pytest.raises(ZeroDivisionError, match="here"):
        share(kernel, 8, 1)


def test_nobody_waits_for_a_helper_that_has_not_begun(shared):
    """Another program may keep a core busy: then the caller does all pieces and goes on."""
    fast.set_threads(2)
    share(lambda first, last: None, 8, 1)  # makes the pool
    release = threading.Event()
    busy = threads_module._pool.submit(release.wait, 20)
    try:
        done = []
        share(lambda first, last: done.extend(range(first, last)), 8, 1)
        assert sorted(done) == list(range(8))
        assert not busy.done()
    finally:
        release.set()


def test_several_callers_at_once_do_not_mix_up_their_work(shared):
    fast.set_threads(3)
    x, w, b, stride, pad = layer("colour")
    images = [np.roll(x, i, axis=0) for i in range(6)]
    expected = [fast.conv2d_forward(image, w, b, stride, pad)[0] for image in images]
    with ThreadPoolExecutor(6) as callers:
        for _ in range(5):
            got = list(callers.map(lambda image: fast.conv2d_forward(image, w, b, stride, pad)[0], images))
            for one, other in zip(got, expected, strict=True):
                np.testing.assert_array_equal(one, other)


def test_set_threads_reaches_numpy_too_and_refuses_other_things(shared):
    for count in (1, 2):
        fast.set_threads(count)
        assert fast.threads() == count
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} <= {count}
    for wrong, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError), (True, TypeError)):
        with pytest.raises(error, match="count is"):
            fast.set_threads(wrong)
        assert fast.threads() == 2


@pytest.mark.parametrize(
    ("variable", "expected"), [("3", 3), ("4,2", 4), (None, None), ("", None), ("abc", None), ("0", None), ("-2", None)]
)
def test_omp_num_threads_is_respected_else_all_cpus_of_the_process(monkeypatch, variable, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if variable is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", variable)
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert threads_module._default() == (expected or cpus)


@pytest.mark.parametrize("variable", ["3", None])
def test_a_new_process_starts_with_that_number(variable):
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    environment |= {"OMP_NUM_THREADS": variable} if variable else {}
    code = "from course_lib import fast; print(fast.threads())"
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert int(out.stdout) == int(variable or cpus)
