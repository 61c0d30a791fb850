"""What a tiled matrix product loads, needs and can reach, from the sizes of its tiles alone.

A block computes BM x BN elements of C and moves along K in steps of BK; a thread computes TM x TN of them in registers.
Source: H, "Tiled Matrix Multiplication" (reuse by tiles) and "Strategies for Lab 7", 4 (joint register-shared tiling);
Williams, Waterman, Patterson, "Roofline" (2009).
"""

from dataclasses import dataclass
from functools import cached_property

from course_lib.simt.estimate.devices import DEVICES, Device, find_device
from course_lib.simt.estimate.occupancy import occupancy
from course_lib.simt.estimate.roofline import roofline
from course_lib.validate import require_count

BLOCK, DEPTH, THREAD = (8, 16, 32, 64, 128, 256), (8, 16, 32, 64, 128), (1, 2, 4, 8, 16)
"""The sizes on offer: of BM and BN, of BK, of TM and TN."""

OWN_REGISTERS, ON_THE_WAY = 27, 16
"""Registers for addresses and counters, and the most numbers on their way into shared memory at a time.

Chosen so that the estimate, rounded up as registers are given out, is what the compiler takes for v02 to v05 of the
ladder; a test says so.
"""

REFUSALS = ("tile", "threads", "shared memory", "registers", "launch")
"""Why a choice is impossible, in the order in which it is looked at."""


