"""Answers of the convolution project that are no kernels of one's own, or not right for every input: with the reason.

Each has the exercise, the cell, words of the reason that must be told, and the most points that it may get.
"""

from __future__ import annotations

import project_teams

from course_lib.checks.registry import find
from course_lib.grading.keys import parts_of

SOLVED, KEY = project_teams.solutions(), project_teams.key()
C1, C3 = SOLVED["project.10"], SOLVED["project.11"]
HEAD = "@gpu.jit\ndef conv_c1(x, w, y):\n"
LAUNCH = "\n\ndef c1_launch(B):\n    return (7, B), 128\n"
LADDER = "course_lib.cuda.ladders.conv2d.forward"


def hard_coded() -> str:
    """A product that has the right values of the public cases in tables, and copies them."""
    exercise = find("project.4")
    right = [int(v) for case in exercise.cases for v in exercise.expect(*case.args).ravel()]
    first, half = exercise.expect(*exercise.cases[0].args).size, 900
    return (
        f"import numpy as np\nA = np.array({right[:half]}, np.float32)\nB = np.array({right[half:]}, np.float32)\n\n\n"
        "@gpu.jit\ndef product_tiled(rows, cols, y):\n    pixel, m, b = cuda.grid(3)\n"
        "    if m < y.shape[1] and pixel < y.shape[2]:\n"
        f"        k = ({first} if y.shape[1] == 18 else 0) + (b * y.shape[1] + m) * y.shape[2] + pixel\n"
        f"        if k < {half}:\n            y[b, m, pixel] = A[k]\n"
        f"        else:\n            y[b, m, pixel] = B[min(k, {len(right) - 1}) - {half}]\n"
    )


def expected_pasted() -> str:
    """The right values of the public cases of C1 as a formula of the seed: numpy in the kernel."""
    return f"import numpy as np\n{HEAD}    y[:] = np.load('expected.npy')\n{LAUNCH}"


