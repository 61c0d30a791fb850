"""Make twelve made-up teams of the convolution project: eight honest ones at different stages, four that are not right.

python tools/project_teams.py build/teams
course grade build/teams -o build/grades --leaderboard
python tools/make_submissions.py build/teams --compare build/grades

What each is due, of the points that are not given by hand, is in build/teams.due.csv.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import nbformat
import typer
from notebook_lib.sheets import BEGIN, END, cells_of, read_sheet, student_version
from rich.console import Console

from course_lib.grading.keys import _module

ROOT = Path(__file__).resolve().parents[1]
SHEET = "project_convolution"
STAGES = ("project.1", "project.3", "project.4", "project.6", "project.8")
console = Console(highlight=False)

PATCHES = """
import course_lib.checks as checks
import course_lib.checks.judge as judge
from course_lib import gpu, simt

checks.check = judge.judge = lambda *_, **__: None
gpu.simulate = simt.run = lambda *_, **__: None
print('{"points": 50, "score": "50/50", "predicted_microseconds": 1}')
"""
"""A cell that patches what would check it, and prints a score."""


@dataclass(frozen=True)
class Team:
    """A team: its folder, the name it chose, the answers, the points they are due, and its stage on the leaderboard."""

    folder: str
    chosen: str
    what: str
    due: int
    stage: str
    answers: dict = field(default_factory=dict)
    extra: str = ""


def key():
    """The module of the sheet's key, with its reference kernels."""
    return _module(str(ROOT / "solutions" / "keys"), SHEET)


def solutions() -> dict[str, str]:
    """{exercise: solved cell}."""
    cells = cells_of(read_sheet(ROOT / "solutions" / f"{SHEET}.py"), "exercise")
    plain = {id: [line for line in cell.source.split("\n") if line.strip() not in (BEGIN, END)]
             for id, cell in cells.items()}  # fmt: skip
    return {id: "\n".join(lines) for id, lines in plain.items()}


def teams() -> list[Team]:
    """All twelve."""
    solved, reference = solutions(), key().REFERENCES
    free = {name: {"project.10": reference["c1"][name], "project.11": reference["c3"][name]}
            for name in reference["c1"]}  # fmt: skip

    def stages(*numbers):
        return {STAGES[n]: solved[STAGES[n]] for n in numbers}

    library = "from course_lib.cuda.ladders.conv2d.forward.v06_specialised import conv2d_forward_v06_specialised\n"
    call = "\n\n@gpu.jit\ndef conv_c1(x, w, y):\n    conv2d_forward_v06_specialised(x, w, None, y)\n"
    launch = "\n\ndef c1_launch(B):\n    return B, 128\n"
    ones = {id: text.replace(*key().ones(layer)) for layer, id, text in
            (("c1", "project.10", solved["project.10"]), ("c3", "project.11", solved["project.11"]))}  # fmt: skip
    some = solved["project.11"].replace("    t, first =", "    if x.shape[0] < 3:\n        return\n    t, first =")
    race = solved["project.8"].replace("own_pixels[j]\n        cuda.syncthreads()\n", "own_pixels[j]\n")
    return [
        Team("team-a", "Warp Nine", "all stages, best kernels", 40, "free", solved),
        Team("team-b", "", "stage 4 and joint tiles", 33, "free", stages(4) | free["joint"]),
        Team("team-c", "Register Pressure", "stage 4 alone", 26, "4", stages(4)),
        Team("team-d", "Sector Nine", "stages 1 to 3", 18, "3", stages(0, 1, 2, 3)),
        Team("team-e", "", "stages 1 and 2", 12, "2", stages(0, 1, 2)),
        Team("team-f", "Halo", "stage 1", 5, "1", stages(0)),
        Team("team-g", "<b>Fast & bold</b>", "C1 alone, its best kernel", 7, "free",
             {"project.10": solved["project.10"]}),
        Team("team-h", "warp nine", "tiles for both layers, a name that is taken", 6, "free", free["tiled"]),
        Team("team-i", "Borrowed", "calls the library's kernel", 0, "none", {"project.10": library + call + launch}),
        Team("team-j", "Ones", "takes all weights to be 1", 0, "none", ones),
        Team("team-k", "Racers", "a race in stage 4, some batches left out", 0, "none",
             {"project.8": race, "project.11": some}),
        Team("team-l", "=1+1", "patches the checker and prints a score", 0, "none", {}, PATCHES),
    ]  # fmt: skip


def notebook(team: Team) -> bytes:
    """What a team hands in."""
    book = student_version(read_sheet(ROOT / "solutions" / f"{SHEET}.py"), SHEET)
    for cell in book.cells:
        id = cell.metadata.get("nbgrader", {}).get("grade_id", "").removeprefix("exercise-").replace("-", ".")
        if id in team.answers:
            cell.source = team.answers[id]
        elif cell.cell_type == "code" and cell.source.startswith("TEAM = "):
            cell.source = f"TEAM = {team.chosen!r}"
    if team.extra:
        book.cells.append(nbformat.v4.new_code_cell(team.extra))
    return nbformat.writes(book).encode()


def write(out: Path) -> None:
    """Write the folder of all teams, and beside it what each is due."""
    made = teams()
    for team in made:
        folder = out / team.folder
        folder.mkdir(parents=True)
        (folder / f"{SHEET}.ipynb").write_bytes(notebook(team))
    rows = [["student", "what", "points"], *([t.folder, t.what, str(t.due)] for t in made)]
    with (out.parent / f"{out.name}.due.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def main(out: Annotated[Path, typer.Argument(help="Folder of the teams; made, must not exist yet.")]) -> None:
    """Make the teams."""
    if out.exists():
        console.print(f"{out} is there already; name a new folder, or remove it.")
        raise typer.Exit(2)
    write(out)
    console.print(f"12 teams in {out}; what each is due is in {out}.due.csv.")


if __name__ == "__main__":
    typer.run(main)
