"""A cluster that is simulated: devices, links, sums and steps, up to 100,000 devices on a laptop.

To read it from below: `links` (what a message costs), `topology` (which links it takes), `rehearsal` (what each rank
does, in the very code of `course_lib.parallel`), `events` (all of it played, message by message, with SimPy),
`hierarchical` (a sum in two levels), `sums` (the same times by formula, where devices do the same); `workloads` (what
there is to compute), `training` (a data-parallel step), `pipeline`, `hybrid`, `stragglers` (slow and lost devices);
`calibrate` (held against measurements).

What it leaves out: protocols and congestion of real networks, routes that differ, memory that is too small. A link is a
latency and a bandwidth, or a measured curve, and messages queue.

Source: K's course plan ("parallel and distributed processing"); the modules name theirs.
"""

from course_lib.cluster.calibrate import compared
from course_lib.cluster.events import play_all_reduce
from course_lib.cluster.hybrid import hybrid_step
from course_lib.cluster.links import ETHERNET_10, ETHERNET_100, INFINIBAND, NVLINK, Link
from course_lib.cluster.sums import all_reduce_seconds
from course_lib.cluster.topology import Cluster
from course_lib.cluster.training import knee, play_step, scaling, step

__all__ = [
    "ETHERNET_10",
    "ETHERNET_100",
    "INFINIBAND",
    "NVLINK",
    "Cluster",
    "Link",
    "all_reduce_seconds",
    "compared",
    "hybrid_step",
    "knee",
    "play_all_reduce",
    "play_step",
    "scaling",
    "step",
]
