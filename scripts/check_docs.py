#!/usr/bin/env python3
"""Checks the documentation; prints what is wrong, one line each, and exits with 1 if there is anything.

    python3 scripts/check_docs.py [limits|links|options|blocks|commands …]     all of them without a name

- limits: README.md has at most 150 lines of at most 140 characters, and its first fenced block holds two commands;
- links: every link to a file of the repository, and every anchor, leads somewhere;
- options: every option in `lfield COMMAND --help` is in docs/options.md, under its command;
- blocks: what `refresh_docs.py` makes from the program alone (options, schema) is up to date;
- commands: every command in the ```sh blocks of README.md and docs/ succeeds.

A block preceded by `<!-- not run: REASON -->` is not run, one preceded by `<!-- needs: TOOL -->` only where the tool is. `cargo` runs in the repository with the target directory in use; everything
else in a scratch folder with a copy of data/ and scripts/, `lfield` on the path, one folder per page. `cargo test` is left to
.ci/run, which must contain it. Needs Python 3.9 and the program: LFIELD=path/to/lfield, else `cargo build --release`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

import refresh_docs

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES, MAX_WIDTH = 150, 140
# Seconds that one command of the documentation may take.
PATIENCE = 900


def main():
    checks = {"limits": limits, "links": links, "options": options, "blocks": blocks, "commands": commands}
    wanted = sys.argv[1:] or list(checks)
    if unknown := [name for name in wanted if name not in checks]:
        sys.exit(f"unknown check: {', '.join(unknown)}; there are {', '.join(checks)}")
    wrong = 0
    for name in wanted:
        began = time.monotonic()
        complaints = list(checks[name]())
        print(f"{name}: {'ok' if not complaints else len(complaints)} ({time.monotonic() - began:.0f} s)")
        for complaint in complaints:
            print(f"  {complaint}")
        wrong += len(complaints)
    return 1 if wrong else 0


def pages():
    """README.md and the pages of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def limits():
    text = (ROOT / "README.md").read_text()
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        yield f"README.md has {len(lines)} lines; {MAX_LINES} are allowed"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_WIDTH:
            yield f"README.md:{number} has {len(line)} characters; {MAX_WIDTH} are allowed"
    first = next(fences(text), None)
    if first is None or first.language != "sh" or len(first.commands()) != 2:
        yield "README.md: the first fenced block is not a ```sh block of two commands"
    elif first.commands()[1] != "cargo test":
        yield f"README.md: the second command is not `cargo test` but `{first.commands()[1]}`"


# Links


def links():
    markdown = [path for path in tracked() if path.suffix == ".md"]
    for page in markdown:
        for number, target in targets(page.read_text()):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            found = (page.parent / path).resolve() if path else page
            where = f"{page.relative_to(ROOT)}:{number}"
            if not found.exists():
                yield f"{where}: there is no {target}"
            elif anchor and found.suffix == ".md" and anchor not in anchors(found.read_text()):
                yield f"{where}: {target} has no such heading"


def tracked():
    """The files of the repository, or of the packed crate."""
    if (ROOT / ".git").exists():
        names = run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT).splitlines()
        return [path for path in map(ROOT.joinpath, names) if path.is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and "target" not in path.parts]


def targets(text):
    """Line and target of every link and picture outside code."""
    for number, line in prose(text):
        line = re.sub(r"`[^`]*`", "``", line)
        for match in re.finditer(r"\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)", line):
            yield number, match[1]


def anchors(text):
    """GitHub's names for the headings of a page."""
    found = {}
    names = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for _, line in prose(text):
        if heading := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            slug = "".join(c for c in plain if c in "-_ " or unicodedata.category(c)[0] in "LN").replace(" ", "-")
            count = found.get(slug, 0)
            found[slug] = count + 1
            names.add(f"{slug}-{count}" if count else slug)
    return names


