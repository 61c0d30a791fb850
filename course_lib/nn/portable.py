"""Copies and pickles of what computes with a backend: the module goes by its name, arrays go by way of the host.

`copy`, `pickle`, joblib and processes that work side by side all ask for this. To keep weights in a file for others,
use `save_weights`: reading a pickle runs code.

Source: Python's documentation, "pickle", "Pickling Class Instances".
"""

import copy
import importlib
import sys

import numpy as np


class Portable:
    """Base of layers and networks, whose `ops` is a module. Source: Python's documentation, "pickle"."""

    def __copy__(self):
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def __deepcopy__(self, memo):
        memo[id(self.ops)] = self.ops  # a backend is shared, and knows how to copy its arrays
        for array in _arrays(self.__dict__):
            if id(array) not in memo:
                memo[id(array)] = self.ops.copy_of(array)
        memo[id(self)] = new = object.__new__(type(self))
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new

    def __getstate__(self):
        """What a pickle keeps: everything but what `backward` needs; arrays as the host's."""
        name = getattr(self.ops, "__name__", "")
        if sys.modules.get(name) is not self.ops:
            raise TypeError(
                f"a {type(self).__name__} that computes with {self.ops!r:.60} cannot be pickled: no module of that "
                "name can be imported elsewhere. Keep the weights: nn.save_weights(net, path)."
            )
        state = {**self.__dict__, "ops": name}
        for part in ("params", "grads"):
            if part in state:
                state[part] = {n: self.ops.to_host(a) for n, a in state[part].items()}
        if "cache" in state:
            state["cache"] = None
        return state

    def __setstate__(self, state):
        ops = importlib.import_module(state["ops"])
        for part in ("params", "grads"):
            if part in state:
                state[part] = {n: ops.to_backend(a) for n, a in state[part].items()}
        self.__dict__.update(state, ops=ops)


def _arrays(value):
    """Yield the backend's arrays in a layer's dictionaries and cache; NumPy copies its own."""
    if isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _arrays(part)
    elif hasattr(value, "dtype") and not isinstance(value, np.ndarray | np.generic):
        yield value
