"""Save and load a network's weights: plain arrays in an .npz file, nothing that could run.

Python's pickle can execute code when it is read. These files are read with pickle switched off,
so weights from a stranger are safe to load.
"""

import numpy as np

from course_lib.npz import NpzError, open_npz
from course_lib.paths import user_path, write_whole


class WeightsError(ValueError):
    """A weights file cannot be read or does not fit the network; the message says which array and why.

    Source: the course's own.
    """


def save_weights(net, path):
    """Write every parameter under its name ("0.w", ...) to `path`, completely or not at all.

    Parameters
    ----------
    net : Sequential
    path : str or Path
        The usual ending is .npz; none is added. A link stays a link, and an older file's mode stays.

    Raises
    ------
    OSError
        FileNotFoundError if the folder does not exist, PermissionError if nothing can be written there, and others of
        the kind, such as for a full disk; an older file is then as it was.

    Source: the course's own.
    """
    arrays = {name: net.ops.to_host(p) for name, p in net.parameters().items()}
    write_whole(path, lambda file: np.savez(file, **arrays))


def load_weights(net, path):
    """Read parameters from `path` into `net`, in place; nothing changes unless all of them fit.

    Parameters
    ----------
    net : Sequential
    path : str or Path

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    WeightsError
        If it is no .npz file of plain numbers, or names, shapes, dtypes or values do not fit the network.

    Source: the course's own.
    """
    path, parameters = user_path(path), net.parameters()
    try:
        if not path.is_file():
            raise _no_file(path)
        with open_npz(path) as stored:
            arrays = _fitting(stored, path, parameters)
    except (FileNotFoundError, IsADirectoryError):
        raise
    except OSError as error:
        raise WeightsError(f"{str(path)[:200]} cannot be read: {error.strerror or error}.") from error
    except NpzError as error:
        raise WeightsError(
            f"{path.name} is not a weights file: {error}. Weights are .npz files of plain numbers, "
            "as nn.save_weights writes them; pickled objects are refused because reading them can run code."
        ) from error
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise WeightsError(f"{path.name}: {name} holds NaN or infinity; it was saved after training diverged.")
    for name, parameter in parameters.items():
        net.ops.assign(parameter, arrays[name])


def _fitting(stored, path, parameters):
    """{name: array} for every parameter; names, shapes and dtypes are compared before any array is unpacked."""
    file = path.name
    missing, extra = sorted(parameters.keys() - {*stored.names}), sorted({*stored.names} - parameters.keys())
    if missing or extra:
        raise WeightsError(
            f"{file} does not fit this network: it lacks {missing or 'nothing'} and has {_some(extra) or 'nothing'} "
            "besides. Build the network with the same layers as the one that was saved."
        )
    headers = {name: stored.header(name) for name in parameters}
    for name, parameter in parameters.items():
        found = headers[name]
        if found.shape != parameter.shape:
            raise WeightsError(
                f"{file}: {name} is {found.shape}, the network's is {parameter.shape}. "
                "Build the network with the same layer sizes as the one that was saved."
            )
        if found.dtype != parameter.dtype:
            raise WeightsError(
                f"{file}: {name} is {found.dtype}, the network's is {parameter.dtype}. "
                + _advice(found.dtype, parameter.dtype, path)
            )
    return {name: header.read() for name, header in headers.items()}


def _advice(dtype, wanted, path):
    """What to type for weights of another type than the one that is wanted."""
    if dtype in (np.float32, np.float64):
        return f"Build the network with dtype=np.{dtype}."
    if dtype.kind not in "fiub":
        return "Weights are real numbers: save them anew, with nn.save_weights(net, path)."
    what = "Its bytes are in the other order" if dtype.newbyteorder("=") != dtype else "Weights are float32 or float64"
    file = str(path)
    return (
        f"{what}. Convert the file: stored = dict(np.load({file!r})); np.savez({file!r}, **{{name: "
        f"array.astype(np.{wanted}) for name, array in stored.items()}})"
    )


def _no_file(path):
    if path.is_dir():
        held = sorted(p.name for p in path.glob("*.npz"))
        return IsADirectoryError(
            f"{path} is a folder, not a weights file; the .npz files in it: {_some(held) or 'none'}."
        )
    if path.exists():
        return FileNotFoundError(f"{path} is no ordinary file but a device or a pipe. Name a file with weights.")
    if path.is_symlink():
        return FileNotFoundError(f"there is no weights file {path}: it is a link that leads nowhere.")
    return FileNotFoundError(f"there is no weights file {path}; save one with nn.save_weights(net, path).")


def _some(names, most=8):
    """A list of names as text, cut where it gets long."""
    return names and f"{names[:most]}" + (f" and {len(names) - most} more" if len(names) > most else "")
