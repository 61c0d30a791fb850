"""What streams do with a list of requests, without a GPU: when each one runs, and which two nothing keeps in order.

`simulate` plays the requests of a host on a card with one engine for each direction of copies and one for kernels;
`two_rows` says when kernels run that a host launches one by one. `jobs` has the jobs of lesson 16 and its sheet.

Source: NVIDIA, "CUDA C++ Programming Guide", "Streams" and "Events"; H, "Mini-Batching May be Needed to Fill GPU".
"""

from .jobs import LOADING_AHEAD, READ_COMPUTE_WRITE, Job, Stage, loading_ahead, read_compute_write
from .launches import Rows, two_rows
from .requests import RequestError
from .run import Race, Run, Span, simulate
from .step_parts import part_of_step

__all__ = [
    "LOADING_AHEAD", "READ_COMPUTE_WRITE", "Job", "Race", "RequestError", "Rows", "Run", "Span", "Stage",
    "loading_ahead", "part_of_step", "read_compute_write", "simulate", "two_rows",
]  # fmt: skip
