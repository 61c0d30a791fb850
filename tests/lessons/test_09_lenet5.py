"""Lesson 09: what must come out, in the library, in the lesson's own numbers and on its page."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from course_lib import data, fast, nn
from course_lib import lesson as helpers
from course_lib import reference as ops
from course_lib.lesson import padded

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "09_lenet5"
SHAPE = (1, 32, 32)


@pytest.fixture(scope="module")
def lesson():
    """The names that the cells before "Does it read better" leave behind; the network at the top stays untrained.

    What training finds, the notebook itself asserts whenever it is built or compared; here its printed results are
    read.
    """
    untrained = script().split("# ## Does it read better than the MLP?")[0]
    namespace, threads = {"__name__": "lesson"}, fast.threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(helpers, "train_in_phases", lambda net, data, phases, **options: [])
        exec(compile(untrained, f"{NAME}.py", "exec"), namespace)
    yield namespace
    fast.set_threads(threads)


def build(classic, seed=0):
    return nn.models.lenet5(rng=np.random.default_rng(seed), classic=classic)


def script():
    return (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8")


def rows_of(text):
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]


def row(shown, *start):
    """Return the numbers of the table's row that begins with these cells and has numbers only behind them."""
    number = re.compile(r"[\d.,]+%?")
    rests = [r[len(start) :] for r in rows_of(shown) if tuple(r[: len(start)]) == start]
    (found,) = [rest for rest in rests if rest and all(number.fullmatch(cell) for cell in rest)]
    return [float(cell.rstrip("%").replace(",", "")) for cell in found]


def numbers(text, pattern):
    """Return what the groups of the first match hold, as numbers."""
    return [float(group) for group in re.search(pattern, text).groups()]


def test_c3_has_1516_parameters_with_its_table_and_2416_without(printed):
    assert build(classic=True).costs(SHAPE)[4].trainable == 1516
    assert build(classic=False).costs(SHAPE)[3].trainable == 2416
    assert "60 x 25 + 16 = 1516   without the table: 2416" in printed
    assert 2416 - 1516 == 900


def test_the_classic_net_has_exactly_60000_parameters(shown):
    costs = build(classic=True).costs(SHAPE)
    assert sum(c.trainable for c in costs) == 60_000
    assert ["all", "60,000", "328,096"] in rows_of(shown)
    assert row(shown, "C5", "(120, 1, 1)") == [48_120, 48_000]


def test_the_text_names_the_shares_of_the_classic_net(lesson, prose):
    assert [round(100 * s) for s in lesson["shares"]["classic", "C1 + C3"]] == [3, 82]
    assert "C1 and C3 hold 3 % of the parameters and do 82 % of the work" in prose
    assert "C5 of the classic LeNet-5 holds 48,120 of 60,000 parameters" in script()


def test_the_prediction_of_the_work_can_be_computed_from_what_the_page_says(prose):
    """C1's count is worked out above it, and the others follow from connections and places."""
    assert "$150 \\cdot 784 = 117{,}600$ multiply-adds" in prose
    costs = build(classic=True).costs(SHAPE)
    assert [costs[i].multiply_adds for i in (0, 4, 8)] == [150 * 784, 60 * 25 * 100, 48_000]
    assert round(sum(c.multiply_adds for c in costs) / 48_000) == 7


@pytest.mark.parametrize("classic", [False, True])
def test_the_maps_have_the_sizes_of_the_drawing(classic):
    shapes = [c.output_shape for c in build(classic).costs(SHAPE)]
    for shape in ((6, 28, 28), (6, 14, 14), (16, 10, 10), (16, 5, 5), (120, 1, 1), (84,), (10,)):
        assert shape in shapes
    for told in ("input 1@32", "C1 6@28", "S2 6@14", "C3 16@10", "S4 16@5", "C5 120@1", "F6 84", "OUTPUT 10"):
        assert told in script()


