"""What training in a small format asks of arrays besides rounding: scaling, and whether all is finite.

Source: P. Micikevicius et al., "Mixed Precision Training" (2018), section 3.2.
"""

import numpy as np


def scale_by(a, factor):
    """Multiply an array (...) by a number, in place, in the array's own format. No errors.

    Source: Micikevicius et al. (2018), 3.2 (unscale the gradients before the update).
    """
    a *= a.dtype.type(factor)


def all_finite(arrays):
    """Return whether no number of these arrays, (...) each, is NaN or infinite. No errors.

    Source: Micikevicius et al. (2018), 3.2 (skip the update when an overflow is detected).
    """
    return all(bool(np.isfinite(a).all()) for a in arrays)
