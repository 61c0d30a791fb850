"""Hopper's instructions on the SIMT executor: what each does to a block's shared memory and to 128 lanes at once.

    shared_address        the byte within the block's dynamic shared memory, and the block's number in a cluster of two
    mbarrier_*            phases that are counted, by address
    tma_load              a box of a matrix, laid down with the swizzle, there at once
    wgmma_*               64 rows of `left` by the operand that a descriptor leads to (`course_lib.cuda.swizzle`)
    fences, commit, wait, registers    nothing: here all memories are one, and nothing is under way

The executor walks one side of a branch to its end before the other one. So a kernel with roles runs here as long as its
producer, which comes first in the text, never has to wait: with no more tiles than stages. A wait that would not end is
an error. Source: NVIDIA, "PTX ISA", "mbarrier", "cp.async.bulk.tensor", "wgmma.mma_async".
"""

import numpy as np

from course_lib.cuda import hopper, plain
from course_lib.cuda.swizzle import ROW, STEP, operand, swizzled
from course_lib.cuda.tensor_map import shown
from course_lib.simt.library import twin
from course_lib.simt.memory import View
from course_lib.simt.source import KernelError
from course_lib.simt.values import cast, describe, is_number
from course_lib.simt.warps import ALL, meet

GROUP, CLUSTER = 128, 2
CLUSTER_MASK = (1 << CLUSTER) - 1
RANK = 24
"""The bits of an address from here on say which block of a cluster; as everywhere here, clusters have two."""

BYTE = (1 << RANK) - 1
NOTHING = {
    "cluster_sync": 0, "mbarriers_ready": 0, "tensor_map_fence": 2, "shared_to_async": 0, "wgmma_fence": 0,
    "wgmma_commit": 0, "wgmma_wait0": 0, "wgmma_wait1": 0, **dict.fromkeys(hopper.REGISTERS, 0),
}  # fmt: skip
"""Instructions that order what is in order here -> how many values they take."""


class Barrier:
    """A barrier in shared memory: phases end when all arrivals and all bytes have come.

    Source: NVIDIA, "PTX ISA", "mbarrier".
    """

    def __init__(self, count):
        self.count = self.pending = count
        self.bytes = self.phase = 0

    def come(self, arrivals=0, expected=0, copied=0):
        """Enter arrivals, bytes that are to come, and bytes that came."""
        self.pending -= arrivals
        self.bytes += expected - copied
        if self.pending == 0 and self.bytes == 0:
            self.pending, self.phase = self.count, self.phase + 1


def _enter(name):
    return twin(getattr(hopper, name), name)


def _lanes(e, mask):
    return np.arange(e.lanes.count)[mask.index]


def _of(e, mask, value):
    """Return a value's numbers for the active lanes, as int64."""
    return np.broadcast_to(value, e.lanes.count)[mask.index].astype(np.int64)


def _addresses(e, mask, address):
    """Return the bytes within a block's shared memory that addresses name, for the active lanes."""
    return _of(e, mask, address) & BYTE


def _ranks(e):
    """Return the number of each lane's block in its cluster."""
    return ((e.lanes.first + e.lanes.block) % CLUSTER).astype(np.uint32)


def _dynamic(e):
    """Return (View, bytes (blocks, size)) of the dynamic shared memory."""
    views = [view for key, view in e.machine.shared.items() if key[0] == "dynamic"]
    if not views:
        raise TypeError("it works on dynamic shared memory: make the array with cuda.shared.array(0, ...)")
    return views[0], views[0].memory.cells.view(np.uint8).reshape(e.lanes.blocks, -1)


def _barriers(e):
    """Return {(block, address): Barrier} of this batch of blocks."""
    return e.lanes.__dict__.setdefault("barriers", {})


def _barrier(e, node, block, address):
    found = _barriers(e).get((block, address))
    if found is None:
        raise KernelError(f"no barrier was made at byte {address} of shared memory: mbarrier_init.", node.lineno)
    return found


def _nothing(name, count):
    @_enter(name)
    def act(e, mask, node, *values):
        if len(values) != count:
            raise TypeError(f"it takes {count} values, not {len(values)}")
        e.machine.count(node.lineno, mask)


for _name, _count in NOTHING.items():
    _nothing(_name, _count)


@_enter("shared_address")
def _shared_address(e, mask, node, shared, i):
    if not isinstance(shared, View) or shared.memory.space != "shared":
        raise TypeError(f"{describe(shared)} is no shared array")
    e.machine.count(node.lineno, mask)
    return (np.asarray(i, np.int64) * shared.dtype.itemsize).astype(np.uint32) | _ranks(e) << RANK


@_enter("rest_tf32")
def _rest_tf32(e, mask, node, x):
    if not is_number(x):
        raise TypeError(f"{describe(x)} is no number")
    e.machine.count(node.lineno, mask, np.dtype(np.float32))
    return plain.chop_tf32(np.atleast_1d(cast(x, np.dtype(np.float32))))[1].view(np.float32)


