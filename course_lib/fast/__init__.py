"""The same names as `course_lib.reference`, faster on a CPU: `from course_lib import fast as ops`.

Only what a measurement showed to pay is written again here: convolution, pooling, ReLU, dropout, Adam, rounding to
small formats, and matrix products that do not wait for idle threads. Everything else is the reference's own function.
`course bench cpu` measures most of both.

Three ideas carry it. The image number counts fastest in memory (`layout`), so that one instruction works
on the same pixel of 8 or 16 images. Kernels keep several sums in registers while they walk over the input
(`conv2d_kernels`). And large work is shared among threads (`threads`), each sum by one thread alone, so
that equal input gives equal bits whatever the number of threads. (Only a matrix product that NumPy shares out,
outside of `nn.train`, may differ in its last bits from the same one with another number of threads.)
"""

from course_lib.reference import *  # noqa: F403  everything first, then what is replaced

# isort: split
import types as _types

from course_lib.fast.activations import leaky_relu_backward, leaky_relu_forward, relu_backward, relu_forward
from course_lib.fast.adam import adam_step
from course_lib.fast.compile import compile_seconds
from course_lib.fast.conv2d import conv2d_backward, conv2d_forward
from course_lib.fast.dense import dense_backward, dense_forward
from course_lib.fast.dropout import dropout_backward, dropout_forward
from course_lib.fast.pooling import (
    average_pool_backward,
    average_pool_forward,
    max_pool_backward,
    max_pool_forward,
    subsample_backward,
    subsample_forward,
)
from course_lib.fast.precision import round_to
from course_lib.fast.products import one_blas_thread
from course_lib.fast.threads import set_threads, threads

__all__ = sorted(n for n, v in globals().items() if not n.startswith("_") and not isinstance(v, _types.ModuleType))
