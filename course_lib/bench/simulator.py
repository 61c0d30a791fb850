"""Numba's CUDA simulator in a process of its own, which times itself.

Source: Numba's documentation, "Debugging CUDA Python with the CUDA Simulator". The simulator must be asked for
before Numba is imported, and then takes the place of numba.cuda: so it cannot live beside the executor.
"""

import contextlib
import json
import os
import subprocess
import sys
import time

import numpy as np

from course_lib.bench.simt_cases import CASES


class Simulator:
    """A running simulator, for `with`. It answers one request after the other.

    RuntimeError if it ends on its own; its own message has been on the terminal. Source: the course's own.
    """

    def __enter__(self):
        environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "COURSE_PROGRESS": "0"}
        command = [sys.executable, "-m", "course_lib.bench.simulator"]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        return self

    def __exit__(self, *error):
        self.process.kill()  # it holds nothing that could be lost
        self.process.wait()
        self.process.stdout.close()
        with contextlib.suppress(OSError):  # what was still to be sent
            self.process.stdin.close()

    def results(self, case, size):
        """Return the output arrays of one launch of a `Case`, in the dtypes that it makes."""
        answer = self._ask(case, size, results=True)
        outputs = case.launch(size).results()
        return [np.array(a, dtype=o.dtype).reshape(o.shape) for a, o in zip(answer["results"], outputs, strict=True)]

    def rival(self, case, size):
        """Return the rival for `interleave` that times itself: launches of a `Case`."""
        return Rival(self, case, size)

    def _ask(self, case, size, **request):
        try:
            self.process.stdin.write(json.dumps({"case": case.name, "size": size, **request}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            raise RuntimeError(
                f"Numba's simulator ended while it ran {case.name!r}. Run NUMBA_ENABLE_CUDASIM=1 python -m "
                "course_lib.bench.simulator to see whether it starts."
            )
        return json.loads(line)


class Rival:
    """Launches of one case in a simulator. Source: the course's own."""

    def __init__(self, simulator, case, size):
        self.simulator, self.case, self.size = simulator, case, size

    def __call__(self):
        """Launch once."""
        self.seconds(1)

    def seconds(self, calls):
        """Launch so often; return the seconds that this took in the simulator's process."""
        return self.simulator._ask(self.case, self.size, calls=calls)["seconds"]


def answer(request):
    """Return what the simulator says to a request, a dict: launch once and give the results, or launch and time.

    KeyError for an unknown case. Source: the course's own.
    """
    from numba import cuda

    launch = CASES[request["case"]].launch(request["size"])
    configured = cuda.jit(launch.kernel)[launch.grid, launch.block]
    start = time.perf_counter()
    for _ in range(request.get("calls", 1)):
        configured(*launch.arguments)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "results": [r.tolist() for r in launch.results()] if request.get("results") else []}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
