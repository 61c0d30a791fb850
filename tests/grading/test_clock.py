"""After its first signal an answer has the grace of the processor's time to end, also on a machine that is busy.

Each case is a process of its own: what goes wrong here ends it.
"""

import subprocess
import sys
import textwrap

import pytest

from course_lib.box.worker import LATE

RUN = """
import os, signal, sys, time
from course_lib.box.worker import TimeUp, _Clock
clock = _Clock(grace=0.5)
clock.start(soft=0.1, wall=0.4)  # four seconds on the clock for each of the processor
try:
    while True:
        pass
except TimeUp:
    {then}
    clock.stop()
"""


def ended_with(then):
    source = RUN.format(then=textwrap.indent(then, "    ").strip())
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return done.returncode


@pytest.mark.parametrize(
    "then",
    [
        "pass",
        "time.sleep(0.6)",  # what it is for an answer when others have the processor
        "os.kill(os.getpid(), signal.SIGALRM)",
        "os.kill(os.getpid(), signal.SIGPROF)",  # both timers may run out in the same moment
    ],
    ids=["at once", "others have the processor", "the other alarm", "the other timer"],
)
def test_an_answer_that_ends_in_its_grace_goes_on(then):
    assert ended_with(then) == 0


@pytest.mark.parametrize("then", ["while True: pass", "while True: time.sleep(9)"], ids=["works", "sleeps"])
def test_an_answer_that_hears_nothing_is_ended(then):
    assert ended_with(then) == LATE
