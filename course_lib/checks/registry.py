"""Which sheets of exercises there are, and which exercise has an id.

Source: the course's own.
"""

import functools
import importlib
from dataclasses import dataclass

from course_lib.checks.recorded import recorded_exercises, recorded_file

MODULES = {
    "01_perceptron": "lesson01",
    "02_neurons_and_layers": "lesson02",
    "03_loss_and_gradient_descent": "lesson03",
    "04_backpropagation": "lesson04",
    "05_computation_graph": "lesson05",
    "06_training_an_mlp": "lesson06",
    "06b_making_it_train": "lesson06b",
    "07_convolution": "lesson07",
    "08_cnn_layers": "lesson08",
    "09_lenet5": "lesson09",
    "10_what_convnets_learn": "lesson10",
    "11_gpu_programming_model": "lesson11",
    "12_memory": "lesson12",
    "13_reductions_and_fusion": "lesson13",
    "14_matrix_multiplication": "lesson14",
    "15_convolution_kernels": "lesson15",
    "16_training_on_the_gpu": "lesson16",
    "17_tensor_cores": "lesson17",
    "18_many_devices": "lesson18",
    "19_opencl": "lesson19",
    "project_convolution": "project_convolution",
}
"""Sheet, as its notebook is called -> its module in `checks.exercises`, and of its key."""

SHEETS = tuple(MODULES)

TRIALS = {
    "00_selftest": "course_lib.grading.selftest.sheet",
    "000_selftest": "course_lib.grading.selftest.kernel_sheet",
}
"""Sheets that no student gets, with their module: the grader tries itself on them."""


@dataclass(frozen=True)
class Sheet:
    """A sheet: its notebook's name without .ipynb, and its exercises in order. Source: the course's own."""

    name: str
    exercises: tuple

    @property
    def points(self):
        """The points of all exercises together."""
        return sum(exercise.points for exercise in self.exercises)


@functools.cache
def sheet(name):
    """Return the `Sheet` of a name such as "04_backpropagation"; LookupError names those that there are.

    Source: the course's own.
    """
    if name not in MODULES and name not in TRIALS:
        raise LookupError(f"there is no sheet {name!r}; there are {', '.join(SHEETS)}.")
    if name in MODULES:
        record = recorded_file(MODULES[name])
        if record.is_file() and not record.with_suffix(".py").exists():  # a student's archive: see `recorded`
            return Sheet(name, recorded_exercises(record.read_text(encoding="utf-8")))
        return Sheet(name, tuple(importlib.import_module(f"course_lib.checks.exercises.{MODULES[name]}").EXERCISES))
    try:
        return Sheet(name, tuple(importlib.import_module(TRIALS[name]).EXERCISES))
    except ModuleNotFoundError as error:
        raise LookupError(f"the sheet {name} is the grader's own, and not in a student's archive.") from error


def sheet_of(id):
    """Return the `Sheet` that has the exercise of an id such as "04.2"; LookupError if the id is not one.

    Source: the course's own.
    """
    prefix = str(id).split(".")[0]
    for name in (*SHEETS, *TRIALS):
        if name.split("_")[0] == prefix:
            return sheet(name)
    raise LookupError(f"there is no exercise {id!r}; ids begin with {', '.join(n.split('_')[0] for n in SHEETS)}.")


def find(id):
    """Return the exercise of an id such as "04.2"; LookupError names those of its sheet. Source: the course's own."""
    found = sheet_of(id)
    for exercise in found.exercises:
        if exercise.id == id:
            return exercise
    raise LookupError(f"there is no exercise {id!r}; {found.name} has {', '.join(e.id for e in found.exercises)}.")
