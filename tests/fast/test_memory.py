"""Peak memory of training, and of one large image: measured in a process of its own (`pytest -s` shows the MB)."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="peak memory is read from /proc/self/status, which Linux has"
)

BACKENDS = pytest.mark.parametrize("backend", ["reference", "fast"])

# VmHWM is the peak of this program alone; ru_maxrss would begin with that of the process which started it.
MEASURE = """
import numpy as np
from course_lib import fast, nn, reference

def megabytes(what):
    for line in open("/proc/self/status"):
        if line.startswith(what):
            return int(line.split()[1]) * 1024 / 1e6

"""

TRAINING = """
rng = np.random.default_rng(0)
net = nn.models.lenet5(rng=rng, classic={classic}, ops={backend})
x, y = rng.random((1024, 1, 32, 32), dtype=np.float32), rng.integers(0, 10, 1024)
loss = "rbf_loss" if {classic} else "softmax_cross_entropy"
nn.train(net, (x, y), epochs=2, batch_size=256, lr=1e-3, momentum=0.9, rng=rng, loss=loss, progress=False)
print(megabytes("VmHWM"))
"""

LARGE_IMAGE = """
def layer(size):
    rng = np.random.default_rng(0)
    x = rng.random((1, 3, size, size), dtype=np.float32)
    y, cache = {backend}.conv2d_forward(x, rng.random((8, 3, 5, 5), dtype=np.float32))
    dx, dw, db = {backend}.conv2d_backward(y, cache)
    assert dx.shape == x.shape

layer(16)  # compiles, or loads what was compiled
before = megabytes("VmRSS")
layer(1024)
print(megabytes("VmHWM") - before)
"""


def measure(code, **names):
    code = MEASURE + code.format(**names)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(out.stdout)


@BACKENDS
@pytest.mark.parametrize("classic", [False, True])
def test_training_lenet5_at_256_images_stays_below_600_mb(backend, classic):
    peak = measure(TRAINING, backend=backend, classic=classic)
    print(f"\n  LeNet-5{' classic' if classic else ''}, B = 256, {backend}: {peak:.0f} MB, the whole process")
    assert peak < 600


@BACKENDS
def test_a_large_image_is_not_unrolled_at_once(backend):
    unrolled = 3 * 5 * 5 * 1020 * 1020 * 4 / 1e6
    more = measure(LARGE_IMAGE, backend=backend)
    print(f"\n  3 x 1024 x 1024 through 8 masks 5 x 5, {backend}: {more:.0f} MB; unrolled at once {unrolled:.0f} MB")
    assert more < 0.75 * unrolled
