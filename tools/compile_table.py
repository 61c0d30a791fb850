"""Which kernels compile with which compiler: numba-cuda, and its successor numba-cuda-mlir. No GPU is needed.

python tools/compile_table.py --compile     compile all with the compiler of this environment, and note what came out
python tools/compile_table.py --table       write the table of tests/gates/README.md from what was noted
python tools/compile_table.py --check       fail where the README's table is another

The environment after `make test` has numba-cuda. For the other one set COURSE_COMPILER=numba-cuda-mlir, the switch of
the library itself, in an environment with
pip install "numba-cuda-mlir[cu13]==0.6.0" "cuda-toolkit==13.0.*" numba numpy
"""

import argparse
import importlib.metadata
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
COMPILERS = _, MLIR = ("numba-cuda", "numba-cuda-mlir")


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
    if os.environ.get("COURSE_COMPILER") != MLIR:
        from tests.gates.compiler import missing, use_compiler

        if reason := missing():
            raise SystemExit(reason)
        use_compiler()
    from course_lib.cuda.compile_report import ptx_of, types_of
    from course_lib.cuda.numba_cuda import choose_compiler
    from tests.gates.compiler import launches
    from tests.gates.launches import CCS, everything

    compiler = choose_compiler()
    print(f"compiling with {compiler} {importlib.metadata.version(compiler)}", flush=True)

    def to_ptx(launch, cc):
        return ptx_of(launch.kernel, types_of(launch.arguments), cc)

    found = {}
    for entry in everything():
        for cc in entry.ccs:
            for launch in launches(entry, cc):
                name = f"{launch.kernel.__module__.removeprefix('course_lib.cuda.')}.{launch.kernel.__name__}"
                key = f"{cc[0]}.{cc[1]}"
                if found.get(name, {}).get(key, "yes") == "yes":  # one that fails for some types fails
                    found.setdefault(name, {})[key] = outcome(to_ptx, launch, cc)
        print(entry.name, flush=True)
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
        if found := re.match(r"(\w+) is written for numba-cuda's code generator", text):
            return f"no: {found[1]}"
        if "compiler bug" in text:
            return "no: an error in the compiler"
        return f"no: {type(error).__name__}: {text[:80]}"
    return "yes"


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
