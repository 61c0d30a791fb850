"""OpenCL: the same kernels in a language that CPUs and GPUs of every maker take (lesson 19, optional).

`cl` is pyopencl where a device computes, else a recording of the lesson's launches under the same names. `devices`
finds out what there is; `Session` is context, queue and programs. `leaky_relu`, `transpose`, `product`, `conv2d` and
`conv2d_images_last` are the reference's operations on its arrays. `best_share` and `together` split one job between
two workers, `two_devices` finds two, and `two_chains` shows what a queue may begin when. Kernels are text files in
`kernels/`.
"""

from .api import device, live, two_devices
from .arguments import Array
from .chains import right, timeline, two_chains
from .devices import BuildError, NoDevice, find_devices, pick, why_none
from .operations import conv2d, conv2d_images_last, leaky_relu, product, transpose
from .session import Session, recorded_session
from .shares import Share, best_share, together
from .texts import text_of

__all__ = [
    "Array", "BuildError", "NoDevice", "Session", "Share", "best_share", "cl", "conv2d", "conv2d_images_last",
    "device", "find_devices", "leaky_relu", "live", "pick", "product", "recorded_session", "right",
    "text_of", "timeline", "together", "transpose", "two_chains", "two_devices", "why_none",
]  # fmt: skip


def __getattr__(name):
    if name == "cl":
        from .api import api

        return api()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
