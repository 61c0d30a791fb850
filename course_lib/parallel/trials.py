"""Many trainings that have nothing to say to each other: trials of hyperparameters, on one machine or a cluster.

The easiest work to share there is: no rank waits for another. Who runs which trial when is not decided here but by
Dask's scheduler, the one that `course grade` uses; without it trials run one after the other. Every result is written
at once, as a line, and what is in the file is not run again.

Source: the course's own; dask.distributed.
"""

import json
from itertools import product

from course_lib.paths import user_path


def grid(**choices):
    """Return all combinations of settings, a list of dicts: grid(lr=[0.1, 0.2], hidden=[32]) has two. No errors.

    Source: the course's own.
    """
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def run_trials(trial, settings, path, client=None):
    """Call trial(**settings) for each of many settings, keep what it returns in a file, and return all of it.

    Parameters
    ----------
    trial : function
        Returns a dict of plain values, such as {"val_accuracy": 0.93}. On a cluster its workers must be able to import
        it, or it must stand in a notebook.
    settings : list of dict
        Plain values that JSON can hold.
    path : str or Path
        A text file; each line has the settings and the result of a trial. What it has already is not run again: so an
        interrupted run goes on, and new settings can be added.
    client : distributed.Client, optional
        A cluster of Dask's: Client() has the cores of this machine, Client(address) those of many.

    Returns
    -------
    list of dict
        Settings and result together, in the order of `settings`.

    Raises
    ------
    ValueError
        If a setting is given twice, a result has a setting's name, or the file has a line that is none of a trial.
    Exception
        Of the first trial that failed, with its settings as a note; results before it are kept.

    Source: the course's own; dask.distributed, "Futures".
    """
    path, wanted = user_path(path), {_key(one): one for one in settings}
    if len(wanted) < len(settings):
        raise ValueError("some settings are given twice; each needs one trial: with another seed they would differ.")
    found = _read(path)
    left = [key for key in wanted if key not in found]
    with path.open("a", encoding="utf-8") as file:
        for key, result in _results(trial, {key: wanted[key] for key in left}, client):
            if taken := wanted[key].keys() & result.keys():
                raise ValueError(f"the result has {', '.join(sorted(taken))}, which is the name of a setting.")
            json.dumps(result)  # before anything is written
            file.write(json.dumps({"settings": wanted[key], "result": result}) + "\n")
            file.flush()
            found[key] = result
    return [one | found[key] for key, one in wanted.items()]


def _results(trial, settings, client):
    """Yield (key, result) as trials end."""
    if client is None:
        for key, one in settings.items():
            with _told(one):
                yield key, trial(**one)
        return
    from distributed import as_completed

    # pure=False: a trial may draw random numbers, so equal arguments need not mean an equal result.
    futures = {client.submit(trial, **one, pure=False): key for key, one in settings.items()}
    try:
        for future in as_completed(futures):
            key = futures[future]
            with _told(settings[key]):
                result = future.result()
            yield key, result
    finally:
        client.cancel(list(futures))


class _told:
    """Adds the settings of a trial to its error."""

    def __init__(self, settings):
        self.settings = settings

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None and not isinstance(error, GeneratorExit):
            error.add_note(f"This was the trial {self.settings}; what was done before is kept.")


def _key(settings):
    return json.dumps(settings, sort_keys=True)


def _read(path):
    """Return {key: result} of a file; {} if there is none yet. A last line without an end was cut off, and is left."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError:
        return {}
    if lines and not lines[-1].endswith("\n"):
        path.write_text("".join(lines[:-1]), encoding="utf-8")
        lines.pop()
    found = {}
    for number, line in enumerate(lines, start=1):
        try:
            one = json.loads(line)
            found[_key(one["settings"])] = one["result"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ValueError(
                f"line {number} of {path.name} is not of a trial: {line.strip():.60}. Another file?"
            ) from error
    return found
