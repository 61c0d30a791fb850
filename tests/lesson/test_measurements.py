"""What a lesson says of a card is what the benchmark's file says."""

import json

import pytest

from course_lib.lesson import Measured, measured, measured_rows, memory_ladder, microbench, registers
from course_lib.lesson.measurements import results_folder


def test_a_case_is_given_as_it_was_measured():
    bench = json.loads((results_folder() / "gpu.h200.json").read_text("utf-8"))
    (row,) = (r for r in bench["rows"] if r["case"] == "transpose")
    found = measured("transpose", card="h200")
    assert (found.card, found.date, found.size) == (bench["machine"]["gpu"], row["date"], row["size"])
    assert found.seconds == {name: t["median"] for name, t in row["timings"].items()}
    assert found.bytes == row["bytes"] == 2 * 4 * 8192**2


def test_a_case_that_was_measured_on_another_day_than_the_rest_says_so(tmp_path):
    rows = [{"case": "a", "size": "", "timings": {}}, {"case": "b", "size": "", "timings": {}, "date": "2026-01-01"}]
    content = {"machine": {"gpu": "Tesla T4"}, "date": "2026-02-02", "rows": rows}
    (tmp_path / "gpu.t4.json").write_text(json.dumps(content))
    found = [measured(case, card="t4", folder=tmp_path).date for case in "ab"]
    assert found == ["2026-02-02", "2026-01-01"]


def test_an_unknown_card_is_told_which_there_are(tmp_path):
    (tmp_path / "gpu.t4.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match=r"no results/gpu\.v100\.json; cards with such measurements: t4\."):
        measured("transpose", card="v100", folder=tmp_path)


def test_an_unknown_case_is_told_which_there_are():
    with pytest.raises(LookupError, match=r"a case 'transposed'; there are gemm 1024, .*transpose, .*reduce"):
        measured("transposed", card="h200")


def test_the_lessons_own_kernels_are_found_beside_the_benchmark(tmp_path):
    row = {"case": "rows", "size": "8", "bytes": 1.0, "flops": 0.0, "timings": {"a": {"median": 2.0}}}
    for kind, rows in (("gpu", []), ("lessons", [row])):
        file = tmp_path / f"{kind}.t4.json"
        file.write_text(json.dumps({"machine": {"gpu": "Tesla T4"}, "date": "2026-01-01", "rows": rows}))
    assert measured("rows", card="t4", folder=tmp_path).seconds == {"a": 2.0}


def test_a_microbenchmark_is_a_rate(tmp_path):
    run = {"median": 2.0, "work": 8, "unit": "bytes"}
    bench = {"machine": {"gpu": "Tesla T4"}, "runs": {"streams": {"copy": run}}}
    (tmp_path / "microbench.t4.json").write_text(json.dumps(bench))
    assert microbench("streams", card="t4", folder=tmp_path)["copy"].rate == 4
    with pytest.raises(LookupError, match="no part 'chase'; there are streams"):
        microbench("chase", card="t4", folder=tmp_path)


def test_a_part_is_rows_of_which_one_is_found_by_its_values(tmp_path):
    rows = [{"choice": "v11", "n": 1}, {"choice": "v12", "n": 1}]
    bench = {"machine": {"gpu": "Tesla T4"}, "date": "2026-01-01", "parts": {"TF32": rows}}
    (tmp_path / "hopper.t4.json").write_text(json.dumps(bench))
    found = measured_rows("hopper", "TF32", card="t4", folder=tmp_path)
    assert (found.card, found.date, found.one(choice="v12", n=1)) == ("Tesla T4", "2026-01-01", rows[1])
    for wanted in ({"n": 1}, {"choice": "v13"}):
        with pytest.raises(LookupError, match=r"rows of 2 have .*; one\(\) takes what names one row"):
            found.one(**wanted)
    with pytest.raises(LookupError, match="no part 'graph'; there are TF32"):
        measured_rows("hopper", "graph", card="t4", folder=tmp_path)


def test_the_ladder_of_memories_is_slower_from_step_to_step_and_wider_in_the_sm():
    names, seconds, clocks, rates = zip(*memory_ladder("H200"), strict=True)
    assert names == ("shared memory", "L1 cache", "L2 cache", "DRAM")
    assert list(seconds) == sorted(seconds)
    assert rates[0] == pytest.approx(rates[1], rel=0.03)  # shared memory and L1 are one memory with one data pipe
    assert rates[1] > 3 * rates[2] > 6 * rates[3]
    assert clocks == pytest.approx([29, 40, 281, 690], rel=0.05)  # of published studies


def test_a_card_that_was_not_measured_has_no_ladder():
    with pytest.raises(ValueError, match="the rates of the T4 are not measured"):
        memory_ladder("T4")


def test_registers_are_those_of_the_compiler_and_fit_a_thread():
    counts = json.loads((results_folder() / "counts.json").read_text("utf-8"))
    need = registers("gemm 4096")
    assert need.keys() == counts["gemm 4096"].keys()
    assert need["v05_register_tile_2d"] == counts["gemm 4096"]["v05_register_tile_2d"][0]["registers"]
    assert 16 < min(need.values()) <= max(need.values()) <= 255


def test_registers_of_what_was_not_counted_are_not_made_up(tmp_path):
    with pytest.raises(LookupError, match="has no case 'gemm 3'; there are gemm 1024"):
        registers("gemm 3")
    with pytest.raises(FileNotFoundError, match=r"tools/estimate_counts\.py writes it"):
        registers("gemm 4096", folder=tmp_path)


def test_results_are_found_from_a_notebooks_folder_also_where_the_package_is_installed(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    (tmp_path / "notebooks").mkdir()
    assert results_folder(tmp_path / "notebooks") == tmp_path / "results"
    monkeypatch.chdir(tmp_path / "notebooks")
    with pytest.raises(FileNotFoundError, match="cards with such measurements: none"):
        measured("transpose", card="h200")


def test_the_librarys_algorithm_is_told_by_its_kernels_in_float32():
    assert measured("conv 1->6 k5 forward", card="h200").algorithm == "FFT"
    assert measured("conv 64->64 k3 forward", card="h200").algorithm == "implicit GEMM"
    assert measured("transpose", card="h200").algorithm == ""


def test_times_along_a_size_are_those_of_the_fastest_of_the_names():
    found = Measured("", "", "", "", {"a, 3": 2.0, "b, 3": 1.0, "b, 5": 4.0, "ab, 5": 0.1, "c": 9.0}, 0.0, 0.0)
    assert found.along("a", "b") == {3: 1.0, 5: 4.0}
    assert found.along("c") == {}


def test_a_processors_transforms_are_found_without_a_card():
    found = measured("FFT or direct, 1->6, 64 x 64", card="xeon")
    assert found.card.startswith("Intel")
    assert list(found.along("reference")) == list(found.along("transforms")) == [3, 5, 7, 9, 11, 15, 21, 31]
