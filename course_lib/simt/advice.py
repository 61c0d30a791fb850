"""What is no mistake and yet costs: advice on a launch that ran.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Memory Optimizations" and "Instruction Optimization".
"""

from course_lib.simt.hazards import Hazard, by_importance

FEW = 8
"""Requests of a line below which advice would be noise."""


def advise(report, source, sites, never_written):
    """Return a list of `Hazard` with severity "advice" for a report, most important first.

    `sites` are a Machine's; `never_written` has (array, index of the first element, how many).

    Source: the course's own.
    """
    advice = [*report.advice, *(_never_written(source, *facts) for facts in never_written)]
    for line in report.lines:
        c = line.counters
        if c.float64_flops and not any(a.dtype == "float64" for a in report.arrays.values()):
            advice.append(_advice(
                "float64", line.function, line.number, "", c.float64_flops,
                f"{c.float64_flops:,} operations in float64, and no array is float64.",
                "A number such as 0.5 is float64, and so is a whole number times a float32: write float32(0.5). "
                "Many GPUs do float64 at 1/32 or 1/64 of the speed.",
            ))  # fmt: skip
    for (function, line, array, space, way), (requests, cost, used) in sites.items():
        if requests >= FEW and space == "global" and cost >= 4 * requests and 2 * used <= 32 * cost:
            advice.append(_advice(
                "uncoalesced", function, line, array, requests,
                f"the {way}s of {array} use {used / (32 * cost):.0%} of the bytes they move: {cost / requests:.0f} "
                "sectors of 32 bytes for each warp.",
                "Let neighbouring threads (x) touch neighbouring elements (the last axis).",
            ))  # fmt: skip
        if requests >= FEW and space == "shared" and cost >= requests:
            advice.append(_advice(
                "bank conflicts", function, line, array, cost,
                f"the {way}s of {array} take {1 + cost / requests:.0f} turns instead of one: threads of a warp want "
                "different words of one bank.",
                "Pad the array's last axis by one element, for example (32, 33), or change the order of the axes.",
            ))  # fmt: skip
    return by_importance(advice)


def _advice(kind, function, line, array, count, message, fix):
    return Hazard(kind, line, message, fix, count, array, severity="advice", function=function)


def _never_written(source, name, index, count):
    where = f"{name}[{', '.join(map(str, index))}]" if index else name
    more = f" and {count - 1:,} more elements" if count > 1 else ""
    return Hazard(
        "never written", source.tree.lineno, f"nobody has written {where}{more}.",
        "Is the grid large enough, and does the guard let every element through? Or begin with gpu.to_device(zeros).",
        count, name, {"index": index}, "advice", source.name,
    )  # fmt: skip
