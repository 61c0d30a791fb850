"""What a launch cost: counters for each source line, and their sums.

Source: Nsight Compute's documentation, "Metrics Guide". Requests, sectors and wavefronts are the hardware's words; a
counter says what the source asks for, before a compiler merges or drops anything.
"""

from dataclasses import dataclass, fields


@dataclass
class Counters:
    """Counts of one line, or of all lines. All are whole numbers; bytes are bytes.

    Source: Nsight Compute's documentation, "Metrics Guide".
    """

    instructions: int = 0
    """Operations issued, once for each warp with an active lane."""
    lanes: int = 0
    """Active lanes of these, added up."""
    branches: int = 0
    divergent_branches: int = 0
    """Warps that reached a branch, and those of them that went both ways."""
    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_bytes: int = 0
    """Bytes that lanes asked for, each element of a warp once."""
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_bytes: int = 0
    shared_load_requests: int = 0
    shared_load_conflicts: int = 0
    shared_store_requests: int = 0
    shared_store_conflicts: int = 0
    """Wavefronts beyond what the access needs without bank conflicts."""
    barriers: int = 0
    flops: int = 0
    """Floating-point operations of active lanes; a product that is added counts two."""
    float64_flops: int = 0

    def __add__(self, other):
        return Counters(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def active_share(self):
        """The share of lanes that were active in an issued instruction, 1.0 without divergence and guards."""
        return self.lanes / (32 * self.instructions) if self.instructions else 1.0

    @property
    def load_efficiency(self):
        """Bytes asked for, divided by bytes moved, in global loads; more than 1 is not possible."""
        return self.global_load_bytes / (32 * self.global_load_sectors) if self.global_load_sectors else 1.0
