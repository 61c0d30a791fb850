"""One test for many small cases of one truth: it goes through all of them and lists those that fail.

`@pytest.mark.parametrize` makes a test of each case, which costs a millisecond in every process that collects it.
Where a file has hundreds of cases that each take less, `@all_of` takes its place; the arguments are the same.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

MOST_SHOWN = 20
"""Offenders that a message lists; of the others it tells the number."""


def all_of(names: str | tuple[str, ...], cases: Iterable, ids: Iterable[str] | Callable | None = None) -> Callable:
    """Call a test for each case and fail with all offenders; a case that is skipped is left out.

    Parameters
    ----------
    names : str or tuple of str
        The arguments of the test that a case gives; a single name takes the case as it is.
    cases : iterable
        At least one; with several names, a case holds a value for each.
    ids : iterable of str, or a function of a value, optional
        What the message calls the cases; their repr unless given.

    Raises
    ------
    ValueError
        If there are no cases: such a test would show nothing.

    Source: the course's own.
    """
    single = isinstance(names, str)
    cases = list(cases)
    if not cases:
        raise ValueError(f"there are no cases of {names}; a test without cases shows nothing.")
    shown = [ids(case) if callable(ids) else repr(case) for case in cases] if ids is None or callable(ids) else [*ids]

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def together(**fixtures: Any) -> None:
            failed, first = [], None
            for case, name in zip(cases, shown, strict=True):
                given = {names: case} if single else dict(zip(names, case, strict=True))
                try:
                    test(**fixtures, **given)
                except pytest.skip.Exception:
                    continue
                except Exception as error:
                    first = first or error
                    failed.append(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}")
            if failed:
                more = [f"and {len(failed) - MOST_SHOWN} more"] * (len(failed) > MOST_SHOWN)
                lines = "\n".join(failed[:MOST_SHOWN] + more)
                raise AssertionError(f"{len(failed)} of {len(cases)} cases fail:\n{lines}") from first

        signature = inspect.signature(test)
        given = {names} if single else set(names)
        kept = [p for name, p in signature.parameters.items() if name not in given]
        together.__signature__ = signature.replace(parameters=kept)
        return together

    return decorate
