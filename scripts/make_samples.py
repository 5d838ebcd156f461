#!/usr/bin/env python3
"""Renders the sample scenes into data/: photo, brush strokes and pixel-exact truth of each.

    python3 scripts/make_samples.py [SCENE ...]

Python's standard library is all it needs. Only integer hashes, + - * / and the square root make the pixels, so they are the
same on every machine; the files' bytes too, as long as Python's zlib is.
"""

import importlib
import sys
from multiprocessing import Pool
from pathlib import Path

from scenes import png
from scenes.canvas import strokes

SCENES = ["beetle", "lamp", "poppy", "tree"]


def render(name, folder):
    scene = importlib.import_module(f"scenes.{name}")
    canvas = scene.draw()
    width, height = canvas.width, canvas.height
    truth = canvas.truth()
    labels = strokes(width, height, scene.FOREGROUND, scene.BACKGROUND)
    slips = sum(1 for s, t in zip(labels, truth) if s != 0 and (s == 255) != (t == 255))
    if slips:
        raise ValueError(f"{name}: {slips} stroke pixels contradict the truth; move the strokes")
    png.write(folder / f"{name}.png", width, height, 3, canvas.photo(seed=sum(name.encode())))
    png.write(folder / f"{name}.truth.png", width, height, 1, truth)
    png.write(folder / f"{name}.scribbles.png", width, height, 1, labels, text=[("lfield", "labels")])
    share = 100.0 * truth.count(255) / len(truth)
    return f"{name}: {width}x{height}, object {share:.1f} %, strokes {labels.count(255)} + {labels.count(128)} pixels"


def main():
    names = sys.argv[1:] or SCENES
    folder = Path(__file__).resolve().parent.parent / "data"
    with Pool() as pool:
        for line in pool.starmap(render, [(name, folder) for name in names]):
            print(line)


if __name__ == "__main__":
    main()
