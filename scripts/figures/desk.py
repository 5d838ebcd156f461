"""What all makers share: the program, its help, the machine, and tables."""

import datetime
import functools
import os
import re
import subprocess
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Desk:
    """Where photos are and how commands are run."""

    def __init__(self, data):
        self.data = data

    def photo_set(self, name):
        """The folder of a photo set, which is not part of the repository."""
        folder = self.data / name
        if not (folder / "images").is_dir():
            raise SystemExit(f"{name}: no folder images/ in it; name the folder of the photo sets with --data")
        return folder


def target():
    """The folder that cargo builds into."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


@functools.lru_cache
def program():
    """The program: $LFIELD, or built now."""
    if given := os.environ.get("LFIELD"):
        return Path(given).resolve()
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return target() / "release" / "lfield"


def run(command, **options):
    """What a command prints."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def machine():
    """Cores and model of the processor; no name of the host."""
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M) if Path("/proc/cpuinfo").exists() else None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    name = re.sub(r"\((R|TM|r|tm)\)| CPU\b", "", model[1]).strip() if model else "an unknown processor"
    return f"{cores} cores of {name}"


def commit():
    changed = run(["git", "status", "--porcelain", "--", "src", "Cargo.toml", "Cargo.lock", "benches", "scripts"], cwd=ROOT).strip()
    return run(["git", "rev-parse", "--short=7", "HEAD"], cwd=ROOT).strip() + (" with changes" if changed else "")


def stamp(command):
    """The line below everything that was measured. To be taken before measuring, because the load is that of others."""
    load = os.getloadavg()[0]
    busy = f" (busy: load {load:.1f} before it began)" if load > 0.5 else ""
    line = f"*`{command}`, {datetime.date.today()}, {machine()}{busy}, commit {commit()}.*"
    return textwrap.fill(line, 130, break_long_words=False, break_on_hyphens=False)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def first_tables(printed):
    """The Markdown tables in what a script printed, each as a list of rows of cells."""
    found, rows = [], []
    for line in [*printed.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            found.append([row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)])
            rows = []
    return found


# Help


@functools.lru_cache
def help_of(command):
    words = [program(), *([command] if command else []), "--help"]
    # No terminal anywhere: its width would decide where lines are broken.
    return run(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def commands():
    """The subcommands, in the order of the help."""
    listed = help_of("").split("\nCommands:\n")[1].split("\n\n")[0]
    return [name for name in re.findall(r"^  (\w+) ", listed, re.M) if name != "help"]


def option_groups(command):
    """(heading, [(flags, explanation)]) for arguments and options, in the order of the help."""
    groups, item = [], None
    for line in help_of(command).splitlines():
        if re.match(r"(Examples|Strokes|Exit codes|Writes)\b", line):
            break
        if heading := re.fullmatch(r"([A-Z][\w ]*):", line):
            groups.append((heading[1], []))
            item = None
        elif groups and (start := re.match(r" {2,6}((?:-\w, )?--[\w-]+(?:\.\.\.)?(?: [<\[]\S.*?[>\]](?=  |$))?|[<\[][^>\]]+[>\]])(?:  +(.*))?$", line)):
            item = [start[1], [start[2]] if start[2] else []]
            groups[-1][1].append(item)
        elif item and line.startswith("   "):
            item[1].append(line.strip())
        elif not line.strip() and item:
            item[1].append("")
    return [(heading, [(flags, explain(lines)) for flags, lines in items]) for heading, items in groups if heading not in ("Commands",)]


def explain(lines):
    """(explanation, default) from the lines of an option."""
    values, words = [], []
    for line in lines:
        if value := re.match(r"- ([\w-]+): +(.*)", line):
            values.append([value[1], value[2]])
        elif values and line and not line.startswith("["):
            values[-1][1] += f" {line}"
        elif line and line != "Possible values:":
            words.append(line)
    words = " ".join(words)
    default = re.search(r"\s*\[default: ([^]]*)\]", words)
    words = words.replace(default[0], "") if default else words
    choices = re.search(r"\s*\[possible values: ([^]]*)\]", words)
    words = words.replace(choices[0], "") if choices else words
    if choices:
        words += ": " + ", ".join(f"`{name}`" for name in choices[1].split(", "))
    if values:
        words += ": " + "; ".join(f"`{name}` – {meaning}" for name, meaning in values)
    return words, default[1] if default else ""


def option_names(command):
    return [name for _, items in option_groups(command) for flags, _ in items for name in re.findall(r"--[\w-]+", flags)]
