"""`fast` gives what the reference gives: exactly on small integers, and the same errors, types and NaN."""

import inspect
import itertools

import numpy as np
import pytest

from course_lib import fast, reference
from tests.cases import all_of

from ..reference.strategies import LAYOUTS, lay_out

POOLS = [(2, None, 0), (2, 1, 0), ((3, 2), (1, 2), 1), (3, 2, (1, 0)), (1, 2, 0), ((1, 4), (2, 3), (0, 3)), (16, 1, 0)]


def integers(seed, *shape, dtype=np.float32):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def distinct(seed, *shape, dtype=np.float32):
    """Numbers that are all different, so that one of each window is the largest."""
    return np.random.default_rng(seed).permutation(int(np.prod(shape))).reshape(shape).astype(dtype) - 20


def conv(ops, x, w, b=None, stride=1, pad=0, *, dy=None, seed=9, lay=lambda a: a):
    """Return (y, dx, dw, db) of a convolution for a seeded upstream gradient of integers."""
    y, cache = ops.conv2d_forward(lay(x), lay(w), b, stride, pad)
    dy = integers(seed, *y.shape, dtype=y.dtype) if dy is None else dy
    return y, *ops.conv2d_backward(lay(dy), cache)


def pool(ops, kind, x, *options, lay=lambda a: a):
    """Return (y, dx) of a pooling layer for a seeded upstream gradient of integers."""
    y, cache = getattr(ops, f"{kind}_forward")(lay(x), *options)
    return y, getattr(ops, f"{kind}_backward")(lay(integers(8, *y.shape, dtype=y.dtype)), cache)


def subsample(ops, x, w, b, size=2, lay=lambda a: a):
    """Return (y, dx, dw, db) of LeNet's S layer for a seeded upstream gradient of integers."""
    y, cache = ops.subsample_forward(lay(x), w, b, size)
    return y, *ops.subsample_backward(lay(integers(8, *y.shape, dtype=y.dtype)), cache)


def activation(ops, kind, z, *options, lay=lambda a: a):
    """Return (a, dz) for a seeded upstream gradient of integers."""
    a, cache = getattr(ops, f"{kind}_forward")(lay(z), *options)
    return a, getattr(ops, f"{kind}_backward")(lay(integers(8, *z.shape, dtype=a.dtype)), cache)


def assert_same(got, want):
    """Equal element for element, NaN included, and of equal type."""
    for one, other in zip(got, want, strict=True):
        if other is None:
            assert one is None
            continue
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_fast_has_every_name_of_the_reference_and_four_more():
    assert set(fast.__all__) - set(reference.__all__) == {
        "set_threads",
        "threads",
        "compile_seconds",
        "one_blas_thread",
    }
    assert set(reference.__all__) <= set(fast.__all__)
    for name in reference.__all__:
        one, other = getattr(fast, name), getattr(reference, name)
        if inspect.isfunction(other):
            assert inspect.signature(one) == inspect.signature(other), name


@pytest.mark.parametrize(("stride", "pad"), list(itertools.product(itertools.product((1, 2, 3), repeat=2), (0, 1, 2))))
def test_convolution_is_exact_on_integers(stride, pad):
    """Odd and even numbers of maps and 1 to 30 taps: the kernels take two maps and five taps at a time."""
    masks = [(1, 1), (1, 2), (3, 1), (2, 2), (5, 1), (2, 3), (3, 3), (5, 3)]
    for case, (mask, C, M) in enumerate(itertools.product(masks, (1, 2, 3), (1, 2, 3))):
        B, H, W = ((1, 8, 6), (7, 5, 7), (2, 6, 9))[(case + C) % 3]
        x, w, b = integers(case, B, C, H, W), integers(case + 1, M, C, *mask), integers(case + 2, M)
        b = None if case % 4 == 0 else b
        assert_same(conv(fast, x, w, b, stride, pad), conv(reference, x, w, b, stride, pad))


@all_of("taps", range(1, 33))
@all_of("M", [1, 2, 5])
def test_every_number_of_taps_is_summed_whole(taps, M):
    x, w, b = integers(taps, 3, 1, 4, taps + 5), integers(M, M, 1, 1, taps), integers(3, M)
    assert_same(conv(fast, x, w, b), conv(reference, x, w, b))