@dataclass(frozen=True)
class ProductTile:
    """One choice of tiles for C = A @ B, A (M, K), B (K, N), float32, on a device.

    With `shared` a block brings its tiles of A and B into shared memory, and its threads read them there. Without it
    each thread loads what it needs from global memory, so only its own TM x TN outputs share a loaded number.

    Source: H, "Strategies for Lab 7", 4 (joint register-shared tiling).
    """

    M: int
    N: int
    K: int
    BM: int
    BN: int
    BK: int
    TM: int
    TN: int
    shared: bool
    device: Device

    @property
    def threads(self):
        """Threads of a block."""
        return self.BM * self.BN // (self.TM * self.TN)

    @property
    def blocks(self):
        """Blocks of the grid."""
        return -(-self.M // self.BM) * -(-self.N // self.BN)

    @property
    def uses(self):
        """(multiply-adds for one loaded number of A, the same of B): the reuse of a load from global memory."""
        return (self.BN, self.BM) if self.shared else (self.TN, self.TM)

    @property
    def global_loads(self):
        """Numbers that the threads ask global memory for; what the edges guard is not asked for."""
        of_a, of_b = self.uses
        return self.M * self.K * -(-self.N // of_a) + self.K * self.N * -(-self.M // of_b)

    @property
    def flops(self):
        """Floating-point operations, a product and a sum for each multiply-add."""
        return 2 * self.M * self.N * self.K

    @property
    def intensity(self):
        """FLOP for each byte asked of global memory; the store of C is left out."""
        return self.flops / (4 * self.global_loads)

    @property
    def loads_per_product(self):
        """Numbers that a thread reads, from shared memory or straight from global, for each multiply-add."""
        return (self.TM + self.TN) / (self.TM * self.TN)

    @property
    def shared_bytes(self):
        """Shared memory of a block, without padding."""
        return 4 * self.BK * (self.BM + self.BN) if self.shared else 0

    @property
    def accumulators(self):
        """Registers of a thread that hold its sums."""
        return self.TM * self.TN

    @property
    def registers(self):
        """Registers of a thread, an estimate: sums, TM + TN operands, what is on its way, and `OWN_REGISTERS`."""
        brought = -(-self.BK * (self.BM + self.BN) // self.threads) if self.shared else 0
        return self.accumulators + self.TM + self.TN + min(ON_THE_WAY, brought) + OWN_REGISTERS

    @property
    def load_ceiling(self):
        """The share of the arithmetic peak that the loads of operands allow, 0 to 1.

        A model: an SM serves one load of a warp in a clock and does `float32_per_clock` / 32 multiply-adds of a warp.
        """
        return min(1.0, 32 / (self.device.float32_per_clock * self.loads_per_product))

    @property
    def refused(self):
        """(one of `REFUSALS`, the reason in a sentence), or None where the choice is possible."""
        d = self.device
        if self.TM > self.BM or self.TN > self.BN:
            return "tile", (
                f"A thread's {self.TM} x {self.TN} outputs do not fit into a block's {self.BM} x {self.BN}: choose TM "
                "and TN no larger than BM and BN."
            )
        if self.threads > d.threads_per_block:
            return "threads", (
                f"{self.BM} x {self.BN} outputs at {self.TM} x {self.TN} a thread are {self.threads:,} threads; a "
                f"block has at most {d.threads_per_block:,}. Give a thread more outputs."
            )
        if self.shared_bytes > d.shared_per_block:
            return "shared memory", (
                f"The tiles take {self.shared_bytes:,} bytes of shared memory; a block of the {d.name} gets at most "
                f"{d.shared_per_block:,}. Choose a smaller BK."
            )
        if self.registers > d.registers_per_thread:
            return "registers", (
                f"A thread would need about {self.registers} registers; it has at most {d.registers_per_thread}, and "
                "the compiler would keep the rest in slow local memory. Choose a smaller TM or TN."
            )
        try:
            occupancy(d, self.threads, self.shared_bytes, self.registers)
        except ValueError as error:
            return "launch", f"{str(error)[0].upper()}{str(error)[1:]}"
        return None

    @cached_property
    def held(self):
        """The `Occupancy` of this choice; ValueError where it is refused."""
        return occupancy(self.device, self.threads, self.shared_bytes, self.registers)

    @property
    def waves(self):
        """How many times the card is filled with blocks, a fraction: blocks by what all SMs hold at a time."""
        return self.blocks / (self.device.sms * self.held.blocks)

    @property
    def attainable(self):
        """FLOP/s under both ceilings, if DRAM had to deliver every request: caches make it better."""
        roof = roofline(self.device)
        return min(float(roof.attainable(self.intensity)), self.load_ceiling * roof.peak)


def product_tile(M, N, K, *, BM=32, BN=32, BK=32, TM=1, TN=1, shared=True, device="H200"):
    """Return the `ProductTile` of these sizes.

    Parameters
    ----------
    M, N, K : int
        A (M, K), B (K, N), C (M, N).
    BM, BN, BK, TM, TN : int
        From `BLOCK`, `DEPTH` and `THREAD`: powers of two, so that tiles divide each other.
    shared : bool
        Whether tiles are staged in shared memory.
    device : str or Device
        A name of `DEVICES`, in capitals or not.

    Raises
    ------
    ValueError, TypeError
        A size that is no whole number above 0 or is not on offer; an unknown device.

    Source: H, "Strategies for Lab 7", 4 (joint register-shared tiling).
    """
    M, N, K = (require_count(name, value) for name, value in (("M", M), ("N", N), ("K", K)))
    offers = {"BM": (BM, BLOCK), "BN": (BN, BLOCK), "BK": (BK, DEPTH), "TM": (TM, THREAD), "TN": (TN, THREAD)}
    for name, (value, allowed) in offers.items():
        if value not in allowed:
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(str, allowed))}.")
    return ProductTile(M, N, K, BM, BN, BK, TM, TN, bool(shared), named_device(device))


def named_device(device):
    """Return `find_device(device)`, with names in capitals or not.

    Raises ValueError for a name that is not in the table. Source: the course's own.
    """
    if isinstance(device, str):
        device = next((name for name in DEVICES if name.casefold() == device.casefold()), device)
    return find_device(device)


def ladder_tiles():
    """Return {name: sizes} of the ladder's lower rungs, read from the rungs themselves. No errors.

    Source: the course's own.
    """
    from course_lib.cuda.ladders.gemm import v02_coalesced as v02
    from course_lib.cuda.ladders.gemm import v03_smem_tiled as v03
    from course_lib.cuda.ladders.gemm import v04_register_tile_1d as v04
    from course_lib.cuda.ladders.gemm import v05_register_tile_2d as v05

    return {
        "v02 coalesced": dict(BM=v02.BLOCK[1], BN=v02.BLOCK[0], BK=8, TM=1, TN=1, shared=False),
        "v03 tiles": dict(BM=v03.T, BN=v03.T, BK=v03.T, TM=1, TN=1, shared=True),
        "v04 column": dict(BM=v04.BM, BN=v04.BN, BK=v04.BK, TM=v04.TM, TN=1, shared=True),
        "v05 square": dict(BM=v05.BM, BN=v05.BN, BK=v05.BK, TM=v05.TM, TN=v05.TN, shared=True),
    }
