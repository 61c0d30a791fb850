"""The text of a kernel: its syntax tree, its constants, and what it may not contain.

Source: the course's own. A kernel's text is read, never run: names from outside are looked up once, and only numbers,
dtypes, the modules of the vocabulary and device functions are let in.
"""

import ast
import inspect
import textwrap


class KernelError(Exception):
    """A kernel that cannot be run as it stands; the message names the line and the fix. Source: the course's own."""

    def __init__(self, message, line=None):
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


class Source:
    """A function's tree, parameters, and the objects its free names stand for.

    Attributes
    ----------
    name : str
    tree : ast.FunctionDef
        With line numbers of the file.
    parameters : list of str
    lines : dict of int to str
        The text of each line.
    outside : dict of str to object
        Globals and closure variables.

    Source: the course's own.
    """

    def __init__(self, function):
        function = getattr(function, "py_func", function)
        try:
            text, first = inspect.getsourcelines(function)
        except (OSError, TypeError) as error:
            raise KernelError(
                f"the source of {function!r} cannot be read ({error}); define the kernel with def, in a file or a cell."
            ) from None
        tree = ast.parse(textwrap.dedent("".join(text)))
        ast.increment_lineno(tree, first - 1)
        self.tree = tree.body[0]
        if not isinstance(self.tree, ast.FunctionDef):
            raise KernelError("a kernel is a function written with def.", first)
        a = self.tree.args
        if a.vararg or a.kwarg or a.kwonlyargs or a.defaults:
            raise KernelError("a kernel takes plain parameters only: no *args, **options or defaults.", first)
        self.name, self.parameters = self.tree.name, [p.arg for p in (*a.posonlyargs, *a.args)]
        self.lines = {first + i: line.rstrip("\n") for i, line in enumerate(text)}
        closure = inspect.getclosurevars(function)
        self.outside = {**closure.builtins, **closure.globals, **closure.nonlocals}
