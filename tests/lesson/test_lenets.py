"""LeNet-5's helpers: the padded input, training in phases, shares of costs, a clock for layers, colour pictures."""

import sys

import numpy as np
import pytest

from course_lib import data, fast, nn, reference
from course_lib.data import CIFAR10_NAMES, DataFileError
from course_lib.figures.lenet import NAMES, named_costs
from course_lib.lesson import colour_images, cost_share, layer_times, padded, train_in_phases, unrolled_times
from tests.data.test_cifar10 import write_archive, write_folder


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("border", [0, 1, 2])
def test_padding_puts_zeros_around_rows_and_images_alike(border):
    images = rng().random((3, 28, 28)).astype(np.float32)
    for given in (images, images.reshape(3, 784)):
        out = padded(given, border)
        assert out.shape == (3, 1, 28 + 2 * border, 28 + 2 * border)
        assert out.dtype == np.float32
        np.testing.assert_array_equal(out[:, 0, border : 28 + border, border : 28 + border], images)
        assert out.sum(dtype=float) == images.sum(dtype=float)


def test_what_is_no_picture_is_refused():
    for bad in (np.zeros((3, 783)), np.zeros((3, 1, 28, 28)), np.zeros(784)):
        with pytest.raises(ValueError, match=r"it must be \(n, H, W\)"):
            padded(bad)
    with pytest.raises(ValueError, match="border is -1"):
        padded(np.zeros((1, 28, 28)), -1)


def test_phases_are_trainings_one_after_the_other():
    x, y = rng(1).random((40, 6)).astype(np.float32), rng(2).integers(0, 3, 40)
    one, two, draw, same = nn.models.mlp((6, 5, 3), rng=rng()), nn.models.mlp((6, 5, 3), rng=rng()), rng(3), rng(3)
    losses = train_in_phases(one, (x, y), [(3, 0.1), (1, 0.01)], rng=draw, batch_size=8)
    expected = []
    for epochs, lr in ((3, 0.1), (1, 0.01)):
        expected += nn.train(two, (x, y), epochs=epochs, lr=lr, batch_size=8, momentum=0.9, rng=same).loss
    assert losses == expected
    assert len(losses) == 4
    for a, b in zip(one.parameters().values(), two.parameters().values(), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="phases is empty"):
        train_in_phases(one, (x, y), [], rng=draw)


def test_shares_are_parts_of_the_whole_network():
    costs = named_costs(nn.models.lenet5(rng=rng()))
    assert cost_share(costs, *NAMES) == (1, 1)
    held, done = cost_share(costs, "C1", "C3")
    assert held == pytest.approx((156 + 2416) / 61_706)
    assert done == pytest.approx((117_600 + 240_000) / 416_520)
    with pytest.raises(LookupError, match="no layer 'C9'; the layers are C1, S2"):
        cost_share(costs, "C9")


def test_each_layers_time_includes_its_activation_and_threads_come_back():
    class Slow(nn.ReLU):
        def forward(self, x):
            for _ in range(2000):
                super().forward(x[:1])
            return super().forward(x)

    def net():
        return nn.Sequential(nn.Dense(4, 4, rng=rng()), Slow(), nn.Dense(4, 2, rng=rng()), ops=reference)

    threads = fast.threads()
    times = layer_times({"a": net(), "b": net()}, np.zeros((2, 4), np.float32), ["first", "last"], runs=3)
    assert list(times) == ["a", "b"]
    assert list(times["a"]) == ["first", "last"]
    assert all(t["first"] > t["last"] > 0 for t in times.values()), "two thousand ReLUs belong to the first layer"
    assert fast.threads() == threads
    with pytest.raises(ValueError, match="a has 2 layers that compute and there are 1 names"):
        layer_times({"a": net()}, np.zeros((2, 4), np.float32), ["one"])
    with pytest.raises(ValueError, match="nets is empty"):
        layer_times({}, np.zeros((2, 4)), [])


