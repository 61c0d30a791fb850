"""Find out whether an answer uses a name that it is to be written without. Read from the text; nothing is run.

Only what the answer's function reaches counts: its free names and those of its helpers, whatever other cells compute.
It is a help for honest students, not a lock: a name can be reached in other ways, and no promise is made.

Source: the course's own.
"""

from course_lib.checks.reached import library_uses
from course_lib.checks.scopes import UNREADABLE


def forbidden_use(exercise, text):
    """Return what to say if an answer uses one of `exercise.instead_of`; "" if it does not.

    Parameters
    ----------
    exercise : Exercise
    text : str
        The function `exercise.function` with its helpers and imports, as `Definitions.answer` and `live_text` return
        it; or its cell alone, whose unknown names then count as imported.

    A name counts where it is imported, under whatever name, or stands behind a module's dot, in the function, in a
    helper or in what is an alias of it. Local names, parameters, methods and attributes of the answer's own objects,
    its own functions of that name, texts and other cells do not count. A text that does not parse uses none. No errors.

    Source: the course's own.
    """
    if not exercise.instead_of:
        return ""
    try:
        used = {name for use in library_uses(text, exercise.function) for name in use.names}
    except UNREADABLE:
        return ""
    name = next((name for name in exercise.instead_of if name in used), "")
    return name and f"{exercise.function} uses {name}, which is to be written here without it."
