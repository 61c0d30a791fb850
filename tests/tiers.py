"""Which tests are fast, what the others need, and how they are dealt out to the processes of pytest-xdist.

A pytest plugin, loaded by the ``conftest.py`` of the repository. Source: the course's own.
"""

from __future__ import annotations

import gc
import os
import random
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

SLOW = (
    "notebooks",
    "solutions",
    "tests/bench/test_bench_cpu.py",
    "tests/bench/test_bench_simt.py",
    "tests/bench/test_convolution_cases.py",
    "tests/bench/test_measure_cache.py",
    "tests/bench/test_measure_convolutions.py",
    "tests/bench/test_measure_copies.py",
    "tests/bench/test_measure_lessons.py",
    "tests/bench/test_measure_parallel.py",
    "tests/bench/test_measure_opencl.py",
    "tests/bench/test_measure_project.py",
    "tests/bench/test_measure_tensor_cores.py",
    "tests/bench/test_measure_training.py",
    "tests/bench/test_microbench.py",
    "tests/bench/test_steps.py",
    "tests/book/test_site.py",
    "tests/browser",
    "tests/cli/test_ending.py",
    "tests/cli/test_run.py",
    "tests/cuda/test_conv2d_backward.py",
    "tests/cuda/test_conv2d_fft.py",
    "tests/cuda/test_conv2d_forward.py",
    "tests/cuda/test_conv2d_rows.py",
    "tests/cuda/test_gemm_ladder.py",
    "tests/cuda/test_gemm_tensor_cores.py",
    "tests/cuda/test_hostile_inputs.py",
    "tests/cuda/test_one_import.py",
    "tests/cuda/test_ops_equal_reference.py",
    "tests/cuda/test_pool_overlapping.py",
    "tests/cuda/test_pooling.py",
    "tests/cuda/test_reduce_ladder.py",
    "tests/cuda/test_simulator.py",
    "tests/cuda/test_training.py",
    "tests/exercises/test_built_sheets.py",
    "tests/exercises/test_card_in_kernel.py",
    "tests/exercises/test_case_constants.py",
    "tests/exercises/test_kernel_cards.py",
    "tests/exercises/test_kernels.py",
    "tests/exercises/test_kill_table.py",
    "tests/exercises/test_lesson11.py",
    "tests/exercises/test_lesson12.py",
    "tests/exercises/test_lesson13.py",
    "tests/exercises/test_lesson14.py",
    "tests/exercises/test_lesson15.py",
    "tests/exercises/test_lesson17.py",
    "tests/fast/test_first_call.py",
    "tests/fast/test_kernel_cache.py",
    "tests/fast/test_memory.py",
    "tests/fast/test_rounding_and_threads.py",
    "tests/figures",
    "tests/gates",
    "tests/gpu/test_choice.py",
    "tests/gpu/test_simulator.py",
    "tests/gpu/test_use.py",
    "tests/grading/test_attack_release.py",
    "tests/grading/test_dishonest_convolutions.py",
    "tests/grading/test_grade_command.py",
    "tests/grading/test_host.py",
    "tests/grading/test_host_kernels.py",
    "tests/grading/test_notices.py",
    "tests/grading/test_on_card.py",
    "tests/grading/test_project.py",
    "tests/grading/test_project_times.py",
    "tests/grading/test_protocol.py",
    "tests/grading/test_public_checks.py",
    "tests/grading/test_release.py",
    "tests/grading/test_sandbox.py",
    "tests/grading/test_schedule.py",
    "tests/grading/test_script_cells.py",
    "tests/grading/test_selftest.py",
    "tests/grading/test_selftest_teeth.py",
    "tests/grading/test_similarity.py",
    "tests/grading/test_snapshots.py",
    "tests/grading/test_summary.py",
    "tests/grading/test_tables.py",
    "tests/grading/test_unusual_notebooks.py",
    "tests/lesson/test_layer_counts.py",
    "tests/lessons",
    "tests/nn/test_lenet5_digits.py",
    "tests/notebooks/test_notebook_build.py",
    "tests/notebooks/test_notebook_form.py",
    "tests/notebooks/test_notebook_gate.py",
    "tests/notebooks/test_notebook_guards.py",
    "tests/notebooks/test_notebooks_committed.py",
    "tests/parallel/test_on_devices.py",
    "tests/parallel/test_processes.py",
    "tests/setup/test_tracked_files.py",
    "tests/simt/demo",
    "tests/simt/generated",
    "tests/simt/hostile",
    "tests/simt/measured",
    "tests/simt/test_alone.py",
    "tests/simt/test_every_picture.py",
    "tests/simt/test_every_report.py",
    "tests/simt/test_lazy_reads.py",
    "tests/simt/test_trace_corpus.py",
    "tests/simt/test_trace_figures.py",
    "tests/simt/test_types.py",
    "tests/simt/test_numba_cuda_agrees.py",
    "tests/simt/test_words_in_loops.py",
    "tests/torch_compare",
)
"""Folders and files that `make check` leaves out as a whole; single tests say it by ``@pytest.mark.slow``."""

