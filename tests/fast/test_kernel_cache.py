"""Whatever becomes of the files of compiled kernels: the results stay right, a line says what was wrong, and the files
are whole again afterwards."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numba.core.caching import Cache, FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

from course_lib import kernel_cache
from course_lib.fast.compile import compile_seconds, kernel
from course_lib.kernel_cache import is_sound, kept, places, sealed

SOURCE = "def double(first, last, x):\n    for i in range(first, last):\n        x[i] *= 2\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A file with a function that Numba keeps beside it."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(kernel_cache, "_said", set())
    file = tmp_path / "kernels.py"
    file.write_text(SOURCE)
    return file


def fresh(module):
    """The kernel as another process has it: made anew from the file."""
    spec = importlib.util.spec_from_file_location("kernels", module)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return kernel(made.double)


def compiles(double, dtype=np.float64):
    """Use a kernel; True if it had to be compiled for that. What it computes must be right."""
    before, x = compile_seconds(), np.arange(5, dtype=dtype)
    double(1, 4, x)
    np.testing.assert_array_equal(x, [0, 2, 4, 6, 4])
    return compile_seconds() > before


def files(module, kind):
    return sorted(module.parent.glob(f"__pycache__/*.{kind}"))


def overwritten(file, at, content):
    whole = bytearray(file.read_bytes())
    whole[at : at + len(content)] = content
    file.write_bytes(whole)


DAMAGE = {
    "empty": lambda file: file.write_bytes(b""),
    "cut to 20 bytes": lambda file: file.write_bytes(file.read_bytes()[:20]),
    "cut by one byte": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "cut before the checksum": lambda file: file.write_bytes(file.read_bytes()[:-32]),
    "zeros of the same length": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "other bytes": lambda file: file.write_bytes(np.random.default_rng(0).bytes(file.stat().st_size)),
    "a text": lambda file: file.write_text("version https://git-lfs.github.com/spec/v1\n"),
    "one byte in the middle": lambda file: overwritten(file, file.stat().st_size // 2, b"\x00\xff"),
    "a page of zeros": lambda file: overwritten(file, file.stat().st_size // 3, bytes(200)),
    "something behind it": lambda file: file.write_bytes(file.read_bytes() + b"\n"),
}


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_again_told_and_replaced(module, kind, damage, capfd):
    assert compiles(fresh(module))
    (file,) = files(module, kind)
    DAMAGE[damage](file)
    assert not is_sound(file.read_bytes())
    capfd.readouterr()
    assert compiles(fresh(module))
    told = [line for line in capfd.readouterr().err.splitlines() if "cannot be used" in line]
    assert [("cut off or changed" in line, "compiled again" in line) for line in told] == [(True, True)]
    assert is_sound(file.read_bytes())
    assert not compiles(fresh(module))
    assert "cannot be used" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_a_file_that_can_neither_be_read_nor_replaced_costs_a_compilation_at_each_start(module, kind, capfd):
    compiles(fresh(module))
    (file,) = files(module, kind)
    file.unlink()
    (file / "held").mkdir(parents=True)  # even root can neither open nor replace a folder with something in it
    assert compiles(fresh(module))
    assert "cannot be kept" in capfd.readouterr().err
    assert compiles(fresh(module))


def test_a_file_that_is_gone_is_made_again_without_a_word(module, capfd):
    compiles(fresh(module))
    for kind in ("nbc", "nbi"):
        (file,) = files(module, kind)
        file.unlink()
        capfd.readouterr()
        assert compiles(fresh(module))
        assert "course_lib: " not in capfd.readouterr().err
        assert file.exists()


def test_the_code_of_other_types_under_a_kernels_name_is_never_run(module):
    """Two processes that compile for other types at once may leave an index with the other's code."""
    double = fresh(module)
    compiles(double)
    compiles(double, np.float32)
    first, second = files(module, "nbc")
    shutil.copy(second, first)
    assert compiles(fresh(module))
    assert not compiles(fresh(module))


def test_where_the_folder_is_none_a_kernel_is_compiled_each_time(module, monkeypatch, capfd):
    (module.parent / "__pycache__").write_text("a file, where a folder is wanted")
    monkeypatch.setenv("XDG_CACHE_HOME", str(module))
    for _ in range(2):
        assert compiles(fresh(module))


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size here")
def test_a_disk_that_is_full_while_a_kernel_is_written_stops_nothing(module):
    script = f"""
import resource, sys
sys.path.insert(0, {str(module.parent)!r})
import numpy as np
import kernels
from course_lib.fast.compile import kernel
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
x = np.ones(3)
kernel(kernels.double)(0, 3, x)
print(x)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[2. 2. 2.]\n"), done.stderr
    assert "cannot be kept" in done.stderr
    assert "File too large" in done.stderr
    assert not list(module.parent.glob("__pycache__/*.nbc"))


def test_the_files_of_a_kernel_can_be_looked_at(module):
    double = fresh(module)
    folder = str(module.parent / "__pycache__")
    assert places([double]) == {folder: ([], [])}
    compiles(double)
    (found, damaged), (code,) = places([double])[folder], files(module, "nbc")
    assert (len(found), damaged) == (2, [])
    code.write_bytes(b"")
    assert places([double])[folder][1] == [code]


def test_a_checksum_knows_its_own_bytes_and_no_others():
    assert is_sound(sealed(b"kernel"))
    for other in (b"", sealed(b"")[:-1], sealed(b"kernel")[:-1], b"x" + sealed(b"kernel"), bytes(100)):
        assert not is_sound(other)


def test_numba_still_has_what_is_replaced_and_used():
    """A version of Numba that calls it otherwise must be looked at before it is allowed in pyproject.toml."""
    ours = {name for name in vars(kernel_cache._CheckedFile) if not name.startswith("__")}
    assert ours == {"save", "load", "_open_for_write", "_load_index", "_load_data"}
    assert ours | {"_data_path"} <= vars(IndexDataCacheFile).keys()
    file = IndexDataCacheFile("folder", "name", "stamp")
    assert (file._cache_path, file._index_name, file._source_stamp) == ("folder", "name.nbi", "stamp")
    assert issubclass(FunctionCache, Cache)
    assert {"load_overload", "save_overload"} <= vars(Cache).keys()
    assert "enable_caching" in vars(Dispatcher)


def test_without_a_cache_a_dispatcher_comes_back_as_it_is():
    plain = object()
    assert kept(plain) is plain


def test_functions_that_nobody_compiled_are_kept_nowhere():
    """NUMBA_DISABLE_JIT=1, with which people look into kernels, leaves plain functions."""
    assert kernel_cache.places([lambda x: x]) == {}
