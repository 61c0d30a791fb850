"""The parts of `tools/measure_hopper.py`: each tells its rows one by one, and before each what it begins with.

say({"begins": text}) or say({"row": {...}}). --tiny runs them on the executor, small and untimed.
Source: the course's own.
"""

import functools
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from course_lib import gpu
from course_lib.bench.gpu import with_numpy
from course_lib.bench.gpu.measure import find_backend, measure, said
from course_lib.bench.gpu.players import replayed
from course_lib.bench.gpu.timing import time_in_turns
from course_lib.bench.gpu.work import BF16, TF32, THREE_TF32, Player, Work, allowed, judge
from course_lib.bench.timing import Timing
from course_lib.cuda.recording import record_launches
from tools.hopper.choices import BEFORE, CHOICES, numbers, of

ROOT = Path(__file__).resolve().parents[2]

TINY = ((256, 128, 96), (1, 4, 4))
FEW = ((128, 256, 64), (300, 260, 100), (1030, 520, 2052), (384, 4096, 512))
SIZES = (
    (256, 128, 32), (256, 256, 128), (1, 4, 4), (7, 13, 9), (129, 132, 36), *FEW, (2047, 1028, 1000), (4096, 256, 64),
)  # fmt: skip
ODD = ((1, 1, 1), (130, 4095, 2055), (1030, 515, 77))
"""(M, N, K): first one tile and one stage. ODD ones are for 16 bits, whose rows may begin anywhere."""

LARGE = (4096, 4096, 4096)
"""Verified by a product in float64 on the card, as all of what is timed."""

LEFT_OUT = 2.0**-20
"""Of each product's size: what 3xTF32 leaves out, a small part of A times one of B."""

SMALL_SIZE = 260, 132, 260
"""(M, N, K) under the sanitizer: ragged, and stages come round."""

SHARES = max(1, min(12, os.cpu_count() or 1))
"""Processes that compile at a time."""

SHOWN = 3
"""Complaints of the sanitizer that are kept."""


def _backend(tiny):
    return with_numpy if tiny else find_backend()


def verify(rung, say, tiny, skip):
    """Compare what a rung does now with float64: whole numbers exactly, others within what may be lost."""
    first = next(iter(of(rung)))
    _verified(first, TINY if tiny else SIZES + (ODD if rung == "half" else ()) + (LARGE,), say, tiny)


def verify_choices(rung, say, tiny, skip):
    """Compare the other choices of a rung with float64, at fewer sizes; clusters last, which may hang."""
    for name in sorted(list(of(rung))[1:], key=lambda name: "cluster" in name):
        if name not in skip:
            _verified(name, TINY if tiny else FEW, say, tiny)


def _verified(name, sizes, say, tiny):
    backend, choice = _backend(tiny), CHOICES[name]
    for size in sizes:
        for whole in (True, False) if size != LARGE else (False,):
            case = dict(choice=name, size=" x ".join(map(str, size)), numbers="whole" if whole else "normal")
            say({"begins": f"{name}, {case['size']}, {case['numbers']} numbers"})
            try:
                say({"row": case | _compared(choice, *size, whole, backend)})
            except Exception as error:
                say({"row": case | dict(right=False, ran="", share=None, said=said(error))})
                gpu.synchronize()  # where the card cannot go on, nor can this part


def _compared(choice, M, N, K, whole, backend):
    rng, short = np.random.default_rng(M + N + K), choice.dtype != "float32"
    A, B = numbers(rng, M, K, whole=whole, short=short), numbers(rng, K, N, whole=whole, short=short)
    C = backend.nan((M, N))
    with record_launches() as launches:
        choice.launch(choice.operand(A), choice.operand(B), C)
    gpu.synchronize()
    ran = launches[-1].kernel.__name__
    found = dict(ran=ran, share=0.0, right=True, said="")
    if choice.takes(N, K) and ran != choice.kernel:
        return found | dict(right=False, said=f"{ran} did it, not {choice.kernel}")
    if whole:
        return found | _differences(gpu.to_host(C), A.astype(np.float64) @ B)
    x, y = gpu.to_device(A), gpu.to_device(B)
    exact, sizes = (backend.product(backend.double(x, s), backend.double(y, s)) for s in (False, True))
    error, may = judge((C,), exact, sizes, K, choice.kind, backend), allowed(K, choice.kind)
    share = error.share * may / (may + (LEFT_OUT if choice.kind == THREE_TF32 else 0))
    words = "" if share <= 1 else f"relative error {error.relative:.1e}, {share:.3g} of what may be lost"
    return found | dict(right=share <= 1, share=share, said=words)


