"""What a compiler said, kept in a file: what was compiled once of the same parts is not compiled again.

A key is made of all that an answer is made from: a kernel's text with everything that it calls, the types of its
arguments, the card, the compiler. What changes has another key, and is compiled. Of the kept answers some are compiled
all the same, others in each week, and must come out equal.

`python tools/kept_answers.py` writes the files anew, `--anew` from nothing.
"""

import hashlib
import json
import os
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version

COMPILERS = "numba", "llvmlite", "numba-cuda", "nvidia-nvvm", "nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm"
"""Packages that an answer depends on."""

COMPILED_AGAIN = 20
"""One kept answer in so many is compiled again: another one each week."""

ALL = "COURSE_KEPT"
"""Environment variable: "none" has everything compiled again."""


def toolchain():
    """Return what all answers depend on, where a compiler is: the versions of Python and of its packages."""
    return [f"Python {sys.version_info[0]}.{sys.version_info[1]}", *(f"{name} {_version(name)}" for name in COMPILERS)]


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def digest(*parts):
    """Return 16 hexadecimal digits of texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


class Changed(AssertionError):
    """A kept answer is not what the compiler says now of the same parts."""


class Kept:
    """The answers in a file, for this toolchain; none where it was written by another one.

    Attributes
    ----------
    usable : bool
        Whether the file is of this toolchain.
    answers : dict of str to object
        By key: what the file has, and what was compiled since.
    asked, missing : set of str
        Keys that were asked for, and those that the file lacks.
    """

    def __init__(self, file):
        content = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"toolchain": [], "answers": {}}
        self.file, self.usable = file, content["toolchain"] == toolchain()
        self.answers = content["answers"] if self.usable else {}
        self.asked, self.missing, self._sure = set(), set(), set()

    def answer(self, key, compile_it):
        """Return the kept answer for a key, or compile_it(). Changed: one that was compiled again is another."""
        known = self.answers.get(key)
        if known is not None and (key in self._sure or not compiled_again(key)):
            self.asked.add(key)
            return known
        said = json.loads(json.dumps(compile_it()))
        if known not in (None, said):
            raise Changed(f"kept in {self.file.name} as {key}:\n{known}\nthe compiler says now:\n{said}")
        if known is None:
            self.missing.add(key)
        self.asked.add(key)
        self._sure.add(key)
        self.answers[key] = said
        return said

    def superfluous(self):
        """Return the keys of answers that nothing asked for."""
        return self.answers.keys() - self.asked

    def write(self):
        """Write the answers that were asked for, a line each."""
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(self.answers[key])}" for key in sorted(self.asked))
        text = f'{{"toolchain": {json.dumps(toolchain())},\n"answers": {{\n{lines}\n}}}}\n'
        self.file.write_text(text, encoding="utf-8")


def compiled_again(key):
    """Return whether a kept answer with this key is compiled again: this week's, or all with COURSE_KEPT=none."""
    return os.environ.get(ALL) == "none" or of_this_week(key)


def of_this_week(key):
    """Return whether a key is one of those that this week's runs compile again."""
    return (int(key, 16) + date.today().isocalendar().week) % COMPILED_AGAIN == 0
