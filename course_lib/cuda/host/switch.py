"""`gpu.use()`: let `numba.cuda` itself answer without a GPU, so that a public notebook runs as it is.

Where there is no GPU, every object of Numba's host API is replaced by ours wherever a module has it under a name: in
numba.cuda, and where `from numba.cuda import to_device` put it before. What a kernel uses stays Numba's own.
Source: the course's own.
"""

import contextlib
import importlib
import sys
import types

from course_lib.cuda.choice import SIMT
from course_lib.cuda.device import choice, device_name

_saved = {}
"""What is in force: id of one of our answers -> (the answer, Numba's object); and what was changed on classes."""


class Use(str):
    """The device's name; as a context manager it takes back at its end what `gpu.use()` did. Source: the course's."""

    def __new__(cls, name, undo):
        self = super().__new__(cls, name)
        self.undo = undo
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.undo()


def use():
    """Let `numba.cuda` answer on this process's device, and return the device's name.

    With a GPU, or on Numba's simulator, nothing is changed. Without one, @cuda.jit kernels run on the SIMT executor
    (`kernel.report` has what they did), and cuda.to_device, cuda.stream, cuda.synchronize, numba.vectorize and the rest
    of Numba's host API are answered by it. Write it into the first cell:

        from course_lib import gpu
        gpu.use()

    `with gpu.use():` takes it back at the end of the block, unless it was in force before.

    Returns
    -------
    str
        "NVIDIA H200", "SIMT executor (no GPU)" or "Numba's simulator (no GPU)".

    Raises
    ------
    DeviceError
        If COURSE_DEVICE asks for what is not there.

    Source: the course's own; Numba's documentation, "CUDA Host API".
    """
    name = device_name()
    if choice().device != SIMT or _saved:
        return Use(name, lambda: None)
    _install(sys._getframe(1).f_globals)
    return Use(name, restore)


def in_force():
    """Return whether numba.cuda is answered by the SIMT executor now. No errors. Source: the course's own."""
    return bool(_saved)


def restore():
    """Give numba.cuda back all that is its own. No errors. Source: the course's own."""
    if _saved:
        back = _saved.pop("objects")
        _saved.pop("undo").close()
        _exchange({id(ours): (ours, numbas) for numbas, ours in back})


def _install(caller):
    import numba.cuda
    from numba.cuda.dispatcher import CUDADispatcher

    undo = contextlib.ExitStack()
    from course_lib.cuda.host import launch, reduction, refused, ufuncs

    shown = [name for name in refused.INSPECTED if hasattr(CUDADispatcher, name)]
    methods = {**launch.METHODS, **{name: refused.no_inspection(name) for name in shown}}
    for name, method in methods.items():
        _set(undo, CUDADispatcher, name, method)
    owner, methods = reduction.methods()
    for name, method in methods.items():
        _set(undo, owner, name, method)
    ufuncs.register(undo)
    answers = _answers(numba.cuda)
    _exchange({id(numbas): (numbas, ours) for numbas, ours in answers}, caller)
    _saved.update(objects=answers, undo=undo)


def _set(undo, owner, name, value):
    missing = object()
    before = vars(owner).get(name, missing)
    setattr(owner, name, value)
    if before is missing:
        undo.callback(delattr, owner, name)
    else:
        undo.callback(setattr, owner, name, before)


def _answers(cuda):
    """Return pairs (Numba's object, ours) of the names of the host API that this version of numba.cuda has."""
    from course_lib.cuda.host import refused

    pairs = []
    for part, names in NAMES.items():
        module = importlib.import_module(f"course_lib.cuda.host.{part}")
        for name in names:
            numbas = vars(cuda).get(name)
            if numbas is not None:
                ours = getattr(module, name)
                if isinstance(ours, types.FunctionType):
                    ours.numbas = numbas  # for who asks for Numba's own answer
                pairs.append((numbas, ours))
    for name in refused.REASONS:
        if name in vars(cuda):
            pairs.append((vars(cuda)[name], refused.refusal(name, vars(cuda)[name])))
    return pairs


def _exchange(pairs, caller=None):
    """Give each name of every module that stands for one of the objects its counterpart."""
    spaces = [vars(m) for m in list(sys.modules.values()) if type(m) is types.ModuleType]
    for space in [*spaces, *([caller] if caller is not None else [])]:
        if str(space.get("__name__", "")).startswith("course_lib."):
            continue
        for name, value in list(space.items()):
            found = pairs.get(id(value))
            if found is not None and found[0] is value:
                space[name] = found[1]


NAMES = {
    "memory": (
        "to_device", "device_array", "device_array_like", "pinned_array", "pinned_array_like", "mapped_array",
        "mapped_array_like", "managed_array", "pinned", "mapped", "is_cuda_array", "as_cuda_array", "_auto_device",
    ),
    "streams": (
        "stream", "default_stream", "legacy_default_stream", "per_thread_default_stream", "external_stream", "event",
        "event_elapsed_time",
    ),
    "devices": (
        "is_available", "is_supported_version", "cuda_error", "current_context", "get_current_device", "select_device",
        "list_devices", "close", "synchronize", "require_context", "defer_cleanup", "profiling", "profile_start",
        "profile_stop", "detect", "gpus", "runtime",
    ),
}  # fmt: skip
"""Module -> the names of numba.cuda that it answers."""
