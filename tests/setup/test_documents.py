"""What the documents say about files, commands and sizes is so."""

from __future__ import annotations

import re

import pytest
import yaml
from typer.main import get_command

import course_lib
from course_lib.cli import app
from tests.setup.project import CUDA_LOCK, LOCKS, ROOT, pyproject

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "INSTRUCTORS.md", "SECURITY.md", "ANSWERS.md"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_named_files_exist(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)  # kernel[grid, block](x) is no link
    linked = {target for target in re.findall(r"\]\(([^)#]+)", prose) if "://" not in target}
    named = set(re.findall(r"[\w-]+\.(?:lock|yml|toml)\b", text))
    missing = sorted(target for target in linked | named if not (ROOT / target).exists())
    assert not missing


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_and_course_command_in_a_document_exists(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", MAKEFILE, re.MULTILINE))
    commands = set(get_command(app).commands)
    assert set(re.findall(r"`?make (\w+)\b(?=[ `]|$)", text, re.MULTILINE)) - {"virtual"} <= targets
    assert set(re.findall(r"(?:^|[`/\\])course (\w+)", text, re.MULTILINE)) <= commands


def test_the_readme_lists_every_lesson():
    lessons = {path.name for path in (ROOT / "notebooks").glob("[0-9][0-9]*_*.ipynb")}
    assert lessons == set(re.findall(r"\(notebooks/(\S+?)\)", README))


def test_readme_and_makefile_tell_the_same_size_below_the_limit():
    (size,) = re.findall(r"^LAB_SIZE = (\d+) MB$", MAKEFILE, re.MULTILINE)
    assert f"**about {size} MB on disk**" in README
    assert int(size) < 750


def test_the_readme_installs_as_the_makefile_does():
    locked = "install --require-hashes -r requirements.lock"
    package = "install --no-deps --no-build-isolation -e ."
    for line in (locked, package):
        assert line in MAKEFILE
        assert f".venv/bin/python -m pip {line}" in README
        assert f".venv\\Scripts\\python -m pip {line}" in README
    assert f"python -m pip {package}" in README


def test_version_and_python_floor_are_the_same_everywhere():
    project = pyproject()["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["version"] == citation["version"] == course_lib.__version__
    assert project["requires-python"] == ">=3.11"
    assert "Python 3.11 or newer" in README
    assert "sys.version_info < (3, 11)" in MAKEFILE


def test_the_licences_are_those_that_pyproject_names():
    project = pyproject()["project"]
    assert project["license"] == "MIT AND CC-BY-4.0 AND CC-BY-SA-3.0 AND OFL-1.1"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert " AND ".join(citation["license"]) == project["license"]
    assert all((ROOT / name).is_file() for name in project["license-files"])
    assert "CC BY-SA 3.0" in (ROOT / "course_lib/data/MNIST_LICENSE.md").read_text(encoding="utf-8")
    assert "OFL-1.1" in (ROOT / "course_lib/book/static/LICENSE.md").read_text(encoding="utf-8")
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert "SPDX-License-Identifier: CC-BY-4.0" in (ROOT / "LICENSE-TEXT").read_text(encoding="utf-8")


def test_data_files_beside_the_modules_are_packaged():
    globs = pyproject()["tool"]["setuptools"]["package-data"]
    packaged = {
        path
        for package, patterns in globs.items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    others = {
        path
        for path in (ROOT / "course_lib").rglob("*.*")
        if path.is_file() and path.suffix not in (".py", ".pyc") and "__pycache__" not in path.parts
    }
    assert others == packaged


def test_the_workflow_has_its_three_jobs_and_calls_the_ci_script():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    triggers = workflow[True]  # YAML 1.1 reads the key `on` as true
    assert {"push", "pull_request", "schedule", "workflow_dispatch"} <= set(triggers)
    jobs = workflow["jobs"]
    commands = {name: [step.get("run", "") for step in job["steps"]] for name, job in jobs.items()}
    assert "bash .ci/run" in commands["cpu"]
    assert not any("lock" in command or "make" in command for command in commands["nightly-unpinned"])
    assert jobs["gpu"]["runs-on"] == ["self-hosted", "gpu"]
    assert "workflow_dispatch" in jobs["gpu"]["if"]


def test_the_ci_script_is_strict_and_ends_with_the_tests():
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert script.startswith("#!/usr/bin/env bash")
    assert "set -euo pipefail" in script
    assert script.rstrip().endswith("make test </dev/null")
    assert all(lock in MAKEFILE for lock in (*LOCKS, CUDA_LOCK))
