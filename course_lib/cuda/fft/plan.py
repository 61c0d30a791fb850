"""How a convolution is cut into tiles for transforms: plain arithmetic on the sizes, done once for a shape.

A tile of T x T numbers, convolved with a piece of a mask of P rows, has T - P + 1 rows that no number from the other
end of the tile reached: overlap-save keeps these. A mask with more rows than a tile can spare is cut into pieces, and a
piece is one more input map, P rows further down. Two images make one complex tile, one as real, one as imaginary part:
real masks mix them nowhere.

Source: A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing" (overlap-save); the course's own.
"""

import functools
from dataclasses import dataclass

THREADS = 128
"""Threads of a block; a block has 128 / T tiles."""

PIECE = {16: 9, 32: 17}
"""Most rows of a mask's piece: half of a tile, rounded up, is left for results."""

BLOCKS, BLOCKS_OF_ONE_MAP = {(16, 1): 4, (16, 2): 3}, {(16, 1): 4, (16, 2): 4, (32, 1): 4}
"""Blocks that should share a multiprocessor, for T and MB: registers of a thread are at most 65,536 / (128 blocks).
With one more, some shapes have too few. A layer of one input map keeps no sums while it transforms."""

FEW_BLOCKS = 2
"""The same for other plans, for strides, and for the gradient of the masks, whose threads hold two tiles."""

MAPS = {16: 2, 32: 1}
"""Most output maps whose spectra a thread adds up at a time: 2 T float32 each, beside 2 T of the tile."""


@dataclass(frozen=True)
class Correlation:
    """What a tile kernel computes, in rows; columns alike.

    Output row h, of `rows`, adds up over p < K_h the source's rows h + p - o_h, where every u_h-th row of the source is
    a row of its array and the others are zeros. Every e_h-th output row is written.

    Source: the course's own.
    """

    C: int
    H: int
    W: int
    M: int
    K_h: int
    K_w: int
    o_h: int
    o_w: int
    u_h: int
    u_w: int
    e_h: int
    e_w: int
    H_y: int
    W_y: int

    @property
    def rows(self):
        """Output rows before every e_h-th is taken."""
        return (self.H_y - 1) * self.e_h + 1

    @property
    def columns(self):
        """Output columns before every e_w-th is taken."""
        return (self.W_y - 1) * self.e_w + 1


def forward_of(s):
    """Return the Correlation of a forward pass, for Sizes s. No errors. Source: the course's own."""
    return Correlation(s.C, s.H, s.W, s.M, s.K_h, s.K_w, s.p_h, s.p_w, 1, 1, s.s_h, s.s_w, s.H_out, s.W_out)


def data_of(s):
    """Return the Correlation that makes dx of dy, for Sizes s: with the mask turned by 180 degrees.

    No errors. Source: H, "Back-propagation dE/dX for a convolutional layer".
    """
    return Correlation(
        s.M, s.H_out, s.W_out, s.C, s.K_h, s.K_w, s.K_h - 1 - s.p_h, s.K_w - 1 - s.p_w, s.s_h, s.s_w, 1, 1, s.H, s.W
    )


