"""Lesson 19: its launches are right with and without a device, and what it says of times follows from results/."""

import numpy as np
import pytest

from course_lib import opencl
from course_lib.figures.group_loops import wrong_without_barrier
from course_lib.figures.queue_lanes import early
from course_lib.lesson import measured, opencl_run
from course_lib.opencl import api
from course_lib.opencl.answers import answered_by
from course_lib.opencl.devices import find_devices
from course_lib.opencl.launches import load_recording
from tests.lessons.conftest import NOTEBOOKS

RUN = opencl_run("amd-epyc")
TURNED = measured("OpenCL transpose", card="amd-epyc")


def run_the_lesson():
    script = NOTEBOOKS / "19_opencl.py"
    namespace = {"__name__": "lesson"}
    exec(compile(script.read_text(encoding="utf-8"), script, "exec"), namespace)
    return namespace


@pytest.fixture
def no_device(monkeypatch):
    monkeypatch.setenv("COURSE_OPENCL", "off")
    api.api.cache_clear()
    yield
    api.api.cache_clear()


def test_without_a_device_the_recording_answers_every_launch(no_device, capsys):
    names = run_the_lesson()
    assert opencl.live() is False
    np.testing.assert_array_equal(names["y"], names["by_numpy"](names["digits"]))
    assert "480" in capsys.readouterr().out


def test_what_is_recorded_is_what_a_device_does(device_or_skip, no_device):
    """The lesson is run on a device that answers launch by launch, and is compared with what was kept."""
    from course_lib.opencl.record import Recorder

    recorder = Recorder(device_or_skip, {})
    with answered_by(recorder):
        run_the_lesson()
    kept, found = load_recording(), recorder.recording
    assert found.launches.keys() == kept.launches.keys()
    assert found.findings.keys() == kept.findings.keys()
    different = [key for key in kept.launches if found.launches[key]["writes"] != kept.launches[key]["writes"]]
    # The transpose without its barrier finds what happens to lie in local memory; the lesson counts what is wrong.
    assert len(different) <= 1
    assert found.builds.keys() == kept.builds.keys()
    assert {key for key, said in found.builds.items() if said} == {key for key, said in kept.builds.items() if said}


@pytest.fixture(params=[d for d in find_devices({}) if not d.trouble] or [None], ids=lambda d: d.kind if d else "none")
def device_or_skip(request):
    if request.param is None:
        pytest.skip("no OpenCL device here")
    return request.param


def test_a_changed_launch_says_how_to_get_a_device(no_device):
    session = opencl.Session()
    x = session.to_device(np.ones(5, np.float32))
    with pytest.raises(opencl.NoDevice, match=r'pip install "pyopencl\[pocl\]"'):
        opencl.leaky_relu(x, 0.5)


def test_ids_and_groups_are_those_of_the_page(lesson, printed):
    np.testing.assert_array_equal(lesson["group_x"], np.tile(np.arange(10) // 4, (6, 1)))
    np.testing.assert_array_equal(lesson["group_y"], np.tile((np.arange(6) // 4)[:, None], (1, 10)))
    assert "[[0 0 0 0 1 1 1 1 2 2]" in printed


def test_480_numbers_are_wrong_without_the_barrier(lesson, printed):
    assert 4 * wrong_without_barrier(16) == lesson["wrong_numbers"](lesson["without"]) == 480
    assert lesson["wrong_numbers"](lesson["turn"]) == 0
    assert "with the barrier: 0 wrong; without: 480" in printed


def test_the_simulator_names_both_work_items_of_the_race(printed):
    assert "race in local memory, line 9 (found 48 times): y[(left + ty) * n + top + tx] = tile[tx][ty];" in printed
    assert "work-item (1, 0) of group (0, 0) reads what work-item (0, 1) of group (0, 0) writes" in printed


def test_products_and_the_split_batch_equal_numpys(printed):
    assert "tile 4 equals NumPy's: True" in printed
    assert "tile 8 equals NumPy's: True" in printed
    assert "equal to one device's: True" in printed


def test_the_naive_transpose_in_small_groups_is_the_fastest_and_falls_behind_in_large_ones():
    own = {name: s for name, s in TURNED.seconds.items() if not name.startswith(("copy", "NumPy"))}
    assert min(own, key=own.get) == "naive, 8"
    assert max(own, key=own.get) == "naive, 32"
    for side in (8, 16, 32):
        assert TURNED.seconds[f"padded, {side}"] == pytest.approx(TURNED.seconds[f"tile, {side}"], rel=0.15)


def test_tiles_of_16_help_the_product_and_numpy_is_far_ahead():
    found = measured("OpenCL product", card="amd-epyc").seconds
    assert found["naive, 16"] > 1.3 * found["tiled, 16"]
    assert found["naive, 32"] > 1.3 * found["tiled, 32"]
    assert min(s for name, s in found.items() if name != "NumPy") > 10 * found["NumPy"]


def test_out_of_order_takes_half_the_time_and_nothing_said_is_wrong():
    ends = {name: max(bar["end"] for bar in bars) for name, bars in RUN.queues.items()}
    assert ends["in order"] / ends["out of order"] == pytest.approx(2, rel=0.1)
    assert early(RUN.queues["out of order"]) == early(RUN.queues["in order"]) == []
    assert early(RUN.queues["nothing said"]) == ["A2", "B2"]
    assert RUN.wrong > RUN.runs / 4


@pytest.mark.parametrize("name", RUN.jobs)
def test_both_devices_together_are_done_about_when_predicted(name):
    job = RUN.jobs[name]
    t1, t2 = job.pair.seconds
    assert job.best == pytest.approx(t2 / (t1 + t2))
    assert job.predicted == pytest.approx(t1 * t2 / (t1 + t2))
    assert job.measured == pytest.approx(job.predicted, rel=0.25)
    assert min(t1, t2) > job.measured
    (_, first, few), (_, second, rest) = job.spans
    assert few + rest == RUN.batch
    assert first == pytest.approx(second, rel=0.3), "nobody waits long"


def test_a_better_kernel_on_one_core_beats_two_cores():
    assert RUN.jobs["NumPy"].measured > 1.5 * min(RUN.jobs["fast"].pair.seconds)
    t1, t2 = RUN.jobs["NumPy"].pair.seconds
    assert 4 <= t1 / t2 <= 5, "the page says four to five times"


def test_try_it_and_check_yourself_are_right():
    late = opencl.best_share(10, 30, fixed_first=2)
    assert (late.first, late.seconds) == pytest.approx((0.7, 9))
    assert opencl.best_share(10, 30).seconds == pytest.approx(7.5)
    assert 16 * wrong_without_barrier(8) == 448
    assert [d["group"] for d in RUN.devices] == [4096, 1024]
