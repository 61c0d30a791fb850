"""What a message says of a construct or a word that a kernel cannot use, and what to write instead.

Source: Numba's documentation, "Supported Python features in CUDA Python".
"""

from course_lib.simt.functions import FUNCTIONS
from course_lib.simt.misspelt import meant, near
from course_lib.simt.vocabulary import BUILTINS, NAMES

INSTEAD = {
    name: " For a thread's own numbers take cuda.local.array(3, float32)." for name in ("List", "Dict", "Set")
} | {
    "ListComp": " Write the loop.", "GeneratorExp": " Write the loop.",
    "Try": " A GPU has no exceptions: test first, with if.", "Raise": " A GPU has no exceptions.",
    "JoinedStr": " A kernel computes with numbers only.", "Assert": " Test it after the launch.",
}  # fmt: skip
"""What to do instead of a construct of Python that a kernel cannot use."""


OF_NUMPY = {
    "abs": "abs(x)", "absolute": "abs(x)", "add": "x + y", "subtract": "x - y", "multiply": "x * y", "power": "x ** y",
    "mod": "x % y", "remainder": "x % y", "floor_divide": "x // y", "negative": "-x", "square": "x * x",
    "reciprocal": "1 / x", "sign": "math.copysign(1.0, x)", "round": "round(x, n)", "around": "round(x, n)",
    "rint": "round(x)", "clip": "min(max(x, low), high)", "where": "x if condition else y", "cbrt": "cuda.cbrt(x)",
}  # fmt: skip
"""Functions of NumPy that Numba has for a CPU only, and what a kernel writes instead."""


def refused(node):
    """Return the sentence for a construct that a kernel cannot use, with what to write instead."""
    return f"{construct(node)} is not possible in a kernel.{INSTEAD.get(type(node).__name__, '')}"


def suggestion(path):
    """Return " Did you mean ...?" for a slip of a word of the vocabulary, else what to do for NumPy's and the like."""
    words = {".".join(p.split(".")[:n]) for p in (*FUNCTIONS, *NAMES) for n in (1, 2, 3)}
    owner, _, name = path.rpartition(".")
    if owner != "math" and f"math.{name}" in FUNCTIONS:
        return f" Write math.{name}."
    if owner == "np" and name in OF_NUMPY:
        return f" Write {OF_NUMPY[name]}."
    if word := meant(path, words):
        return f" Did you mean {word}?"
    if path in ("np.zeros", "np.empty", "np.ones", "np.array", "np.full"):
        return " For a thread's own numbers take cuda.local.array(3, float32)."
    axes = sorted(w.rpartition(".")[2] for w in words if w.rpartition(".")[0] == owner)
    if axes == ["x", "y", "z"]:
        return f" {owner} has x, y and z."
    return " Write the loop, element by element." if owner == "np" else ""


def construct(node):
    """How a message calls a construct of Python: a node, or the name of its class."""
    name = node if type(node) is str else type(node).__name__
    return {
        "ListComp": "a list comprehension", "List": "a list", "Dict": "a dict", "Set": "a set", "Lambda": "lambda",
        "With": "with", "Try": "try", "Raise": "raise", "Import": "import", "ImportFrom": "import", "Yield": "yield",
        "FunctionDef": "a function inside the kernel", "ClassDef": "class", "Global": "global", "Delete": "del",
        "JoinedStr": "an f-string", "Assert": "assert", "In": "in", "NotIn": "not in", "Is": "is", "IsNot": "is not",
        "NamedExpr": ":=", "GeneratorExp": "a generator", "Match": "match", "Starred": "*", "Nonlocal": "nonlocal",
    }.get(name, name)  # fmt: skip


def nearest(name, names):
    """Return " Did you mean ...?" for a name that is a slip of one of `names`, else an empty text."""
    word = near(name, names)
    return f" Did you mean {word}?" if word else ""


def undefined(name, names):
    """Return what to say of a name that nobody has defined: one that was meant, or where the word of that name is.

    `names` are those of the kernel and around it.
    """
    for module in ("cuda", "math"):
        if any(p == f"{module}.{name}" or p.startswith(f"{module}.{name}.") for p in (*FUNCTIONS, *NAMES)):
            return f" Write {module}.{name}."
    return nearest(name, {*names, *BUILTINS})


def no_attribute(name):
    """Return what to say of an array's attribute that there is not."""
    methods = {path[6:] for path in FUNCTIONS if path.startswith("array.")}
    return nearest(name, {"shape", "size", "ndim", "dtype", *methods}) or " Write the loop, element by element."
