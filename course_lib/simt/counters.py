"""What a launch cost: counters for each source line, and their sums.

Source: Nsight Compute's documentation, "Metrics Guide". Requests, sectors and wavefronts are the hardware's words; a
counter says what the source asks for, before a compiler merges or drops anything.
"""

from dataclasses import dataclass, field, fields


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
    shared_load_wavefronts: int = 0
    shared_load_conflicts: int = 0
    shared_store_requests: int = 0
    shared_store_wavefronts: int = 0
    shared_store_conflicts: int = 0
    """Turns that shared memory needs; conflicts are those beyond what the access needs without bank conflicts."""
    constant_load_requests: int = 0
    constant_load_wavefronts: int = 0
    """Constant memory gives one address at a time to a warp: wavefronts are the distinct addresses."""
    local_load_requests: int = 0
    local_store_requests: int = 0
    """Accesses to arrays of one thread. A compiler keeps small ones in registers, where they cost nothing."""
    atomic_requests: int = 0
    atomic_serialised: int = 0
    """Rounds beyond the first, because lanes of a warp meant the same element."""
    warp_operations: int = 0
    """Shuffles and votes, once for each warp."""
    barriers: int = 0
    flops: int = 0
    """Floating-point operations of active lanes; a fused multiply-add counts two."""
    float64_flops: int = 0
    float16_flops: int = 0

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

    @property
    def store_efficiency(self):
        """Bytes written, divided by bytes moved, in global stores."""
        return self.global_store_bytes / (32 * self.global_store_sectors) if self.global_store_sectors else 1.0


@dataclass
class Line:
    """A line of a kernel or of a device function, with what it cost. Source: the course's own."""

    function: str
    number: int
    text: str
    counters: Counters = field(default_factory=Counters)


@dataclass
class ArrayUse:
    """How often the elements of one array were touched, counted in lanes.

    Source: H, "Reuse of Data in Tiled Convolution" (the ratio that tiling raises).
    """

    name: str
    space: str
    dtype: str
    shape: tuple
    loads: int = 0
    stores: int = 0
    distinct_loaded: int = 0
    distinct_stored: int = 0
    """Elements that were loaded, or stored, at least once; in a shared array, over all blocks."""

    @property
    def reuse(self):
        """Loads of an element that was brought once: by the array's loads in global memory, by its stores in shared."""
        brought = self.distinct_loaded if self.space in ("global", "constant") else self.stores
        return self.loads / brought if brought else 0.0


@dataclass(eq=False)
class Access:
    """What the active threads of the launch's first block touched when a line first did an access.

    A wide access, such as `ld4`, counts as one of larger elements: a row of 64 float32 has 16 of them.

    Attributes
    ----------
    thread : (n,) int64 array
        The threads' numbers in their block, x fastest.
    element : (n,) int64 array
        The element each of them touched, counted row by row through `shape`.
    address : (n,) int64 array
        Its address in bytes: global memory's, or the block's shared memory's.

    Source: the course's own.
    """

    function: str
    line: int
    column: int
    array: str
    space: str
    way: str
    shape: tuple
    itemsize: int
    block: tuple
    thread: object
    element: object
    address: object
