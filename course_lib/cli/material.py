"""Checks of `course doctor`: what the lessons are made with, the digits and the notebooks' kernel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from course_lib.cli.check import Check

__all__ = ["check_digits", "check_kernel"]


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
