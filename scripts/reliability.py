#!/usr/bin/env python3
"""Makes life hard for lfield and checks that nothing is lost, half-written or let in. Prints Markdown tables.

    python3 scripts/reliability.py interrupts   signals at random moments
    python3 scripts/reliability.py calls        every call to the system failing in turn (needs strace)
    python3 scripts/reliability.py bombs        small files that claim to be huge: seconds and memory until they are refused
    python3 scripts/reliability.py memory       peak memory against the estimate that `segment -v` prints

Stops at the first thing that must not happen, with exit code 1.
"""

import argparse
import sys
from pathlib import Path

from hardship import bombs, calls, interrupts, memory
from hardship.desk import ROOT, Wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["interrupts", "calls", "bombs", "memory"])
    parser.add_argument("--lfield", type=Path, default=ROOT / "target/release/lfield", help="the program")
    parser.add_argument("--runs", type=int, default=250, help="interrupted runs per signal")
    parser.add_argument("--seed", type=int, default=7, help="of the random moments")
    parser.add_argument("--megapixels", type=float, nargs="+", default=[1, 4, 12, 24], help="sizes for memory")
    parser.add_argument("--largest", action="store_true", help="memory: the largest photo that is accepted here, as by default")
    arguments = parser.parse_args()
    program = arguments.lfield.resolve()
    try:
        match arguments.what:
            case "interrupts":
                interrupts.main(program, arguments.runs, arguments.seed)
            case "calls":
                calls.main(program)
            case "bombs":
                bombs.main(program)
            case "memory":
                memory.main(program, arguments.megapixels, arguments.largest)
    except Wrong as wrong:
        print(f"wrong: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
