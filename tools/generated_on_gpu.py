"""Run the kernels of tests/simt/generated on a card, and keep what they gave, to be compared with the executor.

python tools/generated_on_gpu.py --out FOLDER       on a machine with a GPU, NumPy, Numba and numba-cuda
python tools/generated_on_gpu.py --dry-run          the same on Numba's simulator, a few kernels, nothing is kept
python tools/generated_on_gpu.py --ptx              only compile, to PTX; needs numba-cuda and no GPU

The texts come from seeds 0, 1, 2, ... (generator.py), so that the file holds numbers only. A kernel that Numba
refuses or that fails is kept with its exception. It ends within SECONDS, with as many kernels as were done by then.
"""

import argparse
import base64
import datetime
import importlib.util
import json
import linecache
import math
import os
import site
import sys
import time
import warnings
import zlib
from glob import glob
from pathlib import Path
from types import SimpleNamespace

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 230
MOST_BYTES = 400_000


def main():
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for generated.<gpu>.json")
    parser.add_argument("--count", type=int, default=300, help="how many kernels")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="when to stop")
    parser.add_argument("--dry-run", action="store_true", help="use Numba's simulator, and kernels that it can run")
    parser.add_argument("--ptx", action="store_true", help="compile to PTX only")
    options = parser.parse_args()
    if not (options.out or options.dry_run or options.ptx):
        parser.error("say where to write: --out FOLDER")
    if options.dry_run:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    find_numba_cuda()
    os.environ["NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS"] = "0"
    warnings.filterwarnings("ignore")
    card = about() if options.out else None  # before a kernel can end the context
    kernels, left = measure(options)
    failed = {seed: entry["error"] for seed, entry in kernels.items() if "error" in entry}
    for seed, error in list(failed.items())[:20]:
        print(f"seed {seed}: {error}")
    print(f"{len(kernels)} kernels, {len(failed)} failed, {left:.0f} s left")
    if options.out:
        write(options.out, card, kernels)
    return 1 if failed or len(kernels) < options.count else 0


def find_numba_cuda():
    """Let `numba.cuda` be numba-cuda also where it lies in a folder of PYTHONPATH, whose .pth files nobody reads."""
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if folder and glob(os.path.join(folder, "_numba_cuda*.pth")):
            site.addsitedir(folder)


def load_generator():
    """Return generator.py as a module, also where the course's packages cannot be imported."""
    path = ROOT / "tests" / "simt" / "generated" / "generator.py"
    spec = importlib.util.spec_from_file_location("generated_generator", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def function(text, number):
    """Return the function `kernel` of a text, with the names that kernels use."""
    import numba
    from numba import cuda

    file = f"<generated {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"cuda": cuda, "math": math}
    for width in ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"):
        names[width] = getattr(numba, width)
    exec(compile(text, file, "exec"), names)
    return names["kernel"]


def measure(options):
    """Return ({seed: its entry}, seconds left)."""
    from numba import cuda

    generator, stop = load_generator(), time.monotonic() + options.seconds
    count = min(options.count, 10) if options.dry_run else options.count
    kernels = {}
    if options.ptx:  # device functions ask the card for its kind
        cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
    for seed in range(count):
        if time.monotonic() > stop:
            break
        case = generator.kernel_case(seed, wild=not options.dry_run)
        entry = kernels[str(seed)] = {"sha256": case.sha256()}
        try:
            arguments = case.arguments()
            if options.ptx:
                types = tuple(map(numba_type, arguments.values()))
                cuda.compile_ptx(function(case.text, seed), types, cc=(9, 0))
                continue
            kernel = cuda.jit(function(case.text, seed))
            there = {k: cuda.to_device(a) if isinstance(a, np.ndarray) else a for k, a in arguments.items()}
            kernel[case.grid, case.block](*there.values())
            cuda.synchronize()
            entry["out"] = pack(there[k].copy_to_host() for k in (*generator.OUTPUTS, "bins"))
        except Exception as error:
            entry["error"] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            if "CudaAPIError" in entry["error"] or "CUDA_ERROR" in entry["error"]:
                print(f"seed {seed} ended the context; the kernels after it are missing")
                break
    return kernels, stop - time.monotonic()


def numba_type(value):
    """Return Numba's type of an argument."""
    import numba

    return numba.typeof(value)


def pack(arrays):
    """Return the bytes of arrays, one after the other, compressed, as text."""
    return base64.b64encode(zlib.compress(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays), 9)).decode()


def about():
    """Return the card's and the software's versions."""
    import numba
    from numba import cuda

    device = cuda.get_current_device()
    name = device.name
    try:
        import numba_cuda

        version = numba_cuda.__version__
    except ImportError:
        version = None
    return {
        "device": name.decode() if isinstance(name, bytes) else str(name),
        "compute_capability": ".".join(map(str, device.compute_capability)),
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "numba": numba.__version__,
        "numba_cuda": version,
        "date": datetime.date.today().isoformat(),
    }


def slug(device):
    """Return the short name of a card: h100 of NVIDIA H100 80GB HBM3."""
    words = [w for w in device.replace("-", " ").split() if w[0].isalpha() and any(c.isdigit() for c in w)]
    return (words[0] if words else "-".join(device.split())).lower()


def write(folder, data, kernels):
    """Write the file, a line for each kernel, and say how large it is."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"generated.{slug(data['device'])}.json"
    lines = ",\n".join(f"  {json.dumps(seed)}: {json.dumps(entry)}" for seed, entry in kernels.items())
    head = json.dumps(data, indent=1)[:-2]
    path.write_text(f'{head},\n "kernels": {{\n{lines}\n }}\n}}\n')
    size = path.stat().st_size
    print(f"{path}: {size:,} bytes{' - too large, use a smaller --count' if size > MOST_BYTES else ''}")


if __name__ == "__main__":
    sys.exit(main())
