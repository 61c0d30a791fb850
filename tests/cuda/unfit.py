"""Arrays that no launcher may take, made from one that it takes; each with the error that it must raise."""

import numpy as np

from course_lib import gpu

KINDS = ("host", "list", "float64", "int32", "Fortran", "sliced", "empty")
"""What can be wrong."""


def unfit(kind, host):
    """Return (array, expected error) for an array (...) with two entries at least on its first and last axis."""
    host = np.ascontiguousarray(host, np.float32)
    if kind == "host":
        return host, TypeError
    if kind == "list":
        return host.tolist(), TypeError
    if kind in ("float64", "int32"):
        return gpu.to_device(host.astype(kind)), TypeError
    if kind == "Fortran" and host.ndim > 1:
        return gpu.to_device(np.asfortranarray(host)), ValueError
    if kind in ("Fortran", "sliced"):
        wide = gpu.to_device(np.repeat(host, 2, axis=host.ndim - 1))
        return wide[(*(slice(None),) * (host.ndim - 1), slice(0, None, 2))], ValueError
    return gpu.empty((0, *host.shape[1:]), np.float32), ValueError
