"""One file that was handed in, in a folder, an archive or an archive in it: read when it is needed, with a limit.

Source: the course's own; the zip format is described in PKWARE's APPNOTE.
"""

from __future__ import annotations

import functools
import io
import os
import stat
import zipfile
from dataclasses import dataclass

from course_lib.grading.tars import OPENED_BY, tar_as_zip

MOST_FILE = 64 * 2**20  # one file; a notebook with every output is about one MB
ARCHIVES = (".zip", *sorted(OPENED_BY, key=len, reverse=True))  # endings of what is looked into
CLOSED = {".7z": "a 7z archive", ".rar": "a rar archive", ".gz": "a packed file", ".bz2": "a packed file"}
CLOSED |= {".xz": "a packed file", ".zst": "a packed file", ".dmg": "a disk image", ".iso": "a disk image"}
_MAGIC = {b"7z\xbc\xaf\x27\x1c": "a 7z archive", b"Rar!": "a rar archive", b"\x1f\x8b": "a gzip file"}


class SubmissionsError(Exception):
    """What was handed in cannot be listed at all; the message says why and what to do. Source: the course's own."""


class UnreadableFile(Exception):
    """One file's content cannot be had; the message says why. Source: the course's own."""


@dataclass(frozen=True)
class Entry:
    """A file that was handed in: its name in `parts`, size in bytes, time in seconds, and where its bytes are.

    `member` is its number in the archive `path`, or -1; `inner` its number in the archive that is this member, or -1.
    `packed` counts the last of its parts that an archive which was handed in has given: its name without the ending,
    and what is in it; 0 for a file that lies open. `script` says that it answers a sheet by its text, though it is no
    notebook by its name. Source: the course's own.
    """

    parts: tuple[str, ...]
    size: int
    modified: float
    path: str
    member: int = -1
    inner: int = -1
    packed: int = 0
    script: bool = False

    @property
    def name(self) -> str:
        """The name without its folders."""
        return self.parts[-1]

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders around it that whoever collected the files has made, or the student: none of an archive."""
        return self.parts[: len(self.parts) - max(self.packed, 1)]

    def read(self) -> bytes:
        """Return the content, of at most `MOST_FILE` bytes; `UnreadableFile` says why there is none."""
        if self.size > MOST_FILE:
            raise UnreadableFile(f"{self.name} has {self.size:,} bytes; at most {MOST_FILE:,} are read")
        try:
            if self.member < 0:
                content = _read_plain(self.path)
            elif self.inner < 0:
                content = _read_member(archive_at(self.path), self.member)
            else:
                content = _read_member(inner_archive(self.path, self.member), self.inner)
        except Exception as error:  # zipfile alone has six kinds: encrypted, cut off, unknown method, wrong sum ...
            raise UnreadableFile(f"{self.name} cannot be read ({type(error).__name__}: {str(error)[:120]})") from None
        if len(content) > MOST_FILE:
            raise UnreadableFile(f"{self.name} unpacks to more than {MOST_FILE:,} bytes")
        return content


def _read_plain(path: str) -> bytes:
    # Looked at again when it is opened: a student's machine may still be writing into a shared folder.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("no plain file")
        return file.read(MOST_FILE + 1)


def _read_member(archive: zipfile.ZipFile, at: int) -> bytes:
    with archive.open(archive.filelist[at]) as file:
        return file.read(MOST_FILE + 1)


def archive_at(path: str) -> zipfile.ZipFile:
    """Return the archive of a path, opened once; the errors of `opened` if it is none. Source: the course's own."""
    about = os.stat(path)
    return _opened_at(path, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=4)  # kept open: reading 10,000 files must not parse the list of 10,000 each time
def _opened_at(path: str, changed: int, size: int) -> zipfile.ZipFile:
    if ending_of(path, OPENED_BY):
        return opened(path, _read_plain(path))
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        with open(path, "rb") as file:
            raise _said(error, file.read(8)) from None


@functools.lru_cache(maxsize=2)
def inner_archive(path: str, member: int) -> zipfile.ZipFile:
    """Return the archive that is a member of an archive; the errors of `opened` if it is none.

    Source: the course's own.
    """
    outer = archive_at(path)
    return opened(outer.filelist[member].filename, _read_member(outer, member))


def opened(name: str, content: bytes) -> zipfile.ZipFile:
    """Return an archive by its bytes; what zipfile and `tar_as_zip` raise if it is none. Source: the course's own."""
    if ending_of(name, OPENED_BY):
        return tar_as_zip(name, content, MOST_FILE)
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except zipfile.BadZipFile as error:
        raise _said(error, content) from None


def ending_of(name: str, endings) -> str:
    """Return which of some endings a file's name has, the longest, or "". No errors. Source: the course's own."""
    return max((ending for ending in endings if name.lower().endswith(ending)), key=len, default="")


def _said(error: zipfile.BadZipFile, content: bytes) -> zipfile.BadZipFile:
    what = next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), "")
    return zipfile.BadZipFile(f"{error}, it is {what}") if what else error
