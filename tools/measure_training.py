"""What makes a network train, in numbers: the experiments of the lesson "Making it train", table by table.

python tools/measure_training.py                 all of it, some minutes
python tools/measure_training.py scales xor      some of it; --seeds 1 for a quick look
python tools/measure_training.py --out results/training.json     all of it, kept for the lesson

Networks learn from lesson 06's 3,200 training digits and are compared on its 800 validation digits; the test digits are
never touched, since settings are chosen by these tables. The network is 784-128-10 with ReLU, batches of 64. Every
number is a mean over seeds, with the least and the greatest. Nothing here is timed.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

from course_lib import data, nn
from course_lib.bench.report import describe_machine
from course_lib.lesson import examine

SIZES, BATCH = (784, 128, 10), 64
LR, MOMENTUM = 0.1, 0.9
FIT, FEW = 3200, 300
DEEP = (784, *[100] * 8, 10)


def digits_accuracy(
    seed: int, train_rows: int = FIT, *, sizes=SIZES, init=nn.init.he_normal, prepare=None, drop=0.0, **options
) -> tuple:
    """Return (accuracy on the training digits, on the validation digits) of one network after training, in per cent."""
    digits = data.load_digits()
    x, y = digits.x_train[:train_rows], digits.y_train[:train_rows]
    x_val, y_val = digits.x_train[FIT:], digits.y_train[FIT:]
    if prepare is not None:
        change = prepare(x)
        x, x_val = change(x), change(x_val)
    rng = np.random.default_rng(seed)
    layers = []
    for a, b in pairwise(sizes):
        layers += [nn.Dense(a, b, rng=rng, init=init), nn.ReLU(), *([nn.Dropout(drop, rng=rng)] if drop else [])]
    net = nn.Sequential(*layers[: -2 if drop else -1])  # nothing behind the last one
    optimiser = options.pop("optimiser", None)
    options = {"epochs": 3, "batch_size": BATCH, "lr": LR, **options}
    try:
        nn.train(net, (x, y), rng=rng, optimiser=optimiser and optimiser(net), progress=False, **options)
    except nn.NotFiniteError:
        return np.nan, np.nan
    return tuple(100 * nn.evaluate(net, a, b).accuracy for a, b in ((x, y), (x_val, y_val)))


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


def kept_within_3(x: np.ndarray) -> Callable:
    """Return `standardised`'s change, followed by moving what lies beyond -3 or 3 to there."""
    change = standardised(x)
    return lambda x: np.clip(change(x), -3, 3)


def bytes_again(x: np.ndarray) -> Callable:
    """Return the change back to pixels of 0 to 255."""
    return lambda x: 255 * x


def row(name: str, seeds: range, **options) -> dict:
    """Print and return one line of a table: accuracy on training and validation digits over the seeds, in per cent."""
    found = np.array([digits_accuracy(seed, **options) for seed in seeds])
    cells = [f"{c.mean():5.1f} ({c.min():.1f} ... {c.max():.1f})" for c in found.T]
    print(f"{name:<44}training {cells[0]:<24}validation {cells[1]}", flush=True)
    training, validation = found.round(3).T.tolist()
    return {"name": name, "training": training, "validation": validation}


def scales(seeds: range) -> list:
    """Scale of the initial weights, three epochs, with the step of lesson 06 and with one without momentum."""
    starts = {f"N(0, {sd}^2)": nn.init.normal(sd) for sd in (0, 0.001, 0.05, 1, 5)}
    starts |= {init.__name__: init for init in (nn.init.he_normal, nn.init.glorot_uniform)}
    return [
        row(f"{name}, momentum {momentum}", seeds, init=init, momentum=momentum)
        for momentum in (MOMENTUM, 0.0)
        for name, init in starts.items()
    ]


def xor(seeds: range) -> list:
    """How many seeds solve XOR, by the scale of the weights, with inputs of 0 and 1 and with standardised ones."""
    rows = []
    for standardise in (False, True):
        for scale in (0.01, 0.1, 1):
            solved = sum(xor_solved(seed, scale, standardise=standardise) for seed in seeds)
            name = f"N(0, {scale}^2), inputs {'-1, 1' if standardise else '0, 1'}"
            print(f"{name}: {solved} of {len(seeds)}", flush=True)
            rows.append({"name": name, "solved": solved, "of": len(seeds)})
    return rows


def inputs(seeds: range) -> list:
    """What the scale of the inputs does, at three learning rates."""
    changes = {
        "pixels 0 to 1": None, "pixels 0 to 255": bytes_again, "standardised together": one_scale,
        "each pixel standardised": standardised, "standardised, kept within 3": kept_within_3,
    }  # fmt: skip
    return [
        row(f"{name}, lr {lr}", seeds, prepare=prepare, lr=lr, momentum=MOMENTUM)
        for lr in (0.001, 0.01, 0.1)
        for name, prepare in changes.items()
    ]


