"""`course ranks`: run a script as several processes by MPI, and say how each of them ended."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["ranks"]


def ranks(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(help='Calls parallel.run(work, engine="mpi"); its arguments follow.')],
    count: Annotated[int, typer.Option("-n", "--ranks", min=1, help="How many processes.")] = 2,
    grace: Annotated[float, typer.Option(min=0, help="Seconds a rank has left after another ended badly.")] = 10.0,
) -> None:
    """Run a script as ranks, a process each, by MPI; exit status 1 if one of them ends badly."""
    from course_lib.parallel.launch import launch

    try:
        endings = launch(script, context.args, ranks=count, grace=grace)
    except FileNotFoundError as error:
        typer.echo(f"course ranks: {error}", err=True)
        raise typer.Exit(1) from None
    if any(ending.status != 0 for ending in endings):
        for ending in endings:
            typer.echo(f"rank {ending.rank} {ending.words}", err=True)
        raise typer.Exit(1)