@pytest.mark.parametrize("B", [1, 2, 7, 64, 67])
@pytest.mark.parametrize(("stride", "pad"), [(1, 0), (1, 2), ((2, 1), (0, 1)), (3, 1)])
def test_every_batch_size_is_exact(B, stride, pad):
    x, w, b = integers(0, B, 3, 9, 20), integers(1, 5, 3, 3, 3), integers(2, 5)
    assert_same(conv(fast, x, w, b, stride, pad), conv(reference, x, w, b, stride, pad))


@all_of(
    ("B", "W"), [(1, 1026), (1, 2100), (1, 3077), (64, 18), (64, 19), (64, 34), (67, 47), (1500, 4)]
)
@all_of("stride", [1, 2])
@all_of("pad", [0, 1])
def test_rows_longer_than_the_kernels_work_on_at_a_time(B, W, stride, pad):
    """A row of W_out * B numbers is worked on 1024 at a time; with a stride, B numbers at a time."""
    x, w, b = integers(0, B, 2, 3, W), integers(1, 3, 2, 2, 3), integers(2, 3)
    assert_same(conv(fast, x, w, b, stride, pad), conv(reference, x, w, b, stride, pad))


@pytest.mark.parametrize("stride", [(3, 3), (4, 5), (7, 7)])
def test_pixels_that_no_window_sees_get_no_gradient(stride):
    x, w = integers(0, 4, 2, 12, 13), integers(1, 3, 2, 2, 2)
    got = conv(fast, x, w, None, stride)
    assert_same(got, conv(reference, x, w, None, stride))
    rows, columns = (1 + (n - 2) // s for n, s in zip((12, 13), stride, strict=True))
    seen = np.zeros((12, 13), bool)
    for h, v in itertools.product(range(rows), range(columns)):
        seen[h * stride[0] : h * stride[0] + 2, v * stride[1] : v * stride[1] + 2] = True
    assert not seen.all()
    assert not got[1][:, :, ~seen].any()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("mask", "pad", "stride"), [((5, 4), 0, 1), ((9, 6), (2, 1), 1), ((5, 4), 0, 3), ((7, 4), (1, 0), 2)]
)
@pytest.mark.parametrize("B", [1, 7, 64])
def test_a_mask_as_large_as_the_image(mask, pad, stride, bias, B):
    """There is one place, and the layer is a matrix product."""
    x, w, b = integers(0, B, 3, 5, 4), integers(1, 5, 3, *mask), integers(2, 5) if bias else None
    got = conv(fast, x, w, b, stride, pad)
    assert got[0].shape == (B, 5, 1, 1)
    assert_same(got, conv(reference, x, w, b, stride, pad))


@all_of(("kind", "B"), list(itertools.product(["max_pool", "average_pool"], [1, 7, 67])))
@all_of(("size", "stride", "pad"), POOLS)
def test_pooling_is_exact(kind, B, size, stride, pad):
    x = distinct(0, B, 3, 17, 16)
    if kind == "average_pool":  # divided by 3 x 2 both round, and must round alike
        x = integers(0, B, 3, 17, 16)
    got, want = (pool(ops, kind, x, size, stride, pad) for ops in (fast, reference))
    if kind == "max_pool" or np.prod(size) in (1, 4, 16):
        assert_same(got, want)
    for one, other in zip(got, want, strict=True):  # a window's shares overlap: their sum rounds by its order
        np.testing.assert_allclose(one, other, rtol=4e-6, atol=4e-6)


@pytest.mark.parametrize("size", [2, 3, (15, 17), (16, 16), (16, 17)])
def test_of_equal_values_the_first_wins_whatever_the_window(size):
    """Windows of 255, 256 and more positions too: the number of a position must fit into what holds it."""
    x = integers(0, 3, 2, 16, 17)
    assert_same(pool(fast, "max_pool", x, size, 1), pool(reference, "max_pool", x, size, 1))
    x = distinct(0, 3, 2, 16, 17)
    x[:, :, -1, -1] = 10_000  # the last position wins
    assert_same(pool(fast, "max_pool", x, size), pool(reference, "max_pool", x, size))


