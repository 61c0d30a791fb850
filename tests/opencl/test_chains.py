"""Two chains come right on every device, in one queue or two, and their timeline is that of their events."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import opencl
from course_lib.opencl import chains
from course_lib.opencl.session import Session


@pytest.mark.parametrize(("queues", "out_of_order"), [(1, False), (1, True), (2, False)])
def test_both_chains_come_to_four_times_their_numbers(device, queues, out_of_order):
    sessions = [Session(device.handle, out_of_order=out_of_order) for _ in range(queues)]
    ends, events = opencl.two_chains(sessions[0], sessions[-1], 40)
    assert opencl.right(ends)
    for end in ends:
        np.testing.assert_array_equal(end, 4 * np.arange(64))
    a1, a2, b1, b2 = (bar["start"] for bar in opencl.timeline(events))
    assert a1 < a2
    assert b1 < b2


def test_nothing_is_waited_for_before_all_four_are_launched():
    """A copy to the host blocks; one of A's before B's launches would let no queue run them side by side."""
    done = []

    def session(name):
        return SimpleNamespace(
            kernel=lambda kernel: kernel, to_device=lambda x: x, empty=lambda n: n,
            launch=lambda *given, after=(): done.append((name, "launch", len(after))) or len(done),
            flush=lambda: done.append((name, "flush")), to_host=lambda x, after: done.append((name, "copy")),
        )  # fmt: skip

    opencl.two_chains(session("a"), session("b"), 1)
    both = [[(name, "launch", 0), (name, "launch", 1), (name, "flush")] for name in "ab"]
    assert done == [*both[0], *both[1], ("a", "copy"), ("b", "copy")]
    done.clear()
    opencl.two_chains(session("a"), session("b"), 1, say_so=False)
    assert [each[2] for each in done if each[1] == "launch"] == [0, 0, 0, 0]


def test_a_timeline_begins_when_the_first_was_queued():
    events = [SimpleNamespace(profile=SimpleNamespace(queued=t, start=t + 10, end=t + 30)) for t in (5, 6, 7, 8)]
    line = opencl.timeline(events)
    assert [bar["label"] for bar in line] == list(chains.NAMES)
    assert [bar["lane"] for bar in line] == ["A", "A", "B", "B"]
    assert line[0]["queued"] == 0
    assert line[3]["start"] == pytest.approx(13e-9)
    assert line[3]["end"] == pytest.approx(33e-9)


def test_wrong_numbers_are_not_right():
    assert not opencl.right([4 * np.arange(64), np.arange(64)])
