"""What a forward rung does that is made for one layer's shape: check, ask for its plan, launch, or hand the work on.

Source: the course's own.
"""

from dataclasses import replace

from course_lib.cuda.capability import compute_capability
from course_lib.cuda.choice import DeviceError
from course_lib.cuda.ladders.conv2d.forward.checks import check_launch
from course_lib.cuda.operands import aligned

AMPERE = (8, 0)
"""The compute capability from which on tensor cores know TF32, and copies to shared memory go on by themselves."""


def require_tf32():
    """Raise DeviceError on a GPU below compute capability 8.0, whose tensor cores know no TF32.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities".
    """
    if compute_capability() < AMPERE:
        raise DeviceError(
            "tensor cores know TF32 from compute capability 8.0 on", "Use conv2d_forward_v05_register_tiled here."
        )


def launch_planned(x, w, b, y, stride, pad, *, plan_of, launch, otherwise, here=True):
    """Write the convolution of x and w, plus b or None, into y, by a plan for this shape, or by a lower rung.

    Parameters
    ----------
    x, w, b, y, stride, pad
        As a rung of the forward ladder takes them.
    plan_of : function
        Sizes with B = 0 -> plan, or None where there is none.
    launch : function (plan, x, w, b, biased, y)
        On arrays that `check_launch` has seen.
    otherwise : function (x, w, b, y, stride, pad)
        The lower rung: for arrays without a plan, or that do not begin at a multiple of 16 bytes.
    here : bool
        Whether this device has what the rung needs; else it is `otherwise`'s work.

    TypeError and ValueError as `check_launch`. Source: the course's own.
    """
    biased = b is not None
    x, w, b, y, s = check_launch(x, w, b, y, stride, pad)
    plan = plan_of(replace(s, B=0)) if here and aligned(x, y) else None
    if plan is None:
        otherwise(x, w, b if biased else None, y, stride, pad)
    else:
        launch(plan, x, w, b, biased, y)
