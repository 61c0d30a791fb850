"""Lesson 07: what must come out, in the library, in the lesson's own numbers and on its page."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib import nn
from course_lib import reference as ops
from course_lib.figures import convolution, convolution_matrix
from course_lib.lesson import moved, with_room

from ..figures.pages import drawn_widths

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "07_convolution"


@pytest.fixture(scope="module")
def lesson():
    """The names that the lesson's script leaves behind."""
    source = (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8")
    namespace = {"__name__": "lesson"}
    exec(compile(source, f"{NAME}.py", "exec"), namespace)
    return namespace


def rows_of(text):
    return [line.split() for line in text.splitlines()]


@pytest.fixture(scope="module")
def notebook():
    return nbformat.read(NOTEBOOKS / f"{NAME}.ipynb", as_version=4)


def test_a_dense_layer_on_250_by_250_has_3_9_billion_weights(shown, prose):
    assert (250**2, 250**4) == (62_500, 3_906_250_000)
    assert ["one", "node", "62,500"] in rows_of(shown)
    assert ["all", "nodes", "3,906,250,000"] in rows_of(shown)
    assert "15.6 GB" in prose
    assert round(4 * 250**4 / 1e9, 1) == 15.6


def test_it_takes_both_rules(lesson, shown):
    local = (5 * 250 - 6) ** 2  # along one axis two rows of the mask hang over at the edge and one beside it, twice
    assert lesson["covered"].sum() == local == 1_547_536
    assert 499**2 == 249_001
    lines = rows_of(shown)
    assert ["only", "local", "1,547,536"] in lines
    assert ["only", "shared", "249,001"] in lines
    assert ["local", "and", "shared", "25"] in lines


def test_a_mask_of_499_covers_every_pixel_from_every_place():
    """Shared alone: with the size scaled down from 250 to 5, a mask of 2 * 5 - 1 leaves no zero in the matrix."""
    assert (convolution_matrix.as_matrix((9, 9), (5, 5), pad=4) > 0).all()
    assert not (convolution_matrix.as_matrix((7, 7), (5, 5), pad=3) > 0).all()


def test_output_5_has_the_nine_terms_of_the_slides_output_6(lesson, printed, prose):
    slide = "A1 I1 + A2 I2 + A3 I3 + A4 I5 + A5 I6 + A6 I7 + A7 I9 + A8 I10 + A9 I11"
    from_0 = re.sub(r"\d+", lambda number: str(int(number.group()) - 1), slide)
    assert lesson["terms"](5) == from_0
    assert f"O5 = {from_0}" in printed
    assert lesson["terms"](0).count("A") == 4
    assert "counts pixels and weights from 1, so our output 5 is his O6" in prose


def test_pixels_weights_and_outputs_are_counted_from_0_throughout(prose, shown):
    text = re.sub(r"is his O6", "", prose) + shown
    assert not re.search(r"\b(I_?16|A_?9|O7|O11|O16)\b", text)
    assert "I_0 \\dots I_{15}" in prose
    assert "A_0 \\dots A_8" in prose


@pytest.mark.parametrize("output", range(16))
def test_the_terms_of_every_output_are_those_of_the_library(lesson, output):
    rng = np.random.default_rng(output)
    pixels, weights = rng.integers(-9, 9, 16), rng.integers(-9, 9, 9)
    y, _ = ops.conv2d_forward(pixels.reshape(1, 1, 4, 4), weights.reshape(1, 1, 3, 3), pad=1)
    products = [term.replace("A", "").replace("I", "").split() for term in lesson["terms"](output).split("+")]
    assert y.ravel()[output] == sum(weights[int(a)] * pixels[int(i)] for a, i in products)


def test_the_numbers_worked_by_hand(lesson, printed):
    image, edge = lesson["image"], lesson["edge"]
    y, _ = ops.conv2d_forward(image[None, None], edge[None, None], pad=1)
    assert y[0, 0, 1, 1] == (0 * 1 + 0 * 2 + 1 * 1) - (1 * 1 + 2 * 2 + 0 * 1) == -4
    assert "output 5: -4" in printed
    assert lesson["x3"].shape == (3, 3, 3)
    assert lesson["w3"].shape == (3, 2, 2)
    np.testing.assert_array_equal(lesson["y3"][0, 0], [[5, 9], [4, 3]])
    assert "[[5. 9.]\n [4. 3.]]" in printed
    assert "[3.0, -2.0, 0.0]" in printed


def test_the_image_is_the_channel_of_the_lecture(lesson):
    np.testing.assert_array_equal(lesson["image"], [[0, 2, 1, 0], [0, 3, 2, 1], [1, 1, 0, 2], [2, 1, 0, 3]])


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 1, 3, 3), (2, 3, 7, 5), (1, 2, 6, 9)])
def test_the_lessons_loops_and_windows_are_the_library(lesson, shape, stride):
    rng = np.random.default_rng(0)
    x, w = rng.integers(-4, 5, shape), rng.integers(-4, 5, (3, shape[1], 3, 2))
    y, _ = ops.conv2d_forward(x, w, stride=stride)
    np.testing.assert_array_equal(lesson["conv_loops"](x, w, stride), y)
    np.testing.assert_array_equal(lesson["conv_windows"](x, w, stride), y)


