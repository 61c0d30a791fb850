"""The course's own players in `course bench gpu`: the rungs of the ladders, and launches that are done again.

Source: the course's own.
"""

import functools
import importlib
import sys

from course_lib.bench.gpu.work import FFT, FLOAT32, READABLE, TF32, THREE_TF32, Player
from course_lib.cuda.capability import compute_capability
from course_lib.cuda.ladders.rung import rungs_for
from course_lib.cuda.recording import record_launches


def ladder(name, least=1, sizes=None):
    """Return the rungs of a ladder, such as "conv2d.forward", from number `least` on.

    Those whose instructions this device lacks are left out, and those that are not for `sizes`, where given: what
    `Rung.traffic` takes, as one value. ImportError for an unknown ladder.

    Source: the course's own.
    """
    rungs = importlib.import_module(f"course_lib.cuda.ladders.{name}").LADDER
    rungs = rungs if sizes is None else rungs_for(rungs, sizes)
    return [rung for rung in rungs if rung.least_cc <= compute_capability() and rung.number >= least]


def kind(rung):
    """Return the kind of a rung: by its name on tensor cores or by transforms, else by whether it uses intrinsics.

    No errors.

    Source: the course's own.
    """
    name = rung.name.lower()
    if "tf32" in name:
        return THREE_TF32 if "3xtf32" in name else TF32
    if name.endswith("_fft"):
        return FFT
    names = vars(sys.modules[rung.launch.__module__]).values()
    return FLOAT32 if any(getattr(n, "__module__", "") == "course_lib.cuda.intrinsics" for n in names) else READABLE


def players(rungs, make):
    """Return {name: function that makes a rung's `Player`}.

    make(rung) -> (a function that launches it, its outputs), on arrays of its own. No errors. Source: the course's own.
    """
    return {rung.name: functools.partial(_player, rung, make) for rung in rungs}


def _player(rung, make):
    made = make(rung)
    calls = made if isinstance(made, list) else [made]
    return Player(tuple(replayed(launch, outputs) for launch, outputs in calls), kind(rung))


def replayed(launch, outputs):
    """Return a call that does again what `launch()` launches, and returns `outputs`.

    A launcher checks, allocates and launches; only the last is timed. Nothing runs before the first call, whose
    attribute `launches` says what will. Errors as the launcher's. Source: the course's own.
    """
    with record_launches(run=False) as launches:
        launch()

    def call():
        for each in launches:
            each.again()
        return outputs

    call.launches = launches
    return call
