"""Evaluate the expressions of tests/simt/measured/numbers.py on a card, and keep the bits of the results.

python tools/measure_numbers.py --out FOLDER       on a machine with a GPU, NumPy, Numba and numba-cuda
"""

import argparse
import base64
import json
import linecache
import sys
import warnings
import zlib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
WIDTHS = ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64")


def load(path):
    """Return a file as a module, also where the course's packages cannot be imported."""
    spec = spec_from_file_location(f"loaded_{path.stem}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    """Measure, write numbers.<gpu>.json; return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for numbers.<gpu>.json")
    options = parser.parse_args()
    gpu = load(ROOT / "tools" / "generated_on_gpu.py")
    gpu.find_numba_cuda()
    warnings.filterwarnings("ignore")
    numbers = load(ROOT / "tests" / "simt" / "measured" / "numbers.py")
    found = {f"{e}|{code}": {out: one(numbers, e, code, out) for out in numbers.RESULTS} for e, code in numbers.cases()}
    about = gpu.about()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"numbers.{gpu.slug(about['device'])}.json"
    path.write_text(to_text(about, found))
    refused = [name for name, row in found.items() if isinstance(row["i8"], dict)]
    print(f"{path}: {len(found)} expressions, refused by Numba: {', '.join(refused) or 'none'}")
    return 0


def one(numbers, expression, code, out):
    """Return the packed results of one expression, or {"error": what Numba says}."""
    import math

    import numba
    from numba import cuda

    text, file = numbers.text(expression), f"<number {expression} {code} {out}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"cuda": cuda, "math": math, **{w: getattr(numba, w) for w in WIDTHS}}
    exec(compile(text, file, "exec"), names)
    a, b = numbers.numbers(code)
    result = cuda.to_device(np.zeros(a.size, out))
    try:
        cuda.jit(names["kernel"])[1, a.size](cuda.to_device(a), cuda.to_device(b), result)
        return pack(result.copy_to_host())
    except Exception as error:
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}


def pack(array):
    """Return an array's bytes, compressed, as text."""
    return base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()


def to_text(about, found):
    """Return the file: a line for each expression."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in found.items())
    return f'{json.dumps(about, indent=1)[:-2]},\n "numbers": {{\n{lines}\n }}\n}}\n'


if __name__ == "__main__":
    sys.exit(main())
