#!/usr/bin/env python3
"""Scores `lfield segment` on folders of photos with strokes and truth; prints Markdown tables.

    .venv/bin/python scripts/accuracy.py [--data DIR] [--sets coopcut,gsc] [--jobs 2] [--limit N] [-- LFIELD OPTIONS]

AUC is the area under the ROC curve of the marginals (ties count one half), IoU the overlap of the written mask with the truth,
both over the pixels that carry no stroke and are not marked "ignore" (128) in the truth.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent


def main():
    options, extra = arguments()
    program = options.lfield or build()
    failures = 0
    for name in options.sets.split(","):
        folder = options.data / name
        photos = sorted(p for p in (folder / "images").iterdir() if p.is_file())
        photos = photos[: options.limit]
        with ThreadPoolExecutor(options.jobs) as pool:
            rows = list(pool.map(lambda photo: score(program, folder, photo, extra), photos))
        print_table(name, rows, extra)
        failures += sum("error" in row for row in rows)
    return 1 if failures else 0


def arguments():
    own, extra = sys.argv[1:], []
    if "--" in own:
        cut = own.index("--")
        own, extra = own[:cut], own[cut + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data", help="folder that holds the sets")
    parser.add_argument("--sets", default="coopcut,gsc", help="comma-separated folder names")
    parser.add_argument("--jobs", type=int, default=2, help="photos at a time, each with one lfield thread")
    parser.add_argument("--limit", type=int, help="only the first N photos of each set")
    parser.add_argument("--lfield", type=Path, help="program to use instead of building one")
    return parser.parse_args(own), extra


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "lfield"


def score(program, folder, photo, extra):
    """One photo: a row of figures, or the error lfield gave."""
    stem = photo.stem
    strokes = folder / "scribbles" / f"{stem}.png"
    with tempfile.TemporaryDirectory() as out:
        command = [program, "segment", photo, "--scribbles", strokes, "-o", out, "--emit", "mask,marginals.npy,report", "--threads", "1", "-q"]
        done = subprocess.run([*command, *extra], capture_output=True, text=True)
        if done.returncode != 0:
            return {"stem": stem, "error": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]}
        marginals = np.load(Path(out) / f"{stem}.marginals.npy")
        mask = grey(Path(out) / f"{stem}.mask.png") > 127
        report = json.loads((Path(out) / f"{stem}.report.json").read_text())
    truth, labels = grey(folder / "masks" / f"{stem}.png"), grey(strokes)
    judged = (truth != 128) & (labels == 0)
    wanted = truth[judged] > 128
    union = np.count_nonzero(mask[judged] | wanted)
    return {
        "stem": stem,
        "auc": auc(marginals[judged], wanted),
        "iou": np.count_nonzero(mask[judged] & wanted) / union if union else 1.0,
        "solve": report["timing"]["solve"],
        "total": report["timing"]["total"],
        "iterations": report["solve"]["iterations"],
        "converged": report["solve"]["converged"],
    }


def grey(path):
    return np.asarray(Image.open(path).convert("L"))


def auc(values, wanted):
    """The chance that an object pixel is given more than a background pixel, ties counting one half (Mann–Whitney)."""
    positive, negative = np.count_nonzero(wanted), np.count_nonzero(~wanted)
    if positive == 0 or negative == 0:
        return float("nan")
    distinct, place = np.unique(values, return_inverse=True)
    place = place.ravel()
    hits = np.bincount(place[wanted], minlength=len(distinct)).astype(float)
    misses = np.bincount(place[~wanted], minlength=len(distinct)).astype(float)
    below = np.cumsum(misses) - misses
    return float(np.sum(hits * (below + misses / 2)) / (positive * negative))


def print_table(name, rows, extra):
    good = [row for row in rows if "error" not in row]
    print(f"\n### {name}" + (f" (`{' '.join(extra)}`)" if extra else ""))
    print("\n| photo | AUC | IoU | sweeps | converged | solve s | total s |\n|---|---|---|---|---|---|---|")
    for row in rows:
        if "error" in row:
            print(f"| {row['stem']} | failed: {row['error']} |||||| ")
        else:
            sure = "yes" if row["converged"] else "no"
            print(f"| {row['stem']} | {row['auc']:.4f} | {row['iou']:.4f} | {row['iterations']} | {sure} | {row['solve']:.2f} | {row['total']:.2f} |")
    if good:
        mean = {key: np.nanmean([row[key] for row in good]) for key in ("auc", "iou", "iterations", "solve", "total")}
        sure = f"{sum(row['converged'] for row in good)} of {len(good)}"
        print(f"| **mean of {len(good)}** | **{mean['auc']:.4f}** | **{mean['iou']:.4f}** | {mean['iterations']:.0f} | {sure} | {mean['solve']:.2f} | {mean['total']:.2f} |")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
