"""How an answer's kernel is launched where the answer says so itself: its function is read from the text, never run.

    def c1_launch(B):
        return (7, B), 128

`small_values` walks such a function as it walks a notebook's constants: no name but the text's own, no attribute, a
budget of steps. So a grader that runs no line of an answer still knows the launch for any number of images.

Source: the course's own.
"""

import ast
import inspect
import re
import textwrap
import types

from course_lib.checks.scopes import UNREADABLE, names_given
from course_lib.checks.small_values import MOST_TOGETHER, SmallValues, Unknown
from course_lib.cuda.launch_checks import LaunchError, check_launch
from course_lib.simt.texts import KernelError

MOST_CHARACTERS = 200_000
"""Of a text, as for a kernel's."""

SHOWN = 60
"""Characters of a line that is not understood."""

PLAIN = (bool, int, float, str, tuple, list, dict, type(None))
"""Types of constants."""

FORM = "(grid, block), each a whole number or a tuple of them, such as ((7, B), 128)"


def launch_in_text(text, name, images, shapes=None):
    """Return (grid, block) that the function `name` of a text gives for so many images; nothing is executed.

    Parameters
    ----------
    text : str
    name : str
    images : int
    shapes : mapping of str to tuple, optional
        Of arrays that the function may ask for theirs, such as those of the masks.

    Raises
    ------
    KernelError
        If there is no such function, or it does more than arithmetic on its argument and the text's constants.
    LaunchError
        If no GPU takes such a launch.

    Source: the course's own.
    """
    if type(text) is not str or len(text) > MOST_CHARACTERS:
        raise KernelError(f"a text of at most {MOST_CHARACTERS:,} characters is read for {name}.")
    try:
        statements = ast.parse(re.sub("(?m)^[%!].*$", "", text)).body
        values = SmallValues(shapes)
        for node in statements:
            values.take(node, {given for part in ast.walk(node) for given in names_given(part)})
        call = ast.parse(f"{name}({int(images)})", mode="eval").body
    except UNREADABLE:
        raise KernelError(f"Python cannot read the text around {name}.") from None
    if name not in values.functions:
        raise KernelError(f"there is no function {name}; write def {name}(B), which returns {FORM}.")
    try:
        found = values.value(call, MOST_TOGETHER)
    except Unknown:
        raise KernelError(
            f"{name}({images}) cannot be read{_where(values.at)}: it may use its argument, numbers and constants of "
            f"its cell, arithmetic, if, loops of some 10,000 turns, min, max and math.ceil, and returns {FORM}."
        ) from None
    return _checked(found, name, images)


def _where(node):
    """Return " at ..." with the line that was not understood, "" where none is known."""
    try:
        line = ast.unparse(node).partition("\n")[0] if node is not None else ""
    except UNREADABLE:
        return ""
    line = line if len(line) <= SHOWN else f"{line[:SHOWN]}..."
    return f" at `{line}`" if line else ""


def launch_here(names, name, images, shapes=None):
    """Return (grid, block) that a notebook's own function gives, as the grader reads it.

    It is called too, as it is the student's own machine: what it raises passes through. Where Python does not know its
    text, the call alone counts. Parameters and errors as `launch_in_text`'s. Source: the course's own.
    """
    function = dict.get(names, name)
    if not callable(function):
        raise KernelError(f"there is no function {name}; write def {name}(B), which returns {FORM}.")
    called = _checked(function(images), name, images)
    text = _text_of(names, name)
    return called if text is None else launch_in_text(text, name, images, shapes)


def _text_of(names, name):
    """Return a text with a notebook's function and what it names: functions, modules, constants; None if unknown."""
    constants, functions, waiting, seen = [], [], [name], set()
    while waiting:
        each = waiting.pop()
        if each in seen or each not in names:
            continue
        seen.add(each)
        value = names[each]
        if type(value) is types.FunctionType and value.__module__ == names.get("__name__"):
            try:
                functions.append(textwrap.dedent(inspect.getsource(value)))
            except (OSError, TypeError, IndexError, *UNREADABLE):
                return None
            waiting += _names_in(value.__code__)
        elif type(value) is types.ModuleType:
            constants.append(f"import {value.__name__} as {each}")
        elif isinstance(value, types.FunctionType | types.BuiltinFunctionType) and value.__name__.isidentifier():
            constants.append(f"from {value.__module__} import {value.__name__} as {each}")
        elif type(value) in PLAIN and len(written := repr(value)) <= MOST_CHARACTERS:
            constants.append(f"{each} = {written}")
    return "\n".join([*constants, *reversed(functions)]) + "\n"


def _names_in(code):
    """Return the names that a function's code reads, those of functions in it too."""
    inner = [each for each in code.co_consts if type(each) is types.CodeType]
    return [*code.co_names, *(name for each in inner for name in _names_in(each))]


def _checked(value, name, images):
    if type(value) not in (tuple, list) or len(value) != 2:
        raise LaunchError(f"{name}({images}) returns {repr(value)[:80]}; it must return {FORM}.")
    try:
        return check_launch(*value)
    except LaunchError as error:
        raise LaunchError(f"{name}({images}): {error}") from None
