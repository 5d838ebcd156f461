#!/usr/bin/env python3
"""Whole runs of `lfield segment` and its peers, taking turns on the same photos; prints Markdown tables.

    python3 scripts/bench_whole.py --old PATH [--new PATH] [--data DIR] [--repeat 3] [--photos coopcut/005_bee,…] [--no-peers]

The photos are all of coopcut and every third of gsc. For both programs: seconds on the clock with two threads, processor time, sweeps and peak
memory, from files to files with the default outputs; the best of --repeat runs, old and new in turns. The peers, whose library call
alone is timed on what `lfield --method unary` learned (random walker: on strokes and photo alone), are GrabCut with 5 iterations,
dense CRF with 5, and random walker, as compare_peers.py calls them; the first run makes its venv. A ratio above 1 is a run of lfield that takes less time.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import compare_peers

ROOT = compare_peers.ROOT
THREADS = "2"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, help="program to compare with")
    parser.add_argument("--new", type=Path, help="program, instead of building one")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder that holds coopcut/ and gsc/")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--photos", help="comma-separated SET/STEM; all when not given")
    parser.add_argument("--no-peers", action="store_true", help="lfield alone")
    options = parser.parse_args()
    if not options.no_peers:
        os.environ["OMP_NUM_THREADS"] = THREADS
        compare_peers.enter_venv()
    from figures.desk import program

    programs = {"old": options.old, "new": options.new or program()}
    programs = {name: path.resolve() for name, path in programs.items() if path}
    wanted = options.photos.split(",") if options.photos else None
    for name, step in (("coopcut", 1), ("gsc", 3)):
        photos = sorted(path for path in (options.data / name / "images").iterdir() if path.is_file())[::step]
        photos = [photo for photo in photos if not wanted or f"{name}/{photo.stem}" in wanted]
        rows = [row(programs, photo, options) for photo in photos]
        if rows:
            print_tables(name, rows, list(programs))
    print(f"\nLoad {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.")


def row(programs, photo, options):
    """The photo's figures, by program and by peer."""
    runs = {name: [] for name in programs}
    for _ in range(options.repeat):
        for name, program in programs.items():
            runs[name].append(segment(program, photo))
    found = {"photo": photo.stem}
    for name, of in runs.items():
        best = {key: min(run[key] for run in of) for key in ("wall", "processor", "memory")}
        found[name] = {**best, "sweeps": of[0]["sweeps"]}
    if not options.no_peers:
        found["peers"] = dict(peers(programs["new"], photo))
    return found


def segment(program, photo):
    strokes = photo.parent.parent / "scribbles" / f"{photo.stem}.png"
    with tempfile.TemporaryDirectory() as out:
        command = [program, "segment", photo, "--scribbles", strokes, "-o", out, "--threads", THREADS, "-q"]
        began = time.perf_counter()
        child = os.posix_spawn(program, [str(word) for word in command], os.environ)
        _, status, used = os.wait4(child, 0)
        wall = time.perf_counter() - began
        if status:
            raise SystemExit(f"{program} failed on {photo}")
        report = json.loads((Path(out) / f"{photo.stem}.report.json").read_text())
    return {"wall": wall, "processor": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss / 1024, "sweeps": report["solve"]["iterations"]}


def peers(program, photo):
    """Seconds on the clock of every peer."""
    import cv2
    import numpy as np
    from accuracy import grey
    from PIL import Image, ImageOps

    cv2.setNumThreads(int(THREADS))
    strokes = photo.parent.parent / "scribbles" / f"{photo.stem}.png"
    labels = grey(strokes)
    rgb = np.ascontiguousarray(ImageOps.exif_transpose(Image.open(photo)).convert("RGB"))
    s = compare_peers.lfield(program, photo, strokes, "s", "--method", "unary", "--seeds", "soft")["s"]
    calls = {
        "GrabCut": lambda: compare_peers.grab_cut(rgb, s, labels),
        "dense CRF": lambda: compare_peers.dense_crf(rgb, s, labels),
        "random walker": lambda: compare_peers.random_walk(rgb, labels),
    }
    for name, call in calls.items():
        began = time.perf_counter()
        call()
        yield name, time.perf_counter() - began


def print_tables(name, rows, programs):
    print(f"\n### {name}: {len(rows)} photos, {THREADS} threads\n")
    keys = {"wall": ".2f", "processor": ".2f", "sweeps": "d", "memory": ".0f"}
    titles = {"wall": "s", "processor": "processor s", "sweeps": "sweeps", "memory": "MB"}
    head = ["photo"] + [f"{program}: {titles[key]}" for program in programs for key in keys]
    both = programs == ["old", "new"]
    head += ["ratio"] * both
    lines = []
    for found in rows:
        cells = [format(found[program][key], form) for program in programs for key, form in keys.items()]
        lines.append([found["photo"], *cells] + [f"{found['old']['wall'] / found['new']['wall']:.2f}"] * both)
    middle = lambda values: statistics.median(list(values))
    cells = [format(middle(f[p][key] for f in rows), ".0f" if key == "sweeps" else form) for p in programs for key, form in keys.items()]
    ratio = [f"**{middle(f['old']['wall'] / f['new']['wall'] for f in rows):.2f}**"] if both else []
    table(head, [*lines, ["**median**", *cells, *ratio]])
    if "peers" in rows[0]:
        print("\nMedian seconds of the peers, and how many times the whole run of lfield:\n")
        names = list(rows[0]["peers"])
        times = [middle(found["peers"][peer] / found["new"]["wall"] for found in rows) for peer in names]
        seconds = [middle(found["peers"][peer] for found in rows) for peer in names]
        table(["peer", "s", "peer / lfield"], [[n, f"{s:.2f}", f"{t:.2f}"] for n, s, t in zip(names, seconds, times)])
    sys.stdout.flush()


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for cells in rows:
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    sys.exit(main())