def test_weights_do_not_depend_on_the_size_of_the_image():
    w = np.ones((6, 3, 5, 5))
    for size in (28, 250):
        assert ops.conv2d_forward(np.ones((2, 3, size, size)), w)[0].shape == (2, 6, size - 4, size - 4)


def test_the_sizes_of_the_comparison_are_all_different(lesson, shown, prose):
    (B, C, H, W), (M, _, K_h, K_w) = lesson["x"].shape, lesson["w"].shape
    for stride, shape, *agree in lesson["rows"]:
        H_out, W_out = (ops.output_size(n, k, stride) for n, k in ((H, K_h), (W, K_w)))
        assert len({B, C, H, W, M, K_h, K_w, H_out, W_out}) == 9
        assert shape == str((B, M, H_out, W_out))
        assert agree == [True, True]
        assert re.search(rf"{stride} +{re.escape(shape)} +yes +yes", shown)
    assert [row[0] for row in lesson["rows"]] == [1, 2]
    assert "sizes of which no two are alike" in prose
    assert "Both must agree with the library" in prose  # it is the page's own functions that are tried


def test_the_four_sizes_of_the_page(shown):
    assert [ops.output_size(28, 5), ops.output_size(28, 5, pad=2), ops.output_size(28, 4, 2, 1)] == [24, 28, 14]
    assert [*rows_of(shown)].count(["8", "3", "2", "0", "3"]) == 1
    assert ["28", "4", "2", "1", "14"] in rows_of(shown)
    assert ops.output_size(32, 5) == 28


def test_the_edges_of_the_explorer_are_seen_as_often_as_the_page_says():
    assert convolution.visits(8, 3)[0, 0] == 1
    assert convolution.visits(8, 3)[4, 4] == 9
    assert convolution.visits(8, 3, pad=1)[1, 1] == 4


def test_the_three_tasks_of_the_explorer_have_solutions():
    assert not convolution.never_seen(8, 5, 3).any()
    assert ops.unseen(8, 5, 3) == 0
    assert ops.unseen(8, 3, 2, 1) > 0
    assert not convolution.never_seen(8, 3, 2, 1).any()
    assert convolution.never_seen(8, 2, 3)[2].all()


def test_the_matrix_has_64_cells_36_filled_with_9_weights_and_is_a_dense_layer(lesson):
    T = lesson["T"]
    assert T.shape == (4, 16)
    np.testing.assert_array_equal(T, np.concatenate([[0], lesson["edge"].ravel()])[lesson["named"]])
    assert (lesson["named"].size, np.count_nonzero(lesson["named"]), lesson["named"].max()) == (64, 36, 9)
    y, _ = ops.conv2d_forward(lesson["image"][None, None], lesson["edge"][None, None])
    np.testing.assert_array_equal(lesson["dense"].ravel(), T @ lesson["image"].ravel())
    np.testing.assert_array_equal(lesson["dense"].ravel(), y.ravel())
    np.testing.assert_array_equal(np.mean(lesson["large"] == 0).round(2), 0.88)


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_a_convolution_moves_with_its_input_exactly(lesson, shift):
    rng = np.random.default_rng(0)
    x, w = np.zeros((1, 2, 9, 12)), rng.integers(-4, 5, (3, 2, 3, 3))
    x[..., 1:8] = rng.integers(-4, 5, (1, 2, 9, 7))
    y, _ = ops.conv2d_forward(x, w, pad=1)
    moved, _ = ops.conv2d_forward(np.roll(x, shift, axis=-1), w, pad=1)
    np.testing.assert_array_equal(moved[..., shift:], y[..., :-shift])


