"""`python -m course_lib`: the `course` command, also where its script does not start (a folder that was moved)."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `course` command and exit."""
    try:
        from course_lib.cli import app
    except KeyboardInterrupt:  # Ctrl-C before there is anything that could be stopped
        print("course: stopped.", file=sys.stderr)
        sys.exit(130)
    app()


if __name__ == "__main__":
    main()
