"""The conda environments name the same packages and ranges as pyproject, in strict conda syntax.

No channel is asked: what a channel holds is not checked here.
"""

from __future__ import annotations

import pytest
import rattler
import yaml
from packaging.specifiers import SpecifierSet

from tests.setup.project import ROOT, locked, ranges

FILES = ("environment.yml", "environment-gpu.yml")
# conda-forge's names where they differ from PyPI's, and what is there for conda's own sake.
CONDA_NAME = {"matplotlib": "matplotlib-base", "jupyter-server": "jupyter_server", "jupyter-client": "jupyter_client"}
CONDA_ONLY = {"python", "pip", "setuptools"}


def _specs(file: str) -> dict[str, rattler.MatchSpec]:
    environment = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    assert all(isinstance(line, str) for line in environment["dependencies"]), "a pip section needs its own lock"
    specs = [rattler.MatchSpec(line, strict=True) for line in environment["dependencies"]]
    return {spec.name.normalized: spec for spec in specs}


@pytest.mark.parametrize("file", FILES)
def test_an_environment_names_one_python_and_conda_forge(file):
    environment = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    assert "python=3.12" in environment["dependencies"]
    assert not any("==" in line or "cudatoolkit" in line for line in environment["dependencies"])


@pytest.mark.parametrize("file", FILES)
def test_an_environment_holds_the_packages_and_ranges_of_pyproject(file):
    specs = _specs(file)
    wanted = {CONDA_NAME.get(name, name): need for name, need in ranges().items()}
    gpu = {"numba-cuda", "cuda-version"} if "gpu" in file else set()
    assert set(specs) == set(wanted) | CONDA_ONLY | gpu
    for name, need in wanted.items():
        conda = str(specs[name].version)
        if name == "nbval":
            assert (str(need.specifier), conda) == ("==0.11.0", "0.11.*")
        else:
            assert SpecifierSet(conda) == need.specifier, f"{file}: {name} {conda}, pyproject {need.specifier}"


def test_the_gpu_environment_has_the_range_of_the_gpu_extra():
    (need,) = ranges("gpu").keys() - ranges().keys()
    assert SpecifierSet(str(_specs("environment-gpu.yml")[need].version)) == ranges("gpu")[need].specifier


@pytest.mark.parametrize("file", FILES)
def test_locked_versions_satisfy_the_environment(file):
    specs = _specs(file)
    for need, _ in locked("requirements.lock"):
        name = CONDA_NAME.get(need.name, need.name)
        if name in specs and name != "python":
            version = rattler.Version(str(need.specifier).removeprefix("=="))
            assert rattler.VersionSpec(str(specs[name].version)).matches(version), f"{need} is not {specs[name]}"
