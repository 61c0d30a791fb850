"""How long a launch takes on a card: its demands on each part of an SM, its waits, and a queue.

A customer is a warp, or a block whose warps a barrier has just brought together. It visits the parts of an SM one
after the other and waits between visits for memory. As many customers are on their way as the SM has room for:
few of them leave parts idle (Little's law), many of them queue for the busiest. Mean value analysis gives the rate for
every number in between. No constant in here belongs to a kernel; all are the card's (`rates`) or the architecture's.

Source: Reiser and Lavenberg, "Mean-Value Analysis of Closed Multichain Queuing Networks" (1980); Hong and Kim, "An
Analytical Model for a GPU Architecture with Memory-level and Thread-level Parallelism Awareness" (2009); Volkov,
"Understanding Latency Hiding on GPUs" (2016).
"""

import math
from dataclasses import dataclass, replace

from course_lib.simt.estimate.devices import find_device
from course_lib.simt.estimate.occupancy import occupancy
from course_lib.simt.estimate.rates import by_size, rates_of

PER_WARP = {"integer": 2.0, "special": 0.5, "uniform": 2.0}
"""Instructions of a warp that an SM does in a clock: 64 results of the integer unit, 16 of the special one.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Throughput of Native Arithmetic Instructions"."""

PARTS = {
    "blocks": "starting blocks",
    "issue": "issuing instructions",
    "fma": "float32 arithmetic",
    "integer": "integer arithmetic",
    "special": "special functions and conversions",
    "float64": "float64 arithmetic",
    "tensor": "the tensor cores",
    "barrier": "barriers",
    "L1": "shared memory and the L1 cache",
    "L2": "the L2 cache",
    "partial writes": "sectors that are written in part",
    "DRAM": "memory bandwidth",
    "atomics": "atomic operations",
    "latency": "waiting: too few warps have something to do meanwhile",
}
"""Name of what a launch can be limited by -> what to call it."""


STATIONS = (
    ("blocks",),
    ("issue", "fma", "integer", "special", "float64", "tensor"),
    ("barrier",),
    ("L1",),
    ("L2", "partial writes", "DRAM"),
    ("atomics",),
)
"""Parts that are visited one after the other. Those of one station work at the same time: an instruction is issued into
a unit that is busy with others, and a sector passes through L2 while the next one leaves DRAM."""


@dataclass(frozen=True)
class Prediction:
    """A predicted time.

    Attributes
    ----------
    seconds : float
        From this launch to the next one in the queue.
    limit : str
        A key of `PARTS`.
    demands : dict of str to float
        {part: clocks of an SM that a block takes there}.
    waiting : float
        Clocks that a customer waits.
    resident : int
        Blocks that are on an SM together.

    Source: the course's own.
    """

    seconds: float
    limit: str
    demands: dict
    waiting: float
    resident: int


def demands(facts, rates, device):
    """Return {part: clocks of an SM that a block takes there}. No errors. Source: the course's own."""
    work = {unit: n * facts.warps for unit, n in facts.instructions.items()}
    load, store = facts.load, facts.store
    read, write = (dram_sectors(facts, way) / facts.blocks for way in ("load", "store"))
    ratio = load["lines"] / load["sectors"] if load.get("sectors") else 0
    shared = facts.shared_wavefronts * rates.shared_wavefront
    beyond = sum(size for size, _, stored in facts.arrays.values() if stored) > device.l2_bytes
    # The executor counts tensor-core operations with those of a warp, and they do not pass through L1.
    shuffles = max(0.0, facts.shuffles - facts.instructions.get("tensor", 0)) * facts.warps
    return {
        "blocks": by_size(rates.block, facts.threads),
        "issue": work.get("all", 0) / device.instructions_per_clock,
        "fma": max(work.get("imad", 0) * rates.imad, (work.get("fma", 0) + work.get("imad", 0)) * rates.fma),
        "integer": work.get("integer", 0) / PER_WARP["integer"],
        "special": work.get("special", 0) / PER_WARP["special"],
        "float64": work.get("float64", 0) * rates.float64,
        "tensor": work.get("tensor", 0) * rates.tensor,
        "barrier": facts.barriers * by_size(rates.barrier_busy, facts.threads),
        "L1": max(
            shared + ((1 - copied(facts)) * load["wavefronts"] + store["wavefronts"]) * rates.l1_wavefront
            + shuffles * rates.shuffle,
            (load["lines"] + store["lines"]) * rates.l1_line,
        ),
        "L2": load["missed"] * (rates.l2_sector + ratio * rates.l2_line)
        + (store["sectors"] - store["partial"]) * rates.l2_write,
        "partial writes": store["partial"] * (rates.partial_beyond if beyond else rates.partial),
        "DRAM": read * rates.dram_read + write * rates.dram_write,
        "atomics": _atomics(facts, rates, device),
    }  # fmt: skip


def _atomics(facts, rates, device):
    if facts.shared_atomics:
        return (facts.atomics + facts.atomic_rounds) * rates.atomic_shared
    return facts.atomics * rates.atomic_apart


