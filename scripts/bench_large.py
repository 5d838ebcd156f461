#!/usr/bin/env python3
"""The sample scenes at several sizes, with levels of detail and without: seconds by stage, peak memory, IoU, as a Markdown table.

    .venv/bin/python scripts/bench_large.py [--megapixels 1 4 12 50] [--scenes beetle …] [--full-up-to 12] [--photos FOLDER] [--grabcut MP]

Renders what is missing below FOLDER (make_large.py). One run at a time. Seconds are those of the report; `processor` is user plus system
time of the whole run, which a busy machine changes least. `against full` compares the masks of auto and full. With --grabcut the same
photo and strokes go through OpenCV's GrabCut (5 iterations), which needs opencv-python-headless. Needs NumPy and Pillow.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from figures.desk import program, table
from make_large import place

Image.MAX_IMAGE_PIXELS = None
HEAD = ["scene", "megapixels", "detail", "open", "load", "unary", "superpixels", "assemble", "solve", "write", "total, s", "processor, s",
        "peak, MB", "estimate, MB", "bytes per pixel", "IoU", "against full"]


def grey(path):
    return np.asarray(Image.open(path)) > 127


def iou(a, b):
    return np.count_nonzero(a & b) / max(1, np.count_nonzero(a | b))


def measured(command):
    """What a command prints to stderr, its processor time and its peak memory in kilobytes."""
    child = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command}: {said}")
    return said, used.ru_utime + used.ru_stime, used.ru_maxrss


def run(photo, detail, folder):
    """One run: the report, what it cost, and the mask."""
    said, processor, peak = measured([program(), "-v", "segment", photo, "--detail", detail, "-o", folder])
    estimate = int(re.search(r"about (\d+) MB of memory", said)[1])
    report = json.loads((folder / f"{photo.stem}.report.json").read_text())
    return report, processor, peak / 1024, estimate, grey(folder / f"{photo.stem}.mask.png")


def row(name, size, detail, result, truth, full):
    report, processor, peak, estimate, mask = result
    seconds, detail_of = report["timing"], report["detail"]
    pixels = report["model"]["pixels"]
    stages = [f"{seconds[stage]:.2f}" for stage in ("load", "unary", "superpixels", "assemble", "solve", "write", "total")]
    return [name, f"{size:g}", detail, f"{100 * detail_of['free_pixels'] / pixels:.1f} %", *stages, f"{processor:.1f}", f"{peak:.0f}", estimate,
            f"{peak * 2**20 / pixels:.0f}", f"{iou(mask, truth):.4f}", "" if full is None else f"{iou(mask, full):.4f}"]


def grabcut(photo):
    import cv2

    image = cv2.imread(str(photo))
    labels = cv2.imread(str(photo.with_suffix(".scribbles.png")), cv2.IMREAD_GRAYSCALE)
    mask = np.full(labels.shape, cv2.GC_PR_BGD, np.uint8)
    mask[labels == 255], mask[labels == 128] = cv2.GC_FGD, cv2.GC_BGD
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    cv2.grabCut(image, mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 5, cv2.GC_INIT_WITH_MASK)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    return wall, after.ru_utime - before.ru_utime, iou((mask & 1) == 1, grey(photo.with_suffix(".truth.png")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megapixels", nargs="+", type=float, default=[0.27, 1.0, 4.0, 12.0, 50.0])
    parser.add_argument("--scenes", nargs="+", default=["beetle", "lamp", "poppy", "tree"])
    parser.add_argument("--full-up-to", type=float, default=12.0, help="megapixels up to which full is run too")
    parser.add_argument("--photos", type=Path, default=Path("target/large"))
    parser.add_argument("--grabcut", type=float, metavar="MP", help="also GrabCut on the first scene at this size")
    options = parser.parse_args()
    maker = [sys.executable, Path(__file__).parent / "make_large.py", "-o", options.photos, "--megapixels", *options.megapixels, *options.scenes]
    subprocess.run([str(word) for word in maker], check=True, stdout=sys.stderr)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in options.megapixels:
            for name in options.scenes:
                photo = place(options.photos, size) / f"{name}.png"
                truth, full = grey(photo.with_suffix(".truth.png")), None
                if 2 < size <= options.full_up_to:
                    result = run(photo, "full", Path(folder))
                    full = result[-1]
                    rows.append(row(name, size, "full", result, truth, None))
                rows.append(row(name, size, "auto", run(photo, "auto", Path(folder)), truth, full))
                print("| " + " | ".join(map(str, rows[-1])) + " |", file=sys.stderr, flush=True)
    print(table(HEAD, rows))
    if options.grabcut:
        name = options.scenes[0]
        wall, user, score = grabcut(place(options.photos, options.grabcut) / f"{name}.png")
        print(f"\nGrabCut on the {name} at {options.grabcut:g} megapixels: {wall:.0f} s, {user:.0f} s of processor time, IoU {score:.4f}.")


if __name__ == "__main__":
    main()
