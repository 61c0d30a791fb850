"""Run notebooks in unusual shapes by Jupyter, by `course check` and by the grader, and compare what each finds solved.

python tools/unusual_notebooks.py                    # all: some minutes
python tools/unusual_notebooks.py history "old for"  # those with these words in their names
python tools/unusual_notebooks.py --keep build/unusual

Each is made from the model answers, so that all of its checks pass where Jupyter runs it from the top. The exit status
is 0 if the three agree in all of them, exercise by exercise and in points.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import nbformat
import typer
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from notebook_lib.fresh_kernel import run_in_fresh_kernel
from rich.console import Console
from unusual import files, forms, given_again, kernels, shell  # noqa: F401 (they enter their shapes)
from unusual.books import SHAPES, Shape

from course_lib.checks.registry import sheet as sheet_named
from course_lib.cli.kernel import kernel_environment
from course_lib.grading.host import Task, grade

ROOT = Path(__file__).resolve().parents[1]
KEYS = str(ROOT / "solutions" / "keys")
SECONDS = 300  # for a cell, and for `course check`
console = Console(highlight=False, width=150)


@dataclass(frozen=True)
class Found:
    """What one way of running a notebook found solved, its points, and what went wrong."""

    solved: tuple[str, ...]
    points: Fraction
    says: str = ""


def main(
    words: Annotated[list[str] | None, typer.Argument(help="Words of the names of shapes; all shapes without.")] = None,
    keep: Annotated[Path | None, typer.Option(help="Keep the notebooks in this folder.")] = None,
) -> None:
    """Run the shapes three ways each, and print a table."""
    chosen = {name: make for name, make in SHAPES.items() if not words or any(word in name for word in words)}
    if not chosen:
        console.print(f"no shape has such a name; there are: {', '.join(SHAPES)}.")
        raise typer.Exit(2)
    same = 0
    console.print(f"{'shape':<66}{'Jupyter':>9}{'check':>9}{'grader':>9}{'points':>16}")
    for name, make in chosen.items():
        shape = make()
        with tempfile.TemporaryDirectory() as folder:
            ways = [run(shape, laid_out(shape, Path(folder) / run.__name__)) for run in (jupyter, checked, graded)]
        if keep:
            laid_out(shape, keep / name.replace(" ", "_"))
        agree = len({(way.solved, way.points) for way in ways}) == 1 and bool(ways[0].solved)
        same += agree
        counts = "".join(f"{len(way.solved):>9}" for way in ways)
        points = "/".join(str(way.points) for way in ways)
        console.print(f"{name:<66}{counts}{points:>16}  {'same' if agree else 'DIFFERENT'}", markup=False)
        for way, found in zip(("Jupyter", "check", "grader"), ways, strict=True):
            if not agree:
                console.print(f"    {way}: {' '.join(found.solved)}; {found.says}"[:2000], markup=False)
    console.print(f"{same} of {len(chosen)} are the same by Jupyter, by `course check` and by the grader.")
    raise typer.Exit(0 if same == len(chosen) else 1)


def laid_out(shape: Shape, folder: Path) -> Path:
    """Write a shape's files into a folder and return the notebook's path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in shape.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    path = folder / f"{shape.sheet}.ipynb"
    path.write_bytes(shape.content)
    return path


def jupyter(shape: Shape, path: Path) -> Found:
    """Run a notebook from the top in a kernel of Jupyter's, and read what its checks print."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    says = ""
    try:
        run_in_fresh_kernel(book, path.parent, timeout=SECONDS)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        says = str(error)
    printed = "".join(
        o.get("text", "") for c in book.cells if c.cell_type == "code" for o in c.outputs if o.output_type == "stream"
    )
    return _found(shape, re.findall(r"^(\S+\.\d+) .*: right in all \d+ public cases", printed, re.MULTILINE), says)


def checked(shape: Shape, path: Path) -> Found:
    """Run `course check`."""
    command = [sys.executable, "-c", "from course_lib.cli import app; app()", "check", str(path)]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, env=os.environ | kernel_environment(), check=False
    )
    return _found(shape, re.findall(r"^right +(\S+)", run.stdout, re.MULTILINE), run.stdout + run.stderr)


def graded(shape: Shape, path: Path) -> Found:
    """Grade the notebook with the files beside it; solved is whose public part passed, and the points are all."""
    handed_in = ((path.name, shape.content), *shape.files.items())
    result = grade(Task("student", shape.sheet, handed_in, KEYS))
    solved = [q["id"] for q in result["questions"] for p in q["parts"] if p["name"] == "public" and p["passed"]]
    lost = [text for q in result["questions"] if q["kind"] != "text" for text in q["lost"]]
    says = " ".join([result["says"], *result["notes"], *lost])
    return Found(tuple(sorted(solved)), Fraction(result["points"]), says)


def _found(shape: Shape, solved: list[str], says: str) -> Found:
    points = {e.id: e.points for e in sheet_named(shape.sheet).exercises}
    ids = tuple(sorted(set(solved)))
    return Found(ids, Fraction(sum(points[id] for id in ids)), says)


if __name__ == "__main__":
    typer.run(main)
