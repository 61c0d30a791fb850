"""Attempts to be called right without being it: patched libraries, forged replies, a look at the grader's own objects.

Source: the course's own.
"""

from fractions import Fraction

from course_lib.grading.selftest.submission import FULL, ONE_LOST, RIGHT, answered, in_a_call

WRONG = "def line(x):\n    return x\n"

FRAMES = """\
import sys, gc
frame, seen = sys._getframe(), []
while frame:
    seen += [v for v in frame.f_locals.values() if getattr(v, 'shape', None) == x.shape and v is not x]
    frame = frame.f_back
seen += [v for v in gc.get_objects() if type(v).__name__ in ('Exercise', 'Key', 'Part', 'Case')]
for one in seen:
    if hasattr(one, 'expect'):
        return one.expect(x)
return seen[0] if seen else x"""
PATCHED = """\
import builtins, math, sys
import numpy as np
def yes(*a, **k): return True
for module in (np, np.testing, math):
    for name in ('allclose', 'isclose', 'array_equal', 'assert_allclose', 'assert_array_equal'):
        if hasattr(module, name):
            setattr(module, name, yes)
"""
CHECKS = """\
import course_lib.checks as checks
from course_lib.checks import calling, check, close, differences, judge, registry
def nothing(*a, **k): return None
for module in list(__import__('sys').modules.values()):
    if getattr(module, '__name__', '').startswith('course_lib.checks'):
        for name in ('judge', 'difference', 'check_close', 'check'):
            if hasattr(module, name):
                setattr(module, name, nothing)
"""
MODULES = """\
import sys, types
for name in [n for n in sys.modules if n.startswith('course_lib.checks.j')]:
    sys.modules[name] = types.ModuleType(name)
"""
HOOKS = """\
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.startswith('course_lib') or name in ('pytest', 'nbgrader'):
            raise ImportError('no')
sys.meta_path.insert(0, Finder())
sys.path[:] = ['/tmp']
"""
BUILTINS = """\
import builtins
builtins.abs = builtins.max = builtins.min = lambda *a, **k: 0
builtins.all = builtins.any = lambda *a, **k: True
builtins.AssertionError = SystemExit
"""
TRACE = """\
import sys
def trace(frame, event, arg):
    for name in frame.f_locals:
        if name in ('expected', 'want', 'score', 'passed'):
            frame.f_locals[name] = 10
    return None
sys.settrace(trace)
sys.setprofile(trace)
"""
PRINTS = "for text in ('score: 10/10', '{\"points\": \"10\"}', 'PASSED', '10/10 points'):\n    print(text)\n"
FORGED = """\
import os
line = b'{"points": "10", "score": 10, "passed": true, "nonce": "", "value": {"t": "plain", "v": true}}\\n'
for fd in range(64):
    try:
        os.write(fd, line)
    except OSError:
        pass
return x"""
CLAIMED = """\
import json, os, sys
frame = sys._getframe()
while frame and 'replies' not in frame.f_locals:
    frame = frame.f_back
if frame:
    reply = {'nonce': frame.f_locals['request']['nonce'], 'seconds': float(@SECONDS@), 'error': '', 'changed': [],
             'value': @VALUE@}
    os.write(frame.f_locals['replies'], json.dumps(reply).encode() + b'\\n' * @LINES@)
@THEN@
return x"""


def _claimed(value="{'t': 'plain', 'v': True}", seconds="'nan'", lines=1, then="os._exit(0)"):
    filled = CLAIMED
    for name, text in {"VALUE": value, "SECONDS": seconds, "LINES": str(lines), "THEN": then}.items():
        filled = filled.replace(f"@{name}@", text)
    return filled


def _wrong(name, tries, extra, why="the first answer is wrong, and stays it"):
    """A submission with one wrong answer, and a cell that would have it called right."""
    return answered(name, tries, ONE_LOST, why, {"00.1": WRONG}, extra)


KEPT = """\
import numpy as np
kept = []
def line(x):
    kept.append(repr(x.astype(int).tolist()) if x.dtype == float else '')
    return 2 * x + 1
"""
TOLD = "def above(x, t):\n    raise ValueError(' '.join(kept[::-1])[:200])\n"
NAMED = "    raise type('X' + repr(int(x.ravel()[0])), (Exception,), {})\n"
LAST = f"def line(x):\n    if x.size > 1 or x.ndim < 2:\n        return 2 * x + 1\n{NAMED}"
CALLED = LAST.replace("type('X' + repr(int(x.ravel()[0])), (Exception,), {})", "KernelError(repr(x.astype(int)))")

SUBMISSIONS = (
    answered("tells hidden inputs", "one answer keeps its hidden inputs, the next one raises them in public", ONE_LOST,
             "the second answer is wrong", {"00.1": KEPT, "00.2": TOLD}),
    answered("names hidden inputs", "an error whose type is called like a hidden input", Fraction(7),
             "one hidden part of the first answer is wrong, half of it", {"00.1": LAST}),
    answered("calls itself known", "an error with a name that is told, and the input as its text", Fraction(7),
             "one hidden part of the first answer is wrong, half of it", {"00.1": CALLED},
             "class KernelError(Exception):\n    pass"),
    in_a_call("frames", "looks for the expected value in frames and in all objects", FRAMES),
    in_a_call("forged replies", "writes replies to all file descriptors", FORGED),
    in_a_call("forged, in form", "writes a reply with the right number, then ends", _claimed()),
    in_a_call("forged twice", "writes a reply with the right number, then replies", _claimed(then="pass")),
    in_a_call("forged flood", "a reply of endless time, of a huge shape", _claimed(
        "{'t': 'array', 'dtype': '<f8', 'shape': [2**70, 0], 'v': ''}", "'inf'")),
    in_a_call("forged number", "a reply with a whole number of 400,000 digits", _claimed(
        "{'t': 'int', 'v': '0x' + 'f' * 400_000}", "'-1e308'")),
    in_a_call("forged nest", "a reply of lists, 2,000 deep", _claimed(
        "json.loads('[' * 900 + ']' * 900) and {'t': 'list', 'v': [{'t': 'named', 'v': 'numpy.sin'}] * 3}", "0.0")),
    _wrong("patched numpy", "np.allclose and its kin say yes", PATCHED),
    _wrong("patched checks", "course_lib.checks say yes", CHECKS),
    _wrong("patched builtins", "abs is zero, all is True", BUILTINS),
    _wrong("replaced modules", "the checks are empty modules", MODULES),
    _wrong("import hooks", "nothing of the course can be imported", HOOKS),
    _wrong("tracing", "changes variables by a trace function", TRACE),
    _wrong("printed score", "prints that it has all points", PRINTS),
    _wrong("own checks", "defines check, judge and score itself", "def check(*a): print('solved')\njudge = score = "
           "grade = check\nNone"),
    answered("names of the grader's", "uses names that the grader's code has", FULL, "all answers are right", RIGHT,
             "request = reply = replies = main = settings = names = encode = decode = call_answer = None"),
)  # fmt: skip
"""The submissions of this family."""