@pytest.mark.parametrize("B", [1, 7, 67])
@pytest.mark.parametrize("size", [1, 2, (4, 2)])
def test_subsampling_is_exact(B, size):
    x, w, b = integers(0, B, 3, 9, 8), integers(1, 3), integers(2, 3)
    assert_same(subsample(fast, x, w, b, size), subsample(reference, x, w, b, size))


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 7), (2, 3, 5, 4), (1, 1, 1, 1), (0,), (0, 2, 3, 3), (2, 0)])
@pytest.mark.parametrize("kind", ["relu", "leaky_relu"])
def test_relu_is_exact(kind, shape):
    options = (0.25,) if kind == "leaky_relu" else ()
    got, want = (activation(ops, kind, integers(0, *shape), *options) for ops in (fast, reference))
    assert_same(got, want)
    assert [a.shape for a in got] == [shape, shape]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("B", [1, 6])
def test_the_layout_in_memory_does_not_matter(layout, B):
    x, w, b = distinct(0, B, 2, 6, 5), integers(1, 3, 2, 3, 2), integers(2, 3)
    calls = [
        lambda lay: conv(fast, x, w, b, (2, 1), 1, lay=lay),
        lambda lay: conv(fast, x, integers(3, 3, 2, 6, 5), b, lay=lay),  # one place
        lambda lay: pool(fast, "max_pool", x, 2, 1, lay=lay),
        lambda lay: pool(fast, "average_pool", x, 2, lay=lay),
        lambda lay: subsample(fast, x, w[:2, 0, 0, 0], b[:2], lay=lay),
        lambda lay: activation(fast, "relu", x, lay=lay),
        lambda lay: activation(fast, "leaky_relu", x, lay=lay),
    ]
    kept = x.copy(), w.copy(), b.copy()
    for call in calls:
        assert_same(call(lambda a: lay_out(a, layout)), call(lambda a: a))
    assert_same((x, w, b), kept)


TYPES = (np.float32, np.float64, np.int64, np.uint8, bool)


@pytest.mark.parametrize(("x_type", "w_type"), list(itertools.product(TYPES, repeat=2)))
def test_types_are_those_of_the_reference(x_type, w_type):
    """For an upstream gradient of the output's type or a wider one; of a narrower one, `fast` widens all gradients."""
    x, w, b = (abs(integers(i, *s)) for i, s in enumerate(((2, 2, 6, 4), (3, 2, 3, 3), (3,))))
    x, w = x.astype(x_type), w.astype(w_type)
    for bias in (b, b.astype(np.float64), None):
        assert_same(conv(fast, x, w, bias), conv(reference, x, w, bias))
    for mask in (w, np.ones((3, 2, 6, 4), w_type)):
        y = reference.conv2d_forward(x, mask)[0]
        for dy_type in (y.dtype, np.float64, np.int64):
            dy = integers(4, *y.shape, dtype=dy_type)
            assert_same(conv(fast, x, mask, b, dy=dy), conv(reference, x, mask, b, dy=dy))
    for kind in ("max_pool", "average_pool"):
        for dy_type in TYPES[:3]:
            results = []
            for ops in (fast, reference):
                y, cache = getattr(ops, f"{kind}_forward")(x)
                dy = integers(4, *y.shape, dtype=dy_type)
                results.append((y, getattr(ops, f"{kind}_backward")(dy, cache)))
            assert_same(*results)
    for b_type in TYPES[:3]:
        scale, shift = w[0, :, 0, 0], np.ones(2, b_type)
        assert_same(subsample(fast, x, scale, shift), subsample(reference, x, scale, shift))
    for kind in ("relu", "leaky_relu"):
        results = []
        for ops in (fast, reference):
            a, cache = getattr(ops, f"{kind}_forward")(x)
            da = x.astype(np.result_type(a, w_type))
            results.append((a, getattr(ops, f"{kind}_backward")(da, cache)))
        assert_same(*results)


SPECIAL = (np.nan, np.inf, -np.inf)


