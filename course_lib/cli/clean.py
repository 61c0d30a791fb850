"""Make the outputs of an executed notebook the same bytes wherever they were made, and free of this machine's paths."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.figures.explore import WIDGET_VIEW

__all__ = ["ROOT", "WIDGET_VIEW", "clean_outputs", "without_machine_paths"]

ROOT = Path(__file__).resolve().parents[2]


def clean_outputs(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Return a cell's outputs in their lasting form.

    - A widget's view is an id of a model in a kernel that is gone: it is dropped from its bundle, so that the static
      figure beside it shows.
    - Neighbouring pieces of one stream become one (where a stream is cut depends on the speed of the machine).
    - Tracebacks lose the paths of the machine.
    """
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
    """Return `text` with this machine's folders shortened: the course's to nothing, others to ``...``."""
    home = str(Path.home())
    long = [f"{ROOT}/", *(f"{p}/" for p in {sys.prefix, sys.base_prefix, tempfile.gettempdir()})]
    # IPython writes the home folder as ~ in tracebacks.
    tilde = [p.replace(home, "~", 1) for p in long if home != "/" and p.startswith(home + "/")]
    text = re.sub(r"[\w/.~-]*/ipykernel_\d+/\d+\.py", "cell", text)
    text = re.sub(r"[\w/.~-]*/site-packages/", ".../site-packages/", text)
    for path in long + tilde:
        text = text.replace(path, "" if path in (long[0], long[0].replace(home, "~", 1)) else ".../")
    return text
