#!/usr/bin/env python3
"""Says whether two output folders of `lfield batch` hold the same results.

Every file must be there in both and have the same bytes, but for what is different from run to run: seconds (`timing` and
`solve.seconds` of reports, `seconds` and `run` of the summary, a column of the page and of traces), the reports of single shards, and locks.
Exit code 0: the same; 1: different, with the names of the files.
"""

import json
import re
import sys
from pathlib import Path


def plain(path: Path) -> bytes:
    raw = path.read_bytes()
    if path.name.endswith(".report.json"):
        return timeless(json.loads(raw))
    if path.name == "batch.ndjson":
        return b"\n".join(timeless(json.loads(line)) for line in raw.splitlines())
    if path.name == "summary.json":
        summary = json.loads(raw)
        return json.dumps({key: summary[key] for key in summary if key not in ("seconds", "run")}).encode()
    if path.name == "index.html":
        return re.sub(rb'<td class="seconds"[^>]*>[^<]*</td>', b"", raw)
    if path.name.endswith(".trace.csv"):
        return b"\n".join(b",".join(line.split(b",")[:1] + line.split(b",")[2:]) for line in raw.splitlines())
    return raw


def timeless(report: dict) -> bytes:
    report.pop("timing", None)
    report.get("solve", {}).pop("seconds", None)
    return json.dumps(report).encode()


def files(folder: Path) -> dict[str, Path]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("lock"))
    return {str(path.relative_to(folder)): path for path in found if not re.search(r"\.\d+-of-\d+\.(nd)?json$", path.name)}


def main() -> int:
    if len(sys.argv) != 3 or not all(Path(folder).is_dir() for folder in sys.argv[1:]):
        print("usage: compare_batches.py FOLDER FOLDER", file=sys.stderr)
        return 2
    a, b = (files(Path(folder)) for folder in sys.argv[1:])
    for name in sorted(a.keys() ^ b.keys()):
        print(f"only in {sys.argv[1] if name in a else sys.argv[2]}: {name}")
    different = [name for name in sorted(a.keys() & b.keys()) if plain(a[name]) != plain(b[name])]
    for name in different:
        print(f"different: {name}")
    if a.keys() != b.keys() or different:
        return 1
    print(f"the same: {len(a)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
