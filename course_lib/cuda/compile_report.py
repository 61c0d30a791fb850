"""Compile what a launcher launches to machine code, without a GPU, and report what a card would get.

    (launch,) = launches_of(gemm_v05, A, B, C)
    report = compile_launch(launch, (9, 0))
    report.registers, report.spills, report.loop.share

Needs NVIDIA's package numba-cuda with its compiler, ptxas and nvdisasm (requirements-cuda.lock); no driver.
Source: Numba's documentation, "Compiling Python functions for use with other languages"; NVIDIA, "CUDA Compiler
Driver".
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numba

from course_lib.cuda import fastrange
from course_lib.cuda.choice import GPU, Choice
from course_lib.cuda.device import executor
from course_lib.cuda.numba_cuda import COMPILER, HAS_PACKAGE, MLIR, cuda
from course_lib.cuda.operands import is_contiguous
from course_lib.cuda.recording import record_launches
from course_lib.cuda.sass import Loop, families, main_loop
from course_lib.cuda.unroll import compiled_form

SERIALIZED = "wgmma.mma_async instructions are serialized"
"""What ptxas says where tensor cores would stand still after each product."""


class NoCompiler(RuntimeError):
    """The compiler, or one of its tools, is not here; the message says how to get it. Source: the course's own."""


@dataclass(frozen=True)
class CompileReport:
    """What the compiler made of one kernel, for one compute capability.

    Attributes
    ----------
    kernel : str
    cc : tuple of int
    registers : int
        Of a thread.
    shared_bytes : int
        Of a block, static.
    stack_bytes, spill_stores, spill_loads : int
        Bytes of local memory of a thread, and of those the ones for which there was no register.
    float64 : int
        Instructions of PTX that work on float64.
    mix : dict of str to int
        Instructions by family, such as FFMA, LDG.128 or "whole numbers".
    loop : Loop
        The loop with the most multiply-adds of its own, loops inside it left out.
    seconds : float
        That compiling took.
    ptx, sass : str

    Source: NVIDIA, "CUDA Compiler Driver" (ptxas --verbose), "CUDA Binary Utilities".
    """

    kernel: str
    cc: tuple[int, int]
    registers: int
    shared_bytes: int
    stack_bytes: int
    spill_stores: int
    spill_loads: int
    float64: int
    mix: dict[str, int]
    loop: Loop
    seconds: float
    ptx: str
    sass: str

    @property
    def spills(self):
        """Bytes that are written to or read from local memory because registers ran out."""
        return self.spill_stores + self.spill_loads

    def __str__(self):
        busy = {k: v for k, v in sorted(self.loop.mix.items(), key=lambda kv: -kv[1])}
        return (
            f"{self.kernel} for {self.cc[0]}.{self.cc[1]}: {self.registers} registers, {self.shared_bytes:,} bytes "
            f"shared, {self.spills} bytes spilled, {self.stack_bytes} bytes of stack, {self.float64} float64; main "
            f"loop of {self.loop.instructions}, {self.loop.share:.0%} multiply-adds: {busy}"
        )


def launches_of(launcher, *arguments):
    """Return the `Launch`es of launcher(*arguments), which are noted and not done. Errors as the launcher's.

    Source: the course's own.
    """
    with record_launches(run=False) as launches:
        launcher(*arguments)
    return launches


def types_of(arguments):
    """Return the Numba types that a launch with these arguments is compiled for. No errors beyond Numba's.

    Source: Numba's documentation, "Numba types".
    """
    return tuple(_type(a) for a in arguments)


def _type(value):
    if not executor().owns(value):
        return numba.typeof(value)
    turned = SimpleNamespace(shape=value.shape[::-1], strides=value.strides[::-1], dtype=value.dtype, size=value.size)
    layout = "C" if is_contiguous(value) else "F" if is_contiguous(turned) else "A"
    return numba.types.Array(numba.from_dtype(value.dtype), value.ndim, layout)


