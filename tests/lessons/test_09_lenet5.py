"""Lesson 09: what must come out, in the library, in the lesson's own numbers and on its page."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib import data, fast, nn
from course_lib import reference as ops

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAME = "09_lenet5"
SHAPE = (1, 32, 32)


@pytest.fixture(scope="module")
def lesson():
    """The names that the lesson's cells before its training leave behind."""
    script = (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8")
    untrained = script.split("# ## Training today's variant")[0]
    namespace = {"__name__": "lesson"}
    threads = fast.threads()
    exec(compile(untrained, f"{NAME}.py", "exec"), namespace)
    yield namespace
    fast.set_threads(threads)


def build(classic, seed=0):
    return nn.models.lenet5(rng=np.random.default_rng(seed), classic=classic)


def test_classic_c3_has_1516_parameters_and_the_net_60000(printed):
    costs = build(classic=True).costs(SHAPE)
    assert costs[4].trainable == 1516
    assert sum(c.trainable for c in costs) == 60_000
    assert "60 x 25 + 16 = 1516   without the table: 2416" in printed
    assert "total                                    60,000        328,096" in printed


@pytest.mark.parametrize("classic", [False, True])
def test_the_maps_have_the_lectures_sizes(classic):
    shapes = [c.output_shape for c in build(classic).costs(SHAPE)]
    for shape in ((6, 28, 28), (6, 14, 14), (16, 10, 10), (16, 5, 5), (120, 1, 1), (84,), (10,)):
        assert shape in shapes


@pytest.mark.parametrize(
    ("variant", "c5", "c1_c3"), [("classic", (0.802, 0.146), (0.028, 0.816)), ("today", (0.780, 0.115), (0.042, 0.859))]
)
def test_surprise_c5_holds_the_parameters_and_c1_and_c3_do_the_work(lesson, printed, variant, c5, c1_c3):
    assert lesson["shares"][variant, "C5"] == pytest.approx(c5, abs=5e-4)
    assert lesson["shares"][variant, "C1", "C3"] == pytest.approx(c1_c3, abs=5e-4)
    for names, (held, done) in (("C5", c5), ("C1+C3", c1_c3)):
        line = f"{variant:8} {names:16} holds {held:5.1%} of the parameters, does {done:5.1%} of the work"
        assert line in printed


def test_in_the_mlp_the_belief_holds(lesson, printed):
    held, done = lesson["shares"]["MLP", "Dense 784 -> 128"]
    assert (held, done) == pytest.approx((0.987, 0.987), abs=5e-4)
    assert "Dense 784 -> 128 holds 98.7% of the parameters, does 98.7% of the work" in printed


def test_both_backends_are_timed_on_equal_networks(lesson):
    both = lesson["both"]
    assert [network.ops.__name__ for network in both.values()] == ["course_lib.reference", "course_lib.fast"]
    for w, same in zip(*(network.parameters().values() for network in both.values()), strict=True):
        np.testing.assert_array_equal(w, same)
    parts = [i for start, end in lesson["places"].values() for i in range(start, end)]
    assert parts == list(range(len(both["fast"])))
    assert lesson["total"]["fast"] == pytest.approx(1000 * np.median(lesson["seconds"]["fast"], axis=0).sum())


def test_the_input_is_padded_by_two_zeros_all_around(lesson):
    x, inner = lesson["x_train"], data.load_digits(seed=0).images("train")
    assert x.shape == (4000, 1, 32, 32)
    np.testing.assert_array_equal(x[:, 0, 2:-2, 2:-2], inner)
    assert x.sum(dtype=float) == inner.sum(dtype=float)


def test_erratum_the_digits_fill_20_pixels_and_lie_with_their_centre_of_mass_in_pixel_14(printed):
    images = np.concatenate([data.load_digits(seed=0).images(part) for part in ("train", "test")]).astype(float)
    longer = [max(np.ptp(axis) + 1 for axis in np.nonzero(image)) for image in images]
    count = longer.count(20)
    assert max(longer) == 20
    assert f"longer side: 20 pixels in {count:,} of 5,000 digits, at most 20" in printed
    grid = np.indices((28, 28)).reshape(2, -1)
    centre = images.reshape(5000, -1) @ grid.T / images.sum(axis=(1, 2))[:, None]
    np.testing.assert_array_equal(np.rint(centre), 14)
    assert "centre of mass: 13.5 to 14.5" in printed


def test_c3s_table_has_six_threes_nine_fours_and_a_six_and_no_equal_maps(lesson):
    seen = lesson["table"].sum(axis=1)
    assert sorted(seen) == [3] * 6 + [4] * 9 + [6]
    assert len(np.unique(lesson["table"], axis=0)) == 16
    assert set(lesson["table"].sum(axis=0)) == {10}


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


def test_softmaxs_loss_on_distances_teaches_the_wrong_direction_and_the_papers_the_right_one(lesson):
    x, y = lesson["x_train"][:600], lesson["digits"].y_train[:600]
    right = {}
    for loss in ("softmax_cross_entropy", "rbf_loss"):
        rng = np.random.default_rng(0)
        net = build(classic=True)
        history = nn.train(net, (x, y), epochs=3, batch_size=32, lr=0.003, momentum=0.9, rng=rng, loss=loss)
        assert history.loss[-1] < history.loss[0]
        right[loss] = nn.accuracy(net.predict(lesson["x_test"]), lesson["digits"].y_test)
    assert right["softmax_cross_entropy"] < 0.05
    assert right["rbf_loss"] > 0.5


def test_the_page_shows_accuracies_that_meet_its_claims(printed):
    found = {
        line.split()[0]: float(line.split()[-1].rstrip("%")) for line in printed.splitlines() if "test loss" in line
    }
    assert found["LeNet-5"] >= 96.5
    assert found["MLP"] < found["LeNet-5"]
    assert float(printed.split("classic variant after 15 epochs: ")[1].split("%")[0]) >= 95


def test_only_training_with_shifts_reads_moved_digits(printed):
    found = {}
    for line in printed.splitlines():
        if "   moved: " in line:
            name = line.split(" as they are: ")[0].strip()
            found[name] = [float(part.split("%")[0]) for part in line.split(": ")[1:]]
    assert list(found) == ["7 epochs", "30 epochs", "30 epochs, moved"]
    plain, longer, shifts = found.values()
    assert shifts[0] > plain[0]
    assert shifts[1] > 95
    assert max(plain[1], longer[1]) < 92


def framework_cell():
    script = (NOTEBOOKS / f"{NAME}.py").read_text(encoding="utf-8")
    after = script.split("# ## Optional: the same layers against a framework")[1]
    return after.split("# %%")[1].split("\n", 1)[1]


@pytest.mark.parametrize("rivals", [("reference", "fast"), ("reference", "fast", "PyTorch")])
def test_the_framework_cell_prints_what_the_file_holds(tmp_path, monkeypatch, capsys, rivals):
    timings = {r: {"median": 0.001 * (i + 1), "lower": 0, "upper": 1} for i, r in enumerate(rivals)}
    parts = (("LeNet-5", "training step"), ("LeNet-5", "1 Conv2d 1 -> 6, 5x5"), ("LeNet-5", "2 ReLU"), ("MLP", "x"))
    rows = [{"network": n, "part": p, "direction": "", "timings": timings} for n, p in parts]
    bench = {"machine": {"cpu": "A Processor"}, "threads": 2, "batch": 64, "date": "2030-01-02", "rows": rows}
    (tmp_path / "results").mkdir()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "results" / "cpu.a-processor.json").write_text(json.dumps(bench), encoding="utf-8")
    monkeypatch.chdir(tmp_path / "notebooks")
    exec(framework_cell(), {"Path": Path, "json": json})
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "A Processor, threads: 2, batch: 64, 2030-01-02"
    assert len(lines) == 2
    for line in lines:
        assert line.count(" ms") == len(rivals)
        assert ("fast  2.000 ms (0.67)" in line) == ("PyTorch" in rivals)


def test_the_framework_cell_names_the_command_where_nothing_was_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(framework_cell(), {"Path": Path, "json": json})
    (line,) = capsys.readouterr().out.splitlines()
    assert "`course bench cpu`" in line


def test_the_same_kind_of_network_runs_on_colour_images(printed):
    net = nn.models.cnn_color(rng=np.random.default_rng(0))
    x, _ = data.colour_shapes(2, rng=np.random.default_rng(0))
    assert x.shape == (2, 3, 32, 32)
    assert net.forward(x).shape == (2, 10)
    assert "one forward pass: (2, 3, 32, 32) -> (2, 10)" in printed
    assert "Dense 2048 -> 64 holds 95.8% and does 7.5%" in printed


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
