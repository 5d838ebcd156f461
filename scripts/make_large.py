#!/usr/bin/env python3
"""Renders the sample scenes at any size, with sensor noise, strokes and pixel-exact truth.

    .venv/bin/python scripts/make_large.py --megapixels 1 4 12 50 [-o FOLDER] [SCENE ...]

Writes FOLDER/MPmp/SCENE.png, SCENE.scribbles.png and SCENE.truth.png, and leaves alone what is there. Needs NumPy and Pillow. The
geometry is that of the samples, see scenes/enlarge.py; a scene is drawn once (half a minute) and enlarged to every size.
"""

import argparse
import importlib
from math import sqrt
from pathlib import Path

import numpy as np
from PIL import Image, PngImagePlugin

from make_samples import SCENES
from scenes.canvas import strokes
from scenes.enlarge import Large

GRAIN = 2.5


def render(scene, canvas, folder, megapixels, grain):
    """One scene at one size."""
    name = scene.__name__.split(".")[-1]
    scale = sqrt(1e6 * megapixels / (canvas.width * canvas.height))
    large = Large(canvas, scale)
    strips = list(large.strips(sum(name.encode()), grain))
    photo, truth = (np.concatenate(parts) for parts in zip(*strips))
    larger = lambda group: [(brush * scale, [(x * scale, y * scale) for x, y in points]) for brush, points in group]
    drawn = strokes(large.width, large.height, larger(scene.FOREGROUND), larger(scene.BACKGROUND))
    labels = np.frombuffer(drawn, np.uint8).reshape(truth.shape)
    if slips := np.count_nonzero((labels != 0) & ((labels == 255) != (truth == 255))):
        raise SystemExit(f"{name} at {megapixels} megapixels: {slips} stroke pixels contradict the truth")
    said = PngImagePlugin.PngInfo()
    said.add_text("lfield", "labels")
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(truth).save(folder / f"{name}.truth.png")
    Image.fromarray(labels).save(folder / f"{name}.scribbles.png", pnginfo=said)
    # The photo last: a photo that is there is whole.
    Image.fromarray(photo).save(folder / f"{name}.part.png", compress_level=1)
    (folder / f"{name}.part.png").rename(folder / f"{name}.png")
    print(f"{folder / name}: {large.width}x{large.height}, object {100.0 * (truth == 255).mean():.1f} %", flush=True)


def place(folder, megapixels):
    return folder / f"{megapixels:g}mp"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", default=SCENES)
    parser.add_argument("--megapixels", nargs="+", type=float, default=[1.0, 4.0, 12.0, 50.0])
    parser.add_argument("-o", "--output", type=Path, default=Path("target/large"))
    parser.add_argument("--grain", type=float, default=GRAIN, help="deviation of the sensor's noise in grey levels")
    options = parser.parse_args()
    for name in options.scenes:
        missing = [size for size in options.megapixels if not (place(options.output, size) / f"{name}.png").exists()]
        if not missing:
            continue
        scene = importlib.import_module(f"scenes.{name}")
        canvas = scene.draw()
        for size in missing:
            render(scene, canvas, place(options.output, size), size, options.grain)


if __name__ == "__main__":
    main()
