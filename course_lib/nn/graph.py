"""A computation graph: nodes know how to compute their value and their derivative, edges are data.

Source: Dey, slides "Computation Graph" and "Computations for a CG".

    x, w, y = variable(X, "X"), variable(W, "W"), variable(Y, "Y")
    o = apply("sigmoid", x @ w)
    J = apply("half_squared_sum", o, y)
    forward(J)      # every value, in topological order
    backward(J)     # every gradient, in reverse topological order
    w.grad          # dJ/dW

A node that is used twice receives a gradient along each edge: the two are added. That is the only
place where gradients meet. Leaves keep adding over calls of `backward` until `zero_grad`, so two
backward passes give twice the gradient.

A step gives a leaf a new value, `w.value = w.value - lr * w.grad`; `forward` must then run before
`backward`, which refuses values that have been exchanged or overwritten in place (`w.value -= step`) since: the
gradients would be those of no point at all.

Every input that a small step can change gets its gradient, a target too. Class numbers get none: there is no small
step from class 3. What kind of numbers values and gradients have is said in `kinds`: float32 stays float32, integers
are computed with as float64.
"""

import copy
import inspect
import numbers
import zlib

import numpy as np

from course_lib import reference
from course_lib.nn.kinds import gradient_for, plain, real, unbroadcast
from course_lib.validate import as_array

DIFFERENCES = ("half_squared_sum", "quadratic_cost")
"""Losses of the difference of their two inputs: what pulls one of them pushes the other."""


class Node:
    """A value in a graph: a leaf (no incoming edge) or the result of an operation on its parents.

    Attributes
    ----------
    value : array, float or None
        None until `forward` has reached the node.
    grad : array or None
        d goal / d value, shape and kind of value; None until `backward` has reached the node.
    parents : tuple of Node
        Tails of the incoming edges.
    op : str
        Name of the operation; "" for a leaf.
    name : str
        For people and pictures.

    Source: Dey, "Computation Graph".
    """

    def __init__(self, value=None, *, parents=(), op="", compute=None, differentiate=None, name=""):
        self.value, self.grad, self.cache = value, None, None
        self.parents, self.op, self.name = tuple(parents), op, name or op
        self.used = ()  # a checksum of each parent's value in the last forward pass
        self._compute, self._differentiate = compute, differentiate

    @property
    def is_leaf(self):
        """True if no edge comes in: the value was given, not computed."""
        return not self.parents

    def local_gradients(self, grad):
        """Return what `grad`, d goal / d value, sends along each incoming edge: one array a parent, or None."""
        values = [p.value for p in self.parents]
        shares = self._differentiate(grad, self.cache, values)
        return tuple(g if g is None else gradient_for(v, g) for g, v in zip(shares, values, strict=False))

    def __copy__(self):
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def __deepcopy__(self, memo):
        for node in topological_order(self):  # not by recursion: a graph may be deep
            if id(node) not in memo:
                memo[id(node)] = new = object.__new__(type(node))
                parents = tuple(memo[id(p)] for p in node.parents)
                new.__dict__.update({**node.__dict__, "parents": parents})
                for held in ("value", "grad", "cache", "used"):
                    setattr(new, held, copy.deepcopy(getattr(node, held), memo))
        return memo[id(self)]

    def __reduce__(self):
        raise TypeError(
            f"{self!r} cannot be pickled: a graph holds functions. Keep its leaves' values, such as "
            "{n.name: n.value for n in graph.topological_order(goal) if n.is_leaf}, and build the graph anew."
        )

    def __repr__(self):
        shape = "not computed" if self.value is None else f"shape {np.shape(self.value)}"
        return f"Node({self.name or 'unnamed'}, {shape})"

    def __add__(self, other):
        return _elementwise("+", np.add, lambda g, a, b: (g, g), self, other)

    def __sub__(self, other):
        return _elementwise("-", np.subtract, lambda g, a, b: (g, -g), self, other)

    def __mul__(self, other):
        return _elementwise("*", np.multiply, lambda g, a, b: (g * b, g * a), self, other)

    def __truediv__(self, other):
        return _elementwise("/", np.divide, lambda g, a, b: (g / b, -g * a / b**2), self, other)

    def __neg__(self):
        return _elementwise("-", np.negative, lambda g, a: (-g,), self)

    def __pow__(self, n):
        if not isinstance(n, numbers.Real):
            raise TypeError(f"the exponent is {n!r}; it must be a number, such as 2.")
        n = float(n)  # an integer array has no negative powers
        return _elementwise(f"**{n:g}", lambda a: a**n, lambda g, a: (g * n * a ** (n - 1 if n else 0.0),), self)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return _as_node(other) - self

    def __rtruediv__(self, other):
        return _as_node(other) / self

    def __matmul__(self, other):
        return apply("dense", self, other, name="@")

    def __rmatmul__(self, other):
        return apply("dense", other, self, name="@")

    __array_ufunc__ = None  # NumPy then leaves `array @ node` to the node, instead of making an array of nodes


