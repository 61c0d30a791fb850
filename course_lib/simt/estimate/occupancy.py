"""How many blocks of a launch an SM holds at a time, and what keeps it from holding more.

Source: NVIDIA, "CUDA C++ Programming Guide", "Hardware Multithreading"; the allocation rules are those of NVIDIA's
occupancy calculator, cuda_occupancy.h of CUDA 12.9.
"""

from dataclasses import dataclass

from course_lib.simt.estimate.devices import Device, find_device
from course_lib.simt.show.wording import count
from course_lib.validate import require_count

THREADS, BLOCKS, SHARED, REGISTERS = "threads", "blocks", "shared memory", "registers"


@dataclass(frozen=True)
class Occupancy:
    """What an SM holds of a launch. `limits` is {what limits: blocks per SM that it allows}.

    Source: NVIDIA, "CUDA C++ Programming Guide", "Hardware Multithreading".
    """

    device: Device
    threads: int
    shared_bytes: int
    registers: int | None
    limits: dict[str, int]

    @property
    def blocks(self):
        """Blocks that an SM holds at a time."""
        return min(self.limits.values())

    @property
    def limited_by(self):
        """The names of what allows no more blocks: a tuple, often of one."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks)

    @property
    def warps(self):
        """Warps that an SM holds at a time."""
        return self.blocks * self.warps_per_block

    @property
    def warps_per_block(self):
        """Warps of a block; the last one may be partly empty."""
        return -(-self.threads // 32)

    @property
    def share(self):
        """Active warps divided by what the SM has room for, 0 to 1: the occupancy."""
        return self.warps / self.device.warps_per_sm

    @property
    def explanation(self):
        """One sentence: how full an SM is, and what the limit is."""
        held = f"{count(self.blocks, 'block')} of {count(self.warps_per_block, 'warp')}"
        fill = f"fill{'s' if self.blocks == 1 else ''} {self.warps} of the {self.device.warps_per_sm} warps of an SM"
        reasons = "; ".join(self._reason(name) for name in self.limited_by)
        return f"{held} {fill}; the limit is {' and '.join(self.limited_by)}: {reasons}."

    def __str__(self):
        allowed = ", ".join(f"{name} {blocks}" for name, blocks in self.limits.items())
        note = "" if self.registers else " Registers are not counted: a compiler decides how many a thread needs."
        return (
            f"{self.device.name}, occupancy {self.share:.0%}: {self.explanation} "
            f"Blocks per SM that each limit allows: {allowed}.{note}"
        )

    def _reason(self, name):
        d = self.device
        if name == THREADS:
            warps = count(self.warps_per_block, "warp")
            return f"a block of {count(self.threads, 'thread')} has {warps} and an SM room for {d.warps_per_sm}"
        if name == BLOCKS:
            return f"an SM holds at most {d.blocks_per_sm} blocks, whatever their size"
        if name == SHARED:
            return f"a block takes {shared_taken(d, self.shared_bytes):,} of {d.shared_per_sm:,} bytes"
        warps = count(warps_by_registers(d, self.registers), "warp")
        return f"with {self.registers} a thread, the {d.registers_per_sm:,} of an SM are enough for {warps}"


def occupancy(device, threads, shared_bytes=0, registers=None):
    """Return the `Occupancy` of blocks of `threads` threads on a device.

    Parameters
    ----------
    device : str or Device
        A name of `DEVICES`.
    threads : int, 1 to 1,024
        Threads of a block.
    shared_bytes : int >= 0
        Shared memory of a block, static and dynamic, bytes.
    registers : int, 1 to 255, optional
        Registers of a thread. Without it registers are left out, and the result says so.

    Raises
    ------
    ValueError
        For an unknown device, or if a block exceeds a limit of the device.
    TypeError
        If a number is not a whole number.

    Source: NVIDIA's occupancy calculator, cuda_occupancy.h of CUDA 12.9.
    """
    d = find_device(device)
    threads = require_count("threads", threads)
    if threads > d.threads_per_block:
        raise ValueError(
            f"a block has {threads:,} threads; at most {d.threads_per_block:,} are possible on every GPU. "
            "Use smaller blocks and more of them."
        )
    shared_bytes = require_count("shared_bytes", shared_bytes, minimum=0)
    if shared_bytes > d.shared_per_block:
        raise ValueError(
            f"a block takes {shared_bytes:,} bytes of shared memory; {d.name} gives a block at most "
            f"{d.shared_per_block:,}. Use smaller tiles, or a smaller dtype."
        )
    limits = {THREADS: d.warps_per_sm // -(-threads // 32), BLOCKS: d.blocks_per_sm}
    if shared_bytes:
        limits[SHARED] = d.shared_per_sm // shared_taken(d, shared_bytes)
    if registers is not None:
        limits[REGISTERS] = _blocks_by_registers(d, threads, require_count("registers", registers))
    return Occupancy(d, threads, shared_bytes, registers, limits)


def shared_taken(device, shared_bytes):
    """Return the bytes that a block with `shared_bytes` really takes: what the driver reserves added, rounded up.

    No errors. Source: cuda_occupancy.h of CUDA 12.9.
    """
    unit = device.shared_granularity
    return -(-(shared_bytes + device.shared_reserved_per_block) // unit) * unit


def warps_by_registers(device, registers):
    """Return how many warps with `registers` registers a thread find room in an SM.

    A warp's registers are rounded up, and lie all in one of the SM's partitions.

    No errors. Source: cuda_occupancy.h of CUDA 12.9.
    """
    unit = device.register_granularity
    taken = -(-32 * registers // unit) * unit
    return device.registers_per_sm // device.partitions_per_sm // taken * device.partitions_per_sm


def _blocks_by_registers(d, threads, registers):
    warps = -(-threads // 32)
    # A launch is refused as if each partition had to take equally many of a block's warps.
    needed = -(-warps // d.partitions_per_sm) * d.partitions_per_sm
    most = max(r for r in range(1, d.registers_per_thread + 1) if warps_by_registers(d, r) >= needed)
    if registers > most:
        raise ValueError(
            f"a thread takes {registers} registers; a block of {threads} threads can have at most {most} of them a "
            "thread. Use smaller blocks, or cuda.jit(max_registers=...)."
        )
    return warps_by_registers(d, registers) // warps
