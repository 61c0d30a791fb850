"""Print the kill table: every exercise's solution has full marks, its stub 0, each wrong answer its own message.

python tools/kill_table.py            all sheets
python tools/kill_table.py 04 15      these
python tools/kill_table.py --brief    one line a sheet, and what is not as it must be
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from notebook_lib.kill import Row, kill_rows
from notebook_lib.sheets import read_sheet, sheet_problems
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from course_lib.checks.registry import SHEETS, sheet

SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions"
console = Console(highlight=False)
app = typer.Typer(add_completion=False)


@app.command()
def main(
    sheets: Annotated[list[str] | None, typer.Argument(help="Beginnings of sheets' names. None: all.")] = None,
    brief: Annotated[bool, typer.Option("--brief", help="One line a sheet.")] = False,
    folder: Annotated[Path, typer.Option(help="Where the solutions are.", exists=True, file_okay=False)] = SOLUTIONS,
) -> None:
    """Judge solutions, stubs and wrong answers; exit status 1 if one is not as it must be."""
    names = [n for n in SHEETS if not sheets or any(n.startswith(s) for s in sheets)]
    if not names:
        console.print(f"no sheet begins with {', '.join(sheets or [])}; there are {', '.join(SHEETS)}")
        raise typer.Exit(2)
    bad = 0
    for name in names:
        problems = sheet_problems(read_sheet(folder / f"{name}.py"), name)
        rows = list(kill_rows(name, folder))
        wrong = [row for row in rows if row.problem]
        bad += len(wrong) + len(problems)
        if not brief:
            console.print(_table(name, rows))
        killed = sum(row.answer not in ("solution", "stub", "key") and not row.problem for row in rows)
        exercises = sheet(name).exercises
        console.print(f"{name}: {len(exercises)} exercises, {sum(e.points for e in exercises)} points, {killed} wrong "
                      f"answers rejected with their messages, {len(wrong) + len(problems)} problems")  # fmt: skip
        for text in [*problems, *(f"{row.id} {row.answer}: {row.problem}; told: {row.says}" for row in wrong)]:
            console.print(f"  [red]{escape(text)}[/red]")
    raise typer.Exit(1 if bad else 0)


def _table(name: str, rows: list[Row]) -> Table:
    table = Table(title=f"{name}: who is told what", title_justify="left", show_lines=False)
    for column in ("exercise", "answer", "points", "is told", "problem"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(row.id, row.answer, f"{float(row.points):g} of {row.of}", escape(row.says), escape(row.problem))
    return table


if __name__ == "__main__":
    app()