def variable(value, name=""):
    """Return a leaf holding `value` (kept as it is, not copied): an input, a target or a weight.

    Integers are class numbers for a loss that takes labels, and are computed with as float64 elsewhere; their gradient
    is float64.

    Raises
    ------
    TypeError
        If the value is a node itself.
    ValueError
        If rows differ in length, or a masked array hides entries.

    Source: Dey, "Computation Graph".
    """
    if isinstance(value, Node):
        raise TypeError(f"value is {value!r}, a node already; use it as it is.")
    return Node(as_array(name or "the value", value), name=name)


def apply(op, *inputs, ops=reference, name="", **options):
    """Return a node that applies one of the library's operations to its inputs.

    Parameters
    ----------
    op : str
        Any name with `{op}_forward` and `{op}_backward` in `ops`: "dense", "sigmoid", "softmax",
        "half_squared_sum", "softmax_cross_entropy", ...
    inputs : Node or array
        Arrays (targets, labels) become leaves. Every node among them gets its gradient, but for class numbers.
    ops : module
        The backend.
    options
        Passed to the forward function, such as negative_slope=0.1.

    Raises
    ------
    ValueError
        If `ops` has no such operation; the message lists those it has. If an option is a node, or, in `backward`, if
        an input is one and the operation has no gradient for it, such as a slope.

    Source: Dey, "Computation Graph".
    """
    forward_op, backward_op = getattr(ops, f"{op}_forward", None), getattr(ops, f"{op}_backward", None)
    if forward_op is None or backward_op is None:
        known = sorted(n.removesuffix("_forward") for n in ops.__all__ if n.endswith("_forward"))
        raise ValueError(f"there is no operation {op!r} in {ops.__name__}; it has: {', '.join(known)}.")

    if node := next((option for option in options if isinstance(options[option], Node)), None):
        raise ValueError(
            f"{op} takes {node} as an option, which gets no gradient, and it is a node here. Give its value, or, if "
            "the operation has a gradient for it, give it in its place, without a name."
        )

    def compute(*values):
        return forward_op(*values, **options)

    def differentiate(grad, cache, values):
        if op in ops.LOSSES:  # its backward takes no upstream gradient, so it is scaled here
            dprediction = grad * backward_op(cache)
            result = (dprediction, -dprediction) if op in DIFFERENCES else (dprediction,)
        else:
            result = backward_op(grad, cache)
            result = result if isinstance(result, tuple) else (result,)
        for place in range(len(result), len(values)):
            labels = op in ops.LOSSES and place == 1 and np.asarray(values[place]).dtype.kind in "iu"
            if is_node[place] and not labels:
                raise _no_gradient(op, forward_op, place)
        return result

    is_node = [isinstance(p, Node) for p in inputs]
    parents = tuple(p if isinstance(p, Node) else variable(p) for p in inputs)
    return Node(parents=parents, op=op, compute=compute, differentiate=differentiate, name=name)


def _no_gradient(op, forward_op, place):
    name = list(inspect.signature(forward_op).parameters)[place]
    return ValueError(
        f"{op} has no gradient for its argument {name}, which is a node here and would silently get none. Give a plain "
        f'value by its name, as in apply("{op}", x, {name}=...).'
    )


