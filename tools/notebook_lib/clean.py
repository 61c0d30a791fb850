"""Make an executed notebook the same bytes wherever and whenever it was built."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from notebook_lib.scripts import KERNELSPEC, LANGUAGE_INFO

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
ROOT = Path(__file__).resolve().parents[2]


def clean(notebook: NotebookNode) -> NotebookNode:
    """Normalise metadata and outputs in place, and return the notebook.

    - Metadata: only kernelspec, language and tags stay.
    - A widget's view is an id of a model in a kernel that is gone: it is dropped from its bundle, so that an unrun
      notebook shows the static figure beside it.
    - Neighbouring pieces of one stream become one (where a stream is cut depends on the speed of the machine).
    - Tracebacks lose the paths of the machine.
    """
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO})
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": list(tags)} if tags else {})
        if cell.cell_type == "code":
            cell.outputs = _clean_outputs(cell.outputs)
    return notebook


def _clean_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    kept: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            last = kept[-1] if kept else {}
            if last.get("output_type") == "stream" and last.name == output.name:
                last.text += output.text
                continue
        elif output.output_type == "error":
            output.traceback = [without_machine_paths(line) for line in output.traceback]
        elif "data" in output:
            if output.data.pop(WIDGET_VIEW, None) is not None and not output.data:
                continue
            output.metadata = nbformat.from_dict({})
        kept.append(output)
    return kept


def without_machine_paths(text: str) -> str:
    """`text` with this machine's folders shortened: the repository's to nothing, others to ``...``."""
    home = str(Path.home())
    long = [f"{ROOT}/", *(f"{p}/" for p in {sys.prefix, sys.base_prefix, tempfile.gettempdir()})]
    # IPython writes the home folder as ~ in tracebacks.
    tilde = [p.replace(home, "~", 1) for p in long if home != "/" and p.startswith(home + "/")]
    text = re.sub(r"[\w/.~-]*/ipykernel_\d+/\d+\.py", "cell", text)
    text = re.sub(r"[\w/.~-]*/site-packages/", ".../site-packages/", text)
    for path in long + tilde:
        text = text.replace(path, "" if path in (long[0], long[0].replace(home, "~", 1)) else ".../")
    return text


def to_text(notebook: NotebookNode) -> str:
    """The notebook as JSON with sorted keys, one space of indent and a newline at the end."""
    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def write(notebook: NotebookNode, path: Path) -> None:
    """Write in one step: whoever reads meanwhile sees the old file or the new one, never half of one."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp", delete=False
    ) as file:
        file.write(to_text(notebook))
    try:
        os.chmod(file.name, 0o644)  # a temporary file is private; this one is to be committed
        os.replace(file.name, path)
    except OSError:
        os.unlink(file.name)
        raise
