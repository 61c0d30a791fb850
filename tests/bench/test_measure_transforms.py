"""The processor's sweep over masks times both ways, which agree, and writes what lesson 15 reads."""

import json

from course_lib.lesson import measured
from tools import measure_transforms


def test_a_small_sweep_is_written_as_the_lesson_reads_it(tmp_path):
    file = tmp_path / "transforms.here.json"
    assert measure_transforms.main(["--tiny", "--out", str(file)]) == 0
    assert json.loads(file.read_text("utf-8"))["bench"] == "transforms"
    found = measured("FFT or direct, 1->6, 32 x 32", card="here", folder=tmp_path)
    assert list(found.along("direct")) == list(found.along("FFT")) == [3, 5]
    assert min(found.seconds.values()) > 0