def rules(seeds: range) -> list:
    """SGD, momentum and Adam at several rates; schedules."""
    rows = []
    for lr in (0.001, 0.01, 0.1, 1):
        rows += [
            row(f"SGD, lr {lr}", seeds, lr=lr),
            row(f"momentum 0.9, lr {lr}", seeds, lr=lr, momentum=MOMENTUM),
            row(f"Adam, lr {lr}", seeds, lr=lr, optimiser=nn.Adam),
        ]
    rows += [row(f"momentum 0.9, lr {lr}", seeds, lr=lr, momentum=MOMENTUM) for lr in (0.03, 0.05, 0.2, 0.3)]
    steps = nn.schedules.count_steps(FIT, BATCH, 3)
    cosine = nn.schedules.cosine(LR, steps)
    warm = nn.schedules.warm_up(20, nn.schedules.cosine(LR, steps - 20 + 1))
    for name, lr in (("cosine from 0.1", cosine), ("warm-up of 20, cosine", warm)):
        rows.append(row(f"momentum 0.9, {name}", seeds, lr=lr, momentum=MOMENTUM))
    return rows


def search(seeds: range) -> list:
    """Rates for Adam around the best of a coarse search."""
    return [row(f"Adam, lr {lr}", seeds, lr=lr, optimiser=nn.Adam) for lr in (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)]


LEARNS = 80.0
"""Of the validation digits in per cent: what `warming` and `strangers` call learned."""


def warming(seeds: range) -> list:
    """What deep networks with He's weights read after five epochs at lesson 06's rate, without a warm-up and with."""
    steps, rows = nn.schedules.count_steps(FIT, BATCH, 5), []
    schedules = {
        "no warm-up": nn.schedules.cosine(LR, steps),
        "warm-up of 100": nn.schedules.warm_up(100, nn.schedules.cosine(LR, steps - 100 + 1)),
    }
    for name, schedule in schedules.items():
        options = {"sizes": DEEP, "epochs": 5, "lr": schedule, "momentum": MOMENTUM}
        reads = [np.nan_to_num(digits_accuracy(seed, **options)[1]) for seed in seeds]  # 0 where the numbers ran away
        print(f"{name}: validation {np.round(reads, 1)}, learned {sum(r >= LEARNS for r in reads)}", flush=True)
        rows.append({"name": name, "reads": np.round(reads, 3).tolist()})  # seed by seed
    return rows


def strangers(seeds: range) -> list:
    """Networks drawn at random, none of lesson 06b's: which points of its checklist they fail, and what they learn."""
    digits, rows = data.load_digits(), []
    fit = digits.x_train[:FIT], digits.y_train[:FIT]
    for seed in seeds:
        about, make, lr = stranger(seed)
        found, net = examine(make, fit, lr=lr), make()
        options = {"epochs": 5, "batch_size": BATCH, "lr": lr, "momentum": MOMENTUM, "progress": False}
        try:
            nn.train(net, fit, rng=np.random.default_rng(seed), **options)
            reads = 100 * nn.evaluate(net, digits.x_train[FIT:], digits.y_train[FIT:]).accuracy
        except nn.NotFiniteError:
            reads = 0.0
        rows.append({"name": about, "failed": list(found.failed), "reads": round(reads, 3), "learns": reads >= LEARNS})
        print(f"{about:<52} fails {found.failed!s:<14} reads {reads:.1f}", flush=True)
    return rows


def stranger(seed: int) -> tuple:
    """Return (description, function that makes the network, rate): depth, width, activation, weights, rate by lot."""
    rng = np.random.default_rng(seed)
    depth, width = int(rng.integers(1, 13)), int(rng.choice([30, 60, 200]))
    activation = str(rng.choice(["relu", "tanh"]))
    factor, lr = 4 ** rng.uniform(-1, 1), 10 ** rng.uniform(-3.5, 0)

    def init(rng, shape, n_in, n_out):
        return factor * nn.init.he_normal(rng, shape, n_in, n_out)

    def make():
        sizes = (784, *[width] * depth, 10)
        return nn.models.mlp(sizes, rng=np.random.default_rng(seed), activation=activation, init=init)

    return f"{depth} x {width}, {activation}, {factor:.2f} times √(2/n), rate {lr:.4f}", make, lr


