"""The order of blocks is measured as told: each order gives the same numbers; ncu's table is read with its units."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib import gpu, reference
from course_lib.lesson import measured
from tests.cases import all_of
from tools import measure_cache
from tools.block_orders import AXES, ORDERS, conv2d_forward_ordered, name_of

ROOT = Path(__file__).resolve().parents[2]

TABLE = """==PROF== Connected to process 77 (/usr/bin/python3.12)
"ID","Process ID","Kernel Name","dram__bytes_read.sum","gpu__time_duration.sum","lts__t_sector_hit_rate.pct"
"","","","byte","nsecond","%"
"0","77","cudapy::_conv2d_forward_ordered_1(Array<float, 4>)","51,380,224","16,700,000","87.50"
"1","77","something_else","1","1","1"
"2","77","_ZN6cudapy23_conv2d_forward_orderedB2v2E5Array","822,083,584","18,000,000.5","12.25"
==PROF== Disconnected
"""


@all_of("order", ORDERS)
def test_each_order_of_blocks_computes_the_same(order):
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((3, 2, 20, 35), (4, 2, 3, 3)))
    expected, _ = reference.conv2d_forward(x, w, None, 1, 1)
    y = gpu.to_device(np.full(expected.shape, np.nan, np.float32))
    conv2d_forward_ordered(order, gpu.to_device(x), gpu.to_device(w), y, 1, 1)
    np.testing.assert_array_equal(gpu.to_host(y), expected)


def test_there_are_six_orders_and_the_lectures_is_the_first():
    assert len(set(ORDERS)) == 6
    assert ORDERS[0] == AXES == ("maps", "tiles", "images")


def test_an_order_that_is_none_or_too_many_blocks_are_refused():
    x, w, y = (gpu.empty(shape, np.float32) for shape in ((1, 1, 4, 4), (1, 1, 3, 3), (1, 1, 2, 2)))
    with pytest.raises(ValueError, match="must be one of"):
        conv2d_forward_ordered(("maps", "images"), x, w, y)
    x, y = gpu.empty((65_536, 1, 3, 3), np.float32), gpu.empty((65_536, 1, 1, 1), np.float32)
    with pytest.raises(ValueError, match="at most 65,535 blocks"):
        conv2d_forward_ordered(ORDERS[0], x, w, y)


def test_ncus_table_is_read_with_its_units_and_without_other_kernels():
    first, second = measure_cache.read_counters(TABLE)
    assert first == {"memory_bytes_read": 51_380_224, "seconds": pytest.approx(0.0167), "l2_hit_rate": 87.5}
    assert second["memory_bytes_read"] == 822_083_584
    assert measure_cache.read_counters("nothing was launched\n") == []
    kilo = TABLE.replace('"byte","nsecond"', '"Kbyte","usecond"')
    assert measure_cache.read_counters(kilo)[0]["memory_bytes_read"] == 51_380_224_000
    assert measure_cache.read_counters(kilo)[0]["seconds"] == pytest.approx(16.7)
    with pytest.raises(ValueError, match="in 'furlong'; the units that are known"):
        measure_cache.read_counters(TABLE.replace("nsecond", "furlong"))


def test_rows_belong_to_the_launches_in_their_order_and_to_none_if_one_is_missing(capsys):
    rows, launched = [{"seconds": 1}, {"seconds": 2}], [["a", "x"], ["a", "y"]]
    assert measure_cache.by_case(rows, launched) == {"a": {"x": {"seconds": 1}, "y": {"seconds": 2}}}
    assert measure_cache.by_case(rows[:1], launched) == {}
    assert "counted 1 launches of 2" in capsys.readouterr().out


def test_a_metric_is_dropped_only_where_ncu_names_it():
    said = "==ERROR== Failed to find metric dram__bytes_read.sum\ngpu__time_duration.sum is fine"
    assert [m for m in measure_cache.METRICS.values() if measure_cache._refused(m, said)] == ["dram__bytes_read.sum"]


def test_without_a_gpu_everything_is_launched_small_and_a_lesson_can_read_the_file(tmp_path):
    out = tmp_path / "cache.simt.json"
    environment = os.environ | {"COURSE_DEVICE": "simt"}
    command = [sys.executable, "tools/measure_cache.py", "--tiny", "--out", out]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=300)
    content = json.loads(out.read_text("utf-8"))
    assert content["bench"] == "cache"
    assert [row["case"] for row in content["rows"]] == list(measure_cache.LAYERS)
    for row in content["rows"]:
        assert list(row["timings"]) == [name_of(order) for order in ORDERS]
    content["rows"][0]["counters"] = {"maps, tiles, images": {"l2_hit_rate": 90.5}}
    (tmp_path / "cache.h200.json").write_text(json.dumps(content))
    (tmp_path / "gpu.h200.json").write_text(json.dumps(content | {"rows": []}))
    found = measured("block order, conv 6->16 k5", card="h200", folder=tmp_path)
    assert found.counters["maps, tiles, images"]["l2_hit_rate"] == 90.5


def test_counters_are_refused_where_there_is_no_gpu(tmp_path):
    command = [sys.executable, "tools/measure_cache.py", "--out", tmp_path / "cache.json"]
    environment = os.environ | {"COURSE_DEVICE": "simt"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0
    assert "there is none here" in " ".join(done.stderr.split())
