"""The document of a trace: what was recorded, as plain numbers, texts, lists and dicts.

Source: the course's own.
"""

FORMAT, VERSION = "course-trace", 1


def document_of(recorder, kernel, grid, block, complete):
    """Return the document of a recorder whose run has ended. No errors."""
    machine = recorder.machine_
    x, y, _ = grid
    number = recorder.block
    threads = min(32 * recorder.warps, block[0] * block[1] * block[2] - 32 * recorder.first_warp)
    return {
        "format": FORMAT,
        "version": VERSION,
        "kernel": kernel.__name__,
        "grid": list(grid),
        "block": list(block),
        "place": [number % x, number // x % y, number // (x * y)],
        "warps": list(range(recorder.first_warp, recorder.first_warp + recorder.warps)),
        "threads": threads,
        "complete": complete,
        "functions": _functions(recorder, machine, kernel),
        "arrays": recorder.touches.table() if recorder.touches else [],
        "frames": recorder.frames,
        "steps": recorder.steps,
        "elsewhere": recorder.elsewhere,
    }


def _functions(recorder, machine, kernel):
    """Return {function: {line: text}} of the functions that were walked, the kernel in any case."""
    from course_lib.simt.source import source_of

    walked = {frame["function"] for frame in recorder.frames}
    sources = {name: s for name, s in machine.sources.items() if name in walked} if machine else {}
    sources.setdefault(kernel.__name__, None)
    return {name: {str(n): t for n, t in (s or source_of(kernel)).lines.items()} for name, s in sources.items()}
