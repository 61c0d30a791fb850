"""A tar that a student handed in, packed or not, as a zip in memory: the same refusals and limits then hold for both.

Source: the course's own; the tar format is POSIX.1-1988's and its extensions, read by the standard library.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import time
import warnings
import zipfile

OPENED_BY = {
    ".tar": lambda file: file,
    **{ending: gzip.open for ending in (".tar.gz", ".tgz")},
    **{ending: bz2.open for ending in (".tar.bz2", ".tbz2", ".tbz")},
    **{ending: lzma.open for ending in (".tar.xz", ".txz")},
}
"""Ending of a tar's name -> what unpacks it."""


def tar_as_zip(name: str, content: bytes, most: int) -> zipfile.ZipFile:
    """Return a zip in memory with the members of a tar; links and devices are there as links, for the caller to refuse.

    Parameters
    ----------
    name : str
        It ends as one of `OPENED_BY`.
    content : bytes
    most : int
        Bytes that it may unpack to, headers included.

    Raises ValueError if it unpacks to more, or has more than 1,000 members; what tarfile, gzip, bz2 and lzma raise if
    it is damaged. Source: the course's own.
    """
    unpacked_by = OPENED_BY[max((end for end in OPENED_BY if name.lower().endswith(end)), key=len)]
    with unpacked_by(io.BytesIO(content)) as file:
        plain = file.read(most + 1)
    if len(plain) > most:
        raise ValueError(f"it unpacks to more than {most:,} bytes")
    out = io.BytesIO()
    with (
        warnings.catch_warnings(action="ignore", category=UserWarning),  # of a name that is there twice
        tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar,
        zipfile.ZipFile(out, "w") as packed,
    ):
        for number, member in enumerate(tar):
            if number >= 1000:
                raise ValueError("more than 1,000 members")
            called = member.name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            info = zipfile.ZipInfo(called + "/" * member.isdir(), _date(member.mtime))
            kind = stat.S_IFREG if member.isreg() else stat.S_IFDIR if member.isdir() else stat.S_IFLNK
            info.external_attr = (kind | 0o600) << 16
            # A sparse member may claim any size, so holes are not filled: nobody hands in a notebook with holes.
            held = tar.extractfile(member).read(most) if member.isreg() and not member.issparse() else b""
            packed.writestr(info, held)
    out.seek(0)
    return zipfile.ZipFile(out)


def _date(seconds: float) -> tuple:
    """Return a time as zip writes one, which begins with 1980 and ends with 2107."""
    try:
        date = time.localtime(seconds)[:6]
    except (ValueError, OverflowError, OSError):
        return (1980, 1, 1, 0, 0, 0)
    return date if 1980 <= date[0] <= 2107 else (1980, 1, 1, 0, 0, 0)
