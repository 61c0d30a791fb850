"""Attack a students' archive with its own checks: paste what it has of them into every answer, and let it be graded.

python tools/attack_release.py                          the archive of this course folder, all sheets, all attacks
python tools/attack_release.py build/release/course.zip --sheet 01 --attack e
python tools/attack_release.py old/course.zip           an archive of another day; the keys are this folder's

Exit status 0 if no exercise gets a point. Notebooks are graded as a class would hand them in, hidden parts too, at the
safest level that works here.
"""

from __future__ import annotations

import ast
import base64
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from course_lib.checks.registry import MODULES, SHEETS, sheet
from course_lib.grading.host import Task, grade
from course_lib.grading.release import release

ROOT = Path(__file__).resolve().parents[1]
CHECKS = "course_lib/checks/"
console = Console(highlight=False)

LOADER = '''
import base64, importlib.abc, importlib.util, json, sys
FILES = json.loads(base64.b64decode("{packed}"))
class Pasted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        for end in ("/__init__.py", ".py"):
            if name.replace(".", "/") + end in FILES:
                return importlib.util.spec_from_loader(name, self, is_package=end[0] == "/")
    def exec_module(self, module):
        file = module.__file__ = module.__name__.replace(".", "/")
        exec(FILES.get(file + ".py") or FILES[file + "/__init__.py"], vars(module))
sys.meta_path.insert(0, Pasted())
import pasted_checks.registry as registry
class Record(str):
    def is_file(self): return self in FILES
    def exists(self): return False
    def with_suffix(self, end): return self
    def read_text(self, encoding=None): return FILES[self]
registry.recorded_file = lambda module: Record(f"pasted_checks/exercises/{{module}}.json")
'''
"""A package `pasted_checks` out of one text, whatever the box lets an answer import."""

LOOK_UP = '''
import json
from course_lib.checks.recorded import recorded_exercises
from course_lib.checks.values import resolve
RECORD = json.loads({text!r})
for one in RECORD["exercises"]:
    one.pop("launch", 0), one.pop("requires", 0)
KNOWN = {{e.id: e for e in recorded_exercises(json.dumps(RECORD)) if e.kind != "text"}}
def look_up(id, *args):
    try:
        return KNOWN[id].expect(*args)
    except LookupError:  # a guess: what is right most often
        values = [KNOWN[id].expect(*map(resolve, case.args)) for case in KNOWN[id].cases]
        texts = list(map(repr, values))
        return values[texts.index(max(texts, key=texts.count))]
'''
"""The public results by their arguments, and of others the one that is right most often."""


class NothingToPaste(Exception):
    """The archive has nothing for this attack."""


def main(
    archive: Annotated[Path | None, typer.Argument(help="course.zip; that of this folder if none.")] = None,
    sheets: Annotated[list[str] | None, typer.Option("--sheet", help="Beginning of a sheet's name.")] = None,
    attacks: Annotated[list[str] | None, typer.Option("--attack", help=f"One of {', '.join('abcde')}.")] = None,
) -> None:
    """Print how many exercises get points by each attack; exit status 1 if one does."""
    with tempfile.TemporaryDirectory() as folder:
        files = read_archive(archive or release(ROOT, Path(folder)))
    names = [name for name in SHEETS if not sheets or name.startswith(tuple(sheets))]
    table = Table(title="Answers out of the archive's own checks", title_justify="left")
    for column in ("attack", "exercises", "with points", "in full", "points", "which"):
        table.add_column(column, overflow="fold")
    earned = 0
    for letter in attacks or ATTACKS:
        questions, missing = [], 0
        for name in names:
            if console.is_terminal:
                console.print(f"({letter}) {name:<40}", end="\r")
            try:
                questions += attacked(files, name, letter)
            except NothingToPaste:
                missing += 1
        some = [q["id"] for q in questions if Fraction(q["points"]) > 0]
        full = sum(Fraction(q["points"]) == q["of"] for q in questions)
        points, of = sum(Fraction(q["points"]) for q in questions), sum(q["of"] for q in questions)
        earned += len(some)
        asked = str(len(questions)) if not missing else f"{len(questions)}; {missing} sheets: nothing to paste"
        table.add_row(f"({letter}) {WHAT[letter]}", asked, str(len(some)), str(full), f"{float(points):g} of {of}",
                      " ".join(some[:12]) + (" ..." if len(some) > 12 else ""))  # fmt: skip
    console.print(table)
    raise typer.Exit(1 if earned else 0)


def read_archive(path: Path) -> dict[str, str]:
    """Return {path below the archive's folder: text} of what an attack may need."""
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if n.split("/", 1)[1].startswith((CHECKS, "exercises/"))]
        return {n.split("/", 1)[1]: archive.read(n).decode("utf-8") for n in names}


def attacked(files: dict[str, str], name: str, letter: str) -> list[dict]:
    """Return the graded questions of a sheet whose answers are an attack's; those in words are left out.

    Raises NothingToPaste where the archive has nothing for it.
    """
    setup, answer = ATTACKS[letter](files, name)
    handed_in = ((f"{name}.ipynb", notebook(files, name, setup, answer)),)
    result = grade(Task("attacker", name, handed_in, str(ROOT / "solutions" / "keys")))
    if result["status"] != "graded":
        raise RuntimeError(f"{name}: {result['status']}: {result['says']}")
    return [question for question in result["questions"] if question["kind"] != "text"]


