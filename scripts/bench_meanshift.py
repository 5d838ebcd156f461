"""Mean-shift superpixels: lfield against pymeanshift and OpenCV, in one run.

For each photo and layer: seconds (best of --repeat, the programs taking turns), number of regions, median size, and
boundary recall, the share of the true outline that has a region border within 2 pixels. OpenCV only filters, in RGB and
without regions, so only its time is shown. Prints Markdown.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
import pymeanshift
from PIL import Image

LAYERS = [(7, 6.5, 20), (10, 10, 100)]
SPEEDUPS = {"medium": pymeanshift.SPEEDUP_MEDIUM, "high": pymeanshift.SPEEDUP_HIGH}


def main():
    options = parse()
    images = sorted((options.data / "images").iterdir())
    if options.photos:
        images = [image for image in images if image.stem in options.photos]
    if not images:
        raise SystemExit(f"no photos in {options.data / 'images'}: check --data and the names after it")
    rows = [row for image in images for row in compare(image, options)]
    table(["photo", "layer", "program", "seconds", "regions", "median size", "recall"], [row.cells() for row in rows])
    print()
    table(["layer", "program", "seconds", "against lfield", "regions", "recall"], totals(rows))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/coopcut"), help="images/ and masks/")
    parser.add_argument("--lfield", type=Path, default=Path("target/release/lfield"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--speedup", action="append", choices=SPEEDUPS, help="pymeanshift's; repeat for more [medium]")
    parser.add_argument("photos", nargs="*", help="stems; all photos when none is given")
    return parser.parse_args()


class Row:
    def __init__(self, photo, layer, program, seconds, labels=None, outline=None):
        self.photo, self.layer, self.program, self.seconds = photo, layer, program, seconds
        self.regions = self.median = self.recall = None
        if labels is not None:
            sizes = np.unique(labels, return_counts=True)[1]
            self.regions, self.median = len(sizes), int(np.median(sizes))
        if labels is not None and outline is not None:
            self.recall = recall(labels, outline)

    def cells(self):
        cells = [self.photo, name(self.layer), self.program, f"{self.seconds:.3f}"]
        return cells + [dash(self.regions), dash(self.median), dash(self.recall, ".3f")]


def compare(image, options):
    """One row per layer and program for a photo."""
    pixels = np.asarray(Image.open(image).convert("RGB")).copy()
    mask = options.data / "masks" / f"{image.stem}.png"
    outline = true_outline(np.asarray(Image.open(mask).convert("L"))) if mask.exists() else None
    best, labels = {}, {}

    def note(key, seconds, found=None):
        best[key] = min(seconds, best.get(key, float("inf")))
        labels[key] = found

    for _ in range(options.repeat):
        for layer, seconds, found in lfield(image, options):
            note((layer, f"lfield, {options.threads} threads"), seconds, found)
        for layer in LAYERS:
            hs, hr, least = layer
            for speed in options.speedup or ["medium"]:
                seconds, found = timed(lambda: pymeanshift.segment(pixels, hs, hr, least, SPEEDUPS[speed])[1])
                note((layer, f"pymeanshift, {speed}"), seconds, found)
            seconds, _ = timed(lambda: cv2.pyrMeanShiftFiltering(pixels, hs, hr, maxLevel=0))
            note((layer, "OpenCV, filter only"), seconds)
    return [Row(image.stem, *key, best[key], labels[key], outline) for key in sorted(best)]


def lfield(image, options):
    """Layer, seconds of mean shift and label map, from one run of the program."""
    with tempfile.TemporaryDirectory() as folder:
        layers = [word for layer in LAYERS for word in ("--layer", name(layer))]
        command = [options.lfield, "superpixels", image, "-q", "-o", folder, "--threads", str(options.threads)]
        subprocess.run([*map(str, command), *layers], check=True)
        summary = json.loads((Path(folder) / f"{image.stem}.superpixels.json").read_text())
        for layer, found in zip(LAYERS, summary["layers"]):
            path = Path(folder) / found["labels"]
            yield layer, found["seconds"], np.load(path) if path.suffix == ".npy" else np.asarray(Image.open(path))


def timed(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def true_outline(mask):
    """Pixels next to the border between foreground and background; pixels to ignore (128) join what is nearest."""
    known = mask != 128
    inside = mask == 255
    while not known.all():
        before = known.copy(), inside.copy()
        for there, here in NEIGHBOURS:
            new = before[0][there] & ~known[here]
            inside[here] |= new & before[1][there]
            known[here] |= new
    return borders(inside)


EVERY, LATER, EARLIER = slice(None), slice(1, None), slice(None, -1)
NEIGHBOURS = [
    ((EVERY, LATER), (EVERY, EARLIER)),
    ((EVERY, EARLIER), (EVERY, LATER)),
    ((LATER, EVERY), (EARLIER, EVERY)),
    ((EARLIER, EVERY), (LATER, EVERY)),
]


def borders(labels):
    """Pixels that touch a pixel of another label."""
    on = np.zeros(labels.shape, bool)
    for there, here in NEIGHBOURS:
        on[here] |= labels[there] != labels[here]
    return on


def recall(labels, outline):
    disc = np.array([[x * x + y * y <= 4 for x in range(-2, 3)] for y in range(-2, 3)], np.uint8)
    near = cv2.dilate(borders(labels).astype(np.uint8), disc) > 0
    return float(near[outline].mean())


def totals(rows):
    """Means over the photos."""
    def mean(values):
        values = [value for value in values if value is not None]
        return statistics.mean(values) if values else None

    ours = {row.layer: [] for row in rows}
    for row in rows:
        if row.program.startswith("lfield"):
            ours[row.layer].append(row.seconds)
    for layer, program in sorted({(row.layer, row.program) for row in rows}):
        group = [row for row in rows if (row.layer, row.program) == (layer, program)]
        seconds = mean(row.seconds for row in group)
        ratio = f"{seconds / mean(ours[layer]):.1f} ×"
        regions, hits = mean(row.regions for row in group), mean(row.recall for row in group)
        yield [name(layer), program, f"{seconds:.3f}", ratio, dash(regions, ".0f"), dash(hits, ".3f")]


def name(layer):
    return ",".join(map(str, layer))


def dash(value, form=""):
    return "–" if value is None else format(value, form)


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
