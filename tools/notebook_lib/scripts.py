"""A lesson's source: the py:percent script, read as a notebook with stable cell ids, and compared with a built one."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from notebook_lib.footnotes import NoteError, Notes
from notebook_lib.onward import onward

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# Written out instead of taken from the kernel: the kernel's own has the Python patch version in it, which differs
# from machine to machine. The rest is what JupyterLab, GitHub and nbconvert need in order to colour the code.
LANGUAGE_INFO = {
    "name": "python",
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
}
LESSON_NAME = re.compile(r"\d\d[a-z]?_\w+")
FORM = "course_form"  # in a script's header, below ``jupyter:``; 2 is the form that CONTRIBUTING.md describes
HIDDEN = {"hide-input": "source_hidden", "hide-output": "outputs_hidden"}  # tag: what JupyterLab reads
ADDED = ("sources", "onward")  # ids of the cells that no script has


@dataclass(frozen=True)
class Pair:
    """One lesson or sheet: its script, the notebook that is built from it, and of a sheet the one with stubs."""

    script: Path
    notebook: Path
    student: Path | None = None

    @property
    def name(self) -> str:
        return f"solutions/{self.script.stem}" if self.student else self.script.stem


def find_pairs(source: Path, target: Path, select: list[str] | None = None, *, may_be_none: bool = False) -> list[Pair]:
    """All lessons ``source/NN_topic.py`` with their ``target/NN_topic.ipynb``, in order.

    Parameters
    ----------
    source, target : Path
        Folder of the scripts and folder of the notebooks. Lessons use the same folder for both.
    select : list of str, optional
        Beginnings of names: ``["01", "03"]`` or ``["03_loss"]``. Empty or None: all.
    may_be_none : bool
        Whether a selector may fit no lesson, because it fits something else.

    Raises
    ------
    LookupError
        If a selector fits no lesson.
    """
    scripts = lesson_scripts(source)
    for wanted in select or []:
        if not may_be_none and not any(p.stem.startswith(wanted) for p in scripts):
            have = ", ".join(p.stem for p in scripts) or "none"
            raise LookupError(f"no lesson in {source} begins with {wanted!r}; there are: {have}")
    chosen = [p for p in scripts if not select or any(p.stem.startswith(s) for s in select)]
    return [Pair(p, target / f"{p.stem}.ipynb") for p in chosen]


def lesson_scripts(folder: Path) -> list[Path]:
    """The scripts of all lessons in a folder, in order."""
    return sorted(p for p in folder.glob("*.py") if LESSON_NAME.fullmatch(p.stem))


def read_script(path: Path) -> NotebookNode:
    """The script as an unexecuted notebook: sources, tags, ids and our metadata, nothing that changes by itself.

    A cell's id comes from its content, so that editing or inserting one cell leaves all other ids as they were. Notes
    become raised numbers, and what no script says is added: the list of sources and, in the new form, the links from
    page to page. ValueError for a cell of another kind and for text behind a cell's marker, NoteError for a wrong note.
    """
    read = jupytext.read(path, fmt="py:percent")
    cells, used, notes = [], set(), Notes()
    for cell in read.cells:
        new = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}.get(cell.cell_type)
        if new is None:
            raise ValueError(f"{path.name}: cell type {cell.cell_type!r}; lessons have markdown and code cells only")
        if lost := cell.metadata.get("title"):  # jupytext takes it for a cell's name, and no notebook shows it
            raise ValueError(
                f"{path.name}, cell {len(cells) + 1}: {lost!r} stands behind the cell's marker, where it is no text; "
                "begin it on the next line."
            )
        fresh = new(cell.source)
        fresh.metadata = cell_metadata(cell.metadata.get("tags", []))
        fresh["id"] = _cell_id(fresh, used)
        if fresh.cell_type == "markdown":
            try:
                fresh.source = notes.raised(fresh.source)
            except NoteError as error:
                raise NoteError(f"{path.name}, cell {len(cells) + 1}: {error}") from None
        cells.append(fresh)
    metadata = {"kernelspec": dict(KERNELSPEC), "language_info": dict(LANGUAGE_INFO)}
    added = {"sources": notes.sources() if notes else "", "onward": ""}
    if FORM in read.metadata:
        metadata[FORM] = read.metadata[FORM]
        added["onward"] = onward(path, lesson_scripts(path.parent))
    cells += [nbformat.v4.new_markdown_cell(added[id_], id=id_) for id_ in ADDED if added[id_]]
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def cell_metadata(tags: list[str]) -> NotebookNode:
    """All metadata that a cell has: its tags, and what JupyterLab reads instead of them."""
    hidden = {key: True for tag, key in HIDDEN.items() if tag in tags}
    metadata = ({"tags": list(tags)} if tags else {}) | ({"jupyter": hidden} if hidden else {})
    return nbformat.from_dict(metadata)


def _cell_id(cell: NotebookNode, used: set[str]) -> str:
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:10]
    cell_id, n = digest, 1
    while cell_id in used:  # the same text twice in one lesson
        n += 1
        cell_id = f"{digest}-{n}"
    used.add(cell_id)
    return cell_id


def first_difference(script: NotebookNode, built: NotebookNode) -> str | None:
    """What makes the built notebook differ from its script: the first cell that does, in words; None if nothing.

    Compares kinds, sources, tags and ids of the cells in their order, and that every code cell was executed.
    Outputs are nbval's business.
    """
    forms = [notebook.metadata.get(FORM) for notebook in (built, script)]
    if forms[0] != forms[1]:
        return f"{FORM} is {forms[0]} in the notebook and {forms[1]} in the script"
    for number, (want, have) in enumerate(zip(script.cells, built.cells, strict=False), start=1):
        if want.cell_type != have.cell_type:
            return f"cell {number} is {have.cell_type} in the notebook and {want.cell_type} in the script"
        if want.source != have.source:
            return f"cell {number} ({want.cell_type}): {_line_difference(want.source, have.source)}"
        tags = [cell.metadata.get("tags", []) for cell in (have, want)]
        if tags[0] != tags[1]:
            return f"cell {number} has tags {tags[0]} in the notebook and {tags[1]} in the script"
        folds = [cell.metadata.get("jupyter", {}) for cell in (have, want)]
        if folds[0] != folds[1]:
            return f"cell {number} is folded as {dict(folds[0])} in the notebook, its tags say {dict(folds[1])}"
        if want.id != have.get("id"):
            return f"cell {number} has id {have.get('id')} in the notebook, the build gives it {want.id}"
    if (n_want := len(script.cells)) != (n_have := len(built.cells)):
        return f"cell {min(n_want, n_have) + 1}: the notebook has {n_have} cells and the script {n_want}"
    for number, cell in enumerate(built.cells, start=1):
        if cell.cell_type == "code" and cell.source.strip() and cell.execution_count is None:
            return f"cell {number} was never executed in the notebook"
    return None


def _line_difference(want: str, have: str) -> str:
    wanted, got = want.splitlines(), have.splitlines()
    for i in range(max(len(wanted), len(got))):
        lines = [side[i] if i < len(side) else "(no such line)" for side in (got, wanted)]
        if lines[0] != lines[1]:
            return f"line {i + 1} is {lines[0]!r} in the notebook and {lines[1]!r} in the script"
    return "the sources differ in their line endings"


def check_pair(pair: Pair) -> str | None:
    """`first_difference` of a lesson on disk; a missing or unreadable notebook is a difference too.

    Of a sheet, the metadata of its cells and every byte of the notebook with stubs are compared as well.
    """
    if not pair.notebook.exists():
        return "there is no built notebook"
    try:
        built = nbformat.read(pair.notebook, as_version=4)
    except Exception as error:  # any damage means the same: build it again
        return f"the built notebook cannot be read ({type(error).__name__}: {error})"
    if pair.student:
        from notebook_lib.sheet_build import sheet_difference

        return sheet_difference(pair, built)
    return first_difference(read_script(pair.script), built)
