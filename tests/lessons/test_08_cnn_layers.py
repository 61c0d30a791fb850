"""Lesson 08: what must come out, in the library, in the lesson's own numbers and on its page."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib import checks, nn
from course_lib import reference as ops
from course_lib.figures.map_gradients import map_gradients

from ..figures.pages import drawn_widths

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "08_cnn_layers"


@pytest.mark.parametrize(
    ("name", "filters", "unrolled", "elements", "factor", "reuse"),
    [
        ("C1", "6 x 25", "25 x 784", 19600, 19.1, 6),
        ("C3", "16 x 150", "150 x 100", 15000, 12.8, 16),
        ("C5", "120 x 400", "400 x 1", 400, 1, 120),
    ],
)
def test_the_replication_table_is_the_lectures(lesson, shown, name, filters, unrolled, elements, factor, reuse):
    cost = lesson["costs"][name]
    assert cost[:3] == (filters, unrolled, elements)
    assert cost[3] == pytest.approx(factor, abs=0.05)
    assert cost[4] == reuse
    row = rf"{name} +{filters} +{unrolled} +{elements:,} +{cost[3]:.2f} +{reuse}\n"
    assert re.search(row, shown + "\n")


def test_pixels_of_c1_are_copied_once_in_the_corners_and_25_times_inside(lesson, shown):
    assert round(lesson["counts"].mean(), 1) == 19.1
    assert (lesson["counts"].min(), lesson["counts"].max()) == (1, 25)
    assert lesson["counts"][4:-4, 4:-4].min() == 25  # four or more pixels from every border, and no other
    assert (lesson["counts"] == 25).sum() == 24**2
    assert "Corner pixels are copied 1 time, inner pixels 25 times, 19.1 times on average." in shown


def test_erratum_the_three_replications_belong_to_c1_c3_and_c5(lesson, prose):
    for channels, size, factor in ((1, 32, 19.1), (6, 14, 12.8), (16, 5, 1.0)):
        T = size - 4  # the lecture's reuse of a tile that covers all outputs is the same number
        assert round(25 * T**2 / (T + 4) ** 2, 1) == factor
        assert round(ops.replication((1, channels, size, size), 5), 1) == factor
    assert [round(lesson["costs"][name][3], 1) for name in ("C1", "C3", "C5")] == [19.1, 12.8, 1.0]
    assert "19.1, 12.8 and 1 for C1, C2 and C3. They belong to C1, C3 and C5" in prose


def test_the_reuse_of_one_copy_is_the_replication_and_lesson_15_is_linked(prose):
    for size, mask in ((32, 5), (14, 5), (9, 3)):
        out = size - mask + 1
        uses = np.zeros((size, size))
        for h, v in np.ndindex(out, out):
            uses[h : h + mask, v : v + mask] += 1  # one copy at hand, used by every window
        assert uses.mean() == pytest.approx(ops.replication((1, 1, size, size), mask))
    assert "an inner pixel of C1 takes part in 25 products per output map either way" in prose
    inner = np.zeros((32, 32))
    for h, v in np.ndindex(28, 28):
        inner[h : h + 5, v : v + 5] += 1
    assert (inner[4:-4, 4:-4] == 25).all()
    assert "[Lesson 15](15_convolution_kernels.ipynb) does that on a GPU" in prose
    assert (NOTEBOOKS / "15_convolution_kernels.ipynb").exists()


def test_the_librarys_three_forms_agree_with_stride_and_padding_that_differ(lesson):
    rng = np.random.default_rng(0)
    x, w, b = lesson["xb"], lesson["wb"], rng.standard_normal(7)
    ways = [(ops.conv2d_forward_loops, ops.conv2d_backward_loops), (ops.conv2d_forward, ops.conv2d_backward),
            (ops.conv2d_forward_windows, ops.conv2d_backward_windows)]  # fmt: skip
    found = []
    for forward, backward in ways:
        y, cache = forward(x, w, b, stride=(2, 1), pad=(1, 2))
        found.append((y, *backward(np.random.default_rng(1).standard_normal(y.shape), cache)))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(two, one, rtol=1e-12, atol=1e-12)


def test_the_three_ways_of_the_page_agree_for_several_maps_in_both_gradients(lesson, shown, prose):
    assert "by loops, as convolutions and as matrix products, for one map and for several" in prose
    ways = [lesson[f"maps_by_{way}"] for way in ("loops", "convolution", "product")]
    assert [way.__name__ for way in ways] == list(lesson["gradients"])
    sizes = ((2, 3, 7, 4, 5, 11, 10), (1, 1, 1, 2, 3, 4, 6), (3, 2, 5, 1, 4, 6, 8))
    for seed, (B, C, M, K_h, K_w, H, W) in enumerate(sizes):
        rng = np.random.default_rng(seed)
        x, w = rng.standard_normal((B, C, H, W)), rng.standard_normal((M, C, K_h, K_w))
        dy = rng.standard_normal((B, M, H - K_h + 1, W - K_w + 1))
        dx, dw, _ = ops.conv2d_backward(dy, ops.conv2d_forward(x, w)[1])
        for way in ways:
            found = way(dy, x, w)
            np.testing.assert_allclose(found[0], dx, rtol=1e-11, atol=1e-11)
            np.testing.assert_allclose(found[1], dw, rtol=1e-11, atol=1e-11)
    for name, shape in (("dx", "(2, 3, 11, 10)"), ("dw", "(7, 3, 4, 5)")):
        assert re.search(rf"\n{name} +{re.escape(shape)} +yes +yes", shown)
    for way in ways:
        assert f"{way.__name__} is right: dx (2, 3, 11, 10)  dw (7, 3, 4, 5)" in shown


@pytest.mark.parametrize("way", ["maps_by_loops", "maps_by_convolution", "maps_by_product"])
@pytest.mark.parametrize("which", [0, 1])
def test_the_slopes_that_the_page_measures_would_find_a_mistake_in_each_of_its_ways(lesson, way, which):
    def wrong(dy, cache):
        found = list(lesson[way](dy, *cache[:2]))
        found[which] = found[which][:, :, ::-1]
        return tuple(found)

    with pytest.raises(checks.GradientMismatch, match=rf"args\[{which}\]"):
        checks.check_op_gradients(
            ops.conv2d_forward, wrong, [lesson["xb"], lesson["wb"]], rng=np.random.default_rng(0)
        )


def test_the_data_of_the_comparison_hide_nothing(lesson):
    """The page's own rule: no two sizes alike, windows that overlap, stride and padding that differ per axis."""
    (B, C, H, W), (M, _, K_h, K_w) = lesson["xb"].shape, lesson["wb"].shape
    sizes = (B, C, H, W, M, K_h, K_w, *lesson["dy1"].shape[2:])
    assert len(set(sizes)) == len(sizes) == 9
    assert min(K_h, K_w) > 1
    for mask in (lesson["wb"], lesson["w"][None, None], lesson["B"]):
        assert not np.allclose(mask, mask[:, :, ::-1, ::-1])


