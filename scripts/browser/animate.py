"""Joins the frames of a painting session into one animated picture.

    .venv/bin/python scripts/browser/animate.py FRAMES docs/pictures/paint.webp
"""

import pathlib
import sys

from PIL import Image

WIDTH = 720
MILLISECONDS = 550

frames = []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.png")):
    image = Image.open(path).convert("RGB")
    frames.append(image.resize((WIDTH, round(WIDTH * image.height / image.width)), Image.Resampling.LANCZOS))
durations = [MILLISECONDS] * (len(frames) - 1) + [4 * MILLISECONDS]
frames[0].save(sys.argv[2], save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=70, method=6)
print(f"{len(frames)} frames, {pathlib.Path(sys.argv[2]).stat().st_size // 1000} kB")
