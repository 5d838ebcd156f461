"""Peak memory of `segment` against the estimate that it prints before it starts.

The photo is a patchwork with grain, as PNM, so that Python need not compress it; a few sweeps are enough, since a sweep allocates
nothing that the first one has not.
"""

import random
import re
from pathlib import Path

from hardship.desk import Desk, Wrong
from hardship.usage import measure

ALLOWED = 0.25
PATCH = 32
FEW = ["--max-iterations", "8", "--tolerance", "1"]


def patchwork(path: Path, megapixels: float) -> tuple[int, int]:
    chance = random.Random(1)
    width, height = (round((megapixels * 1e6 * ratio) ** 0.5) // PATCH * PATCH for ratio in (3 / 2, 2 / 3))
    colours = [[chance.randrange(20, 220) for _ in range(3)] for _ in range(64)]
    # Every colour in sixteen kinds of grain, a patch wide.
    patches = [[bytes(c + chance.randrange(24) for _ in range(PATCH) for c in colour) for _ in range(16)] for colour in colours]
    with open(path, "wb") as photo:
        photo.write(b"P6 %d %d 255\n" % (width, height))
        for _ in range(height // PATCH):
            row = [chance.choice(patches) for _ in range(width // PATCH)]
            for _ in range(PATCH):
                photo.write(b"".join(chance.choice(patch) for patch in row))
    with open(path.with_suffix(".scribbles.png"), "wb") as strokes:
        strokes.write(b"P5 %d %d 255\n" % (width, height))
        for y in range(height):
            foreground = b"\xff" * (width // 20) if abs(2 * y - height) < height // 10 else bytes(width // 20)
            left = b"\x80" * (width // 40)
            middle = width // 2 - len(left)
            strokes.write(left + bytes(middle) + foreground + bytes(width - len(left) - middle - len(foreground)))
    return width, height


def main(program, megapixels: list[float]) -> None:
    desk = Desk(program, 24, 18, photos=0)
    print("| photo | threads | estimate, MB | peak, MB | peak / estimate | bytes per pixel | processor seconds |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    worst = 0.0
    for size in megapixels:
        path = desk.folder / "large.ppm"
        width, height = patchwork(path, size)
        for threads in ("1", "2"):
            command = desk.command(["segment", str(path), "-v", "--color", "never", "--threads", threads, *FEW])
            used = measure(command, desk.folder)
            estimate = re.search(r"about (\d+) MB of memory", used.said)
            if used.code != 0 or estimate is None:
                raise Wrong(f"{width}×{height}: exit code {used.code}: {used.said}")
            ratio = used.megabytes / int(estimate[1])
            worst = max(worst, abs(ratio - 1))
            per_pixel = used.megabytes * 2**20 / (width * height)
            print(
                f"| {width}×{height} | {threads} | {estimate[1]} | {used.megabytes:.0f} | {ratio:.2f} | {per_pixel:.0f} | {used.processor:.0f} |",
                flush=True,
            )
    if worst > ALLOWED:
        raise Wrong(f"an estimate is off by {100 * worst:.0f} %")
