"""Checks of `course doctor`: Python, the folder, the device for kernels, chromium, the sandbox, the disk."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from course_lib.cli.check import Check
from course_lib.cli.packages import installed_version
from course_lib.cli.places import takes_files, unusable

__all__ = [
    "check_chromium", "check_device", "check_disk", "check_folder", "check_home", "check_opencl", "check_python",
    "check_sandbox",
]  # fmt: skip


def check_python(version: tuple[int, ...] | None = None) -> Check:
    """Check that this Python is 3.11 or newer; say where it lies."""
    version = tuple(sys.version_info[:3]) if version is None else version
    found = f"{'.'.join(map(str, version))} at {sys.executable}"
    if version < (3, 11):
        return Check("Python", "broken", found, "install Python 3.11 or newer, then: make lab PYTHON=python3.12")
    return Check("Python", "ok", found)


def check_folder(folder: Path | None) -> Check:
    """Say which course folder the commands work in."""
    if folder is None:
        return Check("course folder", "note", "none found: lab and run need --folder, or a start inside it")
    if not takes_files(folder / "notebooks"):
        found = f"{folder} takes no file: what you change in a lesson cannot be saved"
        return Check("course folder", "note", found, "copy it to a folder of your own, or free some space")
    return Check("course folder", "ok", str(folder))


def check_home(bad: Mapping[str, Path] | None = None, temporary: Path | None = None) -> Check:
    """Check that what Jupyter, IPython and matplotlib keep can be written; else a temporary folder must do."""
    bad = unusable() if bad is None else bad
    if not bad:
        return Check("home", "ok", "settings, history and caches can be written")
    found = f"no file can be written to {', '.join(dict.fromkeys(map(str, bad.values())))}"
    fix = "set HOME to a folder that can be written"
    try:
        usable = takes_files(Path(tempfile.gettempdir()) if temporary is None else temporary)
    except OSError:
        usable = False
    if not usable:
        return Check(
            "home", "broken", f"{found}, nor to a temporary folder: JupyterLab cannot start", f"{fix}, or TMPDIR"
        )
    return Check("home", "note", f"{found}: the lessons put it into a temporary folder, and it is gone afterwards", fix)


def check_device(
    environ: Mapping[str, str] | None = None,
    ask: Callable[[], tuple[str, str]] | None = None,
    version_of: Callable[[str], str | None] = installed_version,
) -> Check:
    """Say which device kernels run on, and why. The lessons so far need none."""
    from course_lib.cuda.choice import GPU, SIMULATOR, DeviceError, choose
    from course_lib.cuda.numba_cuda import choose_compiler

    try:
        choice = choose(environ, ask)
        compiler = choose_compiler(environ, version_of) if choice.device == GPU else ""
    except DeviceError as error:
        return Check("device", "broken", error.problem, error.fix)
    names = {GPU: "GPU", SIMULATOR: "CPU, Numba's simulator"}
    device = names.get(choice.device, "CPU, SIMT executor")
    compiled = f"; kernels are compiled by {compiler}" if compiler else ""
    found = f"{device} ({choice.reason}{compiled}; the lessons so far need no GPU)"
    if compiler == "numba":
        return Check("device", "note", found, 'for GPU lessons: pip install "numba-cuda[cu13]" (pip install .[gpu])')
    return Check("device", "ok", found)


def check_opencl(environ: Mapping[str, str] | None = None) -> Check:
    """Say which OpenCL device lesson 19 would compute on; without one it shows what was recorded."""
    from course_lib.opencl.devices import INSTALL, find_devices, why_none

    found = find_devices(environ)
    if found and not found[0].trouble:
        others = [f"{d.name} does not compute: {d.trouble}" for d in found if d.trouble]
        words = f"{found[0].name}, {found[0].platform} (only lesson 19 uses it, which is optional)"
        return Check("OpenCL", "ok", "; ".join([words, *others]))
    why = f"{why_none(environ)}: lesson 19, which is optional, shows what was recorded"
    return Check("OpenCL", "note", why, INSTALL)


def check_chromium(which: Callable[[str], str | None] = shutil.which) -> Check:
    """Say whether there is a chromium for the browser test; students need none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := which(name):
            return Check("chromium", "ok", f"{path} (only the browser test uses it)")
    return Check("chromium", "note", "none: the browser test will be skipped; the lessons do not need it")


def check_disk(folder: Path, free_bytes: int | None = None) -> Check:
    """Check that at least 1 GB is free where the course lies."""
    free = shutil.disk_usage(folder).free if free_bytes is None else free_bytes
    found = f"{free / 1e9:.1f} GB free at {folder}"
    if free < 1e9:
        return Check("disk", "broken", found, "free some space: 1 GB is needed (make clean removes .venv and build/)")
    return Check("disk", "ok", found)


def _best_level() -> tuple[str, str]:
    from course_lib.grading.levels import best_level

    found = best_level()
    return found.letter, found.title


def check_sandbox(best: Callable[[], tuple[str, str]] = _best_level) -> Check:
    """Say in which sandbox submissions would be graded here; students need none."""
    try:
        letter, title = best()
    except Exception as error:  # the levels say why they do not work, one by one
        return Check("sandbox", "note", f"none, and only grading needs one: {str(error)[:300]}")
    return Check("sandbox", "ok", f"level {letter}: {title} (only grading uses it)")
