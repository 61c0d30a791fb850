"""What is no mistake and yet costs: advice on a launch that ran, one entry for each cause.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Memory Optimizations" and "Instruction Optimization".
"""

import math

import numpy as np

from course_lib.simt.bank_advice import bank_advice
from course_lib.simt.float64_causes import float64_causes, whole_sums
from course_lib.simt.gather import gathered, in_lines, listed
from course_lib.simt.hazards import Hazard, by_importance
from course_lib.simt.padding import distance

FEW = 8
"""Requests of a line below which advice would be noise."""

NAMED = 3
"""Numbers that advice on float64 names at the most."""


def advise(report, source, sites, never_written, doubles=()):
    """Return a list of `Hazard` with severity "advice" for a report, most important first.

    `sites` are a Machine's; `never_written` has (array, index of the first element, how many). What the machine has
    found that is advice stands in the report already. `doubles` are the parameters that got a float64 number.

    Source: the course's own.
    """
    advice = [*gathered(report.advice), *(_never_written(source, *facts) for facts in never_written)]
    advice += _float64(report, doubles)
    groups = {}
    for (function, line, array, space, way), facts in sites.items():
        groups.setdefault((function, array, space, way), {})[line] = facts
    for (function, array, space, way), lines in groups.items():
        if space == "global":
            costly = {n: s for n, s in lines.items() if s[0] >= FEW and s[1] >= 4 * s[0] and 2 * s[2] <= 32 * s[1]}
            advice += [_uncoalesced(report, function, array, way, costly)] if costly else []
        if space == "shared":
            costly = {n: s for n, s in lines.items() if s[0] >= FEW and s[1] >= s[0]}
            advice += [bank_advice(report, function, array, way, costly, sites)] if costly else []
    return by_importance(advice)


def _float64(report, doubles):
    """Yield one entry for each function whose arithmetic is float64 where no array is."""
    if any(part in use.dtype for use in report.arrays.values() for part in ("float64", "complex128", "f8", "c16")):
        return
    counts = {}
    for line in report.lines:
        if line.counters.float64_flops:
            counts.setdefault(line.function, {})[line.number] = line.counters.float64_flops
    for function, lines in counts.items():
        text = {x.number: x.text for x in report.lines if x.function == function}
        numbers, arguments = float64_causes(text, lines, doubles if function == report.kernel else ())
        there = _instead_of_float64(numbers, arguments, whole_sums(text, lines))
        total = sum(lines.values())
        yield Hazard(
            "float64", in_lines(lines)["lines"][0], f"{total:,} operations in float64, and no array is float64.",
            f"{there} Many GPUs do float64 at 1/32 or 1/64 of the speed.", total, "", in_lines(lines), "advice",
            function,
        )  # fmt: skip


def _instead_of_float64(numbers, arguments, sums):
    """What to write instead of numbers [(line, number)], and what to pass for arguments, or else what to look for.

    `sums` are [(line, name)] of `whole_sums`.
    """
    numbers, doubles, does = list(dict.fromkeys(numbers)), [], []
    if arguments:
        does.append(f"pass {listed([f'np.float32({name})' for name in arguments[:NAMED]])}")
        doubles.append(f"the argument {arguments[0]}")
    if numbers:
        first = [f"float32({number}) in line {line}" for line, number in numbers][:NAMED]
        does.append("write " + (listed(first) if len(numbers) <= NAMED else f"{', '.join(first)} and so on"))
        doubles.append(f"a number such as {numbers[0][1]}")
    begin = [f"begin {name} with float32(0) in line {line}" for line, name in sums if name != "sum"][:1]
    if not does and sums:
        what = begin[0] if begin else "add up in a loop, in a variable that begins with float32(0), instead of by sum()"
        first = sums[0][1] if begin else "sum()"
        return f"{what[0].upper()}{what[1:]}: {first} begins with a whole number, and that plus a float32 is float64."
    does += begin
    if not does:
        return (
            "Whole numbers give float64 with / and in functions of math, and with a float32: convert them first, "
            "float32(n), where 24 bits are enough."
        )
    what, verb = " and ".join(does), "are" if len(doubles) > 1 else "is"
    return (
        f"{what[0].upper()}{what[1:]}: {' and '.join(doubles)} {verb} float64, and so is what is computed with it, and "
        "a whole number times a float32."
    )


def _uncoalesced(report, function, array, way, lines):
    requests, cost, used = (sum(facts[k] for facts in lines.values()) for k in range(3))
    details = in_lines({line: facts[0] for line, facts in lines.items()})
    first = details["lines"][0]
    return Hazard(
        "uncoalesced", first,
        f"the {way}s of {array} use {used / (32 * cost):.0%} of the bytes they move: {cost / requests:.0f} sectors of "
        "32 bytes for each warp.", _neighbours(report, function, first, array, way), requests, array,
        details | {"way": way}, "advice", function,
    )  # fmt: skip


def _neighbours(report, function, line, array, way):
    """What to do against accesses that are not coalesced, as the recorded access tells."""
    place = function, line, array, way
    access = next((a for a in report.accesses if (a.function, a.line, a.array, a.way) == place), None)
    if access is not None and _few_beside_each_other(access, report.block):
        return (
            "The threads that come here touch neighbours already, but they are few of their warps: a branch lets only "
            "some through. Sort or gather the work first, so that neighbouring threads (x) take the same way."
        )
    if access is None or len(access.shape) == 1:
        apart = abs(distance(access)) if access is not None else 0
        here = f"; here they touch elements {apart:,} apart" if apart > 1 else ""
        return f"Let neighbouring threads (x) touch neighbouring elements{here}."
    steps = access.address - access.element * access.itemsize
    if len(access.shape) > 1 and steps.min() != steps.max():  # its elements do not lie row by row
        return (
            f"Let neighbouring threads (x) touch neighbours in memory: the elements of {array} do not lie row by row "
            "(it is in Fortran order, or a part of a larger array), so those are not along its last axis."
        )
    return "Let neighbouring threads (x) touch neighbouring elements (the last axis)."


def _few_beside_each_other(access, block):
    """Whether less than half of the threads of their warps do an access, to elements as far apart as they are."""
    same_warp = np.diff(access.thread // 32) == 0
    apart, threads_apart = np.diff(access.element)[same_warp], np.diff(access.thread)[same_warp]
    whole = np.minimum(32, math.prod(block) - 32 * np.unique(access.thread // 32)).sum()
    return 2 * access.thread.size < whole and 2 * np.count_nonzero(apart == threads_apart) > apart.size


def _never_written(source, name, index, count):
    where = f"{name}[{', '.join(map(str, index))}]" if index else name
    more = f" and {count - 1:,} more elements" if count > 1 else ""
    return Hazard(
        "never written", source.tree.lineno, f"nobody has written {where}{more}.",
        "Is the grid large enough, and does the guard let every element through? If a later launch writes the rest, "
        "all is well; else begin with gpu.to_device(zeros).",
        count, name, {"index": index}, "advice", source.name,
    )  # fmt: skip
