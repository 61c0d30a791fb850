"""A checkpoint: all that training needs to go on from the end of an epoch as if it had never stopped.

Weights alone are not enough. The next step depends on the optimiser's memory, the next order of the samples on the
generator, the decision to stop on the history. All of it is in one .npz file of plain numbers and one text: nothing in
it can run. It is written beside the old one and then takes its place, so that there is always a whole one.

Source: the course's own.
"""

import hashlib
import io
import json
from dataclasses import asdict, fields

import numpy as np

from course_lib.npz import NpzError, open_npz
from course_lib.paths import user_path, write_whole

ABOUT = "about"
"""Name of the text among the arrays."""


class CheckpointError(ValueError):
    """A checkpoint cannot be read, or is of another training; the message says what differs.

    Source: the course's own.
    """


def fits(task):
    """Return what a checkpoint and the training that goes on from it must have the same of. No errors.

    Numbers of epochs and ranks and the learning rate may be others. Source: the course's own.
    """
    return {
        "layers": [layer.describe() for layer in task.net],
        "optimiser": type(task.optimiser).__name__,
        "loss": task.loss,
        "batch_size": task.batch_size,
        "precision": task.precision.name,
        "x": _print_of(task.x),
        "y": _print_of(task.y),
    }


def write(path, task, history, best, best_params):
    """Write a checkpoint to `path`, completely or not at all; errors as `save_weights`.

    Parameters
    ----------
    path : str or Path
    task : Task
    history : History
    best : float
        The lowest loss so far, infinity if there is none.
    best_params : list of arrays (...), or None
        The weights that had it, if they are kept.

    Source: the course's own.
    """
    scale = task.precision.scale
    about = {
        "fits": fits(task),
        "history": asdict(history),
        "best": None if np.isinf(best) else best,
        "steps": task.optimiser.steps,
        "scale": [scale.value, scale.skipped, scale._good],
        "generators": {name: rng.bit_generator.state for name, rng in _generators(task).items()},
    }
    arrays = {name: task.net.ops.to_host(array) for name, array in _arrays(task).items()}
    for name, array in zip(task.net.parameters(), best_params or (), strict=False):
        arrays[f"best.{name}"] = task.net.ops.to_host(array)
    arrays[ABOUT] = np.frombuffer(json.dumps(about, default=_plain).encode(), np.uint8)
    write_whole(path, lambda file: np.savez(file, **arrays))


def content_of(path):
    """Return the bytes of a checkpoint, b"" if there is no such file yet; OSError if it cannot be read.

    Source: the course's own.
    """
    try:
        return user_path(path).read_bytes()
    except FileNotFoundError:
        return b""


def restore(content, path, task, history):
    """Put what a checkpoint holds into a training, in place; return (best, best_params or None) as `write` takes them.

    Parameters
    ----------
    content : bytes
    path : str or Path
        Where they come from, for errors.
    task : Task
    history : History

    Raises
    ------
    CheckpointError
        If it is no checkpoint, or one of another training; then nothing has changed.

    Source: the course's own.
    """
    try:
        with open_npz(io.BytesIO(content)) as stored:
            if ABOUT not in stored.names:
                raise NpzError("it lacks the text that a checkpoint has")
            about = json.loads(stored.header(ABOUT).read().tobytes())
            _require_fit(about["fits"], fits(task), path)
            wanted = _arrays(task)
            arrays = {name: _read(stored, name, array, path) for name, array in wanted.items()}
            parameters = task.net.parameters()
            kept = [f"best.{name}" for name in parameters if f"best.{name}" in stored.names]
            best = [_read(stored, name, parameters[name.removeprefix("best.")], path) for name in kept]
    except (NpzError, KeyError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(
            f"{path} is no checkpoint: {error}. nn.train(..., checkpoint=path) writes one after each epoch; without "
            "resume=True it begins anew."
        ) from error
    ops = task.net.ops
    for name, array in wanted.items():
        ops.assign(array, arrays[name])
    task.optimiser.steps = about["steps"]
    scale = task.precision.scale
    scale.value, scale.skipped, scale._good = about["scale"]
    for name, rng in _generators(task).items():
        rng.bit_generator.state = _state(about["generators"][name])
    for field in fields(history):
        setattr(history, field.name, about["history"][field.name])
    lowest = np.inf if about["best"] is None else about["best"]
    return lowest, [ops.to_backend(array) for array in best] or None


def _arrays(task):
    """{name: array} of the weights, and of what the optimiser keeps."""
    parameters = task.net.parameters()
    return parameters | {
        f"{kind}.{name}": array
        for kind, arrays in task.optimiser.state.items()
        for name, array in zip(parameters, arrays, strict=True)
    }


def _generators(task):
    layers = {f"layer {i}": layer.rng for i, layer in enumerate(task.net) if getattr(layer, "rng", None) is not None}
    return {"rng": task.rng, **layers}


def _read(stored, name, like, path):
    header = stored.header(name)
    if header.shape != tuple(like.shape) or header.dtype != like.dtype:
        raise CheckpointError(
            f"{path}: {name} is {header.dtype} {header.shape}, and here {like.dtype} {tuple(like.shape)}. Build the "
            "network as it was."
        )
    return header.read()


def _require_fit(found, wanted, path):
    for name, value in wanted.items():
        if found[name] != value:
            raise CheckpointError(
                f"{path} is of another training: its {name} is {found[name]!s:.80}, and here it is {value!s:.80}. "
                "Train with the same network, data, seeds and settings, or begin anew, without resume=True."
            )


def _print_of(array):
    """Shape, dtype and a digest of an array (...)."""
    digest = hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=8).hexdigest()
    return f"{array.dtype} {list(array.shape)} {digest}"


def _plain(value):
    """Return a NumPy value as JSON can hold it; a generator's state has arrays in it."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": str(value.dtype)}
    return value.item()


def _state(state):
    """Undo `_plain` in a generator's state."""
    if not isinstance(state, dict):
        return state
    if state.keys() == {"array", "dtype"}:
        return np.array(state["array"], state["dtype"])
    return {name: _state(value) for name, value in state.items()}
