"""The roofline of a card with what was measured on it: how fast each kernel is, and how fast it could be.

Source: Williams, Waterman, Patterson, "Roofline" (2009).
"""

import numpy as np

from course_lib.bench.gpu.promises import fastest
from course_lib.bench.gpu.roof import FASTER, roof_of
from course_lib.bench.gpu.work import BF16, FFT, FLOAT32, READABLE, TF32, THREE_TF32
from course_lib.validate import require_some

from . import style

ROLES = {READABLE: "data", FLOAT32: "output", THREE_TF32: "weight", TF32: "gradient", FFT: "thread", BF16: "idle"}
"""Kind of kernel -> role of its colour and marker."""


@style.styled
def roofline_plot(results, cases=None):
    """Return a figure of FLOP/s against FLOP/byte: the card's lines, and each case's fastest kernel of each kind.

    Hollow grey marks are the rivals. The bytes are those that must be moved at least, so a point can only lie below
    the lines: at the slope if memory is the limit, at the ceiling if arithmetic is. Transforms do fewer operations than
    the direct convolution, whose are drawn.

    Parameters
    ----------
    results : dict
        What a results/gpu.<device>.json holds.
    cases : sequence of str, optional
        Names of cases; default: all that compute.

    Raises
    ------
    ValueError
        If the card is not in the table of devices, or nothing was measured.
    """
    roof = roof_of(results["machine"]["gpu"])
    if roof is None:
        raise ValueError(f"{results['machine']['gpu']!r} is not in the table of devices, so its lines are not known.")
    rows = [
        r for r in results["rows"] if r["flops"] > r["bytes"] and r["timings"] and (not cases or r["case"] in cases)
    ]
    require_some("the rows that compute", rows)
    fig, ax = style.new_figure(8.4, 5.2)
    _lines(ax, roof, max(r["flops"] / r["bytes"] for r in rows), {kind for r in rows for kind in r["kinds"].values()})
    seen = set()
    for row in rows:
        x = row["flops"] / row["bytes"]
        for kind, role in ROLES.items():
            if name := fastest(row, (kind,)):
                cue = style.cue(role)
                label = None if kind in seen else f"ours, {kind}"
                ax.plot(x, _speed(row, name), cue.marker, color=cue.colour, label=label)
                seen.add(kind)
        for name in row["rivals"]:
            if name in row["timings"]:
                label = None if "rival" in seen else "cuBLAS and cuDNN"
                ax.plot(x, _speed(row, name), "o", color=style.MUTED, markerfacecolor="none", label=label)
                seen.add("rival")
    ax.set(xscale="log", yscale="log", xlabel="FLOP per byte of least memory traffic", ylabel="TFLOP/s")
    ax.set_title(f"{results['machine']['gpu']}, {results['date']}")
    ax.legend(loc="lower right")
    return fig


def _speed(row, name):
    return row["flops"] / row["timings"][name]["median"] / 1e12


def _lines(ax, roof, most, kinds):
    x = np.geomspace(0.5, 2 * most, 200)
    peaks = {"float32": (roof.peak, "-"), "TF32, tensor cores": (roof.tensor_peak, "--")}
    if BF16 in kinds and roof.tensor_peak is not None:
        peaks["BF16, tensor cores"] = FASTER[BF16] * roof.tensor_peak, ":"
    for name, (peak, line) in peaks.items():
        if peak is not None:
            y = np.minimum(peak, x * roof.bandwidth) / 1e12
            ax.plot(x, y, line, color=style.INK, linewidth=1.5)
            ax.text(x[-1], y[-1] * 1.08, name, ha="right", fontsize=style.SIZE_SMALL, color=style.INK)
    ax.text(0.55, 0.55 * roof.bandwidth / 1e12 * 2.2, f"{roof.bandwidth / 1e12:g} TB/s", fontsize=style.SIZE_SMALL)