def notebook(files: dict[str, str], name: str, setup: str, answer: Callable[[str], str]) -> bytes:
    """Return the archive's sheet with a cell before the answers, and an attack's text in place of each stub."""
    book = json.loads(files[f"exercises/{name}.ipynb"])
    exercises = {f"exercise-{e.id.replace('.', '-')}": e for e in sheet(name).exercises if e.kind != "text"}
    kept = []
    for cell in book["cells"]:
        about = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if about in exercises:
            exercise = exercises[about]
            cell["source"] = f"def {exercise.function}(*args):\n    return {answer(exercise.id)}(*args)\n"
        if not about.startswith("check-"):
            kept.append(cell)
    book["cells"] = [_cell("import numpy as np"), _cell(setup), *kept]
    return json.dumps(book).encode()


def _cell(source: str) -> dict:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}


def _modules(files: dict[str, str], name: str) -> list[str]:
    """Return the texts of a sheet's modules of exercises, what others import first and the sheet's own last."""
    module = MODULES[name]
    order = ("kernel_inputs", "launches", *(f"{module}_{of}" for of in ("launches", "values", "mistakes")), module)
    return [files[p] for m in order if (p := f"{CHECKS}exercises/{m}.py") in files]


def _alone(text: str) -> str:
    """Return a module's text without what it imports from other modules of exercises: no box has them."""
    lines = text.splitlines()
    for statement in ast.parse(text).body:
        if _imports(statement) and "course_lib.checks.exercises" in ast.unparse(statement):
            lines[statement.lineno - 1 : statement.end_lineno] = [""] * (statement.end_lineno - statement.lineno + 1)
    return "\n".join(lines)


def in_clear(files: dict[str, str], name: str) -> tuple[str, Callable[[str], str]]:
    """(a) The text of the sheet's modules; of an archive with records the reader's text, and the record as a text."""
    texts = [_alone(text) for text in _modules(files, name)]
    texts.insert(-1, "mistakes = launches = __import__('types').SimpleNamespace(**globals())")
    setup = "\n".join(texts)
    if (record := f"{CHECKS}exercises/{MODULES[name]}.json") in files:
        reader = files[f"{CHECKS}recorded.py"]
        setup += f"\n{reader}\n_code = print\nEXERCISES = recorded_exercises({files[record]!r})"
    return setup, lambda id: f"next(e for e in EXERCISES if e.id == {id!r}).expect"


def helpers(files: dict[str, str], name: str) -> tuple[str, Callable[[str], str]]:
    """(b) Only what `expect` is made of: its text, and the functions and constants that this needs."""
    text = "\n".join(_modules(files, name))
    tree = ast.parse(text)
    right = {}
    for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
        if getattr(call.func, "id", "") in ("Exercise", "KernelExercise"):
            given = {k.arg: k.value for k in call.keywords}
            id, expect = given.get("id") or call.args[0], given.get("expect") or (call.args + [None] * 9)[8]
            if expect is not None:
                right[id.value] = expect
    if not right:
        raise NothingToPaste
    defined = {n: s for s in tree.body for n in _names(s)}
    wanted = [n.id for value in right.values() for n in ast.walk(value) if isinstance(n, ast.Name)]
    kept = set()
    while wanted:
        if (statement := defined.get(wanted.pop())) and statement not in kept:
            kept.add(statement)
            wanted += [n.id for n in ast.walk(statement) if isinstance(n, ast.Name)]
    top = [s for s in tree.body if s in kept or (_imports(s) and "checks.exercises" not in ast.unparse(s))]
    setup = "\n".join(ast.get_source_segment(text, s) for s in top)
    return setup, lambda id: f"({ast.unparse(right[id])})"


def _imports(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _names(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return []


def whole_package(files: dict[str, str], name: str) -> tuple[str, Callable[[str], str]]:
    """(c) All of course_lib/checks, in base64, as a package of another name."""
    other = [f"exercises/{module}.json" for module in MODULES.values() if module != MODULES[name]]
    inside = {path.removeprefix(CHECKS): text for path, text in files.items() if path.startswith(CHECKS)}
    pasted = {f"pasted_checks/{path}": text.replace("course_lib.checks", "pasted_checks")
              for path, text in inside.items() if path not in other}  # fmt: skip
    pasted["pasted_checks/__init__.py"] = ""
    packed = base64.b64encode(json.dumps(pasted).encode()).decode()
    return LOADER.format(packed=packed), lambda id: f"registry.find({id!r}).expect"


def imported(files: dict[str, str], name: str) -> tuple[str, Callable[[str], str]]:
    """(d) The library's own: it is on every student's machine."""
    return "pass", lambda id: f"__import__('course_lib.checks.registry', fromlist=['find']).find({id!r}).expect"


def looked_up(files: dict[str, str], name: str) -> tuple[str, Callable[[str], str]]:
    """(e) The public results, looked up by the arguments; of other arguments a guess."""
    record = files.get(f"{CHECKS}exercises/{MODULES[name]}.json")
    if record is None:
        raise NothingToPaste
    return LOOK_UP.format(text=record), lambda id: f"(lambda *args: look_up({id!r}, *args))"


ATTACKS = {"a": in_clear, "b": helpers, "c": whole_package, "d": imported, "e": looked_up}
WHAT = {
    "a": "the modules' text, in clear",
    "b": "only expect and what it needs",
    "c": "all of course_lib/checks, in base64",
    "d": "course_lib.checks.registry.find",
    "e": "the recorded results, looked up",
}

if __name__ == "__main__":
    sys.exit(typer.run(main))
