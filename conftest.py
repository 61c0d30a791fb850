"""Loads the notebook gate and the tiers of the tests for every run, wherever in the repository it starts."""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tools"))  # notebook_lib is a tool, not part of the package

from course_lib.cli.kernel import ONE_THREAD

# Before NumPy is imported: small products on busy cores are up to a hundred times slower with several BLAS threads.
for name, count in ONE_THREAD.items():
    os.environ.setdefault(name, count)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell starts what runs in the background so
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["COURSE_PROGRESS"] = "0"  # a progress bar in an output differs from run to run

pytest_plugins = ["notebook_lib.nbval_gate", "tests.tiers"]
