"""The compiler of the gates: where it is, and processes that compile before the tests ask.

`python -m tests.gates.compiler NAME...` compiles entries by name and prints a line of JSON for each kernel's report.
"""

import json
import os
import platform
import site
import subprocess
import sys
import time
from importlib import util
from unittest import mock

from tests.setup.project import ROOT

FOLDER = ROOT / "build" / "cuda-compiler"
SYSTEMS = (("Linux", "x86_64"), ("Windows", "AMD64"))
ENDED = "all compiled"
PATIENCE = 1200
"""Seconds; a process of another one that runs tests may have ended without a word."""

INSTALL = "-m pip install --require-hashes --no-deps --target build/cuda-compiler -r requirements-cuda.lock"


def missing():
    """Return why nothing can be compiled here, "" if it can."""
    if util.find_spec("numba_cuda") or (FOLDER / "numba_cuda").is_dir():
        return ""
    if (platform.system(), platform.machine()) not in SYSTEMS:
        return f"NVIDIA's wheels have no CUDA compiler for {platform.system()} on {platform.machine()}"
    return f"no CUDA compiler in build/cuda-compiler: `make test` installs it, or python {INSTALL}"


class Compiler:
    """Processes that compile entries; `answer` waits for what one of them says of an entry.

    Where several processes run the tests, each starts its share of the compiling ones, and all read what these say in
    files of `folder`: which process gets the tests is not known before.
    """

    def __init__(self, names, folder, share=0, shares=1, processes=1):
        count = shares * processes
        self.files = [folder / f"compiled.{k}" for k in range(count)]
        self.processes = [self._start(names[k::count], self.files[k]) for k in range(share, count, shares)]
        self.found, self.read, self.ended = {}, dict.fromkeys(self.files, 0), set()

    def _start(self, names, file):
        environment = os.environ | {"COURSE_DEVICE": "simt", "COURSE_PROGRESS": "0"}
        with open(file, "w", encoding="utf-8") as out:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.gates.compiler", *names], cwd=ROOT, env=environment, stdout=out,
                stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip

    def _listen(self):
        for file in self.files:
            if not file.exists():
                continue
            with open(file, encoding="utf-8") as said:
                said.seek(self.read[file])
                text, end, _ = said.read().rpartition("\n")
            self.read[file] += len((text + end).encode())
            for line in text.splitlines():
                if line.startswith("{"):
                    answer = json.loads(line)
                    self.found[answer["entry"], tuple(answer["cc"])] = answer
                if line == ENDED:
                    self.ended.add(file)

    def answer(self, entry, cc):
        """Return what was said about an entry for a compute capability: {"reports": [...], "failure": ""}."""
        patience = time.monotonic() + PATIENCE
        while (entry, cc) not in self.found and len(self.ended) < len(self.files):
            dead = any(p.poll() for p in self.processes) or time.monotonic() > patience
            assert not dead, f"a compiling process ended: {[f.read_text(encoding='utf-8')[-999:] for f in self.files]}"
            time.sleep(0.05)
            self._listen()
        return self.found[entry, cc]

    def close(self):
        """End the processes."""
        for process in self.processes:
            process.kill()
            process.wait()


def use_compiler():
    """Let this process compile: the folder comes before Numba is imported, whose own CUDA target it replaces."""
    if util.find_spec("numba_cuda"):
        sys.path.append(str(FOLDER))  # for ptxas and nvdisasm
    else:
        site.addsitedir(str(FOLDER))


def main(names):
    """Compile entries by name, in this process."""
    use_compiler()
    from tests.gates.launches import operations, rungs

    entries = {entry.name: entry for entry in rungs() + operations()}
    for name in names:
        for cc in entries[name].asked:
            try:
                answer = {"reports": [_shown(launch, cc) for launch in launches(entries[name], cc)], "failure": ""}
            except Exception as error:
                answer = {"reports": [], "failure": f"{type(error).__name__}: {error}"}
            print(json.dumps({"entry": name, "cc": cc, **answer}), flush=True)
    print(ENDED, flush=True)


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


compiled = {}
"""What this process has compiled: operations launch what rungs launch."""


def _shown(launch, cc):
    from course_lib.cuda.compile_report import compile_launch, types_of

    key = launch.kernel, types_of(launch.arguments), cc
    if key not in compiled:
        compiled[key] = compile_launch(launch, cc)
    report = compiled[key]
    wide = sum("float64" in str(t) or "complex128" in str(t) for t in types_of(launch.arguments))
    return dict(
        kernel=report.kernel, module=launch.kernel.__module__, registers=report.registers, spills=report.spills,
        shared=report.shared_bytes + launch.shared, threads=launch.block[0] * launch.block[1] * launch.block[2],
        float64=report.float64, takes_float64=wide, mix=report.mix, share=report.loop.share,
        loop=report.loop.mix, seconds=report.seconds,
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