def test_no_two_numbers_of_dy_or_of_the_mask_can_be_exchanged_unnoticed(lesson):
    dy, w = lesson["dy"], lesson["w"]
    assert len(np.unique(dy)) == dy.size == 9
    assert len(np.unique(w)) == w.size == 4
    swapped = dy.copy()
    swapped[0, 1], swapped[1, 0] = dy[1, 0], dy[0, 1]
    assert lesson["backward_loops"](swapped, lesson["x"], w)[0][1, 1] != lesson["dx"][1, 1]


def test_the_pooling_checks_use_windows_that_overlap_and_the_leaky_relu_a_slope(lesson, printed):
    assert lesson["x_random"].shape == (2, 5, 13, 10)
    assert len({*lesson["x_random"].shape, *ops.max_pool_forward(lesson["x_random"], 3, stride=2)[0].shape[2:]}) == 6
    y, _ = lesson["checked"]["max pooling"][0](lesson["x_random"])
    np.testing.assert_array_equal(y, ops.max_pool_forward(lesson["x_random"], 3, stride=2)[0])
    assert y.shape[2:] == (6, 4), "3 x 3 windows, stride 2"
    for name in ("leaky ReLU", "max pooling", "average pooling"):
        assert f"{name} right, for x (2, 5, 13, 10)" in printed


