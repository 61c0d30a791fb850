"""Every test is fast or slow, files stay together, and a shuffle keeps the cells of a notebook in their order."""

from __future__ import annotations

import gzip
import random
import re
import types

import pytest

from tests import tiers
from tests.setup.project import ROOT, pyproject


class Item:
    """What the plugin uses of a test."""

    def __init__(self, place, *marks):
        self.path, self.marks = ROOT / place.partition("::")[0], {*marks}
        self.name = place.partition("::")[2]

    def add_marker(self, name):
        self.marks.add(name)

    def get_closest_marker(self, name):
        return name if name in self.marks else None


@pytest.mark.parametrize(
    ("place", "given", "marks"),
    [
        ("tests/data/test_idx.py", (), {"fast"}),
        ("tests/data/test_idx.py", ("slow",), {"slow"}),
        ("tests/cuda/test_sums.py", (), {"fast", "gpu"}),
        ("tests/browser/test_widgets.py", (), {"slow", "browser"}),
        ("notebooks/01_perceptron.ipynb", (), {"slow"}),
        ("tests/gates_of_another_kind/test_x.py", (), {"fast"}),
        ("../elsewhere/test_x.py", (), {"fast"}),
    ],
)
def test_a_test_is_slow_by_its_place_or_its_mark_and_fast_otherwise(place, given, marks):
    item = Item(place, *given)
    tiers.mark(item)
    assert item.marks == marks


def test_every_place_in_the_tables_exists_and_every_mark_is_registered():
    places = {*tiers.SLOW, *tiers.NEEDS, *tiers.FIRST, *tiers.TOGETHER}
    assert [place for place in sorted(places) if not (ROOT / place).exists()] == []
    options = pyproject()["tool"]["pytest"]["ini_options"]
    assert "--strict-markers" in options["addopts"]
    registered = {line.partition(":")[0] for line in options["markers"]}
    assert registered == {"fast", "slow", *tiers.NEEDS.values(), "sandbox"}


def test_a_shuffle_keeps_files_together_and_the_cells_of_a_notebook_in_order():
    names = [f"{file}::{i}" for file in ("tests/test_a.py", "tests/test_b.py", "notebooks/c.ipynb") for i in range(20)]
    items = [Item(name) for name in names]
    orders = set()
    for seed in range(6):
        tiers.shuffle(items, random.Random(seed))
        order = [f"{item.path.relative_to(ROOT).as_posix()}::{item.name}" for item in items]
        assert sorted(order) == sorted(names)
        files = [name.partition("::")[0] for name in order]
        assert len(re.findall(r"(\S+)(?: \1)*(?= |$)", " ".join(files))) == 3
        assert [name for name in order if "ipynb" in name] == names[40:]
        orders.add(tuple(order))
    assert len(orders) == 6


@pytest.mark.parametrize(
    ("limit", "count"), [("150000 100000", 2), ("50000 100000", 1), ("max 100000", 6), ("800000 100000", 6), (None, 6)]
)
def test_as_many_processes_as_the_machine_lends(monkeypatch, limit, count):
    def read_text(path, encoding):
        if limit is None:
            raise FileNotFoundError(path)
        return limit

    monkeypatch.setattr(tiers.os, "sched_getaffinity", lambda pid: set(range(6)), raising=False)
    monkeypatch.setattr(tiers, "Path", lambda path: types.SimpleNamespace(read_text=lambda **k: read_text(path, **k)))
    assert tiers.processors() == count
    for marks, more in (("fast", 0), ("", 1)):
        config = types.SimpleNamespace(getoption=lambda name, marks=marks: marks)
        assert tiers.pytest_xdist_auto_num_workers(config) == count + more
        with monkeypatch.context() as patch:
            patch.setattr(tiers, "processors", lambda: tiers.MOST_PROCESSES)
            assert tiers.pytest_xdist_auto_num_workers(config) == tiers.MOST_PROCESSES


def test_whole_files_are_dealt_out_and_what_shares_a_server_is_dealt_out_together():
    pytest.importorskip("xdist", reason="pytest-xdist is not installed (pip install .[test])")
    config = types.SimpleNamespace(
        option=types.SimpleNamespace(loadscopereorder=True), getvalue=lambda name: ["2*popen"], rootpath=ROOT
    )
    scheduler = tiers.pytest_xdist_make_scheduler(config, None)
    assert not config.option.loadscopereorder
    assert scheduler._split_scope("tests/data/test_idx.py::test_a[x::y]") == "tests/data/test_idx.py"
    assert scheduler._split_scope("tests/browser/test_widgets.py::test_a") == "tests/browser"


@pytest.mark.parametrize("content", [b"a", gzip.compress(b"b"), b"c"])
def test_bytes_are_called_by_their_argument_in_a_tests_name(content, request):
    assert re.fullmatch(r".*\[content\d\]", request.node.name)
