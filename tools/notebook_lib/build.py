"""Script -> executed, cleaned, guarded notebook; several side by side."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from notebook_lib import clean, guards
from notebook_lib.execute import LessonError, execute
from notebook_lib.scripts import Pair, read_script
from notebook_lib.sheet_build import write_sheet
from notebook_lib.sheets import read_sheet

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
        notebook = read_sheet(pair.script) if pair.student else read_script(pair.script)
        total = len(notebook.cells)
        await execute(notebook, pair.notebook.parent, on_cell=lambda index: on_cell(pair, index, total))
        clean.clean(notebook)
        result.problems = guards.guard(notebook)
        if result.ok and pair.student:
            write_sheet(pair, notebook)
        elif result.ok:
            clean.write(notebook, pair.notebook)
        on_cell(pair, total, total)
    except LessonError as error:
        result.problems = [str(error)]
    except Exception as error:  # one broken lesson must not hide how the others went
        result.problems = [f"{type(error).__name__}: {error}"]
    result.seconds = time.perf_counter() - begin
    return result


def build_all(pairs: Sequence[Pair], jobs: int, on_cell: OnCell) -> list[Result]:
    """Build lessons, at most `jobs` kernels at a time; results in the order of `pairs`. Ctrl-C ends the kernels.

    The loop runs in a thread of its own. In the main thread every nbclient would install its own handler of Ctrl-C,
    each in place of the last one's, and most kernels would go on running.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        return asyncio.run_coroutine_threadsafe(_gather(pairs, jobs, on_cell), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(_cancel_the_rest(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _gather(pairs: Sequence[Pair], jobs: int, on_cell: OnCell) -> list[Result]:
    free = asyncio.Semaphore(jobs)

    async def one(pair: Pair) -> Result:
        async with free:
            return await build_one(pair, on_cell)

    return await asyncio.gather(*(one(pair) for pair in pairs))


async def _cancel_the_rest() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
