"""Six NVIDIA GPUs as data: what an SM holds, what it does in a clock, and how fast the memory is.

Source: limits of an SM, NVIDIA, "CUDA C++ Programming Guide", "Compute Capabilities" (technical specifications, shared
memory capacity), and the header cuda_occupancy.h of CUDA 12.9 (blocks per SM, allocation units). Operations per clock,
NVIDIA, "CUDA C++ Best Practices Guide", "Throughput of Native Arithmetic Instructions". Sizes, clocks and bandwidths,
the data sheet or architecture paper named at each device. Peaks are computed here, never typed.
"""

from dataclasses import dataclass

KIB, MIB = 1024, 1024**2


@dataclass(frozen=True)
class Device:
    """A GPU. Sizes are bytes, the clock is GHz (boost), bandwidth is GB/s (10^9 bytes).

    Source: see the module, and the comment at each device.
    """

    name: str
    model: str
    """Which of several products of this name is meant."""
    compute_capability: tuple[int, int]
    sms: int
    clock: float
    float32_per_clock: int
    float64_per_clock: int
    float16_per_clock: int
    """Results of an SM in a clock, of additions, products, or both as one fused operation; without tensor cores."""
    threads_per_sm: int
    blocks_per_sm: int
    shared_per_sm: int
    shared_reserved_per_block: int
    """What the driver takes from each block's share since compute capability 8.0."""
    shared_granularity: int
    """Shared memory is given out in multiples of this."""
    memory_bytes: float
    bandwidth: float
    l2_bytes: int
    l2_per_clock: float | None
    """Bytes that the L2 cache delivers in a clock; None where NVIDIA states nothing and we know no measurement."""
    # The same since compute capability 7.0, so the same for all devices here.
    threads_per_block: int = 1024
    shared_per_block_static: int = 48 * KIB
    registers_per_sm: int = 65_536
    registers_per_thread: int = 255
    register_granularity: int = 256  # registers, given out to a whole warp
    partitions_per_sm: int = 4  # each with a quarter of the registers and a scheduler of its own
    instructions_per_clock: int = 4  # of warps, per SM: one by each scheduler
    banks: int = 32  # of shared memory, 4 bytes wide; one wavefront of 128 bytes in a clock

    @property
    def warps_per_sm(self):
        """Warps that an SM holds at a time."""
        return self.threads_per_sm // 32

    @property
    def shared_per_block(self):
        """The most shared memory of a block, bytes: dynamic, and asked for by the launcher (opt-in)."""
        return self.shared_per_sm - self.shared_reserved_per_block

    @property
    def float32_peak(self):
        """Floating-point operations in a second, float32; a fused product and sum counts two."""
        return self._peak(self.float32_per_clock)

    @property
    def float64_peak(self):
        """Floating-point operations in a second, float64."""
        return self._peak(self.float64_per_clock)

    @property
    def float16_peak(self):
        """Floating-point operations in a second, float16, two in a register; without tensor cores."""
        return self._peak(self.float16_per_clock)

    @property
    def l2_bandwidth(self):
        """GB/s out of the L2 cache at the boost clock, or None."""
        return None if self.l2_per_clock is None else self.l2_per_clock * self.clock

    def _peak(self, per_clock):
        return 2 * self.sms * per_clock * self.clock * 1e9


