"""The cells of a notebook, run one after another as Jupyter's kernel runs them; in `course check` and in the grader.

Plain Python is run without IPython, which takes longer to load than a small sheet to grade. A cell that needs more
(a magic, a shell's line, `get_ipython`) has IPython's own shell, which is loaded then.

Two things are kinder than in Jupyter: an import of a package that is not installed here loses that import only, with
the lines of a cell's top level that need it; and a cell that fails, or is stopped as it does not end, still makes the
definitions that stand below.

Source: the course's own; IPython's documentation.
"""

import __future__

import ast
import builtins
import contextlib
import inspect
import keyword
import linecache
import re
import sys

from course_lib.checks.cell_history import History
from course_lib.checks.magics import parsed

DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""Statements that are run even after a cell was stopped."""

_OF_IPYTHON = re.compile(r"\b(?:IPython|ipykernel|matplotlib_inline)\b")
"""Words of cells that look for IPython's shell themselves: it must be there when they do."""

_OF_LOOPS = re.compile(r"\b(?:create_task|ensure_future|get_running_loop|get_event_loop|gather)\b")
"""Words of cells that need a running event loop, which in Jupyter every cell has."""

_PROMPT = re.compile(r"\s*In ?\[\d+\]: ")
"""What cells begin with that were copied from a terminal."""

_AUTOMAGIC = re.compile(r"([A-Za-z_]\w*)(?:[ \t]+[^=\s].*)?")
"""A line that may be a magic without its %, such as `ls -l`."""


class NotebookCells:
    """The cells of one notebook.

    Parameters
    ----------
    module : module
        `__main__` of the notebook: its names are the cells' names.

    Attributes
    ----------
    notes : list of str
        What was left out, a sentence each.

    Source: the course's own.
    """

    def __init__(self, module):
        self.names, self.notes = vars(module), []
        self._module, self._name, self._loop, self._ipython, self._missing = module, "", None, None, set()
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.names.update({"get_ipython": self.ipython, "__builtins__": builtins})
        self._history = History(self.names)
        builtins.input, builtins.__IPYTHON__ = self._input, True
        builtins.get_ipython = self.ipython  # modules beside the notebook have these two as well
        builtins.display = self._display
        for name in ("help", "exit", "quit"):  # Python has them only where it loads `site`
            if not hasattr(builtins, name):
                setattr(builtins, name, _from_site(name))

    def run(self, source, name):
        """Run a cell; what it raises is raised, also SyntaxError.

        Parameters
        ----------
        source : str
        name : str
            What messages call it, such as "cell 3".

        Source: the course's own.
        """
        self._history.begin(source)
        if _OF_IPYTHON.search(source):
            self.ipython()
        tree, self._name = self._tree(source, f"<{name}>"), name
        file = f"<ipython-{name}>"  # Numba caches what such files hold, and refuses to for other names without a file
        lines = [f"{line}\n" for line in source.split("\n")]
        linecache.cache[file] = (len(source), None, lines, file)  # as kernels read their text
        in_loop = bool(_OF_LOOPS.search(source))
        for place, node in enumerate(tree.body):
            try:
                value = self._statement(node, file, in_loop)
            except BaseException:
                with contextlib.suppress(Exception):
                    for later in tree.body[place + 1 :]:
                        if isinstance(later, DEFINITIONS):
                            self._statement(later, file)
                raise
        if tree.body and isinstance(node, ast.Expr):
            self._history.keep(value)
        if "IPython" in sys.modules:  # a library has loaded it, and may ask for the shell from now on
            self.ipython()

    def _tree(self, source, name):
        try:
            tree = parsed(source, name)
        except SyntaxError:
            text = self._as_python(source)
            if text == source:
                raise
            return ast.parse(text, name)
        if _PROMPT.match(source):  # it is Python too: an annotation
            return ast.parse(self._as_python(source), name)
        word = _AUTOMAGIC.fullmatch(source.strip())
        if word and word[1] not in self.names and not hasattr(builtins, word[1]) and not keyword.iskeyword(word[1]):
            return ast.parse(self._as_python(source), name)
        return tree

    def _as_python(self, source):
        return self.ipython().transform_cell(source)

    def _statement(self, node, file, in_loop=False):
        """Run a statement of a cell's top level, and return its value if it has one."""
        try:
            return self._execute(node, file, in_loop)
        except ImportError as error:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._each_import(node, file)
            elif _is_magic(node):
                self._left_out(error)
            else:
                raise
        except NameError as error:  # of `import seaborn as sns`, which is not here, and `sns.set_theme()`
            if error.name not in self._missing or isinstance(node, DEFINITIONS):
                raise
            self._missing |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            self._note(f"{self._name}: line {node.lineno} is left out, as {error.name} is not here"[:200])
        except Exception as error:
            if not _is_magic(node):
                raise
            self._left_out(error)
        return None

    def _left_out(self, error):
        self._note(f"{self._name}: a magic command is left out ({type(error).__name__}: {error})"[:200])

    def _each_import(self, node, file):
        """Import what can be: of `import seaborn, numpy` the second."""
        for alias in node.names:
            one = ast.Import([alias])
            if isinstance(node, ast.ImportFrom):
                one = ast.ImportFrom(node.module, [alias], node.level)
            try:
                self._execute(ast.copy_location(one, node), file)
            except ImportError as error:
                self._missing.add((alias.asname or alias.name).partition(".")[0])
                what = alias.name if isinstance(node, ast.Import) else f"{alias.name} of {node.module}"
                self._note(f"{self._name}: the import of {what} is left out ({error})"[:200])

    def _execute(self, node, file, in_loop=False):
        if isinstance(node, ast.Expr):
            code = compile(ast.Expression(node.value), file, "eval", self._flags, dont_inherit=True)
        else:
            code = compile(ast.Module([node], []), file, "exec", self._flags, dont_inherit=True)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":  # holds for all cells below, as in IPython
            self._flags |= sum(getattr(__future__, alias.name).compiler_flag for alias in node.names)
        if code.co_flags & inspect.CO_COROUTINE or in_loop:
            return self._in_loop(code)
        return eval(code, self.names)

    def _in_loop(self, code):
        """Run a statement while the notebook's event loop does; tasks that it begins go on when it runs again."""
        import asyncio

        async def run():
            value = eval(code, self.names)
            return await value if code.co_flags & inspect.CO_COROUTINE else value

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(run())

    def _display(self, *objects, **how):
        """Stand for IPython's `display`, which is in every notebook; without its options IPython is not loaded."""
        if how or self._ipython:
            self.ipython()
            from IPython.display import display

            return display(*objects, **how)
        for one in objects:
            with contextlib.suppress(Exception):
                print(repr(one))
        return None

    def _input(self, prompt=""):
        self._note(f"input({prompt!r}) was answered with an empty text: nobody is there to type"[:200])
        return ""

    def _note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def ipython(self):
        """Return IPython's shell with the notebook's names, as `get_ipython` does; it is made when first asked for.

        Source: IPython's documentation.
        """
        if self._ipython is None:
            from course_lib.checks.ipython_shell import shell_of

            self._ipython = shell_of(self._module)
            self._history.show()
        return self._ipython


def _is_magic(node):
    """Return whether a statement is what IPython makes of a line such as %load_ext."""
    call = node.value if isinstance(node, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in ("run_line_magic", "system")
        and isinstance(call.func.value, ast.Call)
        and getattr(call.func.value.func, "id", "") == "get_ipython"
    )


def _from_site(name):
    import _sitebuiltins

    if name == "help":
        return _sitebuiltins._Helper()
    return _sitebuiltins.Quitter(name, "Ctrl-D")
