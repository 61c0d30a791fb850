"""The machine code of a launch, with source lines, where a compiler is there; no GPU is needed.

Source: the course's own; `cuda.compile_report` says what is needed for it.
"""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from course_lib.simt.estimate.code import stretches
from course_lib.simt.estimate.executions import executions
from course_lib.simt.estimate.pipes import ahead, of_a_warp, waits


@dataclass(frozen=True)
class Code:
    """What a warp executes, and what a thread needs.

    Attributes
    ----------
    registers : int
        Of a thread.
    instructions : dict of str to float
        {unit: instructions of a warp}, and "all".
    clocks, global_waits, shared_waits, shuffle_waits : float
        As `pipes.waits` returns them.
    ahead : float
        As `pipes.ahead` returns it.

    Source: the course's own.
    """

    registers: int
    instructions: dict
    clocks: float
    global_waits: float
    shared_waits: float
    shuffle_waits: float
    ahead: float = 0.0


def compiled(launch, cc):
    """Return (registers, list of `Stretch`) of a `Launch` for a compute capability such as (9, 0).

    Errors as `compile_report.compile_launch`'s: NoCompiler where there is none, or where it fails.

    Source: Numba's documentation, "cuda.compile"; NVIDIA, "CUDA Compiler Driver".
    """
    import numba

    from course_lib.cuda import compile_report as report
    from course_lib.cuda import fastrange
    from course_lib.cuda.numba_cuda import HAS_PACKAGE, cuda
    from course_lib.cuda.unroll import compiled_form

    if not HAS_PACKAGE:
        raise report.NoCompiler("numba-cuda is not installed; requirements-cuda.lock has it.")
    fastrange.install()
    kernel = launch.kernel
    function, _ = compiled_form(kernel.py_func)
    options = {name: kernel.options[name] for name in ("fastmath", "launch_bounds", "opt") if name in kernel.options}
    types = numba.types.void(*report.types_of(launch.arguments))
    with report._no_device_needed(cc):
        ptx, _ = cuda.compile(function, types, cc=cc, output="ptx", abi="numba", device=False, lineinfo=True, **options)
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        limit = kernel.options.get("max_registers")
        line = [report.tool("ptxas"), "-v", "-lineinfo", f"-arch=sm_{cc[0]}{cc[1]}", str(source), "-o", str(binary)]
        line += [f"--maxrregcount={limit}"] if limit else []
        said = subprocess.run(line, capture_output=True, text=True, check=False)
        if said.returncode:  # libNVVM loses a label now and then where it writes line numbers
            raise report.NoCompiler(f"ptxas refuses the code of {kernel.__name__} with line numbers.")
        shown = subprocess.run(
            [report.tool("nvdisasm"), "-c", "-g", str(binary)], capture_output=True, text=True, check=True
        )
    registers = re.search(r"Used (\d+) registers", said.stdout + said.stderr)
    return int(registers[1]) if registers else 32, stretches(shown.stdout)


def code_of(registers, found, report):
    """Return the `Code` of what `compiled` returned; `report` is of the text that was compiled.

    No errors. Source: the course's own.
    """
    found = executions(found, report)
    return Code(registers, of_a_warp(found), *waits(found), ahead(found))
