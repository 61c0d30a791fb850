"""Products take one BLAS thread, or blocks of rows on several threads; the bits are the same."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from course_lib import fast, nn, reference
from course_lib.checks import check_close, product_tolerance
from course_lib.fast import products


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def threads_given_back():
    before = fast.threads()
    with threadpool_limits(None):
        yield
        fast.set_threads(before)


@pytest.mark.parametrize("shape", [(8, 5, 3), (64, 120, 84), (67, 30, 2), (9, 1, 1)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_blocks_of_rows_make_the_whole_product(shape, order, monkeypatch, threads_given_back):
    M, K, N = shape
    rng = np.random.default_rng(0)
    a = np.asarray(rng.integers(-4, 5, (M, K)), dtype=np.float32, order=order)
    b = np.asarray(rng.integers(-4, 5, (K, N)), dtype=np.float32, order=order)
    fast.set_threads(2)
    monkeypatch.setattr(products, "LARGE", 0)
    np.testing.assert_array_equal(products.product(a, b), a @ b)
    np.testing.assert_array_equal(products.product(a[:7], b), a[:7] @ b)  # fewer rows than blocks


def test_the_number_of_threads_changes_no_bit(monkeypatch, threads_given_back):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((1000, 700), dtype=np.float32), rng.standard_normal((700, 300), dtype=np.float32)
    assert a.size * b.shape[1] > products.LARGE
    results = []
    for count in (1, 2, 3):
        fast.set_threads(count)
        results += [products.product(a, b) for _ in range(2)]
    assert len({r.tobytes() for r in results}) == 1
    # |sum - exact| is bounded by the derived tolerance; float64 stands for exact.
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert (np.abs(results[0] - exact) <= product_tolerance(a, b)).all()


@pytest.mark.parametrize("large", [True, False])
def test_blas_gets_its_threads_back(large, threads_given_back, monkeypatch):
    fast.set_threads(2)
    seen = []
    monkeypatch.setattr(products, "LARGE", 0 if large else 1_000)
    real = np.matmul

    def spy(a, b, out=None):
        seen.extend(blas_threads())
        return real(a, b, out=out)

    if not blas_threads():
        pytest.skip("NumPy's BLAS is none whose threads can be set")
    monkeypatch.setattr(products.np, "matmul", spy)
    products.product(np.ones((9, 4)), np.ones((4, 2)))
    assert set(seen) == ({1} if large else set())  # a small one is left to NumPy, inside or outside of a training
    assert set(blas_threads()) == {2}


@pytest.mark.parametrize("ops", [fast, reference])
def test_training_and_evaluating_keep_blas_to_one_thread(ops, threads_given_back):
    fast.set_threads(2)
    if not blas_threads():
        pytest.skip("NumPy's BLAS is none whose threads can be set")
    seen = []

    class Spy(nn.Activation):
        def forward(self, x):
            seen.extend(blas_threads())
            return super().forward(x)

    rng = np.random.default_rng(0)
    net = nn.Sequential(nn.Dense(3, 2, rng=rng), Spy(), ops=ops)
    x, y = rng.standard_normal((4, 3)), np.array([0, 1, 0, 1])
    nn.train(net, (x, y), epochs=1, batch_size=2, lr=0.1, rng=rng, progress=False)
    nn.evaluate(net, x, y)
    assert set(seen) == {1}  # the reference too: its bits would depend on the number of threads
    assert set(blas_threads()) == {2}


def test_dense_layers_are_those_of_the_reference():
    rng = np.random.default_rng(0)
    x, w, b = (rng.integers(-4, 5, s).astype(np.float32) for s in ((5, 7), (7, 3), (3,)))
    dz = rng.integers(-4, 5, (5, 3)).astype(np.float32)
    for bias in (b, None):
        results = []
        for ops in (reference, fast):
            z, cache = ops.dense_forward(x, w, bias)
            results.append((z, *ops.dense_backward(dz, cache)))
            assert ops.dense_backward(dz, cache, need_dx=False)[0] is None
        for want, got in zip(*results, strict=True):
            assert (want is None and got is None) or check_close(got, want, rtol=0) is None


@pytest.mark.parametrize(
    "arguments",
    [(np.ones((2, 3)), np.ones((2, 3))), (np.ones((0, 3)), np.ones((3, 2))), (np.ones((2, 3)), np.ones((3, 2)), [1.0])],
)
def test_dense_errors_are_those_of_the_reference(arguments):
    messages = []
    for ops in (reference, fast):
        with pytest.raises(ValueError, match=r"must equal|empty|one number") as error:
            ops.dense_forward(*arguments)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_network_takes_the_same_steps_with_any_number_of_threads(threads_given_back):
    weights = []
    for count in (1, 3):
        fast.set_threads(count)
        rng = np.random.default_rng(0)
        net = nn.models.lenet5(rng=rng)
        x, y = rng.standard_normal((128, 1, 32, 32), dtype=np.float32), rng.integers(0, 10, 128)
        nn.train(net, (x, y), epochs=2, batch_size=64, lr=0.01, momentum=0.9, rng=rng, progress=False)
        weights.append({name: p.tobytes() for name, p in net.parameters().items()})
    assert weights[0] == weights[1]
