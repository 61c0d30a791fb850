"""What `course bench gpu` found, as texts: the cells of its tables, and Markdown for the README.

Source: the course's own. Everything is computed from the dict of a `results/gpu.*.json`.
"""

from course_lib.bench.gpu.promises import COMPILE, kept, trained
from course_lib.bench.gpu.roof import roof_of

HEAD = (
    "work",
    "size",
    "our fastest",
    "time",
    "speed",
    "of roofline",
    "rival",
    "its time",
    "ratio",
    "floor",
    "goal",
    "",
)


def time_text(seconds):
    """Return seconds as "1.23 ms" or "4.56 µs", three digits. No errors. Source: the course's own."""
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"


def speed_text(flops, moved, seconds):
    """Return "12.3 TFLOP/s", or "1,234 GB/s" for work with hardly an operation a byte. No errors."""
    if flops <= moved:
        return f"{moved / seconds / 1e9:,.0f} GB/s"
    return f"{flops / seconds / 1e12:.3g} TFLOP/s"


def promise_rows(report):
    """Return a tuple of texts by `HEAD` for each promise that was measured. No errors. Source: the course's own."""
    rows, roof = {row["case"]: row for row in report["rows"]}, roof_of(report["machine"]["gpu"])
    return [_promise(found, rows[found.promise.case], roof) for found in kept(report)]


def _promise(found, row, roof):
    promise = found.promise
    work = f"{promise.work}: {row['case']}"
    limits = tuple("" if limit is None else f"{limit:g}" for limit in (promise.floor, promise.goal))
    if not found.ours:
        return (work, found.size, "-", *("",) * 6, *limits, "not measured")
    ratio = "-" if found.ratio is None else f"{found.ratio:.2f}"
    error = "" if found.error_ratio is None else f", error {found.error_ratio:.2f}x"
    return (
        work, found.size, found.ours, time_text(found.seconds), speed_text(row["flops"], row["bytes"], found.seconds),
        _share(roof, row, row["kinds"][found.ours], found.seconds), found.rival,
        time_text(found.rival_seconds) if found.rival else "", ratio, *limits, found.verdict + error,
    )  # fmt: skip


def _share(roof, row, kind, seconds):
    best = roof and roof.seconds(row["flops"], row["bytes"], kind)
    return f"{best / seconds:.0%}" if best else "-"


def player_rows(report, row):
    """Return (name, kind, time ± spread, speed, of roofline, of its rival, error) for everybody of a row, as texts.

    No errors. Source: the course's own.
    """
    roof, found = roof_of(report["machine"]["gpu"]), []
    for name, timing in row["timings"].items():
        kind, seconds = row["kinds"][name], timing["median"]
        rival = None if name in row["rivals"] else row["timings"].get(row["rival"].get(kind))
        spread = 50 * (timing["upper"] - timing["lower"]) / seconds
        ratio = f"{rival['median'] / seconds:.2f}" if rival else ""
        error = f"{row['errors'][name][0]:.1e}" if name in row["errors"] else ""
        shown = "rival" if name in row["rivals"] else kind
        speed, roofline = speed_text(row["flops"], row["bytes"], seconds), _share(roof, row, kind, seconds)
        found.append((name, shown, f"{time_text(seconds)} ±{spread:.1f}%", speed, roofline, ratio, error))
    return found


def slowest(report, count=10):
    """Return (kernel, player, case, first, cached) of the kernels that compile longest, as texts. No errors."""
    right = sorted((c for c in report["compile"] if not c["failure"]), key=lambda c: -c["first"])[:count]
    return [
        (c["kernel"], c["player"], c["case"], f"{c['first']:.2f} s",
         f"{c['cached']:.3f} s" if c.get("kept", True) else "not kept")
        for c in right
    ]  # fmt: skip


def compile_verdicts(report):
    """Return [(what, longest seconds, floor, goal, kernel)] for the first time and from the disk; [] if not measured.

    No errors. Source: the course's own.
    """
    right = [c for c in report["compile"] if not c["failure"]]
    if not right:
        return []
    kept = {"first": right, "cached": [c for c in right if c.get("kept", True)] or right}
    longest = {what: max(kept[what], key=lambda c: c[what]) for what in COMPILE}
    return [(what, longest[what][what], *COMPILE[what], longest[what]["kernel"]) for what in COMPILE]


TRAINED = {
    "training": "A training step, by the host's clock",
    "epoch": "An epoch of 60,000 digits from the host's memory, by the host's clock",
}
"""What is timed of training, and how it is called."""


def training_rows(report, what="training"):
    """Return [(network and batch, {player or what is said: text})] of one of `TRAINED`. No errors.

    Source: the course's own.
    """
    steps = {n: t for n, t in report.get(what, {}).items() if isinstance(t, dict) and t and n != "failures"}
    players = list(dict.fromkeys(who for times in steps.values() for who in times))
    rows = []
    for case, times in steps.items():
        cells = {w: time_text(times[w][0]) if w in times else "-" for w in players}
        rows.append((case, cells | _trained(*trained(report, what, case))))
    return rows


def _trained(ratio, floor):
    if ratio is None:
        return {}
    kept = "" if floor is None else "floor" if ratio <= floor else "below"
    return {"ours / PyTorch's best": f"{ratio:.2f}", "at most": "" if floor is None else f"{floor:g}", "": kept}


def markdown(report):
    """Return the README's table of one card: floors, goals and what was measured. No errors.

    Source: the course's own.
    """
    machine, versions = report["machine"], report["machine"]["versions"]
    named = [
        f"{n} {versions[n]}" for n in ("numba-cuda", "numba", "torch", "nvidia-cublas", "cudnn") if _is(versions, n)
    ]
    days = sorted({report["date"], *(row["date"] for row in report["rows"] if row.get("date"))})
    lines = [
        f"**{machine['gpu']}**, driver {machine['driver']}, {', '.join(named)}; {' and '.join(days)}; medians of "
        f"{report['rounds']} rounds.",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|---|---|---" + "|---:" * 3 + "|---" + "|---:" * 4 + "|---|",
        *("| " + " | ".join(cell.replace("->", "→") for cell in row) + " |" for row in promise_rows(report)),
    ]
    for what, seconds, floor, goal, kernel in compile_verdicts(report):
        word = "goal" if seconds <= goal else "floor" if seconds <= floor else "below"
        cells = f"compiling any kernel, {what}", "slowest", f"`{kernel}`", f"{seconds:.2f} s", *("",) * 5
        lines.append("| " + " | ".join([*cells, f"{floor:g} s", f"{goal:g} s", word]) + " |")
    for what, title in TRAINED.items():
        if steps := training_rows(report, what):
            players = list(steps[0][1])
            lines += ["", f"{title}.", ""]
            lines += ["| network | " + " | ".join(players) + " |", "|---|" + "---:|" * len(players)]
            lines += [f"| {name} | " + " | ".join(times.values()) + " |" for name, times in steps]
    named = [row for row in report["rows"] if row["rival_kernels"].get("cuDNN")]
    chosen = [f"{row['case']}: {', '.join(row['rival_kernels']['cuDNN'])}" for row in named]
    if chosen:
        lines += ["", f"The kernels that cuDNN chose: {'; '.join(chosen)}.".replace("->", "→")]
    return "\n".join(lines)


def _is(versions, name):
    return versions.get(name, "not installed") != "not installed"