# --------------------------------------------------------------------------------------------- barriers


@_enter("mbarrier_init")
def _mbarrier_init(e, mask, node, barrier, count):
    e.machine.count(node.lineno, mask)
    for lane, address, n in zip(_lanes(e, mask), _addresses(e, mask, barrier), _of(e, mask, count), strict=True):
        _barriers(e)[int(e.lanes.block[lane]), int(address)] = Barrier(int(n))


@_enter("mbarrier_arrive")
def _mbarrier_arrive(e, mask, node, barrier):
    e.machine.count(node.lineno, mask)
    for lane, address in zip(_lanes(e, mask), _addresses(e, mask, barrier), strict=True):
        _barrier(e, node, int(e.lanes.block[lane]), int(address)).come(arrivals=1)


@_enter("mbarrier_arrive_at")
def _mbarrier_arrive_at(e, mask, node, barrier, rank):
    e.machine.count(node.lineno, mask)
    for lane, address, there in zip(_lanes(e, mask), _addresses(e, mask, barrier), _of(e, mask, rank), strict=True):
        place = _cluster(e, node, int(e.lanes.block[lane]))[there]
        _barrier(e, node, place, int(address)).come(arrivals=1)


@_enter("cluster_rank")
def _cluster_rank(e, mask, node):
    e.machine.count(node.lineno, mask)
    return _ranks(e)


@_enter("mbarrier_expect")
def _mbarrier_expect(e, mask, node, barrier, count):
    e.machine.count(node.lineno, mask)
    for lane, address, n in zip(_lanes(e, mask), _addresses(e, mask, barrier), _of(e, mask, count), strict=True):
        _barrier(e, node, int(e.lanes.block[lane]), int(address)).come(arrivals=1, expected=int(n))


@_enter("mbarrier_wait")
def _mbarrier_wait(e, mask, node, barrier, parity):
    e.machine.count(node.lineno, mask)
    waits = np.stack([e.lanes.block[mask.index], _addresses(e, mask, barrier), _of(e, mask, parity)], axis=1)
    for block, address, phase in np.unique(waits, axis=0):
        if _barrier(e, node, int(block), int(address)).phase & 1 == phase:
            raise KernelError(
                f"threads of block {e.lanes.first + int(block)} wait at the barrier at byte {address} for a phase that "
                "is not over. The executor walks the threads of a branch one side after the other: take sizes with no "
                "more tiles than stages.", node.lineno,
            )  # fmt: skip


# --------------------------------------------------------------------------------------------- copies


@_enter("tma_load")
def _tma_load(e, mask, node, to, maps, i, x, y, barrier):
    _load_tiles(e, mask, node, to, maps, i, x, y, barrier, lambda block: [block])


@_enter("tma_load_to_all")
def _tma_load_to_all(e, mask, node, to, maps, i, x, y, barrier, blocks):
    if np.ndim(blocks) or int(blocks) != CLUSTER_MASK:
        raise TypeError(f"its last value is {CLUSTER_MASK} here: clusters of {CLUSTER} blocks")
    _load_tiles(e, mask, node, to, maps, i, x, y, barrier, lambda block: _cluster(e, node, block))


def _cluster(e, node, block):
    """Return the blocks, in this batch, of the cluster that a block belongs to."""
    first = (e.lanes.first + block) // CLUSTER * CLUSTER - e.lanes.first
    if first < 0 or first + CLUSTER > e.lanes.blocks:
        raise KernelError("the blocks of a cluster are not walked together here: take a smaller grid.", node.lineno)
    return [first + rank for rank in range(CLUSTER)]


