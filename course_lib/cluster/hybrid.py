"""Pipelines side by side: a network in p stages, and r such pipelines that share a batch.

The devices of a pipeline are neighbours. When all its micro-batches are through, a stage's gradients are summed over
all pipelines, and the p sums of a host's stages share its link to the others.

Source: D. Narayanan et al. (2021), "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM".
"""

from dataclasses import dataclass

import numpy as np

from course_lib.cluster.pipeline import ends
from course_lib.cluster.sums import levels_seconds
from course_lib.cluster.workloads import BACKWARD
from course_lib.validate import require_count


@dataclass(frozen=True)
class HybridStep:
    """One step.

    Attributes
    ----------
    seconds : float
    compute : float
        What each device would need for its share, without any waiting.
    pipeline, sums : float
        Seconds until the slowest pipeline is through, and of the sums after it.

    Source: the course's own.
    """

    seconds: float
    compute: float
    pipeline: float
    sums: float

    @property
    def efficiency(self):
        """What share of the step a device works."""
        return self.compute / self.seconds


def hybrid_step(cluster, workload, stages, rows, micro_batches, *, row_bytes=0, schedule="1f1b", slowness=None):
    """Return a step of devices / stages pipelines with `rows` rows each, as `HybridStep`.

    The work is cut evenly among the stages, whatever the layers are: a lower bound of what a real cut takes.

    Parameters
    ----------
    cluster : Cluster
    workload : Workload
    stages : int
        A divisor of the devices of a host, so that a pipeline lies in one.
    rows : int
        Of each pipeline in a step.
    micro_batches : int
        A divisor of rows.
    row_bytes : int
        Of one row's activations between stages.
    schedule : "gpipe" or "1f1b"
    slowness : (devices,) array, optional
        How many times as long as usual each device computes.

    Raises
    ------
    TypeError, ValueError
        If sizes do not divide each other as said, or slowness has another length.

    Source: Narayanan et al. (2021).
    """
    n, m, p = cluster.devices, require_count("micro_batches", micro_batches), require_count("stages", stages)
    h = min(cluster.per_host, n)
    if h % p or n % h:
        raise ValueError(f"{p} stages, hosts of {h}, {n} devices; stages must divide a host, and hosts be full.")
    if require_count("rows", rows) % m:
        raise ValueError(f"{rows} rows in {m} micro-batches; micro_batches must divide rows.")
    passes = workload.compute(rows // m) / p
    hop = cluster.inside.seconds(rows // m * row_bytes) if row_bytes and p > 1 else 0.0
    slow = None if slowness is None else _rows_of(slowness, n).reshape(n // p, p)
    through = float(
        ends(p, m, (1 - BACKWARD) * passes, BACKWARD * passes, hop=hop, schedule=schedule, slowness=slow).max()
    )
    update, replicas = workload.update / p, n // p
    together = h // p
    sums = levels_seconds(cluster, workload.nbytes / p, together, n // h, rings=p) if replicas > 1 else 0.0
    return HybridStep(through + sums + update, m * passes + update, through, sums)


def _rows_of(slowness, n):
    slowness = np.asarray(slowness, float)
    if slowness.shape != (n,):
        raise ValueError(f"slowness is {slowness.shape}; with {n} devices it must be ({n},), one for each.")
    return slowness
