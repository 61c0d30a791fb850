"""Masks frozen into a kernel are exchanged case by case, in a notebook and from its text alike, and never in it."""

import re
import textwrap

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.checks.card import card_of
from course_lib.checks.exercise import Case, KernelExercise
from course_lib.checks.exercises.kernel_inputs import whole
from course_lib.checks.exercises.lesson15_launches import constant_masks
from course_lib.checks.judge import judge
from course_lib.checks.kernels import run_here, run_kernel
from course_lib.checks.recorded import recorded_exercises
from course_lib.grading.public_checks import record

SHEET = """
import numpy as np
from numba import cuda, float32
from course_lib import gpu
MASKS = np.random.default_rng(0).integers(-2, 2, (2, 2, 3, 3)).astype(np.float32)
"""

PLAIN = """
@gpu.jit
def conv(x, y):
    masks = cuda.const.array_like(MASKS)
    tiles = (y.shape[2] + 7) // 8
    h = cuda.blockIdx.y // tiles * 8 + cuda.threadIdx.y
    v = cuda.blockIdx.y % tiles * 8 + cuda.threadIdx.x
    if h < y.shape[1] and v < y.shape[2]:
        acc = float32(0)
        for c in range(x.shape[0]):
            for p in range(3):
                for q in range(3):
                    acc += x[c, h + p, v + q] * masks[cuda.blockIdx.x, c, p, q]
        y[cuda.blockIdx.x, h, v] = acc
"""
MADE = f"""
def make(NAMES):
{textwrap.indent(PLAIN.strip(), "    ")}
    return conv

conv = make(MASKS)
"""
DEVICE = """
@gpu.jit(device=True)
def weight(m, c, p, q):
    return MASKS[m, c, p, q]
""" + PLAIN.replace("    masks = cuda.const.array_like(MASKS)\n", "").replace(
    "masks[cuda.blockIdx.x, c, p, q]", "weight(cuda.blockIdx.x, c, p, q)"
)

RIGHT = {
    "plain": PLAIN,
    "read without array_like": PLAIN.replace("cuda.const.array_like(MASKS)", "MASKS"),
    "a factory": MADE.replace("NAMES", "MASKS"),
    "a factory with another parameter": MADE.replace("NAMES", "frozen").replace("like(MASKS)", "like(frozen)"),
    "an alias": "\nW = MASKS\n" + PLAIN.replace("like(MASKS)", "like(W)"),
    "sizes of the masks": "\nM, C, K, _ = MASKS.shape\nN = MASKS.size // MASKS.shape[0]\n"
    + PLAIN.replace("range(x.shape[0])", "range(N // (K * K))").replace("range(3)", "range(K)"),
    "a device function": DEVICE,
    "masks of one's own below the name": "\nMASKS = np.array([[[[1.0]]]], np.float32)\n" + PLAIN,
    "a list below the name": "\nMASKS = [1, 2, 3]\n" + PLAIN,
    "a loop that fills the name": "\nMASKS = []\nfor i in range(3):\n    MASKS.append(i)\n" + PLAIN,
}
"""What an answer may be: with the cell of the sheet, and as far as it can be without."""

FROZEN = PLAIN.replace("like(MASKS)", "like(W)")
FROZEN_OUTSIDE = "Read MASKS itself in the kernel, such as masks = cuda"
WRONG = {
    "no masks at all": (PLAIN.replace("    masks = cuda.const.array_like(MASKS)\n", "").replace(
        "masks[cuda.blockIdx.x, c, p, q]", "float32(1)"), "conv reads no MASKS"),
    "numbers written down": ("\nimport numpy as np\nW = np.array([[1.0, 2.0]], np.float32)\n" + FROZEN,
                             "conv reads no MASKS"),
    "a copy": ("\nW = MASKS.copy()\n" + FROZEN, FROZEN_OUTSIDE),
    "flipped outside": ("\nW = MASKS[:, :, ::-1, ::-1]\n" + FROZEN, FROZEN_OUTSIDE),
    "a part": ("\nW = MASKS[:1]\n" + FROZEN, FROZEN_OUTSIDE),
    "a variable of the same name": (PLAIN.replace("cuda.const.array_like(MASKS)", "x").replace(
        "masks[cuda.blockIdx.x, c, p, q]", "MASKS").replace("acc = float32(0)", "acc = MASKS = float32(0)"),
        "conv reads no MASKS"),
    "written to": (PLAIN.replace("acc = float32(0)", "acc = masks[0, 0, 0, 0] = float32(0)"), "constant memory"),
}  # fmt: skip


def cases():
    """Two cases whose masks differ from each other, and from the sheet's."""
    return tuple(Case((whole(seed, 2, 6, 12), whole(seed + 9, 2, 2, 3, 3)), f"masks {seed}") for seed in (1, 2))


def right(x, masks):
    """The right value."""
    return reference.conv2d_forward(x[None], masks)[0][0]


EXERCISE = KernelExercise(
    "98.1", "conv", "Constant masks", 1, "core", "masks", "the course's own", 9, right, cases(), launch=constant_masks,
    budget=lambda x, masks: {"global_loads": 2 * 9 * 2 * 4 * 10}, constants={"MASKS": 1},
)  # fmt: skip


