"""The cells of a notebook, run one after another as Jupyter's kernel runs them; in `course check` and in the grader.

Plain Python is run without IPython, which takes longer to load than a small sheet to grade. A cell that needs more
(a magic, a shell's line, `get_ipython`) has IPython's own shell, which is loaded then.

Two things are kinder than in Jupyter: an import of a package that is not installed here loses that import only, with
the lines of a cell's top level that need it; and a cell that is stopped as it does not end still makes the definitions
that stand below.

Source: the course's own; IPython's documentation.
"""

import __future__

import ast
import builtins
import contextlib
import inspect
import linecache

from course_lib.checks.magics import parsed

DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
"""Statements that are run even after a cell was stopped."""


class NotebookCells:
    """The cells of one notebook.

    Parameters
    ----------
    module : module
        `__main__` of the notebook: its names are the cells' names.
    stop : type of BaseException
        What is raised in a cell that is stopped as it takes too long.

    Attributes
    ----------
    notes : list of str
        What was left out, a sentence each.

    Source: the course's own.
    """

    def __init__(self, module, stop=()):
        self.names, self.stop, self.notes = vars(module), stop, []
        self._module, self._loop, self._ipython, self._missing = module, None, None, set()
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.names.update({"get_ipython": self.ipython, "display": print})
        builtins.input = self._input
        for name in ("help", "exit", "quit"):  # Python has them only where it loads `site`
            if not hasattr(builtins, name):
                setattr(builtins, name, _from_site(name))

    def run(self, source, name):
        """Run a cell; what it raises is raised, also SyntaxError.

        Parameters
        ----------
        source : str
        name : str
            Its file in tracebacks, such as "<cell 3>".

        Source: the course's own.
        """
        tree = self._tree(source, name)
        lines = [f"{line}\n" for line in source.split("\n")]
        linecache.cache[name] = (len(source), None, lines, name)  # as kernels read their text
        for place, node in enumerate(tree.body):
            try:
                self._statement(node, name)
            except self.stop:
                with contextlib.suppress(Exception):
                    for later in tree.body[place + 1 :]:
                        if isinstance(later, DEFINITIONS):
                            self._statement(later, name)
                raise

    def _tree(self, source, name):
        try:
            tree = parsed(source, name)
        except SyntaxError:
            text = self._as_python(source)
            if text == source:
                raise
            return ast.parse(text, name)
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Name):
            word = tree.body[0].value.id
            if word not in self.names and not hasattr(builtins, word):  # `ls` and `pwd` are magics without a %
                return ast.parse(self._as_python(source), name)
        return tree

    def _as_python(self, source):
        shell = self.ipython()
        text = shell.transform_cell(source)
        if len(text.splitlines()) == 1:
            with shell.builtin_trap:
                text = shell.prefilter_manager.prefilter_lines(text)
        return text

    def _statement(self, node, name):
        """Run a statement of a cell's top level."""
        try:
            self._execute(node, name)
        except ImportError:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                raise
            self._each_import(node, name)
        except NameError as error:  # of `import seaborn as sns`, which is not here, and `sns.set_theme()`
            if error.name not in self._missing or isinstance(node, DEFINITIONS):
                raise
            self._missing |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            self._note(f"{name.strip('<>')}: line {node.lineno} is left out, as {error.name} is not here"[:200])
        except Exception as error:
            if not _is_magic(node):
                raise
            self._note(f"{name.strip('<>')}: a magic command is left out ({type(error).__name__}: {error})"[:200])

    def _each_import(self, node, name):
        """Import what can be: of `import seaborn, numpy` the second."""
        for alias in node.names:
            one = ast.Import([alias])
            if isinstance(node, ast.ImportFrom):
                one = ast.ImportFrom(node.module, [alias], node.level)
            try:
                self._execute(ast.copy_location(one, node), name)
            except ImportError as error:
                self._missing.add((alias.asname or alias.name).partition(".")[0])
                what = alias.name if isinstance(node, ast.Import) else f"{alias.name} of {node.module}"
                self._note(f"{name.strip('<>')}: the import of {what} is left out ({error})"[:200])

    def _execute(self, node, name):
        code = compile(ast.Module([node], []), name, "exec", self._flags, dont_inherit=True)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":  # holds for all cells below, as in IPython
            self._flags |= sum(getattr(__future__, alias.name).compiler_flag for alias in node.names)
        if code.co_flags & inspect.CO_COROUTINE:
            import asyncio

            self._loop = self._loop or asyncio.new_event_loop()
            self._loop.run_until_complete(eval(code, self.names))
        else:
            exec(code, self.names)

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
            display = self.names["display"]
            self._ipython = _shell(self._module)
            if display is not print:
                self.names["display"] = display
        return self._ipython


def _shell(module):
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):
        system = InteractiveShell.system_raw  # a plain process: the others need a terminal of their own

        def enable_gui(self, gui=None):
            """Have no window: figures are for a page."""

    config = Config()
    config.HistoryManager.enabled = False
    return Shell.instance(config=config, user_module=module)


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
