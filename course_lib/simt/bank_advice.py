"""Advice on bank conflicts: the padding, the order of axes or the mapping that helps the array at hand.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Shared Memory and Memory Banks"; Harris, "An Efficient Matrix
Transpose in CUDA C/C++". What is said to help was counted on the accesses that the executor recorded.
"""

from course_lib.cuda.launch_checks import SHARED_BYTES
from course_lib.simt.gather import in_lines
from course_lib.simt.hazards import Hazard
from course_lib.simt.padding import base_of, best_order, best_shape, conflicts, cost, distance, shape_in, swizzled_cost
from course_lib.simt.traffic import WORD

NEIGHBOURS = "Let threads next to each other touch elements next to each other, or change the order of the axes."
SAME_BANK = "a bank comes again every 32 words"


def bank_advice(report, function, array, way, lines, sites):
    """Return the `Hazard` of the bank conflicts that one array has in `lines`, {line: (requests, conflicts, 0)}.

    `sites` are a Machine's: how often each access happens, also those without conflicts.

    Source: the course's own.
    """
    requests, extra = (sum(facts[k] for facts in lines.values()) for k in range(2))
    details = in_lines({line: facts[1] for line, facts in lines.items()})
    first, needed, fix = details["lines"][0], 1, f"{NEIGHBOURS[:-1]}: {SAME_BANK}."
    there = [a for a in report.accesses if a.space == "shared" and a.way != "atomic" and a.address.size]
    ours = [a for a in there if (a.function, a.array, a.way) == (function, array, way) and a.line in lines]
    if ours:
        needed = max(1, min(a.itemsize for a in ours) // WORD)
    if ours and all(_row_by_row(a) for a in ours):
        same = [
            a for a in there if (base_of(a), len(a.shape)) == (base_of(ours[0]), len(ours[0].shape)) and _row_by_row(a)
        ]
        fix = _fix(report, ours, same, sites, steady(ours, lines))
    turns = f"{needed + extra / requests:.0f} turns instead of {'one' if needed == 1 else needed}"
    return Hazard(
        "bank conflicts", first,
        f"the {way}s of {array} take {turns}: threads of a warp want different words of one bank.",
        fix, extra, array, details | {"way": way}, "advice", function,
    )  # fmt: skip


def _row_by_row(access):
    """Whether elements lie one after the other: a field of an array of records does not."""
    steps = access.address - access.element * access.itemsize
    return steps.min() == steps.max()


def steady(accesses, lines):
    """Whether all accesses of the lines cost what the recorded ones do; not where a stride grows from turn to turn.

    Source: the course's own.
    """
    for line, (requests, extra, _) in lines.items():
        counts = [conflicts(a, _strides(a)) for a in accesses if a.line == line]
        recorded = sum(c for _, c in counts) / max(1, sum(r for r, _ in counts))
        if not counts or abs(recorded - extra / requests) > 0.05 * extra / requests:
            return False
    return True


def _strides(access):
    strides = [access.itemsize]
    for size in reversed(access.shape[1:]):
        strides.insert(0, strides[0] * size)
    return strides


def _fix(report, ours, same, sites, sure):
    """What helps: `ours` are the accesses with conflicts, `same` all of the array; `sure` as `steady` says."""
    itemsize = min(a.itemsize for a in same)
    shape = shape_in(same[0], itemsize)
    if any(a.itemsize % itemsize or shape_in(a, itemsize) != shape for a in same):
        return f"{NEIGHBOURS[:-1]}: {SAME_BANK}."
    if len(shape) == 1:
        return _flat(ours, same, sites, itemsize, shape[0], sure)
    weights = [_times(a, sites) for a in same]
    before = cost(same, weights, itemsize, shape)
    room = SHARED_BYTES - report.shared_bytes + _bytes(shape, itemsize)
    padded, left = best_shape(same, weights, itemsize, shape, room)
    axes = "last axis" if padded[:-1] == shape[:-1] else "axes"
    if padded != shape and not left:
        seen = "" if sure else " where each line does its first access"
        return (
            f"Pad the array's {axes}: with shape {padded} instead of {shape} there is no bank conflict{seen}. "
            "The indices stay as they are."
        )
    says = f"Padding {shape} does not help."
    if padded != shape:
        says = f"Pad the array's {axes}: shape {padded} instead of {shape} takes {1 - left / before:.0%} of its bank "
        says += "conflicts away"
        usual = (*shape[:-1], shape[-1] + 1)
        gain = 1 - cost(same, weights, itemsize, usual) / before
        says += f", {usual} {gain:.0%}." if padded != usual and gain > 0 else "."
    if (order := best_order(same, weights, itemsize, shape)) is not None:
        return f"{says} {_in_order(shape, order)}"
    if not swizzled_cost(same, weights, itemsize, shape):
        return (
            f"{says} None is left with other columns in each row: write [row, column ^ row % {shape[1]}] for each "
            "[row, column] of this array."
        )
    return (
        f"{says} {NEIGHBOURS}" if padded == shape else f"{says} For the rest: {NEIGHBOURS[0].lower()}{NEIGHBOURS[1:]}"
    )


def _in_order(shape, order):
    letters = "abcdefgh"[: len(shape)]
    swapped = ", ".join(letters[axis] for axis in order)
    return (
        f"Another order of the axes has none: the element [{', '.join(letters)}] as [{swapped}], with shape "
        f"{tuple(shape[axis] for axis in order)}."
    )


def _flat(ours, same, sites, itemsize, size, sure):
    """What helps an array with one axis: neighbouring elements, or longer rows where the index is row * length + i."""
    apart = abs(distance(ours[0])) * (ours[0].itemsize // itemsize)
    if apart < 2 or not sure:
        here = "" if sure else " whenever this line runs"
        return f"Let threads next to each other touch elements next to each other{here}: {SAME_BANK}."
    says = f"Threads next to each other touch elements {apart:,} apart, and {SAME_BANK}: let them touch neighbours"
    rows = -(-size // apart)
    in_rows = [_as_rows(a, apart, itemsize) for a in same]
    if None in in_rows:
        return f"{says}."
    weights = [_times(a, sites) for a in same]
    before = cost(in_rows, weights, itemsize, (rows, apart))
    (_, longer), left = best_shape(in_rows, weights, itemsize, (rows, apart))
    if longer == apart:
        return f"{says}."
    gain = f"{1 - left / before:.0%} fewer bank conflicts" if left else "no bank conflict"
    return f"{says}, or elements {longer:,} apart ({rows:,} rows of {longer:,} elements have {gain})."


def _as_rows(access, apart, itemsize):
    """Return an access to a flat array as one to rows of `apart` elements; None where that is no whole number."""
    wide = access.itemsize // itemsize
    if apart % wide:
        return None
    row = apart // wide
    return _Rows(access, (-(-access.shape[0] // row), row))


class _Rows:
    """An access whose array has another shape; elements and addresses are the same."""

    def __init__(self, access, shape):
        self.shape, self.itemsize, self.thread = shape, access.itemsize, access.thread
        self.element, self.address = access.element, access.address


def _times(access, sites):
    """Return how many requests an access makes in the whole launch, about."""
    return max(1, sites.get((access.function, access.line, access.array, "shared", access.way), (1,))[0])


def _bytes(shape, itemsize):
    total = itemsize
    for size in shape:
        total *= size
    return total
