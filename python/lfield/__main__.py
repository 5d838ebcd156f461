"""The ``lfield`` command: the Rust program's own main."""

import signal
import sys

from ._lfield import main as run


def main() -> None:
    """Runs the program on this process's arguments and ends with its exit code."""
    # Python would only take note of Ctrl-C; the program has its own way to end, with code 130.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise SystemExit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
