"""An occupancy calculator in the page: what an SM holds of a launch, and which limit keeps it from holding more.

Source: NVIDIA's occupancy calculator, cuda_occupancy.h of CUDA 12.9; the arithmetic is that of `estimate.occupancy`,
written once more in the page's script. A test compares the two.
"""

from course_lib import figures
from course_lib.figures import style
from course_lib.simt.estimate.devices import DEVICES, find_device
from course_lib.simt.estimate.occupancy import occupancy
from course_lib.simt.show.panel import EDGE, IDLE_FILL, WIDTH, WORKED, Panel
from course_lib.simt.show.wording import count

ACROSS, CELL = 16, 23
"""Warps of an SM in a row of the picture, and pixels of each."""

OTHER = style.tint("thread", 0.25)
"""Every second block is lighter, so that neighbours are told apart; its number stands in its first warp."""

KIB = 1024
MOST_REGISTERS, MOST_THREADS = 255, 1024


def occupancy_calculator(device="H100", threads=256, registers=32, shared_bytes=0):
    """Return a picture of an SM full of blocks; the reader moves threads, registers and shared memory of a block.

    Parameters
    ----------
    device : str or Device
        A name of `DEVICES`.
    threads, registers, shared_bytes : int
        Threads of a block (1 to 1,024), registers of a thread (1 to 255), shared memory of a block in bytes.

    Returns
    -------
    figures.Live

    Raises
    ------
    ValueError, TypeError
        As `occupancy`: an unknown device, a block that it cannot run, numbers that are no whole ones.

    Source: NVIDIA's occupancy calculator, cuda_occupancy.h of CUDA 12.9.
    """
    first = find_device(device)
    held = occupancy(first, threads, shared_bytes, registers)
    devices = [*DEVICES.values()] if first.name in DEVICES else [first]
    data = {
        "devices": [facts(d) for d in devices], "device": devices.index(first) if first in devices else 0,
        "threads": int(threads), "registers": int(registers), "shared": int(shared_bytes),
        "every": settings(threads, registers, shared_bytes),
    }  # fmt: skip
    title = "What fits into one SM at a time?"
    return figures.live("occupancy_calculator", data, title=title, static=_static(held))


def settings(threads, registers, shared_bytes):
    """Return the values that each slider offers: even steps, and what was given.

    No errors are raised. Source: the course's own.
    """
    most = max(d.shared_per_block for d in DEVICES.values())
    return {
        "threads": sorted({*range(32, MOST_THREADS + 1, 32), int(threads)}),
        "registers": sorted({*range(8, MOST_REGISTERS, 8), MOST_REGISTERS, int(registers)}),
        "shared": sorted({*range(0, most + 1, KIB), int(shared_bytes)}),
    }


def facts(d):
    """Return what `occupancy_rules.js` knows of a `Device`. No errors. Source: the course's own."""
    return {
        "name": d.name, "warps": d.warps_per_sm, "blocks": d.blocks_per_sm, "shared": d.shared_per_sm,
        "sharedBlock": d.shared_per_block, "reserved": d.shared_reserved_per_block, "sharedUnit": d.shared_granularity,
        "registers": d.registers_per_sm, "registersThread": d.registers_per_thread,
        "registerUnit": d.register_granularity, "partitions": d.partitions_per_sm,
    }  # fmt: skip


def _static(held):
    d, rows = held.device, -(-held.device.warps_per_sm // ACROSS)
    s = Panel(WIDTH, 60 + rows * CELL + 24 * len(held.limits))
    s.text(EDGE, 18, f"One SM of an {d.name}: {held.warps} of {d.warps_per_sm} warps", bold=True)
    places = [(EDGE + k % ACROSS * CELL, 28 + k // ACROSS * CELL, CELL - 3, CELL - 3) for k in range(d.warps_per_sm)]
    each = held.warps_per_block
    for even, fill in ((True, WORKED), (False, OTHER)):
        s.cells([p for k, p in enumerate(places[: held.warps]) if (k // each % 2 == 0) == even], fill=fill,
                stroke=style.COLOURS["thread"])  # fmt: skip
    s.cells(places[held.warps :], fill=IDLE_FILL, hatched=True)
    for block in range(held.blocks):
        x, y, *_ = places[block * each]
        s.text(x + CELL / 2 - 1, y + 14, block, anchor="middle")
    y = 28 + rows * CELL + 20
    s.text(EDGE, y, "Blocks that each limit allows", bold=True)
    for name, blocks in held.limits.items():
        y += 24
        binds = name in held.limited_by
        s.text(EDGE, y, name, bold=binds)
        wide = max(2, 180 * min(blocks, d.blocks_per_sm) / d.blocks_per_sm)
        s.rect(130, y - 11, wide, 14, fill="hazard" if binds else "idle", stroke="none")
        s.text(138 + wide, y, f"{blocks}{'  the limit' if binds else ''}", bold=binds)
    says = f"{d.name}, {count(held.threads, 'thread')} a block, {held.registers} registers a thread, "
    says += f"{count(held.shared_bytes, 'byte')} of shared memory: occupancy {held.share:.0%}. {held.explanation}"
    says = f"{says[0].upper()}{says[1:]}"
    return figures.picture(s, alt=says, caption=says)
