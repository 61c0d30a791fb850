"""Open and read data files that may be packed, missing, damaged or forged."""

import gzip
import zlib

from .errors import DataFileError, DataFileMissing

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 2**20


def open_data_file(path, source):
    """Open `path` for reading bytes, unpacking gzip if its first two bytes say so.

    Parameters
    ----------
    path : Path
    source : str
        The sentence that tells where to get the file; it ends every error message.

    Returns
    -------
    A binary file, to be closed by the caller.

    Raises
    ------
    DataFileMissing
        If there is no such file.
    DataFileError
        If it is a folder or cannot be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as cause:
        raise DataFileMissing(f"{path} does not exist. {source}") from cause
    except OSError as cause:
        problem = "is a folder, not a file" if path.is_dir() else f"cannot be read ({cause.strerror})"
        raise DataFileError(f"{path} {problem}. {source}") from cause
    if file.peek(2)[:2] == _GZIP_MAGIC:
        file.close()
        return gzip.open(path, "rb")
    return file


def read_up_to(file, count, path, source):
    """Read `count` bytes, or what there is. Memory grows with what is found, never with what a header claims.

    Raises
    ------
    DataFileError
        If the gzip data end too early or are damaged.
    """
    pieces = []
    try:
        while count > 0 and (piece := file.read(min(count, _CHUNK))):
            pieces.append(piece)
            count -= len(piece)
    except (EOFError, OSError, zlib.error) as cause:
        raise DataFileError(f"{path}: its gzip data are truncated or damaged ({cause}). {source}") from cause
    return b"".join(pieces)


def shorten(names):
    """The first eight of some names, for an error message."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return (", ".join(repr(name) for name in names[:8]) or "nothing") + more
