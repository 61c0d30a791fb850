"""A small grey picture with what a photograph has: soft sky, hard edges, fine ripples, grain. Drawn by formulas."""

import numpy as np

SIZE = 48
FINE = 4  # places computed along each side of a pixel, then averaged: slanting edges become smooth

SKY, CLOUD, SEA, ROCK, SAIL, HULL = 0.55, 0.92, 0.38, 0.16, 0.95, 0.1


def scene():
    """Return a grey picture of a lighthouse by the sea, drawn by formulas; the same numbers every time.

    Parameters
    ----------
    None.

    Returns
    -------
    (48, 48) float64 array
        From 0 (dark) to 1 (bright), in hundredths.

    Raises
    ------
    Nothing.

    Source: the course's own.
    """
    v, u = np.meshgrid(*[(np.arange(SIZE * FINE) + 0.5) / FINE] * 2, indexing="ij")  # rows down, columns right
    grey = SKY + 0.3 * v / 30
    puffs = [(9, 34, 7, 2.4), (7, 39, 5, 2.2), (13, 26, 6, 1.6), (11, 43, 4, 1.5)]  # row, column, half width, height
    for row, column, wide, high in puffs:
        near = ((u - column) / wide) ** 2 + ((v - row) / high) ** 2
        grey += (CLOUD - grey) * np.exp(-(near**2))
    sea = v > 30
    ripples = np.sin(1.7 * v + 1.6 * np.sin(u / 5)) * np.sin(u / 2.3 + v / 3)
    grey = np.where(sea, SEA + 0.012 * (v - 30) + 0.13 * ripples * (v - 27) / 20, grey)
    rock = v > 25.5 + 0.045 * (u - 8) ** 2 + 1.2 * np.sin(u)
    grey = np.where(rock, ROCK + 0.09 * np.sin(1.3 * u + v) ** 2, grey)
    half = 2.4 + 0.07 * (v - 8)  # the tower is wider below
    tower = (np.abs(u - 10) < half) & (v > 10) & (v < 27)
    bands = np.where((v - 10) // 4.25 % 2 == 0, 0.95, 0.35) - 0.05 * (u - 10)  # lit from the left
    grey = np.where(tower, bands, grey)
    lamp = (np.abs(u - 10) < 2) & (v > 6.5) & (v < 10)
    grey = np.where(lamp, np.where(np.abs(u - 10) < 1.2, 1.0, 0.12), grey)
    grey = np.where((v > 4) & (v <= 6.5) & (np.abs(u - 10) < 1.1 * (v - 4)), 0.12, grey)
    sail = (u > 33) & (v < 33) & (u - 33 < 0.5 * (v - 17))
    grey = np.where(sail, SAIL - 0.02 * (u - 33), grey)
    grey = np.where((v > 33) & (v < 36) & (np.abs(u - 34.5) < 8 - 1.3 * (v - 33)), HULL, grey)
    small = grey.reshape(SIZE, FINE, SIZE, FINE).mean(axis=(1, 3))
    small += np.random.default_rng(7).normal(0, 0.012, small.shape)  # grain, as of a camera
    return np.clip(small, 0, 1).round(2)
