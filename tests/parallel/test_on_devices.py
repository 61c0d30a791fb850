"""Networks on a device, on the executor where there is no GPU: step by step and recorded, by MPI's way and NCCL's."""

import functools

import numba.cuda
import numpy as np
import pytest

from course_lib import cuda, fast, gpu, nn, parallel
from course_lib.cuda import device
from course_lib.cuda.choice import GPU, Choice
from course_lib.parallel import nccl, recorded
from course_lib.parallel.errors import RankError
from tests.gpu.devices import DEVICE
from tests.parallel.nccl_model import Host, run_on_model

pytestmark = pytest.mark.skipif(DEVICE == GPU, reason="ranks as threads would share one card; see measure_parallel.py")

SAME = {"rtol": 1e-5, "atol": 1e-6}
"""Float32 rounds by 6e-8; a dozen steps with sums of five rows in another order, and rates of 0.05: 1e-6 at most."""


def rng(seed=0):
    return np.random.default_rng(seed)


def shifted(x, generator):
    return x + generator.normal(scale=0.1, size=x.shape).astype(np.float32)


def trained(world=None, record=False, ops=cuda, rows=19, huge=None, **options):
    r = rng(0)
    squash = nn.Tanh() if huge is None else nn.ReLU()  # which hides nothing that is huge
    net = nn.Sequential(nn.Dense(6, 8, rng=r), squash, nn.Dense(8, 3, rng=r), ops=ops)
    x, y = rng(5).random((rows, 6), np.float32), rng(5).integers(0, 3, rows)
    if huge is not None:
        x[huge] = 3e38
    optimiser = nn.Adam(net)
    settings = {"epochs": 3, "batch_size": 5, "lr": 0.05, "progress": False, "optimiser": optimiser, **options}
    try:
        history = nn.train(net, (x, y), rng=rng(1), record=record, world=world, **settings)
    except nn.NotFiniteError as error:
        history = error
    return history, [net.ops.to_host(p).copy() for p in net.parameters().values()], optimiser.steps


def require_same(result, alone):
    (history, weights, steps), (history_1, weights_1, steps_1) = result, alone
    for a, b in zip(weights, weights_1, strict=True):
        np.testing.assert_allclose(a, b, **SAME)
    np.testing.assert_allclose(history.loss, history_1.loss, **SAME)
    assert (history.accuracy, steps) == (history_1.accuracy, steps_1)


def equal_bits(results):
    return len({(repr(history), *(w.tobytes() for w in weights)) for history, weights, _ in results}) == 1


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize(("size", "options"), [(2, {}), (3, {"rows": 11, "augment": shifted, "epochs": 2})])
def test_ranks_on_a_device_are_one_rank(monkeypatch, size, options, record):
    """With a bucket for each layer a recorded step has three parts, and sums between them."""
    monkeypatch.setattr(recorded, "BUCKET_BYTES", 1)
    results = parallel.run(lambda world: trained(world, record, **options), size)
    require_same(results[0], trained(None, False, **options))
    assert equal_bits(results)


def test_one_rank_recorded_has_the_bits_of_one_alone(monkeypatch):
    monkeypatch.setattr(recorded, "BUCKET_BYTES", 1)
    (together,) = parallel.run(lambda world: trained(world, True), 1)
    assert equal_bits([together, trained(None, True)])


@pytest.mark.parametrize("record", [False, True])
def test_a_rank_with_a_loss_that_is_no_number_keeps_all_from_stepping(record):
    """The row is in some batch of the first epoch; what came before it stays, what comes after it is left out."""
    with np.errstate(all="ignore"):
        alone = trained(None, False, huge=7)
        results = parallel.run(lambda world: trained(world, record, huge=7), 2)
    assert isinstance(alone[0], nn.NotFiniteError)
    for error, weights, steps in results:
        assert (str(error), steps) == (str(alone[0]), alone[2])
        for a, b in zip(weights, alone[1], strict=True):
            np.testing.assert_allclose(a, b, **SAME)


def test_a_step_has_the_parts_that_its_buckets_ask_for(monkeypatch):
    """Recorded once each: forward and back to the first bucket's end, back to the second's, the optimiser's step."""
    monkeypatch.setattr(recorded, "BUCKET_BYTES", 1)
    seen = []
    monkeypatch.setattr(gpu, "record", lambda f, first=True, own=gpu.record: seen.append(first) or own(f, first=first))
    parallel.run(lambda world: trained(world, True, rows=20), 1)
    assert seen == [False] * 3


def test_batches_that_count_differently_have_recordings_of_their_own(monkeypatch):
    """Rank 0 has two of the five rows of a batch, and two of the last one's four: what they count is recorded too."""
    made = {}

    class Noted(recorded.RecordedTogether):
        def __init__(self, task, world):
            super().__init__(task, world)
            made[world.rank] = self

    monkeypatch.setattr(recorded, "RecordedTogether", Noted)
    parallel.run(lambda world: trained(world, True, epochs=1), 2)
    assert sorted(made[0].steps.feeds) == [(2, 0), (2, 3)]
    assert sorted(made[1].steps.feeds) == [(2, 3), (3, 0)]


