"""The compiler of the gates: where it is, and a process that compiles before the tests ask.

`python -m tests.gates.compiler NAME...` compiles entries by name and prints a line of JSON with the reports of each.
What was compiled before, of the same text, is read from `reports.json` (tests/kept.py).
"""

import gc
import inspect
import json
import os
import platform
import queue
import site
import subprocess
import sys
import threading
from importlib import util
from unittest import mock

from tests.kept import Changed, Kept, digest
from tests.setup.project import ROOT

REPORTS = ROOT / "tests" / "gates" / "reports.json"
FOLDER = ROOT / "build" / "cuda-compiler"
SYSTEMS = (("Linux", "x86_64"), ("Windows", "AMD64"))

PATIENCE = 600
"""Seconds that one kernel may take."""

INSTALL = "-m pip install --require-hashes --no-deps --target build/cuda-compiler -r requirements-cuda.lock"


def missing():
    """Return why nothing can be compiled here, "" if it can."""
    if util.find_spec("numba_cuda") or (FOLDER / "numba_cuda").is_dir():
        return ""
    if (platform.system(), platform.machine()) not in SYSTEMS:
        return f"NVIDIA's wheels have no CUDA compiler for {platform.system()} on {platform.machine()}"
    return f"no CUDA compiler in build/cuda-compiler: `make test` installs it, or python {INSTALL}"


class Compiler:
    """A process that compiles entries; `answer` waits for what it says of an entry."""

    def __init__(self, names):
        environment = os.environ | {"COURSE_DEVICE": "simt", "COURSE_PROGRESS": "0"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.gates.compiler", *names], cwd=ROOT, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.names = names
        self.found, self.said, self.lines = {}, [], queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()  # a full pipe would stop it

    def _listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def answer(self, entry, cc):
        """Return what was said about an entry for a compute capability: {"reports": [...], "failure": ""}."""
        while (entry, cc) not in self.found:
            line = self.lines.get(timeout=PATIENCE)
            self.said.append(line)
            assert line, f"the compiling process ended: {''.join(self.said)[-2000:]}"
            if line.startswith("{"):
                answer = json.loads(line)
                self.found[answer["entry"], tuple(answer["cc"])] = answer
        return self.found[entry, cc]

    def close(self):
        """End the process."""
        self.process.kill()
        self.process.wait()


def use_compiler():
    """Let this process compile: the folder comes before Numba is imported, whose own CUDA target it replaces."""
    if util.find_spec("numba_cuda"):
        sys.path.append(str(FOLDER))  # for ptxas and nvdisasm
    else:
        site.addsitedir(str(FOLDER))


def main(names):
    """Print what is said of entries, by name: kept or compiled, in this process."""
    use_compiler()
    kept = Kept(REPORTS)
    for answer in answers(kept, names):
        print(json.dumps(answer), flush=True)
    print(json.dumps({"entry": "", "cc": [], "superfluous": len(kept.superfluous())}), flush=True)


def answers(kept, names=()):
    """Yield what is said of entries, by name, of all without names: a dict for each and each compute capability.

    "entry" and "cc"; "reports", or the "failure"; "kept": whether nothing was new; "usable": whether the file was.
    After `use_compiler`.
    """
    gc.set_threshold(200_000, 50, 1000)  # a compiler makes many small objects, and keeps them
    from tests.gates.launches import everything

    entries = {entry.name: entry for entry in everything()}
    for name in names or entries:
        for cc in entries[name].asked:
            missing = len(kept.missing)
            answer = {"entry": name, "cc": cc, "reports": [], "failure": ""}
            try:
                answer["reports"] = [_said(launch, cc, kept) for launch in launches(entries[name], cc)]
            except Changed:
                raise
            except Exception as error:
                answer["failure"] = f"{type(error).__name__}: {error}"
            yield answer | {"kept": len(kept.missing) == missing, "usable": kept.usable}


def launches(entry, cc):
    """Return what an entry launches on a device of a compute capability, one launch of each kernel and types."""
    from course_lib.cuda.compile_report import types_of
    from course_lib.cuda.recording import record_launches

    found = []
    with mock.patch("course_lib.cuda.capability.EVERY", cc):
        for call in entry.calls:
            with record_launches(run=entry.run) as noted:
                try:
                    call()
                except ValueError:
                    if entry.rung is None:
                        raise
                    continue  # a rung that is not for such sizes says so
            found += noted
    return list({(x.kernel, types_of(x.arguments)): x for x in found}.values())


def _said(launch, cc, kept):
    """Return what the compiler says of a launch, with its shared memory, its threads and whether it takes float64."""
    from course_lib.cuda import compile_report, sass
    from course_lib.cuda.compile_report import types_of
    from course_lib.cuda.unroll import fingerprint

    kernel, types = launch.kernel, types_of(launch.arguments)
    readers = [inspect.getsource(reader) for reader in (compile_report, sass, _report)]
    key = digest(fingerprint(kernel.py_func, kernel.made_from), str(types), str(cc), *readers)
    report = kept.answer(key, lambda: _report(launch, cc))
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    wide = sum("float64" in str(t) or "complex128" in str(t) for t in types)
    return report | {"shared": report["static"] + launch.shared, "threads": threads, "takes_float64": wide}


def _report(launch, cc):
    from course_lib.cuda.compile_report import compile_launch

    report = compile_launch(launch, cc)
    return dict(
        kernel=report.kernel, registers=report.registers, spills=report.spills, static=report.shared_bytes,
        float64=report.float64, mix=report.mix, share=report.loop.share, loop=report.loop.mix,
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