def with_specials(seed, *shape):
    """Integers, with NaN and both infinities strewn in."""
    rng, x = np.random.default_rng(seed), integers(seed, *shape)
    for value in SPECIAL:
        x[rng.random(shape) < 0.04] = value
    return x


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("B", [1, 7, 67])
@pytest.mark.parametrize("pad", [0, 1])
def test_nan_and_infinity_go_where_they_go_in_the_reference(B, pad):
    x, w, b = with_specials(0, B, 3, 8, 9), integers(1, 5, 3, 3, 3), integers(2, 5)
    w[w == 0] = 1  # 0 times infinity is NaN in both, but hides the rest
    finite, other = integers(3, B, 3, 8, 9), with_specials(4, 5, 3, 3, 3)
    for stride, image, mask in ((1, x, w), (2, x, w), (1, finite, other), (1, x[:, :, :3, :3], w)):
        got, want = (ops.conv2d_forward(image, mask, b, stride, pad)[0] for ops in (fast, reference))
        assert np.isnan(want).any()
        np.testing.assert_array_equal(got, want)
    assert np.isinf(reference.conv2d_forward(x, w, b, 1, pad)[0]).any()
    for kind, (size, stride) in itertools.product(("max_pool", "average_pool"), ((2, None), (2, 1), (4, 4))):
        got, want = (getattr(ops, f"{kind}_forward")(x, size, stride, pad)[0] for ops in (fast, reference))
        assert np.isnan(want).any()
        np.testing.assert_array_equal(got, want)
    for kind in ("relu", "leaky_relu"):
        np.testing.assert_array_equal(*(getattr(ops, f"{kind}_forward")(x)[0] for ops in (fast, reference)))
    got, want = (ops.subsample_forward(x, w[0, :, 0, 0], b[:3])[0] for ops in (fast, reference))
    np.testing.assert_array_equal(got, want)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("value", SPECIAL)
def test_nan_and_infinity_come_back_from_the_place_they_were_sent_to(value):
    x, w, b = distinct(0, 3, 2, 7, 6), integers(1, 3, 2, 3, 3), integers(2, 3)
    w[w == 0] = 1
    y, _ = reference.conv2d_forward(x, w, b)
    dy = integers(4, *y.shape)
    dy[1, 2, 3, 1] = value
    assert_same(conv(fast, x + 100, w, b, dy=dy), conv(reference, x + 100, w, b, dy=dy))
    for kind in ("max_pool", "average_pool"):
        results = []
        for ops in (fast, reference):
            y, cache = getattr(ops, f"{kind}_forward")(x, 2)
            dy = np.ones(y.shape, np.float32)
            dy[1, 1, 2, 2] = value
            results.append((getattr(ops, f"{kind}_backward")(dy, cache),))
        assert_same(*results)
    for kind in ("relu", "leaky_relu"):
        dy = np.full(x.shape, value, np.float32)
        results = []
        for ops in (fast, reference):
            results.append((getattr(ops, f"{kind}_backward")(dy, getattr(ops, f"{kind}_forward")(abs(x) + 1)[1]),))
        assert_same(*results)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_a_closed_mask_stops_nan_and_infinity_in_every_backend():
    """A mask is a choice: infinity times a mask of 0 would be NaN."""
    z, da = (m.ravel() for m in np.meshgrid([-np.inf, -1, -0.0, 0, 1, np.inf, np.nan], [1, -2, *SPECIAL]))
    for z_type, da_type in itertools.product((np.float32, np.float64), repeat=2):
        got, want = (
            ops.relu_backward(da.astype(da_type), ops.relu_forward(z.astype(z_type))[1]) for ops in (fast, reference)
        )
        np.testing.assert_array_equal(want, np.where(z > 0, da, 0))
        assert_same((got,), (want,))
        got, want = (
            ops.leaky_relu_backward(da.astype(da_type), ops.leaky_relu_forward(z.astype(z_type), 0.5)[1])
            for ops in (fast, reference)
        )
        np.testing.assert_array_equal(want, np.where(z > 0, da, 0.5 * da))
        assert_same((got,), (want,))
    x = distinct(0, 1, 1, 6, 6)
    for ops, value in itertools.product((fast, reference), SPECIAL):
        for size, stride in ((2, 2), (3, 1), (2, 3)):
            y, cache = ops.max_pool_forward(x, size, stride)
            dx = ops.max_pool_backward(np.full_like(y, value), cache)
            winners = np.isin(x, y)
            assert (dx[~winners] == 0).all()
            assert not np.isfinite(dx[winners]).any()


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 1), (3, 2)])
def test_a_window_without_a_number_sends_its_gradient_to_a_pixel_of_its_own(value, size, stride):
    """Padding is -infinity too, but never the place: there is no pixel that could receive the gradient."""
    for place in ((0, 0), (0, 2), (4, 0), (4, 5)):
        x = distinct(0, 3, 2, 5, 6)
        x[1, 1] = -np.inf
        x[1, 1][place] = value
        results = []
        for ops in (fast, reference):
            y, cache = ops.max_pool_forward(x, size, stride, 1)
            results.append((y, ops.max_pool_backward(np.ones_like(y), cache)))
            np.testing.assert_array_equal(results[-1][1].sum(axis=(2, 3)), y.shape[2] * y.shape[3])
        assert_same(*results)


