"""Time the lessons' own kernels on this machine's card, side by side: python tools/measure_lessons.py --out FILE

The kernels are taken from the lessons' scripts, so what a lesson shows is what was measured. Rows are written as
`course bench gpu` writes them; `course_lib.lesson.measured` reads both. --tiny launches everything once, small, for a
smoke test without a GPU: its times mean nothing.
"""

from __future__ import annotations

import ast
import datetime
import functools
import json
import linecache
import sys
import types
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from course_lib import gpu
from course_lib.bench.gpu import with_torch
from course_lib.bench.gpu.measure import find_backend
from course_lib.bench.gpu.run import describe_gpu
from course_lib.bench.gpu.timing import time_in_turns
from course_lib.cuda.choice import GPU
from course_lib.cuda.device import choice
from course_lib.cuda.ladders import gemm
from course_lib.cuda.products import product

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools import convolution_cases, layer_cases  # noqa: E402

NOTEBOOKS = ROOT / "notebooks"
ROUNDS = 15


def lesson(name: str, folder: Path = NOTEBOOKS) -> types.ModuleType:
    """A module with the kernels of a lesson's script, what makes kernels, and the imports and CONSTANTS that they need.

    Of two functions of one name the last one counts, as in the notebook.
    """
    tree = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))
    text = "\n\n".join(ast.unparse(node) for node in tree.body if _is_needed(node)) + "\n"
    module = types.ModuleType(f"lesson_{name}")
    file = f"<kernels of {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)  # where Numba looks for the text
    exec(compile(text, file, "exec"), vars(module))
    return module


def _is_needed(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):  # a capital letter alone is a matrix
        target = node.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        return all(isinstance(name, ast.Name) and name.id.isupper() and len(name.id) > 1 for name in names)
    makes = isinstance(node, ast.FunctionDef) and any(getattr(part, "decorator_list", ()) for part in ast.walk(node))
    return isinstance(node, ast.Import | ast.ImportFrom) or makes  # a function that makes kernels counts as one


