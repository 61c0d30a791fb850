"""Convolution by Fourier transforms on the device: the reference's results and gradients, within the stated bound."""

import dataclasses

import numpy as np
import pytest

from course_lib import gpu
from course_lib.cuda import conv2d_fft
from course_lib.cuda.choice import GPU, DeviceError
from course_lib.cuda.device import choice, executor
from course_lib.cuda.fft import cufft, grids, large, plan, registers, tiles, weights
from course_lib.cuda.jit import jit
from course_lib.cuda.ladders.conv2d.backward_data.v08_fft import conv2d_backward_data_v08_fft
from course_lib.cuda.ladders.conv2d.backward_weights.v08_fft import conv2d_backward_weights_v08_fft
from course_lib.cuda.ladders.conv2d.forward.checks import sizes_of
from course_lib.cuda.ladders.conv2d.forward.v08_fft import conv2d_forward_v08_fft
from course_lib.cuda.numba_cuda import cuda, float32
from course_lib.cuda.recording import record_launches
from course_lib.reference.conv2d import conv2d_backward, conv2d_forward
from tests.fft_bounds import bounds
from tests.gpu.devices import nans, needs_simt, needs_warps

pytestmark = needs_warps

LAYERS = [  # x, w, stride, pad
    ((1, 1, 1, 1), (1, 1, 1, 1), (1, 1), (0, 0)),
    ((3, 2, 7, 9), (5, 2, 3, 2), (1, 1), (0, 0)),
    ((3, 6, 14, 14), (16, 6, 5, 5), (1, 1), (0, 0)),
    ((2, 1, 6, 6), (2, 1, 6, 6), (1, 1), (0, 0)),  # the mask is as large as the image
    ((2, 1, 3, 3), (2, 1, 2, 2), (1, 1), (4, 5)),  # most places see padding only
    ((1, 2, 13, 29), (3, 2, 3, 5), (1, 1), (1, 2)),  # several tiles, ragged
    ((2, 3, 9, 11), (4, 3, 5, 3), (2, 3), (1, 2)),
    ((1, 2, 6, 6), (3, 2, 1, 1), (3, 1), (0, 2)),
    ((1, 2, 24, 25), (2, 2, 19, 20), (1, 1), (3, 2)),  # masks in several pieces
    ((3, 1, 2, 3), (1, 1, 9, 1), (1, 1), (5, 0)),
]
LAYER = pytest.mark.parametrize(("x", "w", "stride", "pad"), LAYERS, ids=str)
CUTS = [(16, 1, 1), (16, 2, 3), (16, 3, 2), (32, 1, 3), (32, 2, 2)]
"""T, MB, blocks."""


@dataclasses.dataclass
class Layer:
    """Random operands of a layer, and the reference's exact results."""

    x: np.ndarray
    w: np.ndarray
    b: np.ndarray
    dy: np.ndarray
    exact: tuple  # y, dx, dw, db
    s: object


def layer(x_shape, w_shape, stride=(1, 1), pad=(0, 0)):
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(n).astype(np.float32) for n in (x_shape, w_shape, w_shape[:1]))
    y, cache = conv2d_forward(*(a.astype(np.float64) for a in (x, w, b)), stride, pad)
    dy = rng.standard_normal(y.shape).astype(np.float32)
    exact = y, *conv2d_backward(dy.astype(np.float64), cache)
    return Layer(x, w, b, dy, exact, sizes_of(x_shape, w_shape, stride, pad))


def close(got, n, which, points, parts=1):
    """Demand that a result lies within the bound; `which`: 0 for y, 1 for dx, 2 for dw."""
    exact = n.exact[which]
    allowed = bounds(n.x, n.w, n.dy, points, np.float32, parts)[which]
    rounding = 2.0**-23 * np.abs(exact) * (which == 0)  # of the bias
    off = np.abs(gpu.to_host(got) - exact)
    np.testing.assert_array_less(off, np.broadcast_to(allowed + rounding, exact.shape))


def no_hazards(launches):
    if executor().reports:
        assert [h for one in launches for h in one.kernel.report.hazards] == []


def put(*arrays):
    return [gpu.to_device(a) for a in arrays]


@LAYER
@pytest.mark.parametrize("bias", [True, False])
def test_the_rung_is_the_reference_within_the_bound(x, w, stride, pad, bias):
    n, y = layer(x, w, stride, pad), None
    if not bias:
        n.exact = (n.exact[0] - n.b[:, None, None].astype(np.float64), *n.exact[1:])
    y, on_device = nans(*n.dy.shape), put(n.x, n.w, n.b)
    with record_launches() as launches:
        conv2d_forward_v08_fft(*on_device[:2], on_device[2] if bias else None, y, stride, pad)
    close(y, n, 0, 32 * 32)
    no_hazards(launches)
    assert [one.kernel.__name__ for one in launches] == ["_mask_spectra", "_conv2d_tiles"]


