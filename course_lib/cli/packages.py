"""Checks of `course doctor`: the packages, against pyproject's ranges and the tested set of versions."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import course_lib
from course_lib.cli.check import Check

__all__ = [
    "check_environment",
    "check_lock",
    "check_nbval",
    "check_versions",
    "direct_requirements",
    "installed_version",
    "read_lock",
]

NBVAL = "0.11.0"
REINSTALL = "make lab (or: pip install --require-hashes -r requirements.lock)"


def installed_version(name: str) -> str | None:
    """Look up the installed version of a package; None if it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def direct_requirements() -> list[Requirement]:
    """List what the package asks for on this machine, with its ranges (pyproject's, without extras)."""
    wanted = [Requirement(line) for line in importlib.metadata.requires("course-lib") or []]
    return [need for need in wanted if need.marker is None or need.marker.evaluate({"extra": ""})]


def read_lock(text: str) -> dict[str, str]:
    """Read the versions that a lock pins on this machine.

    Parameters
    ----------
    text : str
        A requirements file of ``name==version ; marker \\`` lines, each followed by its hashes.

    Returns
    -------
    dict
        ``{name: version}`` of the lines whose marker holds here.
    """
    lines = (line.rstrip(" \\") for line in text.splitlines() if line and line[0].isalnum())
    needs = [Requirement(line) for line in lines]
    here = [need for need in needs if need.marker is None or need.marker.evaluate()]
    return {canonicalize_name(need.name): str(need.specifier).removeprefix("==") for need in here}


def check_versions(
    needs: Iterable[Requirement] | None = None, version_of: Callable[[str], str | None] = installed_version
) -> Check:
    """Check that every package that the course asks for is installed in a version it allows."""
    try:
        needs = list(direct_requirements() if needs is None else needs)
    except importlib.metadata.PackageNotFoundError:
        return Check("packages", "broken", "course-lib itself is not installed", "pip install --no-deps -e .")
    wrong = []
    for need in needs:
        version = version_of(need.name)
        if version is None:
            wrong.append(f"{need.name} is missing")
        elif not need.specifier.contains(version, prereleases=True):
            wrong.append(f"{need.name} {version} is not {need.specifier}")
    if wrong:
        return Check("packages", "broken", "; ".join(wrong), REINSTALL)
    return Check("packages", "ok", f"all {len(needs)} that the course asks for, in versions it allows")


def check_lock(lock: Path | None, version_of: Callable[[str], str | None] = installed_version) -> Check:
    """Compare what is installed with the tested set of versions; a difference is a note, not an error."""
    if lock is None or not lock.is_file():
        return Check("lock", "note", "no requirements.lock here: ranges were checked, the tested set was not")
    pinned = read_lock(lock.read_text(encoding="utf-8"))
    if not pinned:
        found = f"{lock.name} pins no package for this machine: it is empty or cut off, so nothing was compared"
        return Check("lock", "note", found, f"git checkout -- {lock.name}")
    other = [
        f"{name} {version_of(name) or 'missing'} (locked {version})"
        for name, version in pinned.items()
        if version_of(name) != version
    ]
    if other:
        more = f", and {len(other) - 5} more" if len(other) > 5 else ""
        found = f"{len(other)} of {len(pinned)} differ from the tested set: {', '.join(other[:5])}{more}"
        return Check("lock", "note", found, f"to get the tested set: {REINSTALL}")
    return Check("lock", "ok", f"all {len(pinned)} packages as in {lock.name}")


def check_environment(
    folder: Path | None, prefix: Path | None = None, package: Path | None = None, script: str = "course"
) -> Check:
    """Check that the environment belongs to this place: that it was not moved, or copied, without being set right.

    Parameters
    ----------
    folder : Path or None
        The course folder that commands work in.
    prefix, package : Path, optional
        The environment, and the folder that `course_lib` is imported from; those of this Python by default.
    script : str
        A command whose first lines say which Python it starts.
    """
    prefix = Path(sys.prefix) if prefix is None else prefix
    package = Path(course_lib.__file__).parent if package is None else package
    name, fix = "environment", "make lab (or: python -m pip install --no-deps --no-build-isolation -e .)"
    if folder and package.resolve() != (folder / "course_lib").resolve():
        found = f"the library is that of {package.parent}, not of this folder, {folder}"
        return Check(name, "note", f"{found}; a copied environment still points to its old folder", fix)
    try:
        head = (prefix / "bin" / script).read_bytes()[:2000].split(b"import", 1)[0].decode(errors="replace")
    except OSError:  # Windows has programs there, and a conda environment may have none
        return Check(name, "ok", str(prefix))
    python = re.search(r"/[^\n\"']*/bin/python[\d.]*", head)
    if python and Path(python[0]).parent.resolve() != (prefix / "bin").resolve():
        found = f"{prefix} was moved: its scripts start {python[0]}"
        return Check(name, "note", found, fix)
    return Check(name, "ok", str(prefix))


def check_nbval(version_of: Callable[[str], str | None] = installed_version) -> Check:
    """Check that nbval, which compares the notebooks' outputs, is the version that our shims expect."""
    version = version_of("nbval")
    if version != NBVAL:
        return Check("nbval", "broken", version or "missing", f"pip install nbval=={NBVAL}")
    return Check("nbval", "ok", version)
