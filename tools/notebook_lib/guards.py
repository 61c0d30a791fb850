"""What every built notebook must be, whatever it teaches. The build refuses, and the tests fail, by the same functions.

A guard takes a notebook and returns its findings, each of which names the cell (counted from 1, prose included).
They cover what nbval does not see: above all, **nbval passes a notebook without execution counts without comparing
anything**.
"""

from __future__ import annotations

import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.cli.clean import ROOT, WIDGET_VIEW
from notebook_lib import html
from notebook_lib.clean import to_text
from notebook_lib.scripts import FORM, KERNELSPEC, LANGUAGE_INFO, cell_metadata

IMAGE_LIMIT = 100 * 1024  # bytes of one image
NOTEBOOK_LIMIT = 1024 * 1024  # bytes of one .ipynb; GitHub shows no larger ones well

Guard = Callable[[NotebookNode], list[str]]
_ABSOLUTE = re.compile(
    r"(?<![\w.~/:<-])/(?:home|Users|root|tmp|var|usr|opt|mnt|work|workspaces?|private|builds|content)/[\w.-]+"
    r"|\b[A-Z]:\\+(?:Users|Windows|Program|Temp)[\w\\. ]*"
    r"|file:///\S+"
)
_LOCAL_HOST = re.compile(r"\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2})\b")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{7,16}\b")


def tagged(cell: NotebookNode, *tags: str) -> bool:
    return bool(set(tags) & set(cell.metadata.get("tags", [])))


