"""Steps of several ranks: the slowest rank counts, and of several runs the median."""

import json

import pytest

from course_lib.lesson.rank_steps import rank_steps


def row(rank, least, ranks=2, exchange="overlap"):
    return {"net": "N", "batch": 64, "ranks": ranks, "rank": rank, "exchange": exchange, "least": least, "seconds": 9.0}


def test_the_slowest_rank_counts_and_of_runs_the_median(tmp_path):
    rows = [row(0, 1.0), row(1, 4.0), row(0, 3.0), row(1, 2.0), row(0, 6.0, 1, "alone"), row(0, 6.5, 1, "alone")]
    rows += [row(0, 3.6, exchange="after"), row(1, 2.5, exchange="after")]
    cores = [row(0, 4.0, 1, "none"), row(0, 4.5, 1, "none")]
    about = {"machine": {"cpu": "a processor"}, "date": "2026-01-01", "parts": {"steps": rows, "cores": cores}}
    (tmp_path / "parallel.some.json").write_text(json.dumps(about))
    found = rank_steps("some", folder=tmp_path)
    assert found.seconds == {
        ("N", 64, 2, "overlap"): 3.5, ("N", 64, 2, "after"): 3.6,
        ("N", 64, 1, "alone"): 6.25, ("N", 64, 1, "none"): 4.25,
    }  # fmt: skip
    assert (found.gain("N", 64, 2), found.processor) == (6.25 / 3.5, "a processor")


def test_without_a_file_it_says_what_writes_one(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no results/parallel.none.json; tools/measure_parallel.py writes it"):
        rank_steps("none", folder=tmp_path)
