"""A process with Numba's simulator, which runs kernels that come through a pipe.

The simulator must be chosen before Numba is imported, so it needs a process of its own; one does for many kernels.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


class Simulator:
    """Runs Cases one by one: `run(case)` returns {array: its numbers afterwards}, or raises what the kernel raised."""

    def __init__(self):
        environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
        line = [sys.executable, "-m", "tests.simt.generated.simulator"]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=ROOT)

    def run(self, case):
        """Send a case, wait for its result."""
        pickle.dump(tuple(case), self._process.stdin)
        self._process.stdin.flush()
        result = pickle.load(self._process.stdout)
        if isinstance(result, str):
            raise RuntimeError(result)
        return result

    def close(self):
        """End the process."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)


def serve():
    """Answer requests until there are none."""
    import math
    import warnings

    import numba
    from numba import cuda

    from tests.simt.generated.generator import OUTPUTS, Case

    warnings.filterwarnings("ignore")
    names = {"cuda": cuda, "math": math}
    for width in ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"):
        names[width] = getattr(numba, width)
    answer, sys.stdout = sys.stdout.buffer, sys.stderr  # what anybody prints is no answer
    while True:
        try:
            case = Case(*pickle.load(sys.stdin.buffer))
        except EOFError:
            return
        try:
            space = dict(names)
            exec(compile(case.text, "<generated>", "exec"), space)
            arguments = case.arguments()
            cuda.jit(space["kernel"])[case.grid, case.block](*arguments.values())
            result = {k: arguments[k] for k in (*OUTPUTS, "bins")}
        except BaseException as error:
            result = f"{type(error).__name__}: {error}"
        pickle.dump(result, answer)
        answer.flush()


if __name__ == "__main__":
    serve()