def up(n: int, block: int) -> int:
    """How many blocks n elements need."""
    return -(-n // block)


def cases(tiny: bool):
    """Yield (case, size in words, bytes that it has to move, {name: function that launches}) of each comparison.

    Or a function that makes the last one, where kernels have to be compiled for it.
    """
    side, n = (64, 4096) if tiny else (8192, 2**26)
    memory, fusion = lesson("12_memory"), lesson("13_reductions_and_fusion")

    square, other = gpu.to_device(np.ones((side, side), np.float32)), gpu.empty((side, side), np.float32)
    sums = gpu.empty((side,), np.float32)
    names = ("sum_rows", "sum_columns")
    launches = {k: _launch(getattr(memory, k), up(side, 128), 128, square, sums) for k in names}
    yield "few long sums", f"{side:,} x {side:,}", 4 * side * side, launches

    many = 256 if tiny else 2**20
    sums = gpu.empty((many,), np.float32)
    shapes = {"sum_rows": (many, 64), "sum_columns": (64, many)}
    whole = {name: gpu.to_device(np.ones(shape, np.float32)) for name, shape in shapes.items()}
    launches = {k: _launch(getattr(memory, k), up(many, 128), 128, whole[k], sums) for k in names}
    yield "many short sums", f"{_power(many)} x 64", 4 * many * 64, launches
    del whole

    tiles = (up(side, 32), up(side, 32)), (32, 32)
    launches = {k: _launch(getattr(memory, k), *tiles, square, other) for k in ("negative", "negative_swapped")}
    yield "index order", f"{side:,} x {side:,}", 8 * side * side, launches
    del square, other

    x, y, z = gpu.to_device(np.ones(n, np.float32)), gpu.empty((n,), np.float32), gpu.empty((n,), np.float32)
    bias, slope, factor = gpu.to_device(np.ones(128, np.float32)), np.float32(0.1), np.float32(2)
    one = _launch(fusion.all_in_one, up(n, 256), 256, x, bias, slope, factor, y)
    three = [
        _launch(fusion.add_bias, up(n, 256), 256, x, bias, y), _launch(fusion.activate, up(n, 256), 256, y, slope, z),
        _launch(fusion.scale, up(n, 256), 256, z, factor, y),
    ]  # fmt: skip
    yield "three kernels or one", _power(n), 8 * n, {"three kernels": _all(three), "one kernel": one}

    launches = {k: _launch(getattr(fusion, k), up(n, 4 * 256), 256, x, y) for k in ("four_in_a_row", "four_far_apart")}
    yield "coarsening", _power(n), 8 * n, {"one each": _launch(fusion.scale, up(n, 256), 256, x, factor, y)} | launches

    total, parts = gpu.to_device(np.zeros(1, np.float32)), gpu.empty((up(n, 256),), np.float32)
    trees = ("tree_of_neighbours", "tree_of_halves")
    launches = {k: _launch(getattr(fusion, k), n // 256, 256, x, parts) for k in trees}
    launches["atomic_sum"] = _launch(fusion.atomic_sum, n // 256, 256, x, total)
    yield "atomics or a tree", _power(n), 4 * n, launches
    del x, y, z, total, parts

    yield from products(tiny)
    yield from convolution_cases.cases(lesson("15_convolution_kernels"), tiny)
    yield from layer_cases.cases(tiny)


OWN = "lesson 14's own kernels"
CHANGES = "lesson 14's own kernels: one change each"


def own_products(own, A, B, C):
    """Return {kernel of lesson 14: function that launches it}, for M and N multiples of 128 and K of 32."""
    (M, _), N = A.shape, B.shape[1]
    shapes = {
        "naive": ((M // 32, N // 8), (32, 8)), "coalesced": ((N // 32, M // 8), (32, 8)),
        "tiled": ((N // 32, M // 32), (32, 32)), "column_of_eight": ((N // 64, M // 64), 512),
        "square_of_eight": ((N // 128, M // 128), 256),
    }  # fmt: skip
    kernels = {name: own.tiled(32) if name == "tiled" else getattr(own, name) for name in shapes}
    return {name: _launch(kernels[name], *shapes[name], A, B, C) for name in shapes}


def changed_products(own, A, B, C):
    """Return {what was changed: function that launches it} of lesson 14's `square_of_eight`: nothing, one thing, all.

    The sizes as `own_products` takes them.
    """
    grid = B.shape[1] // 128, A.shape[0] // 128
    kernels = {"square_of_eight": own.square_of_eight}
    kernels |= {name: own.changed_square(name) for name in (*own.CHANGES, "all five")}
    return {name: _launch(kernel, grid, 256, A, B, C) for name, kernel in kernels.items()}


def products(tiny: bool):
    """Yield the cases of lesson 14, as `cases` does: its own kernels, a matrix times few columns and many, a layer."""
    own, rng = lesson("14_matrix_multiplication"), np.random.default_rng(0)
    side = 128 if tiny else 4096
    A, B, C = _normal(rng, side, side), _normal(rng, side, side), gpu.empty((side, side), np.float32)
    size, moved = f"{side:,} x {side:,} x {side:,}", 12 * side * side
    yield OWN, size, moved, own_products(own, A, B, C) | {"cuBLAS": _library(tiny, A, B, C)}
    yield CHANGES, size, moved, changed_products(own, A, B, C) | {"cuBLAS": _library(tiny, A, B, C)}
    del A, B, C

    side = 64 if tiny else 4096
    kernel = own.matrix_vector
    # Three matrices in turns: one alone would stay in the L2 cache.
    weights = [_normal(rng, side, side) for _ in range(3)]
    x, y = _normal(rng, side), gpu.empty((side,), np.float32)
    launches = {"matrix_vector, 1": [_launch(kernel, up(side, 8), 256, w, x, y) for w in weights]}
    for columns in (4**k for k in range(7)):
        x, y = _normal(rng, side, columns), gpu.empty((side, columns), np.float32)
        launches[f"cuBLAS, {columns}"] = [_library(tiny, w, x, y) for w in weights]
    yield "matrix times batch", f"{side:,} x {side:,} times B", 4 * side * side, launches
    del weights, x, y, launches

    M, N, K = (32, 32, 64) if tiny else (128, 128, 784)
    A, B, C = _normal(rng, M, K), _normal(rng, K, N), gpu.empty((M, N), np.float32)
    launches = {rung.name: functools.partial(rung.launch, A, B, C) for rung in gemm.LADDER[1:8]}
    launches |= {"product": functools.partial(product, A, B), "cuBLAS": _library(tiny, A, B, C)}
    yield "product 128 x 128 x 784", f"{M} x {N} x {K}", 4 * (M * K + K * N + M * N), launches


def _normal(rng, *shape):
    return gpu.to_device(rng.standard_normal(shape, np.float32))


def _library(tiny, A, B, C):
    """NVIDIA's product as PyTorch calls it; in a smoke test, NumPy's."""
    if tiny:
        return lambda: gpu.overwrite(C, gpu.to_host(A) @ gpu.to_host(B))
    return with_torch.product_rivals(A, B)[with_torch.CUBLAS].calls[0]


def _power(n: int) -> str:
    return f"2^{n.bit_length() - 1}"


def _launch(kernel, grid, block, *arguments):
    return lambda: kernel[grid, block](*arguments)


def _all(calls):
    return lambda: [call() for call in calls]


def main(
    out: Annotated[Path, typer.Option(help="The JSON file to write: results/lessons.<card>.json.")],
    tiny: Annotated[bool, typer.Option(help="Once each, small: a smoke test.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Cases that begin so, again for more; others stay as the file has them.")
    ] = None,
) -> None:
    """Time every case, and write the file after each."""
    if not tiny and choice().device != GPU:
        raise typer.BadParameter("kernels are timed on a GPU, and there is none here; --tiny is a smoke test.")
    backend = find_backend()
    about = {"bench": "lessons", "date": datetime.date.today().isoformat(), "machine": describe_gpu(backend)}
    old, rows = _known(out), []
    for case, size, moved, launches in cases(tiny):
        if only and not case.startswith(tuple(only)):
            rows += [old[case]] if case in old else []
            continue
        launches = launches() if callable(launches) else launches
        timings = _once(launches) if tiny else {k: asdict(t) for k, t in time_in_turns(launches, rounds=ROUNDS).items()}
        row = {"case": case, "size": size, "flops": 0.0, "bytes": float(moved), "timings": timings}
        rows.append(row | _chosen(launches, backend))
        print(case, {name: f"{1e6 * t['median']:.1f} us" for name, t in timings.items()}, flush=True)
        rest = [old[name] for name in old if name not in {r["case"] for r in rows}]
        out.write_text(json.dumps(about | {"rounds": ROUNDS, "rows": rows + rest}, indent=1) + "\n", encoding="utf-8")


def _known(out: Path) -> dict:
    """{case: row} of a file that is there, to be added to; each says when it was measured."""
    known = json.loads(out.read_text("utf-8")) if out.exists() else {"rows": []}
    return {row["case"]: {"date": known["date"]} | row for row in known["rows"]}


def _chosen(launches, backend):
    """What cuDNN chose where it plays, after it was timed, since who watches may slow it down."""
    cudnn = {name: launch for name, launch in launches.items() if name.startswith("cuDNN")}
    return {"rival_kernels": {name: backend.kernels_of(launch) for name, launch in cudnn.items()}} if cudnn else {}


def _once(launches):
    for launch in launches.values():
        for one in launch if isinstance(launch, list) else [launch]:
            one()
    return {name: {"median": 0.0} for name in launches}


if __name__ == "__main__":
    typer.run(main)
