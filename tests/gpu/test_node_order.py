"""Launches of a recorded graph wait for whom they need: in any order that the ties allow, the same comes out."""

from dataclasses import replace

import numpy as np
import pytest
from numba import cuda

from course_lib import cuda as ops
from course_lib import gpu, nn
from course_lib.cuda import hopper, intrinsics
from course_lib.cuda.device import executor
from course_lib.cuda.hopper import shared_address, tma_load
from course_lib.cuda.intrinsics import ld4, st4
from course_lib.cuda.ladders.gemm import half_tma, v11_wgmma_tf32, v12_tma_tf32, v13_tma_3xtf32
from course_lib.cuda.node_order import NodeOrder
from course_lib.cuda.recording import record_launches
from course_lib.cuda.writes import READERS, WRITE_FIRST, written
from tests.gpu.devices import needs_simt


def tied(order):
    """Return for each launch the set of those that come before it, directly or not."""
    return [{i for i in range(len(order.before)) if bits >> i & 1} for bits in order.before]


@pytest.mark.parametrize("seed", range(20))
def test_two_launches_are_tied_just_if_one_writes_what_the_other_uses_or_a_third_stands_between(seed):
    rng = np.random.default_rng(seed)
    order, launches, waits = NodeOrder(), [], []
    for _ in range(30):
        starts = rng.integers(0, 40, 3)
        uses = [(int(s), int(s + rng.integers(1, 9)), bool(rng.integers(2))) for s in starts]
        waits.append(order.add(uses))
        launches.append(uses)
    before = tied(order)
    expected = [set() for _ in launches]
    for later in range(30):
        for earlier in range(later):
            meet = [
                (a, b)
                for a in launches[earlier]
                for b in launches[later]
                if a[0] < b[1] and b[0] < a[1] and (a[2] or b[2])
            ]
            if meet:
                expected[later] |= {earlier} | expected[earlier]
    assert before == expected
    for node, ties in enumerate(waits):
        assert set(ties) == {t for t in before[node] if not any(t in before[other] for other in before[node])}


@gpu.jit(device=True)
def store(row, j, value):
    row[j] = value


@gpu.jit(device=True)
def put(pair, value):
    pair[0][0] = value


@gpu.jit(device=True)
def total(row):
    return row[0] + row[1]


@gpu.jit
def sets(a, b):
    b[0] = a[0]


@gpu.jit
def adds(a, b):
    b[0] += a[0]


@gpu.jit
def through_a_part(a, b):
    row = b[0]
    other = row
    other[1] = a[0, 0]


@gpu.jit
def through_a_function(a, b):
    store(b[1], 0, total(a[0]))


@gpu.jit
def atomically(a, b):
    cuda.atomic.add(b, 0, a[0])


@gpu.jit
def widely(a, b):
    w, x, y, z = ld4(a, 0)
    st4(b, 0, w, x, y, z)


@gpu.jit
def by_choice(a, b, c):
    d = b if c[0] > 0 else c
    d[0] = a[0]


@gpu.jit
def by_exchange(a, b):
    a, b = b, a
    a[0] = b[0]


@gpu.jit
def of_a_pair(a, b):
    put((a,) + (b,), 1.0)  # noqa: RUF005 (what it is about)


@gpu.jit
def in_a_loop(a, b):
    for row in b:
        row[0] = a[0, 0]


