"""Find out whether an answer uses a name that it is to be written without. Read from the text; nothing is run.

It is a help for honest students, not a lock: a name can be reached in other ways, and no promise is made.

Source: the course's own.
"""

import ast


def forbidden_use(exercise, text):
    """Return what to say if a text uses one of `exercise.instead_of` as a name, attribute or import; "" if none.

    Names that the text gives a meaning itself, such as a variable's, are its own. A text that does not parse uses none.
    No errors. Source: the course's own.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    used, own = set(), {exercise.function}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else own).add(node.id)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            own.add(node.name)
    used -= own
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            used.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute):
            used.add(node.attr)
    name = next((name for name in exercise.instead_of if name in used), "")
    return name and f"{exercise.function} uses {name}, which is to be written here without it."