def test_an_image_passes_through_twelve_layers_seven_of_which_make_another_shape(lesson, printed):
    built = lesson["todays_lenet5"](np.random.default_rng(0))
    assert repr(built) == repr(build(classic=False))
    x = np.zeros((1, *SHAPE), np.float32)
    shapes, lines = [x.shape], ["(1, 1, 32, 32) the image"]
    for layer in built:
        x = layer.forward(x)
        shapes.append(x.shape)
        lines.append(f"{x.shape} after {layer.describe()}")
    assert "\n".join(lines) in printed
    changed = [layer for layer, a, b in zip(built, shapes, shapes[1:], strict=False) if a != b]
    assert len(built) == 12
    assert [type(layer).__name__ for layer in changed].count("Flatten") == 1
    assert len(changed) == 7 + 1


@pytest.mark.parametrize(
    ("variant", "c5", "c1_c3"), [("classic", (0.802, 0.146), (0.028, 0.816)), ("today", (0.780, 0.115), (0.042, 0.859))]
)
def test_surprise_c5_holds_the_parameters_and_c1_and_c3_do_the_work(lesson, shown, variant, c5, c1_c3):
    for layers, share in (("C5", c5), ("C1 + C3", c1_c3)):
        assert lesson["shares"][variant, layers] == pytest.approx(share, abs=5e-4)
        assert row(shown, variant, layers) == pytest.approx([100 * s for s in share], abs=0.05)


def test_in_the_mlp_the_belief_holds(lesson, shown):
    assert lesson["shares"]["MLP", "first layer"] == pytest.approx((0.987, 0.987), abs=5e-4)
    assert row(shown, "MLP", "first layer") == pytest.approx([98.7, 98.7], abs=0.05)


def test_masks_are_used_784_100_and_1_times(prose):
    places = [np.prod(c.output_shape[1:]) for c in (build(classic=True).costs(SHAPE)[i] for i in (0, 4, 8))]
    assert places == [784, 100, 1]
    assert "A mask of C3 is used at 100 places, and a mask of C1 at 784" in prose


def test_both_backends_are_timed_on_equal_networks(lesson):
    both = lesson["both"]
    assert [network.ops.__name__ for network in both.values()] == ["course_lib.reference", "course_lib.fast"]
    for w, same in zip(*(network.parameters().values() for network in both.values()), strict=True):
        np.testing.assert_array_equal(w, same)
    assert [list(t) for t in lesson["seconds"].values()] == 2 * [list(lesson["LAYERS"])]
    assert sum(c.multiply_adds for c in both["fast"].costs(SHAPE)) == 416_520


def test_the_drawn_network_is_the_lessons_with_a_digits_maps_and_without_costs_before_the_question(prose):
    notebook = nbformat.read(NOTEBOOKS / f"{NAME}.ipynb", as_version=4)
    figures = [o["data"]["text/html"] for c in notebook.cells for o in c.get("outputs", []) if "data" in o
               and "course-live" in o["data"].get("text/html", "")]  # fmt: skip
    assert len(figures) == 3
    first, costs, colour = figures
    assert "multiply-adds" not in first.split("<script>")[0]
    assert "48,120 (78 % of all)" in costs
    assert "Most parameters: dense1, 96 % of all" in colour
    assert all(len(figure) <= 100_000 for figure in figures)
    assert "until a single number of C5 depends on all of it" in prose


def test_c3s_table_has_six_threes_nine_fours_and_a_six_and_no_equal_maps(lesson):
    seen = lesson["sees"].sum(axis=1)
    assert sorted(seen) == [3] * 6 + [4] * 9 + [6]
    assert len(np.unique(lesson["sees"], axis=0)) == 16
    assert set(lesson["sees"].sum(axis=0)) == {10}


def test_the_table_breaks_the_symmetry_of_equal_masks(printed):
    assert "all connections: 1 different gradients in 16 maps" in printed
    assert "C3's table: 16 different gradients in 16 maps" in printed