# ------------------------------------------------------------------------------------------------------- by NCCL


@pytest.fixture
def by_nccl(monkeypatch):
    """Return run(work, size): ranks that believe that they are GPUs; it returns (results, {rank: model of NCCL})."""
    monkeypatch.setattr(device, "take_card", lambda number: None)
    return run_on_model


def test_sums_and_messages_of_device_arrays(by_nccl):
    def work(world):
        for by in ("engine", "ring", "tree", "all_to_one"):
            for shape in ((7,), (2, 3), (1,)):
                array = gpu.to_device(np.full(shape, 1 + world.rank, np.float32))
                world.all_reduce(array, by)
                np.testing.assert_array_equal(gpu.to_host(array), np.full(shape, 6))
        host = np.arange(4.0) * world.rank  # NumPy arrays go by the host's messages
        world.all_reduce(host)
        np.testing.assert_array_equal(host, 3 * np.arange(4.0))
        world.broadcast(array := gpu.to_device(np.full(3, world.rank, np.float32)), 2)
        np.testing.assert_array_equal(gpu.to_host(array), np.full(3, 2))
        world.barrier()
        return repr(world)

    results, _ = by_nccl(work, 3)
    assert results[1] == "rank 1 of 3 (nccl)"


@pytest.mark.parametrize("record", [False, True])
@pytest.mark.parametrize("bucket_bytes", [1, 1 << 20])
def test_training_by_nccl_is_training_by_one(by_nccl, monkeypatch, record, bucket_bytes):
    monkeypatch.setattr(recorded, "BUCKET_BYTES", bucket_bytes)
    results, models = by_nccl(lambda world: trained(world, record), 2)
    require_same(results[0], trained(None, False))
    assert equal_bits(results)
    log = models[0].log
    if bucket_bytes > 1:  # one bucket: each step's four gradients and the flag in one group, after the layers' stream
        step = [("sum", 24), ("sum", 3), ("sum", 48), ("sum", 8), ("sum", 1)]
        counts = [entry for entry in log if entry[0] == "sum"]
        assert counts[:5] == step
        assert len(counts) == 5 * results[0][2]
        first = log.index(("sum", 24))
        assert log[first - 2][0] == "record"  # NCCL's stream waits for the layers' ...
        assert log[first - 1] == ("wait", 7)
        assert log[first + 5] == ("record", 7)  # ... and the layers' for NCCL's
        assert log[first + 6][0] == "wait"
        assert log[first + 6][1] != 7


def test_a_sum_that_is_never_done_is_aborted_and_told(by_nccl):
    told, models = {}, {}

    def work(world):
        models[world.rank] = world.model
        array = gpu.to_device(np.ones(3, np.float32))
        world.all_reduce(array)
        world.model.never, world.host.patience = True, 0.5
        try:
            world.all_reduce(array)
        except RankError as error:
            told[world.rank] = str(error)
            raise

    with pytest.raises(RankError):
        by_nccl(work, 2)
    assert sorted(told) == [0, 1]
    assert all(model.aborted for model in models.values())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda w: w.gradients(nn.models.mlp((3, 2), rng=rng(), ops=fast)), TypeError, "computes with course_lib.fast"),
        (lambda w: w.all_reduce([1]), TypeError, "array is list"),
        (lambda w: w.all_reduce(gpu.to_device(np.ones(3, np.uint8))), TypeError, "uint8; GPUs exchange"),
        (lambda w: w.all_reduce(gpu.to_device(np.ones((4, 4), np.float32))[:, :2]), ValueError, "a view with gaps"),
    ],
)  # fmt: skip
def test_what_nccl_cannot_sum_is_refused(by_nccl, call, error, message):
    def work(world):
        with pytest.raises(error, match=message):
            call(world)

    by_nccl(work, 1)


@pytest.fixture
def two_cards(monkeypatch):
    """A process that sees two cards, and has used none."""
    monkeypatch.setattr(device, "choice", lambda: Choice(GPU, "a test says so"))
    monkeypatch.setattr(device, "_taken", {})
    monkeypatch.setattr(numba.cuda, "gpus", [0, 1])
    monkeypatch.setattr(device, "executor", functools.cache(lambda: None))


def test_a_card_is_chosen_before_it_is_used(two_cards):
    device.take_card(1)
    device.executor()
    device.take_card(1)
    with pytest.raises(gpu.DeviceError, match="GPU 0 is asked for, and this process computes on GPU 1 already"):
        device.take_card(0)


def test_who_used_the_first_card_cannot_take_another(two_cards):
    device.executor()
    device.take_card(0)
    with pytest.raises(gpu.DeviceError, match=r"computes on GPU 0 already.*make them in work"):
        device.take_card(1)


def test_more_ranks_than_cards_are_told(two_cards):
    with pytest.raises(gpu.DeviceError, match=r"GPU 2 is asked for, and this process sees 2.*Start as many ranks"):
        device.take_card(2)


def test_a_machine_without_a_gpu_is_told():
    def work(world):
        with pytest.raises(gpu.DeviceError, match="there is no GPU: "):
            nccl.NcclWorld(Host(world.hall, 0))

    parallel.run(work, 1)