def _load_tiles(e, mask, node, to, maps, i, x, y, barrier, places):
    """Copy boxes, and let barriers count their bytes: in each of places(block)."""
    e.machine.count(node.lineno, mask)
    view, memory = None, None
    places_and_boxes = (*(_addresses(e, mask, v) for v in (to, barrier)), *(_of(e, mask, v) for v in (i, x, y)))
    for lane, *numbers in zip(_lanes(e, mask), *places_and_boxes, strict=True):
        if view is None:
            view, memory = _dynamic(e)
        start, address, which, column, row = map(int, numbers)
        array, kind, rows, columns = shown(int(maps.memory.cells[int(maps.offset) + which]))
        matrix, block = array.numbers, int(e.lanes.block[lane])
        box = np.zeros((rows, columns), matrix.dtype)
        part = matrix[row : row + rows, column : column + columns]
        box[: part.shape[0], : part.shape[1]] = plain.to_tf32(part).view(np.float32) if kind == "tf32" else part
        at = start + swizzled(np.arange(rows * ROW))
        size = view.dtype.itemsize
        for place in places(block):
            memory[place, at] = box.view(np.uint8).reshape(-1)
            view.memory.wrote(place * (memory.shape[1] // size) + start // size + np.arange(rows * ROW // size))
            _barrier(e, node, place, address).come(copied=box.nbytes)
        if e.machine.counting:
            e.machine.counters[node.lineno].global_load_bytes += part.nbytes


# --------------------------------------------------------------------------------------------- products


def _groups(e, mask, node):
    """Return (groups, 128) lanes; whole groups of four warps must come."""
    meet(e, mask, node, ALL)
    lanes = _lanes(e, mask)
    if lanes.size % GROUP or (e.lanes.thread[lanes] % GROUP != np.arange(lanes.size) % GROUP).any():
        raise TypeError("it takes whole groups of four warps, threads 128 n to 128 n + 127")
    return lanes.reshape(-1, GROUP)


def _cells(view, lanes, index, count):
    """Return (..., count): cells of local arrays of these lanes from `index` on."""
    if not isinstance(view, View):
        raise TypeError(f"{describe(view)} is no local array")
    return (view.offset[lanes] + int(index))[..., None] + np.arange(count)


def _result_places(n):
    """Return (row, column), each (128, n / 2): which element of 64 x n each sum of a thread is."""
    thread, k = np.arange(GROUP)[:, None], np.arange(n // 2)
    lane, warp = thread % 32, thread // 32
    return 16 * warp + lane // 4 + 8 * (k // 2 % 2), 8 * (k // 4) + 2 * (lane % 4) + k % 2


def _left_places():
    """Return (row, k), each (128, 4): which element of 64 x 8 each number of a thread is."""
    thread, h = np.arange(GROUP)[:, None], np.arange(4)
    lane, warp = thread % 32, thread // 32
    return 16 * warp + lane // 4 + 8 * (h % 2), lane % 4 + 4 * (h // 2)


def _one(values, what):
    if (values != values[0]).any():
        raise TypeError(f"the threads of a group give different numbers for {what}")
    return int(values[0])


def _multiply(e, mask, node, acc, o, n, k, left, right, keep, read):
    """Add left(group, block) (64, k) @ the right operand to the sums of each group."""
    lanes = _groups(e, mask, node)
    e.machine.count(node.lineno, mask, np.dtype(np.float32), flops=2 * 64 * n * k // GROUP)
    right, keep = (np.broadcast_to(v, e.lanes.count) for v in (right, keep))
    for group in lanes:
        block = int(e.lanes.block[group[0]])
        memory = _dynamic(e)[1][block]
        cells, place = _cells(acc, group, o, n // 2), _result_places(n)
        sums = np.zeros((64, n), np.float32)
        if _one(keep[group], "keep"):
            sums[place] = acc.memory.cells[cells]
        product = left(group, memory).astype(np.float64) @ read(memory, _one(right[group], "the descriptor"))
        acc.memory.cells[cells] = _toward_zero(product + sums)[place]
        acc.memory.wrote(cells.reshape(-1))


def _toward_zero(exact):
    """Round to float32 as tensor cores do, by cutting off."""
    rounded = exact.astype(np.float32)
    too_far = np.abs(rounded.astype(np.float64)) > np.abs(exact)
    return np.where(too_far, np.nextafter(rounded, np.float32(0)), rounded)


def _tf32(numbers):
    """The machine looks at the highest 19 bits only."""
    return (numbers.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def _wgmma_tf32(n):
    @_enter(f"wgmma_tf32_n{n}")
    def act(e, mask, node, acc, o, r, i, right, keep):
        def left(group, memory):
            found = np.zeros((64, 8), np.float32)
            found[_left_places()] = _tf32(r.memory.cells[_cells(r, group, i, 4)])
            return found

        def read(memory, number):
            return _tf32(operand(memory, number, n, np.float32)).astype(np.float64)

        _multiply(e, mask, node, acc, o, n, 8, left, right, keep, read)


def _wgmma_16(kind, n):
    def widened(numbers):
        if kind == "f16":
            return numbers.view(np.float16).astype(np.float64)
        return (numbers.astype(np.uint32) << 16).view(np.float32).astype(np.float64)

    @_enter(f"wgmma_{kind}_n{n}")
    def act(e, mask, node, acc, o, left, right, keep):
        first = np.broadcast_to(left, e.lanes.count)

        def read_left(group, memory):
            return widened(operand(memory, _one(first[group], "the left descriptor"), 64, np.uint16)).T

        def read(memory, number):
            return widened(operand(memory, number, n, np.uint16, transposed=True))

        _multiply(e, mask, node, acc, o, n, STEP // 2, read_left, right, keep, read)


for _n in hopper.TF32_WIDTHS:
    _wgmma_tf32(_n)
for _n in hopper.WIDTHS:
    for _kind in ("f16", "bf16"):
        _wgmma_16(_kind, _n)
