"""A small lesson that follows all rules, as text, and helpers to build it and to break it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from pathlib import Path

from nbformat import NotebookNode
from notebook_lib import clean
from notebook_lib.execute import execute
from notebook_lib.scripts import read_script

HEADER = """\
# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---
"""

GOOD_LESSON = (
    HEADER
    + """
# %% [markdown]
# # A lesson
#
# You will be able to
#
# - add two numbers,
# - say what their sum is.

# %% [markdown]
# ## Why
#
# Sums are everywhere, and $n! > 2^n$ for `n != 3` (K lecture 1).

# %%
import numpy as np

rng = np.random.default_rng(0)
rng.integers(10, size=3)

# %% tags=["continued"]
1 + 1

# %% [markdown]
# A picture says it too.

# %%
from IPython.display import HTML

HTML('<figure><img alt="two apples and one apple are three" src="data:image/svg+xml,%3Csvg/%3E"></figure>')

# %% [markdown]
# How long it takes differs.

# %% tags=["nbval-ignore-output"]
import time

time.perf_counter() > 0

# %% [markdown]
# This one fails on purpose.

# %% tags=["raises-exception"]
1 / 0

# %% [markdown]
# ## Check yourself
#
# What is 1 + 1?
#
# <details><summary>Answer</summary>
#
# 2
#
# </details>
#
# What is 1 + 2?
#
# <details><summary>Answer</summary>
#
# 3
#
# </details>
#
# What is 2 + 2?
#
# <details><summary>Answer</summary>
#
# 4
#
# </details>
"""
)

NEW_FORM = Path(__file__).parent / "sample" / "11_two_rules.py"
"""A lesson of the new form that follows all rules."""

Break = Callable[[NotebookNode], object]


def built(script: Path) -> NotebookNode:
    """The script, executed and cleaned as the build does it, but neither guarded nor written."""
    notebook = read_script(script)
    asyncio.run(execute(notebook, script.parent))
    return clean.clean(notebook)


def broken(notebook: NotebookNode, damage: Break) -> NotebookNode:
    """A copy with `damage` done to it."""
    worse = copy.deepcopy(notebook)
    damage(worse)
    return worse
