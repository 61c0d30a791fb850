"""How every command ends: with its own words and exit status, or with one line about what stopped it.

A full disk, a closed pipe and Ctrl-C can come at any line of any command, so they are told in one place:

| what | line on stderr | exit status |
|---|---|---|
| Ctrl-C | stopped | 130, as shells have it |
| nobody reads the output any more (`course doctor \\| head -1`) | none | 1 |
| the output or a file cannot be written or read | which, and why; COURSE_TRACEBACK=full shows the lines | 1 |
| there is no output at all (`>&-`) | so | 1, before any work |

What a command itself knows better it says itself; an error that is none of these keeps its traceback.

Source: the course's own; POSIX, "Shell Command Language", 2.8.2 (128 and the signal's number).
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator

import typer

__all__ = ["FOLDER_IS_GONE", "CourseApp", "end_well", "folder_is_gone", "told"]

STOPPED, FAILED = 130, 1

FOLDER_IS_GONE = (
    "the folder that this was started in is gone: deleted, or made anew. Change into your copy of the course."
)

_SPACE = "Free some space, or let it write to another disk."
_ADVICE = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EFBIG: "Raise the limit of a file's size, or let it write to another disk.",
    errno.EEXIST: "A file has this name: name another folder.",
    errno.ENOTDIR: "A file has the name of a folder in it: name another place.",
    errno.ENOENT: "Is the name right, and is the folder there?",
    errno.EROFS: "Name a folder that can be written.",
    errno.EACCES: "Ask for the right to it, or name another place.",
    errno.EMFILE: "Close other programs, or raise the limit: ulimit -n 1024.",
}
_WRITING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}


class CourseApp(typer.Typer):
    """A Typer that ends as this module says when it is called as a program."""

    def __call__(self, *arguments: object, **named: object) -> None:
        """Run the command that the arguments name, and exit."""
        end_well(lambda: super(CourseApp, self).__call__(*arguments, **named))


def end_well(command: Callable[[], object]) -> None:
    """Run a command and leave Python with its exit status; `SystemExit` is always raised.

    Parameters
    ----------
    command : callable
        Without arguments; may exit, fail or be stopped.

    Raises
    ------
    SystemExit
    Exception
        What is neither Ctrl-C nor about a file.
    """
    name = _name(sys.argv)
    if not _has_output():
        _say(f"{name}: its output is closed, so nothing was done. To hide what it says, write: > /dev/null")
        raise SystemExit(FAILED)
    status: object = 0
    _have_a_width()
    try:
        command()
    except SystemExit as stop:
        status = stop.code
        if any(isinstance(each, KeyboardInterrupt) for each in _chain(stop)):  # typer made it an exit without a word
            _say(f"{name}: stopped.")
    except KeyboardInterrupt:
        _say(f"{name}: stopped.")
        status = STOPPED
    except Exception as error:
        cause = next((each for each in _chain(error) if _about_a_file(each)), None)
        if cause is None or os.environ.get("COURSE_TRACEBACK") == "full":
            raise
        if not _output_failed(name):
            _say(f"{name}: {told(cause)}")
        status = FAILED
    if _output_failed(name):
        status = status or FAILED
    raise SystemExit(status)


def _name(argv: list[str]) -> str:
    words = [word for word in argv[1:2] if word.isalpha()]
    return " ".join(["course", *words])


def _has_output() -> bool:
    """Return whether there is a stdout; give every closed stream a null device.

    Else the next file that is opened would get the stream's number, and everything printed would land in it.
    """
    there = sys.stdout is not None
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115  kept open
    return there


def folder_is_gone() -> bool:
    """Return whether the current folder was deleted since the shell entered it. No errors."""
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def _have_a_width() -> None:
    """Forget a width of the terminal that is none: a table of 0 columns would be printed as nothing at all."""
    if not os.environ.get("COLUMNS", "").strip("0"):
        os.environ.pop("COLUMNS", None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it came from."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__


def _about_a_file(error: BaseException) -> bool:
    """Return whether an error is the system's word about a file or stream, not a mistake of ours."""
    return isinstance(error, OSError) and error.errno is not None


def told(error: OSError) -> str:
    """Return an error of the system in words: what, which file, and what to do."""
    if not error.errno:
        return str(error)
    if error.errno == errno.ENOENT and not error.filename and folder_is_gone():
        return FOLDER_IS_GONE
    where = f": {error.filename}" if error.filename else ""
    what = "what it says, or a file, cannot be written: " if error.errno in _WRITING and not where else ""
    return f"{what}{error.strerror}{where}. {_ADVICE.get(error.errno or 0, '')}".rstrip()


def _output_failed(name: str) -> bool:
    """Write out what is still to be printed; say it and return True if that cannot be done.

    What is left then goes to the null device, else Python itself would try again at its end, and complain.
    """
    try:
        sys.stdout.flush()
        return False
    except (OSError, ValueError) as error:
        if not isinstance(error, OSError):  # somebody closed it
            return False
        if error.errno != errno.EPIPE:  # nobody reads it any more: `| head` means that
            _say(f"{name}: {told(error)}")
        with contextlib.suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, sys.stdout.fileno())
            os.close(null)
        return True


def _say(line: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(line, file=sys.stderr, flush=True)
