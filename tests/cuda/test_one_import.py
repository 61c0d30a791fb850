"""The compiler of kernels is named in one place."""

import ast
from pathlib import Path

import pytest

import course_lib.cuda

FOLDER = Path(course_lib.cuda.__file__).parent
NAMES_IT = {
    "numba_cuda.py": "the place",
    "choice.py": "asks whether there is a GPU, before anything else",
    "fastrange.py": "replaces parts of numba-cuda",
    "pool.py": "is a plug-in of Numba's driver",
    "on_numba.py": "is how Numba launches",
    "compile_report.py": "compiles without a driver",
    "unroll.py": "reads Numba's version",
}


@pytest.mark.parametrize("file", sorted(FOLDER.rglob("*.py")), ids=lambda f: str(f.relative_to(FOLDER)))
def test_only_these_modules_import_numba(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    modules += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    names_numba = any(m == "numba" or m.startswith("numba.") for m in modules)
    assert not names_numba or file.name in NAMES_IT, "write: from course_lib.cuda.numba_cuda import cuda, float32"
