"""Which device kernels of this process run on, and why.

A GPU if Numba finds one, else the SIMT executor; COURSE_DEVICE=gpu|simt|numba-simulator decides otherwise.
Source: Numba's documentation, "CUDA simulator" and "Device management"; the course's own.
"""

import os
import sys
from dataclasses import dataclass

GPU, SIMT, SIMULATOR = DEVICES = ("gpu", "simt", "numba-simulator")


class DeviceError(RuntimeError):
    """There is no such device here; `problem` says why, `fix` what to do. Source: the course's own."""

    def __init__(self, problem, fix):
        super().__init__(f"{problem}. {fix}")
        self.problem, self.fix = problem, fix


@dataclass(frozen=True)
class Choice:
    """A device, "gpu", "simt" or "numba-simulator", and the reason. Source: the course's own."""

    device: str
    reason: str


def choose(environ=None, ask=None):
    """Return the Choice that COURSE_DEVICE and this machine's hardware lead to.

    Parameters
    ----------
    environ : mapping, optional
        Environment variables; default: the process's own.
    ask : function, optional
        Returns ("gpu", "simt" or "numba-simulator", reason): what Numba has. Default: `ask_numba`.

    Raises
    ------
    DeviceError
        If COURSE_DEVICE is none of the three, or cannot be had.

    Source: the course's own.
    """
    wanted = (os.environ if environ is None else environ).get("COURSE_DEVICE", "")
    if wanted not in ("", *DEVICES):
        raise DeviceError(f"COURSE_DEVICE={wanted} is none of {', '.join(DEVICES)}", "Unset it, or set one of these.")
    found, reason = (ask or ask_numba)()
    if wanted in ("", found):
        return Choice(found, reason + (f"; COURSE_DEVICE={wanted}" if wanted else ""))
    if found == SIMULATOR:
        raise DeviceError(f"COURSE_DEVICE={wanted}, but {reason}", "Unset NUMBA_ENABLE_CUDASIM and start Python again.")
    if wanted == GPU:
        raise DeviceError(f"COURSE_DEVICE=gpu, but {reason}", "Unset COURSE_DEVICE, or install the GPU's driver.")
    if wanted == SIMULATOR:
        raise DeviceError(
            "COURSE_DEVICE=numba-simulator, but numba.cuda was imported before course_lib.gpu, without its simulator",
            "Set NUMBA_ENABLE_CUDASIM=1 as well before Python starts, or import course_lib.gpu first.",
        )
    return Choice(SIMT, f"{reason}; COURSE_DEVICE=simt")


def ask_numba():
    """Return what Numba can run kernels on, ("gpu", "simt" or "numba-simulator"), and the reason. No errors."""
    try:
        from numba import cuda

        is_available, cuda_error = (getattr(f, "numbas", f) for f in (cuda.is_available, cuda.cuda_error))
        if is_available.__module__.endswith("simulator_init"):  # numbas: the host API answers for Numba (host.switch)
            return SIMULATOR, "Numba's simulator is switched on (NUMBA_ENABLE_CUDASIM)"
        if is_available():
            return GPU, "Numba finds a CUDA GPU"
        error = str(cuda_error() or "the driver is there, but not NVVM; is numba-cuda[cu13] installed?")
    except Exception as failure:  # a broken driver raises whatever it likes, and a lesson can still go on
        return SIMT, f"asking Numba for CUDA failed: {type(failure).__name__}: {failure}"
    return SIMT, f"Numba finds no CUDA GPU ({error.strip().splitlines()[0].rstrip('.')})"


def use_simulator(environ):
    """Switch Numba's simulator on if COURSE_DEVICE asks for it and numba.cuda is not imported yet. No errors.

    It cannot be done later: `from numba import cuda` gives a kernel either the one module or the other.
    """
    if environ.get("COURSE_DEVICE") == SIMULATOR and "numba.cuda" not in sys.modules:
        from numba.core import config

        environ["NUMBA_ENABLE_CUDASIM"] = "1"
        config.ENABLE_CUDASIM = 1


use_simulator(os.environ)
