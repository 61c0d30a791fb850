"""What was handed in, as a list of files: from a folder or a zip, without unpacking and without following a link.

A name in an archive is only ever a label: nothing is written under it. Source: the course's own; the zip format is
described in PKWARE's APPNOTE.
"""

from __future__ import annotations

import functools
import os
import stat
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.grading.archive import MOST_FILE, Entry, SubmissionsError, archive_at, inner_archive

MOST_ENTRIES = 200_000
MOST_BYTES = 16 * 2**30  # of all files together, unpacked
MOST_RATIO = 200  # unpacked to packed, of a file above one MB: text reaches 20, a bomb 1000
_JUNK = ("__MACOSX", ".ipynb_checkpoints", "Thumbs.db", "__pycache__")


@dataclass
class Listing:
    """Files, folders (an empty one is a student without a file) and what was left out, a line each.

    Source: the course's own.
    """

    entries: list[Entry] = field(default_factory=list)
    folders: set[tuple[str, ...]] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


def list_files(source: Path) -> Listing:
    """List a folder or a zip; zips that lie in it are listed as folders, one level deep.

    `SubmissionsError` if it is neither, cannot be opened, or holds more than `MOST_ENTRIES` files or `MOST_BYTES`.
    Source: the course's own.
    """
    if source.is_dir():
        found = _list_folder(source)
    elif source.is_file():
        found = _list_zip(source)
    else:
        raise SubmissionsError(f"{source} is neither a folder nor a file. Name what your students handed in.")
    outer, found.entries = found.entries, []
    for entry in outer:
        found.entries += _list_inner(entry, found.problems) if entry.name.lower().endswith(".zip") else [entry]
    total = sum(entry.size for entry in found.entries)
    if len(found.entries) > MOST_ENTRIES or total > MOST_BYTES:
        raise SubmissionsError(
            f"{source} holds {len(found.entries):,} files of {total:,} bytes unpacked; at most {MOST_ENTRIES:,} files "
            f"of {MOST_BYTES:,} bytes are taken. Grade it in parts, and look whether a file in it is a bomb."
        )
    return found


def _list_folder(source: Path) -> Listing:
    found = Listing()

    def closed(error: OSError) -> None:
        found.problems.append(f"{printable(str(error.filename))} cannot be listed ({error.strerror}): left out")

    for folder, folders, files in os.walk(source, followlinks=False, onerror=closed):
        above = tuple(printable(part) for part in Path(folder).relative_to(source).parts)
        for name in sorted([*folders, *files]):
            path, parts = os.path.join(folder, name), (*above, printable(name))
            about = os.lstat(path)
            if _junk(parts):
                continue
            if stat.S_ISREG(about.st_mode):
                found.entries.append(Entry(parts, about.st_size, about.st_mtime, path))
            elif stat.S_ISDIR(about.st_mode):
                found.folders.add(parts)
            else:
                kind = "a link" if stat.S_ISLNK(about.st_mode) else "no plain file"
                found.problems.append(f"{'/'.join(parts)} is {kind}: left out")
    return found


def _list_zip(source: Path) -> Listing:
    try:
        archive = archive_at(str(source))
    except Exception as error:
        raise SubmissionsError(
            f"{source} is no zip that can be opened ({error}). Pack it anew, or unpack it."
        ) from None
    if len(archive.filelist) > MOST_ENTRIES:
        raise SubmissionsError(f"{source} lists {len(archive.filelist):,} files; at most {MOST_ENTRIES:,} are taken.")
    found = Listing()
    _list_members(archive, (), found, lambda at: dict(path=str(source), member=at))
    return found


def _list_inner(entry: Entry, problems: list[str]) -> list[Entry]:
    """List a zip that a student handed in, as if it were a folder of its name."""
    if entry.member < 0:
        outer = dict(path=entry.path)
        opened = functools.partial(archive_at, entry.path)
    else:
        outer = dict(path=entry.path, member=entry.member)
        opened = functools.partial(inner_archive, entry.path, entry.member)
    shown, found = "/".join(entry.parts), Listing()
    try:
        if entry.size > MOST_FILE:
            raise ValueError(f"{entry.size:,} bytes; at most {MOST_FILE:,}")
        archive = opened()
        if len(archive.filelist) > 1000:
            raise ValueError(f"{len(archive.filelist):,} files; at most 1,000")
    except Exception as error:
        problems.append(f"{shown} is no zip that can be opened ({error}): left out")
        return []
    number = "inner" if "member" in outer else "member"
    above = (*entry.parts[:-1], entry.name[: -len(".zip")])
    _list_members(archive, above, found, lambda at: {**outer, number: at})
    problems += [f"in {shown}: {problem}" for problem in found.problems]
    return found.entries


def _list_members(archive, above, found, place) -> None:
    """Put an archive's files in a listing, without those that a student's machine should not have put there."""
    by_name = {}
    for at, info in enumerate(archive.filelist):
        name = decoded(info)
        parts = tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))
        if not parts or _junk(parts):
            continue
        if reason := _refusal(info, name, parts):
            found.problems.append(f"{name[:200]} {reason}: left out")
        elif info.is_dir():
            found.folders.add((*above, *parts))
        else:
            if parts in by_name:
                found.problems.append(f"{name[:200]} is in the archive more than once: the last one counts")
            by_name[parts] = Entry((*above, *parts), info.file_size, _when(info), **place(at))
    found.entries += by_name.values()


def _refusal(info: zipfile.ZipInfo, name: str, parts: tuple[str, ...]) -> str:
    if ".." in parts or name.startswith(("/", "\\")) or name[1:2] == ":":
        return "leads out of the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    if info.flag_bits & 1:
        return "is encrypted"
    if info.file_size > 2**20 and info.file_size > MOST_RATIO * max(info.compress_size, 1):
        return f"unpacks from {info.compress_size:,} to {info.file_size:,} bytes, as a bomb does"
    return ""


def decoded(info: zipfile.ZipInfo) -> str:
    """Return a member's name: UTF-8 also where the packer forgot to say so, else as zip's code page 437. No errors.

    Source: PKWARE's APPNOTE, general purpose bit 11.
    """
    if info.flag_bits & 0x800:
        return printable(info.filename)
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return printable(info.filename)


def printable(name: str) -> str:
    r"""Return a file's name as text that can be written: a byte that is no UTF-8 becomes \xfc. No errors.

    Source: PEP 383.
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _junk(parts) -> bool:
    return any(part in _JUNK or part.startswith("._") or part == ".DS_Store" for part in parts)


def _when(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
