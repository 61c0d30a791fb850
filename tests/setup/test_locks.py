"""The locks pin what pyproject allows, with hashes and without a word about where it was downloaded."""

from __future__ import annotations

import re

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.setup.project import CUDA_LOCK, LOCKS, ROOT, locked, pyproject, ranges


@pytest.mark.parametrize("lock", [*LOCKS, CUDA_LOCK])
def test_every_locked_package_has_one_version_and_hashes(lock):
    pins = locked(lock)
    assert len(pins) > (5 if lock == CUDA_LOCK else 80)
    for need, hashes in pins:
        assert re.fullmatch(r"==[^,*]+", str(need.specifier)), f"{need} is not one version"
        assert hashes, f"{need} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", text) for text in hashes), need


@pytest.mark.parametrize("lock", [*LOCKS, CUDA_LOCK])
def test_a_lock_names_no_host_no_path_and_no_option(lock):
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert " @ " not in text
    assert not re.search(r"^\s*-(?!-hash=)", text, re.MULTILINE), "an option such as --index-url or -e"
    assert "#" not in text, "annotations can name paths; compile with --no-annotate --no-header"


@pytest.mark.parametrize(("lock", "extras"), list(zip(LOCKS, [(), ("book",), ("book", "test")], strict=True)))
def test_locked_versions_satisfy_pyproject(lock, extras):
    pins = {}
    for need, _ in locked(lock):
        pins.setdefault(canonicalize_name(need.name), []).append(str(need.specifier).removeprefix("=="))
    for name, need in ranges(*extras).items():
        assert name in pins, f"{lock} lacks {name}; make lock"
        for version in pins[name]:
            assert need.specifier.contains(version), f"{lock}: {name} {version} is not {need.specifier}; make lock"


def test_each_lock_contains_the_one_before_it_version_by_version():
    student, book, test = ({str(need) for need, _ in locked(lock)} for lock in LOCKS)
    assert student < book < test  # so that CI tests the pages that `make html` builds


def test_students_get_no_package_that_only_tests_or_pages_need():
    student = {canonicalize_name(need.name) for need, _ in locked("requirements.lock")}
    assert not student & {"playwright", "hypothesis", "ruff", "jupytext", "py-rattler", "numba-cuda", "mlxtend"}
    assert not student & (ranges("book").keys() - ranges().keys())


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
@pytest.mark.parametrize("system", [("linux", "posix"), ("darwin", "posix"), ("win32", "nt")])
def test_a_lock_serves_every_python_and_system_with_one_version_each(lock, python, system):
    here = {
        **default_environment(),
        "python_full_version": python,
        "python_version": python.rpartition(".")[0],
        "sys_platform": system[0],
        "os_name": system[1],
    }
    names = [
        canonicalize_name(need.name) for need, _ in locked(lock) if need.marker is None or need.marker.evaluate(here)
    ]
    assert len(names) == len(set(names))
    assert set(ranges()) <= set(names)


def test_the_compilers_lock_is_its_group_and_fits_the_gpu_extra():
    needs = [Requirement(line) for line in pyproject()["dependency-groups"]["cuda-compiler"]]
    pins = {canonicalize_name(pin.name): str(pin.specifier)[2:] for pin, _ in locked(CUDA_LOCK)}
    assert set(pins) == {canonicalize_name(need.name) for need in needs}
    for need in [*needs, ranges("gpu")["numba-cuda"]]:
        version = pins[canonicalize_name(need.name)]
        assert need.specifier.contains(version), (
            f"{CUDA_LOCK}: {need.name} {version} is not {need.specifier}; make lock"
        )


def test_what_the_compiler_needs_beside_its_lock_is_in_the_environment():
    rest = {canonicalize_name(pin.name) for pin, _ in locked("requirements-test.lock")}
    assert {"numba", "llvmlite", "numpy", "packaging"} <= rest  # it is installed with --no-deps


def test_the_build_backend_is_locked_so_that_installing_the_package_downloads_nothing():
    (build,) = pyproject()["build-system"]["requires"]
    assert pyproject()["dependency-groups"]["build"] == [build]
    versions = [str(need.specifier)[2:] for need, _ in locked("requirements.lock") if need.name == "setuptools"]
    assert versions
    assert all(SpecifierSet(build.removeprefix("setuptools")).contains(version) for version in versions)
