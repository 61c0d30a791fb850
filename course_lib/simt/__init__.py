"""Run the source of a Numba-CUDA kernel without a GPU, and say what the hardware would do.

Read in this order: `lanes` and `masks` (threads in lock-step), `memory`, `places` and `traffic` (where elements lie
and what an access costs), `races`, `locks`, `hazards` (who touched what), `evaluate`, `expressions`, `names`,
`elements`, `calls` and `iteration` (the walk through the text), `waiting` and `watching` (threads that wait for
others), `run`; `alone` compiles long loops of one thread. `inference` finds the types first; `source`, `reader` and
`vocabulary` say what a text may contain; `functions`, `arithmetic`, `atomics`, `warps` and `library` are its words.
`trace` follows one warp step by step; `show` has the report as page, text and pictures; `estimate` has devices,
occupancy and the predicted time of a launch.

Source: NVIDIA, "CUDA C++ Programming Guide"; the course's own.
"""

import importlib

from course_lib.cuda.launch_checks import LaunchError
from course_lib.simt.hazards import Hazard
from course_lib.simt.machine import HazardFound
from course_lib.simt.reader import read
from course_lib.simt.report import Report
from course_lib.simt.run import run
from course_lib.simt.source import KernelError, Source

_LATER = {
    "empty": "arrays", "compare": "show.compare", "memory_map": "show.memory_map", "memory_maps": "show.memory_map",
    "DEVICES": "estimate.devices", "occupancy": "estimate.occupancy", "predict": "estimate.bound",
    "predict_launch": "estimate.launch",
    "roofline": "estimate.roofline", "address_ruler": "show.address_ruler", "walks": "show.walks",
    "occupancy_calculator": "show.occupancy_calculator", "schedule": "show.schedule",
    "roofline_picture": "show.roofline_picture",
}  # fmt: skip
"""Names whose modules are loaded when they are first used: a launch needs none of them."""

__all__ = [
    "DEVICES", "Hazard", "HazardFound", "KernelError", "LaunchError", "Report", "Source", "address_ruler", "compare",
    "empty", "memory_map", "memory_maps", "occupancy", "occupancy_calculator", "predict", "predict_launch", "read",
    "roofline", "roofline_picture", "run", "schedule", "walks",
]  # fmt: skip


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