def topological_order(goal):
    """Return every node that `goal` depends on, each once, parents before children, goal last.

    Depth first with a list as the stack, not recursion: a chain of 10,000 nodes is no problem.

    Raises
    ------
    ValueError
        If the graph has a cycle; the message names a node on it.

    Source: Dey, "Computations for a CG".
    """
    order, done, open_path = [], set(), set()
    stack = [(goal, iter(goal.parents))]
    open_path.add(id(goal))
    while stack:
        node, rest = stack[-1]
        parent = next((p for p in rest if id(p) not in done), None)
        if parent is None:  # all parents are in the list: now the node itself
            stack.pop()
            open_path.discard(id(node))
            done.add(id(node))
            order.append(node)
        elif id(parent) in open_path:
            raise ValueError(f"the graph has a cycle through {parent!r}; a value cannot depend on itself.")
        else:
            open_path.add(id(parent))
            stack.append((parent, iter(parent.parents)))
    return order


def forward(goal):
    """Compute every node in topological order and return the goal's value.

    Raises whatever an operation raises, such as ValueError for shapes that do not fit.

    Source: Dey, "Computations for a CG".
    """
    for node in topological_order(goal):
        if node.is_leaf:
            continue
        node.used = tuple(_checksum(p.value) for p in node.parents)
        node.value, node.cache = node._compute(*(p.value for p in node.parents))
    return goal.value


def _checksum(value):
    """Return what tells a value from another one, also where its array was overwritten in place."""
    on_host = isinstance(value, np.ndarray | np.generic | numbers.Number)
    array = np.ascontiguousarray(value) if on_host else None
    if array is None or array.dtype.hasobject:
        return (value,)  # of a device, where only an exchange is seen: copies would cost more than the operation
    return array.shape, array.dtype.str, zlib.crc32(array.reshape(-1).view(np.uint8))


def backward(goal):
    """Find d goal / d node for every node, in reverse topological order, and put it into `grad`.

    The gradients of leaves are added to what they hold (see `zero_grad`); those of computed nodes
    start at zero in every call.

    Raises
    ------
    ValueError
        If `forward` has not run, a value was exchanged or overwritten since, or the goal is not a single number.

    Source: Dey, "Computations for a CG".
    """
    order = topological_order(goal)
    missing = next((n for n in order if n.value is None), None)
    if missing is not None:
        raise ValueError(f"{missing!r} has no value yet; call forward(goal) before backward(goal).")
    for node in order:
        for parent, used in zip(node.parents, node.used, strict=False):
            if _checksum(parent.value) != used:
                raise ValueError(f"{parent!r} has another value than in the last forward; call forward(goal) again.")
    if np.size(goal.value) != 1:
        raise ValueError(
            f"the goal has shape {np.shape(goal.value)}; a gradient is of one number. Sum it, or apply a loss."
        )
    start = gradient_for(goal.value, np.ones(np.shape(goal.value))) if np.ndim(goal.value) else 1.0
    if goal.is_leaf and goal.grad is not None:
        start = goal.grad + start
    # Values are there; now the gradients.
    for node in order:
        if not node.is_leaf:
            node.grad = None
    goal.grad = start
    for node in reversed(order):
        if node.is_leaf or node.grad is None:
            continue
        for parent, g in zip(node.parents, node.local_gradients(node.grad), strict=False):
            if g is not None:
                parent.grad = np.copy(g) if parent.grad is None else parent.grad + g


def zero_grad(goal):
    """Forget the gradients of every node that `goal` depends on. No errors but ValueError for a cycle.

    Source: the course's own.
    """
    for node in topological_order(goal):
        node.grad = None


def _elementwise(symbol, f, derivative, *inputs):
    def compute(*values):
        return f(*map(real, values)), None

    def differentiate(grad, cache, values):
        shares = derivative(grad, *map(real, values))
        return tuple(unbroadcast(g, np.shape(v)) for g, v in zip(shares, values, strict=True))

    return Node(parents=map(_as_node, inputs), op=symbol, compute=compute, differentiate=differentiate)


def _as_node(value):
    """A node as it is, an array as a leaf; a plain number stays plain, so that float32 * 2.0 stays float32."""
    return value if isinstance(value, Node) else Node(value) if plain(value) else variable(value)
