"""What a lesson says of a card is what the benchmark's file says."""

import json

import pytest

from course_lib.lesson import measured
from course_lib.lesson.measurements import FOLDER


def test_a_case_is_given_as_it_was_measured():
    bench = json.loads((FOLDER / "gpu.h200.json").read_text("utf-8"))
    (row,) = (r for r in bench["rows"] if r["case"] == "transpose")
    found = measured("transpose", card="h200")
    assert (found.card, found.date, found.size) == (bench["machine"]["gpu"], bench["date"], row["size"])
    assert found.seconds == {name: t["median"] for name, t in row["timings"].items()}
    assert found.bytes == row["bytes"] == 2 * 4 * 8192**2


def test_an_unknown_card_is_told_which_there_are(tmp_path):
    (tmp_path / "gpu.t4.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match=r"no results/gpu\.v100\.json; cards with measurements: t4\. .*course"):
        measured("transpose", card="v100", folder=tmp_path)


def test_an_unknown_case_is_told_which_there_are():
    with pytest.raises(LookupError, match=r"no case 'transposed'; it has gemm 1024, .*transpose, reduce"):
        measured("transposed", card="h200")
