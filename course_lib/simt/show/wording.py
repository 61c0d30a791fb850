"""How a report says its numbers: in words, the same in a notebook, in a terminal and in a comparison.

Source: the course's own. The words are Nsight Compute's ("Metrics Guide"): request, sector, wavefront.
"""

import math

import numpy as np

from course_lib.simt.traffic import SECTOR

DEVICE = "H200"
"""The GPU that a report's estimates are for, where the report names none."""


def count(n, noun):
    """Return a number with its noun: "1 request", "8,192 requests", "2 branches"."""
    plural = f"{noun}es" if noun.endswith(("ch", "s", "sh")) else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def size(n):
    """Return a number of bytes as a reader says it: "512 bytes", "1.0 MiB"."""
    if n < 1024:
        return count(n, "byte")
    power = min(4, (n.bit_length() - 1) // 10)
    return f"{n / 1024**power:,.1f} {'KMGT'[power - 1]}iB"


def percent(share):
    """Return a share as "12.5 %"; only nothing is "0 %", and only all is "100 %"."""
    value = round(100 * share, 1)
    if share and not value:
        return "<0.1 %"
    value = 99.9 if value == 100 and share < 1 else value
    return f"{value:.0f} %" if value == int(value) else f"{value:.1f} %"


def short(n):
    """Return a whole number in at most five characters: 950, 8.2k, 262k, 1.0M."""
    if n < 1000:
        return f"{n}"
    power = 0
    while n >= 999.5 and power < 5:
        n, power = n / 1000, power + 1
    return f"{n:.{n < 9.95:d}f}{'kMGTP'[power - 1]}"


def sizes(triple):
    """Return a grid or block without its trailing ones: (16, 16, 1) is "(16, 16)", (128, 1, 1) is "128"."""
    axes = list(triple)
    while len(axes) > 1 and axes[-1] == 1:
        axes.pop()
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))


def shape(axes):
    """Return the shape of an array as Python writes it, also where its sizes are NumPy's: (16, 16), (128,)."""
    return str(tuple(int(n) for n in axes))


def headline(report):
    """Return the launch in one line: kernel, grid, block, threads, shared memory."""
    blocks, threads = (x * y * z for x, y, z in (report.grid, report.block))
    words = [
        f"grid {sizes(report.grid)}",
        f"block {sizes(report.block)}",
        f"{count(blocks * threads, 'thread')} in {count(blocks, 'block')}",
    ]
    if report.shared_bytes:
        words.append(f"{count(report.shared_bytes, 'byte')} of shared memory a block")
    return ", ".join(words)


def findings_in_words(report):
    """Return how many hazards and how much advice there is, as one short sentence."""
    hazards, advice = len(report.hazards), len(report.advice)
    if not hazards and not advice:
        return "No hazards, no advice."
    first = count(hazards, "hazard") if hazards else "No hazards"
    return f"{first}, {advice or 'no'} piece{'s' * (advice != 1)} of advice."


PRINTED, FOLDED, LONGEST = 10, 200, 300
"""Lines that threads printed: so many are shown, so many more can be unfolded, each of so many characters."""


def printed(report):
    """Return (lines shown at once, lines to unfold, how many more there are) of what threads printed.

    Characters that would do something to a terminal are shown as question marks.

    Source: the course's own.
    """
    lines = [_harmless(line) for text in report.printed[: PRINTED + FOLDED] for line in text.split("\n")]
    more = max(0, len(report.printed) - PRINTED - FOLDED) + report.not_printed
    return lines[:PRINTED], lines[PRINTED : PRINTED + FOLDED], more + max(0, len(lines) - PRINTED - FOLDED)


def _harmless(line):
    line = "".join(c if c.isprintable() else "?" for c in line.replace("\t", "    "))
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} ..."


def sample(report):
    """Return the sentence of a report whose counters come from some of the blocks, "" where all were counted.

    Source: the course's own.
    """
    if not report.sampled:
        return ""
    counted, blocks = report.sampled
    return f"The counters come from a sample: {counted:,} of {count(blocks, 'block')} were counted."


SAID = (
    "thread", "block", "index", "axis", "size", "other_thread", "other_block", "other_line", "did", "other_did", "came",
    "returned", "one_warp",
)  # fmt: skip
"""Details that a finding's message says in words, or only a picture shows."""

PLACES = ("lines", "counts", "way")
"""Details that say where; they stand in the finding's first line."""