def _differences(found, exact):
    """Return {"right", "said"}: how many differ, of those NaN, in which rows and columns, and the first of them."""
    wrong = found != exact
    if not wrong.any():
        return {"right": True, "said": ""}
    rows, columns = np.nonzero(wrong)
    i, j = rows[0], columns[0]
    return {
        "right": False,
        "said": f"{wrong.sum():,} of {wrong.size:,} differ, {np.isnan(found).sum():,} NaN, in rows {rows.min()} to "
        f"{rows.max()} and columns {columns.min()} to {columns.max()}; [{i}, {j}] is {found[i, j]:g}, not "
        f"{exact[i, j]:g}",
    }


def timed(rungs, n, say, tiny, skip):
    """Time every choice of some rungs for n x n x n in turns with cuBLAS and with the rungs below."""
    backend, rng, short = _backend(tiny), np.random.default_rng(0), rungs == ("half",)
    M, N, K = TINY[0] if tiny else (n, n, n)
    A, B = numbers(rng, M, K, short=short), numbers(rng, K, N, short=short)
    x, y = gpu.to_device(A), gpu.to_device(B)
    choices = {name: c for rung in rungs for name, c in of(rung).items() if name not in skip}
    below = {c.kind for c in choices.values()}
    choices |= {name: c for name, c in BEFORE.items() if c.kind in below}
    operands = {dtype: _of_dtype(choices, dtype, A, B) for dtype in {c.dtype for c in choices.values()}}

    def player(name, choice):
        say({"begins": f"{name}, verified before it is timed"})
        C = backend.nan((M, N))
        return Player((replayed(lambda: choice.launch(*operands[choice.dtype], C), (C,)),), choice.kind)

    def work(backend, small):
        exact = lambda sizes=False: backend.product(backend.double(x, sizes), backend.double(y, sizes))  # noqa: E731
        ours = {name: functools.partial(player, name, choice) for name, choice in choices.items()}
        rivals = _rivals(backend, x, y, short)
        return Work(2 * M * N * K, 4 * (M * K + K * N + M * N), K, exact, ours, rivals)

    def timer(calls, rounds):
        say({"begins": "timing in turns"})
        return {name: Timing(1, 1, 1, 1, 1) for name in calls} if tiny else time_in_turns(calls, rounds=rounds)

    case = SimpleNamespace(name=f"{' '.join(rungs)} {n}", family="hopper", size=f"{n} x {n} x {n}", work=work)
    row = measure(case, backend, timer, 20)
    for name in dict.fromkeys((*choices, *row.rivals, *row.failures)):
        if name in row.timings or name in row.failures:
            say({"row": _timing(name, choices, row)})


def _of_dtype(choices, dtype, A, B):
    one = next(c for c in choices.values() if c.dtype == dtype)
    return one.operand(A), one.operand(B)


def _rivals(backend, x, y, short):
    """Return {name: Player}: cuBLAS in float32 and TF32, or in BF16 and FP16; none without PyTorch."""
    if not short:
        return backend.product_rivals(x, y)
    found = backend.product_rivals_bf16(x, y)
    if found:
        a, b = (backend.tensor(z).half() for z in (x, y))
        found["cuBLAS FP16"] = Player((lambda: (a @ b,),), BF16)
    return found


