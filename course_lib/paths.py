"""Paths that people type: "~" is their home, and a file is written whole or not at all.

Source: the course's own; the form of `write_whole` is that of text editors (write beside, then rename).
"""

import contextlib
import os
import stat
import tempfile
from pathlib import Path


def user_path(path):
    """Return a path as the system takes it: a "~" at its beginning is somebody's home, unless a file is called that.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    TypeError, ValueError
        If it is neither, is empty, or holds a character that no name can: NUL, or half of a pair.

    Source: the course's own.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path is {path!r:.60}; it must be a string or a pathlib.Path.")
    text = os.fspath(path)
    if not text or "\0" in os.fsdecode(text):
        raise ValueError(f"path is {text!r:.60}; it must name a file or folder.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ValueError(f"path is {text!r:.60}; no file can have that name here ({error.reason}).") from None
    path = Path(os.fsdecode(text))
    if path.parts and path.parts[0].startswith("~") and not Path(path.parts[0]).exists():
        with contextlib.suppress(RuntimeError):  # there is no such user: the name stays, and is told as it is
            return path.expanduser()
    return path


def write_whole(path, write):
    """Call write(file) for a binary file that takes the place of `path` once it is complete.

    A full disk or an interrupt leaves an older file untouched. As in a text editor, a link stays a link and the file
    that it leads to is written; an older file's mode stays, a new one has the usual.

    Parameters
    ----------
    path : str or path-like
    write : callable

    Raises
    ------
    OSError
        FileNotFoundError, IsADirectoryError, PermissionError or another, in words, if the file cannot be written.

    Source: the course's own.
    """
    path = user_path(path)
    target, before = _target(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=target.name[:40], suffix=".part")
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if before is None:
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes files that only their owner reads
        else:
            with contextlib.suppress(OSError, AttributeError):  # only root may give files away; not on Windows
                os.chown(temporary, before.st_uid, before.st_gid)
            os.chmod(temporary, stat.S_IMODE(before.st_mode))
        os.replace(temporary, target)
    except OSError as error:
        older = "" if before is None else f" {path.name} is as it was before."
        words = f"cannot save {path}: {error.strerror or error} (in the folder {target.parent}).{older}"
        raise (OSError(words) if error.errno is None else OSError(error.errno, words)) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)  # renamed, if all went well


def _looked_at(path, target):
    """Raise OSError in words if the system cannot even look for the file, such as for a name that is too long."""
    try:
        os.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise OSError(error.errno, f"cannot save {str(path)[:60]}: {error.strerror}") from error


def _target(path):
    """The file to write, at the end of all links, and what is known of an older one; OSError in words."""
    target = Path(os.path.realpath(path))
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # told below
        _looked_at(path, target)
    if target.is_symlink():
        raise OSError(f"cannot save {path}: the link leads in a circle. Delete it, or name another file.")
    if not target.parent.is_dir():
        what = "is a file, no folder" if target.parent.exists() else "does not exist. Create it first"
        kind = NotADirectoryError if target.parent.exists() else FileNotFoundError
        raise kind(f"cannot save {path.name}: the folder {target.parent} {what}.")
    if not target.exists():
        return target, None
    if target.is_dir():
        raise IsADirectoryError(f"cannot save {path}: it is a folder. Name a file in it, such as {path / 'file'}.")
    if not target.is_file():
        raise OSError(f"cannot save {path}: it is no ordinary file but a device or a pipe. Name another file.")
    if not os.access(target, os.W_OK):
        raise PermissionError(
            f"cannot save {path}: the file is write-protected. Change its mode, or name another file."
        )
    return target, target.stat()