IMAGE, MASK = np.ones((2, 3, 5, 5)), np.ones((4, 3, 3, 3))
WRONG = {
    "other maps": lambda ops: ops.conv2d_forward(IMAGE, np.ones((4, 2, 3, 3))),
    "three axes": lambda ops: ops.conv2d_forward(IMAGE[0], MASK),
    "mask of three axes": lambda ops: ops.conv2d_forward(IMAGE, MASK[0]),
    "empty batch": lambda ops: ops.conv2d_forward(IMAGE[:0], MASK),
    "no output map": lambda ops: ops.conv2d_forward(IMAGE, MASK[:0]),
    "no input map": lambda ops: ops.conv2d_forward(IMAGE[:, :0], MASK[:, :0]),
    "too few rows": lambda ops: ops.conv2d_forward(IMAGE[:, :, :2], MASK),
    "too few columns": lambda ops: ops.conv2d_forward(IMAGE[:, :, :, :2], MASK),
    "stride 0": lambda ops: ops.conv2d_forward(IMAGE, MASK, stride=0),
    "stride of three": lambda ops: ops.conv2d_forward(IMAGE, MASK, stride=(1, 2, 3)),
    "stride 1.5": lambda ops: ops.conv2d_forward(IMAGE, MASK, stride=1.5),
    "pad -1": lambda ops: ops.conv2d_forward(IMAGE, MASK, pad=-1),
    "pad 0.5": lambda ops: ops.conv2d_forward(IMAGE, MASK, pad=(0, 0.5)),
    "short bias": lambda ops: ops.conv2d_forward(IMAGE, MASK, np.ones(3)),
    "bias of two axes": lambda ops: ops.conv2d_forward(IMAGE, MASK, np.ones((4, 1))),
    "complex": lambda ops: ops.conv2d_forward(IMAGE.astype(complex), MASK),
    "float16": lambda ops: ops.conv2d_forward(IMAGE, MASK.astype(np.float16)),
    "text": lambda ops: ops.conv2d_forward("image", MASK),
    "unequal rows": lambda ops: ops.conv2d_forward([[1.0], [1.0, 2.0]], MASK),
    "dy of another place": lambda ops: conv(ops, IMAGE, MASK, dy=np.ones((2, 4, 3, 2))),
    "dy of another batch": lambda ops: conv(ops, IMAGE, MASK, dy=np.ones((1, 4, 3, 3))),
    "dy of another batch, one place": lambda ops: conv(ops, IMAGE[:, :, :3, :3], MASK, dy=np.ones((1, 4, 1, 1))),
    "dy complex": lambda ops: conv(ops, IMAGE, MASK, dy=np.ones((2, 4, 3, 3), complex)),
    "subsample other maps": lambda ops: ops.subsample_forward(IMAGE, np.ones(2), np.ones(2)),
    "subsample short bias": lambda ops: ops.subsample_forward(IMAGE, np.ones(3), np.ones(2)),
    "subsample two axes": lambda ops: ops.subsample_forward(IMAGE, np.ones((3, 1)), np.ones(3)),
    "subsample empty": lambda ops: ops.subsample_forward(IMAGE[:0], np.ones(3), np.ones(3)),
    "subsample size": lambda ops: ops.subsample_forward(IMAGE, np.ones(3), np.ones(3), 6),
    "subsample dy": lambda ops: ops.subsample_backward(
        np.ones((2, 3, 1, 2)), ops.subsample_forward(IMAGE, np.ones(3), np.ones(3))[1]
    ),
    "dense dz": lambda ops: ops.dense_backward(
        np.ones((4, 3)), ops.dense_forward(np.ones((4, 3)), np.ones((3, 2)))[1]
    ),
    "relu text": lambda ops: ops.relu_forward("z"),
    "relu complex": lambda ops: ops.relu_forward(np.ones(2, complex)),
    "relu da": lambda ops: ops.relu_backward(np.ones((5, 5)), ops.relu_forward(np.ones((5, 1)))[1]),
    "relu da float16": lambda ops: ops.relu_backward(np.ones(2, np.float16), ops.relu_forward(np.ones(2))[1]),
    "leaky text": lambda ops: ops.leaky_relu_forward("z"),
    "leaky da": lambda ops: ops.leaky_relu_backward(np.ones(4), ops.leaky_relu_forward(np.ones((2, 2)))[1]),
} | {
    f"{kind} {name}": lambda ops, kind=kind, args=args: pool(ops, kind, *args)
    for kind in ("max_pool", "average_pool")
    for name, args in {
        "empty": (IMAGE[:0],),
        "three axes": (IMAGE[0],),
        "size 6": (IMAGE, 6),
        "size 6 columns": (IMAGE, (2, 6)),
        "size 0": (IMAGE, 0),
        "stride 0": (IMAGE, 2, 0),
        "pad as wide as the window": (IMAGE, 2, 2, 2),
        "pad as wide, columns": (IMAGE, (3, 2), 2, (1, 2)),
        "pad -1": (IMAGE, 2, 2, -1),
        "no rows": (IMAGE[:, :, :0],),
        "float16": (IMAGE.astype(np.float16),),
    }.items()
} | {
    f"{kind} dy": lambda ops, kind=kind: getattr(ops, f"{kind}_backward")(
        np.ones((2, 3, 2, 1)), getattr(ops, f"{kind}_forward")(IMAGE)[1]
    )
    for kind in ("max_pool", "average_pool")
}  # fmt: skip


