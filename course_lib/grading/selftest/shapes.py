"""Right answers in unusual notebooks: a mark is what the notebook earns when it is run from the top in Jupyter.

Source: the course's own.
"""

from fractions import Fraction

from course_lib.grading.selftest.sheet import SHEET
from course_lib.grading.selftest.submission import (
    FULL,
    RIGHT,
    Submission,
    answered,
    book,
    cells,
    code,
    in_a_call,
    in_a_cell,
)

WHY = "a run-all in Jupyter solves it"
CHECKED = "from course_lib.checks import check\n" + "".join(
    f"{text}check('{id}', {text.split('(')[0][4:]})\n" for id, text in RIGHT.items()
)
HELPED = {"00.1": "def line(x):\n    return two(x) + 1\n"}
SLOW = "import time\nend = time.process_time() + 0.9\nwhile time.process_time() < end:\n    pass"
FOREVER = "    while True:\n        pass\n"


def _beside(name, tries, files, extra, answers=None):
    content = book(cells(answers, extra))
    return Submission(name, tries, FULL, WHY, ((f"{SHEET}.ipynb", content), *files))


def _script(name, tries, text):
    return Submission(name, tries, FULL, WHY, ((f"{SHEET}.py", text.encode()),))


def _written(mark):
    return f"{mark}import numpy as np\n\n" + "".join(f"{mark}{text}\n" for text in RIGHT.values())


SUBMISSIONS = (
    in_a_cell("a name given again", "np, sum and line are other things in the last cell", "k = 2", FULL, WHY,
              last="np = sum = k = None\nline = line"),
    answered("a helper of the same name", "two cells with a helper called two", FULL, WHY, {
        "00.1": "def two(x):\n    return 2 * x\ndef line(x):\n    return two(x) + 1\n",
        "00.4": "def two(x):\n    return 1 / 0\n" + RIGHT["00.4"],
    }),
    answered("a helper below", "an answer that needs a cell below", FULL, WHY, HELPED,
             last="def two(x):\n    return 2 * x"),
    answered("a list that grows", "a global list that later cells change", FULL, WHY, {
        "00.1": "shift = [1]\ndef line(x):\n    return 2 * x + shift[-1]\n"}, last="shift.append(9)"),
    Submission("one cell", "all answers and checks in one cell", FULL, WHY,
               ((f"{SHEET}.ipynb", book([code("import numpy as np\n" + CHECKED)])),)),
    in_a_cell("magics", "%matplotlib, %time and a timed cell", "%matplotlib inline\n%time width = 2\nassert width == 2",
              last="%%time\nx = 1"),
    in_a_cell("commands", "a shell's lines and get_ipython",
              "files = !ls\n!pip install seaborn\nget_ipython().run_line_magic('matplotlib', 'inline')"),
    in_a_cell("awaits", "await at the top level of a cell", "import asyncio\nawait asyncio.sleep(0)"),
    in_a_cell("asks and imports", "input() and help() in a cell with an import below",
              "name = input('Name? ')\nhelp(len)\nimport math"),
    answered("a missing package", "an import that is not here above one that is", FULL, WHY, {
        "00.1": "import seaborn as sns\nsns.set_theme()\nfrom math import floor\ndef line(x):\n"
                "    return floor(2.0) * x + 1\n"}),
    answered("writes a module", "%%writefile and an import of it", FULL, WHY, HELPED,
             "%%writefile helper.py\ndef two(x):\n    return 2 * x\n", last="from helper import two"),
    _beside("a module beside", "imports a file that was handed in too",
            (("helper.py", b"def two(x):\n    return 2 * x\n"),), "from helper import two", HELPED),
    _beside("a table beside", "opens a file that was handed in too", (("data/one.csv", b"1\n"),),
            "one = int(open('data/one.csv').read())", {"00.1": "def line(x):\n    return 2 * x + one\n"}),
    _beside("files that lead elsewhere", "files beside with names that lead out of the folder",
            (("../worker.py", b"x"), ("/tmp/x.py", b"x"), ("numpy/../../y.py", b"x")), "k = 1"),
    _script("exported script", "JupyterLab's executable script", _written("# In[ ]:\n\n")),
    answered("slow cells", "five cells, each just within its limit", FULL, WHY, {
        f"cell {i}": SLOW for i in range(5)} | RIGHT),
    answered("three that never end", "three of four answers never end", Fraction(2), "each costs only its own points", {
        "00.1": "def line(x):\n" + FOREVER, "00.2": "def above(x, t):\n" + FOREVER,
        "00.3": "def middle(x):\n" + FOREVER}),
    in_a_cell("checks a thousand times", "a new function is checked a thousand times",
              "from course_lib.checks import check\nfor i in range(1000):\n    check('00.1', lambda x: x)"),
    in_a_call("ends its keeper", "ends the process that keeps the answer", "import os\nos.kill(os.getppid(), 9)"),
    in_a_call("ends the notebook", "ends the process that all answers come from",
              "import os\nkeeper = open(f'/proc/{os.getppid()}/stat').read().rpartition(')')[2].split()\n"
              "os.kill(int(keeper[1]), 9)"),
    in_a_call("stops its keeper", "stops the process that keeps the answer",
              "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\nos._exit(0)"),
    in_a_call("speaks for its keeper", "writes to every pipe and socket that it has",
              "import os\nfor n in range(3, 256):\n    try:\n        os.write(n, b'1\\n{}\\n')\n"
              "    except OSError:\n        pass"),
)  # fmt: skip
"""The submissions of this family."""
