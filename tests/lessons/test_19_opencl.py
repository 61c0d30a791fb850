"""Lesson 19: its launches are right with and without a device, and what it says of times follows from results/."""

import inspect
import json
import textwrap

import numpy as np
import pytest

from course_lib import opencl
from course_lib.figures.group_loops import wrong_without_barrier
from course_lib.figures.queue_lanes import early
from course_lib.lesson import measured, opencl_run
from course_lib.lesson.measurements import results_folder
from course_lib.opencl import api
from course_lib.opencl.answers import answered_by
from course_lib.opencl.devices import find_devices
from course_lib.opencl.launches import load_recording
from tests.lessons.conftest import NOTEBOOKS

RUN = opencl_run("amd-epyc")


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
    assert "equal to NumPy's alone: True" in printed


def test_which_transpose_is_fastest_depends_on_the_rows():
    round_rows, others = ({k: t for k, t in RUN.transposes[n].items() if "copy" not in k} for n in (2048, 2080))
    assert min(round_rows, key=round_rows.get) == "naive, 8"
    assert max(round_rows, key=round_rows.get) == "naive, 32"
    assert min(others, key=others.get) == "naive, 16"
    for side in (16, 32):
        assert round_rows[f"naive, {side}"] > 1.3 * round_rows[f"tile, {side}"], "there the tile helps"
        assert round_rows[f"naive, {side}"] > 2 * others[f"naive, {side}"], "large groups are no longer slow"
        assert others[f"naive, {side}"] < others[f"tile, {side}"]
    for side in (8, 16, 32):
        for rows in (round_rows, others):
            assert rows[f"padded, {side}"] == pytest.approx(rows[f"tile, {side}"], rel=0.15), (
                "padding has nothing to avoid"
            )
    assert others["naive, 8"] == pytest.approx(round_rows["naive, 8"], rel=0.15)


def test_the_card_gains_from_the_tile_and_nearly_as_much_from_its_padding():
    card = measured("transpose", card="h200").seconds
    tile, padding = card["v01_naive"] / card["v02_tile"], card["v02_tile"] / card["v03_padded"]
    assert tile == pytest.approx(1.65, abs=0.05)
    assert 0.85 * tile < padding < tile


def test_a_column_of_round_rows_has_one_set_of_the_cache(lesson, printed):
    cache = RUN.first_cache
    assert lesson["sets"] == 64
    assert cache["ways"] == 12
    assert cache["bytes"] == 48 * 1024
    assert cache["bytes"] > 2 * 32 * 32 * 4, "a group of 32 x 32 has room in it"
    assert "2048 numbers in a row: 1 of 64 sets" in printed
    assert "2080 numbers in a row: 32 of 64 sets" in printed
    assert {k * 2048 // 64 % 64 for k in range(512)} == {0, 32}, "a column of B wants two sets"


def test_only_large_groups_were_vectorised():
    assert RUN.wide[4] == 0
    assert RUN.wide[256] > 0


def test_one_group_with_its_own_leftovers_is_nearly_always_right():
    right, tries = RUN.leftovers
    assert right > 0.9 * tries


def test_tiles_of_16_help_the_product_and_numpy_is_far_ahead():
    found = measured("OpenCL product", card="amd-epyc").seconds
    assert found["naive, 16"] > 1.3 * found["tiled, 16"]
    assert found["naive, 32"] > 1.3 * found["tiled, 32"]
    assert min(s for name, s in found.items() if name != "NumPy") > 10 * found["NumPy"]


def test_out_of_order_or_in_two_queues_takes_half_the_time_and_nothing_said_is_wrong():
    ends = {name: max(bar["end"] for bar in bars) for name, bars in RUN.queues.items()}
    assert ends["in order"] == pytest.approx(0.012, rel=0.1)
    assert ends["in order"] / ends["out of order"] == pytest.approx(2, rel=0.1)
    assert ends["in order"] / ends["two queues"] == pytest.approx(2, rel=0.1)
    assert ends["nothing said"] > 0.95 * ends["out of order"], "it is no quicker"
    assert early(RUN.queues["out of order"]) == early(RUN.queues["in order"]) == early(RUN.queues["two queues"]) == []
    assert "A2" in early(RUN.queues["nothing said"])


def test_forgotten_events_show_only_if_a_kernel_takes_long():
    (wrong, runs), (often, tries) = RUN.forgotten[40], RUN.forgotten[RUN.steps]
    assert (wrong, runs) == (0, 100)
    assert often > tries / 4


def test_the_two_chains_on_the_page_are_the_librarys(printed):
    """What is printed is what tools/measure_opencl.py timed."""
    source = textwrap.dedent(inspect.getsource(opencl.two_chains).partition('"""\n\n')[2]).strip().splitlines()
    script = (NOTEBOOKS / "19_opencl.py").read_text(encoding="utf-8").splitlines()
    first = script.index("# def chain(session):")
    page = [line.removeprefix("#").removeprefix(" ") for line in script[first : first + len(source)]]
    assert page == source
    assert script[first - 1] == "# ```python"
    assert script[first + len(source)] == "# ```"
    assert "right: True" in printed


def test_two_devices_make_what_one_makes(lesson):
    x = lesson["numbers"]
    made = np.concatenate([one.to_host(part) for one, part, _ in lesson["started"]])
    np.testing.assert_array_equal(made, np.where(x > 0, x, 0.5 * x))
    sessions = [one for one, *_ in lesson["started"]]
    assert [one.device.name for one in sessions] == [device.name for device in opencl.two_devices()]
    assert sessions[0].queue is not sessions[1].queue


def test_the_recording_has_two_devices(no_device):
    first, second = opencl.two_devices()
    assert first.platform is not second.platform
    assert first.name == f"recording of {load_recording().device['name']}"
    assert second.name == f"recording of {load_recording().second['name']}"
    assert first.name != second.name


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
    assert job.promised == pytest.approx(max(few * t1, rest * t2) / RUN.batch)
    assert 0.5 < job.kept < 0.6, "little more than half of the gain is there"
    assert few == pytest.approx(job.best * RUN.batch, abs=8), "whole pieces of 16 images"


def test_the_same_share_was_measured_twice_and_differs_by_more_than_the_other_pairs_gain():
    one, other = RUN.jobs["NumPy"], RUN.jobs["fast"]
    apart = one.measured - dict(one.pair.curve)[one.ran]
    assert one.ran == 0.1875
    assert 0.0004 < apart < 0.0005
    assert apart > min(other.pair.seconds) - other.measured
    alone = min(one.pair.seconds)
    again = (alone - dict(one.pair.curve)[one.ran]) / (alone - one.promised)
    assert again == pytest.approx(0.8, abs=0.05), "four fifths"


def test_other_runs_kept_more_or_less_of_the_gain():
    found = json.loads((results_folder() / "opencl.amd-epyc.json").read_text("utf-8"))["shares_again"]
    pairs = [one["NumPy"] for one in found]
    kept = sorted((min(p["alone"]) - p["measured"]) / (min(p["alone"]) - p["predicted"]) for p in pairs)
    assert kept[0] < 0.1, "one kept nearly nothing"
    assert [0.4 < share < 0.8 for share in kept[1:]] == [True] * 3, "between half and three quarters"


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
