"""Convolution by Fourier transforms in `course bench gpu`: in tiles by the course's kernels, and by cuFFT.

Source: the course's own. What is called is what `course_lib.cuda.conv2d_fft` calls, one direction at a time.
"""

import functools
from dataclasses import replace

from course_lib.bench.gpu.players import replayed
from course_lib.bench.gpu.work import FFT, Player
from course_lib.cuda.fft import cufft, large, tiles, weights
from course_lib.cuda.fft.plan import data_of, forward_of, tile_plan, weight_plan
from course_lib.cuda.ladders.conv2d.backward_weights.parts import bias_gradient

TILES, CUFFT = "FFT in tiles", "FFT by cuFFT"


def _forward_tiles(s, x, w, y):
    tiles.launch(tile_plan(forward_of(s)), x, w, None, y)


def _data_tiles(s, dy, w, dx):
    tiles.launch(tile_plan(data_of(s)), dy, w, None, dx, turned=True)


def _weights_tiles(s, dy, x, dw, db):
    weights.launch(weight_plan(replace(s, B=0)), dy, x, dw)
    bias_gradient(dy, db)


def _weights_cufft(s, dy, x, dw, db):
    large.backward_weights(s, dy, x, dw)
    bias_gradient(dy, db)


WAYS = {
    "forward": {TILES: _forward_tiles, CUFFT: lambda s, x, w, y: large.forward(s, x, w, None, y)},
    "dX": {TILES: _data_tiles, CUFFT: large.backward_data},
    "dW": {TILES: _weights_tiles, CUFFT: _weights_cufft},
}
"""Direction -> {player: function of Sizes, operands and outputs}."""


def fft_players(direction, s, operands, outputs):
    """Return {name: function that makes the Player} of a convolution of Sizes s by transforms.

    Parameters
    ----------
    direction : "forward", "dX" or "dW"
    s : Sizes
    operands : tuple of device arrays (...)
    outputs : function
        Without arguments; makes new output arrays, full of NaN, as a tuple.

    No errors: cuFFT is left out where there is none. Source: the course's own.
    """
    ways = {n: way for n, way in WAYS[direction].items() if n != CUFFT or cufft.available()}
    return {name: functools.partial(_player, name, way, s, operands, outputs) for name, way in ways.items()}


def _player(name, way, s, operands, outputs):
    made = outputs()

    def launch():
        way(s, *operands, *made)

    if name == TILES:
        return Player((replayed(launch, made),), FFT)

    def call():  # cuFFT's launches are not ours to note: all of it is done again, and what is made comes from a pool
        launch()
        return made

    call.launches = ()
    return Player((call,), FFT)
