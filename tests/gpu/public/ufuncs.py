"""Universal functions, reductions and random numbers, as notebooks on Numba-CUDA have them."""

import math

import numpy as np
from numba import cuda, float32, float64, guvectorize, int64, vectorize
from numba.cuda.random import create_xoroshiro128p_states, init_xoroshiro128p_states

RESULTS = {}
rng = np.random.default_rng(1)


@vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
def hypotenuse(a, b):
    return math.sqrt(a * a + b * b)


@vectorize([int64(int64, int64), float64(float64, float64)], target="cuda")
def plus(a, b):
    return a + b


@vectorize(["float64(float64, float64)"], target="cuda")
def weighted(p, q):
    return p + 2 * q


@vectorize("float32(float32, float32, float32)", target="cuda")
def between(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


small = rng.integers(-50, 50, (6, 7)).astype(np.float32)
a, b = small * 3, small * 4
RESULTS["hypotenuse"] = hypotenuse(a, b)
RESULTS["hypotenuse of float64"] = hypotenuse(a.astype(np.float64), b.astype(np.float64))
RESULTS["name"] = hypotenuse.__name__
d_a, d_b = cuda.to_device(a), cuda.to_device(b)
on_device = hypotenuse(d_a, d_b)
RESULTS["stays on the device"] = cuda.is_cuda_array(on_device), on_device.shape, on_device.copy_to_host()
d_out = cuda.device_array_like(d_a)
hypotenuse(d_a, d_b, out=d_out)
RESULTS["out on the device"] = d_out.copy_to_host()
flat = np.zeros(7, np.float32)
hypotenuse(a[0], b[0], out=flat)
RESULTS["out on the host"] = flat
RESULTS["with a number"] = plus(np.arange(5), 3)
RESULTS["device array with a number"] = plus(cuda.to_device(np.arange(5.0)), 3.5).copy_to_host()
RESULTS["rows and columns"] = plus(np.arange(3)[:, None], np.arange(4)[None, :])
RESULTS["row on the device"] = plus(
    cuda.to_device(np.arange(6).reshape(2, 3)), cuda.to_device(np.ones((2, 1), np.int64))
)
RESULTS["row on the device"] = RESULTS["row on the device"].copy_to_host()
RESULTS["three numbers"] = between(a, np.float32(-10), np.float32(10))
ones, numbers = np.ones((2, 3)), np.arange(3.0)
RESULTS["too few axes"] = (
    weighted(ones, numbers),
    weighted(cuda.to_device(ones), cuda.to_device(numbers)).copy_to_host(),
)
RESULTS["axes of one element"] = weighted(ones, numbers[None]), weighted(ones, numbers[:2, None])
RESULTS["stream"] = hypotenuse(d_a, d_b, stream=cuda.stream()).copy_to_host()
RESULTS["ufunc reduce"] = int(plus.reduce(np.arange(101)))


def failing(function, *arguments, **options):
    """Return the class and the text of what goes wrong."""
    try:
        return str(function(*arguments, **options))
    except Exception as error:
        return type(error).__name__, str(error)


RESULTS["other dtype"] = failing(plus, np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int32))
RESULTS["other shape"] = failing(plus, np.arange(3), np.arange(4))


@guvectorize(
    ["void(float64[:], float64[:], float64[:])", "void(int64[:], int64[:], int64[:])"], "(n),(n)->()", target="cuda"
)
def inner(p, q, result):
    total = 0
    for i in range(p.shape[0]):
        total += p[i] * q[i]
    result[0] = total


@guvectorize(["(float32[:,:], float32[:,:], float32[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda")
def product(p, q, result):
    for i in range(result.shape[0]):
        for j in range(result.shape[1]):
            acc = float32(0)
            for k in range(p.shape[1]):
                acc += p[i, k] * q[k, j]
            result[i, j] = acc


@guvectorize(["void(int64[:], int64, int64[:])"], "(n),()->(n)", target="cuda")
def shifted(p, by, result):
    for i in range(p.shape[0]):
        result[i] = p[i] + by


rows = rng.integers(-9, 9, (5, 4))
RESULTS["inner"] = inner(rows, rows)
RESULTS["inner of floats"] = inner(rows.astype(float), rows.astype(float))
RESULTS["inner on the device"] = inner(cuda.to_device(rows), cuda.to_device(rows)).copy_to_host()
RESULTS["inner with one row"] = inner(rows, rows[0])
matrices = rng.integers(-9, 9, (3, 4, 4)).astype(np.float32)
RESULTS["product"] = product(matrices, matrices)
given = cuda.device_array((3, 4, 4), np.float32)
product(cuda.to_device(matrices), cuda.to_device(matrices), out=given)
RESULTS["product into out"] = given.copy_to_host()
RESULTS["shifted"] = shifted(rows, 3)
RESULTS["shifted by each"] = shifted(rows, np.arange(5))
RESULTS["inner of other sizes"] = failing(inner, rows, rows[:, :3])


@cuda.reduce
def total(p, q):
    return p + q


@cuda.Reduce
def largest(p, q):
    return p if p > q else q


numbers = rng.random(10_007)
for size in (0, 1, 2, 31, 32, 33, 64, 96, 127, 128, 129, 130, 1000, 10_007):
    RESULTS[f"sum of {size}"] = float(total(numbers[:size]))
    RESULTS[f"float32 sum of {size}"] = float(total(cuda.to_device(numbers[:size].astype(np.float32)), init=2))
RESULTS["part"] = float(total(numbers, size=50))
RESULTS["largest"] = float(largest(numbers, init=-1))
place = cuda.device_array(1)
RESULTS["into res"] = total(cuda.to_device(numbers), res=place), float(place[0])
RESULTS["two axes"] = failing(total, np.ones((2, 2)))

states = create_xoroshiro128p_states(6, seed=3, subsequence_start=2)
RESULTS["states"] = states.copy_to_host().view(np.uint64)
init_xoroshiro128p_states(states, 4)
RESULTS["states again"] = states.copy_to_host().view(np.uint64)
RESULTS["smallest"] = float(cuda.Reduce(lambda p, q: p if p < q else q)(numbers, init=2))
