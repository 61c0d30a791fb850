"""How often a warp executes each stretch of machine code: the executor's counts by line, brought to the code.

A compiler unrolls loops, merges neighbouring loads and moves instructions, so a count of the source is not one of the
code. But an access keeps its line. If the executor counts 64 loads of a line, and the code of that line has four loads
in a loop, the loop is gone through 16 times. Stretches without an access take the count of their neighbours.

Of 78 kernels whose instructions a card has counted (tests/simt/measured), 63 come out within a tenth of the count.
Source: the course's own.
"""

import ast
import re
from collections import Counter, defaultdict
from statistics import median


def executions(found, report):
    """Enter `times` into each `Stretch` of a kernel, from the report of a launch of it; return them.

    Parameters
    ----------
    found : list of Stretch
        Of the text that the report is of: lines must be the same.
    report : Report
        Of some blocks or of all.

    No errors. Source: the course's own.
    """
    counts, size = by_line(report), {(a.line, (a.space, a.way)): a.itemsize for a in report.accesses}
    end = next((i for i, s in enumerate(found) if s.outside), len(found))
    for s in found:
        s.times = None  # of another launch of the same code
    copies = defaultdict(list)
    for i, s in enumerate(found[:end]):
        for instruction in s.instructions:
            kind = instruction.kind
            key = instruction.line, kind
            if kind == "copy":
                key = instruction.line, ("global", "load")
            if counts.get(key, 0) > 0:
                merged = max(1, instruction.width // size.get(key, 4)) if kind and key in size and kind != "copy" else 1
                copies[key].append((i, len(s.loops), merged))
    seen = defaultdict(list)
    for key, places in copies.items():
        once = sum(merged for _, depth, merged in places if not depth)  # outside of loops: at most once each
        loops = sum(merged for _, depth, merged in places if depth)
        outside = min(1.0, counts[key] / (once + loops))
        inside = (counts[key] - once * outside) / loops if loops else 0.0
        turns = _shared_out(key, places, counts, report) if loops else {}
        for i, depth, _ in places:
            seen[i].append(turns.get(i, inside) if depth else outside)
    calls = calling(report)
    for i, s in enumerate(found):
        if i >= end or s.last == "CALL":
            s.times = 0.0  # a subroutine for rare operands, and the way to it
        elif i in seen:
            s.times = median(seen[i]) if s.loops else min(1.0, median(seen[i]))
        elif _never(s, counts, calls):
            s.times = 0.0
    known = [i for i in range(end) if found[i].times is not None and found[i].last != "CALL"]
    for i in range(end):
        if found[i].times is None:
            found[i].times = _guess(found, i, known, counts)
    return found


def _shared_out(key, places, counts, report):
    """Return {stretch: times} of a line whose loop stands in the code several times, {} where that is not known.

    An unrolled loop is one of so many turns, followed by pieces for what is left: of 5 turns and copies for 16, 4 and
    1, only the last two are gone through, once each. How often the loop is begun its header tells: it is asked once
    more than there are turns.
    """
    line = key[0]
    sources = sum((a.line, (a.space, a.way)) == key for a in report.accesses) or 1
    turns = counts[key] / sources
    headers = [n for n, what in counts if what == "branch" and n < line and counts[n, what] > 1.001 * turns]
    copies, depths = Counter(), {}
    for i, depth, merged in places:
        if depth:
            copies[i] += merged
            depths[i] = depth
    if not headers or len(set(copies.values())) < 2:
        return {}
    begun = counts[max(headers), "branch"] - turns
    left, deepest, found = counts[key] / begun, max(depths.values()), {}
    for i in sorted(copies, key=lambda i: (-copies[i], -depths[i])):
        share = left // copies[i]
        if depths[i] < deepest:
            share = min(1.0, share)
        found[i] = share * begun
        left -= share * copies[i]
    found[i] += left / copies[i] * begun
    return found


def calling(report):
    """Return the numbers of the kernel's lines that call a device function.

    A compiler that puts the function's code in there gives it the line of the call; the executor counts its accesses at
    their own lines. So such a line without a count has not been left out. No errors. Source: the course's own.
    """
    names = {line.function for line in report.lines} - {report.kernel}
    if not names:
        return set()
    call = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\(")
    return {line.number for line in report.lines if line.function == report.kernel and call.search(line.text)}


def _never(stretch, counts, calls):
    """Return whether a stretch has accesses, and the executor saw none; those in lines of `calls` prove nothing."""
    kinds = [(i.line, i.kind) for i in stretch.instructions if i.kind and i.kind[0] != "local" and i.line]
    kinds = [(line, kind) for line, kind in kinds if line not in calls]
    kinds = [(line, ("global", "load") if kind == "copy" else kind) for line, kind in kinds]
    return bool(kinds) and not any(counts.get(key, 0) for key in kinds)


def _guess(found, i, known, counts):
    """Return the times of a stretch without an access: those of its lines, as far as what is around it allows."""
    s = found[i]
    if not s.loops:
        before = [k for k in known if k < i and not found[k].loops]
        return found[before[-1]].times if before else 1.0
    lines = [counts[n.line, "visits"] for n in s.instructions if counts.get((n.line, "visits"))]
    inside = [found[k].times for k in known if s.loops[-1][0] <= k <= s.loops[-1][1]]
    if lines:
        return min(median(lines), max(inside)) if inside else median(lines)
    same = [k for k in known if found[k].loops == s.loops]
    if same:
        before = [k for k in same if k < i]
        return found[before[-1] if before else same[0]].times
    return max(inside, default=1.0)


def operations(text):
    """Return how many operations a statement has, 0 for what is no whole statement or has none. No errors."""
    try:
        tree = ast.parse(text.strip())
    except SyntaxError:
        return 0
    number = 0
    for node in ast.walk(tree):
        number += isinstance(node, ast.BinOp | ast.UnaryOp | ast.AugAssign)
        number += len(node.ops) if isinstance(node, ast.Compare) else 0
        number += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
    return number


def by_line(report):
    """Return {(line, kind): count of a warp} of what can be found again in machine code. No errors.

    The text of a kernel with unrolled loops begins at line 1, device functions keep the lines of their files: where
    both have a line of a number, the kernel's is meant.

    Source: the course's own.
    """
    blocks = report.sampled[0] if report.sampled else _product(report.grid)
    warps = blocks * -(-_product(report.block) // 32)
    own = {line.number for line in report.lines if line.function == report.kernel}
    found = defaultdict(float)
    for line in report.lines:
        c, n = line.counters, line.number
        if n in own and line.function != report.kernel:
            continue
        for space in ("global", "shared", "local"):
            for way in ("load", "store"):
                found[n, (space, way)] += getattr(c, f"{space}_{way}_requests") / warps
        found[n, "atomic"] += c.atomic_requests / warps
        found[n, "barrier"] += c.barriers / warps
        found[n, "warp"] += c.warp_operations / warps
        plain = not any(getattr(c, f"{m}_{w}_requests") for m in ("global", "shared") for w in ("load", "store"))
        if c.branches:
            found[n, "branch"] += c.branches / warps
            found[n, "visits"] += c.branches / warps
        elif plain and (number := operations(line.text)):
            found[n, "visits"] += c.instructions / warps / number
    return found


def _product(sizes):
    return sizes[0] * sizes[1] * sizes[2]


def merged_by_line(found, report):
    """Return {line: how many of the source's shared loads one load of the code stands for}. No errors.

    Source: the course's own.
    """
    size = {a.line: a.itemsize for a in report.accesses if (a.space, a.way) == ("shared", "load")}
    widths = defaultdict(list)
    for s in found:
        for instruction in s.instructions:
            if instruction.kind == ("shared", "load") and instruction.line in size and instruction.name == "LDS":
                widths[instruction.line].append((s.times or 0, instruction.width))
    merged = {}
    for line, all_of_it in widths.items():
        times = sum(t for t, _ in all_of_it)
        if times:
            merged[line] = max(1.0, sum(t * w for t, w in all_of_it) / times / size[line])
    return merged
