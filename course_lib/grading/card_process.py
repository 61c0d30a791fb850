"""A process of its own for one kernel on a card: it is built, compared with the right values, and timed in turns.

A request is one line of JSON, and so is the reply. The kernel was taken by the executor before; here it runs at the
full size. What is compared lies in the host's memory, where no kernel reaches, before the timing and after it.

Source: NVIDIA, "CUDA C++ Programming Guide", "Events"; the course's own.
"""

import functools
import importlib.util
import json
import os
import sys

import numpy as np

from course_lib.grading.card_text import built_kernel

SETS = 2
"""Batches that are timed in turns, so that no result is right because it was right before."""

TOLERANCE = dict(rtol=1e-5, atol=1e-3)
"""Sums of 150 products of numbers around 1 in float32."""

AT_ONCE = 250
"""Images whose right values are computed together: they are unrolled in float64."""


def measured(request, timer=None, values=None):
    """Return the reply to a request, a dict of plain values.

    Parameters
    ----------
    request : dict
        "kernel" as `card_text.packed_kernel`, "grid", "block", "x" and "w" (shapes), "constant" (the masks' name),
        "seed".
    timer : callable, optional
        timer({"team": calls, "vendor": calls}) -> {name: seconds}; the device's clock unless given.
    values : callable, optional
        values(x, w) -> right values, for who has them already; `right_values` unless given.

    Returns
    -------
    dict
        "reason" says why there is no time, "" where there is one; "seconds", "vendor" (seconds of the vendor's
        library, or of v06 where that is not installed), "against" (which of the two), "card"; "wrong" is whether the
        kernel's results are not right at this size.

    Errors of a kernel are in the reply. Source: the course's own.
    """
    from course_lib import gpu

    rng = np.random.default_rng(request["seed"])
    w = rng.standard_normal(request["w"]).astype(np.float32)
    batches = [rng.standard_normal(request["x"]).astype(np.float32) for _ in range(SETS)]
    right = [(values or right_values)(x, w) for x in batches]
    reply = {"reason": "", "seconds": None, "vendor": None, "against": "", "wrong": False}
    reply["card"] = gpu.device_name()
    try:
        kernel = built_kernel(request["kernel"], {request["constant"]: w}, gpu.jit)
        arrays = [(gpu.to_device(x), gpu.to_device(w), gpu.to_device(np.full(y.shape, np.nan, np.float32)))
                  for x, y in zip(batches, right, strict=True)]  # fmt: skip
        launch = kernel[tuple(request["grid"]), tuple(request["block"])]
        calls = [lambda a=a: launch(*a) for a in arrays]
        for call in calls:
            call()
        gpu.synchronize()
        if problem := _differs(arrays, batches, w, right):
            return reply | {"reason": problem, "wrong": True}
        for (*_, y), expected in zip(arrays, right, strict=True):  # what is timed computes, or is found out
            gpu.overwrite(y, np.full(expected.shape, np.nan, np.float32))
        against, vendor = _vendor(batches, w, right)
        times = (timer or _on_the_device)({"team": calls, "vendor": vendor})
        if problem := _differs(arrays, batches, w, right):
            return reply | {"reason": f"after it was timed, {problem}", "wrong": True}
        return reply | {"seconds": times["team"], "vendor": times["vendor"], "against": against}
    except Exception as error:  # whatever a compiler or a driver has to say
        return reply | {"reason": f"{type(error).__name__}: {error}"[:300]}


def right_values(x, w):
    """Return (B, M, H_out, W_out) in float64. Errors as the reference's. Source: the course's own."""
    from course_lib import reference

    w = w.astype(np.float64)
    parts = [reference.conv2d_forward(x[i : i + AT_ONCE].astype(np.float64), w)[0] for i in range(0, len(x), AT_ONCE)]
    return np.concatenate(parts)


def _differs(arrays, batches, w, right):
    """Return what is wrong with the arrays on the card, "" if nothing is."""
    from course_lib import gpu

    for (x, weights, y), batch, expected in zip(arrays, batches, right, strict=True):
        got = gpu.to_host(y)
        if np.isnan(got).any():
            return f"{np.isnan(got).sum():,} of {got.size:,} results were never written."
        if not np.allclose(got, expected, **TOLERANCE):
            far = ~np.isclose(got, expected, **TOLERANCE)
            return f"{far.sum():,} of {got.size:,} results are wrong."
        if not np.array_equal(gpu.to_host(x), batch) or not np.array_equal(gpu.to_host(weights), w):
            return "the kernel changes its inputs."
    return ""


def _vendor(batches, w, right):
    """Return (name, calls) of the vendor's library through PyTorch, or of this library's best rung."""
    if importlib.util.find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = True, False
            weights = torch.from_numpy(w).cuda()
            images = [torch.from_numpy(x).cuda() for x in batches]
            return "cuDNN", [functools.partial(torch.nn.functional.conv2d, x, weights) for x in images]
    from course_lib import gpu
    from course_lib.bench.gpu.players import replayed
    from course_lib.cuda.ladders.conv2d.forward.v06_specialised import conv2d_forward_v06_specialised as best

    weights, calls = gpu.to_device(w), []
    for x, y in zip(batches, right, strict=True):
        out, given = gpu.empty(y.shape, np.float32), gpu.to_device(x)
        calls.append(replayed(lambda x=given, y=out: best(x, weights, None, y), (out,)))
    return "v06", calls


def _on_the_device(rivals):
    """Return {name: median seconds} by the device's clock, or raise without a GPU."""
    from course_lib.bench.gpu.timing import time_in_turns

    return {name: timing.median for name, timing in time_in_turns(rivals).items()}


def main():
    """Answer one request. Source: the course's own."""
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a compiler or a kernel prints is no reply
    reply.write(json.dumps(measured(json.loads(sys.stdin.readline()))) + "\n")
    reply.flush()


if __name__ == "__main__":
    main()