@gpu.jit
def in_two_places(a, b):
    (a if a[0] > 0 else b)[0] = 1


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (sets, {1}), (adds, {1}), (through_a_part, {1}), (through_a_function, {1}), (atomically, {1}), (widely, {1}),
        (by_choice, {1, 2}), (by_exchange, {0, 1}), (of_a_pair, {0, 1}), (in_a_loop, {1}), (in_two_places, {0, 1}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_what_a_kernel_may_write_is_read_off_its_text(kernel, expected):
    assert written(kernel) == expected


def test_each_intrinsic_is_known_to_write_or_to_read_or_takes_no_array():
    without_arrays = {n for n in intrinsics.NAMES if n.startswith(("cp_async_commit", "cp_async_wait"))}
    without_arrays |= {"cluster_rank", "cluster_sync", "mbarriers_ready", "shared_to_async", *hopper.REGISTERS}
    without_arrays |= {"wgmma_fence", "wgmma_commit", "wgmma_wait0", "wgmma_wait1"}
    assert {*READERS, *WRITE_FIRST} | without_arrays == {*intrinsics.NAMES, *hopper.NAMES}
    assert not set(READERS) & set(WRITE_FIRST)


@pytest.mark.parametrize("cluster", [1, 2])
def test_hoppers_products_write_their_result_and_a_graph_sees_what_they_read(cluster):
    make = {
        v11_wgmma_tf32: lambda stages: v11_wgmma_tf32.make_gemm_v11(stages, True),
        v12_tma_tf32: v12_tma_tf32.make_gemm_v12,
        v13_tma_3xtf32: v13_tma_3xtf32.make_gemm_v13,
        half_tma: lambda stages: half_tma.make_gemm_half(stages, "bf16", True),
    }
    for module, made in make.items():
        kernel = made(replace(module.STAGES, cluster=cluster))
        assert kernel.parameters[:3] == ("A", "B", "C")  # what is read through maps is an argument too
        assert written(kernel) == {2}
    assert written(half_tma.copy_rows) == {1}


@gpu.jit
def by_a_unit(a, maps, b):
    tma_load(b, maps, 0, 0, 0, shared_address(a, 0))


@gpu.jit
def by_four_warps(a, b):
    product(b, 0, a, 0, 1, 1)


product = hopper.wgmma_tf32_n64


def test_hoppers_instructions_write_what_comes_first_whatever_they_are_called():
    assert written(by_a_unit) == {2}
    assert written(by_four_warps) == {1}


def test_a_kernel_whose_text_cannot_be_had_may_write_everything():
    names = {"gpu": gpu}
    exec("@gpu.jit\ndef unseen(a, b):\n    b[0] = a[0]\n", names)
    assert written(names["unseen"]) == {0, 1}


NETS = {
    "MLP": (lambda rng: nn.Sequential(nn.Dense(9, 8, rng=rng), nn.Sigmoid(), nn.Dense(8, 3, rng=rng)), (9,)),
    "CNN": (
        lambda rng: nn.Sequential(
            nn.Conv2d(1, 2, 3, rng=rng), nn.ReLU(), nn.MaxPool(2), nn.Conv2d(2, 3, 3, rng=rng), nn.ScaledTanh(),
            nn.Subsample(3), nn.Dropout(0.25, rng=rng), nn.Flatten(), nn.Dense(12, 3, rng=rng),
        ),
        (1, 14, 14),
    ),
}  # fmt: skip


def one_step(name):
    """Return (launches of one training step, noted and not run, arrays to look at in the end)."""
    rng = np.random.default_rng(0)
    net, shape = NETS[name][0](rng), NETS[name][1]
    for layer in net:
        layer.use(ops)
    net = nn.Sequential(*net, ops=ops)
    x = gpu.to_device(rng.normal(size=(5, *shape)).astype(np.float32))
    labels = gpu.to_device(np.array([0, 1, 2, 0, 1]))
    optimiser = nn.Adam(net, weight_decay=0.01)
    with record_launches(run=False) as launches, net.training():
        sums, cache = ops.softmax_cross_entropy_sums(net.forward(x), labels)
        net.zero_grad()
        net.backward_parameters(ops.softmax_cross_entropy_backward(cache))
        optimiser.step(0.01)
    return launches, [sums, *net.parameters().values(), *net.gradients().values()]


def arrays_of(launch):
    return [(i, a) for i, a in enumerate(launch.arguments) if executor().owns(a) and a.size]


def span(array):
    start = array.numbers.__array_interface__["data"][0]
    return start, start + array.size * array.dtype.itemsize


@needs_simt
@pytest.mark.parametrize("name", NETS)
def test_no_launch_of_a_training_step_changes_what_it_is_not_known_to_write(name):
    launches, _ = one_step(name)
    wrote, known = {}, {}
    for launch in launches:
        before = {i: a.numbers.tobytes() for i, a in arrays_of(launch)}
        launch.again()
        changed = {i for i, a in arrays_of(launch) if a.numbers.tobytes() != before[i]}
        shared = {i for i, a in arrays_of(launch) for j, b in arrays_of(launch) if j != i and span(a) == span(b)}
        assert changed - shared <= written(launch.kernel), launch.kernel
        wrote[launch.kernel] = wrote.get(launch.kernel, set()) | changed
        known[launch.kernel] = written(launch.kernel) & {i for i, _ in arrays_of(launch)}
    taken_for = {k.__name__ for k in known if not known[k] <= wrote[k]}
    assert taken_for <= {"_zero"}, "nothing is taken to be written that never is; zeros on zeros change nothing"


@needs_simt
@pytest.mark.parametrize("name", NETS)
def test_a_training_step_gives_equal_bits_in_every_order_that_its_ties_allow(name):
    launches, results = one_step(name)
    order = NodeOrder()
    for launch in launches:
        writes = written(launch.kernel)
        order.add([(*span(a), i in writes) for i, a in arrays_of(launch)])
    arrays = {span(a): a for launch in launches for _, a in arrays_of(launch)}.values()
    start = [a.numbers.copy() for a in arrays]
    rng, outcomes, orders = np.random.default_rng(1), [], []
    for turn in range(4):
        for array, numbers in zip(arrays, start, strict=True):
            array.fill_from(numbers)
        done, waiting = set(), list(range(len(launches)))
        while waiting:
            may = [n for n in waiting if tied(order)[n] <= done]
            node = may[0 if turn == 0 else -1 if turn == 1 else rng.integers(len(may))]
            launches[node].again()
            done.add(node)
            waiting.remove(node)
        orders.append(may)
        outcomes.append([gpu.to_host(a).tobytes() for a in results])
    assert all(outcome == outcomes[0] for outcome in outcomes)
    depth = {}
    for node, ties in enumerate(tied(order)):
        depth[node] = 1 + max((depth[t] for t in ties), default=0)
    assert max(depth.values()) < len(launches) * 2 / 3, "there is something that may overlap"
