"""Layers that show where Fourier transforms pay: image and mask grow, for few maps and for many, on a CPU or a GPU.

Source: the course's own; the first maps are those of LeNet-5's C1.
"""

from dataclasses import dataclass

MAPS, SIDES, MASKS = ((1, 6), (16, 16)), (32, 64, 128), (3, 5, 7, 9, 11, 15, 21, 31)
"""Input and output maps; rows of an image; rows of a mask."""

PIXELS = {"cpu": 2**15, "gpu": 2**22}
"""Of an input map in all images together: as large images are fewer, all have as much work."""


@dataclass(frozen=True)
class Sweep:
    """Images of one size, for which masks of all sizes are tried. Source: the course's own."""

    C: int
    M: int
    side: int
    B: int

    @property
    def case(self):
        """Its name in results/, such as "FFT or direct, 1->6, 32 x 32"."""
        return f"FFT or direct, {self.C}->{self.M}, {self.side} x {self.side}"

    @property
    def size(self):
        """In words."""
        return f"B = {self.B:,}, masks of {self.masks[0]} to {self.masks[-1]} rows"

    @property
    def masks(self):
        """Rows of the masks that are smaller than the image."""
        return [K for K in MASKS if self.side > K]

    def shapes(self, K):
        """Return the shapes of x and w for masks of K rows. No errors."""
        return (self.B, self.C, self.side, self.side), (self.M, self.C, K, K)


def sweeps(device):
    """Return the Sweeps for a device, "cpu" or "gpu"; KeyError for another. Source: the course's own."""
    return [Sweep(C, M, side, PIXELS[device] // side**2) for C, M in MAPS for side in SIDES]


def by_mask(timings):
    """Return {name: {K: seconds}} of a row's timings, {"name, K": seconds or a dict with their "median"}.

    No errors. Source: the course's own.
    """
    found = {}
    for key, value in timings.items():
        name, K = key.rsplit(", ", 1)
        found.setdefault(name, {})[int(K)] = value["median"] if isinstance(value, dict) else value
    return found


def crossing(timings, ours, others=None):
    """Return the rows of the smallest mask from which on one of `ours` is always the fastest; None if there is none.

    Parameters
    ----------
    timings : dict
        As `by_mask` takes it.
    ours, others : collection of str
        Names; `others` are all but ours unless given. Masks that have not both are left out.

    No errors. Source: the course's own.
    """
    seconds = by_mask(timings)
    others = [n for n in seconds if n not in ours] if others is None else others
    best = [{}, {}]
    for side, names in zip(best, (ours, others), strict=True):
        for name in names:
            for K, value in seconds.get(name, {}).items():
                side[K] = min(value, side.get(K, value))
    found = None
    for K in sorted(best[0].keys() & best[1].keys(), reverse=True):
        if best[0][K] >= best[1][K]:
            break
        found = K
    return found