DEVICES = {
    device.name: device
    for device in (
        # NVIDIA T4 data sheet (2,560 cores, 8.1 TFLOPS, 16 GB, 320 GB/s); clock and 4 MB of L2: Jia et al., "Dissecting
        # the NVidia Turing T4 GPU via Microbenchmarking" (2019). 7.5 of the guide: 16 blocks, 1,024 threads, 64 KB.
        Device(
            "T4", "T4 16 GB PCIe (TU104)", (7, 5), sms=40, clock=1.590,
            float32_per_clock=64, float64_per_clock=2, float16_per_clock=128,
            threads_per_sm=1024, blocks_per_sm=16,
            shared_per_sm=64 * KIB, shared_reserved_per_block=0, shared_granularity=256,
            memory_bytes=16e9, bandwidth=320, l2_bytes=4 * MIB, l2_per_clock=None,
        ),
        # NVIDIA, "Tesla V100 GPU Architecture" (2017), table 1: 80 SMs, 1,530 MHz, 15.7 TFLOPS, 900 GB/s, 6,144 KB of
        # L2. Bytes per clock of L2: NVIDIA, "A100 Tensor Core GPU Architecture", which compares the two.
        Device(
            "V100", "V100 16 GB SXM2 (GV100)", (7, 0), sms=80, clock=1.530,
            float32_per_clock=64, float64_per_clock=32, float16_per_clock=128,
            threads_per_sm=2048, blocks_per_sm=32,
            shared_per_sm=96 * KIB, shared_reserved_per_block=0, shared_granularity=256,
            memory_bytes=16e9, bandwidth=900, l2_bytes=6 * MIB, l2_per_clock=2048,
        ),
        # NVIDIA, "A100 Tensor Core GPU Architecture" (2020), table 4: 108 SMs, 1,410 MHz, 19.5 TFLOPS, 40,960 KB of L2
        # with 5,120 bytes per clock. A100 80 GB data sheet (SXM): 80 GB, 2,039 GB/s.
        Device(
            "A100", "A100 80 GB SXM4 (GA100)", (8, 0), sms=108, clock=1.410,
            float32_per_clock=64, float64_per_clock=32, float16_per_clock=256,
            threads_per_sm=2048, blocks_per_sm=32,
            shared_per_sm=164 * KIB, shared_reserved_per_block=KIB, shared_granularity=128,
            memory_bytes=80e9, bandwidth=2039, l2_bytes=40 * MIB, l2_per_clock=5120,
        ),
        # NVIDIA, "H100 Tensor Core GPU Architecture" 1.04 (2023), table 3, SXM5: 132 SMs, 50 MB of L2, 1,980 MHz
        # without tensor cores. H100 data sheet (SXM): 67 TFLOPS, 80 GB, 3.35 TB/s. NVIDIA states no rate of its L2;
        # 4,472 bytes per clock were measured on an H800 (the same GH100): Luo et al., "Benchmarking and Dissecting the
        # Nvidia Hopper GPU Architecture" (2024), table V.
        Device(
            "H100", "H100 80 GB HBM3 SXM5 (GH100)", (9, 0), sms=132, clock=1.980,
            float32_per_clock=128, float64_per_clock=64, float16_per_clock=256,
            threads_per_sm=2048, blocks_per_sm=32,
            shared_per_sm=228 * KIB, shared_reserved_per_block=KIB, shared_granularity=128,
            memory_bytes=80e9, bandwidth=3350, l2_bytes=50 * MIB, l2_per_clock=4472.3,
        ),
        # NVIDIA H200 data sheet (SXM): 67 TFLOPS, 141 GB, 4.8 TB/s; the chip is the H100's. A card's driver
        # (580.159.04) reports 132 SMs, 1,980 MHz, 62,914,560 bytes of L2, and the limits of an SM below.
        Device(
            "H200", "H200 141 GB HBM3e SXM5 (GH100)", (9, 0), sms=132, clock=1.980,
            float32_per_clock=128, float64_per_clock=64, float16_per_clock=256,
            threads_per_sm=2048, blocks_per_sm=32,
            shared_per_sm=228 * KIB, shared_reserved_per_block=KIB, shared_granularity=128,
            memory_bytes=141e9, bandwidth=4800, l2_bytes=60 * MIB, l2_per_clock=4472.3,
        ),
        # NVIDIA, "Ada GPU Architecture" (2022), appendix A: 128 SMs, 2,520 MHz, 82.6 TFLOPS (float16 the same), float64
        # 1/64 of it, 24 GB GDDR6X, 1,008 GB/s, 73,728 KB of L2. 8.9 of the guide: 24 blocks, 1,536 threads, 100 KB.
        Device(
            "RTX 4090", "GeForce RTX 4090 24 GB (AD102)", (8, 9), sms=128, clock=2.520,
            float32_per_clock=128, float64_per_clock=2, float16_per_clock=128,
            threads_per_sm=1536, blocks_per_sm=24,
            shared_per_sm=100 * KIB, shared_reserved_per_block=KIB, shared_granularity=128,
            memory_bytes=24e9, bandwidth=1008, l2_bytes=72 * MIB, l2_per_clock=None,
        ),
    )
}  # fmt: skip
"""The devices by name. H100 and H200 are the SXM5 modules, A100 is the SXM4 module with 80 GB."""


def find_device(device):
    """Return the `Device` of this name; a `Device` is returned as it is.

    Raises
    ------
    ValueError
        For a name that is not in the table; the message lists the names.

    Source: the course's own.
    """
    if isinstance(device, Device):
        return device
    if device not in DEVICES:
        raise ValueError(f"{device!r} is not in the table of devices; it has {', '.join(DEVICES)}.")
    return DEVICES[device]
