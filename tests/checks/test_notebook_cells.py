"""The cells of a notebook do here what they do in Jupyter, whether IPython is loaded for them or not."""

import builtins
import sys
import types

import pytest

from course_lib.checks.magics import parsed, without_magics
from course_lib.checks.notebook_cells import NotebookCells

BESIDE = ("beside_shows", "beside_extends")
"""Modules that a notebook's cells write."""


@pytest.fixture
def notebook(monkeypatch, tmp_path):
    module = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    for name in ("input", "display", "get_ipython", "__IPYTHON__"):
        monkeypatch.setattr(builtins, name, getattr(builtins, name, None), raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in BESIDE:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield NotebookCells(module)
    if "IPython" in sys.modules:
        from IPython.core.interactiveshell import InteractiveShell

        InteractiveShell.clear_instance()


def run(notebook, *cells):
    """Run cells as the grader does: one that fails does not stop the next ones. Return the names of their errors."""
    errors = []
    for number, source in enumerate(cells, 1):
        try:
            notebook.run(source, f"cell {number}")
        except BaseException as error:
            errors.append(type(error).__name__)
    return errors


FORMS = {
    "a timed line gives its name": (["%time x = 2"], "x == 2"),
    "a timed line in a block": (["if True:\n    %time x = 2\n    %timeit x"], "x == 2"),
    "a timed cell": (["%%time\nx = 2"], "x == 2"),
    "a cell of timeit gives no name": (["x = 2", "%%timeit -n 1 -r 1\nx = 3"], "x == 2"),
    "a captured cell": (["%%capture\nx = 2"], "x == 2"),
    "a captured text": (["%%capture out\nprint('a')"], "out.stdout == 'a\\n'"),
    "the result of timeit": (["t = %timeit -o -q -n 1 -r 1 1 + 1"], "t.best >= 0"),
    "a shell's line in a name": (["files = !echo a b"], "list(files) == ['a b']"),
    "a shell's line among Python": (["x = 1\n!echo a\ny = 2"], "x + y == 3"),
    "a shell's line with a value": (["x = 'a'", "y = !echo {x} $x"], "list(y) == ['a a']"),
    "help, before and behind": (["len?", "?len", "print??"], "True"),
    "a page's cell": (["%%html\n<b>x</b>", "%%markdown\n# x"], "True"),
    "a cell of another language": (["%%bash\necho a > b.txt", "x = open('b.txt').read()"], "x == 'a\\n'"),
    "a file that a cell writes": (["%%writefile h.py\nx = 2\n", "%run h.py"], "x == 2"),
    "magics without their sign": (["ls", "pwd", "ls -l", "cd ."], "True"),
    "a variable that is called like one": (["ls = 5", "ls -1", "x = _"], "x == 4"),
    "an operator that begins a line": (["!echo\nx = (17\n%\n5) + (3\n!= 4)"], "x == 3"),
    "a line of a text": (['%time y = 1\nx = """\n%time a\n!ls\n"""'], "x == '\\n%time a\\n!ls\\n'"),
    "an operator and a name like a magic": (["time = 3", "!echo\nx = (20\n    %time)"], "x == 2"),
    "waiting at the top level": (["import asyncio\nx = await asyncio.sleep(0, 2)"], "x == 2"),
    "a loop that waits": (["async def f():\n    yield 2", "async for x in f():\n    pass"], "x == 2"),
    "a task that goes on": (
        ["import asyncio", "t = asyncio.create_task(asyncio.sleep(0, 2))", "x = await t"],
        "x == 2",
    ),
    "the loop that runs": (["import asyncio\nasyncio.get_running_loop()"], "True"),
    "annotations from the future": (["from __future__ import annotations", "def f(x: Nobody): pass"], "callable(f)"),
    "the last value": (["3", "_ + 1", "_ + __"], "_ == 7 and _2 == 4 and Out == {1: 3, 2: 4, 3: 7}"),
    "no value": (["3", "4;", "None", "x = 5", "5;  # a remark"], "_ == 3 and Out == {1: 3}"),
    "a name of the notebook's own stays": (["3", "for _ in range(2): pass", "7"], "_ == 1 and _3 == 7"),
    "texts of cells": (["1", "x = 2"], "In == ['', '1', 'x = 2'] and _i == '1'"),
    "values before and after a magic": (["3", "%cd .", "_ + 1"], "_ == 4 and Out == {1: 3, 3: 4}"),
    "display": (["h = display(1, display_id=True)", "h.update(2)", "display(3, 4)"], "True"),
    "the shell asked for": (["x = get_ipython()", "from IPython import get_ipython"], "x is get_ipython()"),
    "the shell's names": (["y = 2\nx = get_ipython().user_ns['y']"], "x == 2"),
    "the shell's functions": (["get_ipython().run_line_magic('time', 'x = 2')"], "x == 2"),
    "all forgotten": (["y = 1", "%reset -f", "x = 2"], "x == 2 and 'y' not in globals()"),
    "a main program": (["if __name__ == '__main__':\n    x = 2"], "x == 2"),
    "odd signs": (["\x0c\n\tx = 2".replace("\n\t", "\n"), "# -*- coding: latin-1 -*-\ny = 'ü'"], "x + len(y) == 3"),
    "nobody types": (["x = input('name? ')"], "x == ''"),
    "a function's text": (["def f():\n    return 2", "import inspect\nx = inspect.getsource(f)"], "'return 2' in x"),
    "a package that is not here": (
        ["import no_such_thing, math\nx = math.pi\nno_such_thing.go()\ny = 2"],
        "x > 3 and y",
    ),
    "an attribute that is not there": (["from math import pi, no_such_thing\nx = pi"], "x > 3"),
    "values of timeit": (["%timeit -o -n 1 -r 1 -q 1", "x = _.best"], "x >= 0"),
    "a prompt of a terminal": (["In [3]: x = 5", ">>> y = 2\n>>> x += y"], "x == 7"),
    "a module that shows": (
        [
            "open('beside_shows.py', 'w').write('def f():\\n    display(2)\\n    return get_ipython()')",
            "import beside_shows as h\nx = h.f()",
        ],
        "x is get_ipython()",
    ),
    "whether it is a notebook": (["x = get_ipython().__class__.__name__"], "x == 'ZMQInteractiveShell'"),
    "another way to ask": (["x = 'IPKernelApp' in get_ipython().config"], "x"),
    "a third way to ask": (["x = __IPYTHON__"], "x"),
    "an extension beside": (
        [
            "open('beside_extends.py', 'w').write('def load_ipython_extension(ip):\\n    ip.user_ns[\"x\"] = 2')",
            "%load_ext beside_extends",
        ],
        "x == 2",
    ),
    "built-in names as a module": (["x = __builtins__.len('ab')"], "x == 2"),
    "a window": (["%matplotlib qt", "%gui qt"], "True"),
    "a magic that nobody has": (["%load_ext no_such_thing\nx = 2"], "x == 2"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_cell_does_what_it_does_in_jupyter(notebook, form):
    cells, truth = FORMS[form]
    assert run(notebook, *cells) == []
    assert eval(truth, notebook.names), {k: v for k, v in notebook.names.items() if k in ("x", "y", "_", "Out", "In")}


@pytest.mark.parametrize(
    "cell",
    ["1 / 0\n", "raise SystemExit\n", "raise KeyboardInterrupt\n", "import asyncio\nraise asyncio.CancelledError\n"],
)
def test_below_what_fails_definitions_are_made_and_nothing_else(notebook, cell):
    found = run(notebook, f"a = 1\n{cell}b = 2\ndef f(): pass\nimport math\nclass C: pass\n", "c = 3")
    assert len(found) == 1
    assert {"a", "f", "math", "C", "c"} <= set(notebook.names)
    assert "b" not in notebook.names


def test_what_was_left_out_is_noted(notebook):
    run(notebook, "import no_such_thing\nno_such_thing.x()\n", "input('age? ')", "%no_such_magic\nfiles = !ls")
    notes = "\n".join(notebook.notes)
    assert "cell 1: the import of no_such_thing is left out" in notes
    assert "cell 1: line 2 is left out, as no_such_thing is not here" in notes
    assert "input('age? ') was answered with an empty text" in notes
    assert "cell 3: a magic command is left out" in notes


def test_a_function_that_needs_a_missing_package_still_fails_when_it_is_called(notebook):
    assert run(notebook, "import no_such_thing\ndef f():\n    return no_such_thing.x\n") == []
    with pytest.raises(NameError):
        notebook.names["f"]()


def test_plain_cells_do_not_load_ipython(monkeypatch, notebook):
    monkeypatch.setattr(notebook, "ipython", lambda: pytest.fail("IPython was loaded"))
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    cells = [
        "%matplotlib inline\n%time x = 2\n!pip install numpy",
        "%%time\nx",
        "display(x)",
        "_",
        "class A: pass\nA()",
    ]
    assert run(notebook, *cells) == []


def test_a_cell_may_replace_input_and_the_main_module(notebook):
    assert run(notebook, "import builtins, sys\nbuiltins.input = lambda p='': '5'", "x = int(input('n? '))") == []
    assert run(notebook, "sys.modules['__main__'] = None", "y = x + 1", "del sys.modules['__main__']", "z = y") == []
    assert (notebook.names["z"], notebook.notes) == (6, [])


def test_a_shells_line_has_no_terminal_and_is_printed_where_the_cell_prints(notebook, capsys):
    assert run(notebook, "!cat", "!echo told; exit 3", "x = _exit_code") == []
    assert capsys.readouterr().out == "told\n"
    assert notebook.names["x"] == 3


def test_a_shell_that_a_library_made_is_used(notebook):
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    made = InteractiveShell.instance()
    assert run(notebook, "x = 2", "%time y = x + 1", "shell = get_ipython()") == []
    assert (notebook.names["y"], notebook.names["shell"]) == (3, made)


@pytest.mark.parametrize("source", ["x = = 1", "def f(:", "%time x = 1\ny = = 2", "!ls\ny = = 2"])
def test_what_neither_python_nor_ipython_reads_is_a_syntax_error(notebook, source):
    assert run(notebook, source) == ["SyntaxError"]


def test_a_reader_that_runs_nothing_leaves_out_what_only_ipython_reads():
    assert without_magics("files = !ls\n%cd x\nx?\ny = 1") == "files = None\npass\npass\ny = 1"
    assert without_magics("%%timeit\nx = 1").strip() == ""
    assert without_magics("%%time\nx = 1") == "\nx = 1"
    assert without_magics("%%bash\nls\n") == "\n\n"
    assert len(parsed("%matplotlib inline\n%time x = 1").body) == 2
