"""What the set-up tests read: pyproject, the locks, the tracked files."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-book.lock", "requirements-test.lock")
CUDA_LOCK = "requirements-cuda.lock"
"""The compiler of tests/gates, installed beside the environment, without what the environment has already."""


def pyproject() -> dict:
    """Read pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def ranges(*extras: str) -> dict[str, Requirement]:
    """Map each package that pyproject asks for, with these extras, to its requirement."""
    project = pyproject()["project"]
    lines = project["dependencies"] + [line for extra in extras for line in project["optional-dependencies"][extra]]
    needs = [Requirement(line) for line in lines]
    return {canonicalize_name(need.name): need for need in needs}


def locked(name: str) -> list[tuple[Requirement, list[str]]]:
    """Read a lock as (requirement, its hashes), one for each pinned line."""
    pins: list[tuple[Requirement, list[str]]] = []
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"    --hash=(\S+)(?: \\)?", line):
            pins[-1][1].append(found[1])
        elif line.strip():
            pins.append((Requirement(line.removesuffix("\\").strip()), []))
    return pins


def tracked_files() -> list[Path]:
    """List the files that git tracks; skips where this is no checkout."""
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"not a git checkout: {done.stderr.strip()}")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]
