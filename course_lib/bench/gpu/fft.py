"""CuFFT's convolutions in `course bench gpu`, where CuPy has it: whole images are transformed. Tiles are a rung, v08.

Source: the course's own. What is called is what `course_lib.cuda.conv2d_fft` calls, one direction at a time.
"""

import functools

from course_lib.bench.gpu.work import FFT, Player
from course_lib.cuda.fft import cufft, large
from course_lib.cuda.ladders.conv2d.backward_weights.parts import bias_gradient

CUFFT = "FFT by cuFFT"


def _weights(s, dy, x, dw, db):
    large.backward_weights(s, dy, x, dw)
    bias_gradient(dy, db)


WAYS = {
    "forward": lambda s, x, w, y: large.forward(s, x, w, None, y),
    "dX": large.backward_data,
    "dW": _weights,
}
"""Direction -> function of Sizes, operands and outputs."""


def fft_players(direction, s, operands, outputs):
    """Return {name: function that makes the Player} of a convolution of Sizes s by cuFFT; {} where there is none.

    Parameters
    ----------
    direction : "forward", "dX" or "dW"
    s : Sizes
    operands : tuple of device arrays (...)
    outputs : function
        Without arguments; makes new output arrays, full of NaN, as a tuple.

    No errors. Source: the course's own.
    """
    if not cufft.available():
        return {}
    return {CUFFT: functools.partial(_player, WAYS[direction], s, operands, outputs)}


def _player(way, s, operands, outputs):
    made = outputs()

    def call():  # its launches are not ours to note: all of it is done again, and what it needs comes from a pool
        way(s, *operands, *made)
        return made

    call.launches = ()
    return Player((call,), FFT)