@LAYER
def test_the_gradients_rungs_are_the_reference_within_the_bound(x, w, stride, pad):
    n = layer(x, w, stride, pad)
    dx, dw, db = nans(*x), nans(*w), nans(w[0])
    (on_x, on_w, on_dy), parts = put(n.x, n.w, n.dy), plan.weight_plan(dataclasses.replace(n.s, B=0)).at_once
    with record_launches() as launches:
        conv2d_backward_data_v08_fft(on_dy, on_w, dx, stride, pad)
        conv2d_backward_weights_v08_fft(on_dy, on_x, dw, db, stride, pad)
    close(dx, n, 1, 32 * 32)
    close(dw, n, 2, 32 * 32, parts)
    np.testing.assert_allclose(gpu.to_host(db), n.exact[3], rtol=1e-5, atol=1e-5)
    no_hazards(launches)


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize(("x", "w", "stride", "pad"), [LAYERS[1], LAYERS[5], LAYERS[6]], ids=str)
def test_every_cut_is_right(x, w, stride, pad, cut, monkeypatch):
    monkeypatch.setattr(plan, "FILL", 8)  # a slice has several turns, and the last ones have no work for some
    n, T = layer(x, w, stride, pad), cut[0]
    y, dx, dw = nans(*n.dy.shape), nans(*x), nans(*w)
    on_x, on_w, on_b, on_dy = put(n.x, n.w, n.b, n.dy)
    how = plan.weight_plan(dataclasses.replace(n.s, B=0), *cut)
    with record_launches() as launches:
        tiles.launch(plan.tile_plan(plan.forward_of(n.s), *cut), on_x, on_w, on_b, y)
        tiles.launch(plan.tile_plan(plan.data_of(n.s), *cut), on_dy, on_w, None, dx, turned=True)
        weights.launch(how, on_dy, on_x, dw)
    close(y, n, 0, T * T)
    close(dx, n, 1, T * T)
    close(dw, n, 2, T * T, how.at_once)
    no_hazards(launches)


@pytest.mark.parametrize("T", [16, 32])
def test_a_row_in_registers_is_numpys_transform_and_comes_back(T):
    forward_row, backward_row = registers.make(T)

    @jit
    def there_and_back(x, spectra, back):
        re, im = cuda.local.array(T, float32), cuda.local.array(T, float32)
        t = cuda.threadIdx.x
        for k in range(T):
            re[k], im[k] = x[t, k, 0], x[t, k, 1]
        forward_row(re, im)
        for k in range(T):
            spectra[t, k, 0], spectra[t, k, 1] = re[k], im[k]
        backward_row(re, im)
        for k in range(T):
            back[t, k, 0], back[t, k, 1] = re[k], im[k]

    x = np.random.default_rng(0).standard_normal((32, T, 2)).astype(np.float32)
    x[0] = np.eye(T, 2)
    spectra, back = nans(*x.shape), nans(*x.shape)
    there_and_back[1, 32](gpu.to_device(x), spectra, back)
    got, want = gpu.to_host(spectra), np.fft.fft(x[..., 0].astype(float) + 1j * x[..., 1])[:, registers.frequencies(T)]
    np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], want, rtol=0, atol=2e-5)
    np.testing.assert_allclose(gpu.to_host(back), T * x, rtol=0, atol=1e-4)


@pytest.mark.parametrize("T", [0, 8, 17, 64])
def test_other_lengths_are_refused(T):
    for make in (registers.make, registers.frequencies, grids.make):
        with pytest.raises(ValueError, match=f"T is {T}; transforms in registers have 16 or 32"):
            make(T)


def test_two_runs_agree_to_the_last_bit():
    n = layer((5, 2, 20, 20), (3, 2, 5, 5))
    results = []
    for _ in range(2):
        y, cache = conv2d_fft.conv2d_fft_forward(*put(n.x, n.w, n.b))
        found = y, *conv2d_fft.conv2d_fft_backward(*put(n.dy), cache)
        results.append([gpu.to_host(a).view(np.uint32) for a in found])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_mask_that_changes_in_place_counts_at_the_next_call():
    n = layer((1, 1, 8, 8), (1, 1, 3, 3))
    x, w = put(n.x, n.w)
    conv2d_fft.conv2d_fft_forward(x, w)
    gpu.overwrite(w, 2 * n.w)
    y = gpu.to_host(conv2d_fft.conv2d_fft_forward(x, w)[0])
    np.testing.assert_allclose(y, 2 * (n.exact[0] - n.b[0]), rtol=0, atol=1e-4)


