"""What was handed in, as a list of files: from a folder or a zip, without unpacking and without following a link.

A name in an archive is only ever a label: nothing is written under it. What is left out stays in the list, with the
reason: whoever handed it in must not disappear. Source: the course's own; the zip format is described in PKWARE's
APPNOTE.
"""

from __future__ import annotations

import functools
import os
import stat
import time
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.grading.archive import (
    ARCHIVES,
    CLOSED,
    MOST_FILE,
    Entry,
    SubmissionsError,
    archive_at,
    ending_of,
    inner_archive,
)

MOST_ENTRIES = 200_000
MOST_BYTES = 16 * 2**30  # of all files together, unpacked
MOST_RATIO = 200  # unpacked to packed, of a file above one MB: text reaches 20, a bomb 1000
_JUNK = ("__MACOSX", ".ipynb_checkpoints", "Thumbs.db", "__pycache__", ".DS_Store", "desktop.ini")
_JUNK_BEGINS = ("._", ".~lock.", "~$", ".nfs")  # macOS's twins; locks of LibreOffice, Office, NFS on an open file


@dataclass(frozen=True)
class LeftOut:
    """What was handed in and is not read: its name in parts, and why, "is a link"; `packed` as of an `Entry`.

    Source: the course's own.
    """

    parts: tuple[str, ...]
    why: str
    packed: int = 0

    @property
    def name(self) -> str:
        """The name without its folders."""
        return self.parts[-1]

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders around it that are in no archive."""
        return self.parts[: len(self.parts) - max(self.packed, 1)]


@dataclass
class Listing:
    """Files, folders (an empty one is a student without a file), what was left out, and what else was noticed.

    Source: the course's own.
    """

    entries: list[Entry] = field(default_factory=list)
    folders: set[tuple[str, ...]] = field(default_factory=set)
    left_out: list[LeftOut] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def leave_out(self, parts: tuple[str, ...], why: str, packed: int = 0, shown: str = "") -> None:
        """Note that something is not read, and why. No errors."""
        self.left_out.append(LeftOut(parts, why, packed))
        self.problems.append(f"{(shown or '/'.join(parts))[:200]} {why}: left out")


def list_files(source: Path) -> Listing:
    """List a folder or a zip; archives that lie in it are listed as folders, one level deep.

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
        if ending_of(entry.name, ARCHIVES):
            _list_inner(entry, found)
        elif closed := ending_of(entry.name, CLOSED):
            found.leave_out(entry.parts, f"is {CLOSED[closed]}, and those are not opened")
        else:
            found.entries.append(entry)
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
        at = Path(error.filename).relative_to(source).parts
        parts = tuple(printable(part) for part in at)
        if parts:
            found.leave_out((*parts, "(folder)"), f"cannot be listed ({error.strerror})", shown="/".join(parts))

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
                found.leave_out(parts, f"is {kind}")
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
    _list_members(archive, (), 0, found, lambda at: dict(path=str(source), member=at))
    return found


def _list_inner(entry: Entry, found: Listing) -> None:
    """List an archive that a student handed in, as if it were a folder of its name."""
    if entry.member < 0:
        place, opened = dict(path=entry.path), functools.partial(archive_at, entry.path)
    else:
        place = dict(path=entry.path, member=entry.member)
        opened = functools.partial(inner_archive, entry.path, entry.member)
    inner = Listing()
    try:
        if entry.size > MOST_FILE:
            raise ValueError(f"{entry.size:,} bytes; at most {MOST_FILE:,}")
        archive = opened()
        if len(archive.filelist) > 1000:
            raise ValueError(f"{len(archive.filelist):,} files; at most 1,000")
    except Exception as error:
        kind = ending_of(entry.name, ARCHIVES)[1:]
        reason = f"{type(error).__name__}: {printable(str(error))[:120]}"
        found.leave_out(entry.parts, f"is no {kind} that can be opened ({reason})")
        return
    number = "inner" if "member" in place else "member"
    above = (*entry.parts[:-1], entry.name[: -len(ending_of(entry.name, ARCHIVES))] or entry.name)
    _list_members(archive, above, 1, inner, lambda at: {**place, number: at})
    found.entries += inner.entries
    found.left_out += inner.left_out
    found.problems += [f"in {'/'.join(entry.parts)}: {problem}" for problem in inner.problems]
    if not inner.entries and not inner.left_out:
        found.leave_out(entry.parts, "is an archive without a file")


def _list_members(archive, above, own, found, place) -> None:
    """Put an archive's files in a listing, without those that a student's machine should not have put there.

    `own` is how many parts of `above` are the archive's own name: 0 for the one that is graded, 1 for one handed in.
    """
    by_name = {}
    for at, info in enumerate(archive.filelist):
        name = decoded(info)
        parts = tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))
        if not parts:
            continue
        packed = own and own + len(parts)
        if _junk(parts):
            if around := parts[: next(at for at in range(len(parts)) if _junk(parts[at : at + 1]))]:
                found.folders.add((*above, *around))  # who handed in nothing else is there too
        elif reason := _refusal(info, name, parts):
            inside = tuple(part for part in parts if part != ".." and part[1:] != ":")
            found.leave_out((*above, *(inside or (printable(name),))), reason, own and own + (len(inside) or 1), name)
        elif info.is_dir():
            if not own:
                found.folders.add(parts)
        elif own and ending_of(parts[-1], (*ARCHIVES, *CLOSED)):
            found.leave_out((*above, *parts), "is an archive in an archive, and those are not opened", packed, name)
        else:
            if parts in by_name:
                found.problems.append(f"{name[:200]} is in the archive more than once: the last one counts")
            by_name[parts] = Entry((*above, *parts), info.file_size, _when(info), **place(at), packed=packed)
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
    return any(part in _JUNK or part.startswith(_JUNK_BEGINS) for part in parts)


def _when(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