RIVALS = {TF32: "cuBLAS TF32", THREE_TF32: "cuBLAS", "uint16": "cuBLAS BF16", "float16": "cuBLAS FP16"}
"""Kind, or what 16 bits are -> whom a choice is compared with."""


def _timing(name, choices, row):
    timing, errors = row.timings.get(name), row.errors
    found = dict(choice=name, case=row.case, said=row.failures.get(name, ""), rival="", of_rival=None)
    if name in errors:
        found |= dict(error=errors[name][0], share=errors[name][1])
        if errors.get("cuBLAS", [0])[0]:
            found["of_error"] = errors[name][0] / errors["cuBLAS"][0]
    if timing is None:
        return found
    seconds = timing["median"]
    spread = 50 * (timing["upper"] - timing["lower"]) / seconds
    found |= dict(seconds=seconds, spread=spread, tflops=row.flops / seconds / 1e12)
    if name in choices:
        choice = choices[name]
        rival = RIVALS[choice.dtype if choice.kind == BF16 else choice.kind]
        if rival in row.timings:
            found |= dict(rival=rival, of_rival=row.timings[rival]["median"] / seconds)
    return found


def graph(say, tiny, skip):
    """Record the product of each rung, then of each in clusters, and replay it on other numbers."""
    M, N, K = TINY[0] if tiny else (300, 260, 100)
    rng = np.random.default_rng(0)
    A, B = numbers(rng, M, K, whole=True) / 2, numbers(rng, K, N, whole=True) / 2
    plain = [name for name, choice in CHOICES.items() if name in (choice.rung, "bf16", "f16")]
    for name in plain + [name for name in CHOICES if name.endswith("cluster")]:
        choice = CHOICES[name]
        if name in skip:
            continue
        say({"begins": f"{name} in a graph"})
        a, b = choice.operand(A), choice.operand(B)

        def step(choice=choice, a=a, b=b):
            C = gpu.empty((M, N), np.float32)  # another one in each recording, and so are maps of it
            choice.launch(a, b, C)
            return C

        recorded, right = gpu.record(step), True
        for factor in (1, -1):
            other = choice.operand((factor * A).astype(np.float32))
            gpu.overwrite(a, gpu.to_host(other))
            recorded()
            words = _differences(gpu.to_host(recorded.result), factor * A.astype(np.float64) @ B)
            right = right and words["right"]
        say({"row": dict(choice=name, right=right, said=words["said"])})


def small(rung, say):
    """Run a rung once on ragged whole numbers, few of them: what the sanitizer watches."""
    for name, choice in of(rung).items():
        if name in ("v11", "v12", "v13", "bf16", "v12 cluster", "v13 cluster", "bf16 cluster"):
            found = _compared(choice, *SMALL_SIZE, True, with_numpy)
            say({"row": dict(choice=name, right=found["right"], said=found["said"])})


def sanitizer_place():
    """Return the path of compute-sanitizer: on the PATH, of a CUDA toolkit, or of a package; None where there is none.

    No errors.
    """
    found = shutil.which("compute-sanitizer")
    patterns = ["/usr/local/cuda*/bin/compute-sanitizer", "/usr/local/cuda*/compute-sanitizer/compute-sanitizer"]
    patterns += [f"{place}/nvidia/{folder}/bin/compute-sanitizer" for place in sys.path if place
                 for folder in ("cu*", "cuda_sanitizer*", "*sanitizer*")]  # fmt: skip
    return found or next((path for pattern in patterns for path in sorted(glob.glob(pattern))), None)


def compile_share(share, say):
    """Compile the choices of one share, for the disk: what one process of `compile_all` does."""
    for name in list(CHOICES)[share::SHARES]:
        choice, start = CHOICES[name], time.perf_counter()
        with record_launches(run=False) as launches:
            choice.launch(*(choice.operand(np.ones((256, 256), np.float32)) for _ in "AB"), with_numpy.nan((256, 256)))
        for launch in launches:
            dispatcher = launch.kernel.dispatcher
            dispatcher.compile(tuple(dispatcher.typeof_pyval(a) for a in launch.arguments))
        say({"row": dict(choice=name, seconds=time.perf_counter() - start)})