def test_an_odd_last_image_has_no_partner_and_changes_nobody():
    n = layer((3, 2, 9, 9), (2, 2, 3, 3))
    apart = layer((1, 2, 9, 9), (2, 2, 3, 3))
    x = np.concatenate([n.x[:2], apart.x])
    x[2, 0, 0, 0] = np.nan
    y = gpu.to_host(conv2d_fft.conv2d_fft_tiles_forward(*put(x, n.w))[0])
    assert np.isnan(y[2]).any()
    assert not np.isnan(y[:2]).any()


@needs_simt
def test_nothing_that_is_shared_has_a_bank_conflict_and_no_block_waits():
    n = layer((2, 2, 20, 20), (3, 2, 5, 5))
    with record_launches() as launches:
        _, cache = conv2d_fft.conv2d_fft_forward(*put(n.x, n.w))
        conv2d_fft.conv2d_fft_backward(*put(n.dy), cache)
    ours = [one.kernel for one in launches if one.kernel.__module__.startswith("course_lib.cuda.fft")]
    assert len(ours) == 6
    for kernel in ours:
        total = kernel.report.total
        assert total.shared_load_conflicts - total.shared_load_requests <= 0, kernel.__name__
        assert total.shared_load_wavefronts == 2 * total.shared_load_requests  # 8 bytes a lane
        assert total.barriers == 0


def test_plans_take_small_tiles_for_small_masks_and_cut_large_ones():
    lectures = {(1, 32, 6, 5): 32, (6, 14, 16, 5): 16, (1, 86, 4, 7): 16, (4, 40, 16, 7): 16}
    for (C, H, M, K), T in lectures.items():
        p = plan.tile_plan(plan.forward_of(sizes_of((0, C, H, H), (M, C, K, K))))
        assert (p.T, p.parts) == (T, 1)
    p = plan.tile_plan(plan.forward_of(sizes_of((0, 1, 64, 64), (1, 1, 35, 20))), 32)
    assert (p.pieces, p.piece, p.valid) == ((3, 2), (12, 10), (21, 23))
    assert p.pieces[0] * p.piece[0] >= 35


def test_a_slice_is_no_cards_choice_and_fills_blocks():
    for B in (1, 7, 10_000):
        p = plan.weight_plan(sizes_of((0, 6, 14, 14), (16, 6, 5, 5)))
        assert p.slices(B) % p.groups == 0
        assert p.slices(B) >= 1
        assert p.grid(B) * p.groups == p.slices(B) * p.combos


# ------------------------------------------------------------------------------------------- transforms of whole images


