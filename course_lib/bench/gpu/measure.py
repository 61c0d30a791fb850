"""One case of `course bench gpu`: everybody is verified, and those who are right are timed in turns.

Source: the course's own.
"""

import importlib.util
from dataclasses import asdict, dataclass, field

from course_lib import gpu
from course_lib.bench.gpu.work import FLOAT32, RIVALS_OFF, judge


@dataclass
class GpuRow:
    """One piece of work: who did it in which time, how exactly, and what failed.

    `timings`, `errors` ([relative, share of what is allowed]), `kinds` and `failures` go by the players' names.
    `rivals` lists those that are not the course's; `rival` says whom each kind is compared with, `rival_kernels` what
    a rival launches. `refused` are rungs whose launchers say that they are not for this size.

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
    row.rivals, row.rival = list(work.rivals), dict(work.rival)
    right = {}
    for name, make in {**work.ours, **{n: lambda p=p: p for n, p in work.rivals.items()}}.items():
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
                near = name in work.rivals and error.relative <= RIVALS_OFF.get(player.kind, RIVALS_OFF[FLOAT32])
                if not (error.fits or near):
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
    return row


def rival_kernels(case, backend):
    """Return {rival: names of the kernels that it launches} for a case: which algorithm it has chosen.

    Not in the process that measures: who watches may slow it down. Errors as the rivals'. Source: the course's own.
    """
    rivals = case.work(backend).rivals
    return {name: backend.kernels_of(player.calls[0]) for name, player in rivals.items()}


def said(error):
    """Return an error as one line of at most 300 characters. No errors. Source: the course's own."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
