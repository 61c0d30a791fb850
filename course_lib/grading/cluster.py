"""The same grading on a Dask cluster: the function and the tasks are those of the local pool.

Student code runs only in the sandbox that the worker's machine starts. Source: the course's own; dask.distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from course_lib.grading.schedule import broken


class NoCluster(Exception):
    """The cluster cannot be used; the message says what to install or to start. Source: the course's own."""


def run_on_cluster(tasks: Iterable, grade: Callable, address: str) -> Iterator[tuple[object, dict]]:
    """Grade tasks on the cluster at `address` and yield (task, result) in the order in which they end.

    A task that fails on a worker is tried twice more; then, or if its workers die, its result is "broken". Only a few
    tasks a worker are sent at a time. `NoCluster` without dask, without a scheduler at the address, or if it goes away.
    Source: the course's own.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise NoCluster(
            "--scheduler needs dask, which is not installed here. "
            "Install it here and on the cluster, in the course folder: python -m pip install -e '.[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise NoCluster(
            f"no Dask scheduler answers at {address} ({type(error).__name__}: {str(error)[:200]}). "
            "Start one (dask scheduler), and its workers with one thread each (dask worker ADDRESS --nthreads 1)."
        ) from None
    with client:
        threads = sum(client.nthreads().values())
        tasks, sent = iter(tasks), {}
        running = as_completed(with_results=False, loop=client.loop)

        def send() -> bool:
            task = next(tasks, None)
            if task is None:
                return False
            future = client.submit(grade, task, retries=2, pure=False)
            sent[future.key] = task
            running.add(future)
            return True

        for _ in range(max(8, 3 * threads)):
            if not send():
                break
        for future in running:
            task = sent.pop(future.key)
            try:
                yield task, future.result()
            except Exception as error:
                if client.status != "running":
                    raise NoCluster(
                        f"the scheduler at {address} went away with {len(sent) + 1} submissions under way. What is "
                        "graded is kept: start it and run the command again."
                    ) from None
                says = f"The cluster failed with this submission ({type(error).__name__}: {str(error)[:300]})"
                yield task, broken(task, f"{says}. Look at the worker's log, and run the command again.")
            future.release()
            send()
