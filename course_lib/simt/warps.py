"""What the lanes of a warp do together: shuffles, votes, matches.

Source: NVIDIA, "CUDA C++ Programming Guide", "Warp Shuffle Functions" and "Warp Vote Functions"; Numba's
documentation, "Warp intrinsics". The first argument names the lanes that must come: one bit each.
"""

import ast

import numpy as np

from course_lib.fast.compile import kernel
from course_lib.simt.functions import FUNCTIONS, function
from course_lib.simt.lanes import WARP
from course_lib.simt.values import describe, is_number
from course_lib.simt.vocabulary import register

ALL = np.int64(0xFFFFFFFF)
DTYPES = ("int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


def _call(node):
    return ast.unparse(node.func)


def _everyone(e, value):
    return np.broadcast_to(value, e.lanes.count)


def _shuffle(find):
    """Return the function that gives each lane the value of lane find(own, argument), or its own where that is None."""

    def act(e, mask, node, membermask, value, argument):
        if not is_number(value) or value.dtype.name not in DTYPES or not is_number(argument):
            raise TypeError(f"{describe(value)} cannot be shuffled; it takes numbers of 4 or 8 bytes")
        meet(e, mask, node, membermask)
        lane = e.lanes.lane.astype(np.int64)
        source, in_warp = find(lane, _everyone(e, argument).astype(np.int64))
        at = np.where(in_warp, np.arange(e.lanes.count) - lane + source, np.arange(e.lanes.count))
        _check_source(e, mask, node, lane, source, in_warp, at)
        from_lane = np.clip(at, 0, max(0, e.lanes.count - 1))
        result = _everyone(e, value)[from_lane]
        if e.machine.undefined:
            e.machine.follow_lanes(result, value, from_lane)
        return result

    return act


def _check_source(e, mask, node, lane, source, in_warp, at):
    """A lane that is read must take part: else nobody knows what it gives."""
    if mask.empty:
        return
    in_block = e.lanes.thread.astype(np.int64) - lane + source < e.lanes.threads
    there = np.ones(e.lanes.count, np.bool_) if mask.bits is None else mask.bits
    good = ~in_warp | (in_block & there[np.clip(at, 0, e.lanes.count - 1)])
    bad = np.flatnonzero(~good[mask.index])
    if bad.size:
        i = e.machine.lane_of(mask, bad[0])
        e.machine.found(
            "warp operation not reached", node.lineno,
            f"{e.lanes.name(i)} (lane {lane[i]}) takes the value of lane {source[i]}, which does not take part in "
            f"{_call(node)}.",
            "Let all lanes of the warp call it, outside of the branch, and choose afterwards whose value counts.",
            lane=i, count=bad.size, source_lane=int(source[i]),
        )  # fmt: skip


def meet(e, mask, node, membermask):
    """Count the operation; every active lane must be named, and every named lane that still runs must be active."""
    if not is_number(membermask) or membermask.dtype.kind not in "iu":
        raise TypeError(f"{describe(membermask)} is no mask; use 0xffffffff for all lanes of a warp")
    machine, lanes = e.machine, e.lanes
    machine.count(node.lineno, mask)
    if machine.counting:
        machine.counters[node.lineno].warp_operations += mask.warps
    if mask.empty:
        return
    named = _everyone(e, membermask).astype(np.int64) & 0xFFFFFFFF
    own = (named[mask.index] >> lanes.lane[mask.index]) & 1
    if not own.all():
        i = machine.lane_of(mask, int(np.argmin(own)))
        machine.found(
            "warp operation not reached", node.lineno,
            f"{lanes.name(i)} (lane {lanes.lane[i]}) calls {_call(node)} with mask {named[i]:#010x}, which does not "
            "name it.",
            "Name all lanes that come: 0xffffffff for a whole warp.", lane=i, count=int((~own.astype(bool)).sum()),
        )  # fmt: skip
    present, running = mask.ballots(np.True_), machine.running_ballots()
    warp = lanes.warp[mask.index]
    missing = named[mask.index] & running[warp] & ~present[warp]
    if missing.any():
        at = int(np.flatnonzero(missing)[0])
        i, absent = machine.lane_of(mask, at), int(missing[at])
        lane = (absent & -absent).bit_length() - 1
        machine.found(
            "warp operation not reached", node.lineno,
            f"{lanes.name(i)} waits at {_call(node)} for lane {lane} of its warp, which mask {named[i]:#010x} names "
            "and which does not come here.",
            "Move the operation out of the branch, or name only the lanes that come.", lane=i, missing_lane=lane,
        )  # fmt: skip


@function("cuda.syncwarp")
def _syncwarp(e, mask, node, membermask=ALL):
    meet(e, mask, node, membermask)
    e.machine.pass_warps(mask)


def _vote(decide):
    """Return the function that gives all lanes of a warp decide(bits where true, bits of those that came)."""

    def act(e, mask, node, membermask, predicate):
        if not is_number(predicate):
            raise TypeError(f"{describe(predicate)} is neither true nor false")
        meet(e, mask, node, membermask)
        true, present = mask.ballots(predicate != 0), mask.ballots(np.True_)
        return decide(true, present)[e.lanes.warp]

    return act


def _as_int32(bits):
    return (bits & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def _clip(lane, source, in_warp):
    return np.where(in_warp, source, lane), in_warp


FUNCTIONS |= {
    "cuda.shfl_sync": _shuffle(lambda lane, source: (source % WARP, np.ones(lane.shape, np.bool_))),
    "cuda.shfl_up_sync": _shuffle(lambda lane, n: _clip(lane, lane - n, lane - n >= 0)),
    "cuda.shfl_down_sync": _shuffle(lambda lane, n: _clip(lane, lane + n, lane + n < WARP)),
    "cuda.shfl_xor_sync": _shuffle(lambda lane, m: _clip(lane, lane ^ m, (lane ^ m) < WARP)),
    "cuda.ballot_sync": _vote(lambda true, present: _as_int32(true)),
    "cuda.all_sync": _vote(lambda true, present: true == present),
    "cuda.any_sync": _vote(lambda true, present: true != 0),
    "cuda.eq_sync": _vote(lambda true, present: (true == present) | (true == 0)),
}


@function("cuda.match_any_sync")
def _match_any(e, mask, node, membermask, value):
    same = _same(e, mask, node, membermask, value)
    return _as_int32(same)


@function("cuda.match_all_sync")
def _match_all(e, mask, node, membermask, value):
    same, present = _same(e, mask, node, membermask, value), mask.ballots(np.True_)[e.lanes.warp]
    all_same = same == present
    return _as_int32(np.where(all_same, present, 0)), all_same


def _same(e, mask, node, membermask, value):
    if not is_number(value) or value.dtype.name not in DTYPES:
        raise TypeError(f"{describe(value)} cannot be matched; it takes numbers of 4 or 8 bytes")
    meet(e, mask, node, membermask)
    bits = np.ascontiguousarray(_everyone(e, value)).view(np.uint32 if value.dtype.itemsize == 4 else np.uint64)
    active = np.ones(e.lanes.count, np.bool_) if mask.bits is None else mask.bits
    out = np.zeros(e.lanes.count, np.int64)
    _match(e.lanes.warp, e.lanes.lane, active, bits.astype(np.uint64), out)
    return out


@kernel
def _match(warp, lane, active, bits, out):
    for i in range(warp.size):
        if active[i]:
            for j in range(i - lane[i], min(i - lane[i] + 32, warp.size)):
                if warp[j] == warp[i] and active[j] and bits[j] == bits[i]:
                    out[i] |= np.int64(1) << np.int64(lane[j])


@function("cuda.activemask")
def _activemask(e, mask, node):
    e.machine.count(node.lineno, mask)
    return (mask.ballots(np.True_) & 0xFFFFFFFF).astype(np.uint32)[e.lanes.warp]


@function("cuda.lanemask_lt")
def _lanemask_lt(e, mask, node):
    return _as_int32((np.int64(1) << e.lanes.lane.astype(np.int64)) - 1)


register(FUNCTIONS)
