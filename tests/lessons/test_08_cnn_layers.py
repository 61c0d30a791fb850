"""Lesson 08: what must come out, in the library, in the lesson's own numbers and on its page."""

from pathlib import Path

import numpy as np
import pytest

from course_lib import checks
from course_lib import reference as ops

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "08_cnn_layers"


@pytest.mark.parametrize(
    ("name", "row", "filters", "unrolled", "elements", "factor", "reuse"),
    [
        ("small", "2x12      12x4            48        1.78x      2", (2, 12), (12, 4), 48, 1.78, 2),
        ("C1", "6x25      25x784      19,600       19.14x      6", (6, 25), (25, 784), 19600, 19.1, 6),
        ("C3", "16x150    150x100     15,000       12.76x     16", (16, 150), (150, 100), 15000, 12.8, 16),
        ("C5", "120x400   400x1          400        1.00x    120", (120, 400), (400, 1), 400, 1, 120),
    ],
)
def test_the_replication_table_is_the_lectures(lesson, printed, name, row, filters, unrolled, elements, factor, reuse):
    shown = lesson["table"][name]
    assert shown[:3] == (filters, unrolled, elements)
    assert shown[3] == pytest.approx(factor, abs=0.05)
    assert shown[4] == reuse
    assert f"{name:<6} {row}\n" in printed


def test_unrolling_c1_moves_nineteen_times_the_bytes(lesson, printed):
    image = lesson["image"]
    assert image.shape == (1, 1, 32, 32)
    assert round(ops.im2col(image, 5).nbytes / image.nbytes, 1) == 19.1
    assert "image 4,096 bytes, unrolled 78,400 bytes" in printed
    assert (lesson["counts"].min(), lesson["counts"].max()) == (1, 25)


def test_erratum_the_three_replications_belong_to_c1_c3_and_c5(printed):
    for channels, size, factor in ((1, 32, 19.1), (6, 14, 12.8), (16, 5, 1.0)):
        T = size - 4  # the lecture's reuse of a tile that covers all outputs is the same number
        assert round(25 * T**2 / (T + 4) ** 2, 1) == factor
        assert round(ops.replication((1, channels, size, size), 5), 1) == factor
    assert "[('C1', 19.1), ('C3', 12.8), ('C5', 1.0)]" in printed
    assert "C2" not in printed


