"""Gradient checking: does a backward pass compute the derivative of its forward pass?

A derivative can be measured: change the input a little, see how much the output changes. Measuring
one direction costs two forward passes; measuring every element costs two for each of them. So the
check measures one random direction, and looks at single elements only where that fails.

What makes a bad check pass: an upstream gradient of all ones (a plain sum). The rows of a softmax
sum to 1 whatever its input, so many wrong softmax backwards agree with the right one there. The upstream
gradient used here is random and different for every element.

Source: O, "What's missing": how do we compute the partial derivative of the cost function?
"""

import numpy as np

from course_lib.checks.close import Mismatch
from course_lib.validate import require_choice, require_rng


class GradientMismatch(Mismatch):
    """A computed gradient is not the derivative of the forward pass; the message says of what and where.

    Source: the course's own.
    """


def numerical_gradient(f, x, eps=1e-6):
    """Measure the gradient of a number-valued function by central differences, one element at a time.

    (f(x + eps e_i) - f(x - eps e_i)) / (2 eps): the error shrinks like eps^2 until rounding,
    about 1e-16 f / eps, takes over; 1e-6 lies near the best of both in float64.

    Parameters
    ----------
    f : callable, (array of x's shape) -> float
    x : float64 array
        It is not changed.
    eps : float > 0

    Returns
    -------
    array of x's shape

    Raises
    ------
    TypeError
        If x is not float64: in float32 the difference drowns in rounding.

    Source: O, "Find the global minimum (gradient descent)": delta C = dC/dv delta v, read backwards.
    """
    x = _float64("x", x).copy()
    gradient = np.empty_like(x)
    for i in np.ndindex(x.shape):
        kept = x[i]
        x[i] = kept + eps
        above = float(f(x))
        x[i] = kept - eps
        below = float(f(x))
        x[i] = kept
        gradient[i] = (above - below) / (2 * eps)
    return gradient


def check_op_gradients(forward, backward, args, *, rng, wrt=None, rtol=1e-6, eps=1e-6):
    """Raise `GradientMismatch` unless `backward` returns the derivative of `forward`.

    Parameters
    ----------
    forward : callable, forward(*args) -> (out, cache)
        `out` is an array, or a number for a loss.
    backward : callable, backward(dout, cache) -> gradient or tuple of gradients
        One for each of args, or one for each of `wrt`. Where forward returns a number, it is
        called as the losses are: backward(cache).
    args : sequence
        float64 arrays are checked; other floating-point arrays are refused unless `wrt` leaves them out; anything
        else (labels, None, options) is passed through.
    rng : numpy.random.Generator
        Draws the upstream gradient and the directions.
    wrt : sequence of int, optional
        Which args to check. Unless given: all float64 arrays, or the prediction alone for a loss.
    rtol : float
        Allowed difference between measured and computed directional derivative, as a share of the
        gradient's length.
    eps : float
        Step of the central difference. Keep inputs further than that from a kink, such as ReLU's at 0.

    Raises
    ------
    GradientMismatch
        Names the argument, both numbers, the worst element and, where it is recognisable, the cause.
    TypeError
        If an argument to be checked is not float64, or rng is not a Generator.
    ValueError
        If there is nothing to measure: an empty array, or numbers too large for the step.

    Source: O, "What's missing"; the random upstream gradient is the course's own.
    """
    require_rng(rng)
    args = list(args)
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    out, cache = forward(*args)
    _unchanged("forward", args, given)
    is_loss = np.ndim(out) == 0  # a loss starts the backward pass: its own upstream gradient is 1
    if wrt is None:
        # A float32 array counts, so that it is refused below: beside others it would go unchecked in silence.
        wrt = [i for i, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype.kind in "fc"]
        wrt = [i for i in wrt if i == 0] if is_loss else wrt  # the second argument is the right answer
    if not wrt:
        raise TypeError("none of the args is a float64 array, so there is nothing to check; use .astype(np.float64).")
    for i in wrt:
        _float64(f"args[{i}]", args[i])
    if np.size(out) == 0:
        raise ValueError(f"forward returned an empty array {np.shape(out)}: there is nothing to check. Use a larger x.")
    dout = np.float64(1) if is_loss else rng.standard_normal(np.shape(out))
    upstream = dout.copy()
    result = backward(cache) if is_loss else backward(upstream, cache)
    _unchanged("backward", [*args, upstream], [*given, dout])
    computed = result if isinstance(result, tuple) else (result,)
    if len(computed) < min(len(wrt), len(args)) or (len(computed) < len(args) and len(computed) != len(wrt)):
        raise GradientMismatch(
            f"backward returned {len(computed)} gradient(s); args {list(wrt)} are to be checked, so it must return a "
            f"tuple of {len(wrt)}, or of one for each of the {len(args)} args. Is one missing in its return?"
        )
    magnitude = float(np.sum(np.abs(out * dout)))

    def objective(position, value):
        changed = [*args[:position], value, *args[position + 1 :]]
        return float(np.sum(forward(*changed)[0] * dout))

    for order, i in enumerate(wrt):
        gradient = computed[i] if len(computed) >= len(args) else computed[order]
        _check_one(f"args[{i}]", args[i], gradient, lambda v, i=i: objective(i, v), magnitude, rng, rtol, eps)


