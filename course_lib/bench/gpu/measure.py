"""One case of `course bench gpu`: everybody is verified, and those who are right are timed in turns.

Source: the course's own.
"""

import importlib.util
import math
from dataclasses import asdict, dataclass, field

from course_lib import gpu
from course_lib.bench.gpu.work import FFT, evenly_right, judge


@dataclass
class GpuRow:
    """One piece of work: who did it in which time, how exactly, and what failed.

    `timings`, `errors` ([relative, share of what is allowed]), `kinds` and `failures` go by the players' names.
    `rivals` lists those that are not the course's; `rival` says whom each kind is compared with, `rival_kernels` what
    a rival launches. `refused` are rungs and rivals that say that they are not for this size. `date`
    is of the measurement, as 2026-12-31: a file can hold rows of several days.

    Source: the course's own.
    """

    case: str
    family: str
    size: str
    flops: float = 0
    bytes: float = 0
    timings: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    kinds: dict = field(default_factory=dict)
    rivals: list = field(default_factory=list)
    rival: dict = field(default_factory=dict)
    rival_kernels: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)
    failures: dict = field(default_factory=dict)
    date: str = ""


def find_backend():
    """Return the module of rivals and exact results: `with_torch` if PyTorch finds a card, else `with_numpy`.

    No errors. Source: the course's own.
    """
    if importlib.util.find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            from course_lib.bench.gpu import with_torch

            return with_torch
    from course_lib.bench.gpu import with_numpy

    return with_numpy


def measure(case, backend, timer, rounds, small=False):
    """Return the `GpuRow` of a case: everybody is verified, then those who are right are timed in turns.

    No errors but an interrupt: what fails is in the row. Source: the course's own.
    """
    row = GpuRow(case.name, case.family, case.size)
    try:
        work = case.work(backend, small=small)
        exact, sizes = work.exact(), work.exact(sizes=True) if work.terms else None
        gpu.synchronize()
    except Exception as error:
        row.failures["all"] = said(error)
        return row
    row.flops, row.bytes = float(work.flops), float(work.bytes)
    row.rivals = list(work.rivals)
    right = {}
    for name, make in work.makers.items():
        try:
            player = make()
        except ValueError as error:  # a rung that is not for such sizes says so
            row.refused[name] = said(error)
            continue
        except Exception as error:
            row.failures[name] = said(error)
            continue
        try:
            outputs = player.calls[0]()
            gpu.synchronize()
            if outputs:
                error = judge(outputs, exact, sizes or exact, work.terms, player.kind, backend)
                row.errors[name] = [error.relative, error.share]
                may_be_even = name in work.rivals or player.kind == FFT
                if not (error.fits or (may_be_even and evenly_right(error.relative, player.kind))):
                    row.failures[name] = f"wrong: relative error {error.relative:.1e}, {error.share:.3g} of the allowed"
                    continue
            right[name] = player
            row.kinds[name] = player.kind
        except Exception as error:
            row.failures[name] = said(error)
    try:
        timings = timer({name: player.calls for name, player in right.items()}, rounds=rounds)
        row.timings = {name: asdict(timing) for name, timing in timings.items()}
    except Exception as error:
        row.failures["timing"] = said(error)
    row.rival = {kind: _fastest(names, row.timings) for kind, names in work.rival.items()}
    return row


def _fastest(names, timings):
    """Return the name of the fastest rival of one or several, the first of them where none was timed."""
    names = (names,) if isinstance(names, str) else names
    return min(names, key=lambda n: timings[n]["median"] if n in timings else math.inf)


def rival_kernels(case, backend):
    """Return {rival: names of the kernels that it launches} for a case: which algorithm it has chosen.

    Not in the process that measures: who watches may slow it down. Errors as the rivals'. Source: the course's own.
    """
    work, found = case.work(backend), {}
    for name in work.rivals:
        try:
            found[name] = backend.kernels_of(work.makers[name]().calls[0])
        except ValueError:  # not for these sizes: `measure` says so
            continue
    return found


def said(error):
    """Return an error as one line of at most 300 characters. No errors. Source: the course's own."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