def test_the_wrong_backward_of_several_maps_is_tried_on_several_maps(lesson):
    x, masks = lesson["x_test"], (lesson["A"], lesson["B"])
    for w in masks:
        assert w.shape == (5, 2, 3, 4)
        sizes = (*x.shape, w.shape[0], *w.shape[2:], *ops.conv2d_forward(x, w)[0].shape[2:])
        assert len(set(sizes)) == len(sizes) == 9  # the page's own rule: no two sizes alike
    np.testing.assert_array_equal(masks[0], masks[0][:, :, ::-1, ::-1])


def test_unrolling_pays_although_it_saves_no_product(lesson):
    """The page: the same products, and the copy is paid back several times over."""
    np.testing.assert_allclose(lesson["unrolled"](), lesson["windows_and_weights"](), atol=1e-10)
    without, with_copy = lesson["took"]
    assert without > 3 * with_copy


@pytest.mark.parametrize(("shape", "mask"), [((2, 3, 7, 6), (3, 2)), ((1, 1, 4, 4), (2, 2)), ((2, 2, 5, 9), (5, 4))])
def test_the_pages_im2col_and_col2im_are_the_librarys(lesson, shape, mask):
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(float)
    cols = lesson["im2col"](x, mask)
    np.testing.assert_array_equal(cols, ops.im2col(x, mask))
    np.testing.assert_array_equal(lesson["col2im"](cols, shape, mask), ops.col2im(cols, shape, mask))


@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 2), (2, 1)])
def test_the_pages_max_pool_backward_is_the_librarys_and_counts_two_wins_twice(lesson, size, stride):
    x = np.random.default_rng(1).standard_normal((2, 3, 7, 6))
    y, cache = ops.max_pool_forward(x, size, stride)
    dy = np.random.default_rng(2).integers(-9, 9, y.shape).astype(float)
    np.testing.assert_array_equal(lesson["max_pool_backward"](dy, cache), ops.max_pool_backward(dy, cache))
    assert lesson["checked"]["max pooling"][1] is lesson["max_pool_backward"]


def test_the_second_way_multiplies_zeros_too(lesson, prose):
    """64 products for dx of the small example; the forward pass and the loops have 36."""
    full, dy, w = lesson["full"], lesson["dy"], lesson["w"]
    assert (full.size * w.size, dy.size * w.size) == (64, 36)
    assert "64 products for our `dx`, where the forward pass and the loops have 36" in prose


def test_c3_is_counted_with_all_96_pairs(prose):
    table = nn.models.c3_table()
    assert (table.size, int(table.sum())) == (96, 60)
    assert "(C3 is counted with all maps connected, 96 pairs; the original connects 60 of them" in prose


def test_each_product_is_used_once_forward_and_twice_backward(lesson):
    maps = map_gradients(lesson["X"], lesson["W"], lesson["dY"])
    triples = {kind: [] for kind in ("x", "w", "dy")}
    for kind in triples:
        for place in np.ndindex(getattr(maps, kind).shape):
            for term in maps.terms(kind, place):
                known = {kind: place, **dict(zip(maps.factors(kind), (term.first, term.second), strict=True))}
                triples[kind].append((known["x"], known["w"], known["dy"]))
    assert sorted(triples["x"]) == sorted(triples["w"]) == sorted(triples["dy"])
    assert len(set(triples["x"])) == len(triples["x"]) == lesson["dY"].size * lesson["W"][0].size


def test_the_shapes_of_the_second_way_are_the_pages(lesson):
    B, C, M, K = 2, 2, 3, 2
    X, dY = lesson["X"], lesson["dY"]
    found, _ = ops.conv2d_forward(X.transpose(1, 0, 2, 3), dY.transpose(1, 0, 2, 3))
    assert found.shape == (C, M, K, K)
    assert dY.transpose(1, 0, 2, 3).shape == (M, B, 2, 2)


