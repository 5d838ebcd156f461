"""What a run of the program costs: seconds, processor seconds and peak memory.

GNU time starts it, because the peak that the system knows of a child begins with that of its parent, and Python is larger than some.
"""

import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Usage:
    code: int
    said: str
    seconds: float
    processor: float
    megabytes: float


def measure(command: list[str], folder: Path) -> Usage:
    with tempfile.NamedTemporaryFile("r") as notes:
        before, began = children(), time.monotonic()
        timed = ["/usr/bin/time", "-q", "-f", "%M", "-o", notes.name, *command]
        run = subprocess.run(timed, cwd=folder, stderr=subprocess.PIPE, text=True, errors="replace")
        seconds, processor = time.monotonic() - began, children() - before
        return Usage(run.returncode, run.stderr, seconds, processor, int(notes.read()) / 1024)


def children() -> float:
    """Processor seconds of all children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
