"""Numba's cache of compiled kernels, made so that no damage to its files can ever stop or change a computation.

Numba reads whatever its files hold. One that was cut off (a full disk, lost power, a folder that a service copies to
another machine) ends the call with an UnpicklingError, and one with other bytes in the middle runs other machine code.
Here every file ends with a checksum of the rest. What does not fit is a kernel that was never kept: it is compiled
again, its file is written again, and a line says so.

Numba has no public place for this. What is used of its inside is in this file alone: a dispatcher's `_cache`, and of
the classes of `numba.core.caching` (numba-cuda has its own, alike) the methods that are replaced below.
`tests/fast/test_kernel_cache.py` fails where a version of Numba has others.

Source: the course's own; Numba's documentation, "Notes on Caching".
"""

import contextlib
import functools
import hashlib
import io
import os
import sys
from pathlib import Path

_LENGTH = hashlib.sha256().digest_size

_said = set()


def kept(dispatcher):
    """Return a dispatcher that Numba made with ``cache=True``, with its files under a checksum.

    One without a cache comes back as it is. No errors. Source: the course's own.
    """
    cache = getattr(dispatcher, "_cache", None)
    if hasattr(cache, "_cache_file"):
        dispatcher._cache = _checked(type(cache))(dispatcher.py_func)
    return dispatcher


def places(dispatchers):
    """Return {folder: (its kept files, those of them that cannot be used)} of what such dispatchers keep; no errors.

    Source: the course's own.
    """
    found = (getattr(d, "_cache", None) for d in dispatchers)  # NUMBA_DISABLE_JIT makes plain functions of them
    caches = [cache for cache in found if isinstance(cache, _CheckedCache)]
    return {folder: _looked_at(folder) for folder in sorted({str(cache.cache_path) for cache in caches})}


def _looked_at(folder):
    files = sorted(Path(folder).glob("*.checked.*nb[ic]"))
    damaged = []
    for file in files:
        try:
            _check(file)
        except OSError:
            damaged.append(file)
    return files, damaged


def say(text):
    """Print a line on stderr, once in a process; not with COURSE_PROGRESS=0. No errors. Source: the course's own."""
    if text not in _said and os.environ.get("COURSE_PROGRESS") != "0":
        _said.add(text)
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or on a full disk
            print(f"course_lib: {text}", file=sys.stderr, flush=True)


def sealed(content):
    """Return bytes with their checksum behind them. No errors. Source: FIPS 180-4 (SHA-256)."""
    return content + hashlib.sha256(content).digest()


def is_sound(content):
    """Return whether bytes are whole: what `sealed` made, unchanged. No errors. Source: FIPS 180-4 (SHA-256)."""
    return len(content) > _LENGTH and sealed(content[:-_LENGTH]) == content


class Damaged(OSError):
    """A file of the cache is not what was written. Numba takes an OSError for a file that is gone, which is right."""


class _CheckedFile:
    """Before Numba's class of files: a checksum behind each, and in the data what it is the code of."""

    def save(self, key, data):
        super().save(key, (self._source_stamp, key, data))

    def load(self, key):
        found = super().load(key)
        # Two processes that write at once may leave an index of one with the data of the other.
        return found[2] if found and found[:2] == (self._source_stamp, key) else None

    @contextlib.contextmanager
    def _open_for_write(self, path):
        whole = io.BytesIO()
        yield whole
        with super()._open_for_write(path) as file:
            file.write(sealed(whole.getvalue()))

    def _load_index(self):
        try:
            _check(self._index_path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            _tell(self._cache_path, error)
            return {}
        return super()._load_index()

    def _load_data(self, name):
        try:
            _check(self._data_path(name))
        except FileNotFoundError:
            raise
        except OSError as error:
            _tell(self._cache_path, error)
            raise
        return super()._load_data(name)


class _CheckedCache:
    """Before Numba's class of caches: what cannot be read is compiled, what cannot be written is not kept."""

    def __init__(self, function):
        super().__init__(function)
        file = self._cache_file
        # Other names than Numba's own, whose files have no checksum.
        self._cache_file = _checked_file(type(file))(
            self._cache_path, f"{self._impl.filename_base}.checked", file._source_stamp
        )

    def load_overload(self, signature, context):
        try:
            return super().load_overload(signature, context)
        except Exception as error:  # whatever it is, the source is still there to be compiled
            _tell(self._cache_path, error)
            return None

    def save_overload(self, signature, data):
        try:
            super().save_overload(signature, data)
        except Exception as error:
            say(
                f"compiled kernels cannot be kept in {self._cache_path} ({_reason(error)}). Each start compiles them "
                "again, until there is room and leave to write; or name another folder in NUMBA_CACHE_DIR."
            )


@functools.cache
def _checked(cache):
    return type(f"Checked{cache.__name__}", (_CheckedCache, cache), {})


@functools.cache
def _checked_file(file):
    return type(f"Checked{file.__name__}", (_CheckedFile, file), {})


def _check(path):
    with open(path, "rb") as file:
        if not is_sound(file.read()):
            raise Damaged("a file is cut off or changed")


def _tell(folder, error):
    say(f"kept kernels in {folder} cannot be used ({_reason(error)}); they are compiled again and kept anew.")


def _reason(error):
    return getattr(error, "strerror", None) or str(error).partition("\n")[0] or type(error).__name__
