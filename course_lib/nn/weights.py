"""Save and load a network's weights: plain arrays in an .npz file, nothing that could run.

Python's pickle can execute code when it is read. These files are read with pickle switched off,
so weights from a stranger are safe to load.
"""

import os
import tempfile
from pathlib import Path

import numpy as np


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
        The usual ending is .npz; none is added.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.

    Source: the course's own.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot save {path.name}: the folder {path.parent} does not exist. Create it first.")
    # Write beside the target and rename: a full disk or an interrupt leaves an older file untouched.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **{name: net.ops.to_host(p) for name, p in net.parameters().items()})
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes files that only their owner reads
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


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
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no weights file {path}; save one with nn.save_weights(net, path).")
    stored, parameters = _read(path), net.parameters()
    missing, extra = sorted(parameters.keys() - stored.keys()), sorted(stored.keys() - parameters.keys())
    if missing or extra:
        raise WeightsError(
            f"{path.name} does not fit this network: it lacks {missing or 'nothing'} and has {extra or 'nothing'} "
            "besides. Build the network with the same layers as the one that was saved."
        )
    for name, parameter in parameters.items():
        array = stored[name]
        if array.shape != parameter.shape:
            raise WeightsError(
                f"{path.name}: {name} is {array.shape}, the network's is {parameter.shape}. "
                "Build the network with the same layer sizes as the one that was saved."
            )
        if array.dtype != parameter.dtype:
            raise WeightsError(
                f"{path.name}: {name} is {array.dtype}, the network's is {parameter.dtype}. "
                f"Build the network with dtype=np.{array.dtype}."
            )
        if not np.isfinite(array).all():
            raise WeightsError(f"{path.name}: {name} holds NaN or infinity; it was saved after training diverged.")
    for name, parameter in parameters.items():
        net.ops.assign(parameter, stored[name])


def _read(path):
    try:
        archive = np.load(path, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it holds one array, not an archive of named arrays")
        with archive:
            stored = {name: archive[name] for name in archive.files}
        if odd := [name for name, array in stored.items() if not isinstance(array, np.ndarray)]:
            raise ValueError(f"{odd[0]} in it is no array")
        return stored
    except Exception as error:  # a damaged or forged archive fails in a dozen ways, MemoryError among them
        raise WeightsError(
            f"{path.name} is not a weights file: {error}. Weights are .npz files of plain numbers, "
            "as nn.save_weights writes them; pickled objects are refused because reading them can run code."
        ) from error