@all_of("name", WRONG)
def test_wrong_arguments_raise_the_reference_errors(name):
    with pytest.raises((TypeError, ValueError)) as wanted:
        WRONG[name](reference)
    with pytest.raises(wanted.type) as got:
        WRONG[name](fast)
    assert got.type is wanted.type
    assert str(got.value) == str(wanted.value)


def test_a_cache_belongs_to_its_forward_pass():
    """A second forward pass of other images must not reach into the first one's gradients."""
    one, two = distinct(0, 6, 2, 8, 8), -distinct(1, 6, 2, 8, 8)
    w, big, b = integers(1, 3, 2, 3, 3), integers(2, 3, 2, 8, 8), integers(3, 3)
    operations = {
        "conv2d": lambda x: fast.conv2d_forward(x, w, b),
        "conv2d padded": lambda x: fast.conv2d_forward(x, w, b, 2, 1),
        "conv2d one place": lambda x: fast.conv2d_forward(x, big, b),
        "max_pool": fast.max_pool_forward,
        "average_pool": fast.average_pool_forward,
        "subsample": lambda x: fast.subsample_forward(x, b[:2], b[:2]),
        "relu": fast.relu_forward,
        "leaky_relu": fast.leaky_relu_forward,
    }
    for name, forward in operations.items():
        backward = getattr(fast, f"{name.split()[0]}_backward")
        for lay in (np.ascontiguousarray, lambda a: lay_out(a, "batch last")):
            x = lay(one)
            y, cache = forward(x)
            dy = integers(5, *y.shape)
            kept = y.copy()
            want = as_tuple(backward(dy, forward(one)[1]))
            other, other_cache = forward(lay(two))
            backward(dy, other_cache)
            np.testing.assert_array_equal(y, kept, err_msg=name)
            assert not np.may_share_memory(y, other)
            y[...] = np.nan  # the caller may do with the output what it likes
            got = as_tuple(backward(dy, cache))
            assert_same(got, want)
            got[0][...] = np.nan
            assert_same(as_tuple(backward(dy, cache)), want)  # and with the gradient
            assert_same((x,), (one,))


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("ops", [reference, fast], ids=["reference", "fast"])
@pytest.mark.parametrize("bias", [True, False])
def test_without_need_dx_the_other_gradients_are_the_same(ops, bias):
    b = integers(2, 5) if bias else None
    cases = [(integers(0, 7, 3, 6, 6), integers(1, 5, 3, *mask), ops.conv2d_forward) for mask in ((3, 2), (6, 6))]
    for x, w, forward in [*cases, (integers(0, 7, 4), integers(1, 4, 5), ops.dense_forward)]:
        backward = ops.dense_backward if forward is ops.dense_forward else ops.conv2d_backward
        y, cache = forward(x, w, b)
        dy = integers(3, *y.shape)
        dx, *whole = backward(dy, cache)
        assert dx.shape == x.shape
        nothing, *rest = backward(dy, cache, need_dx=False)
        assert nothing is None
        assert_same(rest, whole)