def test_moving_loses_no_ink_of_the_digits_that_are_used(lesson):
    test = lesson["test"]
    assert len(test) == 935
    moved = lesson["moved"](test, 3)
    np.testing.assert_array_equal(moved[:, :, 3:], test[:, :, :25])
    assert not moved[:, :, :3].any()


def test_a_dense_layer_collapses_on_pixels_and_on_maps_and_the_largest_values_do_not(lesson, shown):
    dense, every, conv = lesson["dense_right"], lesson["all_right"], lesson["conv_right"]
    for shares in (dense, every):
        assert 0.86 <= shares[0] <= 0.95  # the page: about nine in ten
        assert shares[0] > shares[1] > shares[2] > shares[3]
        assert 0.35 <= shares[3] <= 0.6  # the page: about a half
    assert np.ptp(conv) <= 0.003  # the page: up to rounding
    assert 0.87 <= conv[0] <= 0.93  # the page: about nine in ten
    table = [row for row in rows_of(shown) if len(row) == 3 and row[0] in "0123" and row[1].endswith("%")]
    assert [row[0] for row in table] == ["0", "1", "2", "3"], "the failure is shown"
    assert "a dense layer on all values of the maps from" in shown


def test_only_what_is_kept_of_the_maps_differs_between_the_network_that_fails_and_the_one_that_does_not(lesson):
    """The control: the same 64 masks, the same ReLU, one dense layer each, without a hidden one."""
    images = lesson["test"][:20]
    maps = lesson["maps_of"](images)
    assert maps.shape == (20, 64, 36, 36)
    scores, largest = lesson["through_all"](images)
    np.testing.assert_allclose(largest, maps.max(axis=(2, 3)), rtol=1e-6)
    np.testing.assert_allclose(lesson["largest"](images), largest, rtol=1e-6)
    np.testing.assert_array_equal(scores, lesson["all_net"].predict(maps.reshape(20, -1)))
    for net, inputs in (("all_net", 82_944), ("conv_net", 64)):
        (layer,) = lesson[net].layers
        assert layer.params["w"].shape == (inputs, 10)


def test_relu_does_not_change_the_largest_value_of_a_map(lesson):
    y, _ = ops.conv2d_forward(lesson["test"][:20, None], lesson["masks"], pad=8)
    np.testing.assert_array_equal(y.max(axis=(2, 3)), lesson["maps_of"](lesson["test"][:20]).max(axis=(2, 3)))


