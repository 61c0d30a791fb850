"""NaN and infinity, told everywhere by the same error: what a network makes of them is no answer.

NaN compares with nothing, so that argmax calls it class 0 and an accuracy looks real. Operations (`ops`) pass NaN on,
as NumPy does; what judges a network (`train`, `evaluate`, `predict`, `worst_mistakes`) looks at its outputs once.

Source: the course's own.
"""

import numpy as np

from course_lib.validate import NotFiniteError


def require_finite_outputs(net, x, out, *, name="x", first=0):
    """Raise NotFiniteError if the outputs of a network hold NaN or infinity, with the cause.

    Parameters
    ----------
    net : Sequential
    x : (B, ...) host array
        What the outputs were made of; `name` is what the caller calls it, `first` the number of its first row.
    out : (B, ...) host array

    Raises
    ------
    NotFiniteError
        Names a row of x, a parameter of the network, or, if these are finite, a row whose numbers have grown too large.

    Source: the course's own.
    """
    if np.isfinite(out).all():
        return
    row = int(np.argwhere(~np.isfinite(out))[0][0])
    x = np.asarray(x)
    if x.dtype.kind == "f" and (bad := np.argwhere(~np.isfinite(x))).size:
        raise NotFiniteError(
            f"row {first + int(bad[0][0])} of {name} holds NaN or infinity ({x[tuple(bad[0])]}); remove or fill such "
            "rows first."
        )
    if diverged := first_not_finite(net):
        raise NotFiniteError(
            f"{diverged} of the network holds NaN or infinity, so its outputs do too: training diverged. Build the "
            "network anew and train it with a smaller lr, or load weights that were saved before."
        )
    raise NotFiniteError(
        f"the outputs for row {first + row} of {name} hold NaN or infinity, though {name} and the weights are finite: "
        f"the numbers have grown beyond {out.dtype}. Scale the inputs to about [0, 1]."
    )


def first_not_finite(net):
    """Return the name of a parameter that holds NaN or infinity, such as "0.w"; None if there is none. No errors.

    Source: the course's own.
    """
    for name, parameter in net.parameters().items():
        if not np.isfinite(net.ops.to_host(parameter)).all():
            return name
    return None
