"""What compiled turns add to the report: the same counts, marks and races as the walk of these turns.

Source: the course's own (`costs`, `access`). Every access is a request of its own, as it is for a warp with one
active lane; races are looked for access by access, in the order in which they came.
"""

import numpy as np

from course_lib.fast.compile import kernel
from course_lib.simt.races import note_reads, note_writes
from course_lib.simt.traffic import distinct_and_most, global_traffic, shared_traffic


def enter(machine, turns, mask):
    """Enter what some turns of the only lane of a mask did."""
    translation = turns.translation
    lane = machine.lane_of(mask, 0)
    _count(machine, turns, translation.text.stretches)
    for s, site in enumerate(translation.text.sites):
        here = turns.site == s
        cells = turns.cell[here]
        if cells.size:
            if site.way == "store":
                _wrote(machine, site, cells, turns.did[here])
            if machine.counting:
                _cost(machine, site, cells, mask, lane)
    if machine.races:
        for memory in translation.text.memories:
            if memory.shadow is not None and memory.may_change:
                _races(machine, turns, memory, mask, lane)
    machine.last_load = None, None, None, 0


def _count(machine, turns, stretches):
    for times, stretch in zip(turns.times.tolist(), stretches, strict=True):
        for (source, line), counts in stretch.counts.items() if times and machine.counting else ():
            c = machine.counters_of[_label(machine, source)][line]
            c.lanes += times * counts["instructions"]
            for name, n in counts.items():
                setattr(c, name, getattr(c, name) + times * n)


def _label(machine, source):
    """Return what a function is called in the report, where it now is if it was not yet."""
    before = machine.enter(source)
    label = machine.function
    machine.enter(before)
    return label


def _wrote(machine, site, cells, did):
    memory = site.view.memory
    memory.touched = memory.may_change = True
    if not memory.all_written:
        memory.look_for_gaps()
    machine.changes += int(np.count_nonzero(did == 2))


def _cost(machine, site, cells, mask, lane):
    memory, view, n = site.view.memory, site.view, cells.size
    if machine.worked is not None and memory.space != "local":
        machine.note_work(mask)
    function = _label(machine, site.source)
    c = machine.counters_of[function][site.node.lineno]
    c.instructions += n
    c.lanes += n
    if memory.loaded.size:
        marks = memory.loaded if site.way == "load" else memory.stored
        if site.way == "load":
            memory.loads += n
        else:
            memory.stores += n
        if not marks.full:
            marks.enter(cells, 0)
    before, machine.function = machine.function, function
    each = np.arange(n)  # a warp of its own for each access
    lies = (memory.base, memory.part if memory.copies > 1 else 0, memory.dtype.itemsize, memory.pitch)
    if memory.space == "global":
        machine._count_global(c, site.way, global_traffic(each, cells, *lies), view, site.node)
    elif memory.space == "shared":
        lanes = np.full(n, machine.lanes.lane[lane])
        traffic = shared_traffic(each, lanes, cells, *lies)
        machine._count_shared(c, site.way, traffic, memory.dtype.itemsize, view, site.node)
    elif memory.space == "constant":
        requests, distinct, _ = distinct_and_most(each, cells, *lies)
        c.constant_load_requests += requests
        c.constant_load_wavefronts += distinct
    elif site.way == "load":
        c.local_load_requests += n
    else:
        c.local_store_requests += n
    if machine.lanes.first == 0:
        machine.keep_first((function, site.node.lineno, site.node.col_offset, view.name, site.way), view,
                           cells[:1], mask)  # fmt: skip
    machine.function = before


def _races(machine, turns, memory, mask, lane):
    sites = turns.translation.text.sites
    own = np.array([site.view.memory is memory for site in sites])
    here = np.flatnonzero(own[turns.site]) if sites else np.zeros(0, np.int64)
    if not here.size:
        return
    writes = np.array([site.way == "store" for site in sites])
    lines = np.array([site.node.lineno for site in sites])
    site, cells, did = turns.site[here], turns.cell[here], turns.did[here]
    shadow = machine.settled(memory, did[writes[site]])
    number, phase, sync = (v[lane : lane + 1] for v in (machine.number, machine.phase, machine.sync))
    at = 0
    while at < here.size:
        machine.clock += 1
        at, *race = _note(
            at, site, cells, did, writes, lines, number, phase, sync, machine.clock, machine.order, shadow.books,
            machine.block_bits, memory.compared,
        )  # fmt: skip
        if race[0]:
            place = sites[site[at - 1]]
            before, machine.function = machine.function, _label(machine, place.source)
            races, first, other, line, what, real = map(int, race)
            verb = "writes" if place.way == "store" else "reads"
            machine._race(verb, place.view, mask, cells[at - 1 : at], first, other, line, what, races, real, place.node)
            machine.function = before
    machine.clock += here.size


@kernel
def _note(at, site, cells, did, writes, lines, number, phase, sync, clock, order, books, bits, excused):
    """Note accesses from number `at` on, up to the first race; return (the next access, what `note_reads` returns).

    Its machine code has that of `races` in it, and Numba compiles it anew only where this file changes: change both.
    """
    races, first, other, line, what, real = 0, -1, -1, -1, 0, 0
    while at < site.size and races == 0:
        s = site[at]
        if writes[s]:
            races, first, other, line, what, real = note_writes(
                cells[at : at + 1], number, phase, sync, lines[s], clock, order, books, bits, did[at : at + 1], 0
            )
        else:
            races, first, other, line, what, real = note_reads(
                cells[at : at + 1], number, phase, sync, lines[s], clock, order, books, bits, excused
            )
        at += 1
    return at, races, first, other, line, what, real
