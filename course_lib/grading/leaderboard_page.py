"""The leaderboard as files: a page to show, a table, and a list of who is who for the instructor alone.

Source: the course's own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from course_lib.checks.predicted import significant
from course_lib.grading.csvfile import write_atomically, write_csv
from course_lib.grading.leaderboard import Entry, add_times, entries_of, layers_of, placed
from course_lib.grading.pages import one_line, page

PAGE, TABLE, WHO = "leaderboard.html", "leaderboard.csv", "leaderboard_who.csv"

COUNTS = (
    ("global_load_requests", "load requests"), ("global_load_sectors", "sectors loaded"),
    ("global_store_sectors", "sectors stored"), ("shared_load_requests", "shared load requests"),
    ("constant_load_requests", "constant load requests"), ("moved_bytes", "bytes moved"), ("flops", "flops"),
)  # fmt: skip
"""What is shown of a kernel's counts: of the launch for as many images as the check walks."""


def write_leaderboard(folder: Path, finals: list[dict], sheet, measure: Callable | None = None) -> list[Path]:
    """Write the page, the table and the list of who is who, and return their paths.

    Parameters
    ----------
    folder : Path
    finals : list of dict
        Final results; those of other sheets are passed over.
    sheet : Sheet
        With exercises whose time counts.
    measure : callable, optional
        As `add_times`; without one nothing is measured.

    OSError if one cannot be written. Source: the course's own.
    """
    entries = entries_of([result for result in finals if result["sheet"] == sheet.name], sheet.exercises)
    if measure is not None:
        add_times(entries, sheet.exercises, measure)
    entries = placed(entries)
    text = leaderboard(entries, sheet)
    write_atomically(folder / PAGE, text.encode("utf-8", "backslashreplace"))
    write_csv(folder / TABLE, rows_of(entries, sheet), excel=True)
    who = [[student, entry.name] for entry in entries for student in entry.students]
    write_csv(folder / WHO, [["student", "shown as"], *sorted(who)], excel=True)
    return [folder / PAGE, folder / TABLE, folder / WHO]


def leaderboard(entries: list[Entry], sheet) -> str:
    """Return the page on placed entries. No errors. Source: the course's own."""
    layers = layers_of(sheet.exercises)
    any_time = [layer for entry in entries for layer in entry.layers.values() if layer.measured]
    fastest = {name: min((_time(e.layers[name]) for e in entries if name in e.layers), default=None) for name in layers}
    first = next(iter(layers.values()))
    return page(
        "leaderboard.html.j2", title=f"Leaderboard: {one_line(sheet.name.replace('_', ' '))}", layers=list(layers),
        rows=[_row(entry, layers, fastest) for entry in entries], device=first.device, batch=f"{first.batch:,}",
        against=any_time[0].against if any_time else "", counted=[says for _, says in COUNTS],
        images=first.cases[-1].args[0].shape[0], walked=[
            {"name": entry.name, "layer": name, "numbers": [_whole(layer.counts.get(c)) for c, _ in COUNTS]}
            for entry in entries for name, layer in entry.layers.items()
        ],
        reasons=[{"name": entry.name, "layer": name, "says": layer.reason}
                 for entry in entries for name, layer in (*entry.layers.items(), *entry.left_out.items())
                 if layer.reason],
    )  # fmt: skip


def _row(entry, layers, fastest):
    cells = []
    for name in layers:
        layer = entry.layers.get(name)
        cells.append({
            "predicted": _shown(layer.predicted) if layer else "", "measured": _shown(layer.measured) if layer else "",
            "share": f"{layer.share:.0%}" if layer and layer.share else "",
            "best": bool(layer) and _time(layer) == fastest[name],
        })  # fmt: skip
    whole = len(entry.layers) == len(layers)
    total = {"predicted": "", "measured": ""}
    if whole:
        for what in total:
            times = [getattr(layer, what) for layer in entry.layers.values()]
            total[what] = _shown(sum(times)) if None not in times else ""
    return {"place": "" if entry.place is None else str(entry.place), "name": entry.name, "stage": entry.stage,
            "cells": cells, "total": total}  # fmt: skip


def _time(layer):
    return significant(layer.measured or layer.predicted)


def _shown(microseconds):
    return "" if microseconds is None else f"{significant(microseconds):,}"


def _whole(number):
    return "" if number is None else f"{number:,}"


def rows_of(entries: list[Entry], sheet) -> list[list[str]]:
    """Return the rows of leaderboard.csv, the head first. No errors. Source: the course's own."""
    layers = layers_of(sheet.exercises)
    head = ["place", "team", "stage"]
    for name, exercise in layers.items():
        head += [f"{name} predicted us ({exercise.device})", f"{name} measured us", f"{name} share of vendor"]
        head += [f"{name} {says}" for _, says in COUNTS]
    rows = [head]
    for entry in entries:
        row = ["" if entry.place is None else str(entry.place), entry.name, entry.stage]
        for name in layers:
            layer = entry.layers.get(name)
            if layer is None:
                row += [""] * (3 + len(COUNTS))
                continue
            row += ["" if t is None else f"{significant(t)}" for t in (layer.predicted, layer.measured)]
            row.append(f"{layer.share:.2f}" if layer.share else "")
            row += [str(layer.counts.get(counter, "")) for counter, _ in COUNTS]
        rows.append(row)
    return rows
