"""Lesson 18's figures of clusters and pipelines: what their static pictures say, and what they refuse."""

import numpy as np
import pytest

from course_lib import figures
from course_lib.cluster import ETHERNET_10, Cluster, scaling
from course_lib.cluster.workloads import alexnet, lenet5
from course_lib.figures.cluster_sizes import DEVICES, MODES, OWN, SHARED, grid, time
from course_lib.figures.pipeline_stages import timeline


def test_the_grid_has_the_numbers_of_the_cluster():
    found = grid(alexnet(), {"slow": ETHERNET_10})
    assert np.shape(found) == (len(MODES), 1, len(SHARED), 3, len(DEVICES))
    for grow, batches in enumerate((SHARED, OWN)):
        expected = scaling([Cluster(n, between=ETHERNET_10) for n in DEVICES], alexnet(), batches[3], grow=bool(grow))
        np.testing.assert_allclose(found[grow][0][3][0], [1000 * e for _, _, e in expected], atol=0.5)
        np.testing.assert_allclose(found[grow][0][3][1], [s.seconds for _, s, _ in expected], rtol=5e-3)


def test_the_first_picture_tells_the_step_and_the_knee():
    made = figures.cluster_explorer([lenet5()], {"10 Gb/s": ETHERNET_10}, devices=16, batch=1024)
    (_, one, efficiency), *_ = scaling([Cluster(16, between=ETHERNET_10)], lenet5(), 1024)
    says = f"16 devices: each does {100 * efficiency:.0f} % of what one alone does. A step takes {time(one.seconds)}"
    assert made.static.caption.startswith(says)
    assert "Up to 2 devices it is half or more" in made.static.alt


@pytest.mark.parametrize(("seconds", "words"), [
    (0, "0 µs"), (3e-7, "0.3 µs"), (1.5e-6, "1.5 µs"), (0.0123, "12 ms"), (2.5, "2.5 s"), (1234.0, "1,234 s"),
])  # fmt: skip
def test_times_are_told_in_a_unit_that_fits(seconds, words):
    assert time(seconds) == words


def test_beginnings_that_are_not_on_the_sliders_are_refused():
    with pytest.raises(ValueError, match="devices is 3; it must be one of 1, 2, 4"):
        figures.cluster_explorer([lenet5()], devices=3)
    with pytest.raises(ValueError, match="batch is 100"):
        figures.cluster_explorer([lenet5()], batch=100)
    with pytest.raises(ValueError, match="workloads is empty"):
        figures.cluster_explorer([])
    with pytest.raises(ValueError, match="links is empty"):
        figures.cluster_explorer([lenet5()], {})


@pytest.mark.parametrize(("stages", "micro", "schedule", "kept"), [
    (4, 4, "gpipe", 4), (4, 8, "1f1b", 4), (1, 1, "gpipe", 1), (8, 16, "1f1b", 8),
])  # fmt: skip
def test_a_pipeline_says_how_long_stages_wait_and_what_they_keep(stages, micro, schedule, kept):
    made = figures.pipeline_timeline(stages, micro, schedule)
    assert f"{3 * (micro + stages - 1)} units of time" in made.static.caption
    assert (
        f"= {stages - 1} / {micro + stages - 1} = {100 * (stages - 1) / (micro + stages - 1):.0f} %" in made.static.alt
    )
    assert f"keeps the activations of {kept} micro-batches" in made.static.alt


def test_a_slow_stage_makes_all_wait():
    assert timeline(4, 8, slow=2).seconds > 1.5 * timeline(4, 8).seconds


def test_pipelines_that_cannot_be_drawn_are_refused():
    with pytest.raises(ValueError, match="stages is 9; more than 8 are too small to see"):
        figures.pipeline_timeline(9)
    with pytest.raises(ValueError, match="micro_batches is 17"):
        figures.pipeline_timeline(2, 17)
    with pytest.raises(ValueError, match="schedule is 'x'"):
        figures.pipeline_timeline(schedule="x")


@pytest.mark.parametrize("made", [figures.cluster_explorer(), figures.pipeline_timeline(8, 16)], ids=lambda m: m.name)
def test_static_pictures_fit_a_phone(made):
    assert made.static.drawn[0] <= 400
    assert len(made.html) < 100_000
