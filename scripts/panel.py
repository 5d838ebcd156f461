#!/usr/bin/env python3
"""Makes the README's picture from what lfield writes: photo with strokes, heatmap, mask and cut-out, a row per sample.

    .venv/bin/python scripts/panel.py [SAMPLE ...]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
WIDTH, GAP = 320, 8


def main():
    names = sys.argv[1:] or ["beetle", "tree"]
    program = os.environ.get("LFIELD") or build()
    rows = [row(program, name) for name in names]
    panel = Image.new("RGB", (rows[0].width, sum(r.height for r in rows) + GAP * (len(rows) - 1)), "white")
    top = 0
    for strip in rows:
        panel.paste(strip, (0, top))
        top += strip.height + GAP
    target = ROOT / "docs" / "pictures" / "panel.jpg"
    target.parent.mkdir(exist_ok=True)
    panel.save(target, quality=88, optimize=True)
    print(f"{target.relative_to(ROOT)}: {panel.width}x{panel.height}, {target.stat().st_size // 1000} kB")


def build():
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "lfield"


def row(program, name):
    photo = ROOT / "data" / f"{name}.png"
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([program, "segment", photo, "-o", out, "--emit", "mask,heatmap,cutout", "-q"], check=True)
        read = lambda kind: Image.open(Path(out) / f"{name}.{kind}.png")
        tiles = [with_strokes(photo), read("heatmap").convert("RGB"), read("mask").convert("RGB"), on_squares(read("cutout"))]
    size = (WIDTH, round(WIDTH * tiles[0].height / tiles[0].width))
    strip = Image.new("RGB", (4 * WIDTH + 3 * GAP, size[1]), "white")
    for k, tile in enumerate(tiles):
        strip.paste(tile.resize(size, Image.LANCZOS), (k * (WIDTH + GAP), 0))
    return strip


def with_strokes(photo):
    """Foreground strokes red, background strokes blue."""
    pixels = np.array(Image.open(photo).convert("RGB"))
    labels = np.asarray(Image.open(photo.with_suffix(".scribbles.png")))
    pixels[labels == 255] = (230, 40, 40)
    pixels[labels == 128] = (40, 90, 240)
    return Image.fromarray(pixels)


def on_squares(cutout):
    """The cut-out on a light chequerboard, so that what is transparent shows."""
    y, x = np.mgrid[: cutout.height, : cutout.width]
    board = np.where((x // 16 + y // 16) % 2 == 0, 255, 225).astype(np.uint8)
    page = Image.fromarray(np.stack([board] * 3, axis=-1)).convert("RGBA")
    return Image.alpha_composite(page, cutout.convert("RGBA")).convert("RGB")


if __name__ == "__main__":
    main()
