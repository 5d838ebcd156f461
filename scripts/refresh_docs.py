#!/usr/bin/env python3
"""Makes the tables and figures of README.md, docs/ and CONTRIBUTING.md, and writes them between their markers.

    python3 scripts/refresh_docs.py --list            names, how long they take, the commit of what is there, what they need
    python3 scripts/refresh_docs.py NAME …            make these
    python3 scripts/refresh_docs.py measured          make all that is measured, so that all figures are of one commit; hours
    python3 scripts/refresh_docs.py --data DIR speed  with the photo sets (coopcut/, gsc/) in DIR
    python3 scripts/refresh_docs.py --dry-run NAME    print instead of writing

A block stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. What is measured ends with a line that gives the command, the date,
the machine and the commit; a busy machine is said to be busy. What follows from the program alone (options, report) has no such line, and
`check_docs.py` compares it instead. Some makers fill a second block, NAME-line or NAME-short. Needs Python 3.9 and what --list says.
"""

import argparse
import re
import sys
from pathlib import Path

from figures import hardship, scores, speed, text
from figures.desk import ROOT, Desk, commands, option_names, program, stamp, target  # noqa: F401  (check_docs uses them)

# Name: (maker, whether it is measured, what it needs, about how many minutes on two quiet cores).
MAKERS = {
    "options": (text.options, False, "", 0),
    "report": (text.report, False, "", 0),
    "example": (text.example, True, "", 0),
    "samples": (scores.samples, True, "", 1),
    "peers": (scores.peers, True, "photo sets, network for the first run", 25),
    "priors": (scores.priors, True, "photo sets, network for the first run", 45),
    "methods": (scores.methods, True, "photo sets", 25),
    "paper": (scores.paper, True, "photo sets", 10),
    "speed": (speed.speed, True, "photo sets, a quiet machine", 1),
    "kernels": (speed.kernels, True, "a quiet machine", 2),
    "scaling": (speed.scaling, True, "a quiet machine", 4),
    "proxtv": (speed.proxtv, True, "a quiet machine, .venv-proxtv (scripts/README.md)", 3),
    "meanshift": (speed.meanshift, True, "photo sets, a quiet machine, .venv-meanshift (scripts/README.md)", 5),
    "large": (speed.large, True, "a quiet machine, .venv (scripts/README.md), 4 GB of memory", 20),
    "build": (speed.build, True, "a quiet machine", 12),
    "ci": (speed.ci, True, "a quiet machine", 15),
    "refusals": (hardship.refusals, True, "", 1),
    "interrupts": (hardship.interrupts, True, "", 20),
    "calls": (hardship.calls, True, "strace", 20),
    "bombs": (hardship.bombs, True, "GNU time", 1),
    "memory": (hardship.memory, True, "GNU time, a quiet machine", 10),
    "fuzz": (hardship.fuzz, True, "nightly Rust, cargo-fuzz", 210),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data", help="folder of the photo sets coopcut/ and gsc/")
    parser.add_argument("--dry-run", action="store_true", help="print instead of writing")
    options = parser.parse_args()
    if options.list or not options.names:
        for name, (_, _, needs, minutes) in MAKERS.items():
            places = ", ".join(str(page.relative_to(ROOT)) for page in pages() if re.search(rf"<!-- {name}(-line|-short)?:begin -->", page.read_text()))
            print(f"{name:<11} {minutes:>3} min  {vintage(name):<8} {places or '(nowhere)'}" + (f"; needs {needs}" if needs else ""))
        return 0
    names = [name for name, (_, is_measured, _, _) in MAKERS.items() if is_measured] if options.names == ["measured"] else options.names
    if unknown := [name for name in names if name not in MAKERS]:
        parser.error(f"unknown: {', '.join(unknown)}; --list shows what there is")
    for name in names:
        for block, content in make(name, options.data).items():
            print(content if options.dry_run else f"{block}: written to {', '.join(write(block, content)) or 'no page: it has no markers'}")
    return 0


def vintage(name):
    """The commit that the figures in the pages are of; nothing for what is not measured, or not made yet."""
    found = [re.search(r"commit ([0-9a-f]{7})", match[2]) for page in pages() for match in pattern(name).finditer(page.read_text())]
    return next((commit[1] for commit in found if commit), "")


def make(name, data):
    """The blocks that a maker fills, each as Markdown."""
    maker, is_measured, _, _ = MAKERS[name]
    command = f"python3 scripts/refresh_docs.py {name}"
    line = stamp(command) if is_measured else None
    made = maker(Desk(data))
    made = made if isinstance(made, dict) else {name: made}
    return {block: content.strip() + (f"\n\n{line}" if line else "") for block, content in made.items()}


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def pattern(block):
    return re.compile(rf"(<!-- {re.escape(block)}:begin -->\n)(.*?)(\n<!-- {re.escape(block)}:end -->)", re.S)


def write(block, content):
    """Puts the content between the markers of every page that has them; the pages."""
    written = []
    for page in pages():
        changed, count = pattern(block).subn(lambda match: match[1] + content + match[3], page.read_text())
        if count:
            page.write_text(changed)
            written.append(str(page.relative_to(ROOT)))
    return written


def outdated():
    """Names of what follows from the program alone and differs from what stands in the pages."""
    for name, (_, is_measured, _, _) in MAKERS.items():
        if is_measured:
            continue
        for block, content in make(name, ROOT).items():
            if any(match[2] != content for page in pages() for match in pattern(block).finditer(page.read_text())):
                yield name


def unmade():
    """Blocks in the pages that no maker fills."""
    for page in pages():
        for block in re.findall(r"^<!-- ([\w-]+):begin -->$", page.read_text(), re.M):
            if re.sub(r"-(line|short)$", "", block) not in MAKERS:
                yield f"{block} in {page.relative_to(ROOT)}"


if __name__ == "__main__":
    sys.exit(main())
