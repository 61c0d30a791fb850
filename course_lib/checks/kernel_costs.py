"""What a kernel's launch cost, by the names that budgets of exercises use, and what to do where it is too much.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory"; the course's own.
"""

from course_lib.simt.gather import where
from course_lib.simt.hazards import Hazard

BY_REQUEST = (
    "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
    "shared_load_requests", "shared_store_requests", "atomic_requests", "barriers", "divergent_branches",
)  # fmt: skip
"""Counters of the executor under their own names: requests, barriers and branches count once a warp, sectors are 32
bytes. A divergent branch is one at which a warp went both ways."""

ADVICE = {
    "float64": ("float64_operations",),
    "uncoalesced": ("global_load_sectors", "global_store_sectors"),
    "bank conflicts": ("bank_conflicts",),
}
"""Kind of the executor's advice -> the counters that it brings down."""


def costs_of(report, parameters):
    """Return {counter: whole number} of a launch.

    Parameters
    ----------
    report : simt.Report
    parameters : sequence of str
        The kernel's: what lies in an array of such a name is counted as global.

    Returns
    -------
    dict
        Those of `BY_REQUEST`, and

        - global_loads, global_stores, shared_loads, shared_stores: elements, one for each thread that reads or writes
          one; an atomic operation is one of each. This is what the lectures count.
        - bank_conflicts: turns of shared memory beyond the first that an access needs, loads and stores together.
        - atomic_rounds: turns of atomic operations; lanes of a warp that mean the same element take one each.
        - float64_operations: arithmetic in float64, one for each thread.

    No errors. Source: the course's own.
    """
    costs = {name: getattr(report.total, name) for name in BY_REQUEST}
    costs["bank_conflicts"] = report.total.shared_load_conflicts + report.total.shared_store_conflicts
    costs["atomic_rounds"] = report.total.atomic_requests + report.total.atomic_serialised
    costs["float64_operations"] = report.total.float64_flops
    for space in ("global", "shared"):
        uses = [u for u in report.arrays.values() if _space(u, parameters) == space]
        costs[f"{space}_loads"] = sum(u.loads for u in uses)
        costs[f"{space}_stores"] = sum(u.stores for u in uses)
    return costs


def more_costs_of(reports):
    """Return {counter: whole number} of several launches, of what no budget asks for but a table shows.

    Floating-point operations, requests to constant memory, and bytes of the sectors that global accesses move. No
    errors. Source: the course's own.
    """
    totals = [report.total for report in reports]
    return {
        "flops": sum(t.flops for t in totals),
        "constant_load_requests": sum(t.constant_load_requests for t in totals),
        "moved_bytes": sum(32 * (t.global_load_sectors + t.global_store_sectors) for t in totals),
    }


def advice_of(report):
    """Return {counter: the executor's advice where it is too high}, with line and fix. No errors.

    Source: the course's own.
    """
    return {counter: _said(advice) for counter, advice in causes_of(report).items()}


def causes_of(report):
    """Return {counter: `Hazard` that explains why it is high}; "loads" and "stores" where elements are touched again.

    No errors. Source: the course's own.
    """
    found = {}
    most = max((u for u in report.arrays.values() if u.space == "global"), key=lambda u: u.loads, default=None)
    if most is not None and most.reuse > 1:
        found["global_loads"] = Hazard(
            "loads", 0, f"An element of {most.name} is loaded {most.reuse:.1f} times on average.",
            "A variable keeps what a thread has loaded once, shared memory what a block has.",
            most.loads, most.name, {"way": "load"}, "advice",
        )  # fmt: skip
    most = max((u for u in report.arrays.values() if u.space == "global"), key=lambda u: u.stores, default=None)
    if most is not None and most.stores > most.distinct_stored > 0:
        times = f"{most.stores / most.distinct_stored:.1f} times"
        found["global_stores"] = Hazard(
            "stores", 0, f"An element of {most.name} is stored {times} on average.",
            "Keep the number in a variable of the thread until it is complete, and store it once.",
            most.stores, most.name, {"way": "store"}, "advice",
        )  # fmt: skip
    for advice in report.advice:
        for counter in ADVICE.get(advice.kind, ()):
            # a name that is of loads is not explained by stores
            if "sectors" not in counter or f"the {counter.split('_')[1]}s of" in advice.message:
                found.setdefault(counter, advice)
    if report.total.shared_load_requests:
        found["shared_load_requests"] = _read_again(report)
    doubles = [use.name for use in report.arrays.values() if "float64" in use.dtype]
    if report.total.float64_flops and doubles:  # where no array is one, the executor says which numbers are
        found.setdefault("float64_operations", _in_doubles(report, doubles[0]))
    if report.total.divergent_branches:
        found["divergent_branches"] = _divided(report)
    if report.total.atomic_serialised:
        found["atomic_rounds"] = _queue(report)
    return found


def _said(advice):
    place = where(advice) if advice.line else ""
    return f"{place and place[0].upper() + place[1:] + ': '}{advice.message} {advice.fix}"


def _read_again(report):
    """Return where most of the requests to shared memory are made, and what saves some, as a `Hazard`."""
    line = max(report.lines, key=lambda line: line.counters.shared_load_requests)
    most = line.counters.shared_load_requests
    return Hazard(
        "read again", line.number, f"most of the requests to shared memory are made here, {most:,}.",
        "Keep a number that a thread needs again in a variable, read outside of the inner loop.", most,
        severity="advice", function=line.function,
    )  # fmt: skip


def _in_doubles(report, name):
    """Return where arithmetic is float64 for the sake of an array, as a `Hazard`."""
    line = max(report.lines, key=lambda line: line.counters.float64_flops)
    return Hazard(
        "float64 array", line.number, f"arithmetic is float64 here, since {name} is an array of float64.",
        "Give the array float32.", line.counters.float64_flops, severity="advice", function=line.function,
    )  # fmt: skip


def _divided(report):
    """Return what to do about warps that go both ways, in the line where most of them do, as a `Hazard`."""
    line = max(report.lines, key=lambda line: line.counters.divergent_branches)
    return Hazard(
        "divided warp", line.number,
        f"threads of one warp go both ways at {line.text.strip().rstrip(':')}, and the warp pays for both sides.",
        "Deal out the work so that the 32 threads of a warp take the same side.", line.counters.divergent_branches,
        severity="advice", function=line.function,
    )  # fmt: skip


def _queue(report):
    """Return what to do about lanes that queue for one element, in the line where most of them do, as a `Hazard`."""
    line = max(report.lines, key=lambda line: line.counters.atomic_serialised)
    return Hazard(
        "queue", line.number, "lanes of a warp do an atomic operation on the same element, one after the other.",
        "Add up within the warp first, and let one lane do it.", line.counters.atomic_serialised,
        severity="advice", function=line.function,
    )  # fmt: skip


def _space(use, parameters):
    """Return where an array lies; the use of a shared array that is called like a parameter is merged with that."""
    return "global" if use.name in parameters or use.space == "global" else use.space