@dataclass(frozen=True)
class _Cut:
    """What the plans of both kernels share: pieces of masks."""

    T: int
    MB: int
    blocks: int  # that should share a multiprocessor, for the compiler's choice of registers

    @functools.cached_property
    def groups(self):
        """Tiles of a block."""
        return THREADS // self.T

    @functools.cached_property
    def pieces(self):
        """Pieces of a mask: along its rows, along its columns."""
        K_h, K_w = self.mask
        return -(-K_h // PIECE[self.T]), -(-K_w // PIECE[self.T])

    @functools.cached_property
    def piece(self):
        """Rows and columns of a piece."""
        return tuple(-(-K // n) for K, n in zip(self.mask, self.pieces, strict=True))

    @functools.cached_property
    def valid(self):
        """Rows and columns of a tile that a piece of a mask fits T - P + 1 times into."""
        return tuple(self.T - P + 1 for P in self.piece)

    @functools.cached_property
    def tiles(self):
        """Tiles of an image: along its rows, along its columns."""
        return tuple(-(-n // V) for n, V in zip(self.cut, self.valid, strict=True))

    @property
    def at_once(self):
        """Tiles of two images, which share transforms."""
        return self.tiles[0] * self.tiles[1]

    @property
    def parts(self):
        """Pieces of a mask."""
        return self.pieces[0] * self.pieces[1]


@dataclass(frozen=True)
class TilePlan(_Cut):
    """A Correlation cut into tiles. Source: the course's own."""

    c: Correlation

    @property
    def mask(self):
        """Rows and columns of a mask."""
        return self.c.K_h, self.c.K_w

    @property
    def cut(self):
        """Rows and columns that are cut into tiles: of the output."""
        return self.c.rows, self.c.columns

    @functools.cached_property
    def map_blocks(self):
        """Blocks that share the output maps."""
        return -(-self.c.M // self.MB)

    @functools.cached_property
    def masks(self):
        """Spectra of masks: one for each pair of maps and each piece."""
        return self.c.M * self.c.C * self.parts

    @functools.cached_property
    def instructions(self):
        """Float32 instructions of all threads for two images: butterflies, and 4 a product of complex numbers.

        Each input map is transformed once for each block of output maps, each output map once.
        """
        transforms = self.map_blocks * self.c.C * self.parts + self.c.M
        return self.at_once * (transforms * BUTTERFLIES[self.T] + self.masks * 4 * self.T**2)

    def grid(self, B):
        """Blocks of a launch for B images."""
        return -(-(-(-B // 2) * self.at_once) // self.groups) * self.map_blocks


@dataclass(frozen=True)
class WeightPlan(_Cut):
    """The gradient for the masks, cut into tiles: of dy, with zeros put between its rows where there is a stride.

    A tile of x, transformed, times the conjugate transform of the tile of dy that lies in it, adds up over all tiles
    and images to the transform of a piece of dw. Source: the course's own.
    """

    s: object  # the convolution's Sizes, with B = 0: the ladders' package imports this module

    @property
    def mask(self):
        """Rows and columns of a mask."""
        return self.s.K_h, self.s.K_w

    @property
    def cut(self):
        """Rows and columns that are cut into tiles: of dy."""
        s = self.s
        return (s.H_out - 1) * s.s_h + 1, (s.W_out - 1) * s.s_w + 1

    @functools.cached_property
    def combos(self):
        """Sums of spectra, MB at a time: for each block of output maps, input map and piece."""
        return -(-self.s.M // self.MB) * self.s.C * self.parts

    @functools.cached_property
    def instructions(self):
        """Float32 instructions of all threads for two images, as a TilePlan's."""
        return self.at_once * self.combos * ((1 + self.MB) * BUTTERFLIES[self.T] + self.MB * 4 * self.T**2)

    def slices(self, B):
        """Partial sums of B images: enough for a large card, and a multiple of a block's tiles; no card's choice."""
        units = -(-B // 2) * self.at_once
        wanted = min(units, max(1, FILL * 16 // self.T // self.combos))
        return -(-wanted // self.groups) * self.groups

    def grid(self, B):
        """Blocks of a launch for B images."""
        return self.slices(B) // self.groups * self.combos


FILL = 8192
"""Tiles of 16 x 16 that a large card works on at a time, twice over."""

BUTTERFLIES = {16: 2 * 16 * (8 * 16 + 9 * 4), 32: 2 * 32 * (2 * (8 * 16 + 9 * 4) + 16 * 8)}
"""Float32 instructions of one transform of a tile: 2 T of rows."""


def tile_plan(c, T=None, MB=None, blocks=None):
    """Return the TilePlan of a Correlation: the given T, MB and blocks, else the T with the fewest instructions.

    No errors. Source: the course's own.
    """
    usual = BLOCKS_OF_ONE_MAP if c.C == 1 and max(c.K_h, c.K_w) <= PIECE[16] else BLOCKS
    strided = (c.u_h, c.u_w, c.e_h, c.e_w) != (1, 1, 1, 1)
    return _best(TilePlan, c, c.M, T, MB, blocks, {} if strided else usual)


def weight_plan(s, T=None, MB=None, blocks=None):
    """Return the WeightPlan of Sizes with B = 0, as `tile_plan`. No errors. Source: the course's own."""
    return _best(WeightPlan, s, s.M, T, MB, blocks, {})


def _best(make, sizes, M, T, MB, blocks, usual):
    maps = {t: min(MB or MAPS[t], M) for t in ([T] if T else PIECE)}
    plans = [make(t, m, blocks or usual.get((t, m), FEW_BLOCKS), sizes) for t, m in maps.items()]
    return min(plans, key=lambda p: p.instructions)
