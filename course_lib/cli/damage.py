"""What is wrong with a file that should be a notebook: what it is instead, and how to get the notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path

__all__ = ["wrong_with", "wrong_with_content"]

_INSTEAD = (
    (b"version https://git-lfs", "a pointer of Git LFS to one", "Get the file itself: git lfs pull"),
    (b"PK\x03\x04", "a zip archive", "Unpack it first."),
    (b"\x1f\x8b", "a compressed archive", "Unpack it first."),
    (b"%PDF", "a PDF", "Take the notebook that it was made of."),
    (b"\x89PNG", "a picture", "Take the notebook that it was made of."),
)
_AGAIN = "Save it again in Jupyter, or take its last checkpoint: File, Revert Notebook to Checkpoint."
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.MULTILINE)


def wrong_with(file: Path, *, any_encoding: bool = False) -> str:
    """Say why a file is no notebook; "" if it is one.

    Parameters
    ----------
    file : Path
        No error for what it is or holds, nor where it is missing.
    any_encoding : bool
        Whether UTF-16, which Jupyter does not read, is as good as UTF-8.
    """
    if file.is_dir():
        return f"{file.name} is a folder, not a notebook. Name a file in it."
    try:
        content = file.read_bytes()
    except OSError as error:
        return f"{file.name} cannot be read: {error.strerror}."
    return wrong_with_content(file.name, content, any_encoding=any_encoding)


def wrong_with_content(name: str, content: bytes, *, any_encoding: bool = False) -> str:
    """As `wrong_with`, of a file's name and bytes. No errors."""
    if not content.strip(b" \t\r\n\0\xef\xbb\xbf"):
        return f"{name} is no notebook: it is empty. {_AGAIN}"
    for start, what, advice in _INSTEAD:
        if content.startswith(start):
            return f"{name} is no notebook but {what}. {advice}"
    text, encoding = _text_of(content)
    if text is None:
        return f"{name} is no notebook: it is no text. {_AGAIN}"
    if text.lstrip().startswith("<") and not _CONFLICT.match(text.lstrip()):
        return f"{name} is no notebook but a web page. Download the notebook itself (on GitHub: Download raw file)."
    try:
        data = json.loads(text)
    except RecursionError:
        return f"{name} is no notebook: it is nested too deep."
    except ValueError as error:
        if conflict := _CONFLICT.search(text):
            line = text.count("\n", 0, conflict.start()) + 1
            advice = f"Take one side: git checkout --ours -- {name} (or --theirs)"
            return f"{name} is no notebook: Git left a merge conflict in it, at line {line}. {advice}"
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        return f"{name} is no notebook: its JSON ends or breaks{where}; it was cut off, or changed by hand. {_AGAIN}"
    if not _has_cells(data):
        return f"{name} is no notebook: it is JSON without a list of cells. Name the notebook itself."
    if encoding != "utf-8-sig" and not any_encoding:
        return f"{name} is no notebook that Jupyter can open: its text is {encoding.upper()}, not UTF-8. {_AGAIN}"
    return ""


def _text_of(content: bytes) -> tuple[str | None, str]:
    """Return the text and its encoding; (None, "") of what is no text. Notepad and PowerShell write UTF-16."""
    encoding = "utf-8-sig"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif b"\0" in content[:4]:  # its first character is a bracket, half of which is a zero
        encoding = "utf-16-be" if content[:1] == b"\0" else "utf-16-le"
    try:
        return content.decode(encoding), encoding
    except UnicodeDecodeError:
        return (None, "") if b"\0" in content else (content.decode("latin-1"), "latin-1")


def _has_cells(data: object) -> bool:
    """Return whether JSON is a notebook: of format 4, or of 3, whose cells lie in worksheets."""
    if not isinstance(data, dict):
        return False
    sheets = data.get("worksheets")
    return isinstance(data.get("cells"), list) or (
        isinstance(sheets, list) and any(isinstance(s, dict) and isinstance(s.get("cells"), list) for s in sheets)
    )
