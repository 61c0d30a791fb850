"""The pictures that a report offers, as its methods; each is made by a module of its own, loaded when it is asked for.

Source: the course's own.
"""

import math


class Pictures:
    """The part of a `Report` that makes pictures. Source: the course's own."""

    def memory_map(self, line=None, array=None, way=None, *, warp=0):
        """Return a picture of which thread touches which element; see `memory_map.memory_map`."""
        from course_lib.simt.show.memory_map import memory_map

        return memory_map(self, line, array, way, warp=warp)

    def launch_map(self):
        """Return a live picture of grid, block, warp and lane; see `launch_map.launch_map`."""
        from course_lib.simt.show.launch_map import launch_map

        return launch_map(self)

    def access_map(self, line=None, array=None, way=None, *, warp=0):
        """Return a live ruler of one access, with sectors and banks; see `address_ruler.access_map`."""
        from course_lib.simt.show.address_ruler import access_map

        return access_map(self, line, array, way, warp=warp)

    def race_picture(self, hazard=None):
        """Return a live picture of a race, or of a barrier that threads miss; see `race_picture.race_picture`."""
        from course_lib.simt.show.race_picture import race_picture

        return race_picture(self, hazard)

    def occupancy_calculator(self, device=None, registers=32):
        """Return a live picture of what an SM holds of this launch; see `occupancy_calculator`.

        `device` is by default the one of the report's estimates; a compiler decides how many `registers` there are.
        """
        from course_lib.simt.show.occupancy_calculator import occupancy_calculator
        from course_lib.simt.show.wording import device as own

        return occupancy_calculator(device or own(self), math.prod(self.block), registers, self.shared_bytes)

    def schedule(self, **options):
        """Return live timelines of this kernel's warps on one scheduler; see `schedule.schedule`."""
        from course_lib.simt.show.schedule import schedule

        return schedule(self, **options)

    def roofline(self, *others, device=None, **options):
        """Return a live roofline with this launch, and others, as dots; see `roofline_picture.roofline_picture`."""
        from course_lib.simt.show.roofline_picture import roofline_picture
        from course_lib.simt.show.wording import device as own

        return roofline_picture([self, *others], device or own(self), **options)


def offered(report):
    """Return {call: what it shows} of the pictures that a report can make of its launch.

    Source: the course's own. No errors are raised.
    """
    from course_lib.simt.show.race_picture import BARRIERS, RACES, drawable

    calls = {"launch_map()": "who is who, and which lanes are idle"}
    if any(a.space in ("global", "shared") for a in report.accesses):
        calls["memory_map(line, array)"] = "which thread touches what"
        calls["access_map(line, array)"] = "its sectors and banks, to be moved"
    if any(h.kind in RACES + BARRIERS and drawable(h) for h in (*report.hazards, *report.advice)):
        calls["race_picture()"] = "the threads that a barrier is for"
    calls["occupancy_calculator()"] = "what fits into an SM"
    if report.total.global_load_requests:
        calls["schedule()"] = "how warps hide each other's waiting"
    touched = [u for u in report.arrays.values() if u.space == "global" and u.distinct_loaded + u.distinct_stored]
    if report.total.flops and touched:
        calls["roofline()"] = "how far below the roof"
    return calls
