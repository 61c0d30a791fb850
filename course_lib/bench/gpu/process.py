"""Parts of `course bench gpu` in processes of their own: a kernel that breaks the card's context stops one, not all.

`python -m course_lib.bench.gpu.process measure|rivals|compile|launch|training|epoch ROUNDS CASE...` prints a line of
JSON for each case. Source: the course's own.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict

UNUSABLE = 3
"""How a process ends whose context is unusable, after it has printed its last case."""


def in_processes(what, names, environment, rounds=1, command=(sys.executable, "-m", "course_lib.bench.gpu.process")):
    """Yield what the process says about each case, a dict with "case"; for one that it dies of, the failure.

    Parameters
    ----------
    what : "measure", "rivals", "compile", "launch", "training" or "epoch"
    names : sequence of str
        Of cases.
    environment : dict of str
        Variables to set.
    rounds : int
    command : sequence of str
        Its beginning, for tests.

    OSError if there can be no process. Source: the course's own.
    """
    rest = list(names)
    while rest:
        line = [*command, what, str(rounds), *rest]
        environ = os.environ | environment | {"COURSE_PROGRESS": "0"}
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors,
            subprocess.Popen(line, env=environ, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
        ):
            for answer in process.stdout:
                if answer.startswith("{"):
                    said = json.loads(answer)
                    rest.remove(said["case"])
                    yield said
            process.wait()
            errors.seek(0)
            complaint = errors.read().split()
        if rest and process.returncode != UNUSABLE:
            why = f"the process ended with {process.returncode}: {' '.join(complaint)[-250:]}"
            yield dict(case=rest.pop(0), family="", size="", failures={"all": why})


def main(what, rounds, *names):
    """Do one part in this process; return the exit status."""
    from course_lib import gpu
    from course_lib.bench.gpu.cases import CASES
    from course_lib.bench.gpu.compile import compile_case, warm_up
    from course_lib.bench.gpu.epoch import epochs
    from course_lib.bench.gpu.launch import launch_costs
    from course_lib.bench.gpu.measure import find_backend, measure, rival_kernels
    from course_lib.bench.gpu.timing import time_in_turns
    from course_lib.bench.gpu.train import training_steps

    if what == "compile":
        warm_up()
    for name in names:
        if what == "launch":
            said = {"case": "launch", **launch_costs(int(rounds))}
        elif what == "training":
            said = {"case": name, **training_steps(name, int(rounds))}
        elif what == "epoch":
            said = {"case": name, **epochs(name, max(2, int(rounds) // 4))}
        elif what == "rivals":
            said = {"case": name, "rival_kernels": rival_kernels(CASES[name], find_backend())}
        elif what == "compile":
            said = {"case": name, "kernels": compile_case(CASES[name])}
        else:
            said = asdict(measure(CASES[name], find_backend(), time_in_turns, int(rounds)))
        print(json.dumps(said), flush=True)
        try:
            gpu.synchronize()
        except Exception:
            return UNUSABLE
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