def check_network_gradients(net, x, labels, *, rng, loss="softmax_cross_entropy", rtol=1e-6, eps=1e-6):
    """Raise `GradientMismatch` unless a network's backward pass is right for every parameter.

    Numbers that training keeps as they are (a layer's `fixed`) must have the gradient 0, and are not moved.

    Parameters
    ----------
    net : nn.Sequential
        Built with dtype=np.float64. Its parameters are restored, its gradients zeroed.
    x : (B, D) float64 array
        No blank rows for ReLU layers with a zero bias: they sit on the kink, where nothing is right.
    labels : (B,) int array, or the target array of the loss
    rng : numpy.random.Generator
    loss : str
        Name of a loss in net.ops.

    Raises
    ------
    GradientMismatch, TypeError, ValueError
        As `check_op_gradients`; also if a layer overwrites its gradients, which must add up until `zero_grad`, or
        the loss is unknown.

    Source: O, "What's missing".
    """
    require_rng(rng)
    x = _float64("x", x)
    require_choice("loss", loss, net.ops.LOSSES)
    loss_forward, loss_backward = getattr(net.ops, f"{loss}_forward"), getattr(net.ops, f"{loss}_backward")

    def backward():
        value, cache = loss_forward(net.forward(x), labels)
        return value, net.backward(loss_backward(cache)), {name: g.copy() for name, g in net.gradients().items()}

    for name, parameter in net.parameters().items():
        _float64(name, parameter)
    net.zero_grad()
    value, dx, gradients = backward()
    _adds_up(gradients, backward()[2])
    net.zero_grad()

    def loss_with(parameter, value):
        kept = parameter.copy()
        try:
            parameter[...] = value
            return loss_forward(net.forward(x), labels)[0]
        finally:  # an interrupted check leaves the network as it was, too
            parameter[...] = kept

    for name, parameter in net.parameters().items():
        gradient, fixed = gradients.get(name), net.fixed().get(name)
        _check_one(name, parameter, gradient, lambda v, p=parameter: loss_with(p, v), value, rng, rtol, eps, fixed)
    _check_one("x", x, dx, lambda v: loss_forward(net.forward(v), labels)[0], value, rng, rtol, eps)


def _adds_up(once, twice):
    """Raise GradientMismatch unless a second backward pass has doubled every gradient."""
    for name, g in once.items():
        rounding = 1e-9 * np.abs(np.nan_to_num(g)).max(initial=0)  # NaN is left to the check of the gradient itself
        if not np.allclose(twice[name], 2 * g, rtol=1e-9, atol=rounding, equal_nan=True):
            raise GradientMismatch(
                f"a second backward pass must double the gradient of {name}, since gradients add up until zero_grad. "
                f"Does the layer write grads[...] = where it should write += ?"
            )


