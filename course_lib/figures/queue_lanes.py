"""Commands of OpenCL queues over time, drawn from the times of their events, for lesson 19.

Source: Khronos, "The OpenCL Specification", "Profiling Operations on Memory Objects and Kernels".
"""

from course_lib.simt.show.panel import EDGE, WIDTH, Panel
from course_lib.validate import require_some

from . import style
from .live import live
from .picture import picture


def early(bars):
    """Return the labels of bars that began before the bar ahead of them in their lane had ended. No errors.

    bars: dicts with label, lane, start and end, in the order in which they were queued. Source: the course's own.
    """
    ends, found = {}, []
    for bar in bars:
        if bar["start"] < ends.get(bar["lane"], float("-inf")):
            found.append(bar["label"])
        ends[bar["lane"]] = bar["end"]
    return found


def queue_timelines(queues, title="When did each command run?"):
    """Return a figure with a line of time for each of several queues; buttons choose one.

    Parameters
    ----------
    queues : dict of str to list of dict
        Of each queue its commands in the order in which they were queued: label, lane, start and end, in seconds.

    Raises
    ------
    ValueError
        If there is no queue, or one without commands.

    Source: the course's own.
    """
    require_some("the queues", queues)
    told = [_told(name, bars) for name, bars in queues.items()]
    lanes = list(dict.fromkeys(bar["lane"] for queue in told for bar in queue["bars"]))
    most = max(bar["end"] for queue in told for bar in queue["bars"])
    static = _static(told[0], lanes, most)
    return live("queue_timelines", {"queues": told, "lanes": lanes, "most": most}, title=title, static=static)


def _told(name, bars):
    require_some(f"the commands of {name!r}", bars)
    late = early(bars)
    ms = [
        {"label": b["label"], "lane": b["lane"], "start": round(1e3 * b["start"], 3), "end": round(1e3 * b["end"], 3),
         "early": b["label"] in late}
        for b in bars
    ]  # fmt: skip
    end, busy = max(b["end"] for b in ms), sum(b["end"] - b["start"] for b in ms)
    side = busy / end
    how = "one after the other" if side < 1.1 else f"{side:.1f} at a time, on average"
    says = f"{name}: {len(ms)} commands, {how}; all are done after {end:.0f} ms."
    if late:
        says += f" {' and '.join(late)} began before what {'they' if len(late) > 1 else 'it'} needed was there."
    return {"name": name, "bars": ms, "wrong": bool(late), "says": says}


def _static(queue, lanes, most):
    s, left, high = Panel(WIDTH, 24 + 34 * len(lanes) + 30), 64, 34

    def at(ms):
        return left + ms / most * (WIDTH - left - EDGE)

    for k, lane in enumerate(lanes):
        s.text(EDGE, 12 + k * high + 17, f"chain {lane}")
    for bar in queue["bars"]:
        y = 12 + lanes.index(bar["lane"]) * high
        fill = style.tint("hazard" if bar["early"] else "thread" if bar["label"].endswith("1") else "data", 0.45)
        s.rect(at(bar["start"]), y, max(1, at(bar["end"]) - at(bar["start"])), 26, fill=fill)
        s.text((at(bar["start"]) + at(bar["end"])) / 2, y + 17, bar["label"], anchor="middle", bold=True)
    end = max(bar["end"] for bar in queue["bars"])
    s.text(EDGE, 24 + high * len(lanes) + 12, f"from 0 to {end:.0f} ms after the first command was queued")
    bars = ", ".join(f"{b['label']} from {b['start']:.0f} to {b['end']:.0f} ms" for b in queue["bars"])
    return picture(s, alt=f"{queue['says']} {bars}.", caption=queue["says"])