def test_distances_of_the_loops_are_the_librarys(lesson):
    x = np.random.default_rng(5).standard_normal((2, 84))
    expected = ((x[:, None] - ops.digit_prototypes()) ** 2).sum(axis=2)
    np.testing.assert_allclose(lesson["distances_loops"](x, ops.digit_prototypes()), expected)


def test_the_3_and_the_8_are_the_closest_drawings(lesson, printed):
    apart = np.where(np.eye(10, dtype=bool), np.inf, lesson["apart"])
    assert set(np.argwhere(apart == apart.min()).ravel()) == {3, 8}
    assert apart.min() == 4 * 6
    assert "from the 3 to 0 ... 9: [ 92 100  56   0 144  36  56  92  24  44]" in printed


@pytest.mark.parametrize("seed", range(3))
def test_the_papers_loss_is_softmax_of_minus_distance_with_an_eleventh_class(seed):
    rng = np.random.default_rng(seed)
    y, labels = rng.uniform(0, 20, (6, 10)), rng.integers(0, 10, 6)
    eleven = np.column_stack([y, np.full(6, 0.1)])
    value, cache = ops.rbf_loss_forward(y, labels, j=0.1)
    expected, softmax_cache = ops.softmax_cross_entropy_forward(-eleven, labels)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(
        ops.rbf_loss_backward(cache), -ops.softmax_cross_entropy_backward(softmax_cache)[:, :10], atol=1e-12
    )


def test_on_the_way_from_the_8_to_the_3_the_push_stays_below_a_twelfth_of_the_pull(shown, prose):
    drawings, largest = ops.digit_prototypes(), 0
    for way in np.linspace(0, 0.5, 51):
        f6 = (1 - way) * drawings[8:9] + way * drawings[3:4]
        y = ((f6 - drawings) ** 2).sum(axis=1)[None]
        dy = ops.rbf_loss_backward(ops.rbf_loss_forward(y, np.array([3]), j=0.1)[1])[0]
        push, pull = -dy[8] * 2 * (f6 - drawings[8]), 2 * (f6 - drawings[3])  # what F6 feels
        largest = max(largest, np.linalg.norm(push) / np.linalg.norm(pull))
        assert dy[3] + dy.sum() > 0
    assert 0.07 < largest < 1 / 12
    halfway = next(r for r in rows_of(shown) if r[0] == "50%" and len(r) == 5)
    assert halfway[1:] == ["6.0", "6.0", "-0.003", "0.3%"]
    assert "the push never gets beyond a twelfth of the pull, and halfway it is next to nothing" in prose


def test_the_second_term_never_pushes_as_hard_as_the_first_pulls():
    """dE/dy[T] is positive: a step makes the right distance smaller, whatever the distances are."""
    rng = np.random.default_rng(0)
    for scale in (0.1, 1, 10, 300):
        y, labels = scale * rng.random((200, 10)), rng.integers(0, 10, 200)
        dy = ops.rbf_loss_backward(ops.rbf_loss_forward(y, labels, j=0.1)[1])
        assert (dy[np.arange(200), labels] > 0).all()


def test_softmaxs_loss_on_distances_teaches_the_wrong_direction_and_the_papers_the_right_one(printed):
    digits = data.load_digits(seed=0)
    x, x_test, right = padded(digits.x_train[:600]), padded(digits.x_test), {}
    for loss in ("softmax_cross_entropy", "rbf_loss"):
        net, rng = build(classic=True), np.random.default_rng(0)
        options = dict(epochs=3, batch_size=32, lr=0.003, momentum=0.9, rng=rng, loss=loss)
        history = nn.train(net, (x, digits.y_train[:600]), **options)
        assert history.loss[-1] < history.loss[0]
        right[loss] = nn.accuracy(net.predict(x_test), digits.y_test)
    assert right["softmax_cross_entropy"] < 0.05
    assert right["rbf_loss"] > 0.5
    nearest, farthest = numbers(printed, r"right by the nearest drawing: ([\d.]+)%, by the farthest: ([\d.]+)%")
    assert nearest < 5
    assert farthest > 70