def _check_one(name, value, gradient, f, magnitude, rng, rtol, eps, fixed=None):
    if gradient is None or np.shape(gradient) != value.shape:
        shape = None if gradient is None else np.shape(gradient)
        raise GradientMismatch(f"the gradient of {name} has shape {shape}; it must have {name}'s shape {value.shape}.")
    if value.size == 0:
        raise ValueError(f"{name} is empty, {value.shape}: there is nothing to check. Use at least one row and column.")
    gradient = np.asarray(gradient)
    bad = np.argwhere(~np.isfinite(gradient))
    if gradient.dtype.kind not in "fiu" or len(bad):
        what = f"{gradient[tuple(bad[0])]} at {bad[0].tolist()}" if len(bad) else f"of dtype {gradient.dtype}"
        raise GradientMismatch(f"the gradient of {name} is {what}; it must be finite real numbers.")
    direction = rng.standard_normal(value.shape)
    if fixed is not None:
        _is_zero(name, gradient, fixed)
        direction[fixed] = 0
    direction /= max(np.linalg.norm(direction), 1e-300)
    measured = (f(value + eps * direction) - f(value - eps * direction)) / (2 * eps)
    computed = float(np.sum(gradient * direction))
    # f adds up terms of this magnitude, so the difference of two of its values carries rounding.
    rounding = 8 * np.finfo(np.float64).eps * abs(magnitude) / eps
    scale = float(np.linalg.norm(gradient)) + abs(measured)
    if rounding > max(1e-3 * scale, 1e-6):
        raise ValueError(
            f"the gradient of {name} cannot be checked: the output adds up numbers of {magnitude:.2g}, so a step of "
            f"{eps:g} measures no better than {rounding:.2g}, and the gradient is about {scale:.2g}. "
            "Use inputs of about 1, or a larger eps."
        )
    if abs(measured - computed) <= rtol * scale + rounding:  # False for NaN, so NaN is a mismatch
        return
    before, after = ((f(value + s * eps * direction) - f(value)) / (s * eps) for s in (-1, 1))
    if abs(before - after) > 1e-3 * scale + 2 * rounding:
        raise GradientMismatch(
            f"the gradient of {name} cannot be checked here: the slope is {before:.4g} on one side and {after:.4g} on "
            "the other, a kink such as ReLU's at 0 (a row of zeros and a bias of 0 give one). Use other inputs, such "
            "as rng.standard_normal(shape), or draw the biases too."
        )
    raise GradientMismatch(
        f"the gradient of {name} is wrong: along a random direction the output changes by {measured:.8g} per unit, "
        f"the backward pass says {computed:.8g}.{_worst_element(name, value, gradient, f, eps, fixed)}"
    )


def _is_zero(name, gradient, fixed):
    """Raise GradientMismatch if a number that training keeps has a gradient, which would move it."""
    moved = np.argwhere(fixed & (gradient != 0))
    if len(moved):
        where = tuple(moved[0].tolist())
        raise GradientMismatch(
            f"the gradient of {name} is {gradient[where]:.4g} at {list(where)}, a number that the layer says it keeps "
            "(fixed); it must be 0 there, or the next step moves it."
        )


def _unchanged(who, arrays, kept):
    """Raise GradientMismatch if an operation changed what it was given: it is pure, or the next check is worthless."""
    for i, (now, before) in enumerate(zip(arrays, kept, strict=True)):
        if isinstance(now, np.ndarray) and not np.array_equal(now, before, equal_nan=now.dtype.kind == "f"):
            what = f"args[{i}]" if i < len(arrays) - (who == "backward") else "its upstream gradient"
            raise GradientMismatch(f"{who} changed {what} in place; write a new array, such as dx = dout * ...")


def _worst_element(name, value, gradient, f, eps, fixed, most=2000):
    if value.size > most:
        return f" ({name} has {value.size} elements; check a smaller case to see which are wrong.)"
    measured = numerical_gradient(f, value, eps)
    if fixed is not None:
        measured[fixed] = 0
    difference = np.abs(np.nan_to_num(np.asarray(gradient) - measured, nan=np.inf))
    where = tuple(int(i) for i in np.unravel_index(np.argmax(difference), value.shape))
    text = f" Worst element d{name}{list(where)}: computed {gradient[where]:.8g}, measured {measured[where]:.8g}."
    big = np.abs(measured) > 1e-6 * np.abs(measured).max(initial=0)
    if big.any():
        ratios = np.asarray(gradient)[big] / measured[big]
        if np.allclose(ratios, ratios[0], rtol=1e-3) and not np.isclose(ratios[0], 1):
            return f"{text} Every element is {ratios[0]:.4g} times what it should be: a sign or a factor is off."
    if gradient[where] == 0 and "." in name:  # of a layer
        text += " If training is to keep this number as it is, let the layer's fixed() say so."
    return text


def _float64(name, array):
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        kind = getattr(array, "dtype", type(array).__name__)
        raise TypeError(
            f"{name} is {kind}; a gradient check needs a float64 array, since differences drown in float32 rounding. "
            f"Use {name}.astype(np.float64)."
        )
    return array
