"""Time the convolution project's reference kernels on this machine's card, each in turns with the vendor's library.

python tools/measure_project.py --out results/project.h200.json    half a minute on a card; nothing is predicted
python tools/measure_project.py --out FILE --batch 8               a smoke test, also without a card: times mean nothing

Kernels are built and compared with float64 exactly as `course grade --leaderboard` does it, but in this process: they
are the key's own. The right values of a layer are computed once. What the counts predict for the same kernels is in
tests/grading/test_project_times.py, which needs no card.
"""

from __future__ import annotations

import datetime
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import project_teams  # noqa: E402

from course_lib.bench.gpu import with_numpy  # noqa: E402
from course_lib.bench.gpu.run import describe_gpu  # noqa: E402
from course_lib.checks.registry import find  # noqa: E402
from course_lib.grading import card_process, on_card  # noqa: E402

EXERCISES = {"c1": "project.10", "c3": "project.11"}


def rows(batch: int = 0, timer: Callable | None = None) -> Iterator[dict]:
    """Yield a row of each kernel: {"layer", "kernel", "microseconds", "vendor", "against", "card", "reason"}.

    `batch` and `timer` as `on_card.request_of` and `card_process.measured` take them. No errors of kernels: reasons.
    """
    for layer, id in EXERCISES.items():
        right = {}

        def values(x, w, right=right):
            key = x[:1].tobytes()  # the inputs of a layer are the same for all of its kernels
            if key not in right:
                right[key] = card_process.right_values(x, w)
            return right[key]

        for name, text in project_teams.key().REFERENCES[layer].items():
            reply = card_process.measured(on_card.request_of(find(id), text, batch), timer, values)
            yield {"layer": layer, "kernel": name, "microseconds": _shown(reply["seconds"]),
                   "vendor": _shown(reply["vendor"]), "against": reply["against"], "card": reply["card"],
                   "reason": reply["reason"]}  # fmt: skip


def _shown(seconds):
    return None if seconds is None else round(1e6 * seconds, 1)


def _launched(rivals):
    """Launch everything once; a time without a card means nothing."""
    return {name: 1e-6 for name in rivals if [call() for call in rivals[name]]}


def main(
    out: Annotated[Path, typer.Option(help="The JSON file to write: results/project.<card>.json.")],
    batch: Annotated[int, typer.Option(min=0, help="Images; 0 for the project's 10,000.")] = 0,
) -> None:
    """Time every kernel and write the file, also after each one."""
    machine, timer = describe_gpu(with_numpy), None if on_card.has_card() else _launched
    found, began = [], time.perf_counter()
    for row in rows(batch, timer):
        found.append(row)
        about = {"bench": "project", "date": datetime.date.today().isoformat(), "machine": machine}
        about |= {"batch": batch or find(EXERCISES["c1"]).batch, "rows": found}
        out.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        time_or_not = row["reason"] or f"{row['microseconds']} us, {row['against']} {row['vendor']} us"
        print(f"{row['layer']} {row['kernel']}: {time_or_not} [{time.perf_counter() - began:.0f} s]", flush=True)


if __name__ == "__main__":
    typer.run(main)