def compile_all(say, tiny, skip, seconds=35):
    """Compile all choices in several processes at once, so that the parts after this one find them on the disk."""
    lines = {share: [sys.executable, "-m", "tools.measure_hopper", "--part", f"compile {share}"]
             for share in range(0 if tiny else SHARES)}  # fmt: skip
    for share, text, late in _at_once(lines, seconds):
        told = {True: [], False: []}
        for line in text.splitlines():
            told[line.startswith('{"row"')].append(line)
        rows, other = [json.loads(line)["row"] for line in told[True]], " ".join(told[False][-6:])
        for row in rows:
            say({"row": row | dict(right=True, said="")})
        left = list(CHOICES)[share::SHARES][len(rows) :]
        if left:
            say({"row": dict(choice=left[0], seconds=0, right=False, said=late + other[-300:])})


def _at_once(lines, seconds):
    """Yield (key, what it printed, "" or that it was ended) of command lines that run at once."""
    until = time.monotonic() + seconds
    runs = {
        key: subprocess.Popen(
            line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            env=os.environ | {"COURSE_PROGRESS": "0"},
        )
        for key, line in lines.items()
    }  # fmt: skip
    for key, process in runs.items():
        try:
            yield key, process.communicate(timeout=max(0.1, until - time.monotonic()))[0], ""
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            yield key, process.communicate()[0], f"not done after {seconds} s; "


def sanitizer(say, tiny, skip, seconds=35):
    """Watch every rung by memcheck, racecheck and synccheck, all at once, each with `seconds` of its own."""
    program = sanitizer_place()
    if program is None:
        words = "compute-sanitizer is not on the PATH, under /usr/local/cuda*, or in a package: nothing was watched"
        say({"row": dict(tool="", rung="", right=None, said=words)})
        return
    rungs = dict.fromkeys(c.rung for name, c in CHOICES.items() if name not in skip)
    lines = {
        (tool, rung): [program, "--tool", tool, sys.executable, "-m", "tools.measure_hopper", "--part", f"small {rung}"]
        for tool in ("memcheck", "racecheck", "synccheck") for rung in rungs
    }  # fmt: skip
    for (tool, rung), text, late in _at_once(lines, seconds):
        say({"row": dict(tool=tool, rung=rung, **judged(text, late))})


def judged(text, late=""):
    """Return {"right", "said"} of what compute-sanitizer printed; right is None where it came to no end. No errors."""
    counts = [int(n) for n in re.findall(r"SUMMARY: (\d+) (?:error|hazard)", text)]
    wrong = [line for line in text.splitlines() if line.startswith("{") and '"right": false' in line]
    told = [line.lstrip("= ") for line in text.splitlines() if line.startswith("=========") and "SUMMARY" not in line]
    told = [line for line in told if line and not line.startswith("COMPUTE-SANITIZER")][:SHOWN]
    if late or not counts:
        return {"right": None, "said": f"{late}no summary: {' '.join((told or text.split())[-12:])}"[:200]}
    words = [f"{sum(counts)} errors", *(["and a wrong result"] if wrong else []), *told]
    return {"right": sum(counts) == 0 and not wrong, "said": "; ".join(words)[:200]}


PARTS = {
    "compile": compile_all,
    **{rung: functools.partial(verify, rung) for rung in ("v11", "v12", "v13", "half")},
    **{f"{rung} choices": functools.partial(verify_choices, rung) for rung in ("v12", "v13", "half")},
    **{f"TF32 {n}": functools.partial(timed, ("v11", "v12"), n) for n in (4096, 8192)},
    **{f"3xTF32 {n}": functools.partial(timed, ("v13",), n) for n in (4096, 8192)},
    **{f"16 bits {n}": functools.partial(timed, ("half",), n) for n in (4096, 8192)},
    "graph": graph,
    "sanitizer": sanitizer,
}
"""Name -> part(say, tiny, skip); `skip` are choices that were wrong before."""
