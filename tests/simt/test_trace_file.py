"""A trace in a file is the same trace, and a damaged or foreign file is told from one, and never run."""

import copy
import json

import numpy as np
import pytest

from course_lib import gpu

from . import traced


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.fixture(scope="module")
def trace():
    x = numbers(64)
    x[3], x[4], x[5] = np.nan, np.inf, 0.1
    return gpu.trace(traced.racy[1, 64], x, numbers(64), warp=None).watch("t")


@pytest.fixture
def saved(trace, tmp_path):
    path = tmp_path / "racy.json"
    trace.save(path)
    return path


def same(one, other):
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.ma.getmaskarray(one), np.ma.getmaskarray(other))
        assert one.dtype == other.dtype
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
    elif isinstance(one, np.floating) and np.isnan(one):
        assert np.isnan(other)
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            same(getattr(one, name), getattr(other, name))
    else:
        assert one == other


def test_what_is_loaded_is_what_was_saved(trace, saved):
    found = gpu.load_trace(saved)
    same(found.steps, trace.steps)
    assert (found.watched, found.grid, found.block, found.warps) == (("t",), trace.grid, trace.block, trace.warps)
    assert found._repr_mimebundle_() == trace._repr_mimebundle_()


def test_it_is_plain_json_without_numbers_that_json_has_not(saved):
    def refuse(word):
        raise AssertionError(word)

    json.loads(saved.read_text(), parse_constant=refuse)


def test_unusual_numbers_come_back(saved):
    values = gpu.load_trace(saved).steps[2].accesses[0].values
    assert np.isnan(values[3])
    assert (values[4], values[5]) == (np.inf, np.float32(0.1))
    assert values[5].dtype == np.float32


@pytest.mark.parametrize(("text", "message"), [
    ("", "is no trace, or only a part of one"),
    ("{", "is no trace, or only a part of one"),
    ("[" * 100_000, "is no trace, or only a part of one"),
    ('{"format": "course-trace", "version": NaN}', "NaN is no number of JSON"),
    ("[1, 2]", "is no trace of a kernel"),
    ('{"cells": [], "nbformat": 4}', "is no trace of a kernel"),
    ('{"format": "course-trace", "version": 2}', "is a trace of version 2; this course reads version 1"),
    ('{"format": "course-trace", "version": 1}', "is damaged: kernel is missing"),
])  # fmt: skip
def test_a_foreign_file_is_told_from_a_trace(tmp_path, text, message):
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        gpu.load_trace(path)
    assert str(caught.value).startswith("file.json")


def test_bytes_that_are_no_text_and_no_file(tmp_path):
    (tmp_path / "a.json").write_bytes(b"\x80\x04\x95pickle")
    with pytest.raises(ValueError, match="is no trace"):
        gpu.load_trace(tmp_path / "a.json")
    with pytest.raises(FileNotFoundError):
        gpu.load_trace(tmp_path / "b.json")


def at(document, path):
    *way, last = path
    for key in way:
        document = document[key]
    return document, last


DAMAGE = {
    "a step without a line": (("steps", 1, "line"), None, "step 1: it has no line"),
    "too few lanes": (("steps", 2, "state"), "aaaa", "step 2: it has 4 lanes, not 64"),
    "lanes of no state": (("steps", 2, "state"), "z" * 64, "unknown states"),
    "a kind that is none": (("steps", 0, "kind"), "<script>", "is no kind of step"),
    "no such call": (("steps", 0, "frame"), 7, "there is no call 7"),
    "no such array": (("steps", 2, "touch", 0, "a"), 99, "there is no such array"),
    "an element outside": (("steps", 2, "touch", 0, "at"), {"run": [60, 1, 64]}, "lies outside of x"),
    "a run without an end": (("steps", 2, "touch", 0, "at"), {"run": [0, 0, 10**12]}, "is no row of numbers"),
    "a lane that is none": (("steps", 2, "touch", 0, "who"), {"run": [1, 1, 64]}, "there is no such lane"),
    "values of text": (("steps", 2, "touch", 0, "v"), ["a"] * 64, "is no row of numbers"),
    "too few values": (("steps", 2, "touch", 0, "v"), [1.0], "values are missing"),
    "a negative thread": (("steps", 2, "shared", 0, "by"), {"run": [-1, 1, 64]}, "there is no such thread"),
    "a dtype that is none": (("arrays", 0, "dtype"), "O!", "is damaged"),
    "a finding of a lane that is none": (("steps", 3, "found", 0, "lane"), 64, "there is no such lane"),
    "a finding without words": (("steps", 3, "found", 0, "message"), 3, "a finding has no message"),
    "warps that do not follow": (("warps",), [0, 2], "warps do not follow each other"),
    "more threads than lanes": (("threads",), 65, "65 threads are not those of 2 warps"),
    "no text of the kernel": (("functions",), {}, "the kernel's text is missing"),
    "no steps": (("steps",), [], "it has no steps"),
    "a variable without values": (("steps", 1, "set"), {"t": {"t": "int64", "v": [1]}}, "too few values, or too many"),
    "a watched name that is none": (("watched",), ["nobody"], "no variable of this trace is called 'nobody'"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_found_and_named(trace, saved, name):
    path, value, message = DAMAGE[name]
    document = json.loads(saved.read_text())
    owner, key = at(document, path)
    owner[key] = value
    saved.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="damaged") as caught:
        gpu.load_trace(saved)
    assert message in str(caught.value)


def test_whatever_is_left_out_or_put_in_gives_a_trace_or_a_clear_error(trace, saved):
    rng = np.random.default_rng(0)
    whole = json.loads(saved.read_text())
    errors = 0
    for _ in range(150):
        document = copy.deepcopy(whole)
        node = document
        while True:  # walk down to some place, and damage it
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = keys[rng.integers(len(keys))]
            if isinstance(node[key], dict | list) and len(node[key]) and rng.random() < 0.8:
                node = node[key]
                continue
            wrong = ([], {}, -1, 10**9, "x", None, 0.5, True)
            node[key] = wrong[rng.integers(len(wrong))]
            break
        saved.write_text(json.dumps(document))
        try:
            assert "<figure" in gpu.load_trace(saved)._repr_mimebundle_()["text/html"]
        except ValueError as error:
            errors += str(error).startswith("racy.json")
    assert errors > 75


def test_text_from_a_file_cannot_leave_its_place_in_the_page(saved):
    document = json.loads(saved.read_text())
    hostile = "</script><script>window.broken = 1</script>"
    document["functions"]["racy"][str(document["steps"][0]["line"])] = hostile
    document["steps"][3]["found"][0]["message"] = hostile
    saved.write_text(json.dumps(document))
    html = gpu.load_trace(saved)._repr_mimebundle_()["text/html"]
    assert hostile not in html
    assert html.count("<script>") == html.count("</script>") == 1
