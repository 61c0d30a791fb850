"""How long compiling takes: each kernel for the first time, and in the next process, which finds it on the disk.

Source: the course's own; Numba's documentation, "Notes on Caching".
"""

import time
from concurrent.futures import ThreadPoolExecutor

from numba import cuda

from course_lib import gpu
from course_lib.bench.gpu import with_numpy
from course_lib.bench.gpu.process import in_processes
from course_lib.cuda.jit import jit


@jit
def _nothing(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i]


def warm_up():
    """Compile a kernel that is not counted, so that what a process does once is not counted either. Errors as a launch.

    Source: the course's own.
    """
    _nothing[1, 32](gpu.empty(1, "float32"))
    gpu.synchronize()


def compile_case(case):
    """Return [[player, kernel, seconds, failure or "", whether it is kept], ...] of compiling, or loading, a case's.

    No errors: a kernel that cannot be compiled is one of the failures. Source: the course's own.
    """
    found, seen = [], set()
    work = case.work(with_numpy, small=True)
    for name, make in work.ours.items():
        try:
            for launch in make().calls[0].launches:
                kernel = launch.kernel
                start = time.perf_counter()
                dispatcher = kernel.dispatcher
                types = tuple(dispatcher.typeof_pyval(a) for a in launch.arguments)
                if (kernel, types) not in seen:
                    dispatcher.compile(types)
                    kept = bool(kernel.options.get("cache"))
                    found.append([name, kernel.__name__, time.perf_counter() - start, "", kept])
                    seen.add((kernel, types))
        except ValueError:
            continue  # a rung that is not for such sizes
        except Exception as error:
            found.append([name, "", 0.0, f"{type(error).__name__}: {error}"[:300], False])
    return found


def compile_times(names, environment, jobs, on_row):
    """Return [{case, player, kernel, first, cached, failure, kept}, ...], seconds; `environment` names an empty folder.

    A kernel that is not kept on the disk, such as one with weights frozen into it, is compiled in the second run too.

    OSError if there can be no process. Source: the course's own.
    """
    shares = [names[i::jobs] for i in range(jobs) if names[i::jobs]]
    runs = []
    with ThreadPoolExecutor(len(shares)) as pool:
        for _ in ("first", "cached"):
            answers = pool.map(lambda share: list(in_processes("compile", share, environment)), shares)
            runs.append({said["case"]: said for share in answers for said in share})
            on_row("compiled" if len(runs) == 1 else "loaded")
    return [entry for name in names for entry in _together(name, *(run[name] for run in runs))]


def _together(name, first, cached):
    if "kernels" not in first or "kernels" not in cached:
        failure = (first if "kernels" not in first else cached)["failures"]["all"]
        return [dict(case=name, player="", kernel="", first=0.0, cached=0.0, failure=failure)]
    return [
        dict(case=name, player=player, kernel=kernel, first=seconds, cached=again[2], failure=failure, kept=kept)
        for (player, kernel, seconds, failure, kept), again in zip(first["kernels"], cached["kernels"], strict=False)
    ]
