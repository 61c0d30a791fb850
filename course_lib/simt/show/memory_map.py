"""A memory map: which thread of a warp touches which element, and what the memory has to move for it.

Source: NVIDIA, "CUDA C++ Programming Guide", "Device Memory Accesses" and "Shared Memory". Global memory moves sectors
of 32 bytes; shared memory gives one word of 4 bytes from each of its 32 banks at a time. The maps are drawn from the
addresses that the executor recorded; drawing is in `map_global` and `map_shared`, the numbers in `map_numbers`.
"""

from course_lib import figures
from course_lib.simt.show.map_global import draw_global
from course_lib.simt.show.map_numbers import GlobalAccess, SharedAccess
from course_lib.simt.show.map_shared import draw_shared
from course_lib.simt.show.map_sheet import WIDTH, Sheet
from course_lib.simt.show.wording import shape

MOST_BYTES = 380_000
"""Of all frames of a stepper together; the stepper itself takes 400 KB."""


def memory_map(report, line=None, array=None, way=None, *, warp=0):
    """Return a picture of one access of a kernel: threads on elements, and the sectors or banks that they need.

    Parameters
    ----------
    report : Report
    line : int, optional
        A line of the kernel, as the report numbers them.
    array : str, optional
        The array's name in the kernel.
    way : "load", "store" or "atomic", optional
        Without line, array and way, it is the global load that moves most in vain; of several that fit, the same.
    warp : int
        Which warp of the block, counted among those that take part.

    Returns
    -------
    figures.Picture
        Its alt text and caption state what was found.

    Raises
    ------
    ValueError
        If no recorded access fits (the message lists what there is), or the block has no such warp.

    Source: the course's own.
    """
    chosen = choose(report, line, array, way)
    return _picture(report, _numbers(chosen, warp))


def memory_maps(report):
    """Return a stepper with the memory map of each access to global and shared memory, in the order of the source.

    Where no script runs, it shows the access that `memory_map` chooses. A kernel with one access gives one picture;
    of a kernel with very many, the first ones are shown, as many as a page should carry.

    Raises
    ------
    ValueError
        If the kernel accesses neither global nor shared memory.

    Source: the course's own.
    """
    every = [a for a in report.accesses if a.space in ("global", "shared")]
    first = choose(report)
    if len(every) == 1:
        return memory_map(report)
    drawn = [_numbers(a, 0) for a in every]
    sheets = [_draw(n, _text(report, n)) for n in drawn]
    size = max(s.width for s in sheets), max(s.height for s in sheets)
    frames = [_picture(report, n, size) for n in drawn]
    at, kept = next(i for i, a in enumerate(every) if a is first), 0
    while kept < len(frames) and sum(len(f.src) for f in frames[: kept + 1]) < MOST_BYTES - len(frames[at].src):
        kept += 1
    shown = frames if kept == len(frames) else [*frames[:kept], *frames[max(at, kept) : at + 1]]
    some = "" if kept == len(frames) else f", {len(shown)} of {len(frames)}"
    return figures.stepper(shown, title=f"{report.kernel}: each access to memory{some}", static=min(at, len(shown) - 1))


def choose(report, line=None, array=None, way=None):
    """Return the access that fits; of several, the global load that uses the smallest part of what is moved.

    Raises
    ------
    ValueError
        If none fits; the message lists those that there are.

    Source: the course's own.
    """
    every = [a for a in report.accesses if a.space in ("global", "shared")]
    wanted = {"line": line, "array": array, "way": way}
    fit = [a for a in every if all(v is None or getattr(a, k) == v for k, v in wanted.items())]
    if not fit:
        hint = f" A name is meant as array={line!r}." if isinstance(line, str) else ""
        asked = ", ".join(f"{k} {v!r}" for k, v in wanted.items() if v is not None) or "anything"
        there = "; ".join(dict.fromkeys(f"line {a.line} {a.way} {a.array}" for a in every))
        raise ValueError(
            f"{report.kernel} has no access to global or shared memory that fits {asked}. "
            + (f"There are: {there}." if there else "It has none at all.")
            + hint
        )
    return min(fit, key=_urgency)


def _urgency(access):
    """Order: global loads, other global accesses, shared ones; the least used first, then the one that moves most."""
    if access.space == "shared":
        return 2, -_numbers(access, 0).wavefronts
    n = _numbers(access, 0)
    return access.way != "load", n.share, -n.sectors


def _numbers(access, warp):
    return (GlobalAccess if access.space == "global" else SharedAccess)(access, warp)


def _text(report, numbers):
    a = numbers.access
    texts = [x.text for x in report.lines if (x.function, x.number) == (a.function, a.line)]
    return texts[0].strip() if texts else ""


def _draw(numbers, text, size=None):
    """Draw once to learn the height, and again on a sheet of that height, or of `size`."""
    make = draw_global if isinstance(numbers, GlobalAccess) else draw_shared
    height = make(Sheet(WIDTH, 4000), numbers, text)
    sheet = Sheet(*(size or (WIDTH, height)), title=f"Memory map of {numbers.access.array}", desc=numbers.finding)
    make(sheet, numbers, text)
    return sheet


def _picture(report, numbers, size=None):
    drawing = _draw(numbers, _text(report, numbers), size)
    a = numbers.access
    verb = {"load": "loads from", "store": "stores to", "atomic": "changes atomically"}[a.way]
    caption = f"Line {a.line} {verb} {a.array}. {numbers.finding}"
    return figures.picture(
        drawing, alt=f"Memory map of {a.array} {shape(a.shape)}, line {a.line}: {numbers.finding}", caption=caption
    )
