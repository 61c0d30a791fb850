"""Checks of `course doctor`: Python, the folder, the device that kernels would run on, chromium, the disk."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from course_lib.cli.check import Check
from course_lib.cli.packages import installed_version

__all__ = ["check_chromium", "check_device", "check_disk", "check_folder", "check_python"]

DEVICES = ("gpu", "simt", "numba-simulator")


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
    return Check("course folder", "ok", str(folder))


def _cuda_available() -> bool:
    from numba import cuda

    return bool(cuda.is_available())


def check_device(
    environ: Mapping[str, str] | None = None,
    cuda_available: Callable[[], bool] = _cuda_available,
    version_of: Callable[[str], str | None] = installed_version,
) -> Check:
    """Say which device kernels would run on, and why. The lessons so far need none."""
    choice = (os.environ if environ is None else environ).get("COURSE_DEVICE", "")
    if choice and choice not in DEVICES:
        return Check(
            "device",
            "broken",
            f"COURSE_DEVICE={choice} is none of {', '.join(DEVICES)}",
            "unset COURSE_DEVICE",
        )
    try:
        gpu = cuda_available()
        reason = "Numba finds a CUDA GPU" if gpu else "Numba finds no CUDA GPU"
    except Exception as error:  # a broken driver raises whatever it likes; the doctor still has to answer
        gpu, reason = False, f"asking Numba for CUDA failed: {type(error).__name__}: {error}"
    if choice:
        reason += f"; COURSE_DEVICE={choice}"
    if choice == "gpu" and not gpu:
        return Check("device", "broken", reason, "unset COURSE_DEVICE, or install the GPU's driver")
    device = "GPU" if gpu and choice in ("", "gpu") else "CPU"
    found = f"{device} ({reason}; the lessons so far need no GPU)"
    if gpu and version_of("numba-cuda") is None:
        return Check("device", "note", found, 'for GPU lessons: pip install "numba-cuda[cu13]" (pip install .[gpu])')
    return Check("device", "ok", found)


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