def compile_launch(launch, cc):
    """Return the `CompileReport` of a `Launch` for a compute capability such as (9, 0).

    Raises
    ------
    NoCompiler
        If numba-cuda, ptxas or nvdisasm is missing.
    RuntimeError
        If ptxas refuses the kernel, or takes products by four warps apart. Errors as Numba's for what Numba refuses.

    Source: Numba's documentation, "cuda.compile"; NVIDIA, "CUDA Compiler Driver".
    """
    start = time.perf_counter()
    ptx = ptx_of(launch.kernel, types_of(launch.arguments), cc)
    said, sass = assemble(ptx, cc, launch.kernel.options.get("max_registers"))
    return CompileReport(
        kernel=launch.kernel.__name__,
        cc=cc,
        registers=_number(said, r"Used (\d+) registers"),
        shared_bytes=_number(said, r"(\d+) bytes smem"),
        stack_bytes=_number(said, r"(\d+) bytes stack frame"),
        spill_stores=_number(said, r"(\d+) bytes spill stores"),
        spill_loads=_number(said, r"(\d+) bytes spill loads"),
        float64=len(re.findall(r"^\s*(?:@!?%p\d+ )?[a-z]\S*\.f64\b", ptx, re.MULTILINE)),
        mix=families(sass),
        loop=main_loop(sass),
        seconds=time.perf_counter() - start,
        ptx=ptx,
        sass=sass,
    )


def _number(text, pattern):
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def ptx_of(kernel, signature, cc):
    """Return the PTX of a `Kernel` for argument types and a compute capability; errors as `compile_launch`.

    With COURSE_COMPILER=numba-cuda-mlir it is that compiler's, without the kernel's options.
    Source: Numba's documentation, "cuda.compile".
    """
    if COMPILER == MLIR:
        from course_lib.cuda import mlir_names

        return mlir_names.ptx_of(compiled_form(kernel.py_func)[0], signature, cc)
    if not HAS_PACKAGE:
        raise NoCompiler("numba-cuda is not installed; requirements-cuda.lock has it, and `make test` installs it.")
    fastrange.install()
    function, _ = compiled_form(kernel.py_func)
    options = {name: kernel.options[name] for name in ("fastmath", "launch_bounds", "opt") if name in kernel.options}
    own = (*cc, "a") if cc == (9, 0) else cc  # as numba-cuda does on a card: with what only Hopper has
    with _no_device_needed(cc):
        text, _ = cuda.compile(
            function, numba.types.void(*signature), cc=own, output="ptx", abi="numba", device=False, **options
        )
    return text


def _no_device_needed(cc):
    """numba-cuda asks the driver or NVRTC for three things that are known here; answer in their place."""
    from numba.cuda import cuda_paths, dispatcher
    from numba.cuda.cudadrv import nvrtc

    stack = ExitStack()
    for place, name, answer in (
        (dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=cc)),  # for a device function
        (nvrtc, "get_arch_option", lambda major, minor, arch="": f"compute_{major}{minor}{arch}"),
        (cuda_paths, "_get_nvrtc_path", lambda: None),
    ):
        stack.enter_context(mock.patch.object(place, name, answer))
    stack.enter_context(mock.patch("course_lib.cuda.kernel.choice", return_value=Choice(GPU, "compiling")))
    return stack


def assemble(ptx, cc, max_registers=None):
    """Return (what ptxas says, the machine code as nvdisasm's text); errors as `compile_launch`.

    Source: NVIDIA, "CUDA Compiler Driver".
    """
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        limit = [f"--maxrregcount={max_registers}"] if max_registers else []
        target = re.search(r"^\.target (sm_\d+\w?)", ptx, re.MULTILINE)[1]  # such as sm_90a
        line = [tool("ptxas"), "-v", f"-arch={target}", *limit, str(source), "-o", str(binary)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"ptxas refuses the kernel for {cc[0]}.{cc[1]}: {done.stderr.strip()[:500]}")
        if SERIALIZED in done.stdout + done.stderr:
            raise RuntimeError(
                f"ptxas lets products by four warps wait for each other, for {cc[0]}.{cc[1]}: "
                f"{(done.stdout + done.stderr).strip()[:300]}. Their sums may be touched only after a wait, and "
                "branches around them must be the same for all threads, as the compiler can see (shfl_sync)."
            )
        shown = subprocess.run([tool("nvdisasm"), "-c", str(binary)], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr, shown.stdout


def tool(name):
    """Return the path of ptxas or nvdisasm: of NVIDIA's wheels, else of a CUDA toolkit; NoCompiler without one.

    Source: NVIDIA, "CUDA Installation Guide".
    """
    for place in sys.path:
        for found in Path(place or ".", "nvidia", "cu13", "bin").glob(f"{name}*"):
            if found.stem == name and found.suffix in ("", ".exe"):
                found.chmod(0o755)  # pip --target may leave it without the right
                return str(found)
    found = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
    if found is None:
        raise NoCompiler(f"{name} is not here; requirements-cuda.lock has it, and `make test` installs it.")
    return found
