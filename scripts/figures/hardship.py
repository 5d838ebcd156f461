"""What reliability.py and fuzz.sh find."""

import re
import sys

from .desk import ROOT, first_tables, program, run, table

FUZZ_MINUTES = 30


def refusals(desk):
    """How many cases the tables of bad inputs hold, counted by their test."""
    printed = run(["cargo", "test", "--quiet", "--test", "it", "distinct_cases", "--", "--nocapture"], cwd=ROOT)
    return f"The tables of `tests/it/bad_input` hold {re.search(r'([0-9]+) bad inputs', printed)[1]} different commands."


def interrupts(desk):
    return reliability("interrupts")


def calls(desk):
    return reliability("calls")


def bombs(desk):
    """A row per file instead of one per file and reading."""
    _, *rows = printed("bombs")
    files = {row[0]: [other for other in rows if other[0] == row[0]] for row in rows}
    return table(
        ["file", "megabytes", "read as", "refused as", "processor, ms", "peak MB"],
        [[name, found[0][1], len(found), sum(row[3] != "0" for row in found), span(found, 5, 1000), span(found, 6, 1)] for name, found in files.items()],
    )


def span(rows, column, factor):
    values = sorted(round(float(row[column]) * factor) for row in rows)
    return f"{values[0]} to {values[-1]}"


def memory(desk):
    return reliability("memory", "--megapixels", "0.25", "1", "4")


def reliability(*arguments):
    head, *rows = printed(*arguments)
    return table(head, rows)


def printed(*arguments):
    """The table that the script prints. It stops with an error at the first thing that must not happen."""
    return first_tables(run([sys.executable, "scripts/reliability.py", *arguments, "--lfield", program()], cwd=ROOT))[0]


def fuzz(desk):
    lines = run(["scripts/fuzz.sh", FUZZ_MINUTES], cwd=ROOT).splitlines()
    return table(["target", "executions", "processor minutes", "findings"], [line.split() for line in lines[1:]])
