"""What a card was measured to need, for lesson 16: a step by its parts, an image by the batch, a copy by its size.

Source: H, "Mini-Batching May be Needed to Fill GPU".
"""

from matplotlib.ticker import FuncFormatter, NullFormatter

from course_lib.streams.step_parts import PARTS, part_of_step
from course_lib.validate import require_some

from . import style
from .engine_rows import rows_picture
from .picture import picture

LOOKS = dict(zip(PARTS, ("data", "output", "idle", "gradient", "weight"), strict=True))
"""Part of a step -> role of its boxes."""


def measured_step(launches, where, shown=None):
    """Return a picture of one step, or of some of its launches: when the host enqueued each, and when its kernel ran.

    The host's times and the length of each kernel are measured. A kernel begins when it is enqueued and the one before
    is done, as `streams.two_rows` has it.

    Parameters
    ----------
    launches : list of dict
        As `python -m tools.steps` writes them: "part", "enqueued" (begin, end) and "seconds" of each.
    where : str
        The card and the date.
    shown : (int, int), optional
        The first and the last launch that are shown, larger; default: all.

    ValueError without a launch. Source: the course's own.
    """
    from course_lib.streams.launches import two_rows

    require_some("launches", launches)
    rows = two_rows([one["seconds"] for one in launches], [one["enqueued"][1] for one in launches])
    roles = [LOOKS[part_of_step(one["part"])] for one in launches]
    calls = [
        (1e6 * b, 1e6 * e, "", role) for (b, e), role in zip((o["enqueued"] for o in launches), roles, strict=True)
    ]
    kernels = [(1e6 * b, 1e6 * e, "", role) for (b, e), role in zip(rows.spans, roles, strict=True)]
    legend = [(part, LOOKS[part]) for part in PARTS if LOOKS[part] in roles]
    if shown:
        first, last = shown
        calls, kernels = calls[first : last + 1], kernels[first : last + 1]
        begin, end = calls[0][0], max(calls[-1][1], kernels[-1][1])
        says = (
            f"Launches {first + 1} to {last + 1} of {len(launches)}, larger: their calls take "
            f"{_mean(calls):.0f} µs each, their kernels {_mean(kernels):.1f}. Measured on {where}."
        )
        legend = [one for one in legend if one[1] in roles[first : last + 1]]
        return rows_picture([("launching", calls), ("kernels", kernels)], end, "A part of the same step", says,
                            unit="µs", start=begin, legend=legend)  # fmt: skip
    called = sum(e - b for b, e, *_ in calls)
    end = 1e6 * rows.end
    says = (
        f"{len(launches)} launches in {end:,.0f} µs, measured on {where}. The host is in its calls of launches for "
        f"{called:,.0f} µs, and the kernels run for {sum(e - b for b, e, *_ in kernels):,.0f} µs."
    )
    return rows_picture([("launching", calls), ("kernels", kernels)], end, "One step, launched one by one", says,
                        unit="µs", legend=legend)  # fmt: skip


def _mean(spans):
    return sum(end - begin for begin, end, *_ in spans) / len(spans)


def time_of_an_image(steps, where):
    """Return a picture of microseconds an image against the size of the batch, both axes logarithmic.

    Parameters
    ----------
    steps : dict of str to dict
        A name for each way -> {B: seconds of a step}.
    where : str
        The card and the date.

    ValueError without a way. Source: H, "Mini-Batching May be Needed to Fill GPU".
    """
    require_some("steps", steps)
    series = {name: {B: 1e6 * s / B for B, s in took.items()} for name, took in steps.items()}
    last = {name: each[max(each)] for name, each in series.items()}
    says = "; ".join(f"{name}: {each[min(each)]:,.0f} µs an image with B = {min(each)}, {last[name]:.2g} with "
                     f"B = {max(each):,}" for name, each in series.items())  # fmt: skip
    return _lines(series, "images in a batch", "µs an image", f"{says}. Measured on {where}.", lambda v, _: f"{v:,g}")


def copy_rates(copies, where):
    """Return a picture of gigabytes a second against the size of a copy.

    Parameters
    ----------
    copies : dict of str to dict
        A name for each way -> {bytes: seconds}.
    where : str
        The card and the date.

    ValueError without a way. Source: the course's own.
    """
    require_some("copies", copies)
    series = {name: {size: size / s / 1e9 for size, s in took.items()} for name, took in copies.items()}
    says = "; ".join(f"{name}: {each[max(each)]:.3g} GB/s at {_bytes(max(each))}, {each[min(each)]:.2g} at "
                     f"{_bytes(min(each))}" for name, each in series.items())  # fmt: skip
    return _lines(series, "bytes of a copy", "GB a second", f"{says}. Measured on {where}.", lambda v, _: _bytes(v))


def _bytes(size):
    size = int(size)
    for unit, name in ((2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def _lines(series, across, up, says, label):
    fig, ax = style.new_figure(6.2, 3.3)
    for k, (name, points) in enumerate(series.items()):
        cue = style.cue(k)
        ax.plot(
            list(points),
            list(points.values()),
            color=cue.colour,
            marker=cue.marker,
            linestyle=cue.linestyle,
            label=name,
        )
    ax.set(xscale="log", yscale="log", xlabel=across, ylabel=up)
    ticks = sorted({x for points in series.values() for x in points})
    ax.set_xticks(ticks)
    ax.xaxis.set_major_formatter(FuncFormatter(label))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,g}"))
    ax.legend()
    return picture(fig, alt=f"{up} against {across}. {says}", caption=says)
