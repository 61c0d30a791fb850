"""Make submissions of made-up students for a sheet: right, half right, wrong and hostile, and the points each is due.

python tools/make_submissions.py build/submissions --count 200 --hostile 0.2
course grade build/submissions -o build/grades
python tools/make_submissions.py build/submissions --compare build/grades

The same class as an export: --as moodle, canvas, gradescope, files, folders or sections; a name that ends in .zip makes
a zip. With one seed the submissions are the same, so each export must give the same points:

python tools/make_submissions.py build/class_moodle.zip --count 30 --as moodle

To try the grader before the first students hand in, and to see that it is fair at a size. The same seed makes the same.
"""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import nbformat
import numpy as np
import typer
from notebook_lib import class_exports
from notebook_lib.kill import run_answer, sheet_names
from notebook_lib.sheets import BEGIN, END, cells_of, read_sheet, stub_of, student_version
from rich.console import Console

from course_lib.checks.registry import sheet as sheet_named
from course_lib.grading.keys import load_keys, parts_of, score

ROOT = Path(__file__).resolve().parents[1]
DUE = "due.csv"
MOST_SHOWN = 20  # lines of what is not as due
console = Console(highlight=False)

AFTER = {
    "ends the process": "import os\nos._exit(0)",
    "ends Python": "raise SystemExit",
    "never ends": "while True:\n    pass",
    "swallows interrupts": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "sleeps": "import time\ntime.sleep(1000)",
    "asks": "input('your name? ')",
    "50 MB of output": "print('x' * 50_000_000)",
    "eats memory": "x = []\nwhile len(x) < 3000:\n    x.append(bytearray(1 << 20))",
    "kills itself": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "patches the checker": "import course_lib.checks as c, numpy as np\nc.check = np.allclose = lambda *a, **k: True",
    "forges a score": 'print(\'{"points": 99, "score": "10/10"}\')',
    "leaves children": "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)",
}
"""Hostile cells at the end of right answers: they are due full points, as all of their answers are right."""

FILES = {
    "an empty file": lambda text: b"",
    "a cut-off file": lambda text: text[: len(text) // 2],
    "no notebook": lambda text: b"%PDF-1.4 this is another file",
}
"""What is handed in instead of a notebook: due 0."""


def main(
    out: Annotated[Path, typer.Argument(help="Folder or zip of the submissions; made, must not exist yet.")],
    count: Annotated[int, typer.Option(min=1, help="Students.")] = 12,
    hostile: Annotated[float, typer.Option(min=0, max=1, help="Share of hostile ones.")] = 0.2,
    sheet: Annotated[str, typer.Option(help="Which sheet.")] = "01_perceptron",
    seed: Annotated[int, typer.Option()] = 0,
    layout: Annotated[str, typer.Option("--as", help=f"Handed in as {', '.join(class_exports.LAYOUTS)}.")] = "folders",
    compare: Annotated[Path | None, typer.Option(help="Compare grades with what is due, and make nothing.")] = None,
) -> None:
    """Make submissions, or compare what they got with what they are due."""
    due = out.parent / f"{out.name}.{DUE}"
    if compare:
        raise typer.Exit(_compare(due, compare))
    if out.exists():
        console.print(f"{out} is there already; name a new folder, or remove it.")
        raise typer.Exit(2)
    if layout not in class_exports.LAYOUTS:
        console.print(f"--as {layout} is none of {', '.join(class_exports.LAYOUTS)}.")
        raise typer.Exit(2)
    rng, maker = np.random.default_rng(seed), _Maker(sheet)
    made = [maker.hostile(rng) if rng.random() < hostile else maker.honest(rng) for _ in range(count)]
    files, ids = class_exports.export(layout, [{f"{sheet}.ipynb": content} for _, content, _ in made])
    out.parent.mkdir(parents=True, exist_ok=True)
    class_exports.write(files, out)
    rows = [(id, what, str(points)) for id, (what, _, points) in zip(ids, made, strict=True)]
    with due.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("student", "what", "points"), *rows])
    console.print(f"{count} submissions in {out}; what each is due is in {due}.")


def _compare(due: Path, grades: Path) -> int:
    if missing := [str(path) for path in (due, grades / "results") if not path.exists()]:
        console.print(f"there is no {' and no '.join(missing)}; make submissions and grade them first.")
        return 2
    with due.open(encoding="utf-8", newline="") as file:
        wanted = {row["student"]: row for row in csv.DictReader(file)}
    results = [json.loads(p.read_text(encoding="utf-8")) for p in sorted((grades / "results").rglob("*.json"))]
    got = {r["student"]: Fraction(r["points"]) for r in results if "points" in r}
    wrong = [
        f"{name} ({row['what']}): due {row['points']}, got {got.get(name, 'no result')}"
        for name, row in wanted.items()
        if got.get(name) != Fraction(row["points"])
    ]
    for line in wrong[:MOST_SHOWN]:
        console.print(line)
    console.print(f"{len(wanted) - len(wrong)} of {len(wanted)} got exactly what they are due.")
    return 1 if wrong else 0


class _Maker:
    """Makes notebooks of one sheet from its solutions, stubs and wrong answers; points as the kill table gives them."""

    def __init__(self, name: str) -> None:
        self.name, self.source = name, read_sheet(ROOT / "solutions" / f"{name}.py")
        self.cells = cells_of(self.source, "exercise")
        keys = load_keys(str(ROOT / "solutions" / "keys"), name)
        self.tasks = [e for e in sheet_named(name).exercises if e.kind != "text"]
        setup = sheet_names(self.source, name)
        self.answers = {}
        for task in self.tasks:
            solution, parts = self.cells[task.id].source, parts_of(task, keys[task.id])
            texts = [solution, stub_of(self.cells[task.id], task), *(m.text for m in keys[task.id].mutants)]
            required = getattr(task, "required", ())
            self.answers[task.id] = [
                (t, score(task.points, run_answer(task, parts, t, setup), required)) for t in texts
            ]

    def _book(self, chosen: dict, extra: str = "") -> bytes:
        book = student_version(self.source, self.name)
        for cell in book.cells:
            id = cell.metadata.get("nbgrader", {}).get("grade_id", "").removeprefix("exercise-").replace("-", ".")
            if id in chosen:
                cell.source = "\n".join(line for line in chosen[id].split("\n") if line.strip() not in (BEGIN, END))
        if extra:
            book.cells.append(nbformat.v4.new_code_cell(extra))
        return nbformat.writes(book).encode()

    def honest(self, rng: np.random.Generator) -> tuple[str, bytes, Fraction]:
        """A student who solves most: half of the answers are right, a tenth not started, the others wrong."""
        picked = {}
        for task in self.tasks:
            options, chance = self.answers[task.id], rng.random()
            picked[task.id] = options[0 if chance < 0.5 else 1 if chance < 0.6 else int(rng.integers(2, len(options)))]
        points = sum((p for _, p in picked.values()), Fraction(0))
        return "honest", self._book({id: text for id, (text, _) in picked.items()}), points

    def hostile(self, rng: np.random.Generator) -> tuple[str, bytes, Fraction]:
        """Right answers with a hostile cell below, or no notebook at all."""
        right = {task.id: self.answers[task.id][0] for task in self.tasks}
        what = str(rng.choice([*AFTER, *FILES]))
        text = self._book({id: answer for id, (answer, _) in right.items()}, AFTER.get(what, ""))
        if what in FILES:
            return what, FILES[what](text), Fraction(0)
        return what, text, sum((p for _, p in right.values()), Fraction(0))


if __name__ == "__main__":
    typer.run(main)