@pytest.fixture
def numpys_transforms(monkeypatch):
    """NumPy's transforms in the place of cuFFT, where there is none: the kernels around them are the same."""
    if cufft.available():
        return

    def transform(images):
        spectra = np.fft.rfft2(gpu.to_host(images))
        return gpu.to_device(np.ascontiguousarray(spectra).view(np.float32).reshape(-1))

    def back(spectra, shape):
        numbers = gpu.to_host(spectra).view(np.complex64).reshape(*shape[:2], shape[2] // 2 + 1)
        return gpu.to_device(np.fft.irfft2(numbers, s=shape[1:]))

    monkeypatch.setattr(cufft, "transform", transform)
    monkeypatch.setattr(cufft, "back", back)


@LAYER
@pytest.mark.parametrize("chunk", [2**28, 1], ids=["all images at once", "one at a time"])
def test_whole_images_are_the_reference_within_the_bound(x, w, stride, pad, chunk, numpys_transforms, monkeypatch):
    monkeypatch.setattr(large, "MOST_NUMBERS", chunk)
    n = layer(x, w, stride, pad)
    on_x, on_w, on_b, on_dy = put(n.x, n.w, n.b, n.dy)
    with record_launches() as launches:
        y, cache = conv2d_fft.conv2d_fft_cufft_forward(on_x, on_w, on_b, stride, pad)
        dx, dw, db = conv2d_fft.conv2d_fft_cufft_backward(on_dy, cache)
    N_h, N_w = large.lengths(n.s)
    for which, got in enumerate((y, dx, dw)):
        close(got, n, which, max(2, N_h * N_w))
    np.testing.assert_allclose(gpu.to_host(db), n.exact[3], rtol=1e-5, atol=1e-5)
    no_hazards(launches)
    assert conv2d_fft.conv2d_fft_cufft_backward(on_dy, cache, need_dx=False)[0] is None


def test_the_rule_takes_cufft_for_large_masks_where_it_can_be_had(monkeypatch):
    small, long = sizes_of((1, 1, 40, 40), (1, 1, 17, 17)), sizes_of((1, 1, 40, 40), (1, 1, 1, 18))
    monkeypatch.setattr(cufft, "available", lambda: True)
    assert (conv2d_fft.algorithm(small), conv2d_fft.algorithm(long)) == ("tiles", "cufft")
    monkeypatch.setattr(cufft, "available", lambda: False)
    assert (conv2d_fft.algorithm(small), conv2d_fft.algorithm(long)) == ("tiles", "tiles")


def test_masks_whose_spectra_fill_a_card_go_through_tiles(monkeypatch, numpys_transforms):
    n = layer((1, 2, 20, 20), (3, 2, 18, 18))
    monkeypatch.setattr(cufft, "available", lambda: True)
    assert conv2d_fft.algorithm(n.s) == "cufft"
    monkeypatch.setattr(large, "MOST_OF_MASKS", 6 * 20 * 22 - 1)
    assert conv2d_fft.algorithm(n.s) == "tiles"
    x, w = put(n.x, n.w)
    with pytest.raises(ValueError, match=r"spectra of 6 masks.*\(20, 20\).*conv2d_fft_tiles_forward"):
        conv2d_fft.conv2d_fft_cufft_forward(x, w)
    cache = (x, w, False, (1, 1), (0, 0))
    with pytest.raises(ValueError, match="spectra of 6 masks"):
        conv2d_fft.conv2d_fft_cufft_backward(*put(n.dy), cache)


def test_the_operation_follows_the_rule(monkeypatch, numpys_transforms):
    n = layer((1, 1, 20, 20), (1, 1, 3, 3))
    for way, kernels in (("tiles", {"_conv2d_tiles", "_weight_spectra"}), ("cufft", {"_multiply", "_take"})):
        monkeypatch.setattr(conv2d_fft, "algorithm", lambda s, way=way: way)
        with record_launches() as launches:
            _, cache = conv2d_fft.conv2d_fft_forward(*put(n.x, n.w))
            conv2d_fft.conv2d_fft_backward(*put(n.dy), cache)
        names = {one.kernel.__name__ for one in launches}
        assert kernels <= names
        assert ("_multiply" in names) == (way == "cufft")


@pytest.mark.skipif(choice().device == GPU, reason="says what is said without a GPU")
def test_cufft_without_a_gpu_is_an_error_that_names_the_other_way():
    n = layer((1, 1, 8, 8), (1, 1, 3, 3))
    assert not cufft.available()
    with pytest.raises(DeviceError, match=r"cuFFT needs a GPU.*conv2d_fft_tiles_forward"):
        conv2d_fft.conv2d_fft_cufft_forward(*put(n.x, n.w))


def test_cufft_without_cupy_says_what_to_install(monkeypatch):
    monkeypatch.setattr(cufft, "choice", lambda: dataclasses.replace(choice(), device=GPU))
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    cufft._cupy.cache_clear()
    with pytest.raises(DeviceError, match=r'CuPy, which is not installed.*pip install "course-lib\[cufft\]"'):
        cufft.transform(None)
    cufft._cupy.cache_clear()


FORWARDS = (conv2d_fft.conv2d_fft_forward, conv2d_fft.conv2d_fft_tiles_forward, conv2d_fft.conv2d_fft_cufft_forward)


@pytest.mark.parametrize("operation", FORWARDS, ids=lambda f: f.__name__)
def test_what_the_plain_operation_refuses_is_refused(operation):
    x, w = put(np.ones((2, 3, 6, 6), np.float32), np.ones((4, 3, 3, 3), np.float32))
    for arguments, error, message in [
        ((np.ones((2, 3, 6, 6), np.float32), w), TypeError, "to_device"),
        ((gpu.to_device(np.ones((2, 3, 6, 6))), w), TypeError, "float64"),
        ((x[:, :, :, ::2], w), ValueError, "slice"),
        ((x[:0], w), ValueError, "batch is empty"),
        ((x, gpu.empty((4, 2, 3, 3), np.float32)), ValueError, r"shape\[1\]"),
        ((x, gpu.empty((4, 3, 7, 3), np.float32)), ValueError, "fits nowhere"),
        ((x, w, gpu.empty((3,), np.float32)), ValueError, "one number for each output map"),
        ((x, w, None, 0), ValueError, "stride"),
        ((x, w, None, 1, -1), ValueError, "pad"),
    ]:
        with pytest.raises(error, match=message):
            operation(*arguments)


def test_an_upstream_gradient_of_another_shape_is_refused():
    n = layer((2, 3, 8, 8), (4, 3, 3, 3))
    _, cache = conv2d_fft.conv2d_fft_forward(*put(n.x, n.w))
    with pytest.raises(ValueError, match="dy is"):
        conv2d_fft.conv2d_fft_backward(nans(2, 4, 6, 5), cache)
