"""Figures of lesson 06: what is drawn is the data."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_lib import figures, nn
from course_lib.figures import style


def test_learning_curves_draw_the_history():
    history = nn.History(
        loss=[1.0, 0.1, 0.01],
        accuracy=[0.7, 0.9, 1.0],
        val_loss=[0.5, 0.3, 0.4],
        val_accuracy=[0.8, 0.9, 0.9],
        best_epoch=1,
    )
    top, middle, bottom = figures.training.learning_curves(history).axes
    train, validation, best = top.lines
    np.testing.assert_array_equal(train.get_xydata(), [[1, 1.0], [2, 0.1], [3, 0.01]])
    np.testing.assert_array_equal(validation.get_ydata(), [0.5, 0.3, 0.4])
    np.testing.assert_array_equal(best.get_xydata(), [[2, 0.3]])
    assert train.get_linestyle() != validation.get_linestyle()
    np.testing.assert_array_equal(bottom.lines[0].get_ydata(), [0.7, 0.9, 1.0])
    alone, lowest = middle.lines
    np.testing.assert_array_equal(alone.get_ydata(), [0.5, 0.3, 0.4])
    np.testing.assert_array_equal(lowest.get_xydata(), [[2, 0.3]])
    assert (top.get_yscale(), middle.get_yscale()) == ("log", "linear")
    assert [t.get_text() for t in middle.texts] == ["0.30", "0.40"]


def test_pictures_of_training_can_be_made_narrow_enough_for_a_phone():
    """A page at 400 pixels has 367 for a picture, and shrinks it by a twelfth at most, so that letters stay legible."""
    history = nn.History(loss=[1.0], accuracy=[0.7], val_loss=[0.5], val_accuracy=[0.8], best_epoch=0)
    found = nn.Mistakes(np.arange(4), np.full(4, 3), np.full(4, 8), np.full(4, 0.99999))
    images = np.random.default_rng(0).random((4, 28, 28))
    for fig in (figures.training.learning_curves(history), figures.training.confusion(np.eye(10), size=(4, 3.9)),
                figures.training.mistakes(images, found, cols=3, side=1.28)):  # fmt: skip
        assert figures.picture(fig, alt="Pictures of a training on a phone").drawn[0] * 11 / 12 <= 367


def test_learning_curves_draw_a_loss_that_never_turns():
    history = nn.History(loss=[1.0], accuracy=[0.7], val_loss=[0.5], val_accuracy=[0.8], best_epoch=0)
    figures.picture(figures.training.learning_curves(history), alt="One epoch of training and validation")


@pytest.mark.parametrize("count", [1, 4, 8, 40])
def test_gallery_writes_a_text_above_every_digit(count):
    texts = [f"label {i}" for i in range(count)]
    fig = figures.training.gallery(np.random.default_rng(0).random((count, 28, 28)), texts)
    assert [ax.get_title() for ax in fig.axes if ax.axison] == texts
    figures.picture(fig, alt="Digits with their labels, large enough to judge")


@pytest.mark.parametrize("count", [1, 5, 7, 20])
def test_mistakes_name_label_answer_and_certainty(count):
    rng = np.random.default_rng(0)
    found = nn.Mistakes(np.arange(count), np.full(count, 3), np.full(count, 8), np.linspace(1, 0.5, count))
    fig = figures.training.mistakes(rng.random((count, 28, 28)), found)
    titles = [ax.get_title() for ax in fig.axes if ax.get_title()]
    assert len(titles) == count
    assert titles[0] == "label 8, saw 3\n100 % sure"
    figures.picture(fig, alt="Digits that were read wrongly, with their labels")


@pytest.mark.parametrize(
    "counts", [np.eye(10, dtype=int) * 100, np.arange(100).reshape(10, 10), np.array([[3, 1], [0, 2]])]
)
def test_confusion_writes_every_count_except_zeros(counts):
    fig = figures.training.confusion(counts)
    written = sorted(int(t.get_text()) for t in fig.axes[0].texts)
    assert written == sorted(counts[counts > 0].tolist())
    figures.picture(fig, alt="A confusion matrix with its counts")


@pytest.mark.parametrize(
    ("share", "text"), [(1, "100 %"), (0.99999, "over 99.9 %"), (0.5, "50.0 %"), (1e-6, "under 0.1 %"), (0, "0 %")]
)
def test_rounding_never_hides_a_mistake(share, text):
    assert figures.training._percent(share) == text


def test_confusion_shades_the_mistakes_by_row_and_column():
    fig = figures.training.confusion([[5, 3], [0, 5]])
    faces = [to_hex(patch.get_facecolor()).upper() for patch in fig.axes[0].patches]
    assert faces[1] == style.tint("hazard", 0.85).upper()  # row 0, column 1: three mistakes
    assert faces[2] == style.tint("hazard", 0).upper()  # row 1, column 0: none


def test_confusion_takes_whole_numbers_of_any_type():
    counts = np.array([[3, 1], [0, 2]])
    for kind in (float, np.float32, np.uint8):
        fig = figures.training.confusion(counts.astype(kind))
        assert sorted(t.get_text() for t in fig.axes[0].texts) == ["1", "2", "3"]
