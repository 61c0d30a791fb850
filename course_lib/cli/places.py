"""Where Jupyter, IPython, matplotlib and Numba keep what they note: a temporary folder where their own takes no file.

A home folder can be read-only, full, another user's or not there at all: in containers, in computer rooms. JupyterLab
then ends before it has begun, and the others warn within the lessons.

Source: the course's own; the documentation of jupyter_core, "Common directories", and of the others on their variables.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

__all__ = ["NoPlace", "places", "takes_files", "unusable", "use_usable"]


class NoPlace(Exception):
    """Not even a temporary folder takes a file."""


def places() -> dict[str, Path]:
    """Return {variable: the folder that it would name}, of each folder that a lesson's programs write to. No errors."""
    from jupyter_core import paths

    home = Path(os.path.expanduser("~"))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") if sys.platform == "linux" else home
    lab = Path(paths.jupyter_config_dir()) / "lab"
    own = {
        "JUPYTERLAB_SETTINGS_DIR": lab / "user-settings",
        "JUPYTERLAB_WORKSPACES_DIR": lab / "workspaces",
        "IPYTHONDIR": home / ".ipython",
        "MPLCONFIGDIR": config / "matplotlib" if sys.platform == "linux" else home / ".matplotlib",
    }
    found = {
        "JUPYTER_CONFIG_DIR": Path(paths.jupyter_config_dir()),
        "JUPYTER_DATA_DIR": Path(paths.jupyter_data_dir()),
        "JUPYTER_RUNTIME_DIR": Path(paths.jupyter_runtime_dir()),
    }
    found |= {name: Path(os.environ.get(name) or folder) for name, folder in own.items()}
    beside = Path(__file__).parents[1] / "fast" / "__pycache__"
    found["NUMBA_CACHE_DIR"] = Path(os.environ.get("NUMBA_CACHE_DIR") or (beside if takes_files(beside) else cache))
    return found


def takes_files(folder: Path) -> bool:
    """Return whether a file can be written in a folder, or in the one that it would be made in. No errors.

    Nothing is left there.
    """
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 14))  # a disk that is full takes an empty one
        return True
    except (OSError, ValueError):
        return False


def unusable() -> dict[str, Path]:
    """Return those of `places` that take no file. No errors."""
    return {name: folder for name, folder in places().items() if not takes_files(folder)}


def use_usable() -> str:
    """Set the variables of this process, and so of those that it starts, so that every place takes files.

    Returns
    -------
    str
        What was done, in a sentence; "" where nothing had to be.

    Raises
    ------
    NoPlace
        A place takes no file, and there is no temporary folder either.
    """
    if not (bad := unusable()):
        return ""
    try:
        temporary = Path(tempfile.mkdtemp(prefix="course-"))
        if not takes_files(temporary):
            raise OSError
    except OSError:
        raise NoPlace(
            f"{_named(bad)}, nor can a temporary folder. Set HOME, or TMPDIR, to a folder that takes files"
        ) from None
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    if "JUPYTER_CONFIG_DIR" in bad:  # it can still be read
        path = [str(bad["JUPYTER_CONFIG_DIR"]), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
        os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(path)
    for name in bad:
        folder = temporary / name.lower()
        folder.mkdir(mode=0o700)
        os.environ[name] = str(folder)
    return (
        f"{_named(bad)}, so settings, history and caches lie in {temporary} and go when this ends. "
        "To keep them, set HOME to a folder that can be written."
    )


def _named(bad: dict[str, Path]) -> str:
    """Return the beginning of a sentence; of many folders the first two stand for all."""
    folders = list(dict.fromkeys(map(str, bad.values())))
    more = f" and {len(folders) - 2} more" if len(folders) > 2 else ""
    return f"no file can be written to {', '.join(folders[:2])}{more}"