def test_the_frames_of_the_best_fit_move_along_and_their_sums_stay(lesson, shown, prose):
    here, there = lesson["found"]
    np.testing.assert_allclose(here.max(axis=(1, 2)), there.max(axis=(1, 2)), rtol=1e-5)
    assert "on the digit moved by three pixels the frame has moved along." in shown
    script = (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8")
    assert "where it is orange it wants ink, where it is purple it wants paper" in script
    for a, b in zip(here, there, strict=True):
        h, v = np.unravel_index(np.argmax(a), a.shape)
        np.testing.assert_array_equal(np.unravel_index(np.argmax(b), b.shape), (h, v + 3))
        assert a.max() > 2 * np.median(a[a > 0]), "the frame stands out"


def test_where_pieces_lay_relative_to_each_other_is_lost_but_a_mask_tells_above_from_below(lesson):
    piece = lesson["masks"][0, 0] + 0.0
    one, other = (np.zeros((1, 60, 60)) for _ in range(2))  # two pieces, side by side or one above the other, far apart
    one[0, :9, :9] = one[0, :9, 40:49] = other[0, :9, :9] = other[0, 40:49, :9] = np.maximum(piece, 0)
    best = [lesson["maps_of"](images).max(axis=(2, 3)) for images in (one, other)]
    np.testing.assert_allclose(*best, atol=1e-5)
    fit, turned = (np.sum(piece * p) for p in (piece, piece[::-1]))
    assert turned < fit


def test_exchanged_halves_give_the_third_network_the_same_numbers_and_a_dense_network_others(lesson, shown):
    torn, swapped, largest = lesson["torn"], lesson["swapped"], lesson["largest"]
    assert torn.shape[1:] == swapped.shape[1:] == (37, 28)
    np.testing.assert_array_equal(torn[:, :14], swapped[:, 23:])
    np.testing.assert_array_equal(torn[:, 23:], swapped[:, :14])
    np.testing.assert_allclose(largest(torn), largest(swapped), atol=1e-4)  # the page: one picture to this network
    assert np.mean(lesson["told"][0] == lesson["told"][1]) > 0.995
    assert "its halves exchanged; the network gives both the same answer" in shown


def test_the_picture_of_the_places_does_not_give_the_largest_sums_away(notebook):
    cell = next(c for c in notebook.cells if "best_places(" in c.source)
    said = "".join(o["data"].get("text/plain", "") for o in cell.outputs)
    assert not re.search(r"\d\.\d", said)


def test_the_numbers_behind_the_third_network_do_not_change_when_digits_move(lesson):
    np.testing.assert_allclose(lesson["seen"][3], lesson["seen"][0], rtol=1e-4, atol=1e-4)


def test_the_digit_at_the_top_is_read_correctly_only_where_it_stands(lesson, shown):
    one, read, label = lesson["one"], lesson["read"], lesson["labels"][lesson["one"]]
    assert read[0, one] == label != read[3, one]
    assert "moved to the right by 0, 1, 2 and 3 pixels. The network reads" in shown


def test_a_dense_layer_on_the_maps_fails_on_moved_digits_with_another_seed_and_rate_as_well(lesson):
    """The page: equivariance alone is not enough, and it is not the learning rate."""
    rng, maps = np.random.default_rng(1), lesson["maps_of"]
    net = nn.models.mlp((64 * 36 * 36, 10), rng=rng)
    for images, labels in zip(lesson["train"], lesson["train_labels"], strict=True):
        settings = {**lesson["training"], "epochs": 1, "lr": 0.0002, "rng": rng, "progress": False}
        nn.train(net, (maps(images).reshape(len(images), -1), labels), **settings)

    def share(images):
        parts = np.array_split(images, 16)
        found = np.concatenate([net.predict(maps(part).reshape(len(part), -1)) for part in parts])
        return np.mean(found == lesson["labels"])

    assert share(lesson["test"]) > 0.83
    assert share(moved(lesson["test"], 3)) < 0.65


def test_larger_steps_on_all_values_run_away(lesson):
    """The page: the more inputs, the smaller the rate has to be."""
    images, labels = lesson["train"][0], lesson["train_labels"][0]
    x = lesson["maps_of"](images).reshape(len(images), -1)
    losses = {}
    for lr in (0.0001, 0.1):
        rng = np.random.default_rng(0)
        net = nn.models.mlp((x.shape[1], 10), rng=rng)
        with np.errstate(all="ignore"):
            history = nn.train(net, (x, labels), epochs=2, batch_size=64, lr=lr, rng=rng, progress=False)
        losses[lr] = history.loss[-1]
    assert losses[0.0001] < 3 < 10 < losses[0.1]


@pytest.mark.parametrize(("count", "low", "high"), [(16, 0.7, 0.82), (128, 0.91, 0.96)])
def test_fewer_masks_read_fewer_digits_and_the_curve_stays_flat(lesson, count, low, high):
    digits, rng = lesson["digits"], np.random.default_rng(0)
    masks = lesson["cut_masks"](digits.images("train")[:count], rng)

    def fits(x):
        parts = np.array_split(x, 16)
        return np.concatenate([ops.conv2d_forward(v[:, None], masks, pad=8)[0].max(axis=(2, 3)) for v in parts])

    train = fits(digits.images("train"))
    centre, spread = train.mean(axis=0), train.std(axis=0)
    net = nn.models.mlp((count, 10), rng=rng)
    nn.train(net, ((train - centre) / spread, digits.y_train), **{**lesson["training"], "rng": rng})
    seen = [(fits(lesson["moved"](lesson["test"], s)) - centre) / spread for s in (0, 3)]
    right = [nn.accuracy(net.predict(v), lesson["labels"]) for v in seen]
    assert low <= right[0] <= high
    assert abs(right[1] - right[0]) <= 0.003


def test_with_stride_2_only_even_shifts_give_a_shifted_map(lesson):
    x = np.zeros((1, 1, 9, 16))
    x[..., 2:9] = np.random.default_rng(0).integers(-4, 5, (1, 1, 9, 7))
    mask = lesson["edge"][None, None]
    y = ops.conv2d_forward(x, mask, stride=2)[0]
    by_two, by_one = (ops.conv2d_forward(np.roll(x, s, axis=-1), mask, stride=2)[0] for s in (2, 1))
    np.testing.assert_array_equal(by_two[..., 1:], y[..., :-1])
    assert not any(np.array_equal(by_one, np.roll(y, s, axis=-1)) for s in range(y.shape[-1]))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_seeds_collapse_too(lesson, seed):
    digits, rng = lesson["digits"], np.random.default_rng(seed)
    net = nn.models.mlp((784, 64, 10), rng=rng)
    nn.train(net, (digits.x_train, digits.y_train), epochs=5, batch_size=64, lr=0.1, momentum=0.9, rng=rng)
    shown = [lesson["moved"](lesson["test"], s).reshape(-1, 784) for s in (0, 3)]
    right = [nn.accuracy(net.predict(images), lesson["labels"]) for images in shown]
    assert right[0] >= 0.9
    assert right[1] <= 0.6


def test_the_bar_in_the_last_column_is_unseen_until_there_is_padding(lesson, printed, shown):
    assert not lesson["blind"].any()
    assert lesson["strongest"] == {6: 4.0, 7: 0.0}
    assert ["6", "4"] in rows_of(shown)
    assert ["7", "0"] in rows_of(shown)
    assert ops.unseen(8, 3, 2) == 1
    assert lesson["lost"].sum() == 15
    assert lesson["lost"][:, 7].all()
    assert lesson["lost"][7].all()
    assert lesson["right"].any()
    assert not convolution.never_seen(8, 3, stride=2, pad=1).any()
    assert ops.unseen(8, 3, stride=2, pad=1) == 1  # a column of zeros
    assert "pixels unseen without padding: 15 of 64" in printed


def test_erratum_7_the_slide_promises_half_a_row(prose):
    assert ops.output_size(8, 3, stride=2) == 3
    assert 1 + (8 - 3 + 2 * 0) / 2 == 3.5
    assert "For 8 pixels, mask 3, stride 2 and no padding it promises 3.5 rows. The library rounds down to 3" in prose


def test_erratum_4_where_sums_start(lesson, notebook):
    image = lesson["image"]
    assert (image[:2, :2].sum(), image[1:3, 1:3].sum()) == (5, 6)
    assert (list(image[:2, :2].ravel()), list(image[1:3, 1:3].ravel())) == ([0, 2, 0, 3], [3, 2, 1, 0])
    box = next(c.source for c in notebook.cells if "For those who know the lectures" in c.source)
    assert "$0 + 2 + 0 + 3 = 5$" in box
    assert "$3 + 2 + 1 + 0 = 6$" in box
    errors = [o.ename for c in notebook.cells if c.cell_type == "code" for o in c.outputs if o.output_type == "error"]
    assert errors == []


def test_answers_of_check_yourself():
    layer = nn.Conv2d(3, 10, 5, rng=np.random.default_rng(0))
    assert sum(p.size for p in layer.params.values()) == 760
    assert ops.output_size(11, 4, 3) == 3
    assert list(np.flatnonzero(convolution.never_seen(11, 4, 3).all(axis=0))) == [10]
    assert ops.output_size(11, 4, 3, 1) == 4
    assert ops.unseen(11, 4, 3, 1) == 0
    assert not convolution.never_seen(11, 4, 3, 1).any()


def test_departure_5_invariant_and_equivariant_are_told_apart(notebook):
    box = next(" ".join(c.source.split()) for c in notebook.cells if "For those who know the lectures" in c.source)
    assert "invariant to frequency shifts" in box
    assert "it is the maps that move along (equivariant)" in box


def test_a_1_by_1_convolution_is_a_dense_layer_at_each_pixel(lesson, printed):
    mixed, x3 = lesson["mixed"][0], lesson["x3"]
    np.testing.assert_array_equal(mixed, [x3.sum(axis=0), x3[0] - x3[2]])
    assert "a dense layer at each pixel: True" in printed
    inverted, _ = ops.conv2d_forward(x3[None, :1], np.full((1, 1, 1, 1), -1.0))
    np.testing.assert_array_equal(inverted[0, 0], -x3[0])  # the page: it multiplies


def test_the_answers_of_try_it(lesson, prose):
    x3, w3, digit = lesson["x3"], lesson["w3"], lesson["test"][lesson["one"]]
    turned = ops.conv2d_forward(x3[None], w3[::-1][None])[0][0, 0]
    np.testing.assert_array_equal(turned, [[5, 7], [2, 7]])
    assert (turned != lesson["y3"][0, 0]).sum() == 3
    assert "the upper row is 5 and 7 now, the lower one 2 and 7" in prose
    assert len(convolution.slide_frames(x3, w3, 2)) == 3
    lost = convolution.never_seen(3, 2, 2)
    assert (lost[2].all(), lost[:, 2].all(), lost.sum()) == (True, True, 5)
    level = lesson["edge"].T[None, None]
    y, moved_y = (ops.conv2d_forward(v[None, None], level, pad=1)[0][0, 0] for v in (digit, moved(digit, 3)))
    np.testing.assert_array_equal(moved_y[:, 3:], y[:, :-3])
    stroke = np.zeros((1, 1, 7, 7))
    stroke[..., 3, :] = 1
    answer = ops.conv2d_forward(stroke, level)[0][0, 0, :, 2]
    assert (answer[1], answer[3]) == (-4, 4)  # a minus above, a plus below


def test_digits_without_room_are_not_moved_and_ink_is_never_lost():
    images = np.zeros((2, 4, 5))
    images[0, 1, 1] = images[1, 1, 3] = 1
    np.testing.assert_array_equal(with_room(images, 2), [True, False])
    np.testing.assert_array_equal(moved(images[:1], 2)[0, 1], [0, 0, 0, 1, 0])
    np.testing.assert_array_equal(moved(images, 0), images)
    with pytest.raises(ValueError, match="pushes ink out of the picture; keep the images that have room"):
        moved(images, 2)
    with pytest.raises(ValueError, match="shift is -1"):
        moved(images, -1)


def test_masks_are_pieces_of_their_images_less_the_mean_and_their_text_is_on_the_page(lesson, notebook):
    images = np.random.default_rng(0).random((50, 28, 28))
    masks = lesson["cut_masks"](images, np.random.default_rng(1))
    assert masks.shape == (50, 1, 9, 9)
    np.testing.assert_allclose(masks.mean(axis=(1, 2, 3)), 0, atol=1e-12)
    for image, (mask,) in zip(images, masks, strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(image, (9, 9))
        less = windows - windows.mean(axis=(2, 3), keepdims=True)
        corners = np.argwhere(np.isclose(less, mask).all(axis=(2, 3)))
        assert len(corners) == 1
        assert 6 <= corners.min() <= corners.max() <= 12
    cell = next(c for c in notebook.cells if c.cell_type == "code" and "def cut_masks" in c.source)
    assert "hide-input" not in cell.metadata.get("tags", [])


def test_no_picture_is_made_smaller_on_a_phone_so_that_its_text_stays_readable(notebook):
    """400 pixels less the page's edges leave about 370; text of 12 pixels may lose a tenth, not more."""
    outputs = [o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", [])]
    pages = [data["text/html"] for data in outputs if "text/html" in data]
    widths = [width for page in pages for width in drawn_widths(page)]
    assert len(widths) >= 8
    assert max(widths) <= 412


def test_stride_2_computes_a_quarter_and_stride_3_about_a_ninth(prose):
    for pad in (0, 1):
        most = ops.output_size(28, 3, 1, pad)
        assert (ops.output_size(28, 3, 2, pad) / most) ** 2 == 0.25
        assert 7.5 < (most / ops.output_size(28, 3, 3, pad)) ** 2 < 8.5
    assert "a quarter of the outputs and a stride of 3 about a ninth (of 28 × 28 it is 100 in 784" in prose


def test_two_layers_of_5_by_5_see_9_by_9(prose):
    x, w = np.ones((1, 1, 13, 13)), np.ones((1, 1, 5, 5))
    first, one = ops.conv2d_forward(x, w)
    second, two = ops.conv2d_forward(first, w)
    dy = np.zeros_like(second)
    dy[0, 0, 2, 2] = 1
    seen = ops.conv2d_backward(ops.conv2d_backward(dy, two)[0], one)[0][0, 0] != 0
    assert [int(v.any(axis=k).sum()) for k, v in ((0, seen), (1, seen))] == [9, 9]
    assert "through them 9 × 9 pixels" in prose


def test_no_number_of_w_changes_and_the_middle_pixel_is_in_all_four_windows(lesson):
    assert [frame.alt for frame in convolution.slide_frames(lesson["x3"], lesson["w3"])]
    assert convolution.visits(3, 2)[1, 1] == 4 == lesson["y3"].size


def test_all_maps_at_once_would_take_1_3_gigabytes(lesson, prose):
    maps = lesson["maps_of"](lesson["digits"].images("train")[:2])
    assert round(4000 * maps[0].nbytes / 1e9, 1) == 1.3
    assert len(lesson["digits"].y_train) == 4000
    assert "the maps of all at once would take 1.3 GB" in prose


def test_with_its_bias_a_convolution_is_not_linear_and_without_it_is(lesson):
    x, w, b = lesson["image"][None, None], lesson["edge"][None, None], np.ones(1)
    np.testing.assert_array_equal(ops.conv2d_forward(2 * x, w)[0], 2 * ops.conv2d_forward(x, w)[0])
    assert not np.array_equal(ops.conv2d_forward(2 * x, w, b)[0], 2 * ops.conv2d_forward(x, w, b)[0])


def test_the_page_does_not_tell_an_answer_before_its_question(prose, notebook):
    """What gave predictions away: a caption, an alt text, a computed size."""
    assert "leaves only its outline" not in prose
    script = (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8")
    asked = script.partition("Which of the two does it see?")[0].partition("where $\\lfloor")[2]
    assert asked
    assert not re.search(r"2\.5|column 7, the last|ends at column 6|1 \+ \\lfloor", asked)
    for word in ("matrix_of_weights", "shares_read", "through_all(moved"):
        cell = next(c for c in notebook.cells if c.cell_type == "code" and word in c.source)
        assert {"hide-input", "hide-output"} <= set(cell.metadata["tags"]), word


def test_the_network_at_the_top_reads_the_digit_after_one_pixel_as_the_page_allows(lesson, prose):
    read, label = lesson["read"][:, lesson["one"]], lesson["labels"][lesson["one"]]
    assert read[0] == label
    assert "before long, the network reads another" in prose
    assert read[3] != label


def test_the_network_of_largest_values_reads_the_digit_of_the_top_wherever_it_stands(lesson):
    for seen in lesson["seen"]:
        assert lesson["conv_net"].predict(seen)[lesson["one"]] == lesson["labels"][lesson["one"]]


def test_the_pictures_of_windows_are_not_asked_for_in_the_order_of_their_answers(lesson, prose):
    """Asked: which sees all without padding, which misses only padding, which has gaps. Shown in another order."""
    lost = {}
    for size, K, S, P in lesson["layers"][1:]:
        unseen = convolution.never_seen(size, K, S, P).any()
        lost[K, S, P] = "gaps" if unseen and K < S else "padding" if P else "all" if not unseen else "edge"
    assert list(lost.values()) == ["gaps", "all", "padding"]
    assert "mask 2 with stride 3, mask 5 with stride 3, and mask 3 with stride 2 and padding 1" in prose