def test_the_three_forms_agree_to_1e_12(lesson, printed):
    for k, name in enumerate(("y", "dx", "dw", "db")):
        loops, windows, product = (lesson["results"][form][k] for form in ("loops", "convolution", "matrix product"))
        np.testing.assert_allclose(windows, loops, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(product, loops, rtol=1e-12, atol=1e-12)
        assert f"{name:<3} {loops.shape}: three forms agree to 1e-12" in printed


def test_the_data_of_the_comparison_hide_nothing(lesson):
    (B, C, H, W), (M, _, K_h, K_w) = lesson["xb"].shape, lesson["wb"].shape
    assert len({B, C, M}) == 3
    assert H != W
    assert K_h != K_w
    assert not np.allclose(lesson["wb"], lesson["wb"][:, :, ::-1, ::-1])
    assert not np.allclose(lesson["w"], lesson["w"][::-1, ::-1])


def test_hand_loops_convolution_and_matrix_product_agree_on_the_small_example(lesson):
    np.testing.assert_array_equal(lesson["x"], [[0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])
    dx = [[2, 7, 10, 8], [9, 26, 33, 22], [14, 32, 24, 14], [15, 23, 7, 4]]
    for name in ("dx", "full", "dx_product"):
        np.testing.assert_array_equal(lesson[name], dx)
    for name in ("dw", "dw_loops", "dw_product"):
        np.testing.assert_array_equal(lesson[name], [[31, 32], [34, 33]])
    x, w, dy = lesson["x"], lesson["w"], lesson["dy"]

    def error(w_or_x, which):
        images, mask = (w_or_x, w) if which == "x" else (x, w_or_x)
        return np.sum(dy * ops.conv2d_forward(images[None, None], mask[None, None])[0][0, 0])

    np.testing.assert_allclose(checks.numerical_gradient(lambda v: error(v, "x"), x), dx, rtol=1e-6)
    np.testing.assert_allclose(checks.numerical_gradient(lambda v: error(v, "w"), w), lesson["dw"], rtol=1e-6)


def test_the_lectures_result_is_our_gradient_under_a_mask_of_ones(lesson, printed):
    result = [[2, 5, 7, 4], [5, 11, 13, 7], [8, 12, 8, 4], [5, 6, 2, 1]]
    np.testing.assert_array_equal(lesson["lecture"], result)
    dx = lesson["backward_loops"](lesson["dy"], lesson["x"], np.ones((2, 2)))[0]
    np.testing.assert_array_equal(dx, result)
    assert str(dx) in printed


def test_all_forms_multiply_by_the_transpose_of_lesson_07s_matrix(lesson, printed):
    assert lesson["T"].shape == (9, 16)
    product = (lesson["T"].T @ lesson["dy"].ravel()).reshape(4, 4)
    np.testing.assert_array_equal(product, lesson["dx"])
    assert printed.count(str(lesson["dx"])) == 3


def test_the_slopes_of_the_matrix_cells_that_hold_one_weight_add_up_to_its_gradient(lesson, printed):
    filled = np.concatenate([[0.0], lesson["w"].ravel()])[lesson["holds"]]
    np.testing.assert_array_equal(filled, lesson["T"])
    np.testing.assert_array_equal(lesson["dT"], np.outer(lesson["dy"], lesson["x"]))
    sums = [lesson["dT"][lesson["holds"] == k].sum() for k in range(1, 5)]
    np.testing.assert_array_equal(np.reshape(sums, (2, 2)), lesson["dw"])
    assert "dw [31.0, 32.0, 34.0, 33.0]" in printed


def test_db_is_the_sum_of_dy(lesson, printed):
    x, w, dy = (lesson[name][None, None] for name in ("x", "w", "dy"))
    _, cache = ops.conv2d_forward(x, w, np.zeros(1))
    assert ops.conv2d_backward(dy, cache)[2] == [dy.sum()]
    assert f"[[31. 32.]\n [34. 33.]] db {dy.sum()}" in printed
    assert (2 * 0 + 3 * 2 + 4 * 1) + (3 * 0 + 3 * 3 + 3 * 2) + (5 * 1 + 1 * 1 + 1 * 0) == 31


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
    forgetful, x, blur = (lesson[name] for name in ("backward_by_sliding", "x_test", "blur"))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        checks.check_op_gradients(ops.conv2d_forward, forgetful, [x, blur], rng=rng)
        skewed = rng.standard_normal((1, 1, 3, 3))
        with pytest.raises(checks.GradientMismatch, match=r"args\[0\]"):
            checks.check_op_gradients(ops.conv2d_forward, forgetful, [x, skewed], rng=rng)
        checks.check_op_gradients(ops.conv2d_forward, forgetful, [x, skewed], rng=rng, wrt=[1])
    assert "blur: passes\nthe gradient of args[0] is wrong\n" in printed


def test_masks_of_try_it_two_are_their_own_flip_and_one_is_not(lesson):
    for mask, same in (([[1, 1], [1, 1]], True), ([[1, 2], [2, 1]], True), ([[1, 2], [1, 2]], False)):
        mask = np.array(mask, dtype=float)
        right = lesson["backward_loops"](lesson["dy"], lesson["x"], mask)[0]
        wrong = ops.conv2d_forward(lesson["dy"][None, None], mask[None, None], pad=1)[0][0, 0]
        assert np.array_equal(right, wrong) == same


def test_erratum_the_last_product_takes_the_output_at_the_pixels_own_place(lesson, printed):
    measured = checks.numerical_gradient(lesson["E"], lesson["w"])[0, 0]
    dy, x = lesson["dy2"], lesson["x3"]
    assert measured == pytest.approx(np.sum(dy * x[:2, :2]), rel=1e-6)
    assert measured != pytest.approx(lesson["three"] + dy[1, 0] * x[1, 1], rel=1e-2)
    assert "slide 13.0  corrected 19.0  measured 19.000000" in printed


def test_pooling_sends_gradients_to_winners_the_first_of_equals_and_adds_overlaps(lesson):
    four = lesson["four"][None, None]
    y, cache = ops.max_pool_forward(four, 2)
    np.testing.assert_array_equal(y[0, 0], [[3, 2]])
    np.testing.assert_array_equal(lesson["place"][0, 0], [[5, 2]])
    dx = ops.max_pool_backward(np.array([[[[5.0, 7]]]]), cache)
    np.testing.assert_array_equal(dx[0, 0], [[0, 0, 7, 0], [0, 5, 0, 0]])
    _, cache = ops.max_pool_forward(four, 2, stride=1)
    np.testing.assert_array_equal(
        ops.max_pool_backward(np.ones((1, 1, 1, 3)), cache)[0, 0], [[0, 0, 1, 0], [0, 2, 0, 0]]
    )


def test_pooling_sizes_are_rounded_down(printed):
    assert [1 + (H - F) // S for H, F, S in ((4, 2, 2), (28, 2, 2), (5, 2, 2), (5, 3, 2))] == [2, 14, 2, 2]
    assert "H=5, F=2, S=2: H_out=2, rows never seen: 1" in printed


def test_the_optional_stride_is_a_full_convolution_of_the_spread_gradient(lesson):
    np.testing.assert_array_equal(lesson["spread"], [[5, 0, 6], [0, 0, 0], [7, 0, 8]])
    _, cache = ops.conv2d_forward(lesson["x"][None, None], lesson["w"][None, None], stride=2)
    loops = ops.conv2d_backward_loops(lesson["dy_small"][None, None], cache)[0][0, 0]
    np.testing.assert_array_equal(lesson["dx_stride"], loops)
