"""Which plan a kernel that is made for one shape takes: the measured one for the lectures' layers, else the likeliest.

Source: the course's own.
"""


def best_plan(s, tuned, make, candidates, pad=(0, 0)):
    """Return a plan for Sizes, or None if none fits.

    Parameters
    ----------
    s : Sizes
    tuned : dict
        (C, H, W, M, K) of square masks with stride 1 and padding `pad` -> what `make` takes beside Sizes.
    make : class
        Of plans, with `fits` and `worth`. A measured plan that does not fit this device counts for nothing.
    candidates : iterable of plans

    No errors. Source: the course's own.
    """
    cut = tuned.get((s.C, s.H, s.W, s.M, s.K_h))
    if cut and s.K_h == s.K_w and (s.s_h, s.s_w) == (1, 1) and (s.p_h, s.p_w) == pad:
        measured = make(s, *cut)
        if measured.fits:
            return measured
    return max((p for p in candidates if p.fits), key=lambda p: p.worth, default=None)
