"""One file that was handed in, in a folder, a zip or a zip in it: read when it is needed, with a limit.

Source: the course's own; the zip format is described in PKWARE's APPNOTE.
"""

from __future__ import annotations

import functools
import io
import os
import stat
import zipfile
from dataclasses import dataclass

MOST_FILE = 64 * 2**20  # one file; a notebook with every output is about one MB


class SubmissionsError(Exception):
    """What was handed in cannot be listed at all; the message says why and what to do. Source: the course's own."""


class UnreadableFile(Exception):
    """One file's content cannot be had; the message says why. Source: the course's own."""


@dataclass(frozen=True)
class Entry:
    """A file that was handed in: its name in `parts`, size in bytes, time in seconds, and where its bytes are.

    `member` is its number in the zip `path`, or -1; `inner` its number in the zip that is this member, or -1.
    Source: the course's own.
    """

    parts: tuple[str, ...]
    size: int
    modified: float
    path: str
    member: int = -1
    inner: int = -1

    @property
    def name(self) -> str:
        """The name without its folders."""
        return self.parts[-1]

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
    """Return the zip of a path, opened once; zipfile's errors if it is none. Source: the course's own."""
    about = os.stat(path)
    return _opened(path, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=4)  # kept open: reading 10,000 files must not parse the list of 10,000 each time
def _opened(path: str, changed: int, size: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


@functools.lru_cache(maxsize=2)
def inner_archive(path: str, member: int) -> zipfile.ZipFile:
    """Return the zip that is a member of a zip; zipfile's errors if it is none. Source: the course's own."""
    return zipfile.ZipFile(io.BytesIO(_read_member(archive_at(path), member)))