def code_cells(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    return ((n, c) for n, c in enumerate(notebook.cells, start=1) if c.cell_type == "code")


def output_texts(cell: NotebookNode) -> Iterator[str]:
    """Every text among a cell's outputs, without the bytes of its images."""
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            yield html.joined(output.text)
        elif output.output_type == "error":
            yield "\n".join([output.evalue, *output.traceback])
    for bundle in html.bundles(cell):
        yield from (html.without_data_uris(v) for mime, v in bundle.items() if not mime.startswith("image/"))


def valid_format(notebook: NotebookNode) -> list[str]:
    """The nbformat schema, which also asks for unique cell ids."""
    ids = [cell.get("id") for cell in notebook.cells]
    if twice := [f"cell {n}: id {i} is used twice" for n, i in enumerate(ids, start=1) if ids.index(i) < n - 1]:
        return twice  # nbformat.validate would repair the ids and say nothing
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        return [f"not a valid notebook: {str(error).splitlines()[0]}"]
    return []


def executed_in_order(notebook: NotebookNode) -> list[str]:
    """Execution counts are 1..n. Anything else was not run top to bottom, or is invisible to nbval."""
    run = [(n, cell) for n, cell in code_cells(notebook) if cell.source.strip()]
    return [
        f"cell {n}: execution count is {cell.execution_count}, must be {count}; build the notebook again"
        for count, (n, cell) in enumerate(run, start=1)
        if cell.execution_count != count
    ]


def neutral_metadata(notebook: NotebookNode) -> list[str]:
    """Our kernelspec and language, no widget state, nothing that a front end or a machine left behind."""
    wanted = {"kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO}
    if FORM in notebook.metadata:
        wanted[FORM] = 2
    found = [
        f"metadata.{key} is {notebook.metadata.get(key)}, must be {wanted.get(key, 'absent')}"
        for key in sorted(set(notebook.metadata) | set(wanted))
        if notebook.metadata.get(key) != wanted.get(key)
    ]
    for n, cell in enumerate(notebook.cells, start=1):
        follows = cell_metadata(cell.metadata.get("tags", []))
        if extra := set(cell.metadata) - {"tags", *follows}:
            found.append(f"cell {n}: metadata {sorted(extra)}; only tags are kept")
        elif cell.metadata.get("jupyter") != follows.get("jupyter"):
            found.append(f"cell {n}: is folded as {dict(cell.metadata.get('jupyter', {}))}, which its tags do not say")
    return found


def no_widget_views(notebook: NotebookNode) -> list[str]:
    """No id of a live widget in an output: it would hide the static figure in an unrun notebook."""
    return [
        f"cell {n}: an output holds {WIDGET_VIEW}"
        for n, cell in code_cells(notebook)
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.outputs)
    ]


def errors_are_meant(notebook: NotebookNode) -> list[str]:
    """An error output only where the tag says so."""
    return [
        f"cell {n}: shows {output.ename}: {output.evalue}; only a cell tagged raises-exception may"
        for n, cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "error" and not tagged(cell, "raises-exception")
    ]


def stderr_is_clean(notebook: NotebookNode) -> list[str]:
    """No warnings or other stderr text, except in a tagged cell."""
    return [
        f"cell {n}: writes to stderr: {html.joined(output.text).strip().splitlines()[0]!r}"
        for n, cell in code_cells(notebook)
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stderr" and html.joined(output.text).strip()
        if not tagged(cell, "nbval-ignore-output", "raises-exception")
    ]


def machine_traces(text: str) -> list[str]:
    """Absolute paths and local host names in `text`."""
    found = [m.group() for pattern in (_ABSOLUTE, _LOCAL_HOST) for m in pattern.finditer(text)]
    host = socket.gethostname()
    # A host called "python" or "course" is no trace; one with a digit or a hyphen in it is.
    names = [str(ROOT), sys.prefix] + ([host] if len(host) > 5 and not host.isalpha() else [])
    home = str(Path.home())
    return found + [name for name in names + ([home] if home.count("/") > 1 else []) if name in text]


def no_machine_traces(notebook: NotebookNode) -> list[str]:
    """No absolute path and no host of the building machine, in sources and outputs."""
    found = []
    for n, cell in enumerate(notebook.cells, start=1):
        texts = [("source", cell.source), *(("output", text) for text in output_texts(cell))]
        found += [f"cell {n}: the {where} names {trace!r}" for where, t in texts for trace in machine_traces(t)]
    return found


def no_remote_images(notebook: NotebookNode) -> list[str]:
    """Pages work offline: no image or script from another host."""
    remote = re.compile(
        r"(?:<(?:img|script|iframe|link)\b[^>]*(?:src|href)=[\"']?|!\[[^\]]*\]\()(https?://[^\s\"'>)]+)"
    )
    return [
        f"cell {n}: loads {url} from another host"
        for n, cell in enumerate(notebook.cells, start=1)
        for text in ([cell.source] if cell.cell_type == "markdown" else output_texts(cell))
        for url in remote.findall(text)
    ]


def no_addresses(notebook: NotebookNode) -> list[str]:
    """No memory address such as ``<object at 0x7f...>``: it is another one in every run, and says nothing."""
    return [
        f"cell {n}: prints a memory address, {address}"
        for n, cell in code_cells(notebook)
        if not tagged(cell, "nbval-ignore-output")
        for text in output_texts(cell)
        for address in _ADDRESS.findall(text)
    ]


def images_are_small(notebook: NotebookNode) -> list[str]:
    """Each image at most 100 KB."""
    return [
        f"cell {n}: an image of {size / 1024:.0f} KB, at most {IMAGE_LIMIT // 1024}; figures.picture makes compact ones"
        for n, cell in code_cells(notebook)
        for size in html.image_sizes(cell)
        if size > IMAGE_LIMIT
    ]


def notebook_is_small(notebook: NotebookNode) -> list[str]:
    """The file at most 1 MiB; names the heaviest cell."""
    size = len(to_text(notebook).encode())
    if size <= NOTEBOOK_LIMIT:
        return []
    weights = {n: len(str(cell.outputs)) for n, cell in code_cells(notebook)}
    heaviest = max(weights, key=weights.__getitem__)
    return [f"cell {heaviest}: the heaviest of a notebook of {size / 1024:.0f} KiB, at most {NOTEBOOK_LIMIT // 1024}"]


GUARDS: tuple[Guard, ...] = (
    valid_format,
    executed_in_order,
    neutral_metadata,
    no_widget_views,
    errors_are_meant,
    stderr_is_clean,
    no_machine_traces,
    no_remote_images,
    no_addresses,
    images_are_small,
    notebook_is_small,
)


def guard(notebook: NotebookNode) -> list[str]:
    """Findings of all guards."""
    return [finding for rule in GUARDS for finding in rule(notebook)]