ORDERED = ("race", "unwritten memory", "barrier not reached")
"""Kinds of findings for which it matters how many barriers the block had passed."""


def who(hazard):
    """Return the details of a finding that its message does not say, in a line; the phase is said as barriers."""
    plain = (int, float, str, tuple, list, np.integer, np.floating)
    known = {k: v for k, v in hazard.details.items() if isinstance(v, plain) and not isinstance(v, bool)}
    known = {k: v for k, v in known.items() if k not in PLACES}
    said = SAID if "thread" in hazard.message.lower() else ()
    phase = known.pop("phase", None)
    phase = [f"barriers passed before: {phase}"] if phase is not None and hazard.kind in ORDERED else []
    return ", ".join([f"{k.replace('_', ' ')} {known[k]}" for k in known if k not in said] + phase)


def intensity(counters):
    """Return floating-point operations for each byte that global memory moves; None where it moves none."""
    moved = SECTOR * (counters.global_load_sectors + counters.global_store_sectors)
    return counters.flops / moved if moved else None


def _global(name, requests, sectors, used):
    moved = SECTOR * sectors
    return (
        f"{name}: {count(requests, 'request')}, {count(sectors, 'sector')} = {size(moved)} moved, "
        f"{percent(used / moved)} used"
    )


def totals(report):
    """Return what the whole launch cost, one sentence a kind of work; kinds without work are left out."""
    t = report.total
    lines = []
    for name, way in (("Global loads", "load"), ("Global stores", "store")):
        requests, sectors, used = (getattr(t, f"global_{way}_{what}") for what in ("requests", "sectors", "bytes"))
        if sectors:
            lines.append(_global(name, requests, sectors, used))
    for name, way in (("Shared loads", "load"), ("Shared stores", "store")):
        requests, conflicts = (getattr(t, f"shared_{way}_{what}") for what in ("requests", "conflicts"))
        if requests:
            lines.append(f"{name}: {count(requests, 'request')}, {count(conflicts, 'bank conflict')}")
    if t.constant_load_requests:
        wavefronts = count(t.constant_load_wavefronts, "wavefront")
        lines.append(f"Constant loads: {count(t.constant_load_requests, 'request')}, {wavefronts}")
    if t.local_load_requests or t.local_store_requests:
        both = count(t.local_load_requests, "load"), count(t.local_store_requests, "store")
        lines.append("Local memory: {} and {} by warps".format(*both))
    if t.atomic_requests:
        waits = f"{t.atomic_serialised:,} rounds more because lanes of a warp meant the same element"
        lines.append(f"Atomics: {count(t.atomic_requests, 'request')}, {waits}")
    for name, n in (("Shuffles and votes", t.warp_operations), ("Barriers", t.barriers)):
        if n:
            lines.append(f"{name}: {n:,}, counted once a warp")
    if not t.instructions:
        return ["Nothing was counted: no thread did anything, or counters=False."]
    branches = f"{t.divergent_branches:,} of {count(t.branches, 'branch')} went both ways"
    lines.append(
        f"Instructions: {t.instructions:,} by warps, {percent(t.active_share)} of their lanes active"
        + (f", {branches}" if t.branches else "")
    )
    if t.flops:
        kinds = (("float64", t.float64_flops), ("float16", t.float16_flops))
        other = "".join(f", {n:,} of them in {name}" for name, n in kinds if n)
        per_byte = intensity(t)
        ratio = f", {per_byte:.2g} for each byte that global memory moves" if per_byte is not None else ""
        lines.append(f"Floating-point operations: {t.flops:,}{other}{ratio}")
    return [f"{line}." for line in lines]


def device(report):
    """Return the name of the GPU that estimates are for."""
    return getattr(report, "device", DEVICE)


def estimates(report):
    """Return what the report's device would do, as texts: occupancy, and predicted time if there are counters."""
    from course_lib.simt.estimate.bound import predict
    from course_lib.simt.estimate.occupancy import occupancy

    try:
        held = occupancy(device(report), math.prod(report.block), report.shared_bytes)
    except ValueError as error:  # the executor took the block, but this device would not
        return [str(error)]
    blocks, sms = math.prod(report.grid), held.device.sms
    few = f" This launch has too few to fill them: {count(blocks, 'block')} for {sms} SMs."
    texts = [str(held) + few * (blocks < sms * held.blocks)]
    if report.total.instructions:
        texts.append(str(predict(report, device(report))))
    return texts
