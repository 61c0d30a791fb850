"""The columns of a report: what each line of a kernel cost, and how long its bar is.

Source: the course's own. A cell that is zero stays empty, so that the eye finds the line that costs.
"""

from collections.abc import Callable
from dataclasses import dataclass

from course_lib.simt.gather import where
from course_lib.simt.show.wording import percent
from course_lib.simt.traffic import SECTOR

MOST_FINDINGS = 6
"""Findings of a kind that are shown; a broken kernel can have one for each of its lines."""

LONG = 120
"""Source lines from which on runs of lines without work are folded into one row."""

PARTS = ("data", "hazard")
"""Roles of the columns that write the line's share of the launch beside its number: what hurts most."""


@dataclass(frozen=True)
class Measure:
    """One column. `amount(counters)` is what counts; `part(counters, total)` in 0 ... 1 is the length of the bar.

    `share` tells what the bar means: True, the line's share of the whole launch (long is costly); False, the share
    of the line's own effort that was of use (short is costly). `brief` is the title in a terminal.

    Source: the course's own.
    """

    title: str
    brief: str
    meaning: str
    amount: Callable
    part: Callable
    share: bool
    role: str

    def words(self, counters, total):
        """Return what a cell says, "" for a line without such work."""
        amount = self.amount(counters)
        if not amount:
            return ""
        part = percent(self.part(counters, total))
        if not self.share:
            return part
        return f"{amount:,} ({part})" if amount < self.amount(total) and self.role in PARTS else f"{amount:,}"


def sectors(c):
    """Return the sectors of 32 bytes that a line's loads and stores moved."""
    return c.global_load_sectors + c.global_store_sectors


def conflicts(c):
    """Return the bank conflicts of a line's loads and stores."""
    return c.shared_load_conflicts + c.shared_store_conflicts


def efficiency(c):
    """Return bytes used by bytes moved, in loads and stores together; 1.0 where nothing was moved."""
    moved = SECTOR * sectors(c)
    return (c.global_load_bytes + c.global_store_bytes) / moved if moved else 1.0


def _of_total(amount):
    def part(c, total):
        whole = amount(total)
        return amount(c) / whole if whole else 0.0

    return part


def _share(title, brief, meaning, amount, role):
    return Measure(title, brief, meaning, amount, _of_total(amount), True, role)


MEASURES = (
    _share("sectors", "sectors", "sectors of 32 bytes that global loads and stores move", sectors, "data"),
    Measure(
        "used", "used", "of the bytes moved, those that a thread asked for", sectors,
        lambda c, total: efficiency(c), False, "data",
    ),
    _share("bank conflicts", "conflicts", "shared memory's wavefronts beyond what is needed", conflicts, "hazard"),
    _share("atomics", "atomics", "atomic requests of warps", lambda c: c.atomic_requests, "gradient"),
    _share(
        "atomic rounds", "rounds", "rounds beyond the first, because lanes of a warp meant the same element",
        lambda c: c.atomic_serialised, "hazard",
    ),
    _share(
        "local memory", "local", "requests to memory of a thread's own, outside of its registers",
        lambda c: c.local_load_requests + c.local_store_requests, "data",
    ),
    _share("divergent", "diverge", "branches where a warp went both ways", lambda c: c.divergent_branches, "hazard"),
    Measure(
        "active lanes", "active", "of a warp's 32 lanes, those that were switched on", lambda c: c.instructions,
        lambda c, total: c.active_share, False, "thread",
    ),
    _share("instructions", "instr.", "operations issued by warps", lambda c: c.instructions, "idle"),
)  # fmt: skip
"""All columns, from left to right; a launch shows those that it has work for."""


def shown(total):
    """Return the measures that a launch with these totals has work for."""
    return [m for m in MEASURES if m.amount(total)]


def functions(report):
    """Return the report's lines as {function name: its lines}, in their order."""
    groups = {}
    for line in report.lines:
        groups.setdefault(line.function, []).append(line)
    return groups


def folded(lines, fold):
    """Yield a function's lines; with `fold`, None in place of each run of four and more without work."""
    run = []
    for line in [*lines, None]:
        if line is not None and fold and not line.counters.instructions:
            run.append(line)
            continue
        yield from run if len(run) < 4 else [None]
        run = []
        if line is not None:
            yield line


def margin(lines):
    """Return how many columns all of a function's lines are indented by."""
    return min((len(x.text) - len(x.text.lstrip()) for x in lines if x.text.strip()), default=0)


def findings_of(found, line):
    """Return the findings of a list that lie in a line."""
    here = [h for h in found if h.function in ("", line.function)]
    return [h for h in here if line.number in (h.line, *h.details.get("lines", ()))]


def place(report, hazard):
    """Return where a finding lies: its lines, and the function where that is not the kernel itself."""
    return where(hazard) + (f" of {hazard.function}" if hazard.function not in ("", report.kernel) else "")


def quoted(report, hazard):
    """Return the source line of a finding without its indentation, "" where it has none."""
    fit = [x for x in report.lines if x.number == hazard.line]
    fit = [x for x in fit if x.function == hazard.function] or fit
    return fit[0].text.strip() if fit else ""
