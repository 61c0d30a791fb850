"""NVIDIA's numba-cuda compiles what runs here, and refuses what is refused: constructs, words, and the whole corpus.

The kernels are compiled for real, in a process of its own (`by_numba_cuda`); no card is needed. What was compiled once
is kept in `by_numba_cuda.json`. What differs is listed, with its reason.
"""

import json
import os
import subprocess
import sys

import pytest

import tests.simt.broken  # noqa: F401  its kernels enter themselves
from tests.gates.compiler import missing
from tests.setup.project import ROOT
from tests.simt import test_every_word, test_vocabulary, test_words_numbers, test_words_taken_apart
from tests.simt.corpus import BROKEN

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "it is there")]

REFUSED = {*test_vocabulary.STATEMENTS, *test_vocabulary.BLOCKS, *test_words_taken_apart.REFUSED}
ONLY_NUMBA = {
    "a step of 0": ("x = a[::0][0]", "for k in range(0, 4, 0):\n            x = k"),
    "a text that the compiler knows": ("if 'text':\n            x = 2", "x = len('text')", "x = 't' in 'text'"),
    "a name that is not used again": ("x = (y := 3)",),
    "a comparison that the compiler decides": (
        "match x:\n            case 1:\n                pass", "x = isinstance(i, int)", "x = not None", "x = x is x",
    ),
    "a value or none": ("x = x if i else None",),
    "an argument too many, of a function inside": ("x = (lambda v: v)(1, 2)",),
    "an exception without a class, or of a constant's name": ("raise", "raise ValueError(x)"),
    "lengths that do not fit, which on the card nobody checks": ("x = a.reshape(3, 2)[0, 0]", "a[:] = (1, 2)"),
}  # fmt: skip
"""What numba-cuda compiles, and the executor refuses."""

ONLY_HERE = {
    "cuda.selp": "of two types it gives NVVM what that cannot read",
    "operator.itruediv": "of whole numbers it gives NVVM what that cannot read",
}
"""What the executor runs, and numba-cuda does not compile."""


NOT_COMPILED = {
    n for n, c in BROKEN.items()
    if c.refused and c.refused.mark and c.refused.error != "TypeError"
    and "steps" not in c.options and "kilobytes" not in n and n != "sum_that_was_never_begun"
}  # fmt: skip
"""Kernels of the corpus whose text is refused; a TypeError is one of their arguments."""

ERRORS = {
    "TypingError", "LoweringError", "UnsupportedError", "UnsupportedBytecodeError", "ConstantInferenceError",
    "NumbaValueError", "NumbaNotImplementedError", "NumbaRuntimeError", "TypeError", "AttributeError", "ImportError",
}  # fmt: skip
"""What numba-cuda says where it refuses a text."""

UNCHECKED = {"copies_into_global_memory"}
"""numba-cuda compiles it, and the card stops: memory spaces are no types."""


@pytest.fixture(scope="module")
def said():
    """Return what numba-cuda says of each kernel, and how much of it was kept."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.simt.by_numba_cuda"], cwd=ROOT, env=os.environ | {"COURSE_DEVICE": "simt"},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture
def compiled(said):
    """Return {name: error, or ""} of each kernel."""
    return said["answers"]


def test_every_construct_and_word_was_tried(compiled):
    words = {*test_every_word.WORDS, *test_every_word.CONSTRUCTS, *test_words_numbers.OF_TWO}
    words |= {f"np.{name}" for name in (*test_every_word.OF_ONE, *test_every_word.OF_TWO)}
    words |= {*test_words_taken_apart.VALUES}
    tried = {name for name in compiled if not name.startswith("kernel ")}
    assert tried == words | REFUSED | {*test_vocabulary.ALLOWED, *test_vocabulary.WRITES}


def test_numba_compiles_what_has_a_value(compiled):
    refused = REFUSED | {f"kernel {name}" for name in NOT_COMPILED}
    failed = {name: error for name, error in compiled.items() if error and name not in refused}
    assert set(failed) == set(ONLY_HERE), failed


def test_numba_refuses_what_is_refused(compiled):
    assert {name for name in REFUSED if not compiled[name]} == {n for names in ONLY_NUMBA.values() for n in names}


def test_numba_refuses_the_kernels_of_the_corpus_that_are_refused(compiled):
    said = {name: compiled[f"kernel {name}"] for name in NOT_COMPILED}
    assert {name for name, error in said.items() if not error} == UNCHECKED
    assert set(said.values()) - {""} <= ERRORS
    assert sum(name.startswith("kernel ") for name in compiled) > 280


def test_what_numba_says_is_kept(said):
    if not said["usable"]:
        pytest.skip("by_numba_cuda.json was written with another Python or compiler; all was compiled")
    assert (said["missing"], said["more"]) == (0, 0), "python tools/kept_answers.py"
