"""`course bench`: measure how fast the library is, against a rival in the same run."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from course_lib.cli.ending import FOLDER_IS_GONE, folder_is_gone
from course_lib.cli.places import takes_files

__all__ = ["bench"]

bench = typer.Typer(help="Measure the library against a rival in the same run.", no_args_is_help=True)


@bench.callback()
def _group() -> None:
    """Measure the library against a rival in the same run."""


@bench.command()
def cpu(
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of every rival; default: all CPUs.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="Images in a batch.")] = 64,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; a round times every rival once.")] = 30,
    out: Annotated[Path, typer.Option(help="Folder for the JSON file.")] = Path("results"),
) -> None:
    """Training steps and layers of LeNet-5 and an MLP: reference, fast, and PyTorch if it is installed."""
    from rich.console import Console

    _require_place(out)
    from course_lib.bench import bench_cpu, tables
    from course_lib.bench.rivals import has_torch

    console = Console(highlight=False)
    console.width = max(console.width, 110)  # a wrapped table of numbers cannot be read
    if not has_torch():
        console.print("PyTorch is not installed, so there is no rival to compare with: pip install '.\\[torch]'")
    with console.status("measuring") as status:
        report = bench_cpu(
            threads=threads,
            batch=batch,
            rounds=rounds,
            on_row=lambda row: status.update(f"measured: {row.network}, {row.part} {row.direction}"),
        )
    machine = report.machine
    console.print(f"{machine['cpu']}, {report.threads} thread(s), batches of {report.batch}")
    console.print(f"BLAS: {machine['blas']}; {_versions(machine)}")
    for table in tables(report.rows):
        console.print(table)
    console.print(f"Compiling the kernels of LeNet-5, once per machine: {report.first_call_seconds:.1f} s.")
    _save(console, report, out, "cpu")


@bench.command()
def simt(
    kernel: Annotated[list[str] | None, typer.Option(help="Only this kernel; give it again for more.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; a round times every rival once.")] = 7,
    out: Annotated[Path, typer.Option(help="Folder for the JSON file.")] = Path("results"),
) -> None:
    """Twelve kernels without a GPU: the SIMT executor, with counters and without, and Numba's simulator (minutes)."""
    _require_place(out)
    from rich.console import Console

    from course_lib.bench.simt import bench_simt, simt_tables

    console = Console(highlight=False)
    console.width = max(console.width, 130)
    with console.status("measuring") as status:
        try:
            report = bench_simt(
                kernels=kernel,
                rounds=rounds,
                on_row=lambda row: status.update(f"measured: {row.kernel}, {row.shape}"),
            )
        except ValueError as error:
            console.print(f"[bold red]{error}[/]")
            raise typer.Exit(1) from None
    console.print(f"{report.machine['cpu']}, {report.rounds} rounds; {_versions(report.machine)}")
    for table in simt_tables(report):
        console.print(table)
    for what, kept in report.promises():
        console.print(f"{'kept' if kept else '[bold red]not kept[/]'}: {what}")
    _save(console, report, out, "simt")


@bench.command()
def gpu(
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Only what begins so: gemm, conv, compile, launch, training, epoch, or a case; again for more."
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; a round times every rival once.")] = 20,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that compile at a time.")] = 4,
    out: Annotated[Path, typer.Option(help="Folder for the JSON file; a part is added to what is there.")] = Path(
        "results"
    ),
) -> None:
    """Every kernel of the library on this machine's GPU, verified and timed, against cuBLAS and cuDNN (minutes)."""
    _require_place(out)
    from dataclasses import asdict

    from rich.console import Console

    from course_lib.bench import write
    from course_lib.bench.gpu import bench_gpu, merged
    from course_lib.bench.gpu.table import tables
    from course_lib.bench.report import short_name
    from course_lib.bench.rivals import has_torch
    from course_lib.cuda.choice import DeviceError

    console = Console(highlight=False)
    console.width = max(console.width, 170)
    if not has_torch():
        console.print("PyTorch is not installed: only our own kernels are timed, without cuBLAS and cuDNN.")

    def keep(
        report,
    ):  # an interrupt loses nothing that was measured; a folder that cannot be written is told at the end
        with suppress(OSError):
            write(merged(report, out / f"gpu.{short_name(report.machine['gpu'])}.json"), out, "gpu")

    with console.status("measuring") as status:
        try:
            report = bench_gpu(only=only, rounds=rounds, jobs=jobs, on_row=status.update, keep=keep)
        except (DeviceError, ValueError) as error:
            console.print(f"[bold red]{error}[/]")
            raise typer.Exit(1) from None
    machine = report.machine
    console.print(f"{machine['gpu']}, driver {machine['driver']}, {report.rounds} rounds; {_versions(machine)}")
    for table in tables(asdict(report)):
        console.print(table)
    failures = report.failures
    for case, player, text in failures:
        console.print(f"[bold red]failed:[/] {case}, {player}: {text}", markup=True)
    _save(console, merged(report, out / f"gpu.{short_name(machine['gpu'])}.json"), out, "gpu")
    if failures:
        raise typer.Exit(1)


def _require_place(out: Path) -> None:
    """Leave with words if nothing can be written to a folder: better said before minutes of measuring than after."""
    if not takes_files(out):
        words = f"no file can be written to {out}. Name another folder with --out."
        typer.echo(f"course bench: {FOLDER_IS_GONE if folder_is_gone() else words}", err=True)
        raise typer.Exit(1)


def _versions(machine) -> str:
    return ", ".join(f"{name} {version}" for name, version in machine["versions"].items())


def _save(console, report, out, name) -> None:
    from course_lib.bench import write

    try:
        console.print(f"Written: {write(report, out, name)}")
    except OSError as error:
        console.print(f"[bold red]{out} cannot be written:[/] {error.strerror}. Choose another folder with --out.")
        raise typer.Exit(1) from None