def dram_sectors(facts, way):
    """Return how many sectors of a launch cross the border to DRAM: each array at most once, as L2 keeps the rest.

    DRAM hands out two sectors at a time: single ones, as a wide stride wants them, cost as much. No errors.

    Source: the course's own.
    """
    total = 0
    requests = getattr(facts, way)
    sparse = requests.get("lines") and requests["sectors"] <= 2 * requests["lines"]
    for size, missed, stored in facts.arrays.values():
        moved = (missed if way == "load" else stored) * facts.blocks
        alone = sparse and moved * 32 <= size / 2
        total += min(moved * (2 if alone else 1), size / 32)
    return total


def waiting(facts, rates):
    """Return the clocks that a warp waits: for its own instructions, for loads, for barriers. No errors.

    Source: the course's own.
    """
    return (
        facts.clocks
        + sum(number * clocks for number, clocks in for_loads(facts, rates))
        + facts.barriers * by_size(rates.barrier, facts.threads)
    )


def for_loads(facts, rates):
    """Return [(how often a warp waits, clocks)] for global memory, shared memory and shuffles. No errors.

    Source: the course's own.
    """
    load = facts.load
    missed = load["missed"] / load["sectors"] if load.get("sectors") else 1.0
    far = min(1.0, dram_sectors(facts, "load") / facts.blocks / load["missed"]) if load.get("missed") else 1.0
    beyond = rates.l2_latency + far * (rates.dram_latency - rates.l2_latency)
    # A wait lasts as long as the slowest of its sectors: that of the first miss, unless hits come by themselves.
    memory = missed * beyond + (1 - missed) * rates.l1_latency
    return [
        (facts.global_waits, memory), (facts.shared_waits, rates.shared_latency),
        (facts.shuffle_waits, rates.shuffle_latency),
    ]  # fmt: skip


def in_step(facts, rates):
    """Return the share of a warp's waiting for loads that all warps of its block do in step, 0 to 1.

    Behind a barrier all of them ask for the same at the same time; after that first wait they have come apart. Global
    memory is asked first, as tiles are brought before they are read. No errors. Source: the course's own.
    """
    if not facts.barriers:
        return 0.0
    left, first, total = facts.barriers + 1, 0.0, 0.0
    for number, clocks in for_loads(facts, rates):
        first += min(number, left) * clocks
        total += number * clocks
        left -= min(number, left)
    return first / total if total else 1.0


def queue(times, pause, customers):
    """Return the customers that leave in a clock: `times` at each part, a `pause` between; exact mean value analysis.

    No errors. Source: Reiser and Lavenberg (1980).
    """
    lengths, rate = [0.0] * len(times), 0.0
    for n in range(1, customers + 1):
        stays = [t * (1 + q) for t, q in zip(times, lengths, strict=True)]
        rate = n / (sum(stays) + pause)
        lengths = [rate * s for s in stays]
    return rate


def copied(facts):
    """Return the share of a launch's loads that copies bring to shared memory ahead of their use.

    They go there without a stop: that they are written there is counted already. No errors. Source: the course's own.
    """
    return facts.load.get("ahead", 0) / facts.load["missed"] if facts.load.get("missed") else 0


def without_copies(facts):
    """Return the facts without the loads that nobody stands still for: what customers visit. No errors.

    Source: the course's own.
    """
    left = 1 - copied(facts)
    load = facts.load | {"missed": left * facts.load["missed"]}
    arrays = {name: [size, left * missed, *rest] for name, (size, missed, *rest) in facts.arrays.items()}
    return replace(facts, load=load, arrays=arrays)


def blocks_in_a_clock(stations, pause, resident, warps, share):
    """Return how many blocks an SM ends in a clock; their warps are one customer for a `share` of the time (`in_step`).

    No errors. Source: the course's own.
    """
    apart = queue([t / warps for t in stations], pause, resident * warps) / warps
    return 1 / (share / queue(stations, pause, resident) + (1 - share) / apart)


def time_of(facts, device):
    """Return the `Prediction` of one launch, None for a card that nobody measured; ValueError for an unknown one.

    Source: the course's own.
    """
    d, rates = find_device(device), rates_of(device)
    if rates is None:
        return None
    held = occupancy(d, facts.threads, facts.shared_bytes, facts.registers).blocks
    resident = max(1, min(held, math.ceil(facts.blocks / d.sms)))
    parts = demands(facts, rates, d)
    # A warp's own clocks hold those in which its instructions are issued, and these it spends at a station.
    pause = waiting(facts, rates) - min(facts.clocks, parts["issue"] / facts.warps)
    turn = by_size(rates.turn, facts.threads)
    together = facts.barriers > 0
    visited = demands(without_copies(facts), rates, d)
    stations = [max(visited[name] for name in names) for names in STATIONS]
    times = [t / (1 if together else facts.warps) for t in stations]
    rate = blocks_in_a_clock(stations, pause + turn, resident, facts.warps, in_step(facts, rates))
    rate = min(rate, 1 / max(parts.values()))
    alone = turn + pause + (max(times) if together else sum(times))
    waves = facts.blocks / d.sms
    clocks = max((waves if waves >= 4 * resident else math.ceil(waves)) / rate, alone)
    top = max(parts, key=parts.get)
    limit = top if rate * parts[top] > 0.5 else "latency"
    return Prediction(clocks / (d.clock * 1e9) + rates.launch, limit, parts, pause, resident)
