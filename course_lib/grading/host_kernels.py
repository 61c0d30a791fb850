"""Kernels are judged in a process of their own, so that one that uses up time or memory does not stop the grader.

Source: the course's own.
"""

import atexit
import contextlib
import json
import math
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from course_lib.checks.judge import DOES_NOT_END
from course_lib.grading.keys import PartResult
from course_lib.grading.questions import GraderFault, run_parts

LOOK = 0.25
"""Seconds after which the process's time is looked at again."""

TIMED = 4
"""How many times as long a question may take where a time is predicted: it walks every block of a larger launch."""

START = 60.0
"""Seconds for the process to start: the executor is imported."""

_SPARE = []
"""Processes that are ready for the next submission; they are ended with this one, also where it is killed."""


class Kernels:
    """The kernels of one submission.

    Parameters
    ----------
    task : Task
    end : float
        When the time of the submission is over, by `time.monotonic`.

    Source: the course's own.
    """

    def __init__(self, task, end):
        self.task, self.end, self.process, self.errors = task, end, None, None
        self._buffer, self._busy = b"", False

    def run(self, exercise, key, text):
        """Return (results, fault) of a kernel's parts, as `questions.run_parts`. No errors.

        Source: the course's own.
        """
        with contextlib.suppress(GraderFault):  # it comes again below, for each part
            self._start()
        budget = [self.task.limits.question * (TIMED if exercise.batch else 1)]
        number = iter(range(1000))

        def result_of(exercise, part, _):
            request = {"id": exercise.id, "sheet": self.task.sheet, "keys": self.task.keys}
            if budget[0] <= 0:
                says = "it was not run, as the time for the question is used up."
                return PartResult(*part[:3], False, says, "not run")
            try:
                reply = self._ask({**request, "part": next(number), "text": text}, budget)
            except TimeoutError:
                budget[0] = 0.0
                return PartResult(*part[:3], False, "the kernel takes too long in the executor.", DOES_NOT_END)
            except (EOFError, OSError):
                return PartResult(
                    *part[:3], False, "the kernel ended the executor; it needs too much memory.", "MemoryError"
                )
            if "fault" in reply:
                raise GraderFault(reply["fault"])
            return PartResult(*part[:3], reply["passed"], reply["says"], reply["cause"], reply["counts"])

        return run_parts(exercise, key, None, result_of)

    def _ask(self, request, budget):
        """Return the reply to a request; its time, the processor's, is taken off the one number in `budget`."""
        self._start()
        end = min(self.end, time.monotonic() + budget[0] * self.task.limits.patience)
        try:
            self._busy, began = True, self._used()
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            reply = self._line(end, began + budget[0])
            self._busy = False
            budget[0] -= self._used() - began
            return reply
        except (OSError, EOFError, TimeoutError):
            self._end()
            raise

    def _start(self):
        """Have a process; GraderFault if none comes up, as no answer has been read yet."""
        if self.process:
            return
        if _SPARE and _SPARE[-1][2] == self.task.limits.memory:
            self.process, self.errors, _ = _SPARE.pop()
            if self.process.poll() is None:
                return
            self._end()
        command = [sys.executable, "-c", "from course_lib.grading.kernel_process import main; main()"]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in close)
        self.process = subprocess.Popen(
            [*command, str(2 * self.task.limits.memory)], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors, cwd=Path(__file__).parents[2], start_new_session=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        try:
            self._line(time.monotonic() + START)
        except (OSError, EOFError, TimeoutError) as error:
            self.errors.seek(0)
            last = self.errors.read()[-300:].decode("utf-8", "replace").strip().rpartition("\n")[2]
            self._end()
            raise GraderFault(f"the process for kernels did not start: {last or error}") from error

    def _used(self):
        """Return the processor's seconds that the process has used, user's and system's."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _line(self, end, most=math.inf):
        """Return a line that came before `end` on the clock, and before the process has used `most` seconds."""
        while b"\n" not in self._buffer:
            left = end - time.monotonic()
            if left <= 0 or (most < math.inf and self._used() > most):
                raise TimeoutError
            if not select.select([self.process.stdout], [], [], min(left, LOOK))[0]:
                continue
            if not (data := os.read(self.process.stdout.fileno(), 1 << 16)):
                raise EOFError("its process ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def close(self):
        """Keep the process for the next submission, unless it is at work. No errors. Source: the course's own."""
        if self.process and not self._busy and not _SPARE:
            _SPARE.append((self.process, self.errors, self.task.limits.memory))
            self.process = None
        self._end()

    def _end(self):
        process, self.process, self._buffer, self._busy = self.process, None, b"", False
        if process is not None:
            _end_process(process, self.errors)


def _end_process(process, errors):
    """Kill a process and close its files."""
    process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5.0)
    for file in (process.stdin, process.stdout, errors):
        with contextlib.suppress(OSError):
            file.close()


@atexit.register
def _end_spare():
    while _SPARE:
        process, errors, _ = _SPARE.pop()
        _end_process(process, errors)