NEEDS = {
    "tests/browser": "browser",
    "tests/cuda": "gpu",
    "tests/gpu": "gpu",
    "tests/simt/measured": "gpu",
}
"""What the tests of a folder use where the machine has it."""

FIRST = (
    "tests/browser",  # a browser waits more than it computes
    "tests/gates",
    "tests/simt/hostile",
    "tests/lessons/test_10_what_convnets_learn.py",
    "notebooks/09_lenet5.ipynb",
    "notebooks/10_what_convnets_learn.ipynb",
    "tests/cuda/test_simulator.py",
    "tests/grading/test_selftest.py",
    "tests/exercises/test_kill_table.py",
    "tests/cuda/test_training.py",
    "tests/cuda/test_ops_equal_reference.py",
    "tests/simt/test_alone.py",
    "tests/simt/test_numba_cuda_agrees.py",
    "tests/cuda",
    "notebooks",
)
"""What takes longest begins first, so that no process is left alone with it at the end."""

TOGETHER = {"tests/browser": "tests/browser", "tests/gates": "tests/gates"}
"""Folders whose tests share something that only one process should start."""

MOST_PROCESSES = 8
"""Beyond, collecting the tests anew in each process costs more than it saves."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="run files, and the tests in each file, in an order drawn with this seed; cells of a notebook keep theirs",
    )


def pytest_collection(session: pytest.Session) -> None:
    """Collect no garbage while tests are collected: what is made then stays."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave thousands of tests out of all later searches for garbage."""
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import what `-m fast` leaves out as a whole: reading all tests takes half a minute."""
    if config.getoption("markexpr") == "fast" and collection_path.is_relative_to(ROOT):
        return _below(collection_path.relative_to(ROOT).as_posix(), SLOW) or None
    return None


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        mark(item)
    if (seed := config.getoption("shuffle")) is not None:
        shuffle(items, random.Random(seed))
    elif "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: _place(place_of(item), FIRST, len(FIRST)))  # stable


def mark(item: pytest.Item) -> None:
    """Give a test the marks of its place, and ``fast`` where nothing says ``slow``."""
    place = place_of(item)
    if _below(place, SLOW):
        item.add_marker("slow")
    for folder, need in NEEDS.items():
        if _below(place, (folder,)):
            item.add_marker(need)
    if not item.get_closest_marker("slow"):
        item.add_marker("fast")


def place_of(item: pytest.Item) -> str:
    """Return the file of a test as a path from the repository's root, with slashes; its name elsewhere."""
    return item.path.relative_to(ROOT).as_posix() if item.path.is_relative_to(ROOT) else item.path.name


def shuffle(items: list[pytest.Item], rng: random.Random) -> None:
    """Put files, and the tests in each file, in another order; the cells of a notebook build on each other."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    order = list(files.values())
    rng.shuffle(order)
    for tests in order:
        if tests[0].path.suffix != ".ipynb":
            rng.shuffle(tests)
    items[:] = [item for tests in order for item in tests]


def _below(place: str, folders: tuple[str, ...]) -> bool:
    return any(place == folder or place.startswith(f"{folder}/") for folder in folders)


def _place(place: str, order: tuple[str, ...], otherwise: int) -> int:
    return next((i for i, start in enumerate(order) if _below(place, (start,))), otherwise)


# ------------------------------------------------------------------------------------------------- with pytest-xdist


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Call bytes by their argument: packed ones hold the time, and all processes must collect the same names."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """``-n auto``: the processors that this process may use; where browsers and sandboxes wait, one more."""
    return min(processors() + (config.getoption("markexpr") != "fast"), MOST_PROCESSES)


def processors() -> int:
    """Return how many processors the system lets this process keep busy: its affinity and its control group."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return min(count, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no such file, or "max"
        return count


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Deal out whole files, in the order of the collection: what a module's fixtures made is used by all its tests."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return next((together for folder, together in TOGETHER.items() if _below(file, (folder,))), file)

    config.option.loadscopereorder = False
    return ByFile(config, log)
