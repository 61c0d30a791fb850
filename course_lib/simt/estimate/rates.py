"""What a card does in a clock and how long it waits: from its microbenchmarks, one place for each constant.

`RATES` has the cards that were measured; for another card nothing is predicted. Written by
`python -m tools.microbench.rates`, from results/microbench.<device>.json, into `measured_rates`.

Source: tools/microbench.
"""

from dataclasses import dataclass

from course_lib.simt.estimate.devices import find_device
from course_lib.simt.estimate.measured_rates import MEASURED


@dataclass(frozen=True)
class Rates:
    """The constants of a card. Clocks are those of its boost clock; "in a clock" means of the whole card.

    Attributes
    ----------
    device, source : str
        The name in `DEVICES`; the file, its date, the driver.
    launch : float
        Seconds from a launch to the next, of an empty kernel.
    block : dict of int to float
        {threads: clocks of an SM that an empty block takes}: blocks are handed out one after the other.
    turn : dict of int to float
        {threads: clocks from an empty block to the next one where an SM has room for one only}.
    dram_read, dram_write : float
        Clocks of an SM that a sector takes.
    l2_sector, l2_line : float
        Clocks of an SM that a sector and a further line take which a load brings from L2.
    l2_write : float
        Clocks of an SM for a sector that is written whole.
    partial, partial_beyond : float
        Clocks of an SM for a sector that is written in part, where the array fits into L2 and where it does not.
    shared_wavefront, l1_wavefront, l1_line : float
        Clocks of an SM.
    shared_latency, l1_latency, l2_latency, dram_latency, shuffle_latency : float
        Clocks, the arithmetic of the address included.
    fma, imad, float64, tensor, shuffle : float
        Clocks of an SM that an instruction of a warp takes.
    barrier : dict of int to float
        {threads: clocks that a barrier takes a block that has an SM for itself}.
    barrier_busy : dict of int to float
        {threads: clocks of an SM for a barrier of a block, where it has as many blocks as it can hold}.
    atomic_same, atomic_apart, atomic_shared : float
        Clocks of the whole card for a request whose lanes, and all warps, mean one element; of an SM for one whose
        lanes mean neighbours, and for a round in shared memory.

    Source: tools/microbench.
    """

    device: str
    source: str
    launch: float
    block: dict
    turn: dict
    dram_read: float
    dram_write: float
    l2_sector: float
    l2_line: float
    l2_write: float
    partial: float
    partial_beyond: float
    shared_wavefront: float
    l1_wavefront: float
    l1_line: float
    shared_latency: float
    l1_latency: float
    l2_latency: float
    dram_latency: float
    shuffle_latency: float
    fma: float
    imad: float
    float64: float
    tensor: float
    shuffle: float
    barrier: dict
    barrier_busy: dict
    atomic_same: float
    atomic_apart: float
    atomic_shared: float


RATES = {name: Rates(**values) for name, values in MEASURED.items()}
"""By the device's name in `DEVICES`."""


def rates_of(device):
    """Return the `Rates` of a device, None where nobody measured it; ValueError for an unknown one.

    Source: tools/microbench.
    """
    return RATES.get(find_device(device).name)


def by_size(table, threads):
    """Return the entry for the smallest size that is not below `threads`; the largest one's beyond. No errors."""
    sizes = sorted(table)
    return table[next((n for n in sizes if n >= threads), sizes[-1])]
