"""A signal through eight hidden layers, and the gradient back, for every size of the initial weights.

Source: the pictures of activations and gradients layer by layer follow Glorot and Bengio (2010), "Understanding the
Difficulty of Training Deep Feedforward Neural Networks".
"""

import numpy as np

from course_lib import data, nn, reference

from . import style
from .live import live
from .picture import picture

UNITS, LAYERS, BINS = 100, 8, 25
HE = round(float(np.sqrt(2 / UNITS)), 4)
"""The deviation that He's rule gives a layer of 100 inputs, 0.1414."""

SCALES = (0.02, 0.03, 0.05, 0.07, 0.1, 0.12, HE, 0.17, 0.2, 0.25, 0.3, 0.4, 0.6, 1.0)
"""Standard deviations of the weights that the slider offers."""

AXES = {"ReLU": (0.0, 1.5), "tanh": (-1.0, 1.0)}
"""What the histograms show of an activation's outputs; what lies outside is counted at the edge. ReLU's zeros, half of
its outputs, are left out: beside them one would see nothing else."""


def flow(activation, sd, *, samples=200, seed=0):
    """Return what 200 digits and their loss's gradient do in an untrained network 784-100-...-100-10.

    Parameters
    ----------
    activation : "ReLU" or "tanh"
    sd : float >= 0
        Of the weights of all layers but the first, which has He's.

    Returns
    -------
    list of dict, one a hidden layer
        counts (25,): histogram of the outputs, of those above 0 for ReLU, in per cent; rms: of the outputs; back: of
        the loss's slopes with respect to the weights; stuck: share of the outputs with next to no slope (0 for ReLU,
        beyond 0.95 for tanh).

    KeyError for another activation. Source: the course's own.
    """
    from course_lib.lesson.training_health import signals

    low, high = AXES[activation]
    digits, rng = data.load_digits(), np.random.default_rng(seed)
    x, y = digits.x_train[:samples].astype(float), digits.y_train[:samples]
    net = nn.models.mlp((784, *[UNITS] * LAYERS, 10), rng=rng, activation=activation.lower(), ops=reference,
                        init=nn.init.normal(1.0), dtype=np.float64)  # fmt: skip
    for name, p in net.parameters().items():
        if name.endswith("w"):
            p *= np.sqrt(2 / 784) if name == "0.w" else sd
    outputs = [a for _, a in nn.feature_maps(net, x)][1:-1:2]
    return [
        {
            "counts": _histogram(a[a > 0] if activation == "ReLU" else a, low, high),
            "rms": _short(signal.output),
            "back": _short(signal.gradient),
            "stuck": round(float((a == 0).mean() if activation == "ReLU" else signal.saturated), 3),
        }
        for a, signal in zip(outputs, signals(net, x, y), strict=True)
    ]  # fmt: skip


def signal_explorer(*, sd=0.05, activation="ReLU", title="A signal through eight layers"):
    """Return a figure on which the reader sets the size of the initial weights and sees what each layer puts out.

    Parameters
    ----------
    sd : float
        The first one shown, one of `SCALES`.
    activation : "ReLU" or "tanh"
        The first one shown.

    Returns
    -------
    figures.Live

    ValueError for a size or an activation that the figure does not have. Source: Glorot and Bengio (2010).
    """
    if sd not in SCALES or activation not in AXES:
        raise ValueError(f"sd is {sd!r} and activation {activation!r}; there are {SCALES} and {', '.join(AXES)}.")
    grid = {name: [flow(name, scale) for scale in SCALES] for name in AXES}
    content = {
        "grid": grid, "scales": SCALES, "he": HE, "axes": AXES, "units": UNITS,
        "at": SCALES.index(sd), "activation": activation,
    }  # fmt: skip
    return live("signal_explorer", content, title=title, static=_static(grid["ReLU"]))


@style.styled
def _static(grid):
    """Return the static picture: output and gradient of each layer for three sizes of the weights."""
    fig, axes = style.new_figure(6.5, 3.4, 1, 2, sharey=False)
    shown = {"0.05": 0.05, f"{HE} = √(2/100)": HE, "0.4": 0.4}
    layers = range(1, LAYERS + 1)
    for ax, key, name in zip(axes, ("rms", "back"), ("spread of the outputs", "spread of the gradients"), strict=True):
        for i, (label, scale) in enumerate(shown.items()):
            cue = style.cue(i)
            values = [layer[key] for layer in grid[SCALES.index(scale)]]
            ax.plot(layers, values, color=cue.colour, linestyle=cue.linestyle, marker=cue.marker, label=label)
        ax.set(yscale="log", xlabel="hidden layer", title=name)
        ax.set_xticks(list(layers))
    axes[0].legend(title="weights' deviation")
    small, fit, large = (grid[SCALES.index(scale)] for scale in shown.values())
    return picture(
        fig,
        alt=f"ReLU: with weights of deviation 0.05 the outputs shrink from {small[0]['rms']:.2g} in layer 1 to "
        f"{small[-1]['rms']:.1g} in layer 8; with {HE} they stay between {min(r['rms'] for r in fit):.2g} and "
        f"{max(r['rms'] for r in fit):.2g}; with 0.4 they grow to {large[-1]['rms']:.3g}.",
        caption="200 digits in an untrained network of eight hidden layers, for three sizes of its weights.",
    )


def _histogram(values, low, high):
    """Return the share of the values in each of `BINS` bins, in per cent."""
    return (100 * np.histogram(np.clip(values, low, high), BINS, (low, high))[0] / values.size).round(1).tolist()


def _short(value):
    """Return a number with three digits."""
    return float(f"{value:.3g}")
