"""Checks of `course doctor`: what the lessons are made with: the digits, the notebooks' kernel, compiled kernels."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course_lib.cli.check import Check

__all__ = ["check_compiled", "check_digits", "check_kernel"]


def _load_digits() -> Any:
    from course_lib.data import load_digits

    return load_digits(seed=0)


def check_digits(load: Callable[[], Any] = _load_digits) -> Check:
    """Check that the digits in the package are there and load: 4,000 for training, 1,000 for testing."""
    fix = "git checkout -- course_lib/data (or install the package again)"
    try:
        digits = load()
        shapes = digits.x_train.shape, digits.x_test.shape
    except Exception as error:  # whatever is wrong with the file or the module, the doctor says it and goes on
        return Check("digits", "broken", f"{type(error).__name__}: {error}", fix)
    if shapes != ((4000, 784), (1000, 784)):
        return Check("digits", "broken", f"shapes {shapes}, not (4000, 784) and (1000, 784)", fix)
    return Check("digits", "ok", "4,000 to learn from and 1,000 to test on, in the package")


def _kernel_argv() -> list[str]:
    from jupyter_client.kernelspec import KernelSpecManager

    return KernelSpecManager().get_kernel_spec("python3").argv


def check_kernel(argv_of: Callable[[], list[str]] = _kernel_argv) -> Check:
    """Check that the notebooks' kernel `python3` exists and starts this Python."""
    fix = f'"{sys.executable}" -m ipykernel install --sys-prefix --name python3'
    try:
        program = argv_of()[0]
    except Exception as error:  # NoSuchKernel, unreadable kernel.json, Jupyter missing
        return Check("kernel python3", "broken", f"{type(error).__name__}: {error}", fix)
    # Jupyter itself replaces a bare `python` by the Python it runs in.
    if Path(program).name == program and program.startswith("python"):
        return Check("kernel python3", "ok", "starts this Python")
    if Path(program).parent.resolve() != Path(sys.executable).parent.resolve():
        return Check("kernel python3", "broken", f"starts {program}, not {sys.executable}", fix)
    return Check("kernel python3", "ok", f"starts {program}")


def _kept_kernels() -> dict:
    from course_lib import fast  # noqa: F401  its kernels are known when it is imported
    from course_lib.fast.compile import kernels
    from course_lib.kernel_cache import places

    return places(kernels())


def check_compiled(places: Callable[[], dict] = _kept_kernels) -> Check:
    """Check that compiled kernels can be kept, and that those which are kept are whole. Neither stops a lesson."""
    name, again = "compiled kernels", "about 10 seconds"
    found = places()
    if not found and os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        slow = "NUMBA_DISABLE_JIT is set, so nothing is compiled: training takes very long"
        return Check(name, "note", slow, "unset NUMBA_DISABLE_JIT")
    if not found:
        where = "set NUMBA_CACHE_DIR to a folder that can be written"
        return Check(name, "note", f"no folder can be written to keep them: each start compiles them, {again}", where)
    count = sum(len(files) for files, _ in found.values())
    folders = ", ".join(found)
    for folder in found:
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(bytes(1 << 18))  # as much as the largest kernel
        except OSError as error:
            text = f"{folder} takes no more ({error.strerror}): what is not kept there is compiled at each start"
            return Check(name, "note", text, "free some space there, or set NUMBA_CACHE_DIR to another folder")
    if damaged := [file for _, some in found.values() for file in some]:
        text = f"{len(damaged)} of {count} files in {folders} are damaged or cannot be read ({damaged[0].name})"
        return Check(name, "note", f"{text}; at their next use they are compiled again, {again}, and kept anew")
    return Check(name, "ok", f"{count} files, all whole, in {folders}" if count else f"none yet; kept in {folders}")