def prose(text):
    """Numbered lines outside fenced blocks."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None:
            if line.strip() == fence:
                fence = None
        else:
            yield number, line


# Options and generated blocks


def options():
    text = (ROOT / "docs/options.md").read_text()
    sections = dict(zip(re.findall(r"^## `lfield (\w+)", text, re.M), re.split(r"^## `lfield \w+.*$", text, flags=re.M)[1:]))
    everywhere = text[: text.find("## `lfield")]
    for command in refresh_docs.commands():
        section = sections.get(command)
        if section is None:
            yield f"docs/options.md has no section on `lfield {command}`"
            continue
        # "The same as for `lfield segment`" stands for what that section says.
        for other in re.findall(r"as for \[`lfield (\w+)`\]", section):
            section += sections.get(other, "")
        for option in refresh_docs.option_names(command):
            if not re.search(rf"`(-\w, )?{option}(?![\w-])", everywhere + section):
                yield f"docs/options.md: `lfield {command}` has {option}, which is not there"


def blocks():
    for name in refresh_docs.unmade():
        yield f"nothing makes the block {name}"
    for name in refresh_docs.outdated():
        yield f"block {name} is out of date: python3 scripts/refresh_docs.py {name}"


# Commands


class Fence:
    def __init__(self, language, line, text, excuse):
        self.language, self.line, self.text, self.excuse = language, line, text, excuse

    def commands(self):
        """The lines, continued ones joined, comments and blank ones left out."""
        joined = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [line.strip() for line in joined if line.strip() and not line.strip().startswith("#")]


def fences(text):
    """The fenced blocks of a page, each with the excuse before it."""
    lines = text.splitlines()
    number, excuse = 0, None
    while number < len(lines):
        line = lines[number]
        if note := re.match(r"\s*<!-- not run: (.+?) -->", line):
            excuse = note[1]
        elif note := re.match(r"\s*<!-- needs: ([\w-]+) -->", line):
            excuse = None if shutil.which(note[1]) else f"{note[1]} is not installed"
        elif mark := re.match(r"(\s*)(```+)\s*([\w,-]*)", line):
            end = next(n for n in range(number + 1, len(lines)) if lines[n].strip() == mark[2])
            yield Fence(mark[3], number + 1, "\n".join(lines[number + 1 : end]), excuse)
            number, excuse = end, None
        elif line.strip():
            excuse = None
        number += 1


def commands():
    program = refresh_docs.program()
    ran = excused = 0
    with tempfile.TemporaryDirectory() as top:
        tools = Path(top) / "bin"
        tools.mkdir()
        (tools / "lfield").symlink_to(program)
        environment = {
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "CARGO_TARGET_DIR": str(refresh_docs.target()),
            "CARGO_INSTALL_ROOT": f"{top}/installed",
            "HOME": f"{top}/home",
            # With another home these would be looked for there.
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
        }
        for page in pages():
            scratch = Path(top) / page.stem
            for folder in ("data", "scripts"):
                shutil.copytree(ROOT / folder, scratch / folder, ignore=shutil.ignore_patterns("__pycache__"))
            for fence in fences(page.read_text()):
                if fence.language != "sh":
                    continue
                if fence.excuse:
                    excused += len(fence.commands())
                    continue
                for command in fence.commands():
                    ran += 1
                    if fault := attempt(command, scratch, environment):
                        yield f"{page.relative_to(ROOT)}:{fence.line}: `{command}`: {fault}"
    print(f"  {ran} commands run, {excused} exempt")


def attempt(command, scratch, environment):
    """Why the command is not all right."""
    if command == "cargo test":
        lines = (ROOT / ".ci/run").read_text().splitlines() if (ROOT / ".ci/run").exists() else ["step cargo test"]
        return None if "step cargo test" in lines else ".ci/run does not run it"
    where = ROOT if command.startswith("cargo ") else scratch
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command], cwd=where, env=environment, text=True, timeout=PATIENCE,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
    except subprocess.TimeoutExpired:
        return f"takes more than {PATIENCE} seconds"
    if done.returncode != 0:
        return f"exit code {done.returncode}: {(done.stdout.strip().splitlines() or ['no output'])[-1]}"


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


if __name__ == "__main__":
    sys.exit(main())
