"""Which part of a training step a launch belongs to. Source: the course's own."""

PARTS = ("forward", "loss", "gradients to zero", "backward", "update")


def part_of_step(called):
    """Return one of `PARTS` for what `python -m tools.steps` calls the place of a launch.

    For "4 Conv2d(6 -> 16, 5x5), backward" it is "backward". ValueError for anything else. Source: the course's own.
    """
    if called.startswith("loss"):
        return "loss"
    found = called.rpartition(", ")[2]
    if found not in PARTS:
        raise ValueError(f"{called!r} is no part of a step; parts are {', '.join(PARTS)}.")
    return found
