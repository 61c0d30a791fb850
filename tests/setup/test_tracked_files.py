"""No tracked file is large, or tells on which machine it was made."""

from __future__ import annotations

import re

from tests.setup.project import tracked_files

# Written in pieces, so that this file does not match itself.
# Ada lives nowhere: she is the user of the tests that look for paths.
_HOME = [rf"/{top}/(?!ada\b)[\w.-]+" for top in ("home", "Users")]
_HOME += [rf"/{'root'}/", rf"/{'work'}/", rf"C:\\+{'Users'}\\+(?!ada\b)"]
_HOST = [
    rf"{'pypi'}\.org/simple",
    rf"files\.{'pythonhosted'}\.org",
    rf"/opt/{'pypi'}",
    rf"/opt/{'wheels'}",
    rf"{'arti'}factory",
    rf"{'find-links'}\s*=",
    rf"{'index-url'}\s*=",
    rf"localhost:{'8'}\d{{3}}",
]
TELLTALE = re.compile("|".join(rf"(?<![\w.]){pattern}" for pattern in _HOME + _HOST), re.IGNORECASE)


def _texts():
    for path in tracked_files():
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # binary


def test_no_tracked_file_names_a_home_folder_or_a_package_mirror():
    found = [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for path, text in _texts()
        for match in TELLTALE.finditer(text)
    ]
    assert not found, "\n".join(found)


def test_the_pattern_finds_what_it_is_for():
    for text in ("open('" + "/home" + "/ann/x')", "/" + "root/.cache", "--index-" + "url = x", "C:\\" + "Users\\ann"):
        assert TELLTALE.search(text), text
    for text in ("the root/ of it", "course_lib/work/shop", "framework/", "a home/page"):
        assert not TELLTALE.search(text), text


def test_no_tracked_file_is_larger_than_a_mebibyte():
    large = [f"{path.name}: {path.stat().st_size}" for path in tracked_files() if path.stat().st_size > 2**20]
    assert not large


def test_generated_and_local_things_are_not_tracked():
    parts = {part for path in tracked_files() for part in path.parts}
    assert not parts & {".venv", "__pycache__", ".ipynb_checkpoints", "build", "dist", ".pytest_cache"}
