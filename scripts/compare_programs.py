#!/usr/bin/env python3
"""Says whether two builds of the program write the same: `compare_programs.py OLD NEW FOLDER`.

Both run `segment --emit all` on the bundled samples and `batch --emit all` on every photo of FOLDER (images/, scribbles/), NEW at 1, 2
and 7 threads, OLD at 2. All files must have the same bytes. In reports and summaries everything must be equal that both have, but for
times, the build and its cache key; numbers of the certificate and of traces may differ by 2e-4 of their size, which is what counting
their rounding changes. Prints the first differences; exit code 1 if there was one.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASIDE = {"seconds", "timing", "tool", "fingerprint", "key", "plan", "run", "version"}


def run(program: str, out: Path, folder: Path, threads: int) -> None:
    common = ["-q", "--threads", str(threads), "--emit", "all", "-o"]
    for sample in ("beetle", "lamp", "poppy", "tree"):
        subprocess.run([program, "segment", ROOT / f"data/{sample}.png", *common, out / "samples"], check=True)
    strokes = ["--scribbles", folder / "scribbles"]
    subprocess.run([program, "batch", folder / "images", *strokes, *common, out / "batch"], check=True)


def unequal(a, b, path: str = ""):
    """The paths at which two JSON values differ, as far as both have them."""
    if isinstance(a, dict) and isinstance(b, dict):
        for name in a.keys() & b.keys() - ASIDE:
            yield from unequal(a[name], b[name], f"{path}.{name}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, pair in enumerate(zip(a, b)):
            yield from unequal(*pair, f"{path}[{i}]")
    elif isinstance(a, float) or isinstance(b, float):
        numbers = isinstance(a, (int, float)) and isinstance(b, (int, float))
        if not (numbers and math.isclose(a, b, rel_tol=2e-4, abs_tol=1e-9)):
            yield f"{path} {a} {b}"
    elif a != b:
        yield f"{path} {a} {b}"


def values(path: Path):
    """A file of figures as JSON values."""
    text = path.read_text()
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".ndjson":
        return [json.loads(line) for line in text.splitlines()]
    rows = [line.split(",") for line in text.splitlines()]
    seconds = rows[0].index("seconds") if "seconds" in rows[0] else None
    cells = [[cell for i, cell in enumerate(row) if i != seconds] for row in rows]
    return [cells[0]] + [[float(cell) if cell else None for cell in row] for row in cells[1:]]


def compare(old: Path, new: Path) -> list[str]:
    names = [{str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()} for out in (old, new)]
    found = [f"only in one: {name}" for name in sorted(names[0] ^ names[1])]
    for name in sorted(names[0] & names[1]):
        a, b = old / name, new / name
        if a.suffix in (".json", ".ndjson") or name.endswith(".trace.csv"):
            found += [f"{name}: {what}" for what in unequal(values(a), values(b))]
        elif a.suffix != ".html" and a.read_bytes() != b.read_bytes():
            found.append(f"{name}: other bytes")
    print(f"{new.name}: {len(names[0] & names[1])} files compared, {len(found)} differences")
    return found


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    old, new, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        before = Path(scratch) / "old"
        run(old, before, folder, 2)
        for threads in (1, 2, 7):
            after = Path(scratch) / f"new at {threads} threads"
            run(new, after, folder, threads)
            found += compare(before, after)
    print("\n".join(found[:20]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
