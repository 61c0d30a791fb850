"""numba-cuda, which has a cache of its own, keeps kernels under the course's checksums too."""

import os
import subprocess
import sys

import pytest

from tests.gates import compiler

pytestmark = pytest.mark.skipif(bool(compiler.missing()), reason=compiler.missing())

SCRIPT = """
import os, site, sys
if os.path.isdir(sys.argv[1]):
    site.addsitedir(sys.argv[1])
from numba import cuda
from numba.cuda.dispatcher import CUDACache
from course_lib.kernel_cache import kept, places

def copy(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]

cache = kept(cuda.jit(cache=True)(copy))._cache
assert isinstance(cache, CUDACache)
file = cache._cache_file
file.save("types", b"code" * 50)
assert file.load("types") == b"code" * 50
assert file.load("other types") is None
(code,) = [name for name in os.listdir(cache.cache_path) if name.endswith(".nbc")]
with open(os.path.join(cache.cache_path, code), "r+b") as changed:
    changed.write(b"zzzz")
assert file.load("types") is None
((_, damaged),) = places([kept(cuda.jit(cache=True)(copy))]).values()
assert [path.name for path in damaged] == [code]
"""


def test_a_damaged_kernel_of_numba_cuda_is_a_kernel_that_was_never_kept(tmp_path):
    script = tmp_path / "kernels.py"  # a function without a file cannot be kept
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script, compiler.FOLDER], capture_output=True, text=True, check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(compiler.ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
