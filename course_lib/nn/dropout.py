"""The layer that drops numbers by chance, in training only.

Source: Srivastava et al. (2014), "Dropout: A Simple Way to Prevent Neural Networks from Overfitting".
"""

from course_lib.nn.layers import Layer
from course_lib.reference.dropout import check_dropout, later_seed
from course_lib.validate import require_rng


class Dropout(Layer):
    """In training 0 with chance `rate`, else x / (1 - rate); in use x itself.

    Training is what happens within `with net.training():`, as `nn.train` has it. Each forward pass in training draws
    one seed; equal generators give equal masks on every backend.

    Parameters
    ----------
    rate : float in [0, 1)
    rng : numpy.random.Generator

    Raises
    ------
    TypeError, ValueError
        If rate or rng is not of that kind.

    Source: Srivastava et al. (2014), section 4.
    """

    def __init__(self, rate, *, rng):
        super().__init__()
        check_dropout(rate, 0)
        self.rate, self.rng = rate, require_rng(rng)

    def forward(self, x):
        """Return x (B, ...), in training with numbers dropped."""
        if not self.training:
            self.cache = ()  # nothing to remember, but there was a forward pass
            return x
        seed = int(self.rng.integers(2**63))
        if self.first_row:  # a part of a batch is dropped as it would be in the whole
            seed = later_seed(seed, self.first_row * (x.size // x.shape[0]))
        y, self.cache = self.ops.dropout_forward(x, self.rate, seed)
        return y

    def backward(self, dout):
        """Return dx of dout's shape: 0 where the forward pass dropped."""
        cache = self._take_cache()
        return self.ops.dropout_backward(dout, cache) if cache else dout

    def describe(self):
        """Return e.g. "Dropout 0.5"."""
        return f"Dropout {self.rate:g}"
