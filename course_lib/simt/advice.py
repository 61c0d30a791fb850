"""What is no mistake and yet costs: advice on a launch that ran.

Source: NVIDIA, "CUDA C++ Best Practices Guide", "Memory Optimizations" and "Instruction Optimization".
"""

from course_lib.simt.hazards import Hazard, by_importance

FEW = 8
"""Requests of a line below which advice would be noise."""


def advise(report, source, never_written):
    """Return a list of `Hazard` with severity "advice" for a report, most important first.

    Source: the course's own.
    """
    advice = [_never_written(source, *facts) for facts in never_written]
    for line in report.lines:
        c = line.counters
        if c.float64_flops and not any(a.dtype == "float64" for a in report.arrays.values()):
            advice.append(_advice(
                "float64", line, c.float64_flops,
                f"{c.float64_flops:,} operations in float64, and no array is float64.",
                "A number such as 0.5 is float64, and so is a whole number times a float32: write float32(0.5). "
                "Many GPUs do float64 at 1/32 or 1/64 of the speed.",
            ))  # fmt: skip
        for way in ("load", "store"):
            requests, sectors = getattr(c, f"global_{way}_requests"), getattr(c, f"global_{way}_sectors")
            used = getattr(c, f"global_{way}_bytes")
            if requests >= FEW and sectors >= 4 * requests and 2 * used <= 32 * sectors:
                advice.append(_advice(
                    "uncoalesced", line, requests,
                    f"{used / (32 * sectors):.0%} of the bytes that its {way}s move are used: {sectors / requests:.0f} "
                    "sectors of 32 bytes for each warp.",
                    "Let neighbouring threads (x) touch neighbouring elements (the last axis).",
                ))  # fmt: skip
            requests, conflicts = getattr(c, f"shared_{way}_requests"), getattr(c, f"shared_{way}_conflicts")
            if requests >= FEW and conflicts >= requests:
                advice.append(_advice(
                    "bank conflicts", line, conflicts,
                    f"its shared {way}s take {1 + conflicts / requests:.0f} turns instead of one: threads of a warp "
                    "want different words of one bank.",
                    "Pad the array's last axis by one element, for example (32, 33), or change the order of the axes.",
                ))  # fmt: skip
    return by_importance(advice)


def _advice(kind, line, count, message, fix):
    return Hazard(kind, line.number, message, fix, count, severity="advice", function=line.function)


def _never_written(source, name, index, count):
    where = f"{name}[{', '.join(map(str, index))}]" if index else name
    more = f" and {count - 1:,} more elements" if count > 1 else ""
    return Hazard(
        "never written", source.tree.lineno, f"nobody has written {where}{more}.",
        "Is the grid large enough, and does the guard let every element through? Or begin with gpu.to_device(zeros).",
        count, name, {"index": index}, "advice", source.name,
    )  # fmt: skip