def live(text, tmp_path):
    """The names of a notebook with the sheet's cell and an answer: kernels find their source in a file."""
    file = tmp_path / "answer.py"
    file.write_text(SHEET + text)
    names = {"__name__": "__main__"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    return names


def findings(text, tmp_path):
    """What is found in each case: for the notebook's object, the text of its cell, and all cells as one text."""
    names = live(text, tmp_path)
    for case in EXERCISE.cases:
        yield judge(EXERCISE, case, run_here(EXERCISE, names["conv"], case))
        yield judge(EXERCISE, case, run_kernel(EXERCISE, text, case))
        yield judge(EXERCISE, case, run_kernel(EXERCISE, SHEET + text, case))


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_an_answer_gets_the_masks_of_each_case_however_it_reads_them(text, tmp_path):
    assert list(findings(text, tmp_path)) == [None] * 6


def test_the_notebook_keeps_its_masks_and_its_kernel_its_own(tmp_path):
    names = live(PLAIN, tmp_path)
    before = names["MASKS"].copy()
    for case in EXERCISE.cases:
        run_here(EXERCISE, names["conv"], case)
    np.testing.assert_array_equal(names["MASKS"], before)
    x = whole(5, 2, 5, 5)
    y = gpu.empty((2, 3, 3), np.float32)
    names["conv"][(2, 1), (8, 8)](gpu.to_device(x), y)
    np.testing.assert_array_equal(gpu.to_host(y), right(x, before))


def test_masks_that_the_notebook_does_not_have_are_there_as_they_are_for_the_grader(tmp_path):
    names = live(PLAIN, tmp_path)
    del names["MASKS"]
    assert judge(EXERCISE, EXERCISE.cases[0], run_here(EXERCISE, names["conv"], EXERCISE.cases[0])) is None


@pytest.mark.parametrize(("text", "says"), WRONG.values(), ids=WRONG)
def test_an_answer_without_the_masks_of_the_case_is_refused_and_told_why(text, says, tmp_path):
    for found in findings(text, tmp_path):
        assert found is not None
        assert re.search(says, found.says)


def test_masks_made_of_others_are_refused_with_what_to_write(tmp_path):
    conv, case = live(WRONG["flipped outside"][0], tmp_path)["conv"], EXERCISE.cases[0]
    said = judge(EXERCISE, case, run_here(EXERCISE, conv, case)).says
    assert "W is made of MASKS outside of the kernel" in said
    assert "masks = cuda.const.array_like(MASKS)" in said


def test_a_card_shows_the_masks_of_its_case_above_the_launch():
    case = Case((whole(1, 1, 3, 3), np.array([[[[1.0, 0.0], [0.0, 0.0]]]], np.float32)))
    text = PLAIN.replace("range(3)", "range(2)").replace("= acc", "= -acc")
    exercise = KernelExercise(
        "98.1", "conv", "", 1, "core", "", "", 9, right, (case,), launch=constant_masks, constants={"MASKS": 1}
    )
    made = card_of(exercise, judge(exercise, case, run_kernel(exercise, text, case)))
    shown = made.rows[0].text
    assert shown.startswith("MASKS = np.array([[[[1.0, 0.0],\n                    [0.0, 0.0]]]], np.float32)\nx = ")
    assert shown.endswith("conv[1, (8, 8)](x, y)")


def test_a_card_without_a_launch_calls_the_kernel_without_its_masks():
    case, text = EXERCISE.cases[0], WRONG["no masks at all"][0]
    shown = card_of(EXERCISE, judge(EXERCISE, case, run_kernel(EXERCISE, text, case))).rows[0].text
    assert "conv(" in shown
    assert "(2, 2, 3, 3)" not in shown


def test_a_record_has_the_constants_and_judges_as_the_exercise_does(tmp_path):
    (one,) = recorded_exercises(record((EXERCISE,)))
    assert one.constants == {"MASKS": 1}
    names = live(PLAIN, tmp_path)
    for case in one.cases:
        assert judge(one, case, run_kernel(one, PLAIN, case)) is None
        assert judge(one, case, run_here(one, names["conv"], case)) is None
        assert "reads no MASKS" in judge(one, case, run_kernel(one, WRONG["no masks at all"][0], case)).says


@pytest.mark.parametrize("number", [2, -1, 0])
def test_a_constant_that_is_no_array_of_every_case_is_refused(number):
    with pytest.raises(ValueError, match="the constant MASKS is argument"):
        KernelExercise(
            "98.1", "conv", "", 1, "core", "", "", 9, right, (Case((3, np.ones(2))),), constants={"MASKS": number}
        )


def test_a_message_names_the_masks_apart_from_the_arguments():
    case = EXERCISE.cases[0]
    found = judge(EXERCISE, case, run_kernel(EXERCISE, PLAIN.replace("= acc", "= -acc"), case))
    assert found.says.startswith("conv(array (2, 6, 12); MASKS = array (2, 2, 3, 3)) (masks 1): y[0, 0, 0] is ")