def test_what_disturbs_a_run_does_not_count(monkeypatch):
    """The least of the runs is taken: here they last 5, 1 and 3 on a clock of our own."""
    clock = iter([0, 5, 5, 6, 6, 9])
    monkeypatch.setattr(sys.modules["course_lib.lesson.layer_times"], "perf_counter", lambda: next(clock))
    net = nn.Sequential(nn.Dense(4, 2, rng=rng()), ops=reference)
    assert layer_times({"a": net}, np.zeros((2, 4), np.float32), ["only"], runs=3) == {"a": {"only": 1}}


def test_copying_and_product_are_steps_of_each_convolution():
    net = nn.models.lenet5(rng=rng(), ops=reference)
    x = np.zeros((8, 1, 32, 32), np.float32)
    steps = unrolled_times(net, x, ("C1", "C3", "C5"), runs=5)
    assert list(steps) == ["C1", "C3", "C5"]
    assert all(0 < t < 1 for pair in steps.values() for t in pair)
    with pytest.raises(ValueError, match="there are 3 convolutions and 1 names"):
        unrolled_times(net, x, ("C1",))


def test_each_step_has_the_least_time_of_its_runs(monkeypatch):
    """On a clock of our own two runs copy for 2 and 5 and multiply for 7 and 3."""
    clock = iter([0, 2, 9, 10, 15, 18])
    monkeypatch.setattr(sys.modules["course_lib.lesson.layer_times"], "perf_counter", lambda: next(clock))
    net = nn.Sequential(nn.Conv2d(1, 2, 3, rng=rng()), ops=reference)
    assert unrolled_times(net, np.zeros((2, 1, 5, 5), np.float32), ["only"], runs=2) == {"only": (2, 3)}


def test_without_a_file_there_are_shapes(tmp_path):
    pictures = colour_images(5, 3, rng=rng(), folder=tmp_path)
    x, y = data.colour_shapes(8, rng=rng())
    assert pictures.name == "the course's shapes"
    np.testing.assert_array_equal(np.concatenate([pictures.x_train, pictures.x_test]), x)
    np.testing.assert_array_equal(np.concatenate([pictures.y_train, pictures.y_test]), y)
    assert pictures.names == tuple(data.SHAPE_NAMES)
    assert str(pictures) == "the course's shapes: 5 training and 3 test pictures of 3 x 32 x 32"


@pytest.mark.parametrize("kind", ["archive", "folder"])
def test_cifar10_is_read_where_its_file_lies(tmp_path, monkeypatch, kind):
    """In the notebook's folder or in the one above; pictures are drawn from their own part, each once."""
    if kind == "archive":
        write_archive(tmp_path / "cifar-10-python.tar.gz")
    else:
        write_folder(tmp_path / "cifar-10-batches-py")
    whole = data.load_cifar10(tmp_path)
    (tmp_path / "notebooks").mkdir()
    for here in (tmp_path, tmp_path / "notebooks"):
        monkeypatch.chdir(here)
        pictures = colour_images(6, 3, rng=rng())
        assert pictures.name == "CIFAR-10"
        assert pictures.names == CIFAR10_NAMES
        for name, count in (("train", 6), ("test", 3)):
            x, y = getattr(pictures, f"x_{name}"), getattr(pictures, f"y_{name}")
            every = [image.tobytes() for image in getattr(whole, f"x_{name}")]
            places = [every.index(image.tobytes()) for image in x]
            assert len(set(places)) == len(x) == count
            np.testing.assert_array_equal(y, getattr(whole, f"y_{name}")[places])
    with pytest.raises(ValueError, match=r"n_test is 1,000; cifar-10-.* has"):
        colour_images(1, 1000, rng=rng(), folder=tmp_path)


def test_a_damaged_file_is_told_and_not_passed_over(tmp_path):
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(b"no archive")
    with pytest.raises(DataFileError, match="no sound tar archive"):
        colour_images(2, 1, rng=rng(), folder=tmp_path)


def test_bad_counts_and_generators_are_refused(tmp_path):
    for bad in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="n_"):
            colour_images(*bad, rng=rng(), folder=tmp_path)
    with pytest.raises(TypeError, match="rng"):
        colour_images(1, 1, rng=0, folder=tmp_path)
