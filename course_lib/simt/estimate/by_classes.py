"""A predicted time that needs no compiler and is the same on every machine, for marks: from counts and classes.

`by_source` guesses machine instructions from all operations of the source alike. Here operations have classes
(`classes`): a division by a number of the launch costs forty instructions, an index that loops which are written out
make known costs none. Costs are fitted to instructions that a card counted (`class_costs`), and the rest is the model
that all predictions share, with the card's measured rates. For the seven kernels of the convolution project that an
H200 has timed (results/project.h200.json) the order is the card's on both layers, and the times are 1.0 to 2.6 times
too short, 1.7 times typically: a card runs into what no count of the source shows, such as full instruction caches and
warps that end early. With the machine code of these kernels `predict_launch` is closer, 1.0 to 2.0 times too short,
and yet has one pair the wrong way round.

Counts come from a launch of which every block was walked. A few blocks are walked again, one by one, for what the L1
cache keeps; where these ask for more or less than the others do, no cache is assumed. `times` as many such launches
are one large one, so that no kernel can work differently for a size that is only predicted.

Source: the course's own; Hong and Kim, "An Analytical Model for a GPU Architecture" (2009) for the model.
"""

import math
from dataclasses import replace

import numpy as np

from course_lib.simt.estimate.by_source import LATENCY, instructions
from course_lib.simt.estimate.class_costs import instructions_of, registers_of
from course_lib.simt.estimate.classes import classes_of
from course_lib.simt.estimate.devices import KIB, find_device
from course_lib.simt.estimate.facts import facts_of
from course_lib.simt.estimate.launch import UNIFIED
from course_lib.simt.estimate.model import time_of
from course_lib.simt.estimate.occupancy import occupancy
from course_lib.simt.estimate.rates import rates_of
from course_lib.simt.estimate.sample import Watch
from course_lib.simt.run import run

LEAST = 0.2
"""Machine instructions of an operation of the source, at the least: work in a form that no class has is not free."""

ALIKE = 0.8, 1.25
"""Between these shares of the others' requests are those of the blocks that are walked again."""

AGAIN = 2
"""How many blocks are walked again; each is a walk of its own."""


def time_by_classes(source, report, arguments, device, *, times, grow, seed, steps):
    """Return the `Prediction` of `times` as many blocks as a launch has.

    Parameters
    ----------
    source : simt.Source
    report : Report
        Of the whole launch.
    arguments : sequence
        As for that launch; what the blocks that are walked again write is written to them.
    device : str or Device
        A card that was measured.
    times : float
    grow : collection of str
        Parameters whose arrays are `times` as large too.
    seed : int
        Which blocks are walked again follows from it.
    steps : int
        The most statements, as `simt.run` counts them.

    Raises
    ------
    ValueError
        If the card was not measured, or cannot run such a block.

    Source: the course's own.
    """
    d = find_device(device)
    if rates_of(d) is None:
        raise ValueError(f"the rates of the {d.name} are not measured; python -m tools.microbench measures a card.")
    blocks = math.prod(report.grid)
    registers = registers_of(report)
    held = occupancy(d, math.prod(report.block), report.shared_bytes, registers).blocks
    watch = Watch(max(0, UNIFIED[d.compute_capability] * KIB // held - report.shared_bytes))
    chosen = np.random.default_rng(seed).choice(blocks, min(AGAIN, blocks), replace=False)
    again = run(
        source, report.grid, report.block, tuple(arguments), on_error="collect", races=False,
        only=sorted(map(int, chosen)), watch=watch, steps=steps,
    )  # fmt: skip
    watch.begin()
    facts = _facts(source, report, facts_of(again, watch), blocks)
    sizes = {name: [size * (times if name in grow else 1), *rest] for name, (size, *rest) in facts.arrays.items()}
    return time_of(replace(facts, registers=registers, blocks=round(blocks * times), arrays=sizes), d)


def _facts(source, report, seen, blocks):
    """Return `Facts` with the counts of a whole launch; `seen` are those of the blocks that were walked again."""
    t, per = report.total, 1 / blocks
    load, kept = _way(t.global_load_requests * per, t.global_load_sectors * per, seen.load)
    store, _ = _way(t.global_store_requests * per, t.global_store_sectors * per, seen.store)
    grown = {way: new["sectors"] / old["sectors"] if old["sectors"] else 0 for way, new, old in
             (("load", load, seen.load), ("store", store, seen.store))}  # fmt: skip
    missing = load["missed"] / seen.load["missed"] if seen.load["missed"] else 0
    arrays = {name: [size, missed * (grown["load"] if kept else missing), stored * grown["store"]]
              for name, (size, missed, stored) in seen.arrays.items()}  # fmt: skip
    warps = blocks * seen.warps
    classes = classes_of(source, report, warps)
    units = _units(classes, t, warps)
    _, waits = instructions(report, warps)
    return replace(
        seen, load=load, store=store, arrays=arrays,
        shared_requests=(t.shared_load_requests + t.shared_store_requests) * per,
        shared_wavefronts=(t.shared_load_wavefronts + t.shared_store_wavefronts) * per,
        atomics=t.atomic_requests * per, atomic_rounds=t.atomic_serialised * per, barriers=t.barriers / warps,
        shuffles=t.warp_operations / warps, instructions=units, clocks=units["all"] * LATENCY / 2, global_waits=waits,
        shared_waits=t.barriers / warps,
    )  # fmt: skip


def _way(requests, sectors, seen):
    """Return (counts of a way, whether the blocks that were walked again say what they are like)."""
    share = seen["sectors"] / sectors if sectors else 1.0
    if ALIKE[0] <= share <= ALIKE[1]:
        return {name: value / share for name, value in seen.items()}, True
    return {"requests": requests, "sectors": sectors, "lines": sectors, "wavefronts": max(requests, sectors),
            "partial": sectors, "missed": sectors, "distinct": sectors}, False  # fmt: skip


def _units(classes, t, warps):
    """Return the machine instructions of a warp, by unit."""
    number, fma = max(instructions_of(classes), LEAST * t.instructions / warps), classes["fma"]
    return {"all": number, "fma": fma, "integer": max(0.0, number - fma) / 2, "float64": t.float64_flops / 64 / warps}
