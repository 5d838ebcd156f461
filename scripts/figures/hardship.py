"""What reliability.py and fuzz.sh find."""

import sys

from .desk import ROOT, first_tables, program, run, table

FUZZ_MINUTES = 30


def interrupts(desk):
    return reliability("interrupts")


def calls(desk):
    return reliability("calls")


def bombs(desk):
    return reliability("bombs")


def memory(desk):
    return reliability("memory", "--megapixels", "0.25", "1", "4")


def reliability(*arguments):
    """The script stops with an error at the first thing that must not happen."""
    head, *rows = first_tables(run([sys.executable, "scripts/reliability.py", *arguments, "--lfield", program()], cwd=ROOT))[0]
    return table(head, rows)


def fuzz(desk):
    lines = run(["scripts/fuzz.sh", FUZZ_MINUTES], cwd=ROOT).splitlines()
    return table(["target", "executions", "processor minutes", "findings"], [line.split() for line in lines[1:]])