def test_pooling_forgets_one_pixel_and_remembers_roughly(printed):
    assert "row of the map [0. 0. 9. 0. 0. 0.]   pooled [0. 9. 0.]" in printed
    assert "row of the map [0. 0. 0. 9. 0. 0.]   pooled [0. 9. 0.]" in printed
    assert "row of the map [0. 0. 0. 0. 9. 0.]   pooled [0. 0. 9.]" in printed


def test_the_unrolled_matrix_of_two_maps_has_them_one_below_the_other(lesson, printed):
    X, two = lesson["X"], lesson["two_maps"]
    for c in range(2):
        np.testing.assert_array_equal(two[4 * c : 4 * c + 4], ops.im2col(X[:1, c : c + 1], 2)[0])
    assert f"map 1  w (0, 0)  |  {' '.join(map(str, two[4]))}" in printed


def test_a_zero_belongs_to_the_branch_of_the_negative_numbers(lesson):
    assert lesson["z"][2] == 0
    _, cache = ops.leaky_relu_forward(lesson["z"], 0.1)
    assert ops.leaky_relu_backward(np.full(4, 10.0), cache)[2] == 1


def test_hand_loops_convolution_and_matrix_product_agree_on_the_small_example(lesson):
    np.testing.assert_array_equal(lesson["x"], [[0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])
    dx = [[2, 7, 10, 8], [11, 28, 32, 28], [23, 46, 45, 42], [24, 53, 55, 36]]
    for name in ("dx", "full", "dx_product"):
        np.testing.assert_array_equal(lesson[name], dx)
    for name in ("dw", "dw_loops", "dw_product"):
        np.testing.assert_array_equal(lesson[name], [[40, 56], [46, 68]])
    x, w, dy = lesson["x"], lesson["w"], lesson["dy"]

    def error(w_or_x, which):
        images, mask = (w_or_x, w) if which == "x" else (x, w_or_x)
        return np.sum(dy * ops.conv2d_forward(images[None, None], mask[None, None])[0][0, 0])

    np.testing.assert_allclose(checks.numerical_gradient(lambda v: error(v, "x"), x), dx, rtol=1e-6)
    np.testing.assert_allclose(checks.numerical_gradient(lambda v: error(v, "w"), w), lesson["dw"], rtol=1e-6)


def test_the_lectures_result_is_our_gradient_under_a_mask_of_ones(lesson):
    result = [[2, 5, 7, 4], [5, 11, 13, 7], [8, 12, 8, 4], [5, 6, 2, 1]]
    lecture = np.array([[2.0, 3, 4], [3, 3, 3], [5, 1, 1]])
    dx = lesson["backward_loops"](lecture, lesson["x"], np.ones((2, 2)))[0]
    np.testing.assert_array_equal(dx, result)


def test_all_forms_multiply_by_the_transpose_of_lesson_07s_matrix(lesson, printed):
    assert lesson["T"].shape == (9, 16)
    product = (lesson["T"].T @ lesson["dy"].ravel()).reshape(4, 4)
    np.testing.assert_array_equal(product, lesson["dx"])
    assert printed.count(str(lesson["dx"])) == 1  # the loops; the other ways print how far they are from them
    assert printed.count("largest difference from the loops: 0.0\n") == 2
    assert "largest difference from the loops:\ndx 0.0  dw 0.0" in printed


def test_the_slopes_of_the_matrix_cells_that_hold_one_weight_add_up_to_its_gradient(lesson, printed):
    filled = np.concatenate([[0.0], lesson["w"].ravel()])[lesson["holds"]]
    np.testing.assert_array_equal(filled, lesson["T"])
    np.testing.assert_array_equal(lesson["dT"], np.outer(lesson["dy"], lesson["x"]))
    sums = [float(lesson["dT"][lesson["holds"] == k].sum()) for k in range(1, 5)]
    np.testing.assert_array_equal(np.reshape(sums, (2, 2)), lesson["dw"])
    assert f"dw {sums}" in printed.replace("np.float64", "")


def test_db_is_the_sum_of_dy(lesson, printed):
    x, w, dy = (lesson[name][None, None] for name in ("x", "w", "dy"))
    _, cache = ops.conv2d_forward(x, w, np.zeros(1))
    assert ops.conv2d_backward(dy, cache)[2] == [dy.sum()]
    assert f"{lesson['dw']} db {dy.sum()}" in printed
    assert (2 * 0 + 3 * 2 + 4 * 1) + (5 * 0 + 1 * 3 + 6 * 2) + (8 * 1 + 7 * 1 + 9 * 0) == 40 == lesson["dw"][0, 0]
    assert lesson["pixel"] == 28
    dY, cache = lesson["dY"], ops.conv2d_forward(lesson["X"], lesson["W"], np.zeros(3))[1]
    np.testing.assert_array_equal(ops.conv2d_backward(dY, cache)[2], dY.sum(axis=(0, 2, 3)))


def test_the_flip_in_one_direction():
    dy, w = np.array([2.0, 3, 5]), np.array([7.0, 11, 13])
    _, cache = ops.conv1d_forward(np.zeros((1, 1, 5)), w[None, None])
    dx = ops.conv1d_backward(dy[None, None], cache)[0][0, 0]
    assert dx[2] == dy[0] * w[2] + dy[1] * w[1] + dy[2] * w[0]
    np.testing.assert_array_equal(dx, ops.conv1d_forward(dy[None, None], w[None, None, ::-1], pad=2)[0][0, 0])


def test_with_stride_5_some_pixels_of_c1_are_never_copied():
    assert round(ops.replication((1, 1, 32, 32), 5, stride=5), 2) == 0.88
    assert ops.unseen(32, 5, 5) == 2


def test_col2im_adds_as_often_as_im2col_copied(lesson):
    counts = ops.col2im(ops.im2col(np.ones((1, 1, 4, 4)), 2), (1, 1, 4, 4), 2)[0, 0]
    np.testing.assert_array_equal(counts, [[1, 2, 2, 1], [2, 4, 4, 2], [2, 4, 4, 2], [1, 2, 2, 1]])
    np.testing.assert_array_equal(lesson["w_rows"] @ lesson["cols"], [[16, 21, 11, 13, 10, 12, 13, 4, 16]])


def test_the_forgotten_flip_passes_on_a_symmetric_mask_and_is_rejected_on_another(lesson, printed):
    forgetful, x, blurs = lesson["backward_by_sliding"], lesson["x_test"], lesson["A"]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        checks.check_op_gradients(ops.conv2d_forward, forgetful, [x, blurs], rng=rng)
        skewed = rng.standard_normal((5, 2, 3, 4))
        with pytest.raises(checks.GradientMismatch, match=r"args\[0\]"):
            checks.check_op_gradients(ops.conv2d_forward, forgetful, [x, skewed], rng=rng)
        checks.check_op_gradients(ops.conv2d_forward, forgetful, [x, skewed], rng=rng, wrt=[1])
    assert "A: passes\nB: the gradient of args[0] is wrong\n" in printed
    for ones in (np.ones((3, 2, 3, 3)), np.ones((3, 2, 2, 3))):  # not square, too: only the flip is missing
        checks.check_op_gradients(ops.conv2d_forward, forgetful, [x, ones], rng=np.random.default_rng(0))


def test_masks_of_try_it_two_are_their_own_flip_and_one_is_not(lesson):
    for mask, same in (([[1, 1], [1, 1]], True), ([[1, 2], [2, 1]], True), ([[1, 2], [1, 2]], False)):
        mask = np.array(mask, dtype=float)
        right = lesson["backward_loops"](lesson["dy"], lesson["x"], mask)[0]
        wrong = ops.conv2d_forward(lesson["dy"][None, None], mask[None, None], pad=1)[0][0, 0]
        assert np.array_equal(right, wrong) == same


def test_erratum_the_last_product_takes_the_output_at_the_pixels_own_place(lesson, prose):
    x, dy = lesson["x"][:3, :3], np.array([[1.0, 2], [3, 5]])

    def error(w):
        return np.sum(dy * ops.conv2d_forward(x[None, None], w[None, None])[0][0, 0])

    three = dy[0, 0] * x[0, 0] + dy[0, 1] * x[0, 1] + dy[1, 0] * x[1, 0]
    measured = checks.numerical_gradient(error, lesson["w"])[0, 0]
    assert measured == pytest.approx(19, rel=1e-6)
    assert (three + dy[1, 0] * x[1, 1], three + dy[1, 1] * x[1, 1]) == (13, 19)
    assert "the slide's sum is 13 and the right one 19" in prose


def test_pooling_sends_gradients_to_winners_the_first_of_equals_and_adds_overlaps(lesson):
    four = lesson["four"][None, None]
    y, cache = ops.max_pool_forward(four, 2)
    np.testing.assert_array_equal(y[0, 0], [[3, 2]])
    np.testing.assert_array_equal(lesson["place"][0, 0], [[5, 2]])
    dx = ops.max_pool_backward(np.array([[[[5.0, 7]]]]), cache)
    np.testing.assert_array_equal(dx[0, 0], [[0, 0, 7, 0], [0, 5, 0, 0]])
    _, cache = ops.max_pool_forward(four, 2, stride=1)
    np.testing.assert_array_equal(
        ops.max_pool_backward(np.array([[[[4.0, 6, 7]]]]), cache)[0, 0], [[0, 0, 7, 0], [0, 10, 0, 0]]
    )
    np.testing.assert_array_equal(lesson["dx_overlap"], [[0, 0, 7, 0], [0, 10, 0, 0]])
    np.testing.assert_array_equal(lesson["dx_pool"], [[0, 0, 7, 0], [0, 4, 0, 0]])
    assert not set(lesson["dy_pool"].ravel()) & set(lesson["place"].ravel()), "no gradient looks like a place"


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 1.0])
def test_at_a_tie_every_division_is_a_subgradient_and_a_smaller_value_gets_none(lesson, share, prose):
    """max(z) >= max(x) + d (z - x) for all z, if d divides 1 among the largest, and for no other d."""
    rng, x = np.random.default_rng(0), np.array([2.0, 2, 0, 1])
    z = x + rng.uniform(-2, 2, (500, 4))
    d = np.array([share, 1 - share, 0, 0])
    assert (z.max(axis=1) >= x.max() + (z - x) @ d - 1e-12).all()
    assert not (z.max(axis=1) >= x.max() + (z - x) @ np.array([0.5, 0.25, 0.0, 0.25]) - 1e-12).all()
    assert "giving the 7 to the first 2, to the second, or 3.5 to each would all be valid" in prose


