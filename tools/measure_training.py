"""What makes a network train, in numbers: the experiments of the lesson "Making it train", table by table.

python tools/measure_training.py                 all of it, some minutes
python tools/measure_training.py scales xor      some of it; --seeds 1 for a quick look

Digits are the course's 4,000 for training and 1,000 for the test, the network is 784-128-10 with ReLU, batches of 64.
Every number is a mean over seeds, with the least and the greatest. Nothing here is timed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from course_lib import data, nn

SIZES, BATCH = (784, 128, 10), 64
LR, MOMENTUM = 0.1, 0.9
FEW = 300


def digits_accuracy(
    seed: int, train_rows: int = 4000, *, init=nn.init.he_normal, prepare=None, drop=0.0, **options
) -> tuple:
    """Return (accuracy on the training digits, on the test digits) of one network after training, in per cent."""
    digits = data.load_digits()
    x, y, x_test = digits.x_train[:train_rows], digits.y_train[:train_rows], digits.x_test
    if prepare is not None:
        change = prepare(x)
        x, x_test = change(x), change(x_test)
    rng = np.random.default_rng(seed)
    hidden, out = (nn.Dense(a, b, rng=rng, init=init) for a, b in pairwise(SIZES))
    layers = [hidden, nn.ReLU(), nn.Dropout(drop, rng=rng), out] if drop else [hidden, nn.ReLU(), out]
    net = nn.Sequential(*layers)
    optimiser = options.pop("optimiser", None)
    options = {"epochs": 3, "batch_size": BATCH, "lr": LR, **options}
    try:
        nn.train(net, (x, y), rng=rng, optimiser=optimiser and optimiser(net), progress=False, **options)
    except nn.NotFiniteError:
        return np.nan, np.nan
    return tuple(100 * nn.evaluate(net, a, b).accuracy for a, b in ((x, y), (x_test, digits.y_test)))


def xor_solved(seed: int, scale: float, *, standardise: bool = False, steps: int = 3000, lr: float = 2.0) -> bool:
    """Return whether 2-8-1 with sigmoids, lesson 04's network and loop, has all four outputs on their side of 1/2."""
    x, y = data.truth_table("xor")
    x = x.astype(float)
    if standardise:
        x = data.fit_standardiser(x).apply(x)
    rng, o = np.random.default_rng(seed), {"init": nn.init.normal(scale), "dtype": np.float64}
    net = nn.Sequential(nn.Dense(2, 8, rng=rng, **o), nn.Sigmoid(), nn.Dense(8, 1, rng=rng, **o), nn.Sigmoid())
    options = {"loss": "half_squared_sum", "progress": False}
    nn.train(net, (x, y[:, None].astype(float)), epochs=steps, batch_size=4, lr=lr, rng=rng, **options)
    return bool(np.abs(net.forward(x)[:, 0] - y).max() < 0.5)


def standardised(x: np.ndarray) -> Callable:
    """Return the change that makes every pixel's mean 0 and deviation 1, measured on x (n, D)."""
    return data.fit_standardiser(x).apply


def one_scale(x: np.ndarray) -> Callable:
    """Return the change that makes mean 0 and deviation 1 of all pixels together, measured on x (n, D)."""
    return data.fit_standardiser(x, axis=(0, 1)).apply


def bytes_again(x: np.ndarray) -> Callable:
    """Return the change back to pixels of 0 to 255."""
    return lambda x: 255 * x


def row(name: str, seeds: range, **options) -> None:
    """Print one line of a table: accuracy on training and test digits over the seeds."""
    found = np.array([digits_accuracy(seed, **options) for seed in seeds])
    cells = [f"{c.mean():5.1f} ({c.min():.1f} ... {c.max():.1f})" for c in found.T]
    print(f"{name:<44}training {cells[0]:<24}test {cells[1]}", flush=True)


def scales(seeds: range) -> None:
    """Scale of the initial weights, three epochs, with the step of lesson 06 and with one without momentum."""
    for momentum in (MOMENTUM, 0.0):
        for sd in (0, 0.001, 0.05, 1, 5):
            row(f"N(0, {sd}^2), momentum {momentum}", seeds, init=nn.init.normal(sd), momentum=momentum)
        for init in (nn.init.he_normal, nn.init.glorot_uniform):
            row(f"{init.__name__}, momentum {momentum}", seeds, init=init, momentum=momentum)


def xor(seeds: range) -> None:
    """How many seeds solve XOR, by the scale of the weights, with inputs of 0 and 1 and with standardised ones."""
    for standardise in (False, True):
        for scale in (0.01, 0.1, 1):
            solved = sum(xor_solved(seed, scale, standardise=standardise) for seed in seeds)
            print(f"N(0, {scale}^2), inputs {'-1, 1' if standardise else '0, 1'}: {solved} of {len(seeds)}", flush=True)


def inputs(seeds: range) -> None:
    """What the scale of the inputs does, at three learning rates."""
    for lr in (0.001, 0.01, 0.1):
        for name, prepare in (
            ("pixels 0 to 1", None), ("pixels 0 to 255", bytes_again), ("standardised together", one_scale),
            ("each pixel standardised", standardised),
        ):  # fmt: skip
            row(f"{name}, lr {lr}", seeds, prepare=prepare, lr=lr, momentum=MOMENTUM)


def rules(seeds: range) -> None:
    """SGD, momentum and Adam at several rates; schedules."""
    for lr in (0.001, 0.01, 0.1, 1):
        row(f"SGD, lr {lr}", seeds, lr=lr)
        row(f"momentum 0.9, lr {lr}", seeds, lr=lr, momentum=MOMENTUM)
        row(f"Adam, lr {lr}", seeds, lr=lr, optimiser=nn.Adam)
    steps = nn.schedules.count_steps(4000, BATCH, 3)
    for name, lr in (("cosine from 0.1", nn.schedules.cosine(LR, steps)), (
        "warm-up of 20, cosine", nn.schedules.warm_up(20, nn.schedules.cosine(LR, steps - 20 + 1))
    )):  # fmt: skip
        row(f"momentum 0.9, {name}", seeds, lr=lr, momentum=MOMENTUM)


def few(seeds: range) -> None:
    """Dropout and weight decay on few digits: 300, sixty epochs."""
    o = {"train_rows": FEW, "epochs": 60, "lr": 0.05, "momentum": MOMENTUM}
    row(f"{FEW} digits, plain", seeds, **o)
    for rate in (0.2, 0.5, 0.8):
        row(f"{FEW} digits, dropout {rate}", seeds, drop=rate, **o)
    for decay in (1e-4, 1e-3, 1e-2, 1e-1):
        row(f"{FEW} digits, weight decay {decay}", seeds, weight_decay=decay, **o)
    row(f"{FEW} digits, dropout 0.5 and decay 0.001", seeds, drop=0.5, weight_decay=1e-3, **o)
    o = {"train_rows": FEW, "epochs": 60, "lr": 0.001}
    row(f"{FEW} digits, Adam", seeds, optimiser=nn.Adam, **o)
    row(f"{FEW} digits, AdamW, decay 1", seeds, optimiser=lambda net: nn.Adam(net, weight_decay=1.0), **o)


PARTS = {f.__name__: f for f in (scales, xor, inputs, rules, few)}


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all unless given")
    parser.add_argument("--seeds", type=int, help="how many; 10 for xor and 5 for the others unless given")
    options = parser.parse_args()
    for name in options.parts or PARTS:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; there are {', '.join(PARTS)}")
        print(f"\n{PARTS[name].__doc__}")
        PARTS[name](range(options.seeds or (10 if name == "xor" else 5)))


if __name__ == "__main__":
    main()
