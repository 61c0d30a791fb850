"""Trials: every setting once, kept as they end, gone on with after an interruption, and the same by Dask."""

import json

import pytest

from course_lib.parallel.trials import grid, run_trials

CALLED = []


def trial(lr, hidden):
    CALLED.append((lr, hidden))
    return {"loss": lr * hidden}


@pytest.fixture(autouse=True)
def none_called():
    CALLED.clear()


def test_a_grid_has_all_combinations():
    assert grid(lr=[1, 2], hidden=[3]) == [{"lr": 1, "hidden": 3}, {"lr": 2, "hidden": 3}]


def test_results_come_in_the_order_of_the_settings_and_are_kept(tmp_path):
    found = run_trials(trial, grid(lr=[2, 1], hidden=[3, 4]), tmp_path / "t.jsonl")
    assert [(f["lr"], f["hidden"], f["loss"]) for f in found] == [(2, 3, 6), (2, 4, 8), (1, 3, 3), (1, 4, 4)]
    assert len((tmp_path / "t.jsonl").read_text().splitlines()) == 4


def test_only_what_is_new_is_run(tmp_path):
    run_trials(trial, grid(lr=[1], hidden=[3, 4]), tmp_path / "t.jsonl")
    CALLED.clear()
    found = run_trials(trial, grid(lr=[1, 5], hidden=[3, 4]), tmp_path / "t.jsonl")
    assert CALLED == [(5, 3), (5, 4)]
    assert [f["loss"] for f in found] == [3, 4, 15, 20]


def test_an_interrupted_run_goes_on(tmp_path):
    def stops(lr, hidden):
        if hidden == 4:
            raise KeyboardInterrupt
        return trial(lr, hidden)

    with pytest.raises(KeyboardInterrupt) as stopped:
        run_trials(stops, grid(lr=[1], hidden=[3, 4, 5]), tmp_path / "t.jsonl")
    assert "This was the trial {'lr': 1, 'hidden': 4}; what was done before is kept." in stopped.value.__notes__
    run_trials(trial, grid(lr=[1], hidden=[3, 4, 5]), tmp_path / "t.jsonl")
    assert CALLED == [(1, 3), (1, 4), (1, 5)]


def test_a_line_that_was_cut_off_is_run_again(tmp_path):
    path = tmp_path / "t.jsonl"
    run_trials(trial, grid(lr=[1], hidden=[3, 4]), path)
    path.write_text(path.read_text()[:-9])
    CALLED.clear()
    assert [f["loss"] for f in run_trials(trial, grid(lr=[1], hidden=[3, 4]), path)] == [3, 4]
    assert CALLED == [(1, 4)]
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_file_of_something_else_is_refused_and_left(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("to do\n")
    with pytest.raises(ValueError, match=r"line 1 of notes.txt is not of a trial: to do"):
        run_trials(trial, grid(lr=[1], hidden=[3]), path)
    assert path.read_text() == "to do\n"


def test_settings_given_twice_and_results_with_their_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="given twice"):
        run_trials(trial, grid(lr=[1, 1], hidden=[3]), tmp_path / "t.jsonl")
    with pytest.raises(ValueError, match="lr, which is the name of a setting"):
        run_trials(lambda lr: {"lr": lr}, grid(lr=[1]), tmp_path / "u.jsonl")
    with pytest.raises(TypeError, match="not JSON serializable"):
        run_trials(lambda lr: {"loss": object()}, grid(lr=[1]), tmp_path / "u.jsonl")
    assert (tmp_path / "u.jsonl").read_text() == ""


def test_a_cluster_of_dask_gives_the_same(tmp_path):
    distributed = pytest.importorskip("distributed", reason="pip install -e '.[cluster]' for trials by Dask")
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        settings = grid(lr=[1, 2], hidden=[3, 4])
        assert run_trials(trial, settings, tmp_path / "a", client) == run_trials(trial, settings, tmp_path / "b")
        assert sorted(CALLED[:4]) == [(1, 3), (1, 4), (2, 3), (2, 4)]
        with pytest.raises(ZeroDivisionError) as failed:
            run_trials(lambda lr: {"loss": 1 / lr}, grid(lr=[0]), tmp_path / "c", client)
        assert "This was the trial {'lr': 0}" in failed.value.__notes__[-1]