def few(seeds: range) -> list:
    """Dropout and weight decay on few digits: 300, sixty epochs."""
    o = {"train_rows": FEW, "epochs": 60, "lr": 0.05, "momentum": MOMENTUM}
    rows = [row(f"{FEW} digits, plain", seeds, **o)]
    rows += [row(f"{FEW} digits, dropout {rate}", seeds, drop=rate, **o) for rate in (0.2, 0.5, 0.8)]
    rows += [row(f"{FEW} digits, weight decay {decay}", seeds, weight_decay=decay, **o) for decay in (1e-4, 1e-3)]
    rows += [row(f"{FEW} digits, weight decay {decay}", seeds, weight_decay=decay, **o) for decay in (0.01, 0.1)]
    rows.append(row(f"{FEW} digits, dropout 0.5 and decay 0.001", seeds, drop=0.5, weight_decay=1e-3, **o))
    o = {"train_rows": FEW, "epochs": 60, "lr": 0.001}
    rows.append(row(f"{FEW} digits, Adam", seeds, optimiser=nn.Adam, **o))
    rows.append(row(f"{FEW} digits, AdamW, decay 1", seeds, optimiser=lambda n: nn.Adam(n, weight_decay=1.0), **o))
    return rows


def curves(seeds: range) -> list:
    """Six trainings, loss epoch by epoch, of the first seed alone: one is sound, five are sick."""
    cases = (
        ("sound", {"lr": 0.01}), ("rate too small", {"lr": 0.001, "momentum": 0.0}), ("rate too large", {"lr": 0.8}),
        ("over-fitting", {"train_rows": 200, "lr": 0.05}),
        ("weights too small", {"sizes": DEEP, "init": nn.init.normal(0.01)}),
        ("weights too large", {"init": nn.init.normal(1.0), "lr": 0.01}),
    )  # fmt: skip
    rows = []
    for name, options in cases:
        rows.append({"name": name, **one_curve(seeds[0], **options)})
        print(name, *(f"{part} {rows[-1][part]}" for part in ("training", "validation")), sep="\n  ", flush=True)
    return rows


def one_curve(
    seed: int, *, sizes=SIZES, train_rows: int = 3600, init=nn.init.he_normal, epochs: int = 20, **options
) -> dict:
    """Return the loss on training and on 400 validation digits before training and after each epoch, rounded."""
    digits = data.load_digits()
    fit = digits.x_train[:train_rows], digits.y_train[:train_rows]
    held = digits.x_train[3600:], digits.y_train[3600:]
    rng, losses = np.random.default_rng(seed), ([], [])
    net = nn.models.mlp(sizes, rng=rng, init=init)

    def look(*_) -> None:
        for kept, part in zip(losses, (fit, held), strict=True):
            kept.append(float(f"{nn.evaluate(net, *part).loss:.4g}"))

    look()
    options = {"lr": LR, "momentum": MOMENTUM, **options}
    nn.train(net, fit, epochs=epochs, batch_size=BATCH, rng=rng, on_epoch=look, progress=False, **options)
    return dict(zip(("training", "validation"), losses, strict=True))


def waiting(seeds: range) -> list:
    """The patient of the lesson, 784-100-...-100-10 from weights of 0.05: in which of 40 epochs it wakes up."""
    digits, rows = data.load_digits(), []
    fit = digits.x_train[:FIT], digits.y_train[:FIT]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        net = nn.models.mlp(DEEP, rng=rng, init=nn.init.normal(0.05))
        options = {"epochs": 40, "batch_size": BATCH, "lr": 0.02, "momentum": MOMENTUM, "progress": False}
        loss = nn.train(net, fit, rng=rng, **options).loss
        awake = next((epoch for epoch, value in enumerate(loss, start=1) if value < 2.25), None)
        rows.append({"name": f"seed {seed}", "awake": awake, "epochs": len(loss)})
        print(f"seed {seed}: loss below 2.25 in epoch {awake}", flush=True)
    return rows


PARTS = {f.__name__: f for f in (scales, xor, inputs, rules, search, warming, few, curves, waiting, strangers)}
SEEDS = {"xor": 10, "warming": 40, "strangers": 60}  # and 5 for the others


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all unless given")
    parser.add_argument("--seeds", type=int, help="how many; 5 for most parts unless given")
    parser.add_argument("--out", type=Path, help="a file for what was measured, as JSON")
    options, found = parser.parse_args(), {}
    for name in options.parts or PARTS:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; there are {', '.join(PARTS)}")
        print(f"\n{PARTS[name].__doc__}")
        found[name] = PARTS[name](range(options.seeds or SEEDS.get(name, 5)))
    if options.out:
        about = {"bench": "training", "date": f"{datetime.date.today()}", "machine": describe_machine()}
        options.out.write_text(json.dumps({**about, "parts": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