def test_the_two_backward_numbers_of_average_pooling_differ_from_the_forward_ones(printed):
    assert "average [[1.25 1.25]] backward:\n[[2. 2. 1. 1.]\n [2. 2. 1. 1.]]" in printed


def test_pooling_sizes_are_rounded_down():
    for H, F, S, out in ((4, 2, 2, 2), (28, 2, 2, 14), (5, 2, 2, 2), (5, 3, 2, 2)):
        assert ops.max_pool_forward(np.ones((1, 1, H, H)), F, stride=S)[0].shape == (1, 1, out, out)
        assert out == 1 + (H - F) // S


def test_the_optional_stride_is_a_full_convolution_of_the_spread_gradient(lesson):
    np.testing.assert_array_equal(lesson["spread"], [[5, 0, 6, 0], [0, 0, 0, 0], [7, 0, 8, 0], [0, 0, 0, 0]])
    _, cache = ops.conv2d_forward(lesson["x6"][None, None], lesson["w3"][None, None], stride=2)
    loops = ops.conv2d_backward_loops(lesson["dy2"][None, None], cache)[0][0, 0]
    np.testing.assert_array_equal(lesson["dx_stride"], loops)
    np.testing.assert_array_equal(lesson["full6"], loops)
    assert ops.unseen(6, 3, 2) == 1
    assert not loops[5].any()
    assert not loops[:, 5].any()
    assert len(lesson["w3"]) > 2, "the windows overlap"
    assert loops[0, 2] == 5 * 3 + 6 * 1, "a pixel of two windows adds two terms"