def test_the_page_shows_accuracies_that_meet_its_claims(shown):
    lenet, mlp = row(shown, "today's LeNet-5"), row(shown.split("test loss")[1].split("trained on")[0], "MLP")
    assert lenet[0] <= 35
    assert lenet[1] >= 96.5
    assert 42 <= mlp[0] <= 62
    assert lenet[2] < mlp[2]
    assert sum(c.trainable for c in build(classic=False).costs(SHAPE)) == 61_706
    dense = nn.models.mlp((784, 128, 10), rng=np.random.default_rng(0)).costs((784,))
    assert sum(c.trainable for c in dense) == 101_770
    assert round(5 * 61_706 / 101_770) == 3  # three fifths


def test_training_with_shifts_helps_both_and_lenet_stays_ahead(shown, printed, prose):
    (mlp, mlp_moved), (plain, moved) = (
        [row(shown, n, k) for k in ("as they are", "moved")] for n in ("MLP", "LeNet-5")
    )
    assert [round(v / 5) * 5 for v in (mlp[1], plain[1])] == [65, 85]  # the prediction
    assert numbers(printed, r"moved digits read: MLP ([\d.]+)%, LeNet-5 ([\d.]+)%") == [mlp[1], plain[1]]
    assert mlp_moved[1] - mlp[1] > 20 > moved[1] - plain[1]
    assert moved[1] > max(93, mlp_moved[1])
    assert abs(plain[0] - moved[0]) < 2
    assert 0 < moved[0] - moved[1] < 2.5
    assert "it loses only one or two in a hundred when the digits move" in prose


def test_the_scaled_tanh_keeps_its_slope_and_the_plain_one_its_lower_loss(shown):
    plain, scaled = row(shown, "plain"), row(shown, "scaled")  # slope, loss, share read
    assert plain[0] < 1 - 0.98**2  # so most numbers lie beyond 0.98
    assert 0.7 < scaled[0] < 0.8
    assert plain[1] < scaled[1]
    assert abs(plain[2] - scaled[2]) < 5


def test_the_scaled_tanhs_slope_changes_fastest_near_1():
    z = np.linspace(0, 4, 4001)
    bend = np.gradient(np.gradient(ops.scaled_tanh(z), z), z)
    assert abs(z[np.argmax(np.abs(bend))] - 1) < 0.02


def test_a_large_distance_is_a_warning_and_no_better_one_than_softmaxs(shown):
    """Of n digits handed over: mistakes caught, right ones, mistakes left; the text speaks of n = 50."""
    handed = {(name, n): row(shown, name, n) for name in ("classic", "today's") for n in ("25", "50", "100")}
    for (_, n), (caught, right, _) in handed.items():
        assert caught + right == int(n)
    assert len({caught + left for (name, _), (caught, _, left) in handed.items() if name == "classic"}) == 1
    old, new = handed["classic", "50"], handed["today's", "50"]
    assert 0.25 < old[0] / (old[0] + old[2]) < 0.65
    assert 15 <= old[1] <= 35
    assert new[2] < old[2]
    assert new[0] / (new[0] + new[2]) > old[0] / (old[0] + old[2])


def test_64_digits_make_518016_numbers_more_than_eight_times_the_parameters(prose):
    one = sum(int(np.prod(c.output_shape)) for c in build(classic=True).costs(SHAPE) if c.trainable) + 10
    assert 64 * one == 518_016
    assert 8 < 518_016 / 60_000 < 9
    assert "with 64 digits they are 518,016 numbers, more than eight times the parameters" in prose


