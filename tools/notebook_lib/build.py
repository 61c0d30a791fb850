"""Script -> executed, cleaned, guarded notebook; several side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from notebook_lib import clean, guards
from notebook_lib.execute import LessonError, execute
from notebook_lib.scripts import Pair, read_script

OnCell = Callable[[Pair, int, int], None]  # lesson, cells done, cells in all


@dataclass
class Result:
    """How the build of one lesson went. `problems` empty: it was written."""

    pair: Pair
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems


async def build_one(pair: Pair, on_cell: OnCell) -> Result:
    """Build one lesson. The old notebook stays as it is unless everything went well."""
    result, begin = Result(pair), time.perf_counter()
    try:
        notebook = read_script(pair.script)
        total = len(notebook.cells)
        await execute(notebook, pair.notebook.parent, on_cell=lambda index: on_cell(pair, index, total))
        clean.clean(notebook)
        result.problems = guards.guard(notebook)
        if result.ok:
            clean.write(notebook, pair.notebook)
        on_cell(pair, total, total)
    except LessonError as error:
        result.problems = [str(error)]
    except Exception as error:  # one broken lesson must not hide how the others went
        result.problems = [f"{type(error).__name__}: {error}"]
    result.seconds = time.perf_counter() - begin
    return result


async def build_all(pairs: Sequence[Pair], jobs: int, on_cell: OnCell) -> list[Result]:
    """Build lessons, at most `jobs` kernels at a time; results in the order of `pairs`."""
    free = asyncio.Semaphore(jobs)

    async def one(pair: Pair) -> Result:
        async with free:
            return await build_one(pair, on_cell)

    return await asyncio.gather(*(one(pair) for pair in pairs))
