"""Run a script as one rank: `python -m course_lib.parallel.script SCRIPT ARGUMENTS...`, which `watch` does.

A `RankError` is one line on stderr, COURSE_TRACEBACK=full shows where; another error has its traceback. How it ended is
left for `watch`, for the other ranks to read.

Source: the course's own; Python's documentation, "runpy".
"""

import os
import runpy
import sys
import traceback
from pathlib import Path

from course_lib.parallel.errors import RankError, told


def main(arguments):
    """Run the script, and return its exit status. Source: the course's own."""
    script, sys.argv[:] = arguments[0], arguments
    sys.stdout.reconfigure(line_buffering=True)  # lines of several ranks come one after another, and at once
    sys.path.insert(0, str(Path(script).resolve().parent))  # as `python SCRIPT` does
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as stop:
        if stop.code is not None and not isinstance(stop.code, int):
            print(stop.code, file=sys.stderr)
            return 1
        return stop.code or 0
    except RankError as error:
        _leave("gave up" if error.rank is None else f"gave up on rank {error.rank}")
        print(f"RankError, {error}", file=sys.stderr, flush=True)
        if os.environ.get("COURSE_TRACEBACK") == "full":
            traceback.print_exc()
        return 1
    except BaseException as error:
        _leave(f"ended with {told(error)}")
        traceback.print_exc()
        return 1
    return 0


def _leave(words):
    """Write how this rank ended, for `watch`; without a launcher there is nobody to read it."""
    folder = os.environ.get("COURSE_RANKS_FOLDER")
    rank = next((os.environ[n] for n in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK") if n in os.environ), None)
    if folder and rank is not None:
        (Path(folder) / f"rank-{rank}.words").write_text(words, encoding="utf-8")


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(status)