def test_the_leaky_slope_lets_a_tenth_through(lesson, printed):
    assert "backward [ 1.  1.  1. 10.]" in printed
    np.testing.assert_array_equal(lesson["a"], [-0.2, -0.05, 0, 3])


def test_dx_of_several_maps_is_a_sum_over_output_maps_and_dw_over_images(lesson, printed):
    X, W, dY, dX, dW = (lesson[name] for name in ("X", "W", "dY", "dX", "dW"))
    assert len({X.shape[1], W.shape[0]}) == 2, "input and output maps must differ in number"
    by_map = [ops.conv2d_backward(dY[:, m : m + 1], ops.conv2d_forward(X, W[m : m + 1])[1])[0] for m in range(3)]
    np.testing.assert_array_equal(sum(by_map), dX)
    by_image = [ops.conv2d_backward(dY[n : n + 1], ops.conv2d_forward(X[n : n + 1], W)[1])[1] for n in range(2)]
    np.testing.assert_array_equal(sum(by_image), dW)
    assert "maps_by_loops True True\nmaps_by_convolution True True" in printed
    assert lesson["reached"][0, 0, 1, 1] == W.shape[0] * 4 == 12


def test_the_noise_becomes_the_edge_mask_to_a_tenth(lesson, shown):
    learned = lesson["mask"][0, 0]
    assert np.abs(lesson["noise"] - lesson["edges"]).max() > 1
    furthest = np.abs(learned - lesson["edges"]).max()
    assert furthest < 0.1
    assert "maps_by_product(dy_digits" in (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8"), "the page's own way"
    assert f"largest difference from lesson 07's mask: {furthest:.2f}" in shown
    assert abs(furthest * 100 % 1 - 0.5) > 0.01, "no number may stand at the edge of its rounding"
    off = np.abs(learned * 10 % 1 - 0.5)
    assert off.min() > 0.001, "no number may stand at the edge of its rounding"
    assert re.search(r"Step 6 of 6. After 400 steps: half the mean squared difference of .* is \d\.\de-05", shown)


def test_the_mask_that_is_learned_is_lesson_07s(lesson):
    source = (NOTEBOOKS / "07_convolution.py").read_text(encoding="utf-8")
    found = re.search(r"^edge = np\.array\((.*)\)$", source, re.MULTILINE).group(1)
    np.testing.assert_array_equal(lesson["edges"], eval(found))


def test_a_convolutions_cache_begins_with_x_and_w(lesson, prose):
    x, w = lesson["x"][None, None], lesson["w"][None, None]
    _, cache = ops.conv2d_forward(x, w)
    assert cache[0] is x
    assert cache[1] is w
    assert "(The cache of `conv2d_forward` begins with `x` and `w`.)" in prose
    script = (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8")
    assert script.index("The cache of `conv2d_forward`") < script.index("cache[:2]"), "said before it is used"


def test_no_picture_is_made_smaller_on_a_phone_so_that_its_text_stays_readable():
    """400 pixels less the page's edges leave about 370; text of 12 pixels may lose a tenth, not more."""
    cells = nbformat.read(NOTEBOOKS / f"{NAME}.ipynb", as_version=4).cells
    pages = [o.get("data", {}).get("text/html", "") for cell in cells for o in cell.get("outputs", [])]
    widths = [width for page in pages for width in drawn_widths(page)]
    assert len(widths) >= 3
    assert max(widths) <= 412, sorted(widths)


@pytest.mark.parametrize("name", ["05_computation_graph", "07_convolution", NAME])
def test_every_fold_begins_a_line_so_that_its_answer_stays_inside(name):
    """Markdown takes a `<details>` behind other words for a part of their line, and leaves the answer outside of it."""
    lines = (NOTEBOOKS / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "<details" in line and not line.lstrip("# ").startswith("<details")] == []


def test_the_page_has_one_word_for_each_thing(prose):
    """A mask is a mask; where the winner stands is the winner index."""
    assert not re.search(r"argmax|\bfilters?\b|\bkernels?\b(?!spec)", re.sub(r"\[\^.*?\]|kernelspec", "", prose), re.I)
    assert "**winner index**" in prose


def test_try_it_with_stride_5_covers_30_of_32_rows():
    assert ops.output_size(32, 5, 5) * 5 == 30
    assert round(900 / 1024, 2) == round(ops.replication((1, 1, 32, 32), 5, stride=5), 2) == 0.88
    assert ops.replication((1, 3, 6, 7), 1) == 1
