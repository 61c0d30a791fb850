"""Which kernels compile with which compiler: numba-cuda, and its successor numba-cuda-mlir. No GPU is needed.

python tools/compile_table.py --compile     compile all with the compiler of this environment, and note what came out
python tools/compile_table.py --table       write the table of tests/gates/README.md from what was noted
python tools/compile_table.py --check       fail where the README's table is another

--compile needs one of them: the environment after `make test` has numba-cuda; for the other one, an environment with
pip install "numba-cuda-mlir[cu13]==0.6.0" "cuda-toolkit==13.0.*" numba numpy

Kernels say `from numba import cuda`. For numba-cuda-mlir their names are bound anew, to its own module and types: the
source text stays. Of the intrinsics only `nonneg` has a stand-in there; the others are code for numba-cuda's generator.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
HERE = ROOT / "tests" / "gates"
README = HERE / "README.md"
MARK = "<!-- table: tools/compile_table.py --table -->"
COMPILERS = ("numba-cuda", "numba-cuda-mlir")


def main():
    """Do what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compile", action="store_true", help="compile all kernels and note what came out")
    parser.add_argument("--table", action="store_true", help="write the README's table")
    parser.add_argument("--check", action="store_true", help="compare the README's table with what was noted")
    options = parser.parse_args()
    if options.compile:
        return compile_all()
    text = README.read_text(encoding="utf-8")
    wanted = text[: text.index(MARK)] + MARK + "\n\n" + markdown()
    if options.table:
        README.write_text(wanted, encoding="utf-8")
    elif text != wanted:
        print("tests/gates/README.md has another table than the data: run python tools/compile_table.py --table")
        return 1
    return 0


def compile_all():
    """Compile every kernel for every compute capability, and write compiles.<compiler>.json."""
    os.environ["COURSE_DEVICE"] = "simt"
    mlir = importlib.util.find_spec("numba_cuda_mlir") is not None
    if not mlir:
        from tests.gates.compiler import missing, use_compiler

        if reason := missing():
            raise SystemExit(reason)
        use_compiler()
    from tests.gates.compiler import launches
    from tests.gates.launches import CCS, operations, rungs

    to_ptx = for_mlir() if mlir else for_numba_cuda()
    found = {}
    for entry in rungs() + operations():
        for cc in entry.ccs:
            for launch in launches(entry, cc):
                name = f"{launch.kernel.__module__.removeprefix('course_lib.cuda.')}.{launch.kernel.__name__}"
                key = f"{cc[0]}.{cc[1]}"
                if found.get(name, {}).get(key, "yes") == "yes":  # one that fails for some types fails
                    found.setdefault(name, {})[key] = outcome(to_ptx, launch, cc)
        print(entry.name, flush=True)
    compiler = COMPILERS[mlir]
    version = importlib.metadata.version(compiler)
    kernels = {name: [found[name].get(f"{a}.{b}", "") for a, b in CCS] for name in sorted(found)}
    content = {"compiler": compiler, "version": version, "ccs": [f"{a}.{b}" for a, b in CCS], "kernels": kernels}
    lines = json.dumps(content, indent=1)
    lines = re.sub(r"\[\s+([^\[\]]*?)\s+\]", lambda m: "[" + re.sub(r"\s*\n\s*", " ", m[1]) + "]", lines)
    (HERE / f"compiles.{compiler}.json").write_text(lines + "\n", encoding="utf-8")
    return 0


def outcome(to_ptx, launch, cc):
    """Return "yes", or in a few words why a kernel does not compile."""
    try:
        to_ptx(launch, cc)
    except Exception as error:
        text = " ".join(str(error).split())
        if found := re.search(r"Untyped global name '(\w+)'.*_Intrinsic", text):
            return f"no: {found[1]}"
        if "compiler bug" in text:
            return "no: an error in the compiler"
        return f"no: {type(error).__name__}: {text[:80]}"
    return "yes"


def for_numba_cuda():
    """Return a function that compiles a launch with numba-cuda."""
    from course_lib.cuda.compile_report import ptx_of, types_of

    return lambda launch, cc: ptx_of(launch.kernel, types_of(launch.arguments), cc)


def for_mlir():
    """Return a function that compiles a launch with numba-cuda-mlir."""
    import numba
    import numba_cuda_mlir.tools
    from numba import cuda as known
    from numba_cuda_mlir import cuda, types

    from course_lib.cuda import intrinsics
    from course_lib.cuda.compile_report import types_of
    from course_lib.cuda.unroll import _expanded, _names

    devices = {}

    def own_type(kind):
        if isinstance(kind, numba.types.Array):
            return types.Array(own_type(kind.dtype), kind.ndim, kind.layout)
        return getattr(types, {"bool": "boolean"}.get(str(kind), str(kind)))

    def own(value):
        if value is known:
            return cuda
        if isinstance(value, numba.types.Type):
            return own_type(value)
        if value is intrinsics.nonneg:
            return device_function(_nonneg)
        return device_function(value.py_func) if hasattr(value, "py_func") else value

    def device_function(function):
        if function not in devices:
            devices[function] = cuda.jit(device=True)(bound(function))
        return devices[function]

    def bound(function):
        names = _names(function)
        scope = {name: own(value) for name, value in names.items()} | {"__name__": function.__module__}
        text = _expanded(function, names)
        where = f"<{function.__qualname__}, for numba-cuda-mlir>"
        exec(compile(text, where, "exec"), scope)
        return scope[function.__name__]

    def to_ptx(launch, cc):
        numba_cuda_mlir.tools._cached_cc = cc  # it would ask the driver
        signature = types.void(*map(own_type, types_of(launch.arguments)))
        cuda.compile(bound(launch.kernel.py_func), signature, cc=cc, output="ptx", abi="numba", device=False)

    return to_ptx


def _nonneg(i):
    return i


def data():
    """Return what was noted, as {compiler: content}."""
    files = {c: HERE / f"compiles.{c}.json" for c in COMPILERS}
    return {c: json.loads(f.read_text(encoding="utf-8")) for c, f in files.items() if f.exists()}


def markdown():
    """Return the table: a line for each kernel, a column for each compiler."""
    noted = data()
    head = [f"{c} {d['version']}: {', '.join(d['ccs'])}" for c, d in noted.items()]
    lines = ["| kernel | " + " | ".join(head) + " |", "|---|" + "---|" * len(head)]
    names = sorted({n for d in noted.values() for n in d["kernels"]})
    for name in names:
        cells = [_cell(d["kernels"].get(name, [])) for d in noted.values()]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    counts = [f"{c}: {sum(_compiles(d['kernels'].get(n, [])) for n in names)}" for c, d in noted.items()]
    return "\n".join([f"Of {len(names)} kernels compile with {', with '.join(counts)}.", "", *lines]) + "\n"


def _compiles(outcomes):
    return bool(outcomes) and all(o in ("yes", "") for o in outcomes) and "yes" in outcomes


def _cell(outcomes):
    if len(set(outcomes)) == 1:
        return outcomes[0]
    return ", ".join(o or "-" for o in outcomes)


if __name__ == "__main__":
    sys.exit(main())
