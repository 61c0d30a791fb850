"""How an answer's kernel is launched where the answer says so itself: its function is read from the text, never run.

    def c1_launch(B):
        return (7, B), 128

`small_values` walks such a function as it walks a notebook's constants: no name but the text's own, no attribute, a
budget of steps. So a grader that runs no line of an answer still knows the launch for any number of images.

Source: the course's own.
"""

import ast
import re

from course_lib.checks.scopes import UNREADABLE, names_given
from course_lib.checks.small_values import SmallValues, Unknown
from course_lib.cuda.launch_checks import LaunchError, check_launch
from course_lib.simt.texts import KernelError

MOST_CHARACTERS = 200_000
"""Of a text, as for a kernel's."""

FORM = "(grid, block), each a whole number or a tuple of them, such as ((7, B), 128)"


def launch_in_text(text, name, images):
    """Return (grid, block) that the function `name` of a text gives for so many images; nothing is executed.

    Parameters
    ----------
    text : str
    name : str
    images : int

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
        values = SmallValues()
        for node in statements:
            values.take(node, {given for part in ast.walk(node) for given in names_given(part)})
        call = ast.parse(f"{name}({int(images)})", mode="eval").body
    except UNREADABLE:
        raise KernelError(f"Python cannot read the text around {name}.") from None
    if name not in values.functions:
        raise KernelError(f"there is no function {name}; write def {name}(B), which returns {FORM}.")
    try:
        found = values.value(call)
    except Unknown:
        raise KernelError(
            f"{name}({images}) cannot be read: it may use its argument, numbers and constants of its cell, arithmetic, "
            f"if, loops, min, max and math.ceil, and returns {FORM}."
        ) from None
    return _checked(found, name, images)


def launch_here(names, name, images):
    """Return (grid, block) that a notebook's own function gives, called as it is: it is the student's own machine.

    KernelError and LaunchError as `launch_in_text`; what the function raises passes through. Source: the course's own.
    """
    function = dict.get(names, name)
    if not callable(function):
        raise KernelError(f"there is no function {name}; write def {name}(B), which returns {FORM}.")
    return _checked(function(images), name, images)


def _checked(value, name, images):
    if type(value) not in (tuple, list) or len(value) != 2:
        raise LaunchError(f"{name}({images}) returns {repr(value)[:80]}; it must return {FORM}.")
    try:
        return check_launch(*value)
    except LaunchError as error:
        raise LaunchError(f"{name}({images}): {error}") from None