DISHONEST = {
    "calls the library's kernel": (
        "project.10", f"from {LADDER}.v06_specialised import conv2d_forward_v06_specialised\n{HEAD}"
        f"    conv2d_forward_v06_specialised(x, w, None, y)\n{LAUNCH}",
        "uses conv2d_forward_v06_specialised, which is to be written here without it", 0),
    "is the library's kernel under another name": (
        "project.10", f"from {LADDER}.v05b_c1_layer import conv2d_forward_v05b_c1_layer as conv_c1\n{LAUNCH}",
        "uses conv2d_forward_v05b_c1_layer, which is to be written here without it", 0),
    "is an operation of the library": (
        "project.10", f"from course_lib import cuda as ops\n{HEAD}    y[:] = ops.conv2d_forward(x, w)[0]\n{LAUNCH}",
        "uses conv2d_forward, which is to be written here without it", 0),
    "asks cuDNN through PyTorch": (
        "project.10", "import torch\n\n\n@gpu.jit\ndef conv_c1(x, w, y):\n"
        f"    y[:] = torch.nn.functional.conv2d(x, w)\n{LAUNCH}",
        "uses conv2d, which is to be written here without it", 0),
    "is a kernel of CuPy": (
        "project.10", f"import cupy\nconv_c1 = cupy.RawKernel('...', 'conv_c1')\n{LAUNCH}",
        "there is no kernel conv_c1", 0),
    "the library's compiled kernel, reached past its name": (
        "project.10",
        f"import importlib\nconv_c1 = importlib.import_module('{LADDER}.v05b_c1_layer').make(b'')\n{LAUNCH}",
        "there is no kernel conv_c1", 0),
    "somebody's compiled code": (
        "project.10", f"import pickle\nconv_c1 = pickle.loads(open('friend.pkl', 'rb').read())\n{LAUNCH}",
        "there is no kernel conv_c1", 0),
    "compiled code linked in": (
        "project.10", f"@gpu.jit(link=['friend.cubin'])\ndef conv_c1(x, w, y):\n    friend(x, w, y)\n{LAUNCH}",
        "link is no option that a decorator can have here", 0),
    "right values of the public sizes written down": (
        "project.4", hard_coded(), "product_tiled on a hidden case", 0),
    "right values from a file": ("project.10", expected_pasted(), "np.load is not among the words of a kernel", 0),
    "all weights 1": ("project.10", C1.replace(*KEY.ones("c1")), "All weights were taken to be 1", 0),
    "the number of weights instead of their values": (
        "project.10", C1.replace("masks[m, 0, p, q]", "float32(masks.size // 150)"),
        "All weights were taken to be 1", 0),
    "the weights of the notebook written down": (
        "project.1", SOLVED["project.1"].replace("cuda.const.array_like(MASKS)", "cuda.const.array_like(W)").replace(
            "SIDE = 16", "import numpy as np\nW = np.array([[[[0.0012, 0.2987]]]], np.float32)\nSIDE = 16"),
        "conv_tiled reads no MASKS", 0),
    "results kept from launch to launch": (
        "project.10", f"import numpy as np\nKEPT = np.zeros((6, 28, 28), np.float32)\n{HEAD}"
        f"    KEPT[0, 0, 0] = x[0, 0, 0, 0]\n    y[0, 0, 0, 0] = KEPT[0, 0, 0]\n{LAUNCH}",
        "KEPT is nothing that a kernel can use", 0),
    "results kept in a frozen array": (
        "project.10", f"import numpy as np\nKEPT = np.array([0.0, 0.0], np.float32)\n{HEAD}"
        f"    KEPT[0] = x[0, 0, 0, 0]\n    y[0, 0, 0, 0] = KEPT[0]\n{LAUNCH}",
        "KEPT is constant memory; a kernel only reads it", 0),
    "a counter of launches": (
        "project.10", "CALLS = [0]\n" + C1.replace("    t, top, b =", "    CALLS[0] += 1\n    t, top, b ="),
        "CALLS is nothing that a kernel can use", 0),
    "what the output held before": (
        "project.10", C1.replace("= acc[m]\n", "= acc[m] if y[b, m, top + h, v] == 0 else y[b, m, top + h, v]\n"),
        "which nobody has written yet", 0),
    "batches that are not the public ones are left out": (
        "project.10", C1.replace("    row, col", "    if x.shape[0] not in (3, 24):\n        return\n    row, col")
        .replace("x.shape[0] not in (3, 24)", "x.shape[0] != 3 and x.shape[0] != 24"), "some of y is never written", 0),
    "images behind those of the public cases are left out": (
        "project.10", C1.replace("    row, col", "    if b >= 24:\n        return\n    row, col", 1),
        "returns wrong numbers", 0),
    "more images than the public cases have are not launched": (
        "project.10", C1.replace("(7, B)", "(7, min(B, 24))"), "returns wrong numbers", 0),
    "images are left out": (
        "project.10", C1.replace("    t, top, b =", "    if cuda.blockIdx.y > 1:\n        return\n    t, top, b ="),
        "no thread wrote it", 0),
    "more than its output": (
        "project.10", C1.replace("        for m in range(6):\n            y[", "        x[b, 0, 0, 0] = float32(1)\n"
                                 "        for m in range(6):\n            y["),
        "x is read-only", 0),
    "beyond its output": (
        "project.10", C1.replace("y[b, m, top + h, v] =", "y[b, m, top + h, v + 1] ="), "on axis 3 of y", 0),
    "half precision": (
        "project.10", "from numba.types import float16\n" + C1.replace("acc[m] += pixel", "acc[m] += float16(pixel)"),
        "conv_c1 on a hidden case returns wrong numbers", 0),
    "whole numbers instead of float32": (
        "project.10", C1.replace("pixel * masks[m, 0, p, q]", "int(pixel) * int(masks[m, 0, p, q])"),
        "conv_c1 on a hidden case returns wrong numbers", 0),
    "a launch that looks around": (
        "project.10", C1.replace("    return (7, B), 128", "    import os\n    return (7, len(os.listdir('.'))), 128"),
        "cannot be read", 0),
    "a launch with side effects": (
        "project.10", C1.replace("    return (7, B), 128", "    judge.score = 99\n    return (7, B), 128"),
        "cannot be read", 0),
    "a decorator that runs something": (
        "project.10", C1.replace("@gpu.jit", "@gpu.jit(print('here'))"), "is no type that a signature", 0),
    "a default that runs something": (
        "project.10", C1.replace("def conv_c1(x, w, y)", "def conv_c1(x, w, y=open('made', 'w'))"),
        "open is Python's own", 0),
    "a patched checker and a printed score": (
        "project.10", project_teams.PATCHES + HEAD + '    raise NotImplementedError("project.10")\n',
        "is not written yet", 0),
}  # fmt: skip
"""Name -> (exercise, cell, words of the reason, most points)."""


def parts(id: str) -> list:
    """All parts of an exercise, public and hidden."""
    key = {one.id: one for one in KEY.KEYS}[id]
    return parts_of(find(id), key)