def test_the_middles_of_c3s_windows_cover_20_pixels_with_the_border_and_16_without(prose, shown, lesson):
    field, stride = 1, 1
    for mask, step in ((5, 1), (2, 2), (5, 1)):
        field, stride = field + (mask - 1) * stride, stride * step
    assert (field, stride) == (14, 2)
    windows = [(size - field) // stride + 1 for size in (32, 28)]
    assert windows == [10, 8]
    assert [2 * n for n in windows] == [20, 16]
    assert stride * (windows[0] - 1) == 18
    assert "Each sees a window of 14 × 14 pixels" in prose
    assert "The first centre and the last are $9 \\cdot 2 = 18$ pixels apart" in prose
    assert "there would be eight windows and 16 × 16 pixels" in prose
    assert 0.96 < lesson["inside"][20] < 0.98
    assert 0.79 < lesson["inside"][16] < 0.83


def test_c3_copies_and_hands_on_fewer_numbers_than_c1(prose):
    copied, out = (784 * 25, 100 * 6 * 25), (6 * 784, 16 * 100)
    assert f"({copied[1]:,} numbers for an image; in C1, {copied[0]:,})" in prose
    assert f"({out[1]:,} against {out[0]:,})" in script()


def test_at_the_end_an_ordinary_computer_reads_the_days_cheques(printed):
    size, of_c5 = numbers(printed, r"(\d+) kB of parameters, (\d+) of them in C5")
    assert (size, of_c5) == (247, 192)
    per_second, minutes = re.search(
        r"([\d,]+) digits a second: the day's 50 million take (\d+) minutes", printed
    ).groups()
    assert 50e6 / float(per_second.replace(",", "")) / 60 == pytest.approx(int(minutes), abs=0.6)
    assert int(minutes) < 24 * 60 / 10


def test_the_clock_contradicts_the_counts_as_the_page_says(shown, printed, prose):
    clock = shown.split("Time for 64 digits")[1]
    rows = {n: row(clock, n) for n in ("S2", "C5", "F6", "OUTPUT")}
    rows |= {n: next([float(c.rstrip("%")) for c in r[1:]] for r in rows_of(clock) if r[0] == n) for n in ("C1", "C3")}
    assert [rows[n][0] for n in ("C1", "C3", "C5", "S2")] == [28, 58, 12, 0]
    assert all(third < 1.4 * first for first, third in zip(rows["C1"][1:], rows["C3"][1:], strict=True))
    assert all(pooling > one_place for pooling, one_place in zip(rows["S2"][1:], rows["C5"][1:], strict=True))
    assert max(numbers(printed, r"C5's share of the time: (\d+)% with reference, (\d+)% with fast")) < 25
    assert "C3 takes about as long as C1, with twice the multiply-adds" in prose
    assert "S2, which has none at all, takes more time than C5" in prose
    steps = shown.split("copying")[1]
    c1, c3 = (next([float(c) for c in r[1:]] for r in rows_of(steps) if r[0] == n) for n in ("C1", "C3"))
    for layer, name in ((c1, "C1"), (c3, "C3")):
        assert sum(layer[:3]) == pytest.approx(layer[3], abs=0.02)
        assert layer[3] == rows[name][1]
        assert layer[1] < 0.75 * layer[3]
    assert c3[0] > 0.9 * c1[0]  # copying
    assert c3[1] < 1.8 * c1[1]  # the product
    assert c3[2] < c1[2]  # the rest
    asked, took = numbers(
        printed, r"16 masks instead of 6: ([\d.]+) times the multiply-adds in ([\d.]+) times the time"
    )
    assert took < asked == 2.7


@pytest.mark.parametrize(
    "refuted",
    ["You know all of its layers", "No example ever said", "What fills a memory are", "as the counts said",
     "the middle of a 5 × 5 mask", "what it lacks is more examples", "costs a little loss", "strokes and edges",
     "sensitive to the size", "last digits only", "more than any other pair", "it moves less",
     "the classic network can say so", "two thirds of the parameters", "Even there"],
)  # fmt: skip
def test_sentences_that_the_page_itself_refutes_are_gone(prose, refuted):
    assert refuted not in prose


def test_no_code_in_sight_tells_an_answer_before_its_question():
    """What opens with a prediction stands in a folded cell, or its code holds no finding in words."""
    cells = re.split(r"^# %% ?", script(), flags=re.MULTILINE)
    opened = [c for c in cells if '"hide-output"' in c.splitlines()[0]]
    assert len(opened) == 8
    for cell in opened:
        if '"hide-input"' not in cell.splitlines()[0]:
            assert not re.search(r"alt=|caption=|argmax|25 \+ 16", cell)


def test_erratum_the_digits_fill_20_pixels_and_lie_with_their_centre_of_mass_in_pixel_14(prose):
    images = np.concatenate([data.load_digits(seed=0).images(part) for part in ("train", "test")]).astype(float)
    longer = [max(np.ptp(axis) + 1 for axis in np.nonzero(image)) for image in images]
    assert max(longer) == 20
    assert (longer.count(20), len(longer)) == (4_999, 5_000)
    assert "In our 5,000 images the longer side of the ink is 20 pixels in 4,999 and never more" in prose
    grid = np.indices((28, 28)).reshape(2, -1)
    centre = images.reshape(5000, -1) @ grid.T / images.sum(axis=(1, 2))[:, None]
    assert (centre.min().round(1), centre.max().round(1)) == (13.5, 14.5)


def test_what_departs_from_the_lectures_is_told_in_the_folded_box(prose):
    box = prose.split("For those who know the lectures")[1].split("Check yourself")[0]
    for told in ('puts "(F6)" beside the radial basis functions', "**CIFAR-10.**", "**Which tanh.**", "28 × 28"):
        assert told in box


def test_the_same_kind_of_network_runs_on_colour_images(prose):
    net = nn.models.cnn_color(rng=np.random.default_rng(0))
    assert net.forward(data.colour_shapes(2, rng=np.random.default_rng(0))[0]).shape == (2, 10)
    assert "**CIFAR-10**: 60,000 small photographs, 3 × 32 × 32" in prose


def test_answers_to_try_it(prose):
    rng = np.random.default_rng(0)
    double = nn.Sequential(
        nn.Conv2d(1, 12, 5, rng=rng), nn.MaxPool(2), nn.Conv2d(12, 16, 5, rng=rng), *list(build(classic=False))[5:]
    ).costs(SHAPE)
    assert [(double[i].trainable, double[i].multiply_adds) for i in (0, 2)] == [(312, 235_200), (4816, 480_000)]
    parameters, work = (sum(getattr(c, f) for c in double) for f in ("trainable", "multiply_adds"))
    assert round(100 * (parameters / 61_706 - 1)) == 4
    assert 1.8 < work / 416_520 < 1.9
    assert "The network grows by 4 % and works nearly twice as much" in prose


def test_answers_to_the_questions():
    costs = build(classic=False).costs(SHAPE)
    assert sum(c.multiply_adds for c in costs) == 416_520
    saved = costs[6].multiply_adds // 2 + costs[9].multiply_adds // 2
    assert saved == 29_040
    assert round(100 * saved / 416_520) == 7
    shapes = [layer.output_shape((1, 64, 64)) for layer in [build(classic=False)[0]]]
    assert shapes == [(6, 60, 60)]
    assert build(classic=False)[0].multiply_adds((1, 64, 64)) == 540_000
    size = 64
    for mask, stride in ((5, 1), (2, 2), (5, 1), (2, 2), (5, 1)):
        size = ops.output_size(size, mask, stride)
    assert size == 9
    with pytest.raises(ValueError, match="9720"):
        build(classic=False).forward(np.zeros((1, 1, 64, 64), dtype=np.float32))
