"""Advice of a report: what the machine found that does no harm, and what costs."""

import pytest

from course_lib import simt
from course_lib.simt.hazards import IMPORTANCE, by_importance
from course_lib.simt.machine import HazardFound, Machine


def machine_that_found(**options):
    machine = Machine((1, 1, 1), (32, 1, 1), steps=100, **options)
    machine.enter(None)
    return machine


def test_advice_of_the_machine_stops_no_run_and_stands_beside_a_hazard_of_the_same_place():
    machine = machine_that_found(on_error="raise")
    machine.found("race", 3, "two threads did.", "Do not.", array="a", severity="advice")
    machine.found("race", 3, "two threads did.", "Do not.", array="a", severity="advice", count=2)
    with pytest.raises(HazardFound, match="line 3"):
        machine.found("race", 3, "two threads did.", "Do not.", array="a")
    assert [(h.severity, h.count) for h in machine.hazards.values()] == [("advice", 3)]


def test_every_kind_has_its_place_in_the_order():
    found = [simt.Hazard(kind, 1, "m.", "f.") for kind in reversed(IMPORTANCE)]
    assert [h.kind for h in by_importance(found)] == list(IMPORTANCE)
    assert {"same value", "early return", "unwritten memory", "race"} <= set(IMPORTANCE)
