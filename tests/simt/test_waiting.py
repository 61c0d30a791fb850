"""Threads that wait get on where others can help, and are told where nobody can; a lock orders what it guards."""

import numpy as np
import pytest
from numba import cuda, int32

from course_lib import simt
from tests.simt.text import function


def zeros(n):
    return np.zeros(n, np.int32)


def collect(kernel, grid, block, *arrays):
    return simt.run(kernel, grid, block, arrays, on_error="collect")


@cuda.jit(device=True)
def acquire(lock):
    while cuda.atomic.compare_and_swap(lock, 0, 1) != 0:
        pass
    cuda.threadfence()


@cuda.jit(device=True)
def release(lock):
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@cuda.jit
def counts_under_a_lock(lock, count):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    count[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@cuda.jit
def counts_twice_with_functions(lock, count):
    for _ in range(2):
        acquire(lock)
        count[0] += 1
        release(lock)
    cuda.syncthreads()


@cuda.jit
def waits_longer_each_time(lock, count):
    done, ns = False, 8
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            cuda.threadfence()
            count[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
            done = True
        else:
            cuda.nanosleep(ns)
            ns = min(ns * 2, 256)


@cuda.jit
def takes_the_lock_by_exchange(lock, count):
    while cuda.atomic.exch(lock, 0, 1) == 1:
        pass
    cuda.threadfence()
    count[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@pytest.mark.parametrize(("kernel", "times"), [
    (counts_under_a_lock, 1), (counts_twice_with_functions, 2), (waits_longer_each_time, 1),
    (takes_the_lock_by_exchange, 1),
])  # fmt: skip
@pytest.mark.parametrize(("grid", "block"), [(8, 1), (1, 32), (3, 40)])
def test_lock_lets_one_thread_after_the_other_in_and_nothing_races(kernel, times, grid, block):
    lock, count = zeros(1), zeros(1)
    report = collect(kernel, grid, block, lock, count)
    assert [str(h) for h in report.hazards] == []
    assert (count[0], lock[0]) == (times * grid * block, 0)


def test_first_thread_of_each_block_takes_a_lock_while_the_others_wait_at_the_barrier():
    @cuda.jit
    def kernel(lock, count, out):
        s = cuda.shared.array(1, int32)
        if cuda.threadIdx.x == 0:
            acquire(lock)
            count[0] += 1
            s[0] = count[0]
            release(lock)
        cuda.syncthreads()
        out[cuda.grid(1)] = s[0]

    count, out = zeros(1), zeros(12)
    report = collect(kernel, 4, 3, zeros(1), count, out)
    assert [str(h) for h in report.hazards] == []
    assert count[0] == 4
    np.testing.assert_array_equal(np.sort(out[::3]), [1, 2, 3, 4])
    np.testing.assert_array_equal(out, np.repeat(out[::3], 3))


@pytest.mark.parametrize("consumer", [0, 1])
def test_block_waits_for_what_another_block_writes(consumer):
    @cuda.jit
    def kernel(flag, data, out):
        t = cuda.threadIdx.x
        if cuda.blockIdx.x == consumer:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            out[t] = data[t]
        else:
            data[t] = t + 5
            cuda.syncthreads()
            cuda.threadfence()
            if t == 0:
                cuda.atomic.exch(flag, 0, 1)

    out = zeros(64)
    report = collect(kernel, 2, 64, zeros(1), zeros(64), out)
    assert [str(h) for h in report.hazards] == []
    np.testing.assert_array_equal(out, np.arange(64) + 5)


def test_threads_take_turns_by_a_ticket_within_a_loop_over_rounds():
    @cuda.jit
    def kernel(turn, out):
        me = cuda.grid(1)
        for k in range(3):
            while cuda.atomic.add(turn, 0, 0) != me + k * 8:
                pass
            out[me, k] = cuda.atomic.add(turn, 0, 1)

    out = np.zeros((8, 3), np.int32)
    report = collect(kernel, 2, 4, zeros(1), out)
    assert [str(h) for h in report.hazards] == []
    np.testing.assert_array_equal(out, np.arange(24).reshape(3, 8).T)


def test_wait_that_nobody_ends_is_told_at_once_with_what_it_waits_for():
    @cuda.jit
    def kernel(flag, out):
        if cuda.threadIdx.x < 2:
            while flag[0] == 0:  # bad
                pass
        out[cuda.threadIdx.x] = 1

    out = zeros(4)
    with pytest.raises(simt.KernelError, match=r"`flag\[0\] == 0` stays as it is.*Still in it: thread 0") as raised:
        simt.run(kernel, 1, 4, (zeros(1), out))
    assert raised.value.line == kernel.py_func.__code__.co_firstlineno + 3
    np.testing.assert_array_equal(out, [0, 0, 1, 1])  # the others went on, and it did not help


def test_wait_at_a_barrier_for_threads_that_wait_themselves_never_ends():
    @cuda.jit
    def kernel(flag):
        if cuda.threadIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
        cuda.syncthreads()
        if cuda.threadIdx.x == 1:
            cuda.atomic.add(flag, 0, 1)

    with pytest.raises(simt.KernelError, match="does not come to an end"):
        simt.run(kernel, 1, 4, (zeros(1),))


def test_lock_that_is_given_back_without_a_fence_orders_nothing():
    @cuda.jit
    def kernel(lock, count):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        count[0] += 1
        cuda.atomic.exch(lock, 0, 0)

    report = collect(kernel, 1, 8, zeros(1), zeros(1))
    assert {(h.kind, h.array) for h in report.hazards} == {("race", "count")}


def test_access_beside_the_lock_races_with_those_under_it():
    @cuda.jit
    def kernel(lock, count, out):
        if cuda.threadIdx.x == 3:
            out[0] = count[0]
        else:
            acquire(lock)
            count[0] += 1
            release(lock)

    report = collect(kernel, 1, 4, zeros(1), zeros(1), zeros(1))
    assert {(h.kind, h.array) for h in report.hazards} == {("race", "count")}


def test_compare_and_swap_that_lets_several_in_is_no_lock():
    @cuda.jit
    def kernel(counter, out):
        old = counter[0]
        while True:
            seen = old
            old = cuda.atomic.cas(counter, 0, seen, seen + 1)
            if old == seen:
                break
        cuda.threadfence()
        out[0] = cuda.threadIdx.x
        cuda.threadfence()

    counter = zeros(1)
    report = collect(kernel, 1, 8, counter, zeros(1))
    assert counter[0] == 8
    assert ("race", "out") in {(h.kind, h.array) for h in report.hazards}


def test_two_locks_do_not_guard_one_element():
    @cuda.jit
    def kernel(locks, count):
        mine = cuda.threadIdx.x % 2
        while cuda.atomic.cas(locks, mine, 0, 1) != 0:
            pass
        cuda.threadfence()
        count[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(locks, mine, 0)

    report = collect(kernel, 1, 8, zeros(2), zeros(1))
    assert {(h.kind, h.array) for h in report.hazards} == {("race", "count")}


def test_thread_that_holds_two_locks_is_ordered_by_either():
    @cuda.jit(device=True)
    def take(locks, k):
        while cuda.atomic.cas(locks, k, 0, 1) != 0:
            pass

    @cuda.jit
    def kernel(money, locks):
        i = cuda.grid(1)
        j = (3 * i + 1) % money.size
        if i != j:
            first, second = (i, j) if i < j else (j, i)
            take(locks, first)
            take(locks, second)
            cuda.threadfence()
            money[i] += 1
            money[j] -= 1
            cuda.threadfence()
            cuda.atomic.exch(locks, second, 0)
            cuda.atomic.exch(locks, first, 0)

    money = zeros(8)
    report = collect(kernel, 1, 8, money, zeros(8))
    assert [str(h) for h in report.hazards] == []
    expected = zeros(8)
    for i in range(8):
        expected[i] += i != (3 * i + 1) % 8
        expected[(3 * i + 1) % 8] -= i != (3 * i + 1) % 8
    np.testing.assert_array_equal(money, expected)


LONG = """
    @cuda.jit(device=True)
    def warp_total(value):
        step = 16
        while step > 0:
            value += cuda.shfl_xor_sync(0xFFFFFFFF, value, step)
            step //= 2
        return value

    @cuda.jit(device=True)
    def block_total(value, s):
        value = warp_total(value)
        if cuda.threadIdx.x % 32 == 0:
            s[cuda.threadIdx.x // 32] = value
        cuda.syncthreads()
        return s[0] + s[1]

    def kernel(x, out):
        s = cuda.shared.array(2, float64)
        t = cuda.threadIdx.x
        found, steps = 0.0, 0.0
        if t % 64 < 5:
            {loop}
        found, one = block_total(found, s), 1.0
        cuda.syncthreads()
        steps = warp_total(one)
        if cuda.any_sync(0xFFFFFFFF, t == 3):
            steps += 1
        out[t] = found + steps
"""
LOOPS = {
    "a for that adds up": "for j in range(x.size):\n                found += x[j]",
    "a while that counts": "j = 0\n            while j < x.size:\n                found += x[j]\n"
                           "                j += 1",
    "a while that looks for something": "j = 0\n            while x[j] < 2:\n                found += x[j]\n"
                                        "                j += 1\n            found += x[j]",
    "a for with a way out": "for j in range(x.size):\n                found += x[j]\n"
                            "                if x[j] == 2:\n                    break",
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_lanes_meet_behind_a_long_loop_of_some(name):
    x, out = np.ones(2500), np.zeros(64)
    x[-1] = 2
    report = simt.run(function(LONG.format(loop=LOOPS[name])), 1, 64, (x, out))
    assert not report.hazards
    np.testing.assert_array_equal(out[:32], 5 * 2501 + 32 + 1)
    np.testing.assert_array_equal(out[32:], 5 * 2501 + 32)
