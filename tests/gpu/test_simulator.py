"""The tests of launches, copies and errors hold on Numba's simulator too: the same bodies, in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.gpu.devices import needs_numba

HERE = Path(__file__).parent
SAME_BODIES = ("test_launch.py", "test_launch_errors.py", "test_border.py", "test_report.py", "test_graph.py")


@needs_numba
def test_the_same_tests_on_numbas_simulator():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(str(HERE / name) for name in SAME_BODIES)],
        env=os.environ | {"COURSE_DEVICE": "numba-simulator"}, cwd=HERE.parents[1], capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "Numba's simulator (no GPU)" in done.stdout  # the reason of what it skips
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 150
