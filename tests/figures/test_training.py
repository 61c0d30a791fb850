"""Figures of lesson 06: every position of every control gives its own picture, and what is drawn is the data."""

from urllib.parse import unquote

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_lib import figures, nn
from course_lib.figures import style

EPOCHS, N = 6, 60
DIGITS = ["all", *range(10)]


@pytest.fixture(scope="module")
def run():
    """Images, labels, snapshots and accuracies like those of the lesson; class 9 is always right at the end."""
    rng = np.random.default_rng(0)
    images, labels = rng.random((N, 28, 28)), np.arange(N) % 10
    k = rng.random((EPOCHS + 1, N, 10))
    k[-1, labels == 9] = np.eye(10)[9]
    accuracies = np.column_stack([np.linspace(0.1, 1, EPOCHS + 1), np.linspace(0.1, 0.92, EPOCHS + 1)])
    return images, labels, k / k.sum(axis=-1, keepdims=True), accuracies


def test_watch_draws_at_the_start_the_middle_and_the_end_with_every_other_control(run):
    for epoch in (0, EPOCHS // 2, EPOCHS):
        for digit in DIGITS:
            for wrong_only in (True, False):
                p = figures.training.watch(*run, epoch=epoch, digit=digit, wrong_only=wrong_only, sample=1 + 3 * epoch)
                assert len(p.src) < 100_000
                assert (p.width, p.height) == (figures.training.WIDTH, figures.training.HEIGHT)


@pytest.mark.parametrize(("digit", "wrong_only"), [("all", True), (3, False), (9, False)])
def test_watch_changes_with_each_control(run, digit, wrong_only):
    def src(**change):
        start = dict(epoch=EPOCHS, digit=digit, wrong_only=wrong_only, sample=1)
        return figures.training.watch(*run, **(start | change)).src

    assert len({src(sample=s) for s in range(1, 21)}) == 20
    assert len({src(epoch=e) for e in range(EPOCHS + 1)}) == EPOCHS + 1
    assert len({src(digit=d) for d in DIGITS}) == len(DIGITS)
    assert src(wrong_only=not wrong_only) != src()


def test_watch_says_right_wrong_and_none(run):
    _, labels, k, _ = run
    right = figures.training.watch(*run, epoch=EPOCHS, digit=9)
    assert "which is right" in right.alt
    wrong = figures.training.watch(*run, epoch=EPOCHS, wrong_only=True)
    assert "which is wrong" in wrong.alt
    assert f"of {int((k[-1].argmax(axis=1) != labels).sum())} wrong answers" in wrong.alt
    none = figures.training.watch(*run, epoch=EPOCHS, digit=9, wrong_only=True, sample=3)
    assert "no wrong answers with label 9" in none.alt
    assert "sample 3" in none.alt
    assert "Before training" in figures.training.watch(*run, epoch=0).alt


def test_watch_shows_the_label_and_the_answer_in_words_too(run):
    text = unquote(figures.training.watch(*run, epoch=EPOCHS, wrong_only=True).src)
    assert ", label</text>" in text
    assert ", answer</text>" in text


def test_select_orders_wrong_answers_by_certainty(run):
    _, labels, k, _ = run
    rows = figures.training.select(labels, k[-1], wrong_only=True)
    assert (np.diff(k[-1][rows].max(axis=1)) <= 0).all()
    assert (k[-1][rows].argmax(axis=1) != labels[rows]).all()
    np.testing.assert_array_equal(figures.training.select(labels, k[-1], digit=3), np.flatnonzero(labels == 3))


def test_learning_curves_draw_the_history():
    history = nn.History(loss=[1.0, 0.1, 0.01], accuracy=[0.7, 0.9, 1.0], val_loss=[0.5, 0.3, 0.4],
                         val_accuracy=[0.8, 0.9, 0.9], best_epoch=1)
    left, middle, right = figures.training.learning_curves(history).axes
    train, validation, best = left.lines
    np.testing.assert_array_equal(train.get_xydata(), [[1, 1.0], [2, 0.1], [3, 0.01]])
    np.testing.assert_array_equal(validation.get_ydata(), [0.5, 0.3, 0.4])
    np.testing.assert_array_equal(best.get_xydata(), [[2, 0.3]])
    assert train.get_linestyle() != validation.get_linestyle()
    np.testing.assert_array_equal(right.lines[0].get_ydata(), [0.7, 0.9, 1.0])
    alone, lowest = middle.lines
    np.testing.assert_array_equal(alone.get_ydata(), [0.5, 0.3, 0.4])
    np.testing.assert_array_equal(lowest.get_xydata(), [[2, 0.3]])
    assert (left.get_yscale(), middle.get_yscale()) == ("log", "linear")
    assert [t.get_text() for t in middle.texts] == ["0.30", "0.40"]


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
