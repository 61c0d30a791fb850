"""What Hopper's rungs leave open: every choice has a name, and a launcher.

    cluster      two blocks share the larger of their tiles       band 4, 16    rows of blocks that go together, not 8
    grow         B grows as in v10; TMA does not round            flush 32 ...  products before sums leave, not 64
    one step     products of eight k are handed over one by one   apart         groups let their sums out in turns
    192          tiles of 192 rows (v13), 192 x 192 (v12)

Source: the course's own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from course_lib import gpu
from course_lib.bench.gpu.work import BF16, TF32, THREE_TF32
from course_lib.cuda.ladders.gemm.half_tma import STAGES as HALF
from course_lib.cuda.ladders.gemm.half_tma import gemm_half_tma
from course_lib.cuda.ladders.gemm.hopper_tiles import Stages, launch_float32
from course_lib.cuda.ladders.gemm.v09_3xtf32 import gemm_v09_3xtf32
from course_lib.cuda.ladders.gemm.v10_tf32 import gemm_v10_tf32
from course_lib.cuda.ladders.gemm.v11_wgmma_tf32 import gemm_v11_wgmma_tf32
from course_lib.cuda.ladders.gemm.v12_tma_tf32 import STAGES as V12
from course_lib.cuda.ladders.gemm.v12_tma_tf32 import make_gemm_v12
from course_lib.cuda.ladders.gemm.v13_tma_3xtf32 import STAGES as V13
from course_lib.cuda.ladders.gemm.v13_tma_3xtf32 import make_gemm_v13


@dataclass(frozen=True)
class Choice:
    """A way to multiply: launch(A, B, C), whose kernel is called `kernel`; A and B hold numbers of `dtype`.

    kind is that of `course_lib.bench.gpu.work`: how exact it must be. uint16 are the bits of BF16.
    """

    rung: str
    kind: str
    kernel: str
    launch: Callable
    dtype: str = "float32"

    def operand(self, numbers):
        """Return float32 numbers (rows, columns) as a device array of this choice's operands."""
        if self.dtype == "uint16":
            return gpu.to_device((numbers.view(np.uint32) >> 16).astype(np.uint16))
        return gpu.to_device(numbers.astype(self.dtype))

    def takes(self, N, K):
        """Return whether rows of these lengths begin where the rung wants them; else another one does the work."""
        return self.dtype != "float32" or N % 4 == K % 4 == 0


def _v12(stages=V12, kind="tf32", **options):
    return Choice("v12", TF32, "_gemm_v12", partial(launch_float32, partial(make_gemm_v12, **options), stages, kind,
                                                    gemm_v10_tf32))  # fmt: skip


def _v13(stages=V13, **options):
    return Choice("v13", THREE_TF32, "_gemm_v13", partial(launch_float32, partial(make_gemm_v13, **options), stages,
                                                          "float32", gemm_v09_3xtf32))  # fmt: skip


def _half(dtype, stages=HALF):
    return Choice("half", BF16, "_gemm_half", lambda A, B, C: gemm_half_tma(A, B, C, stages), dtype)


CHOICES = {
    "v11": Choice("v11", TF32, "_gemm_v11", gemm_v11_wgmma_tf32),
    "v12": _v12(),
    "v12 cluster": _v12(replace(V12, cluster=2)),
    "v12 grow": _v12(kind="float32", grows=True),
    "v12 grow cluster": _v12(replace(V12, cluster=2), "float32", grows=True),
    "v12 one step": _v12(steps=1),
    "v12 band 4": _v12(replace(V12, band=4)),
    "v12 band 16": _v12(replace(V12, band=16)),
    "v12 192 x 192": _v12(Stages(BM=192, BN=192, BK=32, STAGES=4, consumers=3)),
    "v13": _v13(),
    "v13 cluster": _v13(replace(V13, cluster=2)),
    "v13 apart": _v13(apart=True),
    "v13 flush 32": _v13(flush=32),
    "v13 flush 128": _v13(flush=128),
    "v13 flush 256": _v13(flush=256),
    "v13 band 16": _v13(replace(V13, band=16)),
    "v13 192": _v13(replace(V13, BM=192, STAGES=3)),
    "v13 192 cluster": _v13(replace(V13, BM=192, STAGES=3, cluster=2)),
    "bf16": _half("uint16"),
    "bf16 cluster": _half("uint16", replace(HALF, cluster=2)),
    "bf16 band 4": _half("uint16", replace(HALF, band=4)),
    "bf16 band 16": _half("uint16", replace(HALF, band=16)),
    "f16": _half("float16"),
    "f16 cluster": _half("float16", replace(HALF, cluster=2)),
}
"""Name -> `Choice`; the first of a rung is what it does now."""

BEFORE = {
    "v09": Choice("v09", THREE_TF32, "_gemm_v09", gemm_v09_3xtf32),
    "v10": Choice("v10", TF32, "_gemm_v10", gemm_v10_tf32),
}
"""The rungs below, to compare with."""


def of(rung):
    """Return {name: Choice} of a rung. No errors."""
    return {name: choice for name, choice in CHOICES.items() if choice.rung == rung}


def numbers(rng, rows, columns, *, whole=False, short=False):
    """Return (rows, columns) float32: normal, or whole ones of up to 8; short ones are the same in FP16 and in BF16."""
    if whole:
        return rng.integers(-8, 9, (rows, columns)).astype(np.float32)
    found = rng.standard_normal((rows, columns), np.float32)
    if short:
        found = (found.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        found[np.abs(found) < 2.0**-14] = 0  # FP16 has fewer digits there
    return found
